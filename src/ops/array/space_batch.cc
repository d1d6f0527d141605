// Blocks of space moved to the batch or depth and back, patches, and permutations of data formats.
#include <algorithm>

#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

// ---- SpaceToBatch and BatchToSpace -------------------------------------------------------------------

// One spatial dimension: the space side has `space` places, the batch side `blocks`; place x of the space
// side is x + shift = i * block + k, at place i of the batch entries that belong to offset k.
struct BlockDim {
  int64_t block = 1, shift = 0, end = 0;  // end: padding or crop behind
  int64_t space = 0, blocks = 0;

  // The i whose place for offset k is inside the space side.
  std::pair<int64_t, int64_t> inside(int64_t k) const {
    const int64_t low = std::max<int64_t>(0, (shift - k + block - 1) / block);
    const int64_t high = std::min(blocks, (space - 1 + shift - k + block) / block);
    return {low, std::max(low, high)};
  }
};

Result<std::vector<BlockDim>> read_blocks(const Tensor& in, const Tensor& block_shape, const Tensor& borders, const char* what) {
  if (block_shape.rank() != 1) return invalid_argument("block_shape rank should be 1 instead of ", block_shape.rank());
  const int64_t n = block_shape.num_elements();
  if (in.rank() < 1 + n) return invalid_argument("input rank should be >= ", 1 + n, " instead of ", in.rank());
  if (borders.rank() != 2 || borders.dim(0) != n || borders.dim(1) != 2)
    return invalid_argument(what, " should have shape [", n, ", 2] instead of ", borders.shape());
  std::vector<BlockDim> dims;
  for (int64_t i = 0; i < n; ++i) dims.push_back({int_at(block_shape, i), int_at(borders, 2 * i), int_at(borders, 2 * i + 1)});
  return dims;
}

// The product of the block sizes; -1 if it overflows.
int64_t product_of(const std::vector<BlockDim>& dims) {
  int64_t product = 1;
  for (const BlockDim& d : dims) {
    if (__builtin_mul_overflow(product, d.block, &product)) return -1;
  }
  return product;
}

// Copies between the two sides, for every offset inside a block. `batch` is the batch of the space side.
void move_blocks(KernelContext& c, const std::vector<BlockDim>& dims, const Tensor& in, Tensor& out, bool to_batch) {
  const Tensor& space = to_batch ? in : out;
  const Tensor& batched = to_batch ? out : in;
  const auto space_strides = strides_of(space.shape()), batch_strides = strides_of(batched.shape());
  const int64_t batch = space.dim(0), offsets = product_of(dims);
  const int rank = space.rank(), blocks = int(dims.size());
  for (int64_t offset = 0; offset < offsets; ++offset) {
    kernels::CopyPlan plan;
    auto add = [&](int64_t size, int64_t in_space, int64_t in_batch) {
      plan.add(size, to_batch ? in_space : in_batch, to_batch ? in_batch : in_space);
    };
    int64_t space_at = 0, batch_at = offset * batch * batch_strides[0];
    add(batch, space_strides[0], batch_strides[0]);
    int64_t rest = offset, weight = offsets;
    for (int i = 0; i < blocks; ++i) {
      const BlockDim& d = dims[size_t(i)];
      weight /= d.block;
      const int64_t k = rest / weight;
      rest %= weight;
      const auto [low, high] = d.inside(k);
      const int64_t s = space_strides[size_t(i + 1)], b = batch_strides[size_t(i + 1)];
      space_at += (low * d.block + k - d.shift) * s;
      batch_at += low * b;
      add(high - low, d.block * s, b);
    }
    for (int i = blocks + 1; i < rank; ++i) add(space.dim(i), space_strides[size_t(i)], batch_strides[size_t(i)]);
    if (plan.empty()) continue;
    kernels::strided_copy(c.pool(), in.dtype(), element(in, to_batch ? space_at : batch_at), element(out, to_batch ? batch_at : space_at), plan);
  }
}

