#include <atomic>
#include <cstring>
#include <limits>

#include "kernels/cpu/pool.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/nn/window.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::PoolGeometry;

#define WEFT_POOL_TYPES float, double, WEFT_INTEGERS  // what is left after staging

struct PoolAttrs : WindowAttrs {
  std::vector<int64_t> ksize;
};

// Whose error texts to use.
enum class Text { kMax, kMaxV2, kAvg, kVolume };

// `for_shape`: as shape rules see them, which leave what a kernel refuses to the kernel.
Status check(const PoolAttrs& a, Text text, bool for_shape = false) {
  const size_t rank = size_t(a.spatial) + 2, ch = size_t(a.channel_axis());
  WEFT_RETURN_IF_ERROR(check_int32_attr("ksize", a.ksize));
  WEFT_RETURN_IF_ERROR(check_int32_attr("strides", a.strides));
  if (a.ksize.size() != rank) return invalid_argument("Sliding window ksize field must specify ", rank, " dimensions");
  if (a.strides.size() != rank) return invalid_argument("Sliding window stride field must specify ", rank, " dimensions");
  if (for_shape) return check_explicit_paddings(a);
  for (int64_t k : a.ksize) {
    if (k > 0) continue;
    if (text == Text::kVolume) return invalid_argument("Sliding window ksize field must have non-negative dimensions");
    if (text == Text::kMaxV2) return invalid_argument("Sliding window ksize must be positive.");
    if (text == Text::kAvg) return invalid_argument("ksize must be a positive int32 value, got:", k);
    return invalid_argument("Sliding window ksize must be positive. The specified or inferred ksize is: ", join(a.ksize));
  }
  if (a.ksize[0] != 1 || a.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
  if (text == Text::kVolume && (a.ksize[ch] != 1 || a.strides[ch] != 1)) return unimplemented("Pooling is not yet supported on the depth dimension.");
  WEFT_RETURN_IF_ERROR(check_explicit_paddings(a));
  if (a.paddings.empty()) return {};
  static constexpr const char* kSides[] = {"Top", "Bottom", "Left", "Right"};
  for (int i = 0; i < 4; ++i) {
    const size_t axis = size_t(a.axis(i / 2));
    const int64_t pad = a.paddings[2 * axis + size_t(i % 2)];
    if (pad >= a.ksize[axis]) return invalid_argument(kSides[i], " padding ", pad, " needs to be smaller than the window size ", a.ksize[axis]);
  }
  return {};
}

PoolAttrs read_common(const NodeInfo& node, int spatial) {
  PoolAttrs a;
  a.spatial = spatial;
  a.padding = node.attr<std::string>("padding");
  if (const AttrValue* v = node.find_attr("data_format")) {
    const std::string& format = *v->get<std::string>();
    a.channels_first = format == "NCHW" || format == "NCDHW";
  }
  if (node.find_attr("explicit_paddings")) a.paddings = node.attr<std::vector<int64_t>>("explicit_paddings");
  return a;
}

Result<PoolAttrs> read_attrs(const NodeInfo& node, int spatial, Text text, bool for_shape = false) {
  PoolAttrs a = read_common(node, spatial);
  if (node.find_attr("data_format") && node.attr<std::string>("data_format") == "NCHW_VECT_C")
    return invalid_argument("NCHW_VECT_C is not supported on device type CPU");
  a.ksize = node.attr<std::vector<int64_t>>("ksize");
  a.strides = node.attr<std::vector<int64_t>>("strides");
  WEFT_RETURN_IF_ERROR(check(a, text, for_shape));
  return a;
}

// The V2 ops, which get ksize and strides as inputs.
Result<PoolAttrs> read_inputs(const NodeInfo& node, const Tensor& ksize, const Tensor& strides) {
  PoolAttrs a = read_common(node, 2);
  if (node.attr<std::string>("data_format") == "NCHW_VECT_C") return invalid_argument("NCHW_VECT_C is not supported on device type CPU");
  a.ksize.assign(ksize.span<int32_t>().begin(), ksize.span<int32_t>().end());
  a.strides.assign(strides.span<int32_t>().begin(), strides.span<int32_t>().end());
  WEFT_RETURN_IF_ERROR(check(a, Text::kMaxV2));
  return a;
}

Result<PoolGeometry> geometry(const PoolAttrs& a, const Shape& in) {
  if (in.rank() != a.spatial + 2) {
    if (a.spatial == 3) return invalid_argument("tensor_in must be 5-dimensional");
    return invalid_argument("tensor_in_shape must have 2 spatial dimensions. ", in.rank(), " ", a.channels_first ? 1 : 0);
  }
  PoolGeometry g;
  g.batch = in.dim(0);
  g.channels = in.dim(a.channel_axis());
  for (int i = 0; i < a.spatial; ++i) {
    const int axis = a.axis(i);
    WEFT_ASSIGN(g.dim[3 - a.spatial + i], a.window(i, in.dim(axis), a.ksize[size_t(axis)]));
  }
  return g;
}

Shape output_shape(const PoolAttrs& a, const Shape& in, const PoolGeometry& g) {
  Shape out = in;
  for (int i = 0; i < a.spatial; ++i) out.set_dim(a.axis(i), g.dim[3 - a.spatial + i].out);
  return out;
}

// --- forward ---

Status depth_max_pool(KernelContext& c, const PoolAttrs& a, const Tensor& in) {
  const int ch = a.channel_axis();
  const int64_t window = a.ksize[size_t(ch)], depth = in.dim(ch);
  for (int i = 0; i < a.spatial; ++i) {
    if (a.ksize[size_t(a.axis(i))] != 1)
      return unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  if (depth % window != 0) return unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth");
  if (a.strides[size_t(ch)] != window) return unimplemented("Depthwise max pooling requires the depth window to equal the depth stride");
  if (a.padding == "EXPLICIT") return unimplemented("Depthwise max pooling does not support explicit padding.");
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in.shape().with_dim(ch, depth / window), a.channels_first));
  if (out.tensor().num_elements() > 0) {
    WEFT_ASSIGN(Tensor x, stage(c, in, a.channels_first));
    // The same as pooling rows of `window` pixels with one channel.
    PoolGeometry g{.batch = out.tensor().num_elements(), .channels = 1, .dim = {}};
    g.dim[2] = WindowDim{.in = window, .window = window};
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_POOL_TYPES>(x.dtype(), [&]<class T>(Tag<T>) {
      kernels::max_pool(g, x.data<T>(), out.tensor().data<T>(), c.pool());
      return Status();
    })));
  }
  return out.finish(c);
}

