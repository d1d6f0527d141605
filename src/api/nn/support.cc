#include "api/nn/support.h"
#include "weft/raw/array.h"
#include "weft/raw/nn.h"
#include "weft/raw/random.h"

#include <algorithm>

namespace weft::nn::detail {

void fail(Code code, const std::string& message) { throw Error(code, message); }

int rank_of(const Tensor& x, const std::string& who) {
  if (!x.is_symbolic()) return x.rank();
  const PartialShape s = x.partial_shape();
  if (!s.known_rank) fail(Code::kInvalidArgument, who + " needs an input whose rank is known");
  return int(s.dims.size());
}

PartialShape shape_of_rank(const Tensor& x, int min, int max, const std::string& who) {
  PartialShape s = x.partial_shape();
  if (!s.known_rank) fail(Code::kInvalidArgument, who + " needs an input whose rank is known");
  const int rank = int(s.dims.size());
  if (rank < min || rank > max) {
    fail(Code::kInvalidArgument, "Input 0 of layer \"" + who + "\" is incompatible with the layer: expected " +
                                     (min == max   ? "ndim=" + std::to_string(min)
                                      : rank < min ? "min_ndim=" + std::to_string(min)
                                                   : "max_ndim=" + std::to_string(max)) +
                                     ", found ndim=" + std::to_string(rank) + ". Full shape received: " + text(s));
  }
  return s;
}

int64_t positive_axis(int64_t axis, int rank, const std::string& who) {
  if (axis < -rank || axis >= rank)
    fail(Code::kInvalidArgument, who + ": axis " + std::to_string(axis) + " is out of range for a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

int64_t known_dim(const PartialShape& shape, int64_t axis, const std::string& who) {
  if (!shape.known_rank) fail(Code::kInvalidArgument, who + " cannot be built for an input of unknown rank");
  const int64_t d = shape.dims[size_t(positive_axis(axis, int(shape.dims.size()), who))];
  if (d < 0) {
    fail(Code::kInvalidArgument, "The axis " + std::to_string(axis) + " of the inputs to " + who +
                                     " should be defined. Found `None`. Full input shape received: " + text(shape));
  }
  return d;
}

void check_last(const Tensor& x, int64_t want, const std::string& layer) {
  const PartialShape s = x.partial_shape();
  if (!s.known_rank || s.dims.empty() || s.dims.back() < 0 || s.dims.back() == want) return;
  fail(Code::kInvalidArgument, "Input 0 of layer \"" + layer + "\" is incompatible with the layer: expected axis -1 of input shape to have value " +
                                   std::to_string(want) + ", but received input with shape " + text(s));
}

Tensor size_along(const Tensor& x, int64_t axis) {
  const PartialShape s = x.partial_shape();
  if (s.known_rank) {
    const int64_t i = axis < 0 ? axis + int64_t(s.dims.size()) : axis;
    if (s.dims[size_t(i)] >= 0) return Tensor(int32_t(s.dims[size_t(i)]));
  }
  const Tensor shape = raw::Shape(x);
  return raw::StridedSlice(shape, ints32({axis}), ints32({axis + 1}), ints32({1}), {.end_mask = axis == -1 ? 1 : 0, .shrink_axis_mask = 1});
}

namespace {

// Entries that stand for dimensions of `of` filled in where they are known; how many are left.
int resolve(std::vector<int64_t>& dims, const Tensor& of) {
  PartialShape s;
  int open = 0;
  for (int64_t& d : dims) {
    if (d >= -1) continue;
    if (!s.known_rank) s = of.partial_shape();
    const size_t i = size_t(-d - 2);
    if (s.known_rank && i < s.dims.size() && s.dims[i] >= 0) d = s.dims[i];
    else ++open;
  }
  return open;
}

Tensor pack(const std::vector<int64_t>& dims, const Tensor& of) {
  std::vector<Tensor> parts;
  for (int64_t d : dims) parts.push_back(d >= -1 ? Tensor(int32_t(d)) : size_along(of, -d - 2));
  return stack(parts);
}

}  // namespace

Tensor reshape_like(const Tensor& x, std::vector<int64_t> dims, const Tensor& of) {
  const int open = resolve(dims, of);
  if (open == 0) return reshape(x, std::move(dims));
  const bool has_rest = std::find(dims.begin(), dims.end(), -1) != dims.end();
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();  // then -1 says nothing
  if (open == 1 && !has_rest && !empty) {
    for (int64_t& d : dims) d = std::max<int64_t>(d, -1);
    return reshape(x, std::move(dims));
  }
  return raw::Reshape(x, pack(dims, of));
}

Tensor shape_like(std::vector<int64_t> dims, const Tensor& of) { return resolve(dims, of) == 0 ? ints32(dims) : pack(dims, of); }

Tensor matmul_last(const Tensor& x, const Tensor& w) {
  const int rank = rank_of(x, "a product with a matrix");
  if (rank == 2) return matmul(x, w);
  std::vector<int64_t> dims;
  for (int i = 0; i + 1 < rank; ++i) dims.push_back(like_dim(i));
  dims.push_back(w.shape()[1]);
  return reshape_like(matmul(reshape(x, {-1, w.shape()[0]}), w), std::move(dims), x);
}

Tensor bias_add(const Tensor& x, const Tensor& bias) { return raw::BiasAdd(x, bias); }

Tensor slice_axis(const Tensor& x, int64_t axis, int64_t begin, int64_t end) {
  const int rank = rank_of(x, "a slice");
  axis = positive_axis(axis, rank, "a slice");
  std::vector<int64_t> b(size_t(axis + 1), 0), e(size_t(axis + 1), 0), s(size_t(axis + 1), 1);
  b[size_t(axis)] = begin;
  e[size_t(axis)] = end;
  const int64_t all = (int64_t(1) << axis) - 1;
  return raw::StridedSlice(x, ints(b), ints(e), ints(s), {.begin_mask = all, .end_mask = end == 0 ? all | (int64_t(1) << axis) : all});
}

Tensor random_uniform(const Tensor& shape, const Tensor& seed, DType dtype) { return raw::StatelessRandomUniform(shape, seed, {.dtype = dtype}); }
Tensor random_normal(const Tensor& shape, const Tensor& seed, DType dtype) { return raw::StatelessRandomNormal(shape, seed, {.dtype = dtype}); }

}  // namespace weft::nn::detail
