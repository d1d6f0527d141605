#include "weft/nn/activations.h"

#include <cmath>
#include <map>

#include "api/nn/support.h"
#include "weft/raw/math.h"
#include "weft/raw/nn.h"

namespace weft::nn {

using namespace detail;

namespace {

// An op on the last axis, for any.
Tensor along(Tensor (*op)(const Tensor&), const Tensor& x, int64_t axis) {
  if (axis == -1) return op(x);
  const int rank = rank_of(x, "softmax");
  const int64_t a = positive_axis(axis, rank, "softmax");
  if (a == rank - 1) return op(x);
  std::vector<int64_t> perm;  // swaps the two, and so undoes itself
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i == a ? rank - 1 : i == rank - 1 ? a : i);
  return transpose(op(transpose(x, perm)), perm);
}

using Function = Tensor (*)(const Tensor&);
Function named_activation(const std::string& name) {
  namespace a = activations;
  static const auto* table = new std::map<std::string, Function>{
      {"relu", [](const Tensor& x) { return weft::relu(x); }},
      {"relu6", &a::relu6},
      {"leaky_relu", [](const Tensor& x) { return a::leaky_relu(x); }},
      {"elu", [](const Tensor& x) { return a::elu(x); }},
      {"selu", &a::selu},
      {"gelu", [](const Tensor& x) { return a::gelu(x); }},
      {"sigmoid", &a::sigmoid},
      {"hard_sigmoid", &a::hard_sigmoid},
      {"hard_silu", &a::hard_silu},
      {"hard_swish", &a::hard_silu},
      {"log_sigmoid", &a::log_sigmoid},
      {"tanh", &a::tanh},
      {"softmax", [](const Tensor& x) { return a::softmax(x); }},
      {"log_softmax", [](const Tensor& x) { return a::log_softmax(x); }},
      {"softplus", &a::softplus},
      {"softsign", &a::softsign},
      {"silu", &a::silu},
      {"swish", &a::silu},
      {"mish", &a::mish},
      {"exponential", &a::exponential},
  };
  auto it = table->find(name);
  if (it == table->end()) fail(Code::kInvalidArgument, "Could not interpret activation function identifier: " + name);
  return it->second;
}

}  // namespace

Activation::Activation(const char* name) : Activation(std::string(name)) {}
Activation::Activation(const std::string& name) {
  if (name == "linear" || name.empty()) return;
  f_ = named_activation(name);
  name_ = name;
}

namespace activations {

Tensor relu(const Tensor& x, const ReluOptions& o) {
  if (o.threshold == 0 && o.negative_slope == 0 && o.max_value < 0) return weft::relu(x);
  if (o.threshold == 0 && o.negative_slope == 0 && o.max_value == 6) return relu6(x);
  const Tensor zero = number(0, x), threshold = number(o.threshold, x);
  // Below the threshold: a line of that slope through it.
  const Tensor below = o.negative_slope == 0 ? zero : (o.threshold == 0 ? weft::relu(-x) : weft::relu(threshold - x)) * number(-o.negative_slope, x);
  Tensor above = o.threshold == 0 ? weft::relu(x) : x * cast(x > threshold, x.dtype());
  if (o.max_value >= 0) above = minimum(above, number(o.max_value, x));
  return o.negative_slope == 0 ? above : above + below;
}
Tensor relu6(const Tensor& x) { return raw::Relu6(x); }
Tensor leaky_relu(const Tensor& x, double negative_slope) { return raw::LeakyRelu(x, {.alpha = float(negative_slope)}); }
Tensor elu(const Tensor& x, double alpha) {
  const Tensor y = raw::Elu(x);
  return alpha == 1 ? y : where(x > number(0, x), y, number(alpha, x) * y);
}
Tensor selu(const Tensor& x) { return raw::Selu(x); }
Tensor gelu(const Tensor& x, bool approximate) {
  const Tensor half = number(0.5, x);
  if (approximate) {
    const Tensor inner = number(std::sqrt(2 / 3.14159265358979323846), x) * (x + number(0.044715, x) * weft::pow(x, number(3, x)));
    return half * x * (number(1, x) + weft::tanh(inner));
  }
  return half * x * raw::Erfc(-x * number(0.70710678118654752, x));
}
Tensor sigmoid(const Tensor& x) { return weft::sigmoid(x); }
Tensor hard_sigmoid(const Tensor& x) { return relu6(x + number(3, x)) / number(6, x); }
Tensor hard_silu(const Tensor& x) { return x * hard_sigmoid(x); }
Tensor log_sigmoid(const Tensor& x) { return -raw::Softplus(-x); }
Tensor tanh(const Tensor& x) { return weft::tanh(x); }
Tensor softmax(const Tensor& x, int64_t axis) { return along(raw::Softmax, x, axis); }
Tensor log_softmax(const Tensor& x, int64_t axis) { return along(raw::LogSoftmax, x, axis); }
Tensor softplus(const Tensor& x) { return raw::Softplus(x); }
Tensor softsign(const Tensor& x) { return weft::softsign(x); }
Tensor silu(const Tensor& x) { return x * weft::sigmoid(x); }
Tensor swish(const Tensor& x) { return silu(x); }
Tensor mish(const Tensor& x) { return x * weft::tanh(weft::softplus(x)); }
Tensor exponential(const Tensor& x) { return weft::exp(x); }
Tensor linear(const Tensor& x) { return x; }

}  // namespace activations
}  // namespace weft::nn
