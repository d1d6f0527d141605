// The engine's threads. parallel_for splits a range over the pool, the caller taking part; schedule runs
// a task later. A call made from inside the pool runs on the calling thread, so nesting is safe. Workers that have nothing to do
// look for work for a moment before they sleep: a loop that follows another soon begins on all of them within about a microsecond.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/function_ref.h"

namespace weft_engine::core {

class ThreadPool {
 public:
  // `threads` counts the caller: 1 means no worker threads. Workers start at the first use.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const { return threads_; }
  // The calling thread runs a chunk or a task of a pool: loops that it starts have one thread, itself.
  static bool inside();

  // Calls body(begin, end) on parts that cover [0, n). `cost` is a rough count of nanoseconds an item
  // takes: work worth less than the price of handing it over stays on the caller. Which parts there are may
  // depend on the thread count, so a body must give the same bits for any split (reductions use
  // parallel_chunks).
  void parallel_for(int64_t n, double cost, FunctionRef<void(int64_t, int64_t)> body);

  // Calls body(0) ... body(n - 1), in any order and on any thread.
  void parallel_chunks(int64_t n, FunctionRef<void(int64_t)> body);

  // Runs a task on a worker; on the caller when the pool has none.
  void schedule(std::function<void()> task);

 private:
  // `wake`: it is worth waking workers that sleep.
  void run_chunks(int64_t n, FunctionRef<void(int64_t)> body, bool wake);
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int threads_;
};

}  // namespace weft_engine::core