// Sizes of both sides, with the checks of the op; gives the shape of the result.
Result<Shape> batched_shape(const Shape& in, std::vector<BlockDim>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].block < 1) return invalid_argument("All values in block_shape must be positive, got value, ", dims[i].block, " at index ", i, ".");
  }
  const int64_t product = product_of(dims);
  std::vector<int64_t> out = in.vec();
  if (product < 0 || (out[0] = multiply_without_overflow(in.dim(0), product)) < 0)
    return invalid_argument("Encountered overflow when multiplying ", in.dim(0), " with the block sizes");
  for (size_t i = 0; i < dims.size(); ++i) {
    BlockDim& d = dims[i];
    if (d.shift < 0 || d.end < 0) return invalid_argument("Paddings must be non-negative");
    d.space = in.dim(int(i) + 1);
    int64_t padded = 0;
    if (__builtin_add_overflow(d.space, d.shift, &padded) || __builtin_add_overflow(padded, d.end, &padded))
      return invalid_argument("Encountered overflow when padding dimension ", i);
    if (padded % d.block != 0) return invalid_argument("padded_shape[", i, "]=", padded, " is not divisible by block_shape[", i, "]=", d.block);
    out[i + 1] = d.blocks = padded / d.block;
  }
  return Shape(out);
}

Result<Shape> spaced_shape(const Shape& in, std::vector<BlockDim>& dims) {
  const int64_t product = product_of(dims);
  if (product <= 0) return invalid_argument("Product of block sizes must be positive, got ", product);
  if (in.dim(0) % product != 0)
    return invalid_argument("Input batch dimension (", in.dim(0), ") is not divisible by product of block sizes (", product, ")");
  std::vector<int64_t> out = in.vec();
  out[0] /= product;
  for (size_t i = 0; i < dims.size(); ++i) {
    BlockDim& d = dims[i];
    if (d.block < 1) return invalid_argument("All values in block_shape must be positive, got value, ", d.block, " at index ", i, ".");
    if (d.shift < 0 || d.end < 0) return invalid_argument("Crops must be non-negative");
    d.blocks = in.dim(int(i) + 1);
    int64_t whole = 0;
    if (__builtin_mul_overflow(d.blocks, d.block, &whole)) return invalid_argument("Encountered overflow in dimension ", i);
    if (__builtin_sub_overflow(whole, d.shift, &d.space) || __builtin_sub_overflow(d.space, d.end, &d.space) || d.space < 0)
      return invalid_argument("cropped_shape[", i, "]=", d.space, " must be non-negative");
    out[i + 1] = d.space;
  }
  return Shape(out);
}

Status run_blocks(KernelContext& c, const Tensor& block_shape, const Tensor& borders, bool to_batch) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(std::vector<BlockDim> dims, read_blocks(in, block_shape, borders, to_batch ? "paddings" : "crops"));
  WEFT_ASSIGN(Shape shape, to_batch ? batched_shape(in.shape(), dims) : spaced_shape(in.shape(), dims));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const bool padded = std::any_of(dims.begin(), dims.end(), [](const BlockDim& d) { return d.shift || d.end; });
  if (to_batch && padded) kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  move_blocks(c, dims, in, *out, to_batch);
  return {};
}

Status run_space_to_batch_nd(KernelContext& c) { return run_blocks(c, c.input(1), c.input(2), true); }
Status run_batch_to_space_nd(KernelContext& c) { return run_blocks(c, c.input(1), c.input(2), false); }

Status run_square_blocks(KernelContext& c, bool to_batch) {
  if (c.input(0).rank() != 4) return invalid_argument("Input rank should be: 4instead of: ", c.input(0).rank());
  const int64_t size = c.attr<int64_t>("block_size");
  return run_blocks(c, Tensor::vector(std::vector<int64_t>{size, size}), c.input(1), to_batch);
}
Status run_space_to_batch(KernelContext& c) { return run_square_blocks(c, true); }
Status run_batch_to_space(KernelContext& c) { return run_square_blocks(c, false); }

