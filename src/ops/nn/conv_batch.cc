// Convolutions and their gradients, of all ranks.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Rows as groups of channels: [rows, a, b, c, channels] as [a, b, c, rows * channels], of images and of filters.
Value to_channels(BatchContext& c, size_t i) {
  const PartialShape s = c.shape(i);
  return op::reshape(op::transpose(c.with_rows(i), c.list({1, 2, 3, 0, 4})), c.list({s.dim(0), s.dim(1), s.dim(2), c.rows() * s.dim(3)}));
}

Value from_channels(BatchContext& c, const Value& v) {
  const PartialShape s = v.shape();
  if (!s.fully_known() || s.rank() != 4) {
    c.base.fail(unimplemented(c.spec.name, " of filters that differ by row, of unknown sizes"));
    return v;
  }
  return op::transpose(op::reshape(v, c.list({s.dim(0), s.dim(1), s.dim(2), c.rows(), s.dim(3) / c.rows()})), c.list({3, 0, 1, 2, 4}));
}

Batched conv2d(BatchContext& c) {
  if (!c.has_rows(1)) return batch_folded<1>(c);
  const PartialShape x = c.shape(0), f = c.shape(1);
  if (!c.channels_last() || c.rows() < 1 || !x.fully_known() || !f.fully_known() || (!c.has_rows(0) && x.dim(3) != f.dim(2))) return c.refused();
  return c.one(from_channels(c, c.itself1({c.has_rows(0) ? to_channels(c, 0) : c.inner(0), to_channels(c, 1)})));
}

// Inputs: sizes, filter, dy.
Batched conv_input_gradient(BatchContext& c) {
  if (c.has_rows(0) || c.rank(2) < 1) return c.refused();
  if (!c.has_rows(1)) {
    if (!c.shape(0).fully_known() || c.shape(0).rank() != 1) return c.refused();
    const bool batch_too = c.shape(0).dim(0) == c.rank(2);  // or height and width alone
    c.attrs.erase("Tshape");
    return c.one(c.unfold(c.itself1({batch_too ? c.folded_sizes(0) : c.inner(0), c.inner(1), c.fold(2)}), c.dims(2, 0, 1)));
  }
  auto sizes = c.numbers(0);
  if (c.spec.name != "Conv2DBackpropInput" || !c.channels_last() || c.rows() < 1 || !sizes || sizes->size() != 4 || !c.shape(1).fully_known() ||
      !c.shape(2).fully_known())
    return c.refused();
  (*sizes)[3] *= c.rows();
  return c.one(from_channels(c, c.itself1({c.list(*sizes), to_channels(c, 1), to_channels(c, 2)})));
}

// Inputs: x, sizes of the filter, dy.
Batched conv_filter_gradient(BatchContext& c) {
  auto sizes = c.numbers(1);
  const PartialShape x = c.shape(0);
  if (!c.channels_last() || c.rows() < 1 || !sizes || sizes->size() != 4 || !x.fully_known() || !c.shape(2).fully_known() ||
      (!c.has_rows(0) && x.dim(3) != (*sizes)[2]))
    return c.refused();
  (*sizes)[3] *= c.rows();
  return c.one(from_channels(c, c.itself1({c.has_rows(0) ? to_channels(c, 0) : c.inner(0), c.list(*sizes), to_channels(c, 2)})));
}

}  // namespace

void batch_conv(Registry& r) {
  r.batch("Conv2D", conv2d);
  for (const char* op : {"Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput", "Conv3DBackpropInputV2"}) r.batch(op, conv_input_gradient);
  r.batch("Conv2DBackpropFilter", conv_filter_gradient);
  for (const char* op : {"Conv3D", "DepthwiseConv2dNative"}) r.batch(op, batch_folded<1>);
}

}  // namespace weft_engine::ops
