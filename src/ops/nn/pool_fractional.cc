// Pools whose windows have sizes k and k + 1 in random order, so that the sizes of input and output need
// not divide (B. Graham, "Fractional Max-Pooling", arXiv 1412.6071).
#include "op/emit.h"
#include "op/gradient.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

#include <cmath>
#include <limits>
#include <random>

#include "kernels/cpu/philox.h"
#include "ops/nn/window.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::Philox;

// Hands out the words of Philox blocks one by one, from a copy: what it leaves of its last block is lost.
class Words {
 public:
  // `words`: how many the caller may use; the generator moves on past the blocks they need.
  Words(Philox& generator, int64_t words) : philox_(generator) { generator.skip(uint64_t((words + 3) / 4)); }
  uint32_t next() {
    if (used_ == 4) block_ = philox_(), used_ = 0;
    return block_[size_t(used_++)];
  }

 private:
  Philox philox_;
  Philox::Block block_{};
  int used_ = 4;
};

// Where the windows begin: out + 1 rising numbers from 0 to in. in >= out >= 1.
std::vector<int64_t> pooling_sequence(int64_t in, int64_t out, Philox& generator, bool pseudo_random) {
  std::vector<int64_t> sequence(size_t(out) + 1, 0);
  if (pseudo_random) {
    const double alpha = double(in) / double(out);
    const int64_t k = in / out;
    // Beyond these the first or the last window would be larger than k + 1 or smaller than k.
    const double most = std::min(double(k + 2) / alpha - 1, double(in + 1 - k) / alpha - double(out - 1));
    Words words(generator, 1);
    const uint32_t high = words.next(), low = words.next();
    const double u = kernels::uniform_double(high, low) * most;
    for (int64_t i = 1; i < out; ++i) sequence[size_t(i)] = int64_t(std::ceil(alpha * (double(i) + u))) - 1;
    sequence[size_t(out)] = in;
    return sequence;
  }
  std::vector<int64_t> sizes(size_t(out), in / out);
  for (int64_t i = 0; i < in % out; ++i) ++sizes[size_t(i)];
  Words words(generator, out);
  for (int64_t i = 0; i + 1 < out; ++i) std::swap(sizes[size_t(i)], sizes[size_t(i + words.next() % uint32_t(out - i))]);
  for (int64_t i = 0; i < out; ++i) sequence[size_t(i) + 1] = sequence[size_t(i)] + sizes[size_t(i)];
  return sequence;
}

// One dimension's windows; the last element of a window belongs to the next one too if they overlap.
struct Windows {
  std::span<const int64_t> starts;
  int64_t size;  // of the input
  bool overlapping;
  int64_t begin(int64_t i) const { return starts[size_t(i)]; }
  int64_t end(int64_t i) const {
    const int64_t next = std::min(starts[size_t(i) + 1], size);
    return std::min(next + (overlapping ? 1 : 0), size);
  }
};

struct Attrs {
  std::vector<float> ratio;
  bool pseudo_random, overlapping;
  uint64_t seed, seed2;
};

Result<Attrs> read_attrs(const NodeInfo& node, std::string_view what) {
  Attrs a{node.attr<std::vector<float>>("pooling_ratio"), node.attr<bool>("pseudo_random"), node.attr<bool>("overlapping"),
          uint64_t(node.attr<int64_t>("seed")), uint64_t(node.attr<int64_t>("seed2"))};
  for (float r : a.ratio) {
    if (!(r >= 1)) return invalid_argument("pooling_ratio cannot be smaller than 1, got: ", r);
  }
  if (a.ratio.size() != 4) return invalid_argument("pooling_ratio field must specify 4 dimensions");
  if (a.ratio[0] != 1 || a.ratio[3] != 1)
    return unimplemented("Fractional ", what, " pooling is not yet supported on the batch nor channel dimension.");
  if (!node.attr<bool>("deterministic") && (a.seed || a.seed2)) return invalid_argument("Both seed and seed2 should be 0 if deterministic is false.");
  return a;
}

// Seeds of its own for a kernel that was given none; fixed for its lifetime if it is to be deterministic.
void choose_seeds(Attrs& a) {
  if (a.seed || a.seed2) return;
  std::random_device device;
  a.seed = uint64_t(device()) << 32 | device();
  a.seed2 = uint64_t(device()) << 32 | device();
}

