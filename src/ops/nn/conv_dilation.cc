// Grey-scale dilation of images: the maximum over a window of input plus filter, and its gradients,
// which flow to where the (first) maximum was.
#include <cstring>
#include <limits>

#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/nn/conv_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Geometry {
  int64_t batch, depth, rate_h, rate_w;
  WindowDim h, w;  // the window is the filter's reach; rates may be 0, which WindowDim's dilation may not
  int64_t filter_h, filter_w;
};

Result<Geometry> geometry(const NodeInfo& node, const Shape& in, const Shape& filter) {
  const auto& strides = node.attr<std::vector<int64_t>>("strides");
  const auto& rates = node.attr<std::vector<int64_t>>("rates");
  WEFT_RETURN_IF_ERROR(check_int32_attr("strides", strides));
  WEFT_RETURN_IF_ERROR(check_int32_attr("rates", rates));
  if (strides.size() != 4) return invalid_argument("Sliding window stride field must specify 4 dimensions");
  if (strides[0] != 1 || strides[3] != 1) return unimplemented("Stride is only supported across spatial dimensions.");
  if (rates.size() != 4) return invalid_argument("Input stride (atrous rate) field must specify 4 dimensions");
  if (rates[0] != 1 || rates[3] != 1) return unimplemented("Rate is only supported across spatial dimensions.");
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in);
  if (filter.rank() != 3) return invalid_argument("filter must be 3-dimensional: ", filter);
  if (in.dim(3) != filter.dim(2)) return invalid_argument("input and filter must have the same depth: ", in.dim(3), " vs ", filter.dim(2));
  if (rates[1] < 0 || rates[2] < 0) return invalid_argument("rates must not be negative, got ", join(rates));
  Geometry g{.batch = in.dim(0),
             .depth = in.dim(3),
             .rate_h = rates[1],
             .rate_w = rates[2],
             .h = {},
             .w = {},
             .filter_h = filter.dim(0),
             .filter_w = filter.dim(1)};
  const std::string& padding = node.attr<std::string>("padding");
  for (int i : {0, 1}) {
    const int64_t size = filter.dim(i), rate = rates[size_t(i) + 1];
    const int64_t reach = size < 1 ? 0 : shapes::mul_dim(size - 1, rate) + 1;
    if (reach < (size > 0 ? 1 : 0)) return invalid_argument("filter too large");
    WEFT_ASSIGN((i ? g.w : g.h), make_window(in.dim(i + 1), reach, strides[size_t(i) + 1], 1, padding));
  }
  return g;
}

// Calls f(input offset, filter offset) for the taps of output (h, w) that fall on the image.
template <class F>
void for_each_tap(const Geometry& g, int64_t h, int64_t w, F&& f) {
  const int64_t sh = g.h.start(h), sw = g.w.start(w);
  for (int64_t i = 0; i < g.filter_h; ++i) {
    const int64_t y = sh + i * g.rate_h;
    if (y < 0 || y >= g.h.in) continue;
    for (int64_t j = 0; j < g.filter_w; ++j) {
      const int64_t x = sw + j * g.rate_w;
      if (x >= 0 && x < g.w.in) f((y * g.w.in + x) * g.depth, (i * g.filter_w + j) * g.depth);
    }
  }
}

double row_cost(const Geometry& g) { return double(g.w.out) * double(g.filter_h) * double(g.filter_w) * double(g.depth); }

Status run_dilation(KernelContext& c) {
  const Tensor &in = c.input(0), &filter = c.input(1);
  WEFT_ASSIGN(Geometry g, geometry(c.node(), in.shape(), filter.shape()));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({g.batch, g.h.out, g.w.out, g.depth})));
  if (out->num_elements() == 0) return {};
  return dispatch<WEFT_REALS>(in.dtype(), [&]<class T>(Tag<T>) {
    if (filter.num_elements() == 0) {  // its other dimension may be huge
      std::fill(out->data<T>(), out->data<T>() + out->num_elements(), std::numeric_limits<T>::lowest());
      return Status();
    }
    c.pool().parallel_for(g.batch * g.h.out, row_cost(g), [&](int64_t b, int64_t e) {
      for (int64_t row = b; row < e; ++row) {
        const T* image = in.data<T>() + row / g.h.out * g.h.in * g.w.in * g.depth;
        for (int64_t w = 0; w < g.w.out; ++w) {
          T* to = out->data<T>() + (row * g.w.out + w) * g.depth;
          std::fill(to, to + g.depth, std::numeric_limits<T>::lowest());
          for_each_tap(g, row % g.h.out, w, [&](int64_t at, int64_t tap) {
            for (int64_t d = 0; d < g.depth; ++d) {
              const T v = wrapping_add(image[at + d], filter.data<T>()[tap + d]);
              if (v > to[d]) to[d] = v;
            }
          });
        }
      }
    });
    return Status();
  });
}