// blocks: the sizes if known, of `count` dimensions (-1: not known).
Status blocks_rule(ShapeContext& c, const std::optional<std::vector<int64_t>>& blocks, int64_t count, int borders_input, bool to_batch) {
  const PartialShape& in = c.input(0);
  if (count >= 0 && in.has_rank() && in.rank() < count + 1)
    return invalid_argument("Shape must be at least rank ", count + 1, " but is rank ", in.rank());
  const PartialShape& borders = c.input(borders_input);
  WEFT_RETURN_IF_ERROR(c.with_rank(borders_input, 2).status());
  if (borders.has_rank() && borders.dim(1) >= 0 && borders.dim(1) != 2) return invalid_argument("Dimension must be 2 but is ", borders.dim(1));
  if (borders.has_rank() && count >= 0 && borders.dim(0) >= 0 && borders.dim(0) != count)
    return invalid_argument("Dimension must be ", count, " but is ", borders.dim(0));
  if (!in.has_rank()) return {};
  if (count < 0) {
    c.output(0, PartialShape::unknown_of_rank(in.rank()));
    return {};
  }
  PartialShape out = in;
  const auto pads = c.constant_ints(borders_input);
  for (int i = 0; i <= count; ++i) out.set_dim(i, kUnknownDim);
  if (blocks) {
    int64_t batch = in.dim(0);
    for (size_t i = 0; i < blocks->size(); ++i) {
      const int64_t block = (*blocks)[i], d = in.dim(int(i) + 1);
      if (block < 1) return invalid_argument("block_shape must be positive");
      if (to_batch) batch = shapes::mul_dim(batch, block);
      else if (batch >= 0 && batch % block != 0) return invalid_argument("Dimension size must be evenly divisible by ", block, " but is ", batch);
      else if (batch >= 0) batch /= block;
      if (!pads || d < 0) continue;
      const int64_t before = (*pads)[2 * i], after = (*pads)[2 * i + 1];
      if (before < 0 || after < 0) return invalid_argument(to_batch ? "paddings cannot be negative" : "crops cannot be negative");
      int64_t border, whole;
      if (__builtin_add_overflow(before, after, &border)) return invalid_argument("paddings are too large");
      if (to_batch ? __builtin_add_overflow(d, border, &whole) : __builtin_mul_overflow(d, block, &whole))
        return invalid_argument("the result is too large");
      if (to_batch && whole % block != 0) return invalid_argument("Dimension size must be evenly divisible by ", block, " but is ", whole);
      if (!to_batch && whole < border) return invalid_argument("Negative dimension size caused by subtracting ", border, " from ", whole);
      out.set_dim(int(i) + 1, to_batch ? whole / block : whole - border);
    }
    out.set_dim(0, batch);
  }
  c.output(0, std::move(out));
  return {};
}

template <bool kToBatch>
Status blocks_nd_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape block_shape, c.with_rank(1, 1));
  return blocks_rule(c, c.constant_ints(1), block_shape.dim(0), 2, kToBatch);
}

template <bool kToBatch>
Status square_blocks_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 4).status());
  const int64_t size = c.attr<int64_t>("block_size");
  return blocks_rule(c, std::vector<int64_t>{size, size}, 2, 1, kToBatch);
}

// ---- DepthToSpace and SpaceToDepth -------------------------------------------------------------------

// The image sizes of the larger (space) side: [batch, height, width, depth].
struct Image {
  int64_t batch, height, width, depth;
  bool channels_last;
  Shape shape() const { return channels_last ? Shape({batch, height, width, depth}) : Shape({batch, depth, height, width}); }
};

Result<Image> image_of(const Tensor& in, const std::string& format) {
  if (format == "NHWC") return Image{in.dim(0), in.dim(1), in.dim(2), in.dim(3), true};
  if (format == "NCHW") return Image{in.dim(0), in.dim(2), in.dim(3), in.dim(1), false};
  return unimplemented("data_format ", format, " is not supported on the CPU");
}

// Copies between an image of blocks * size and one of blocks * blocks as many channels.
void move_depth(KernelContext& c, const Image& deep, int64_t size, const Tensor& in, Tensor& out, bool to_space) {
  const int64_t depth = deep.depth / (size * size), height = deep.height, width = deep.width;
  struct Axis {
    int64_t n, in_deep, in_space;
  };
  const int64_t area = height * width, wide = width * size, per_image = area * deep.depth;
  // Both sides share the pieces batch, height, row in block, width, column in block, channel.
  const bool last = deep.channels_last;
  const Axis b{deep.batch, per_image, per_image};
  const Axis h{height, last ? width * deep.depth : width, last ? size * wide * depth : size * wide};
  const Axis i{size, last ? size * depth : size * depth * area, last ? wide * depth : wide};
  const Axis w{width, last ? deep.depth : 1, last ? size * depth : size};
  const Axis j{size, last ? depth : depth * area, last ? depth : 1};
  const Axis d{depth, last ? 1 : area, last ? 1 : area * size * size};
  // In the order of the target, so that it is written in runs.
  const std::vector<Axis> order = to_space ? (last ? std::vector<Axis>{b, h, i, w, j, d} : std::vector<Axis>{b, d, h, i, w, j})
                                           : (last ? std::vector<Axis>{b, h, w, i, j, d} : std::vector<Axis>{b, i, j, d, h, w});
  kernels::CopyPlan plan;
  for (const Axis& a : order) plan.add(a.n, to_space ? a.in_deep : a.in_space, to_space ? a.in_space : a.in_deep);
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), in.raw(), out.raw(), plan);
}

