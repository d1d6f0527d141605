// Ahead: makes elements on threads of its own before they are asked for, and gives them in order. Behind
// prefetch and parallel map.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "op/cancellation.h"
#include "ops/dataset/dataset.h"

namespace weft::ops::data {

class Ahead {
 public:
  // What is done with an element of the input after it is drawn; several threads do it at once. May set the end.
  using Work = std::function<Status(IteratorContext& c, Element& element, bool& end)>;
  // At most `limit` elements wait or are being made at any time.
  Ahead(IteratorPtr input, int threads, int64_t limit, Work work = nullptr);
  ~Ahead();
  Ahead(const Ahead&) = delete;

  // Threads start with the first call; they use the surroundings of it, but not its cancellation.
  Status next(IteratorContext& c, Element& out, bool& end);

 private:
  struct Slot {
    Element element;
    Status status;
    bool end = false, done = false;
  };
  bool start(IteratorContext& c);
  void run();
  bool make_one(IteratorContext& c);

  const int num_threads_;
  const int64_t limit_;
  const Work work_;
  std::mutex input_mutex_;  // held while an element is drawn; taken before mutex_
  IteratorPtr input_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the order of the input
  bool started_ = false, ended_ = false, stop_ = false;
  CancellationManager cancellation_;
  KernelEnv env_;
  std::shared_ptr<const void> caller_;  // of env_
  std::shared_ptr<const StatsSink> stats_;
  std::vector<std::thread> threads_;
};

// How many calls at once a program's number means; -1 leaves it to us.
int parallel_calls(int64_t wanted);
// Of the process: no more threads than that for one dataset; 0: as many as the machine makes useful.
void limit_parallel_calls(int threads);

}  // namespace weft::ops::data
