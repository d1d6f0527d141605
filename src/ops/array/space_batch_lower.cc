// Blocks of space moved to the batch or depth and back: a reshape, a transposition and a reshape each.
#include <algorithm>

#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

// a / n, which must come out even.
Dim divided(LowerContext& l, const Dim& a, int64_t n, const std::string& text) {
  const Dim rest = floor_mod(a, Dim(n));
  if (rest.is_const() && !rest.is(0)) l.b.fail(Status(Code::kInvalidArgument, text));
  else if (!rest.is_const()) l.b.module().guards.push_back({rest, Dim(0), text});
  return floor_div(a, Dim(n));
}

// In units of blocks, the space side is [batch, (blocks, block)..., rest...] and the batch side
// [block..., batch, blocks..., rest...].
LoweredList move_blocks(LowerContext& l, const std::vector<int64_t>& block, const Dims& borders, bool to_batch) {
  Value x = l.x();
  if (!x) return {};
  const int n = int(block.size()), rank = x->rank();
  if (rank < 1 + n) return l.fail(invalid_argument("input rank should be >= ", 1 + n, " instead of ", rank));
  if (int(borders.size()) != 2 * n) return l.fail(invalid_argument(to_batch ? "paddings" : "crops", " should have shape [", n, ", 2]"));
  int64_t all = 1;
  Dims low(size_t(rank), Dim(0)), high = low;
  for (int i = 0; i < n; ++i) {
    if (block[size_t(i)] < 1)
      return l.fail(invalid_argument("All values in block_shape must be positive, got value, ", block[size_t(i)], " at index ", i, "."));
    all *= block[size_t(i)];
    low[size_t(i) + 1] = borders[size_t(2 * i)];
    high[size_t(i) + 1] = borders[size_t(2 * i + 1)];
    for (const Dim* d : {&low[size_t(i) + 1], &high[size_t(i) + 1]})
      require_nonnegative(l, *d, to_batch ? "Paddings must be non-negative" : "Crops must be non-negative");
  }
  if (to_batch) {
    x = l.b.pad(x, l.b.scalar(x->type.dtype, 0), low, high);
    if (!x) return {};
    Dims wide{x->dim(0)}, out{x->dim(0) * Dim(all)};
    std::vector<int> order;
    for (int i = 0; i < n; ++i) {
      const Dim blocks =
          divided(l, x->dim(i + 1), block[size_t(i)],
                  cat("padded_shape[", i, "]=", size_text(l.b, x->dim(i + 1)), " is not divisible by block_shape[", i, "]=", block[size_t(i)]));
      order.push_back(int(wide.size()) + 1);
      wide.push_back(blocks);
      wide.emplace_back(block[size_t(i)]);
      out.push_back(blocks);
    }
    order.push_back(0);
    for (int i = 0; i < n; ++i) order.push_back(1 + 2 * i);
    for (int i = n + 1; i < rank; ++i) {
      order.push_back(int(wide.size()));
      wide.push_back(x->dim(i));
      out.push_back(x->dim(i));
    }
    return {l.b.reshape(l.b.transpose(l.b.reshape(x, std::move(wide)), std::move(order)), std::move(out))};
  }
  const Dim batch = divided(l, x->dim(0), all,
                            cat("Input batch dimension (", size_text(l.b, x->dim(0)), ") is not divisible by product of block sizes (", all, ")"));
  Dims wide, out{batch}, starts{Dim(0)}, sizes{batch};
  std::vector<int> order{n};
  for (int64_t b : block) wide.emplace_back(b);
  wide.push_back(batch);
  for (int i = 0; i < n; ++i) {
    wide.push_back(x->dim(i + 1));
    out.push_back(x->dim(i + 1) * Dim(block[size_t(i)]));
    order.push_back(n + 1 + i);
    order.push_back(i);
    starts.push_back(low[size_t(i) + 1]);
    sizes.push_back(out.back() - low[size_t(i) + 1] - high[size_t(i) + 1]);
    require_nonnegative(l, sizes.back(), cat("cropped_shape[", i, "]=", size_text(l.b, sizes.back()), " must be non-negative"));
  }
  for (int i = n + 1; i < rank; ++i) {
    order.push_back(int(wide.size()));
    wide.push_back(x->dim(i));
    out.push_back(x->dim(i));
    starts.emplace_back(0);
    sizes.push_back(x->dim(i));
  }
  return {
      l.b.slice(l.b.reshape(l.b.transpose(l.b.reshape(x, std::move(wide)), std::move(order)), std::move(out)), std::move(starts), std::move(sizes))};
}

template <bool kToBatch>
LoweredList blocks_nd(LowerContext& l) {
  const auto block = l.ints(1);
  const auto borders = l.sizes(2);
  return block && borders ? move_blocks(l, *block, *borders, kToBatch) : LoweredList();
}

template <bool kToBatch>
LoweredList square_blocks(LowerContext& l) {
  const int64_t n = l.attr<int64_t>("block_size");
  const auto borders = l.sizes(1);
  return borders ? move_blocks(l, {n, n}, *borders, kToBatch) : LoweredList();
}