Status run_depth_to_space(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int64_t size = c.attr<int64_t>("block_size");
  if (in.rank() != 4) return invalid_argument("Input rank should be: 4 instead of: ", in.rank());
  WEFT_ASSIGN(Image image, image_of(in, c.attr<std::string>("data_format")));
  const int64_t square = multiply_without_overflow(size, size);
  if (square < 0 || image.depth % square != 0) return invalid_argument("Input depth dimension ", image.depth, " should be divisible by: ", square);
  Image space = image;
  space.height = multiply_without_overflow(image.height, size);
  space.width = multiply_without_overflow(image.width, size);
  space.depth /= square;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, space.shape()));
  if (out->num_elements() > 0) move_depth(c, image, size, in, *out, true);
  return {};
}

Status run_space_to_depth(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int64_t size = c.attr<int64_t>("block_size");
  if (in.rank() != 4) return invalid_argument("Input rank should be 4 instead of ", in.rank());
  WEFT_ASSIGN(Image image, image_of(in, c.attr<std::string>("data_format")));
  if (image.height % size != 0 || image.width % size != 0)
    return invalid_argument("Image width ", image.width, " and height ", image.height, " should be divisible by block_size: ", size);
  Image deep = image;
  deep.height /= size;
  deep.width /= size;
  deep.depth = multiply_without_overflow(multiply_without_overflow(image.depth, size), size);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, deep.shape()));
  if (out->num_elements() > 0) move_depth(c, deep, size, in, *out, false);
  return {};
}

template <bool kToSpace>
Status depth_shape(ShapeContext& c) {
  const std::string& format = c.attr<std::string>("data_format");
  if (format == "NCHW_VECT_C") {
    WEFT_RETURN_IF_ERROR(c.with_rank(0, 5).status());
    c.output(0, PartialShape::unknown_of_rank(5));
    return {};
  }
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  const int64_t size = c.attr<int64_t>("block_size"), square = multiply_without_overflow(size, size);
  const int h = format == "NHWC" ? 1 : 2, w = h + 1, d = format == "NHWC" ? 3 : 1;
  PartialShape out = in;
  auto divide = [&](int axis, int64_t by) -> Status {
    if (in.dim(axis) < 0) return {};
    if (by < 1 || in.dim(axis) % by != 0) return invalid_argument("Dimension size must be evenly divisible by ", by, " but is ", in.dim(axis));
    out.set_dim(axis, in.dim(axis) / by);
    return {};
  };
  if (kToSpace) {
    WEFT_RETURN_IF_ERROR(divide(d, square));
    out.set_dim(h, shapes::mul_dim(in.dim(h), size));
    out.set_dim(w, shapes::mul_dim(in.dim(w), size));
  } else {
    WEFT_RETURN_IF_ERROR(divide(h, size));
    WEFT_RETURN_IF_ERROR(divide(w, size));
    out.set_dim(d, shapes::mul_dim(in.dim(d), square));
  }
  c.output(0, std::move(out));
  return {};
}

// ---- patches --------------------------------------------------------------------------------------------

// The windows along one dimension.
struct Window {
  int64_t size = 1, stride = 1, rate = 1;  // places, distance of windows, distance of places
  int64_t in = 0, out = 0, before = 0;
};

// Reads the spatial entries of an attribute; the first and last one must be 1.
Result<std::vector<int64_t>> spatial(const NodeInfo& node, const char* name, size_t dims) {
  const auto& v = node.attr<std::vector<int64_t>>(name);
  if (v.size() < dims + 2) return invalid_argument(name, " must have ", dims + 2, " entries, got ", v.size());
  if (v[0] != 1 || v[dims + 1] != 1) return unimplemented("Only support ", name, " across space.");
  for (size_t i = 1; i <= dims; ++i) {
    if (v[i] < 1 || v[i] > INT32_MAX) return out_of_range(name, " is out of range.");
  }
  return std::vector<int64_t>(v.begin() + 1, v.begin() + 1 + int64_t(dims));
}

