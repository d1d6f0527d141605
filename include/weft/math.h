// The everyday functions under their Python names. Every op, with all its attributes, is in weft/raw.h.
#pragma once

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
WEFT_API Tensor argmax(const Tensor& x, int64_t axis = 0);
WEFT_API Tensor reshape(const Tensor& x, std::vector<int64_t> shape);
WEFT_API Tensor transpose(const Tensor& x, std::vector<int64_t> perm = {});
WEFT_API Tensor expand_dims(const Tensor& x, int64_t axis);
WEFT_API Tensor concat(const std::vector<Tensor>& values, int64_t axis);
WEFT_API Tensor stack(const std::vector<Tensor>& values, int64_t axis = 0);
WEFT_API Tensor cast(const Tensor& x, DType dtype);
WEFT_API Tensor zeros(std::vector<int64_t> shape, DType dtype = DType::float32);
WEFT_API Tensor ones(std::vector<int64_t> shape, DType dtype = DType::float32);
WEFT_API Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta);
WEFT_API Tensor abs(const Tensor& x);
WEFT_API Tensor exp(const Tensor& x);
WEFT_API Tensor log(const Tensor& x);
WEFT_API Tensor sqrt(const Tensor& x);
WEFT_API Tensor square(const Tensor& x);
WEFT_API Tensor tanh(const Tensor& x);
WEFT_API Tensor sigmoid(const Tensor& x);
WEFT_API Tensor relu(const Tensor& x);
WEFT_API Tensor softmax(const Tensor& x);
WEFT_API Tensor pow(const Tensor& x, const Tensor& y);
WEFT_API Tensor maximum(const Tensor& x, const Tensor& y);
WEFT_API Tensor minimum(const Tensor& x, const Tensor& y);
WEFT_API Tensor logical_and(const Tensor& x, const Tensor& y);
WEFT_API Tensor logical_or(const Tensor& x, const Tensor& y);
WEFT_API Tensor logical_not(const Tensor& x);
WEFT_API Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
WEFT_API Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);

}  // namespace weft
