// Slices.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Where the beginning differs by row, each dimension is gathered.
Batched sliced(BatchContext& c) {
  if (c.has_rows(2)) return c.refused();
  if (!c.has_rows(1)) return c.one(op::slice(c.inner(0), c.join({c.list({0}), c.inner(1)}), c.join({c.list({-1}), c.inner(2)})));
  auto size = c.numbers(2);
  const PartialShape s = c.shape(0);
  if (!size || !s.has_rank() || size_t(s.rank()) != size->size() || s.rank() == 0) return c.refused();
  Value v = c.inner(0), begin = op::cast(c.inner(1), DType::kInt32);
  bool rowed = c.has_rows(0);
  for (int k = 0; k < s.rank(); ++k) {
    const int64_t n = (*size)[size_t(k)];
    if (n < 0) return c.refused();  // up to the end: of another length in each row
    if (rowed && n == s.dim(k)) continue;
    Value first = op::slice(begin, c.list({0, k}), c.list({-1, 1}));
    Value places = first + c.base.one("Range", {c.scalar(0), c.scalar(n), c.scalar(1)});
    AttrMap a;
    a["batch_dims"] = int64_t(rowed);
    v = c.apply1("GatherV2", {v, places, c.scalar(k + (rowed ? 1 : 0))}, std::move(a));
    rowed = true;
  }
  return c.one(v);
}

Batched strided_slice(BatchContext& c) {
  if (c.has_rows(3)) return c.refused();
  constexpr const char* kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
  if (!c.has_rows(1) && !c.has_rows(2)) {
    const int front[3] = {0, 0, 1};
    std::vector<Value> in{c.inner(0)};
    for (size_t i = 1; i < 4; ++i) in.push_back(c.join({c.list({front[i - 1]}), c.inner(i)}));
    for (const char* mask : kMasks) c.attrs[mask] = c.number(mask) << 1 | int64_t(mask == kMasks[0] || mask == kMasks[1]);
    return c.one(c.apply1(c.spec.name, in, c.typeless()));
  }
  // x[i] with another i in each row, and whole dimensions behind.
  const PartialShape s = c.shape(0), given = c.shape(3);
  if (c.number("ellipsis_mask") || c.number("new_axis_mask") || !s.has_rank() || !given.fully_known() || !c.has_rows(1) || !c.numbers(3))
    return c.refused();
  const int64_t shrink = c.number("shrink_axis_mask"), whole = c.number("begin_mask") & c.number("end_mask");
  Value v = c.inner(0), begin = op::cast(c.inner(1), DType::kInt32);
  bool rowed = c.has_rows(0);
  int axis = 0;
  for (int k = 0; k < given.dim(0); ++k) {
    if (!(shrink >> k & 1)) {
      if (!(whole >> k & 1) || (*c.numbers(3))[size_t(k)] != 1 || !rowed) return c.refused();
      ++axis;
      continue;
    }
    Value place = op::slice(begin, c.list({0, k}), c.list({-1, 1}));
    place = op::binary("FloorMod", op::reshape(place, c.list({-1})), op::reshape(c.dims(0, k, k + 1), c.list({})));
    AttrMap a;
    a["batch_dims"] = int64_t(rowed);
    v = c.apply1("GatherV2", {v, place, c.scalar(axis + (rowed ? 1 : 0))}, std::move(a));
    rowed = true;
  }
  return c.one(v);
}

// Inputs: shape, begin, end, strides, dy. The whole of the first dimension, in front of what there was.
Batched strided_slice_grad(BatchContext& c) {
  for (size_t i = 0; i < 4; ++i) {
    if (c.has_rows(i)) return c.refused();
  }
  std::vector<Value> in;
  for (size_t i = 0; i < 4; ++i) in.push_back(c.join({i == 0 ? c.rows_list() : c.list({i == 3}), c.inner(i)}));
  in.push_back(c.inner(4));
  for (const char* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    const bool open = mask[0] == 'b' || std::string_view(mask) == "end_mask";
    c.attrs[mask] = c.number(mask) << 1 | int64_t(open);
  }
  return c.one(c.apply1(c.spec.name, in, c.typeless()));
}

}  // namespace

void batch_slice(Registry& r) {
  r.batch("Slice", sliced);
  r.batch("StridedSlice", strided_slice);
  r.batch("StridedSliceGrad", strided_slice_grad);
}

}  // namespace weft_engine::ops