Result<std::vector<Window>> read_windows(const NodeInfo& node, size_t dims) {
  WEFT_ASSIGN(std::vector<int64_t> sizes, spatial(node, "ksizes", dims));
  WEFT_ASSIGN(std::vector<int64_t> strides, spatial(node, "strides", dims));
  std::vector<int64_t> rates(dims, 1);
  if (node.find_attr("rates")) {
    WEFT_ASSIGN(rates, spatial(node, "rates", dims));
  }
  std::vector<Window> windows(dims);
  for (size_t i = 0; i < dims; ++i) windows[i] = {sizes[i], strides[i], rates[i]};
  return windows;
}

Status place_window(Window& w, int64_t in, const std::string& padding) {
  if (in > INT64_MAX / 4) return invalid_argument("input dimension ", in, " is too large");
  w.in = in;
  WEFT_ASSIGN(w.out, shapes::window_dim(in, w.size, w.stride, w.rate, padding));
  const int64_t reach = (w.size - 1) * w.rate + 1;
  w.before = padding == "SAME" ? std::max<int64_t>(0, (w.out - 1) * w.stride + reach - in) / 2 : 0;
  return {};
}

// One window's places, outermost dimension first: zeros where they are outside the input.
template <class T>
T* copy_patch(const T* in, T* out, const Window* w, const int64_t* at, size_t dims, int64_t inner, bool outside) {
  for (int64_t k = 0; k < w->size; ++k) {
    const int64_t x = *at * w->stride + k * w->rate - w->before;
    const bool out_here = outside || x < 0 || x >= w->in;
    if (dims > 1) {
      int64_t row = inner;
      for (size_t i = 1; i < dims; ++i) row *= w[i].in;
      out = copy_patch(out_here ? in : in + x * row, out, w + 1, at + 1, dims - 1, inner, out_here);
    } else {
      if (out_here) std::fill_n(out, inner, T());
      else std::copy_n(in + x * inner, inner, out);
      out += inner;
    }
  }
  return out;
}

Status run_patches(KernelContext& c, size_t dims) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(std::vector<Window> windows, read_windows(c.node(), dims));
  const int rank = int(dims) + 2;
  if (in.rank() != rank) return invalid_argument("input must be ", rank, "-dimensional", in.shape());
  const int64_t depth = in.dim(rank - 1);
  int64_t patch = depth, places = 1;
  Shape shape({in.dim(0)});
  for (size_t i = 0; i < dims; ++i) {
    WEFT_RETURN_IF_ERROR(place_window(windows[i], in.dim(int(i) + 1), c.attr<std::string>("padding")));
    shape.add_dim(windows[i].out);
    patch = multiply_without_overflow(patch, windows[i].size);
    places = multiply_without_overflow(places, windows[i].out);
  }
  shape.add_dim(patch);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const int64_t image = in.num_elements() / in.dim(0);
  return dispatch_movable(in.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(in.dim(0) * places, double(patch), [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; ++p) {
        int64_t at[3], rest = p % places;
        for (size_t i = dims; i-- > 0; rest /= windows[i].out) at[i] = rest % windows[i].out;
        copy_patch(in.data<T>() + p / places * image, out->data<T>() + p * patch, windows.data(), at, dims, depth, false);
      }
    });
    return Status();
  });
}

Status run_image_patches(KernelContext& c) { return run_patches(c, 2); }
Status run_volume_patches(KernelContext& c) { return run_patches(c, 3); }

template <int kDims>
Status patches_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, kDims + 2));
  WEFT_ASSIGN(std::vector<Window> windows, read_windows(c.node(), kDims));
  PartialShape out = in;
  int64_t patch = in.dim(kDims + 1);
  bool known = true;  // all sizes: in TensorFlow one that is not known hides the others
  for (int i = 0; i < kDims; ++i) known &= in.dim(i + 1) >= 0;
  for (int i = 0; i < kDims; ++i) {
    Window& w = windows[size_t(i)];
    if (known) WEFT_RETURN_IF_ERROR(place_window(w, in.dim(i + 1), c.attr<std::string>("padding")));
    out.set_dim(i + 1, known ? w.out : kUnknownDim);
    patch = shapes::mul_dim(patch, w.size);
  }
  out.set_dim(kDims + 1, patch);
  c.output(0, std::move(out));
  return {};
}

