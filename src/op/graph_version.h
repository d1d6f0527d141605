// The version of the graph (GraphDef.versions.producer) whose kernels are being made, or whose shapes are being inferred, on this thread. C++ sources of
// TensorFlow ask for it (graph_def_version); -1 where there is no graph, as in eager calls, whose ops are of the current version.
#pragma once

#include <utility>

namespace weft_engine::op {

class GraphVersion {
 public:
  explicit GraphVersion(int producer) : before_(std::exchange(current_, producer)) {}
  ~GraphVersion() { current_ = before_; }
  GraphVersion(const GraphVersion&) = delete;
  GraphVersion& operator=(const GraphVersion&) = delete;
  static int current() { return current_; }

 private:
  inline static thread_local int current_ = -1;
  const int before_;
};

}  // namespace weft_engine::op
