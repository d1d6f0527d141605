// Rules of vectorize.h for shapes and parts of tensors.
#include <algorithm>

#include "autodiff/vectorize_call.h"

namespace weft::autodiff {

Outputs VectorCall::reshaped() {
  if (has_rows(1)) return refused();
  Value to = inner(1);
  auto wanted = numbers(1);
  if (wanted && shape(0).fully_known()) {
    // An open size is worked out: there may be no rows at all.
    int64_t known = 1, *open = nullptr;
    for (int64_t& d : *wanted) {
      if (d == -1) open = &d;
      else known *= d;
    }
    if (open && known > 0) *open = shape(0).concrete()->num_elements() / known;
    to = list(*wanted);
  }
  return one(apply1("Reshape", {inner(0), join({rows_list(), to})}, typeless()));
}

Outputs VectorCall::tiled() {
  if (has_rows(1)) return refused();
  return one(apply1("Tile", {inner(0), join({list({1}), inner(1)})}, typeless()));
}

Outputs VectorCall::transposed() {
  if (has_rows(1)) return refused();
  Value perm = numbers(1) ? shifted_axes(1) : op::cast(inner(1), DType::kInt32) + scalar(1);
  return one(apply1(op_, {inner(0), join({list({0}), perm})}, typeless()));
}

Outputs VectorCall::broadcast_to() {
  const PartialShape s = has_rows(1) ? PartialShape::unknown() : shape(1);
  if (!s.fully_known() || s.rank() != 1) return refused();
  WEFT_ASSIGN(Value v, aligned(0, int(s.dim(0))));
  return one(apply1("BroadcastTo", {v, join({rows_list(), inner(1)})}, typeless()));
}

Outputs VectorCall::filled() {
  const PartialShape s = has_rows(0) ? PartialShape::unknown() : shape(0);
  if (!s.fully_known() || s.rank() != 1) return refused();
  WEFT_ASSIGN(Value v, aligned(1, int(s.dim(0))));
  return one(apply1("BroadcastTo", {v, join({rows_list(), inner(0)})}));
}

Outputs VectorCall::squeezed() {
  auto it = attrs_.find("squeeze_dims");
  std::vector<int64_t> which;
  if (it != attrs_.end() && it->second.get<std::vector<int64_t>>()) which = *it->second.get<std::vector<int64_t>>();
  const PartialShape s = shape(0);
  if (!s.has_rank()) return refused();
  if (which.empty()) {
    if (!s.fully_known()) return refused();
    for (int i = 0; i < s.rank(); ++i) {
      if (s.dim(i) == 1) which.push_back(i);
    }
  }
  for (int64_t& d : which) d = (d < 0 ? d + s.rank() : d) + 1;
  return one(which.empty() ? inner(0) : op::squeeze(inner(0), which));
}

Outputs VectorCall::expanded() {
  if (has_rows(1)) return refused();
  return one(apply1("ExpandDims", {inner(0), shifted_axes(1)}, typeless()));
}

// Where the beginning differs by row, each dimension is gathered.
Outputs VectorCall::sliced() {
  if (has_rows(2)) return refused();
  if (!has_rows(1)) return one(op::slice(inner(0), join({list({0}), inner(1)}), join({list({-1}), inner(2)})));
  auto size = numbers(2);
  const PartialShape s = shape(0);
  if (!size || !s.has_rank() || size_t(s.rank()) != size->size() || s.rank() == 0) return refused();
  Value v = inner(0), begin = op::cast(inner(1), DType::kInt32);
  bool rowed = has_rows(0);
  for (int k = 0; k < s.rank(); ++k) {
    const int64_t n = (*size)[size_t(k)];
    if (n < 0) return refused();  // up to the end: of another length in each row
    if (rowed && n == s.dim(k)) continue;
    Value first = op::slice(begin, list({0, k}), list({-1, 1}));
    Value places = first + base_.one("Range", {scalar(0), scalar(n), scalar(1)});
    AttrMap a;
    a["batch_dims"] = int64_t(rowed);
    v = apply1("GatherV2", {v, places, scalar(k + (rowed ? 1 : 0))}, std::move(a));
    rowed = true;
  }
  return one(v);
}

Outputs VectorCall::strided_slice() {
  if (has_rows(3)) return refused();
  constexpr const char* kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
  if (!has_rows(1) && !has_rows(2)) {
    const int front[3] = {0, 0, 1};
    std::vector<Value> in{inner(0)};
    for (size_t i = 1; i < 4; ++i) in.push_back(join({list({front[i - 1]}), inner(i)}));
    for (const char* mask : kMasks) attrs_[mask] = number(mask) << 1 | int64_t(mask == kMasks[0] || mask == kMasks[1]);
    return one(apply1(op_, in, typeless()));
  }
  // x[i] with another i in each row, and whole dimensions behind.
  const PartialShape s = shape(0), given = shape(3);
  if (number("ellipsis_mask") || number("new_axis_mask") || !s.has_rank() || !given.fully_known() || !has_rows(1) || !numbers(3))
    return refused();
  const int64_t shrink = number("shrink_axis_mask"), whole = number("begin_mask") & number("end_mask");
  Value v = inner(0), begin = op::cast(inner(1), DType::kInt32);
  bool rowed = has_rows(0);
  int axis = 0;
  for (int k = 0; k < given.dim(0); ++k) {
    if (!(shrink >> k & 1)) {
      if (!(whole >> k & 1) || (*numbers(3))[size_t(k)] != 1 || !rowed) return refused();
      ++axis;
      continue;
    }
    Value place = op::slice(begin, list({0, k}), list({-1, 1}));
    place = op::binary("FloorMod", op::reshape(place, list({-1})), op::reshape(dims(0, k, k + 1), list({})));
    AttrMap a;
    a["batch_dims"] = int64_t(rowed);
    v = apply1("GatherV2", {v, place, scalar(axis + (rowed ? 1 : 0))}, std::move(a));
    rowed = true;
  }
  return one(v);
}

// Inputs: shape, begin, end, strides, dy. The whole of the first dimension, in front of what there was.
Outputs VectorCall::strided_slice_grad() {
  for (size_t i = 0; i < 4; ++i) {
    if (has_rows(i)) return refused();
  }
  std::vector<Value> in;
  for (size_t i = 0; i < 4; ++i) in.push_back(join({i == 0 ? rows_list() : list({i == 3}), inner(i)}));
  in.push_back(inner(4));
  for (const char* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    const bool open = mask[0] == 'b' || std::string_view(mask) == "end_mask";
    attrs_[mask] = number(mask) << 1 | int64_t(open);
  }
  return one(apply1(op_, in, typeless()));
}

Outputs VectorCall::padded() {
  if (has_rows_from(1)) return refused();
  Value none = base_.constant(Tensor::vector(std::vector<int32_t>{0, 0}));
  std::vector<Value> in{inner(0), op::concat(std::vector<Value>{op::reshape(none, list({1, 2})), op::cast(inner(1), DType::kInt32)}, 0)};
  if (inputs_.size() > 2) in.push_back(inner(2));
  return one(apply1(op_, in, typeless()));
}

Outputs VectorCall::concatenated() {
  const size_t n = inputs_.size() - 1;
  if (has_rows(n)) return refused();
  std::vector<Value> in;
  for (size_t i = 0; i < n; ++i) in.push_back(with_rows(i));
  in.push_back(shifted_axes(n));
  return one(apply1("ConcatV2", in));
}

Outputs VectorCall::packed() {
  const int64_t axis = number("axis");
  attrs_["axis"] = axis + (axis >= 0 ? 1 : 0);
  std::vector<Value> in;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(with_rows(i));
  return all(apply(op_, in, std::move(attrs_)));
}

Outputs VectorCall::split() {
  if (has_rows(0)) return refused();
  return all(apply(op_, {shifted_axes(0), inner(1)}, std::move(attrs_)));
}
Outputs VectorCall::split_v() {
  if (has_rows_from(1)) return refused();
  return all(apply(op_, {inner(0), inner(1), shifted_axes(2)}, std::move(attrs_)));
}

Outputs VectorCall::one_hot() {
  if (has_rows_from(1)) return refused();
  const int64_t axis = number("axis", -1);
  attrs_["axis"] = axis + (axis >= 0 ? 1 : 0);
  return one(apply1(op_, {inner(0), inner(1), inner(2), inner(3)}, std::move(attrs_)));
}

// The condition may be a scalar, or say something of the first dimension.
Outputs VectorCall::selected() {
  const int r = rank(1);
  if (r < 0 || rank(0) < 0) return refused();
  Value condition = with_rows(0);
  if (rank(0) < r) condition = op::reshape(condition, join({rows_list(), dims(0), list(std::vector<int64_t>(size_t(r - rank(0)), 1))}));
  return one(op::where(condition, with_rows(1), with_rows(2)));
}

Outputs VectorCall::diag() { return rank(0) == 1 ? one(apply1("MatrixDiag", {inner(0)})) : refused(); }
Outputs VectorCall::diag_part() { return rank(0) == 2 ? one(apply1("MatrixDiagPart", {inner(0)})) : refused(); }

Outputs VectorCall::shape_of_value() {
  auto it = attrs_.find("out_type");
  const bool wide = it != attrs_.end() && it->second.get<DType>() && *it->second.get<DType>() == DType::kInt64;
  if (wide && shape(0).fully_known()) return same(base_.constant(Tensor::vector(shape(0).dims())));
  return same(op::cast(dims(0), wide ? DType::kInt64 : DType::kInt32));
}
Outputs VectorCall::shapes_of_values() {
  std::vector<Value> out;
  AttrMap attrs;
  if (auto it = attrs_.find("out_type"); it != attrs_.end()) attrs["out_type"] = it->second;
  for (const Value& v : inputs_) out.push_back(vector_.one("Shape", {v}, attrs));
  WEFT_RETURN_IF_ERROR(vector_.take_status());
  return out;
}
Outputs VectorCall::rank_of_value() { return same(rank(0) >= 0 ? scalar(rank(0)) : op::rank_of(inner(0)) - scalar(1)); }
Outputs VectorCall::size_of_value() {
  auto it = attrs_.find("out_type");
  const DType type = it != attrs_.end() && it->second.get<DType>() ? *it->second.get<DType>() : DType::kInt32;
  return same(op::cast(op::reduce("Prod", dims(0), scalar(0)), type));
}

Outputs VectorCall::ensured() {
  auto it = attrs_.find("shape");
  const PartialShape* s = it == attrs_.end() ? nullptr : it->second.get<PartialShape>();
  if (!s) return refused();
  if (s->has_rank()) {
    std::vector<int64_t> dims = s->dims();
    dims.insert(dims.begin(), rows() >= 0 ? rows() : kUnknownDim);
    attrs_["shape"] = PartialShape(dims);
  }
  return one(apply1(op_, {inner(0)}, std::move(attrs_)));
}

Outputs VectorCall::each() { return std::vector<Value>(inputs_.begin(), inputs_.end()); }

Outputs VectorCall::gathered() {
  auto axes = numbers(2);
  if (!axes || axes->size() != 1 || rank(1) < 0) return refused();
  int64_t axis = (*axes)[0], shared = number("batch_dims");
  if (shared < 0) shared += rank(1);
  if (axis < 0) {
    if (rank(0) < 0) return refused();
    axis += rank(0);
  }
  attrs_.erase("Taxis");
  if (!has_rows(0) && shared == 0) {
    Value v = apply1(op_, {inner(0), inner(1), scalar(axis)}, std::move(attrs_));
    if (!v.valid() || (axis && !v.shape().has_rank())) return refused();
    return one(to_front(v, int(axis)));
  }
  const bool together = has_rows(1) || shared > 0;
  attrs_["batch_dims"] = together ? shared + 1 : 0;
  return one(apply1(op_, {with_rows(0), together ? with_rows(1) : inner(1), scalar(axis + 1)}, std::move(attrs_)));
}

Value VectorCall::row_indices(size_t i) {
  const int r = rank(i);
  Value numbers = op::cast(row_numbers(r), inputs_[i].dtype());
  numbers = base_.one("BroadcastTo", {numbers, join({rows_list(), dims(i, 0, r - 1), list({1})})});
  return op::concat(std::vector<Value>{numbers, with_rows(i)}, r);
}

Outputs VectorCall::gathered_nd() {
  if (!has_rows(0)) return one(apply1(op_, {inner(0), inner(1)}, std::move(attrs_)));
  if (rank(1) < 1) return refused();
  return one(apply1(op_, {inner(0), row_indices(1)}, std::move(attrs_)));
}

Outputs VectorCall::gathered_variable() {
  if (has_rows(0) || number("batch_dims")) return refused();
  return one(apply1(op_, {inner(0), inner(1)}, std::move(attrs_)));
}

Outputs VectorCall::scattered() {
  if (has_rows(2) || rank(0) < 1) return refused();
  return one(apply1(op_, {row_indices(0), with_rows(1), op::cast(join({rows_list(), inner(2)}), inputs_[0].dtype())}, std::move(attrs_)));
}
Outputs VectorCall::scattered_into() {
  if (rank(1) < 1) return refused();
  return one(apply1(op_, {with_rows(0), row_indices(1), with_rows(2)}, std::move(attrs_)));
}

// Segments of different rows have different numbers.
Outputs VectorCall::segments() {
  if (has_rows(2) || rank(1) < 0) return refused();
  const DType type = inputs_[1].dtype();
  Value ids = with_rows(1), count = op::cast(inner(2), type);
  Value moved = ids + op::cast(row_numbers(rank(1)), type) * count;
  ids = op::where(op::binary("Less", ids, op::scalar(base_, type, 0)), ids, moved);
  Value v = apply1(op_, {with_rows(0), ids, op::cast(inner(2), DType::kInt32) * vector_.rows()});
  return one(op::reshape(v, join({rows_list(), op::reshape(op::cast(inner(2), DType::kInt32), list({1})), dims(0, rank(1))})));
}

}  // namespace weft::autodiff
