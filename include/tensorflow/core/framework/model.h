// SPDX-License-Identifier: Apache-2.0
//
// data::model: what iterators of datasets say of their work, for sources that say it. The engine asks nobody and tunes by what it measures itself.
#ifndef TENSORFLOW_CORE_FRAMEWORK_MODEL_H_
#define TENSORFLOW_CORE_FRAMEWORK_MODEL_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace data {
namespace model {

inline constexpr int64 kAutotune = -1;
inline constexpr char kParallelism[] = "parallelism";
inline constexpr char kBufferSize[] = "buffer_size";

// A number that may be tuned.
struct SharedState {
  SharedState(int64 v, std::shared_ptr<mutex> m, std::shared_ptr<condition_variable> c)
      : value(static_cast<double>(v)), mu(std::move(m)), cond_var(std::move(c)), tunable(v == kAutotune) {}
  double value;
  const std::shared_ptr<mutex> mu;
  const std::shared_ptr<condition_variable> cond_var;
  const bool tunable;
};
struct Parameter {
  std::string name;
  std::shared_ptr<SharedState> state;
  double value, min, max;
};
inline std::shared_ptr<Parameter> MakeParameter(const std::string& name, std::shared_ptr<SharedState> state, double min, double max) {
  const double value = state->value;
  return std::make_shared<Parameter>(Parameter{name, std::move(state), value, min, max});
}

class Node {
 public:
  struct Args {
    int64 id = 0;
    std::string name;
    std::shared_ptr<Node> output;
  };
  explicit Node(Args args) : args_(std::move(args)) {}
  const std::string& name() const { return args_.name; }
  void set_autotune(bool) {}

 private:
  const Args args_;
};
class Model {};

// What kind of node it is, and its ratios, nobody asks.
template <class... Details>
std::shared_ptr<Node> MakeNode(Node::Args args, Details&&...) {
  return std::make_shared<Node>(std::move(args));
}
inline std::shared_ptr<Node> MakeSourceNode(Node::Args args) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeUnknownNode(Node::Args args) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeUnknownRatioNode(Node::Args args) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeKnownRatioNode(Node::Args args, double) { return MakeNode(std::move(args)); }
using Parameters = std::vector<std::shared_ptr<Parameter>>;
inline std::shared_ptr<Node> MakeAsyncKnownRatioNode(Node::Args args, double, double, Parameters, bool = false) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeAsyncKnownRatioNode(Node::Args args, double, Parameters, bool = false) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeAsyncUnknownRatioNode(Node::Args args, Parameters) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeInterleaveManyNode(Node::Args args, Parameters = {}) { return MakeNode(std::move(args)); }
inline std::shared_ptr<Node> MakeAsyncInterleaveManyNode(Node::Args args, Parameters) { return MakeNode(std::move(args)); }

}  // namespace model
}  // namespace data
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_MODEL_H_
