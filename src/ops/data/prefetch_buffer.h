// PrefetchBuffer: makes elements on threads of its own before they are asked for, and gives them in order. Behind
// prefetch and parallel map.
#pragma once

#include <functional>
#include <memory>

#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

class PrefetchBuffer {
 public:
  // What is done with an element of the input after it is drawn; several threads do it at once. May set the end. It owns what it uses.
  using Work = std::function<Status(IteratorContext& c, Element& element, bool& end)>;
  // At most `limit` elements wait or are being made at any time.
  PrefetchBuffer(IteratorPtr input, int threads, int64_t limit, Work work = nullptr);
  ~PrefetchBuffer();
  PrefetchBuffer(const PrefetchBuffer&) = delete;

  // Threads start with the first call; they use the surroundings of it, but not its cancellation.
  Status next(IteratorContext& c, Element& out, bool& end);

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the iterator where the process ends
};

// How many calls at once a program's number means; -1 leaves it to us.
int parallel_calls(int64_t wanted);
// Of the process: no more threads than that for one dataset; 0: as many as the machine makes useful.
void limit_parallel_calls(int threads);

}  // namespace weft_engine::ops::data