Status max_pool(KernelContext& c, const PoolAttrs& a) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(PoolGeometry g, geometry(a, in.shape()));
  if (a.ksize[size_t(a.channel_axis())] != 1) return depth_max_pool(c, a, in);
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, output_shape(a, in.shape(), g), a.channels_first));
  if (out.tensor().num_elements() > 0) {
    WEFT_ASSIGN(Tensor x, stage(c, in, a.channels_first));
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_POOL_TYPES>(x.dtype(), [&]<class T>(Tag<T>) {
      kernels::max_pool(g, x.data<T>(), out.tensor().data<T>(), c.pool());
      return Status();
    })));
  }
  return out.finish(c);
}

Status avg_pool(KernelContext& c, const PoolAttrs& a) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(PoolGeometry g, geometry(a, in.shape()));
  if (a.ksize[size_t(a.channel_axis())] != 1) return unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)");
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, output_shape(a, in.shape(), g), a.channels_first));
  if (out.tensor().num_elements() > 0) {
    WEFT_ASSIGN(Tensor x, stage(c, in, a.channels_first));
    WEFT_RETURN_IF_ERROR((dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
      kernels::avg_pool(g, x.data<T>(), out.tensor().data<T>(), c.pool());
      return Status();
    })));
  }
  return out.finish(c);
}

