// The gradient of a function, as two functions in its library: FORWARD, which gives the function's own results and behind
// them the values that the way back needs, and BACKWARD, which takes these and the gradients of the results. Which values
// are kept is decided here, once for each request; graphs and tapes only call the pair.
//
//   call of f(inputs)  ->  forward(inputs) = [results..., saved values...]
//   its gradient       ->  backward(gradients of output_grads..., inputs of passed_inputs..., results of passed_outputs..., saved values...)
//                            = gradients of input_grads...
//
// A resource argument's gradient is that of the variable's value. Slices stay slices where the request says that they may (three results of backward), else they
// become dense at the border.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/function_library.h"
#include "op/gradient.h"
#include "op/registry.h"

namespace weft_engine::autodiff {

using namespace weft_engine::graph;

struct FunctionGradient {
  std::string forward, backward;  // names in the library; forward is the function itself where it gives all that is needed.
      // Neither has attributes. backward is empty where input_grads is.
  int num_outputs = 0;  // of the function
  int num_saved = 0;  // further results of forward
  std::vector<int> output_grads;  // the results whose gradients backward takes, in order
  std::vector<int> passed_inputs;  // the arguments of the function that backward takes too
  std::vector<int> passed_outputs;  // the results that it takes too
  std::vector<int> input_grads;  // the arguments for which backward gives a gradient, in order; none for those that do not matter
  std::vector<int> slice_grads;  // those of input_grads that are slices: values, indices and dense shape instead of one result
  std::vector<DType> saved_types;  // of the saved values, and their shapes as far as they are known
  std::vector<PartialShape> saved_shapes;
  bool stateful_forward = false, stateful_backward = false;
  bool reads_values = false;  // backward depends on values, constants included, that are not results: TensorFlow's forward gives them as results

  // By argument: the gradients that are among the results of backward.
  op::Grads unpack(size_t num_inputs, std::span<const op::Value> results) const;
};

// `want_input`: for which arguments a gradient is asked (none for types that cannot have one). `have_output_grad`: into which
// results one flows. Kept in the library: the same request gives the same functions. A gradient that the user gave for the
// function (FunctionLibrary::gradient_of) is used as it is. NotFound names an op without a gradient.
Result<FunctionGradient> function_gradient(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& function,
                                           const std::vector<bool>& want_input, const std::vector<bool>& have_output_grad, bool slices = false);

// The gradients as one function of the arguments and the gradients of all results: what SymbolicGradient calls. Arguments that get
// none give zeros.
Result<FunctionAttr> symbolic_gradient(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& function);

}  // namespace weft_engine::autodiff
