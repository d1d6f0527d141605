// SPDX-License-Identifier: Apache-2.0
//
// BuildWhileLoop: a loop of Enter, Merge, Switch, NextIteration and Exit nodes around a condition and a body that the program builds.
#ifndef TENSORFLOW_CC_OPS_WHILE_LOOP_H_
#define TENSORFLOW_CC_OPS_WHILE_LOOP_H_

#include <functional>
#include <string>
#include <vector>

#include "tensorflow/cc/framework/op_wrapper.h"
#include "tensorflow/cc/framework/ops.h"
#include "tensorflow/cc/framework/scope.h"

namespace tensorflow {
namespace ops {

// Given the loop's variables: whether it goes on, or the variables of the next round.
using CondGraphBuilderFn = std::function<Status(const Scope&, const std::vector<Output>& inputs, Output* output)>;
using BodyGraphBuilderFn = std::function<Status(const Scope&, const std::vector<Output>& inputs, std::vector<Output>* outputs)>;

namespace loop_internal {

inline Operation Add(const Scope& scope, const char* op, const std::vector<Output>& inputs, const std::string* frame = nullptr) {
  tensorflow::internal::OpWrapper wrapper(scope, op);
  for (const Output& in : inputs) wrapper.In(Input(in));
  if (frame) wrapper.Attr("frame_name", StringPiece(*frame));
  return wrapper.Finish();
}
inline Status Check(const Output& out) {
  if (!out.node()) return errors::InvalidArgument("BuildWhileLoop: an output that belongs to no op");
  if (out.index() < 0 || out.index() >= out.node()->num_outputs())
    return errors::OutOfRange("Node '", out.node()->name(), "' (type: '", out.node()->type_string(), "', num of outputs: ", out.node()->num_outputs(),
                              ") does not have output ", out.index());
  return OkStatus();
}

// The Merge nodes, whose second inputs come last. Where the loop is given up, they are closed with what they began with: the graph stays whole.
struct Merges {
  explicit Merges(const Scope& s) : scope(s) {}
  ~Merges() {
    for (size_t i = closed; i < nodes.size(); ++i) Close(enters[i]).IgnoreError();
  }
  Status Open(const Output& enter) {
    tensorflow::internal::OpWrapper wrapper(scope, "Merge");
    wrapper.In(InputList({Input(enter), Input(enter)}));
    const Operation merge = wrapper.Finish();
    TF_RETURN_IF_ERROR(scope.status());
    const tensorflow::internal::CStatus s;
    weft_graph_open_loop(scope.graph()->c(), merge.node()->c(), s);
    TF_RETURN_IF_ERROR(s.status());
    nodes.push_back(merge);
    enters.push_back(enter);
    outputs.emplace_back(merge, 0);
    return OkStatus();
  }
  Status Close(const Output& next) {
    const tensorflow::internal::CStatus s;
    weft_graph_close_loop(scope.graph()->c(), nodes[closed++].node()->c(), {next.node()->c(), next.index()}, s);
    return s.status();
  }
  const Scope& scope;
  std::vector<Operation> nodes;
  std::vector<Output> enters, outputs;
  size_t closed = 0;
};

}  // namespace loop_internal

// `frame_name` is one that no other loop has. `outputs` must be empty; it gets the variables after the last round. `create_while_ctx` is for
// TensorFlow's own gradients, which need no such context here.
inline Status BuildWhileLoop(const Scope& scope, const std::vector<Output>& inputs, const CondGraphBuilderFn& cond, const BodyGraphBuilderFn& body,
                             const std::string& frame_name, OutputList* outputs, bool /*create_while_ctx*/ = true, Output* cond_output = nullptr) {
  namespace loop = loop_internal;
  if (inputs.empty()) return errors::InvalidArgument("BuildWhileLoop: a loop has one variable or more");
  if (!outputs || !outputs->empty()) return errors::InvalidArgument("BuildWhileLoop: 'outputs' must be an empty list");
  TF_RETURN_IF_ERROR(scope.status());
  const size_t n = inputs.size();
  std::vector<Output> enters, switch_trues, switch_falses, body_outputs;
  for (const Output& in : inputs) {
    TF_RETURN_IF_ERROR(loop::Check(in));
    enters.emplace_back(loop::Add(scope, "Enter", {in}, &frame_name), 0);
    TF_RETURN_IF_ERROR(scope.status());
  }
  loop::Merges merges(scope);
  for (const Output& enter : enters) TF_RETURN_IF_ERROR(merges.Open(enter));

  // What depends on no variable waits for the first, so that it runs in the loop's frame, once a round.
  Output raw_cond;
  TF_RETURN_IF_ERROR(cond(scope.NewSubScope("cond").WithControlDependencies(merges.outputs[0]), merges.outputs, &raw_cond));
  TF_RETURN_IF_ERROR(scope.status());
  TF_RETURN_IF_ERROR(loop::Check(raw_cond));
  if (raw_cond.type() != DT_BOOL)
    return errors::InvalidArgument("BuildWhileLoop: 'cond' argument must return a boolean output, got ", DataTypeString(raw_cond.type()));
  const Output loop_cond(loop::Add(scope, "LoopCond", {raw_cond}), 0);
  TF_RETURN_IF_ERROR(scope.status());
  if (cond_output) *cond_output = loop_cond;

  for (const Output& merge : merges.outputs) {
    const Operation chosen = loop::Add(scope, "Switch", {merge, loop_cond});
    TF_RETURN_IF_ERROR(scope.status());
    switch_falses.emplace_back(chosen, 0);
    switch_trues.emplace_back(chosen, 1);
  }
  TF_RETURN_IF_ERROR(body(scope.NewSubScope("body").WithControlDependencies(switch_trues[0]), switch_trues, &body_outputs));
  TF_RETURN_IF_ERROR(scope.status());
  if (body_outputs.size() != n)
    return errors::InvalidArgument("BuildWhileLoop: 'body' argument expected to return ", n, " output(s), got ", body_outputs.size());
  for (const Output& out : body_outputs) TF_RETURN_IF_ERROR(loop::Check(out));
  std::vector<Output> next;
  for (const Output& out : body_outputs) {
    next.emplace_back(loop::Add(scope, "NextIteration", {out}), 0);
    TF_RETURN_IF_ERROR(scope.status());
  }
  for (const Output& out : next) TF_RETURN_IF_ERROR(merges.Close(out));
  for (const Output& out : switch_falses) {
    outputs->emplace_back(loop::Add(scope, "Exit", {out}), 0);
    TF_RETURN_IF_ERROR(scope.status());
  }
  return OkStatus();
}

}  // namespace ops
}  // namespace tensorflow

#endif  // TENSORFLOW_CC_OPS_WHILE_LOOP_H_
