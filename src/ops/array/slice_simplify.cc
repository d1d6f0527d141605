// Which dimensions a slice takes of a shape that is known in part.
#include <algorithm>

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

}  // namespace

void simplify_slice(Registry& r) { set_pick_dims(r, "StridedSlice", strided_slice_dims); }

}  // namespace weft_engine::ops