template <int kSpatial, Text kText, Status (*kRun)(KernelContext&, const PoolAttrs&)>
struct Pool {
  PoolAttrs attrs;
  static Result<Pool> make(const NodeInfo& node) {
    WEFT_ASSIGN(PoolAttrs a, read_attrs(node, kSpatial, kText));
    return Pool{std::move(a)};
  }
  Status run(KernelContext& c) const { return kRun(c, attrs); }
};

Status run_max_pool_v2(KernelContext& c) {
  WEFT_ASSIGN(PoolAttrs a, read_inputs(c.node(), c.input(1), c.input(2)));
  return max_pool(c, a);
}

// --- gradients ---

// Adds grad[i] to out at index[i] of its image. Each image is one thread's.
template <class T>
Status scatter(KernelContext& c, const int64_t* index, bool index_has_batch, const T* grad, int64_t batch, int64_t per_image, T* out,
               int64_t out_per_image) {
  std::memset(out, 0, size_t(batch * out_per_image) * sizeof(T));
  std::atomic<int64_t> bad{-1};
  c.pool().parallel_for(batch, 2.0 * double(per_image), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      T* image = out + b * out_per_image;
      for (int64_t i = b * per_image; i < (b + 1) * per_image; ++i) {
        const int64_t base = index_has_batch ? b * out_per_image : 0;
        if (index[i] < base || index[i] - base >= out_per_image) {
          bad = i;
          return;
        }
        T& to = image[index[i] - base];
        to = wrapping_add(to, grad[i]);
      }
    }
  });
  if (bad >= 0) return invalid_argument("Invalid output gradient index: ", index[bad], ", 0, ", batch * out_per_image);
  return {};
}

// orig_input, orig_output and grad of a max pool's gradient; `second`: grad has the shape of the input.
Status check_gradient(const PoolAttrs& a, const Tensor& in, const Tensor& out, const Tensor& grad, bool second, PoolGeometry& g) {
  const int rank = a.spatial + 2;
  if (in.rank() != rank) return invalid_argument("tensor_in must be ", rank, "-dimensional");
  if (out.rank() != rank) return invalid_argument("tensor_out must be ", rank, "-dimensional");
  if (grad.rank() != rank) return invalid_argument(second ? "out_grad_backprop" : "out_backprop", " must be ", rank, "-dimensional");
  if (a.ksize[size_t(a.channel_axis())] != 1 || a.strides[size_t(a.channel_axis())] != 1)
    return unimplemented(second ? "MaxPoolingGradGrad" : "MaxPoolingGrad", " is not yet supported on the depth dimension.");
  WEFT_ASSIGN(g, geometry(a, in.shape()));
  const Shape expected = output_shape(a, in.shape(), g), expected_grad = second ? in.shape() : expected;
  if (out.shape() != expected) return invalid_argument("Expected orig_output shape to be ", expected, ", but got ", out.shape());
  if (grad.shape() != expected_grad) return invalid_argument("Expected grad shape to be ", expected_grad, ", but got ", grad.shape());
  return {};
}

Status max_pool_grad(KernelContext& c, const PoolAttrs& a) {
  const Tensor &in = c.input(0), &orig_out = c.input(1), &grad = c.input(2);
  PoolGeometry g;
  WEFT_RETURN_IF_ERROR(check_gradient(a, in, orig_out, grad, false, g));
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in.shape(), a.channels_first));
  if (in.num_elements() > 0) {
    WEFT_ASSIGN(Tensor x, stage(c, in, a.channels_first));
    WEFT_ASSIGN(Tensor dy, stage(c, grad, a.channels_first));
    if (a.spatial == 3) {
      WEFT_ASSIGN(Tensor y, stage(c, orig_out, a.channels_first));
      kernels::max_pool_grad_ties(g, x.data<float>(), y.data<float>(), dy.data<float>(), out.tensor().data<float>(), c.pool());
      return out.finish(c);
    }
    if (x.dtype() == DType::kFloat) {
      kernels::max_pool_grad(g, x.data<float>(), dy.data<float>(), out.tensor().data<float>(), c.pool());
      return out.finish(c);
    }
    WEFT_ASSIGN(Tensor where, c.temp(DType::kInt64, Shape({g.batch, g.out_size()})));
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_POOL_TYPES>(x.dtype(), [&]<class T>(Tag<T>) {
      kernels::max_pool_argmax<T>(g, x.data<T>(), nullptr, where.data<int64_t>(), c.pool());
      return scatter<T>(c, where.data<int64_t>(), false, dy.data<T>(), g.batch, g.out_size(), out.tensor().data<T>(), g.in_size());
    })));
  }
  return out.finish(c);
}