// ---- data formats -----------------------------------------------------------------------------------------

struct Formats {
  std::string source, target;
};

Result<Formats> read_formats(const NodeInfo& node) {
  Formats f{node.attr<std::string>("src_format"), node.attr<std::string>("dst_format")};
  auto bad = [](const std::string& s) { return s.size() != 4 && s.size() != 5; };
  if (bad(f.source)) return invalid_argument("Source format must be of length 4 or 5, received src_format = ", f.source);
  if (bad(f.target)) return invalid_argument("Destination format must be of length 4 or 5, received dst_format = ", f.target);
  std::string a = f.source, b = f.target;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a != b || std::adjacent_find(a.begin(), a.end()) != a.end())
    return invalid_argument("Destination and source format must determine a permutation, got ", f.source, " and ", f.target);
  return f;
}

Status run_dim_map(KernelContext& c) {
  WEFT_ASSIGN(Formats f, read_formats(c.node()));
  const Tensor& x = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, x.shape()));
  const int64_t n = int64_t(f.source.size());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t d = (int_at(x, i) % n + n) % n;
    put_int(*out, i, int64_t(f.target.find(f.source[size_t(d)])));
  }
  return {};
}

Status run_vec_permute(KernelContext& c) {
  WEFT_ASSIGN(Formats f, read_formats(c.node()));
  const Tensor& x = c.input(0);
  if (x.rank() != 1 && x.rank() != 2) return invalid_argument("input must be a vector or 2D tensor, but got shape ", x.shape());
  const int64_t full = int64_t(f.source.size()), spatial_dims = full - 2;
  const char* first = x.rank() == 1 ? "1D input must be of size " : "First dimension of 2D input must be of size ";
  if (x.dim(0) != full && x.dim(0) != spatial_dims) return invalid_argument(first, spatial_dims, " or ", full, ", but got shape ", x.shape());
  if (x.rank() == 2 && x.dim(1) != 2) return invalid_argument("Second dimension of 2D input must be of size 2, but got shape ", x.shape());
  if (x.dim(0) == spatial_dims) {
    auto keep_spatial = [&](std::string& s) { std::erase_if(s, [&](char d) { return d != 'H' && d != 'W' && (spatial_dims == 2 || d != 'D'); }); };
    keep_spatial(f.source);
    keep_spatial(f.target);
    if (int64_t(f.source.size()) != spatial_dims)
      return invalid_argument("Format specifier must contain H and W for 2D case and D, H and W for 3D case, got ", f.source);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, x.shape()));
  const int64_t row = x.rank() == 2 ? 2 : 1;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const size_t from = f.source.find(f.target[size_t(i / row)]);
    put_int(*out, i, int_at(x, int64_t(from) * row + i % row));
  }
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Every patch element says, by the patches of an image of numbers, which element of the input it came from;
// 0 stands for the padding.
Grads patches_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value x = g.x(), shape = shape_of(x), one = scalar(e, DType::kInt32, 1);
  const Value first = ints(e, {1}), inner = e.one("StridedSlice", {shape, first, ints(e, {-1}), first});
  const Value count = reduce("Prod", inner, scalar(e, DType::kInt32, 0));
  const Value image_shape[] = {first, inner, first};
  const Value numbers = reshape(e.one("Range", {one, count + 1, one}), concat(image_shape, 0));
  const Value from = e.one(g.node().spec().name, {numbers}, g.attrs({"ksizes", "strides", "rates", "padding"}));
  const Value batch = expand_dims(element(shape, 0), 0), channels = expand_dims(element(shape, -1), 0);
  const Value source = reshape(from, ints(e, {-1})) - 1;
  const Value split[] = {batch, shape_of(source), channels};
  const Value order = ints(e, {1, 0, 2});
  const Value sums = e.one("UnsortedSegmentSum", {transpose(reshape(g.dy(), concat(split, 0)), order), source, count});
  return {reshape(transpose(sums, order), shape)};
}

}  // namespace