LoweredList move_depth(LowerContext& l, bool to_space) {
  const Value x = l.x();
  if (!x) return {};
  if (x->rank() != 4) return l.fail(invalid_argument("Input rank should be: 4 instead of: ", x->rank()));
  const std::string& format = l.attr<std::string>("data_format");
  if (format != "NHWC" && format != "NCHW") return l.unsupported(format);
  const bool last = format == "NHWC";
  const int64_t s = l.attr<int64_t>("block_size");
  const int h = last ? 1 : 2, w = h + 1, c = last ? 3 : 1;
  const Dim block(s), &batch = x->dim(0);
  if (to_space) {
    const Dim depth = divided(l, x->dim(c), s * s, cat("Input depth dimension ", size_text(l.b, x->dim(c)), " should be divisible by: ", s * s));
    const Dim tall = x->dim(h) * block, wide = x->dim(w) * block;
    if (last)
      return {l.b.reshape(l.b.transpose(l.b.reshape(x, {batch, x->dim(h), x->dim(w), block, block, depth}), {0, 1, 3, 2, 4, 5}),
                          {batch, tall, wide, depth})};
    return {l.b.reshape(l.b.transpose(l.b.reshape(x, {batch, block, block, depth, x->dim(h), x->dim(w)}), {0, 3, 4, 1, 5, 2}),
                        {batch, depth, tall, wide})};
  }
  const std::string text =
      cat("Image width ", size_text(l.b, x->dim(w)), " and height ", size_text(l.b, x->dim(h)), " should be divisible by block_size: ", s);
  const Dim low = divided(l, x->dim(h), s, text), thin = divided(l, x->dim(w), s, text), depth = x->dim(c), deep = depth * block * block;
  if (last)
    return {l.b.reshape(l.b.transpose(l.b.reshape(x, {batch, low, block, thin, block, depth}), {0, 1, 3, 2, 4, 5}), {batch, low, thin, deep})};
  return {l.b.reshape(l.b.transpose(l.b.reshape(x, {batch, depth, low, block, thin, block}), {0, 3, 5, 1, 2, 4}), {batch, deep, low, thin})};
}

// ---- dimensions of data formats

std::optional<std::pair<std::string, std::string>> read_formats(LowerContext& l) {
  const std::string &from = l.attr<std::string>("src_format"), &to = l.attr<std::string>("dst_format");
  std::string a = from, b = to;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if ((a.size() == 4 || a.size() == 5) && a == b && std::adjacent_find(a.begin(), a.end()) == a.end()) return std::pair(from, to);
  l.fail(invalid_argument("Destination and source format must determine a permutation, got ", from, " and ", to));
  return std::nullopt;
}

LoweredList dim_map(LowerContext& l) {
  const auto f = read_formats(l);
  const Value x = l.x();
  if (!f || !x) return {};
  std::vector<int64_t> places;
  for (char c : f->first) places.push_back(int64_t(f->second.find(c)));
  const Value at = l.b.binary(ir::Binary::kFloorMod, x, l.b.scalar_int(x->type.dtype, int64_t(places.size())));
  return {l.b.gather(l.b.ints(places, x->type.dtype), at, 0, 0, "")};
}

LoweredList vec_permute(LowerContext& l) {
  const auto f = read_formats(l);
  const Value x = l.x();
  if (!f || !x) return {};
  auto [from, to] = *f;
  const int64_t full = int64_t(from.size()), spatial = full - 2;
  if (x->rank() < 1 || x->rank() > 2)
    return l.fail(invalid_argument("input must be a vector or 2D tensor, but got shape ", shape_text(l.b, x->type.dims)));
  if (!x->dim(0).is(full) && !x->dim(0).is(spatial))
    return l.fail(invalid_argument("input must be of size ", spatial, " or ", full, ", but got shape ", shape_text(l.b, x->type.dims)));
  if (x->dim(0).is(spatial)) {
    const auto is_spatial = [&](char c) { return c == 'H' || c == 'W' || (spatial == 3 && c == 'D'); };
    std::erase_if(from, [&](char c) { return !is_spatial(c); });
    std::erase_if(to, [&](char c) { return !is_spatial(c); });
    if (int64_t(from.size()) != spatial)
      return l.fail(invalid_argument("Format specifier must contain H and W for 2D case and D, H and W for 3D case, got ", from));
  }
  std::vector<int64_t> places;
  for (char c : to) places.push_back(int64_t(from.find(c)));
  return {l.b.gather(x, l.b.ints(places), 0, 0, "")};
}

}  // namespace

void lower_space_batch(Registry& r) {
  r.lower("DataFormatDimMap", dim_map);
  r.lower("DataFormatVecPermute", vec_permute);
  r.lower("BatchToSpace", square_blocks<false>);
  r.lower("BatchToSpaceND", blocks_nd<false>);
  r.lower("DepthToSpace", [](LowerContext& l) -> LoweredList { return move_depth(l, true); });
  r.lower("SpaceToBatch", square_blocks<true>);
  r.lower("SpaceToBatchND", blocks_nd<true>);
  r.lower("SpaceToDepth", [](LowerContext& l) -> LoweredList { return move_depth(l, false); });
}

}  // namespace weft_engine::ops
