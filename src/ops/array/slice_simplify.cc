// Which dimensions a slice takes of a shape that is known in part.
#include <algorithm>

#include "graph/constant_values.h"
#include "graph/passes/util.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

bool strided_slice_dims(const Node& n, int64_t rank, PickedDims& out) {
  auto begin = const_int(n.input(1)), end = const_int(n.input(2)), stride = const_int(n.input(3));
  if (!begin || !end || !stride || *stride != 1 || n.attr<int64_t>("ellipsis_mask") || n.attr<int64_t>("new_axis_mask")) return false;
  out.scalar = n.attr<int64_t>("shrink_axis_mask") & 1;
  const bool from_first = n.attr<int64_t>("begin_mask") & 1, to_last = n.attr<int64_t>("end_mask") & 1;
  if (out.scalar) {
    out.first = from_first ? 0 : *begin < 0 ? *begin + rank : *begin;
    return true;
  }
  auto clamp = [&](int64_t v) { return std::clamp(v < 0 ? v + rank : v, int64_t(0), rank); };
  out.first = from_first ? 0 : clamp(*begin);
  out.count = std::max((to_last ? rank : clamp(*end)) - out.first, int64_t(0));
  return true;
}

// With any stride; one dimension where the axis shrinks.
PartialShape sliced(const PartialValues& v) {
  const Node& n = v.node;
  if (n.num_inputs() != 4 || n.attr<int64_t>("ellipsis_mask") || n.attr<int64_t>("new_axis_mask")) return {};
  if (v.shape(0).rank() != 1 || !v.has_sizes(0)) return {};
  std::optional<std::vector<int64_t>> at[3];
  for (int i = 0; i < 3; ++i) {
    at[i] = v.elements(i + 1);
    if (!at[i] || at[i]->size() != 1) return {};
  }
  int64_t begin = (*at[0])[0], end = (*at[1])[0];
  const int64_t stride = (*at[2])[0];
  const PartialShape all = v.as_shape(0);
  if (!all.has_rank() || stride == 0) return {};
  const int64_t rank = all.rank();
  if (n.attr<int64_t>("shrink_axis_mask") & 1) {
    if (begin < 0) begin += rank;
    return begin < 0 || begin >= rank || stride != 1 ? PartialShape() : PartialShape({all.dim(int(begin))});
  }
  const bool up = stride > 0;
  const int64_t least = up ? 0 : -1, most = up ? rank : rank - 1;
  auto place = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, least, most); };
  begin = n.attr<int64_t>("begin_mask") & 1 ? (up ? 0 : rank - 1) : place(begin);
  end = n.attr<int64_t>("end_mask") & 1 ? (up ? rank : -1) : place(end);
  PartialShape out = PartialShape::scalar();
  for (int64_t i = begin; up ? i < end : i > end; i += stride) {
    out.add_dim(all.dim(int(i)));
    if (stride > rank || stride < -rank) break;
  }
  return out;
}

bool strided_slice_shape(const PartialValues& v, PartialShape& out) {
  if (v.rank() != 0 && v.rank() != 1) return false;
  out = sliced(v);
  return true;
}

}  // namespace

void simplify_slice(Registry& r) {
  set_pick_dims(r, "StridedSlice", strided_slice_dims);
  set_shape_value(r, "StridedSlice", strided_slice_shape);
}

}  // namespace weft_engine::ops