void space_batch(Registry& r) {
  r.add("BatchToSpace")
      .in("input: T")
      .in("crops: Tidx")
      .out("output: T")
      .attr("T: type")
      .attr("block_size: int >= 2")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Batch entries woven into space in squares of block_size, then cropped.")
      .shape(square_blocks_shape<false>)
      .grad([](const GradContext& g) -> Grads { return {g.one("SpaceToBatch", {g.dy(), g.x(1)}, g.attrs({"block_size"})), {}}; })
      .cpu(run_batch_to_space);

  r.add("BatchToSpaceND")
      .in("input: T")
      .in("block_shape: Tblock_shape")
      .in("crops: Tcrops")
      .out("output: T")
      .attr("T: type")
      .attr("Tblock_shape: {int32, int64} = DT_INT32")
      .attr("Tcrops: {int32, int64} = DT_INT32")
      .doc("Batch entries woven into spatial blocks, then cropped.")
      .shape(blocks_nd_shape<false>)
      .grad([](const GradContext& g) -> Grads { return {g.one("SpaceToBatchND", {g.dy(), g.x(1), g.x(2)}), {}, {}}; })
      .cpu(run_batch_to_space_nd);

  r.add("DataFormatDimMap")
      .in("x: T")
      .out("y: T")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("src_format: string = 'NHWC'")
      .attr("dst_format: string = 'NCHW'")
      .doc("For dimensions of the source format their numbers in the destination format.")
      .shape(shapes::unchanged)
      .cpu(run_dim_map);

  r.add("DataFormatVecPermute")
      .in("x: T")
      .out("y: T")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("src_format: string = 'NHWC'")
      .attr("dst_format: string = 'NCHW'")
      .doc("Entries per dimension, brought from the order of the source format to that of the destination format.")
      .shape(shapes::unchanged)
      .cpu(run_vec_permute);

  r.add("DepthToSpace")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("block_size: int >= 2")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .doc("Channels laid out as blocks of space.")
      .shape(depth_shape<true>)
      .batch(batch_folded<1>)
      .grad([](const GradContext& g) -> Grads { return {g.one("SpaceToDepth", {g.dy()}, g.attrs({"block_size", "data_format"}))}; })
      .cpu(run_depth_to_space);

  r.add("ExtractImagePatches")
      .in("images: T")
      .out("patches: T")
      .attr("ksizes: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr(
          "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
          "uint64, complex64, complex128, bool}")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("The patches of images under a sliding window, each flattened into the channels.")
      .shape(patches_shape<2>)
      .batch(batch_folded<1>)
      .grad(patches_grad)
      .cpu(run_image_patches);

  r.add("ExtractVolumePatches")
      .in("input: T")
      .out("patches: T")
      .attr("ksizes: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("The patches of volumes under a sliding window, each flattened into the channels.")
      .shape(patches_shape<3>)
      .grad(patches_grad)
      .cpu(run_volume_patches);

  r.add("SpaceToBatch")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .attr("block_size: int >= 2")
      .doc("Padded space taken apart in squares of block_size, into the batch.")
      .shape(square_blocks_shape<true>)
      .grad([](const GradContext& g) -> Grads { return {g.one("BatchToSpace", {g.dy(), g.x(1)}, g.attrs({"block_size"})), {}}; })
      .cpu(run_space_to_batch);

  r.add("SpaceToBatchND")
      .in("input: T")
      .in("block_shape: Tblock_shape")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tblock_shape: {int32, int64} = DT_INT32")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .doc("Padded space taken apart in blocks, into the batch.")
      .shape(blocks_nd_shape<true>)
      .grad([](const GradContext& g) -> Grads { return {g.one("BatchToSpaceND", {g.dy(), g.x(1), g.x(2)}), {}, {}}; })
      .cpu(run_space_to_batch_nd);

  r.add("SpaceToDepth")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("block_size: int >= 2")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .doc("Blocks of space laid out as channels.")
      .shape(depth_shape<false>)
      .batch(batch_folded<1>)
      .grad([](const GradContext& g) -> Grads { return {g.one("DepthToSpace", {g.dy()}, g.attrs({"block_size", "data_format"}))}; })
      .cpu(run_space_to_depth);
}

}  // namespace weft_engine::ops