Status max_pool_grad_grad(KernelContext& c, const PoolAttrs& a) {
  const Tensor &in = c.input(0), &orig_out = c.input(1), &grad = c.input(2);
  PoolGeometry g;
  WEFT_RETURN_IF_ERROR(check_gradient(a, in, orig_out, grad, true, g));
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, orig_out.shape(), a.channels_first));
  if (orig_out.num_elements() > 0) {
    WEFT_ASSIGN(Tensor x, stage(c, in, a.channels_first));
    WEFT_ASSIGN(Tensor y, stage(c, orig_out, a.channels_first));
    WEFT_ASSIGN(Tensor dx, stage(c, grad, a.channels_first));
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_POOL_TYPES>(x.dtype(), [&]<class T>(Tag<T>) {
      kernels::max_pool_grad_grad(g, x.data<T>(), y.data<T>(), dx.data<T>(), out.tensor().data<T>(), c.pool());
      return Status();
    })));
  }
  return out.finish(c);
}

Status run_max_pool_grad_v2(KernelContext& c) {
  WEFT_ASSIGN(PoolAttrs a, read_inputs(c.node(), c.input(3), c.input(4)));
  return max_pool_grad(c, a);
}

Status run_max_pool_grad_grad_v2(KernelContext& c) {
  WEFT_ASSIGN(PoolAttrs a, read_inputs(c.node(), c.input(3), c.input(4)));
  return max_pool_grad_grad(c, a);
}

Status avg_pool_grad(KernelContext& c, const PoolAttrs& a) {
  const Tensor &sizes = c.input(0), &grad = c.input(1);
  const int rank = a.spatial + 2;
  if (sizes.rank() != 1 || sizes.num_elements() != rank)
    return invalid_argument(a.spatial == 3 ? "tensor_in" : "out_backprop", " must be 1-dimensional and ", rank, " elements");
  if (grad.rank() != rank) return invalid_argument("out_backprop must be ", rank, "-dimensional");
  const auto values = sizes.span<int32_t>();
  for (int32_t v : values) {
    if (v < 0) return invalid_argument("Expected a non-negative size, got ", v);
  }
  const std::vector<int64_t> dims(values.begin(), values.end());
  WEFT_ASSIGN(Shape in, Shape::make(dims));
  WEFT_ASSIGN(PoolGeometry g, geometry(a, in));
  if (a.ksize[size_t(a.channel_axis())] != 1) return unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)");
  const Shape expected = output_shape(a, in, g);
  if (grad.shape() != expected) return invalid_argument("Expected grad shape to be ", expected, ", but got ", grad.shape());
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in, a.channels_first));
  if (in.num_elements() > 0) {
    WEFT_ASSIGN(Tensor dy, stage(c, grad, a.channels_first));
    WEFT_RETURN_IF_ERROR((dispatch<float, double>(dy.dtype(), [&]<class T>(Tag<T>) {
      kernels::avg_pool_grad(g, dy.data<T>(), out.tensor().data<T>(), c.pool());
      return Status();
    })));
  }
  return out.finish(c);
}

// --- with argmax ---

