#include "op/shape_context.h"

namespace weft_engine::op {

ShapeContext::ShapeContext(const NodeInfo& node, std::vector<PartialShape> inputs, std::vector<const Tensor*> constants,
                           std::vector<std::optional<HandleData>> handles, std::vector<std::optional<PartialShape>> partial)
    : node_(node),
      inputs_(std::move(inputs)),
      constants_(std::move(constants)),
      handles_(std::move(handles)),
      partial_(std::move(partial)),
      asked_(inputs_.size()),
      outputs_(size_t(node.num_outputs())),
      output_handles_(size_t(node.num_outputs())) {
  // Rules read values by the shapes and types that they see: a value says what its shape is, and one that cannot be that input's is left out.
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (i < constants_.size() && constants_[i]) {
      const PartialShape exact(constants_[i]->shape());
      if (i < node.input_types().size() && constants_[i]->dtype() == base_type(node.input_types()[i]) && inputs_[i].compatible_with(exact))
        inputs_[i] = exact;
      else constants_[i] = nullptr;
    }
    if (i < partial_.size() && partial_[i] && partial_[i]->has_rank() && !inputs_[i].compatible_with(PartialShape({partial_[i]->rank()})))
      partial_[i].reset();
  }
}

std::optional<std::vector<int64_t>> ShapeContext::constant_ints(int i) const {
  const Tensor* t = constant(i);
  if (!t) return std::nullopt;
  std::vector<int64_t> out;
  if (t->dtype() == DType::kInt32) {
    for (int32_t v : t->span<int32_t>()) out.push_back(v);
  } else if (t->dtype() == DType::kInt64) {
    for (int64_t v : t->span<int64_t>()) out.push_back(v);
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<int64_t> ShapeContext::constant_int(int i) const {
  auto v = constant_ints(i);
  if (!v || v->size() != 1) return std::nullopt;
  return (*v)[0];
}

Result<PartialShape> ShapeContext::constant_shape(int i) const {
  if (size_t(i) < asked_.size()) asked_[size_t(i)] |= kAskedShape;
  if (input(i).rank() > 1) return with_rank(i, 1);  // the error
  if (size_t(i) < partial_.size() && partial_[size_t(i)]) return *partial_[size_t(i)];
  if (const Tensor* t = constant(i)) {
    if (t->rank() == 0) {  // a scalar -1 stands for an unknown shape
      auto v = constant_int(i);
      if (v && *v == -1) return PartialShape::unknown();
    }
    if (t->rank() != 1) return invalid_argument("Input tensor must be rank 1, but was rank ", t->rank());
    auto dims = constant_ints(i);
    if (!dims) return PartialShape::unknown();
    for (int64_t d : *dims) {
      if (d < -1) return invalid_argument("Invalid value in tensor used for shape: ", d);
    }
    return PartialShape(std::move(*dims));
  }
  const PartialShape& s = input(i);
  if (s.rank() == 1 && s.dim(0) >= 0 && s.dim(0) <= kMaxRank) return PartialShape::unknown_of_rank(int(s.dim(0)));
  return PartialShape::unknown();
}

Result<PartialShape> ShapeContext::with_rank(int i, int rank) const {
  const PartialShape& s = input(i);
  if (!s.has_rank()) return PartialShape::unknown_of_rank(rank);
  if (s.rank() != rank) return invalid_argument("Shape must be rank ", rank, " but is rank ", s.rank());
  return s;
}

Result<PartialShape> ShapeContext::with_rank_at_least(int i, int rank) const {
  const PartialShape& s = input(i);
  if (s.has_rank() && s.rank() < rank) return invalid_argument("Shape must be at least rank ", rank, " but is rank ", s.rank());
  return s;
}

Result<PartialShape> ShapeContext::with_rank_at_most(int i, int rank) const {
  const PartialShape& s = input(i);
  if (s.has_rank() && s.rank() > rank) return invalid_argument("Shape must be at most rank ", rank, " but is rank ", s.rank());
  return s;
}

Result<int64_t> ShapeContext::merge_dim(int64_t a, int64_t b) {
  if (a < 0) return b;
  if (b < 0 || a == b) return a;
  return invalid_argument("Dimensions must be equal, but are ", a, " and ", b);
}

namespace shapes {

Status unchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, c.input(0));
  return {};
}

Status scalar(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, PartialShape::scalar());
  return {};
}

Status unknown(ShapeContext&) { return {}; }
Status no_outputs(ShapeContext&) { return {}; }

Result<PartialShape> broadcast(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return PartialShape::unknown();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t x = ia < 0 ? 1 : a.dim(ia), y = ib < 0 ? 1 : b.dim(ib);
    int64_t& d = dims[size_t(i)];
    if (x == 1) d = y;
    else if (y == 1) d = x;
    else if (x < 0) d = y > 1 ? y : x;   // the unknown one must be 1 or equal to the known one
    else if (y < 0) d = x;
    else if (x == y) d = x;
    else return invalid_argument("Dimensions must be equal, but are ", x, " and ", y);
  }
  return PartialShape(std::move(dims));
}

Status broadcast_binary(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, broadcast(c.input(0), c.input(1)));
  c.output(0, std::move(s));
  return {};
}

Status merge_all(ShapeContext& c) {
  PartialShape s;
  for (int i = 0; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(PartialShape merged, s.merge_with(c.input(i)));
    s = std::move(merged);
  }
  c.output(0, std::move(s));
  return {};
}

Result<PartialShape> reduced(const PartialShape& in, const std::optional<std::vector<int64_t>>& axes, bool keep_dims) {
  if (!in.has_rank()) return PartialShape::unknown();
  if (!axes) return keep_dims ? PartialShape::unknown_of_rank(in.rank()) : PartialShape::unknown();
  std::vector<bool> gone(size_t(in.rank()), false);
  for (int64_t a : *axes) {
    if (a < -in.rank() || a >= in.rank()) return invalid_argument("Invalid reduction dimension ", a, " for input with ", in.rank(), " dimensions.");
    gone[size_t(a < 0 ? a + in.rank() : a)] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    if (!gone[size_t(i)]) dims.push_back(in.dim(i));
    else if (keep_dims) dims.push_back(1);
  }
  return PartialShape(std::move(dims));
}

int64_t mul_dim(int64_t a, int64_t b) { return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? kUnknownDim : multiply_without_overflow(a, b); }
int64_t add_dim(int64_t a, int64_t b) {
  int64_t sum;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? kUnknownDim : sum;
}

Result<int64_t> window_dim(int64_t in, int64_t window, int64_t stride, int64_t dilation, std::string_view padding, int64_t pad) {
  if (stride <= 0) return invalid_argument("Stride must be > 0, but got ", stride);
  if (dilation < 1) return invalid_argument("Dilation rate must be >= 1, but got ", dilation);
  if (in < 0 || (window < 0 && padding != "SAME")) return kUnknownDim;
  const int64_t reach = (window - 1) * dilation + 1;
  int64_t out;
  if (padding == "SAME") out = (in + stride - 1) / stride;
  else if (padding == "VALID") out = (in - reach + stride) / stride;
  else out = (in + pad - reach + stride) / stride;
  if (out < 0)
    return invalid_argument("Computed output size would be negative: ", out, " [input_size: ", in, ", effective_filter_size: ", reach,
                            ", stride: ", stride, "]");
  return out;
}

}  // namespace shapes
}  // namespace weft_engine::op