// The kernel of both forward ops: output, row and column sequences.
template <bool kMax>
struct FractionalPool {
  Attrs attrs;
  bool fixed;
  static Result<FractionalPool> make(const NodeInfo& node) {
    WEFT_ASSIGN(Attrs a, read_attrs(node, kMax ? "max" : "average"));
    const bool fixed = node.attr<bool>("deterministic");
    if (fixed) choose_seeds(a);
    return FractionalPool{std::move(a), fixed};
  }

  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4) return invalid_argument("tensor_in must be 4-dimensional");
    int64_t size[4];
    for (int i = 0; i < 4; ++i) {
      const float ratio = attrs.ratio[size_t(i)];
      if (!(float(in.dim(i)) >= ratio))
        return invalid_argument("Pooling ratio is higher than input dimension size for dimension ", i, ". Input dim size: ", in.dim(i),
                                " pooling ratio: ", ratio);
      size[i] = ratio == 1 ? in.dim(i) : int64_t(std::floor(float(in.dim(i)) / ratio));
      if (size[i] < 1 || size[i] > in.dim(i) || size[i] > std::numeric_limits<int32_t>::max())
        return invalid_argument("output size ", size[i], " of dimension ", i, " is out of range");
    }
    Attrs a = attrs;
    if (!fixed) choose_seeds(a);
    Philox generator = Philox::from_seeds(a.seed, a.seed2);
    const std::vector<int64_t> rows = pooling_sequence(in.dim(1), size[1], generator, a.pseudo_random);
    const std::vector<int64_t> columns = pooling_sequence(in.dim(2), size[2], generator, a.pseudo_random);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({size[0], size[1], size[2], size[3]})));
    c.set_output(1, Tensor::vector(rows));
    c.set_output(2, Tensor::vector(columns));
    const Windows h{rows, in.dim(1), a.overlapping}, w{columns, in.dim(2), a.overlapping};
    const int64_t depth = in.dim(3);
    return dispatch<float, double, int32_t, int64_t>(in.dtype(), [&]<class T>(Tag<T>) {
      c.pool().parallel_for(size[0] * size[1], double(in.dim(2)) * double(depth) * 2, [&](int64_t b, int64_t e) {
        for (int64_t row = b; row < e; ++row) {
          const T* image = in.data<T>() + row / size[1] * in.dim(1) * in.dim(2) * depth;
          for (int64_t col = 0; col < size[2]; ++col)
            pool_window<T>(image, h, w, row % size[1], col, depth, out->data<T>() + (row * size[2] + col) * depth);
        }
      });
      return Status();
    });
  }

  template <class T>
  static void pool_window(const T* image, const Windows& h, const Windows& w, int64_t row, int64_t col, int64_t depth, T* to) {
    std::fill(to, to + depth, kMax ? std::numeric_limits<T>::lowest() : T(0));
    int64_t count = 0;
    for (int64_t y = h.begin(row); y < h.end(row); ++y) {
      for (int64_t x = w.begin(col); x < w.end(col); ++x, ++count) {
        const T* from = image + (y * w.size + x) * depth;
        for (int64_t d = 0; d < depth; ++d) to[d] = kMax ? (from[d] > to[d] ? from[d] : to[d]) : wrapping_add(to[d], from[d]);
      }
    }
    if (kMax || count == 0) return;
    for (int64_t d = 0; d < depth; ++d) to[d] = to[d] / T(count);
  }
};

Status check_sequence(const Tensor& t, std::string_view name, std::string_view title) {
  if (t.rank() != 1) return invalid_argument(name, " must be a vector, received shape ", t.shape());
  for (int64_t v : t.span<int64_t>()) {
    if (v < 0) return invalid_argument(title, " sequence tensor values must not be negative, got ", join(t.span<int64_t>(), " "));
  }
  return {};
}

