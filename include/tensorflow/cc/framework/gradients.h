// SPDX-License-Identifier: Apache-2.0
//
// AddSymbolicGradients: nodes that compute derivatives, with all gradients that the engine has.
#ifndef TENSORFLOW_CC_FRAMEWORK_GRADIENTS_H_
#define TENSORFLOW_CC_FRAMEWORK_GRADIENTS_H_

#include <string>
#include <vector>

#include "tensorflow/cc/framework/scope.h"

namespace tensorflow {

// What an input gets on which no output depends.
inline Output NoGradient() { return Output(nullptr, -1); }

// Derivatives of the sum of `outputs` (each weighted by its element of grad_inputs) with respect to `inputs`.
inline Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& outputs, const std::vector<Output>& inputs,
                                   const std::vector<Output>& grad_inputs, std::vector<Output>* grad_outputs) {
  if (!scope.ok()) return scope.status();
  if (!grad_inputs.empty() && grad_inputs.size() != outputs.size()) return errors::InvalidArgument("Must specify a gradient input for each output.");
  std::vector<TF_Output> y, x, dx;
  const auto add = [](const std::vector<Output>& from, std::vector<TF_Output>* to) {
    for (const Output& o : from) {
      if (!o.node()) return errors::InvalidArgument("an output that belongs to no op has no gradient");
      to->push_back({o.node()->c(), o.index()});
    }
    return OkStatus();
  };
  TF_RETURN_IF_ERROR(add(outputs, &y));
  TF_RETURN_IF_ERROR(add(inputs, &x));
  TF_RETURN_IF_ERROR(add(grad_inputs, &dx));
  std::vector<TF_Output> dy(x.size());
  const std::string prefix = scope.WithOpName("gradients").GetUniqueNameForOp("gradients");
  const internal::CStatus s;
  TF_AddGradientsWithPrefix(scope.graph()->c(), prefix.c_str(), y.data(), static_cast<int>(y.size()), x.data(), static_cast<int>(x.size()),
                            dx.empty() ? nullptr : dx.data(), s, dy.data());
  TF_RETURN_IF_ERROR(s.status());
  grad_outputs->clear();
  for (const TF_Output& o : dy) grad_outputs->push_back(o.oper ? Output(Node::Of(o.oper), o.index) : NoGradient());
  return OkStatus();
}
inline Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& outputs, const std::vector<Output>& inputs,
                                   std::vector<Output>* grad_outputs) {
  return AddSymbolicGradients(scope, outputs, inputs, {}, grad_outputs);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_FRAMEWORK_GRADIENTS_H_
