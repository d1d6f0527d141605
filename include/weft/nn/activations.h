// Activations: as functions, and as the value that layers take, which is a name ("relu"), one of the functions, or any
// function of a tensor.
#pragma once

#include <functional>
#include <string>
#include <type_traits>

#include "weft/tensor.h"

namespace weft::nn {

class WEFT_API Activation {
 public:
  Activation() = default;                // linear
  Activation(const char* name);          // NOLINT: implicit on purpose
  Activation(const std::string& name);   // NOLINT
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  Activation(F f) : f_(std::move(f)), name_("function") {}  // NOLINT
  Tensor operator()(const Tensor& x) const { return f_ ? f_(x) : x; }
  explicit operator bool() const { return bool(f_); }  // false: linear
  // "relu", or "function".
  const std::string& name() const { return name_; }

 private:
  std::function<Tensor(const Tensor&)> f_;
  std::string name_ = "linear";
};

struct ReluOptions {
  double negative_slope = 0, max_value = -1, threshold = 0;  // max_value < 0: none
};

namespace activations {
// Keras' activations as functions; the options have its names.
WEFT_API Tensor relu(const Tensor& x, const ReluOptions& o = {});
WEFT_API Tensor relu6(const Tensor& x);
WEFT_API Tensor leaky_relu(const Tensor& x, double negative_slope = 0.2);
WEFT_API Tensor elu(const Tensor& x, double alpha = 1);
WEFT_API Tensor selu(const Tensor& x);
WEFT_API Tensor gelu(const Tensor& x, bool approximate = false);
WEFT_API Tensor sigmoid(const Tensor& x);
WEFT_API Tensor hard_sigmoid(const Tensor& x);
WEFT_API Tensor hard_silu(const Tensor& x);
WEFT_API Tensor log_sigmoid(const Tensor& x);
WEFT_API Tensor tanh(const Tensor& x);
WEFT_API Tensor softmax(const Tensor& x, int64_t axis = -1);
WEFT_API Tensor log_softmax(const Tensor& x, int64_t axis = -1);
WEFT_API Tensor softplus(const Tensor& x);
WEFT_API Tensor softsign(const Tensor& x);
WEFT_API Tensor silu(const Tensor& x);
WEFT_API Tensor swish(const Tensor& x);
WEFT_API Tensor mish(const Tensor& x);
WEFT_API Tensor exponential(const Tensor& x);
WEFT_API Tensor linear(const Tensor& x);
}  // namespace activations

}  // namespace weft::nn