Status run_max_grad(KernelContext& c) {
  const Tensor &in = c.input(0), &orig_out = c.input(1), &grad = c.input(2), &rows = c.input(3), &columns = c.input(4);
  WEFT_RETURN_IF_ERROR(check_sequence(rows, "row_pooling_sequence", "Row"));
  WEFT_RETURN_IF_ERROR(check_sequence(columns, "col_pooling_sequence", "Column"));
  if (in.rank() != 4) return invalid_argument("orig_input should be a tensor of rank 4, got shape ", in.shape());
  if (orig_out.rank() != 4) return invalid_argument("orig_output should be a tensor of rank 4, got shape ", orig_out.shape());
  if (grad.shape() != orig_out.shape())
    return invalid_argument("out_backprop should have the shape of orig_output, ", orig_out.shape(), ", got ", grad.shape());
  const int64_t out_h = orig_out.dim(1), out_w = orig_out.dim(2), depth = in.dim(3);
  const Status differs = invalid_argument("tensor_out_dup is not the same as tensor_out");
  if (orig_out.dim(0) != in.dim(0) || orig_out.dim(3) != depth || rows.dim(0) != out_h + 1 || columns.dim(0) != out_w + 1) return differs;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const bool overlapping = c.attr<bool>("overlapping");
  const Windows h{rows.span<int64_t>(), in.dim(1), overlapping}, w{columns.span<int64_t>(), in.dim(2), overlapping};
  return dispatch<float, double, int32_t, int64_t>(in.dtype(), [&]<class T>(Tag<T>) {
    std::fill(out->data<T>(), out->data<T>() + out->num_elements(), T(0));
    for (int64_t row = 0; row < in.dim(0) * out_h; ++row) {
      const int64_t base = row / std::max<int64_t>(out_h, 1) * in.dim(1) * in.dim(2) * depth;
      for (int64_t col = 0; col < out_w; ++col) {
        for (int64_t d = 0; d < depth; ++d) {
          int64_t best = -1;
          for (int64_t y = h.begin(row % out_h); y < h.end(row % out_h); ++y) {
            for (int64_t x = w.begin(col); x < w.end(col); ++x) {
              const int64_t at = base + (y * w.size + x) * depth + d;
              if (best < 0 || in.data<T>()[best] < in.data<T>()[at]) best = at;
            }
          }
          const int64_t at = (row * out_w + col) * depth + d;
          if (best < 0 || in.data<T>()[best] != orig_out.data<T>()[at]) return differs;
          out->data<T>()[best] = wrapping_add(out->data<T>()[best], grad.data<T>()[at]);
        }
      }
    }
    return Status();
  });
}

Status run_avg_grad(KernelContext& c) {
  const Tensor &sizes = c.input(0), &grad = c.input(1), &rows = c.input(2), &columns = c.input(3);
  if (sizes.rank() != 1 || sizes.num_elements() != 4) return invalid_argument("original input tensor shape must be1-dimensional and 4 elements");
  if (grad.rank() != 4) return invalid_argument("out_backprop must be 4-dimensional");
  const int64_t* s = sizes.data<int64_t>();
  for (int i = 0; i < 4; ++i) {
    if (s[i] < 0) return invalid_argument("Expected a non-negative size, got ", s[i]);
  }
  const int64_t out_h = grad.dim(1), out_w = grad.dim(2), depth = s[3];
  if (rows.num_elements() <= out_h)
    return invalid_argument("Given out_backprop shape ", grad.shape(), ", row_seq_tensor must have at least ", out_h + 1, " elements, but got ",
                            rows.num_elements());
  if (columns.num_elements() <= out_w)
    return invalid_argument("Given out_backprop shape ", grad.shape(), ", col_seq_tensor must have at least ", out_w + 1, " elements, but got ",
                            columns.num_elements());
  WEFT_RETURN_IF_ERROR(check_sequence(rows, "row_pooling_sequence", "Row"));
  WEFT_RETURN_IF_ERROR(check_sequence(columns, "col_pooling_sequence", "Column"));
  if (grad.dim(0) != s[0] || grad.dim(3) != depth)
    return invalid_argument("out_backprop shape ", grad.shape(), " does not fit an input of ", s[0], " images with depth ", depth);
  const Shape shape(std::span<const int64_t>(s, 4));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Tensor sums, c.temp(DType::kDouble, shape));
  double* sum = sums.data<double>();
  std::fill(sum, sum + shape.num_elements(), 0.0);
  const bool overlapping = c.attr<bool>("overlapping");
  const Windows h{rows.span<int64_t>(), s[1], overlapping}, w{columns.span<int64_t>(), s[2], overlapping};
  return dispatch<float, double, int32_t, int64_t>(grad.dtype(), [&]<class T>(Tag<T>) {
    const T* from = grad.data<T>();
    for (int64_t b = 0; b < s[0]; ++b) {
      for (int64_t i = 0; i < out_h; ++i) {
        for (int64_t j = 0; j < out_w; ++j, from += depth) {
          const double count = double(std::max<int64_t>(0, h.end(i) - h.begin(i))) * double(std::max<int64_t>(0, w.end(j) - w.begin(j)));
          for (int64_t y = h.begin(i); y < h.end(i); ++y) {
            for (int64_t x = w.begin(j); x < w.end(j); ++x) {
              double* to = sum + ((b * s[1] + y) * s[2] + x) * depth;
              for (int64_t d = 0; d < depth; ++d) to[d] += double(from[d]) / count;
            }
          }
        }
      }
    }
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        // Sums of int64 gradients may leave the range; the cast must not.
        constexpr double kLimit = double(uint64_t(1) << (sizeof(T) * 8 - 1));
        out->data<T>()[i] = sum[i] >= kLimit ? std::numeric_limits<T>::max() : sum[i] < -kLimit ? std::numeric_limits<T>::min() : T(sum[i]);
      } else {
        out->data<T>()[i] = T(sum[i]);
      }
    }
    return Status();
  });
}

