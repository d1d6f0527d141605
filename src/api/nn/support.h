// What layers share: constants of a tensor's type, shapes that may be known in part, numbers as tensors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/nn/train_ops.h"
#include "weft/math.h"
#include "weft/nn/layer.h"

namespace weft::nn::detail {

inline Tensor ints(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({int64_t(v.size())}, std::span<const int64_t>(v)); }
inline Tensor ints32(const std::vector<int64_t>& v) {
  const std::vector<int32_t> w(v.begin(), v.end());
  return Tensor::of<int32_t>({int64_t(w.size())}, std::span<const int32_t>(w));
}

using nn::number;
inline Tensor number(double v, const Tensor& like) { return number(v, like.dtype()); }

// Throws where the rank is not known, or is not one of [min, max].
PartialShape shape_of_rank(const Tensor& x, int min, int max, const std::string& who);
int rank_of(const Tensor& x, const std::string& who);
// A dimension that must be known, of the shape that a layer is built for; `axis` may count from the end.
int64_t known_dim(const PartialShape& shape, int64_t axis, const std::string& who);
int64_t positive_axis(int64_t axis, int rank, const std::string& who);
// Throws Keras' error where the last dimension is known and is another than the one that the layer was built for.
void check_last(const Tensor& x, int64_t want, const std::string& layer);

// int32 scalar: the size of x along axis, as a constant where it is known.
Tensor size_along(const Tensor& x, int64_t axis);
// Reshapes to dims; an entry below -1 means "dimension -(entry + 2) of `of`", which may be known only when the graph runs.
constexpr int64_t like_dim(int64_t i) { return -(i + 2); }
Tensor reshape_like(const Tensor& x, std::vector<int64_t> dims, const Tensor& of);
// The same as an int32 vector, for other ops that take a shape. No entry may be -1.
Tensor shape_like(std::vector<int64_t> dims, const Tensor& of);

// x [..., in] times w [in, out].
Tensor matmul_last(const Tensor& x, const Tensor& w);
Tensor bias_add(const Tensor& x, const Tensor& bias);
Tensor slice_axis(const Tensor& x, int64_t axis, int64_t begin, int64_t end);  // end 0: to the last

// Uniform in [0, 1), from a seed of two integers.
Tensor random_uniform(const Tensor& shape, const Tensor& seed, DType dtype);
Tensor random_normal(const Tensor& shape, const Tensor& seed, DType dtype);

[[noreturn]] void fail(Code code, const std::string& message);
inline std::string text(const PartialShape& s) {
  if (!s.known_rank) return "<unknown>";
  std::string out = "(";
  for (size_t i = 0; i < s.dims.size(); ++i) out += (i ? ", " : "") + (s.dims[i] < 0 ? std::string("None") : std::to_string(s.dims[i]));
  return out + (s.dims.size() == 1 ? ",)" : ")");
}

}  // namespace weft::nn::detail