Status max_pool_with_argmax(KernelContext& c, const PoolAttrs& a) {
  const Tensor& in = c.input(0);
  if (in.rank() != 4) return invalid_argument("tensor_in must be 4-dimensional (2)");
  WEFT_ASSIGN(PoolGeometry g, geometry(a, in.shape()));
  const Shape shape = output_shape(a, in.shape(), g);
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, shape, false));
  WEFT_ASSIGN(Tensor* index, c.allocate(1, shape));
  if (shape.num_elements() > 0) {
    const bool narrow = index->dtype() == DType::kInt32;
    if (narrow && in.num_elements() > std::numeric_limits<int32_t>::max())
      return invalid_argument("argmax of ", in.num_elements(), " elements does not fit an int32");
    Tensor where = *index;
    if (narrow) {
      WEFT_ASSIGN(where, c.temp(DType::kInt64, shape));
    }
    WEFT_ASSIGN(Tensor x, stage(c, in, false));
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_POOL_TYPES>(x.dtype(), [&]<class T>(Tag<T>) {
      kernels::max_pool_argmax(g, x.data<T>(), out.tensor().data<T>(), where.data<int64_t>(), c.pool());
      return Status();
    })));
    const bool batch = c.attr<bool>("include_batch_in_index");
    int64_t* from = where.data<int64_t>();
    if (batch || narrow) {
      const int64_t per_image = g.out_size();
      for (int64_t i = 0; i < shape.num_elements(); ++i) {
        const int64_t v = from[i] + (batch ? i / per_image * g.in_size() : 0);
        if (narrow) index->data<int32_t>()[i] = int32_t(v);
        else from[i] = v;
      }
    }
  }
  return out.finish(c);
}

Status max_pool_grad_with_argmax(KernelContext& c, const PoolAttrs& a) {
  const Tensor &in = c.input(0), &grad = c.input(1), &argmax = c.input(2);
  WEFT_ASSIGN(PoolGeometry g, geometry(a, in.shape()));
  const Shape expected = output_shape(a, in.shape(), g);
  if (grad.shape() != expected) return invalid_argument("Expected grad shape to be ", expected, ", but got ", grad.shape());
  if (argmax.shape() != expected) return invalid_argument("Expected argmax shape to be ", expected, ", but got ", argmax.shape());
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in.shape(), false));
  if (in.num_elements() > 0) {
    WEFT_ASSIGN(Tensor dy, stage(c, grad, false));
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_POOL_TYPES>(dy.dtype(), [&]<class T>(Tag<T>) {
      return scatter<T>(c, argmax.data<int64_t>(), c.attr<bool>("include_batch_in_index"), dy.data<T>(), g.batch, g.out_size(),
                        out.tensor().data<T>(), g.in_size());
    })));
  }
  return out.finish(c);
}

// --- shapes ---

Status shape_from(ShapeContext& c, const PoolAttrs& a) {
  WEFT_ASSIGN(PartialShape out, c.with_rank(0, a.spatial + 2));
  for (int i = 0; i < a.spatial; ++i) {
    const int axis = a.axis(i);
    WEFT_ASSIGN(int64_t d, a.out_dim(i, out.dim(axis), a.ksize[size_t(axis)]));
    out.set_dim(axis, d);
  }
  const int ch = a.channel_axis();
  if (a.ksize[size_t(ch)] > 1 && c.num_outputs() == 1 && out.dim(ch) >= 0) out.set_dim(ch, out.dim(ch) / a.ksize[size_t(ch)]);
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, out);
  return {};
}

template <int kSpatial, Text kText>
Status pool_shape(ShapeContext& c) {
  WEFT_ASSIGN(PoolAttrs a, read_attrs(c.node(), kSpatial, kText, true));
  return shape_from(c, a);
}

Status pool_v2_shape(ShapeContext& c) {
  if (c.constant(1) && c.constant(2)) {
    WEFT_ASSIGN(PoolAttrs a, read_inputs(c.node(), *c.constant(1), *c.constant(2)));
    return shape_from(c, a);
  }
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  c.output(0, PartialShape({in.dim(0), kUnknownDim, kUnknownDim, kUnknownDim}));
  return {};
}