Status pool_shape(ShapeContext& c) {
  WEFT_ASSIGN(Attrs a, read_attrs(c.node(), "max"));
  WEFT_ASSIGN(PartialShape out, c.with_rank(0, 4));
  for (int i = 1; i <= 2; ++i) {
    const float ratio = a.ratio[size_t(i)];
    if (out.dim(i) >= 0) out.set_dim(i, ratio == 1 ? out.dim(i) : int64_t(std::floor(float(out.dim(i)) / ratio)));
  }
  c.output(1, PartialShape::vector(shapes::add_dim(out.dim(1), 1)));
  c.output(2, PartialShape::vector(shapes::add_dim(out.dim(2), 1)));
  c.output(0, std::move(out));
  return {};
}

Status avg_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(0));
  if (s.has_rank() && s.rank() == 4) c.output(0, std::move(s));
  else c.output(0, PartialShape::unknown_of_rank(4));
  return {};
}

}  // namespace

void pool_fractional(Registry& r) {
  r.add("FractionalAvgPool")
      .in("value: T")
      .out("output: T")
      .out("row_pooling_sequence: int64")
      .out("col_pooling_sequence: int64")
      .attr("pooling_ratio: list(float) >= 4")
      .attr("pseudo_random: bool = false")
      .attr("overlapping: bool = false")
      .attr("deterministic: bool = false")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: {float, double, int32, int64}")
      .doc("The mean of windows of random sizes that fit a ratio.")
      .traits({.impure = true})
      .shape(pool_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("FractionalAvgPoolGrad", {shape_of(g.x(), DType::kInt64), g.dy(0), g.y(1), g.y(2)}, g.attrs({"overlapping"}))};
      })
      .cpu<FractionalPool<false>>();

  r.add("FractionalAvgPoolGrad")
      .in("orig_input_tensor_shape: int64")
      .in("out_backprop: T")
      .in("row_pooling_sequence: int64")
      .in("col_pooling_sequence: int64")
      .out("output: T")
      .attr("overlapping: bool = false")
      .attr("T: {float, double, int32, int64}")
      .doc("Gradient of FractionalAvgPool.")
      .shape(avg_grad_shape)
      .cpu(run_avg_grad);

  r.add("FractionalMaxPool")
      .in("value: T")
      .out("output: T")
      .out("row_pooling_sequence: int64")
      .out("col_pooling_sequence: int64")
      .attr("pooling_ratio: list(float) >= 4")
      .attr("pseudo_random: bool = false")
      .attr("overlapping: bool = false")
      .attr("deterministic: bool = false")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: {float, double, int32, int64}")
      .doc("The greatest element of windows of random sizes that fit a ratio.")
      .traits({.impure = true})
      .shape(pool_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("FractionalMaxPoolGrad", {g.x(), g.y(0), g.dy(0), g.y(1), g.y(2)}, g.attrs({"overlapping"}))};
      })
      .cpu<FractionalPool<true>>();

  r.add("FractionalMaxPoolGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("out_backprop: T")
      .in("row_pooling_sequence: int64")
      .in("col_pooling_sequence: int64")
      .out("output: T")
      .attr("overlapping: bool = false")
      .attr("T: {float, double, int32, int64}")
      .doc("Gradient of FractionalMaxPool.")
      .shape(shapes::unchanged)
      .cpu(run_max_grad);
}

}  // namespace weft_engine::ops