// Both gradients: the offset (in the image or in the filter) of the maximum gets the output's gradient.
// Channels are independent, so they are what is shared out between threads.
Status run_gradient(KernelContext& c, bool for_filter) {
  const Tensor &in = c.input(0), &filter = c.input(1), &dout = c.input(2);
  WEFT_ASSIGN(Geometry g, geometry(c.node(), in.shape(), filter.shape()));
  if (dout.rank() != 4) return invalid_argument("out_backprop must be 4-dimensional", dout.shape());
  if (dout.shape() != Shape({g.batch, g.h.out, g.w.out, g.depth})) return invalid_argument("out_backprop has incompatible size.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, for_filter ? filter.shape() : in.shape()));
  std::memset(out->raw(), 0, out->byte_size());
  if (dout.num_elements() == 0 || out->num_elements() == 0 || filter.num_elements() == 0 || in.num_elements() == 0) return {};
  const int64_t image_size = g.h.in * g.w.in * g.depth;
  return dispatch<WEFT_REALS>(in.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(g.depth, row_cost(g) / double(g.depth) * double(g.h.out) * double(g.batch), [&](int64_t first, int64_t last) {
      const T* gradient = dout.data<T>();
      for (int64_t b = 0; b < g.batch; ++b) {
        const T* image = in.data<T>() + b * image_size;
        T* target = out->data<T>() + (for_filter ? 0 : b * image_size);
        for (int64_t h = 0; h < g.h.out; ++h) {
          for (int64_t w = 0; w < g.w.out; ++w, gradient += g.depth) {
            for (int64_t d = first; d < last; ++d) {
              T best = std::numeric_limits<T>::lowest();
              // Where nothing beats the lowest value, the gradient goes to the window's corner.
              int64_t where = for_filter ? 0
                                         : (std::min(std::max<int64_t>(g.h.start(h), 0), g.h.in - 1) * g.w.in +
                                            std::min(std::max<int64_t>(g.w.start(w), 0), g.w.in - 1)) *
                                               g.depth;
              for_each_tap(g, h, w, [&](int64_t at, int64_t tap) {
                const T v = wrapping_add(image[at + d], filter.data<T>()[tap + d]);
                if (v > best) best = v, where = for_filter ? tap : at;
              });
              target[where + d] = wrapping_add(target[where + d], gradient[d]);
            }
          }
        }
      }
    });
    return Status();
  });
}

Status run_input_gradient(KernelContext& c) { return run_gradient(c, false); }
Status run_filter_gradient(KernelContext& c) { return run_gradient(c, true); }

Status dilation_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape filter, c.with_rank(1, 3));
  WEFT_ASSIGN(int64_t depth, c.merge_dim(in.dim(3), filter.dim(2)));
  PartialShape out({in.dim(0), kUnknownDim, kUnknownDim, depth});
  const auto known = in.concrete(), known_filter = filter.concrete();
  if (known && known_filter) {
    WEFT_ASSIGN(Geometry g, geometry(c.node(), *known, *known_filter));
    out.set_dim(1, g.h.out);
    out.set_dim(2, g.w.out);
  }
  c.output(0, std::move(out));
  return {};
}

Status as_filter(ShapeContext& c) {
  c.output(0, c.input(1));
  return {};
}

}  // namespace

void conv_dilation(Registry& r) {
  r.add("Dilation2D")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("The greatest sum of input and filter in each window.")
      .shape(dilation_shape)
      .batch(batch_folded<1>)
      .grad([](const GradContext& g) -> Grads {
        const AttrMap a = g.attrs({"strides", "rates", "padding"});
        return {g.one("Dilation2DBackpropInput", {g.x(0), g.x(1), g.dy()}, a), g.one("Dilation2DBackpropFilter", {g.x(0), g.x(1), g.dy()}, a)};
      })
      .cpu(run_dilation);

  r.add("Dilation2DBackpropFilter")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("filter_backprop: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("Gradient of Dilation2D for its filter.")
      .shape(as_filter)
      .cpu(run_filter_gradient);

  r.add("Dilation2DBackpropInput")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("in_backprop: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("Gradient of Dilation2D for its input.")
      .shape(shapes::unchanged)
      .cpu(run_input_gradient);
}

}  // namespace weft_engine::ops
