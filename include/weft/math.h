// The everyday functions under their Python names. Every op, with all its attributes, is in weft/raw.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/tensor.h"

namespace weft {

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
};
struct ReduceOptions {
  std::vector<int64_t> axis = {};  // empty: all
  bool keepdims = false;
};

WEFT_API Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});
WEFT_API Tensor reduce_sum(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_mean(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_max(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_min(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_prod(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_any(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_all(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor reduce_logsumexp(const Tensor& x, const ReduceOptions& options = {});
WEFT_API Tensor argmin(const Tensor& x, int64_t axis = 0);
WEFT_API Tensor argmax(const Tensor& x, int64_t axis = 0);
WEFT_API Tensor reshape(const Tensor& x, std::vector<int64_t> shape);
WEFT_API Tensor transpose(const Tensor& x, std::vector<int64_t> perm = {});
WEFT_API Tensor expand_dims(const Tensor& x, int64_t axis);
WEFT_API Tensor squeeze(const Tensor& x, std::vector<int64_t> axis = {});
WEFT_API Tensor tile(const Tensor& x, std::vector<int64_t> multiples);
WEFT_API Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const Tensor& value = {});
WEFT_API Tensor slice(const Tensor& x, std::vector<int64_t> begin, std::vector<int64_t> size);  // a size of -1: to the end
WEFT_API std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis = 0);
WEFT_API std::vector<Tensor> unstack(const Tensor& x, int64_t axis = 0);
WEFT_API Tensor reverse(const Tensor& x, std::vector<int64_t> axis);
WEFT_API Tensor broadcast_to(const Tensor& x, std::vector<int64_t> shape);
WEFT_API Tensor shape(const Tensor& x, DType dtype = DType::int32);  // as a tensor: also where it is not known before the graph runs
WEFT_API Tensor concat(const std::vector<Tensor>& values, int64_t axis);
WEFT_API Tensor stack(const std::vector<Tensor>& values, int64_t axis = 0);
WEFT_API Tensor cast(const Tensor& x, DType dtype);
WEFT_API Tensor zeros(std::vector<int64_t> shape, DType dtype = DType::float32);
WEFT_API Tensor ones(std::vector<int64_t> shape, DType dtype = DType::float32);
WEFT_API Tensor fill(std::vector<int64_t> shape, const Tensor& value);
WEFT_API Tensor zeros_like(const Tensor& x);
WEFT_API Tensor ones_like(const Tensor& x);
WEFT_API Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::float32);
WEFT_API Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis = -1, DType dtype = DType::float32);
WEFT_API Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs);
WEFT_API Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta);
WEFT_API Tensor abs(const Tensor& x);
WEFT_API Tensor exp(const Tensor& x);
WEFT_API Tensor log(const Tensor& x);
WEFT_API Tensor log1p(const Tensor& x);
WEFT_API Tensor erf(const Tensor& x);
WEFT_API Tensor sin(const Tensor& x);
WEFT_API Tensor cos(const Tensor& x);
WEFT_API Tensor sign(const Tensor& x);
WEFT_API Tensor floor(const Tensor& x);
WEFT_API Tensor round(const Tensor& x);
WEFT_API Tensor rsqrt(const Tensor& x);
WEFT_API Tensor sqrt(const Tensor& x);
WEFT_API Tensor square(const Tensor& x);
WEFT_API Tensor tanh(const Tensor& x);
WEFT_API Tensor sigmoid(const Tensor& x);
WEFT_API Tensor relu(const Tensor& x);
WEFT_API Tensor softmax(const Tensor& x);
WEFT_API Tensor log_softmax(const Tensor& x);
WEFT_API Tensor softplus(const Tensor& x);
WEFT_API Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high);
WEFT_API Tensor l2_normalize(const Tensor& x, const ReduceOptions& options = {}, double epsilon = 1e-12);
WEFT_API Tensor pow(const Tensor& x, const Tensor& y);
WEFT_API Tensor maximum(const Tensor& x, const Tensor& y);
WEFT_API Tensor minimum(const Tensor& x, const Tensor& y);
WEFT_API Tensor logical_and(const Tensor& x, const Tensor& y);
WEFT_API Tensor logical_or(const Tensor& x, const Tensor& y);
WEFT_API Tensor logical_not(const Tensor& x);
WEFT_API Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
WEFT_API Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);

}  // namespace weft
