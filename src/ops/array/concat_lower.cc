// Tensors joined and taken apart.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

LoweredList concat(LowerContext& l, int first, int axis_input) {
  const auto given = l.integer(axis_input);
  const Value x = l.x(first);
  if (!given || !x) return {};
  const int rank = x->rank();
  if (*given < -rank || *given >= rank)
    return l.fail(rank == 0
                      ? invalid_argument("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
                      : invalid_argument("ConcatOp : Expected concatenating dimensions in the range [", -rank, ", ", rank, "), but got ", *given));
  std::vector<Value> parts;
  for (int i = first; i < first + l.num_inputs() - 1; ++i) parts.push_back(l.x(i));
  return {l.b.concat(std::move(parts), int(*given < 0 ? *given + rank : *given))};
}

LoweredList concat_offset(LowerContext& l) {
  const auto given = l.integer(0);
  const auto first = l.sizes(1);
  if (!given || !first) return {};
  const int rank = int(first->size());
  const int64_t axis = *given < 0 ? *given + rank : *given;
  if (axis < 0 || axis >= rank) return l.fail(invalid_argument("Concat dim is out of range: ", *given, " vs. ", rank));
  LoweredList out;
  Dim offset(0);
  for (int i = 1; i < l.num_inputs(); ++i) {
    const auto sizes = l.sizes(i);
    if (!sizes) return {};
    if (int(sizes->size()) != rank) return l.fail(invalid_argument("input ", i - 1, " should contain ", rank, " elements, but got ", sizes->size()));
    for (int d = 0; d < rank; ++d) {
      if (d != axis) l.b.same((*first)[size_t(d)], (*sizes)[size_t(d)]);
    }
    Dims at(size_t(rank), Dim(0));
    at[size_t(axis)] = offset;
    out.push_back(l.b.sizes(std::move(at), l.type(i).dtype));
    offset = offset + (*sizes)[size_t(axis)];
  }
  return out;
}

LoweredList pack(LowerContext& l) {
  const Value x = l.x(0);
  if (!x) return {};
  const int rank = x->rank() + 1;
  const int64_t given = l.attr<int64_t>("axis");
  if (given < -rank || given >= rank) return l.fail(invalid_argument("axis = ", given, " not in [", -rank, ", ", rank, ")"));
  const int axis = int(given < 0 ? given + rank : given);
  std::vector<Value> parts;
  for (int i = 0; i < l.num_inputs(); ++i) parts.push_back(l.b.expand_dims(l.x(i), axis));
  return {l.b.concat(std::move(parts), axis)};
}

LoweredList parallel_concat(LowerContext& l) {
  std::vector<Value> parts;
  for (int i = 0; i < l.num_inputs(); ++i) parts.push_back(l.x(i));
  return {l.b.concat(std::move(parts), 0)};
}

LoweredList cut(LowerContext& l, Value x, int axis, const Dims& sizes) {
  LoweredList out;
  Dim at(0);
  for (const Dim& n : sizes) {
    out.push_back(l.b.slice_axis(x, axis, at, n));
    at = at + n;
  }
  return out;
}

std::optional<int> split_axis(LowerContext& l, int i, int rank) {
  const auto given = l.integer(i);
  if (!given) return std::nullopt;
  if (*given >= -rank && *given < rank) return int(*given < 0 ? *given + rank : *given);
  l.b.fail(invalid_argument("-input rank(-", rank, ") <= split_dim < input rank (", rank, "), but got ", *given));
  return std::nullopt;
}

LoweredList split(LowerContext& l) {
  const Value x = l.x(1);
  const auto axis = split_axis(l, 0, l.rank(1));
  if (!x || !axis) return {};
  const int64_t n = l.node.num_outputs();
  const Dim& size = x->dim(*axis);
  const std::string text = cat("Number of ways to split should evenly divide the split dimension, but got split_dim ", *axis,
                               " (size = ", size_text(l.b, size), ") and num_split ", n);
  const Dim rest = floor_mod(size, Dim(n));
  if (rest.is_const() && !rest.is(0)) return l.fail(Status(Code::kInvalidArgument, text));
  if (!rest.is_const()) l.b.module().guards.push_back({rest, Dim(0), text});
  return cut(l, x, *axis, Dims(size_t(n), floor_div(size, Dim(n))));
}

LoweredList split_v(LowerContext& l) {
  const Value x = l.x(0);
  auto sizes = l.sizes(1);
  const auto axis = split_axis(l, 2, l.rank(0));
  if (!x || !sizes || !axis) return {};
  if (int(sizes->size()) != l.node.num_outputs())
    return l.fail(
        invalid_argument("size of the split_tensor must be 1-D and have the same elements as outputs got 1 -D and ", sizes->size(), " elements"));
  Dim total(0);
  int unknown = -1;
  for (size_t i = 0; i < sizes->size(); ++i) {
    if (!(*sizes)[i].is(-1)) total = total + (*sizes)[i];
    else if (unknown >= 0) return l.fail(invalid_argument("There can only be one -1 in the input."));
    else unknown = int(i);
  }
  const Dim& size = x->dim(*axis);
  const Dim rest = size - total;
  if (rest.is_const() && (unknown < 0 ? !rest.is(0) : rest.value() < 0))
    return l.fail(
        invalid_argument("Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the "
                         "input along split_dim if not fully specified.  Got: ",
                         size_text(l.b, total)));
  if (unknown >= 0) {
    (*sizes)[size_t(unknown)] = rest;
    require_nonnegative(l, rest, cat("Split size at index ", unknown, " must be >= 0"));
  } else {
    l.b.same(size, total);
  }
  return cut(l, x, *axis, *sizes);
}

LoweredList unpack(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const auto axis = l.axis(l.attr<int64_t>("axis"), x->rank());
  if (!axis) return {};
  const int64_t n = l.node.num_outputs();
  if (x->dim(*axis).is_const() && !x->dim(*axis).is(n))
    return l.fail(invalid_argument("Input shape axis ", *axis, " must equal ", n, ", got shape ", shape_text(l.b, x->type.dims)));
  l.b.same(x->dim(*axis), Dim(n));
  Dims left = x->type.dims;
  left.erase(left.begin() + *axis);
  LoweredList out;
  for (int64_t i = 0; i < n && l.ok(); ++i) out.push_back(l.b.reshape(l.b.slice_axis(x, *axis, Dim(i), 1), left));
  return out;
}

// Row number k of the result is what the last index k names.
LoweredList dynamic_stitch(LowerContext& l) {
  const int n = l.num_inputs() / 2;
  std::vector<std::pair<int, int64_t>> rows;  // which input, which row of it; -1: none
  for (int i = 0; i < n; ++i) {
    const auto at = l.ints(i);
    if (!at) return {};
    for (size_t k = 0; k < at->size(); ++k) {
      if ((*at)[k] < 0) return l.fail(invalid_argument("indices[", k, "] is out of range"));
      if ((*at)[k] >= 1 << 20) return l.unsupported("so large an index");
      if (size_t((*at)[k]) >= rows.size()) rows.resize(size_t((*at)[k]) + 1, {-1, 0});
      rows[size_t((*at)[k])] = {i, int64_t(k)};
    }
  }
  std::vector<Value> data;
  for (int i = 0; i < n; ++i) {
    const Value x = l.x(n + i);
    if (!x || x->rank() < l.rank(i))
      return x ? l.fail(invalid_argument("data[", i, "].shape does not start with indices[", i, "].shape")) : LoweredList();
    Dims dims = dims_of(x, l.rank(i), x->rank());
    dims.insert(dims.begin(), l.type(i).elements());
    data.push_back(l.b.reshape(x, std::move(dims)));
    if (!data.back()) return {};
  }
  Dims row = data[0]->type.dims;
  row[0] = rows.empty() ? Dim(0) : Dim(1);
  if (rows.empty()) return {l.b.fill(data[0]->type.dtype, row, 0)};
  std::vector<Value> parts;
  for (size_t k = 0; k < rows.size();) {
    const auto [from, at] = rows[k];
    if (from < 0) {  // TensorFlow leaves what memory held
      parts.push_back(l.b.fill(data[0]->type.dtype, row, 0));
      ++k;
      continue;
    }
    size_t run = 1;  // neighbours stay together
    while (k + run < rows.size() && rows[k + run] == std::pair(from, at + int64_t(run))) ++run;
    parts.push_back(l.b.slice_axis(data[size_t(from)], 0, Dim(at), Dim(int64_t(run))));
    k += run;
  }
  return {l.b.concat(std::move(parts), 0)};
}

}  // namespace

// DynamicPartition has no rule: its shapes depend on data.
void lower_concat(Registry& r) {
  r.lower("Concat", [](LowerContext& l) -> LoweredList { return concat(l, 1, 0); });
  r.lower("ConcatV2", [](LowerContext& l) -> LoweredList { return concat(l, 0, l.num_inputs() - 1); });
  r.lower("ConcatOffset", concat_offset);
  r.lower("DynamicPartition", shape_from_data);
  r.lower("DynamicStitch", dynamic_stitch);
  r.lower("ParallelDynamicStitch", dynamic_stitch);
  r.lower("Pack", pack);
  r.lower("ParallelConcat", parallel_concat);
  r.lower("Split", split);
  r.lower("SplitV", split_v);
  r.lower("Unpack", unpack);
}

}  // namespace weft_engine::ops