template <int kRank>
Status as_input_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(0, kRank));
  c.output(0, std::move(s));
  return {};
}

template <int kRank>
Status as_output_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(1, kRank));
  c.output(0, std::move(s));
  return {};
}

template <int kRank>
Status sizes_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(0));
  if (s.has_rank() && s.rank() == kRank) c.output(0, std::move(s));
  else c.output(0, PartialShape::unknown_of_rank(kRank));
  return {};
}

}  // namespace

void pool(Registry& r) {
  r.add("AvgPool")
      .in("value: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The mean of each window; what is outside the image does not count.")
      .shape((pool_shape<2, Text::kAvg>))
      .grad([](const GradContext& g) -> Grads {
        return {g.one("AvgPoolGrad", {shape_of(g.x()), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<2, Text::kAvg, avg_pool>>();

  r.add("AvgPool3D")
      .in("input: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The mean of each window of a volume.")
      .shape((pool_shape<3, Text::kVolume>))
      .grad([](const GradContext& g) -> Grads {
        return {g.one("AvgPool3DGrad", {shape_of(g.x()), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<3, Text::kVolume, avg_pool>>(types<bfloat16, float>("T"));

  r.add("AvgPool3DGrad")
      .in("orig_input_shape: int32")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float, double}")
      .doc("Gradient of AvgPool3D.")
      .shape(sizes_shape<5>)
      .grad([](const GradContext& g) -> Grads { return {{}, g.one("AvgPool3D", {g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))}; })
      .cpu<Pool<3, Text::kVolume, avg_pool_grad>>(types<bfloat16, float>("T"));

  r.add("AvgPoolGrad")
      .in("orig_input_shape: int32")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {half, bfloat16, float, double}")
      .doc("Gradient of AvgPool.")
      .shape(sizes_shape<4>)
      .grad([](const GradContext& g) -> Grads { return {{}, g.one("AvgPool", {g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))}; })
      .cpu<Pool<2, Text::kAvg, avg_pool_grad>>();

  r.add("MaxPool")
      .in("input: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .doc("The greatest element of each window, or of each run of channels.")
      .shape((pool_shape<2, Text::kMax>))
      .grad([](const GradContext& g) -> Grads {
        return {g.one("MaxPoolGrad", {g.x(), g.y(), g.dy()}, g.attrs({"ksize", "strides", "padding", "explicit_paddings", "data_format"}))};
      })
      .cpu<Pool<2, Text::kMax, max_pool>>(types<WEFT_REALS>("T"));

  r.add("MaxPool3D")
      .in("input: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float}")
      .doc("The greatest element of each window of a volume.")
      .shape((pool_shape<3, Text::kVolume>))
      .grad([](const GradContext& g) -> Grads {
        return {g.one("MaxPool3DGrad", {g.x(), g.y(), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<3, Text::kVolume, max_pool>>(types<bfloat16, float>("T"));

  r.add("MaxPool3DGrad")
      .in("orig_input: TInput")
      .in("orig_output: TInput")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float} = DT_FLOAT")
      .attr("TInput: {half, bfloat16, float} = DT_FLOAT")
      .doc("Gradient of MaxPool3D; equal maxima of a window all get it.")
      .shape(as_input_shape<5>)
      .grad([](const GradContext& g) -> Grads {
        return {zeros_like(g.x(0)), zeros_like(g.x(1)),
                g.one("MaxPool3DGradGrad", {g.x(0), g.x(1), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<3, Text::kVolume, max_pool_grad>>(types<bfloat16, float>("T"), types<bfloat16, float>("TInput"));

  r.add("MaxPool3DGradGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("Gradient of MaxPool3DGrad.")
      .shape(as_output_shape<5>)
      .grad([](const GradContext& g) -> Grads {
        return {zeros_like(g.x(0)), zeros_like(g.x(1)),
                g.one("MaxPool3DGrad", {g.x(0), g.x(1), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<3, Text::kVolume, max_pool_grad_grad>>(types<bfloat16, float>("T"));

  r.add("MaxPoolGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64} = DT_FLOAT")
      .doc("Gradient of MaxPool; the first maximum of a window gets it.")
      .shape(as_input_shape<4>)
      .grad([](const GradContext& g) -> Grads {
        return {zeros_like(g.x(0)), zeros_like(g.x(1)),
                g.one("MaxPoolGradGrad", {g.x(0), g.x(1), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<2, Text::kMaxV2, max_pool_grad>>();

  r.add("MaxPoolGradGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("Gradient of MaxPoolGrad.")
      .shape(as_output_shape<4>)
      .grad([](const GradContext& g) -> Grads {
        return {zeros_like(g.x(0)), zeros_like(g.x(1)),
                g.one("MaxPoolGrad", {g.x(0), g.x(1), g.dy()}, g.attrs({"ksize", "strides", "padding", "data_format"}))};
      })
      .cpu<Pool<2, Text::kMaxV2, max_pool_grad_grad>>();

  r.add("MaxPoolGradGradV2")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .in("ksize: int32")
      .in("strides: int32")
      .out("output: T")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("MaxPoolGradGrad with the window as inputs.")
      .shape(as_output_shape<4>)
      .cpu(run_max_pool_grad_grad_v2);

  r.add("MaxPoolGradV2")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .in("ksize: int32")
      .in("strides: int32")
      .out("output: T")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64} = DT_FLOAT")
      .doc("MaxPoolGrad with the window as inputs.")
      .shape(as_input_shape<4>)
      .grad([](const GradContext& g) -> Grads {
        return {zeros_like(g.x(0)),
                zeros_like(g.x(1)),
                g.one("MaxPoolGradGradV2", {g.x(0), g.x(1), g.dy(), g.x(3), g.x(4)}, g.attrs({"padding", "data_format"})),
                {},
                {}};
      })
      .cpu(run_max_pool_grad_v2);

  r.add("MaxPoolGradWithArgmax")
      .in("input: T")
      .in("grad: T")
      .in("argmax: Targmax")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("include_batch_in_index: bool = false")
      .attr("Targmax: {int32, int64}")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("Gradient of MaxPoolWithArgmax.")
      .shape(as_input_shape<4>)
      .cpu<Pool<2, Text::kAvg, max_pool_grad_with_argmax>>(types<int64_t>("Targmax"));

  r.add("MaxPoolV2")
      .in("input: T")
      .in("ksize: int32")
      .in("strides: int32")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .doc("MaxPool with the window as inputs.")
      .shape(pool_v2_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("MaxPoolGradV2", {g.x(0), g.y(), g.dy(), g.x(1), g.x(2)}, g.attrs({"padding", "data_format"})), {}, {}};
      })
      .cpu(run_max_pool_v2, types<WEFT_REALS>("T"));

  r.add("MaxPoolWithArgmax")
      .in("input: T")
      .out("output: T")
      .out("argmax: Targmax")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("Targmax: {int32, int64} = DT_INT64")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("include_batch_in_index: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("MaxPool that also returns the index of each maximum in the flattened input.")
      .shape((pool_shape<2, Text::kAvg>))
      .grad([](const GradContext& g) -> Grads {
        return {g.one("MaxPoolGradWithArgmax", {g.x(), g.dy(0), g.y(1)}, g.attrs({"ksize", "strides", "padding", "include_batch_in_index"}))};
      })
      .cpu<Pool<2, Text::kAvg, max_pool_with_argmax>>();

  set_layout(r, {"AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D"}, layouts::batch_of(0));
  set_layout(r, {"AvgPoolGrad"}, layouts::batch_of(1));
  set_layout(r, {"MaxPoolGrad"}, layouts::kAsInput);
}

}  // namespace weft_engine::ops
