// Borders put around a tensor: constant ones and mirrored ones.
#include <algorithm>

#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

constexpr int kMaxMirrorRank = 5;

struct Padding {
  int64_t before, after;
};

std::vector<Padding> paddings_of(const Tensor& t) {
  std::vector<Padding> out;
  for (int64_t i = 0; i < t.dim(0); ++i) out.push_back({int_at(t, 2 * i), int_at(t, 2 * i + 1)});
  return out;
}

Status check_paddings(const Tensor& in, const Tensor& paddings, const char* separator) {
  if (paddings.rank() != 2 || paddings.dim(1) != 2) return invalid_argument("paddings must be a matrix with 2 columns: ", paddings.shape());
  if (paddings.dim(0) != in.rank())
    return invalid_argument("The first dimension of paddings must be the rank of inputs", paddings.shape(), separator, in.shape());
  return {};
}

// ---- constant borders ------------------------------------------------------------------------------

// Fills what is outside the copied block: for each dimension the two slabs before and behind it.
void fill_border(KernelContext& c, const Tensor& in, const std::vector<Padding>& pads, const void* value, Tensor& out) {
  const auto strides = strides_of(out.shape());
  for (int d = 0; d < in.rank(); ++d) {
    for (int side = 0; side < 2; ++side) {
      kernels::CopyPlan plan;
      int64_t offset = 0;
      for (int i = 0; i < in.rank(); ++i) {
        const auto [before, after] = pads[size_t(i)];
        const int64_t s = strides[size_t(i)];
        if (i < d) {
          plan.add(in.dim(i), 0, s);  // dimensions before d: only where the block is, the rest is filled already
          offset += before * s;
        } else if (i == d) {
          plan.add(side ? after : before, 0, s);
          if (side) offset += (before + in.dim(i)) * s;
        } else {
          plan.add(out.dim(i), 0, s);
        }
      }
      if (!plan.empty()) kernels::strided_copy(c.pool(), out.dtype(), value, element(out, offset), plan);
    }
  }
}

Status pad(KernelContext& c, const Tensor& value) {
  const Tensor &in = c.input(0), &paddings = c.input(1);
  WEFT_RETURN_IF_ERROR(check_paddings(in, paddings, " "));
  if (value.rank() != 0) return invalid_argument("constant_values must be a scalar. Found: ", value.shape());
  const std::vector<Padding> pads = paddings_of(paddings);
  std::vector<int64_t> dims;
  bool changes = false;
  for (int i = 0; i < in.rank(); ++i) {
    const auto [before, after] = pads[size_t(i)];
    if (before < 0 || after < 0) return invalid_argument("Paddings must be non-negative: ", before, " ", after);
    int64_t d = in.dim(i);
    if (__builtin_add_overflow(d, before, &d) || __builtin_add_overflow(d, after, &d))
      return invalid_argument("Padded size of dimension ", i, " is too large: ", in.dim(i), " + ", before, " + ", after);
    dims.push_back(d);
    changes |= before || after;
  }
  if (!changes) return pass_through(c);
  const Shape shape(dims);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  fill_border(c, in, pads, value.raw(), *out);
  const auto from = strides_of(in.shape()), to = strides_of(shape);
  kernels::CopyPlan plan;
  int64_t offset = 0;
  for (int i = 0; i < in.rank(); ++i) {
    offset += pads[size_t(i)].before * to[size_t(i)];
    plan.add(in.dim(i), from[size_t(i)], to[size_t(i)]);
  }
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), in.raw(), element(*out, offset), plan);
  return {};
}

Status run_pad(KernelContext& c) {
  WEFT_ASSIGN(Tensor zero, Tensor::zeros(c.input(0).dtype(), {}));
  return pad(c, zero);
}

Status run_pad_v2(KernelContext& c) { return pad(c, c.input(2)); }

// `sign` is 1 to add the borders and -1 to take them off.
Status pad_rule(ShapeContext& c, int sign) {
  WEFT_ASSIGN(PartialShape paddings, c.with_rank(1, 2));
  if (paddings.dim(1) >= 0 && paddings.dim(1) != 2) return invalid_argument("Dimension must be 2 but is ", paddings.dim(1));
  const PartialShape& in = c.input(0);
  const int64_t rows = paddings.dim(0);
  if (in.has_rank() && rows >= 0 && rows != in.rank()) return invalid_argument("Shape must be rank ", rows, " but is rank ", in.rank());
  if (!in.has_rank() && (rows < 0 || rows > kMaxRank)) return {};
  const int rank = in.has_rank() ? in.rank() : int(rows);
  PartialShape out = PartialShape::unknown_of_rank(rank);
  const auto pads = c.constant_ints(1);
  for (int i = 0; pads && i < rank; ++i) {
    const int64_t before = (*pads)[size_t(2 * i)], after = (*pads)[size_t(2 * i + 1)], d = in.has_rank() ? in.dim(i) : kUnknownDim;
    if (before < 0 || after < 0) return invalid_argument("Paddings must be non-negative: ", before, " ", after);
    int64_t border, size;
    if (__builtin_add_overflow(before, after, &border) || (d >= 0 && __builtin_add_overflow(d, sign * border, &size)))
      return invalid_argument("Padded size of dimension ", i, " is too large");
    if (d < 0) continue;
    if (size < 0) return invalid_argument("Total paddings must be less than the input dimension size: ", border, " was not less than ", d);
    out.set_dim(i, size);
  }
  c.output(0, std::move(out));
  return {};
}

Status pad_shape(ShapeContext& c) { return pad_rule(c, 1); }
Status pad_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  return pad_rule(c, 1);
}
Status mirror_pad_grad_shape(ShapeContext& c) { return pad_rule(c, -1); }

// ---- mirrored borders ------------------------------------------------------------------------------

// For each place of a padded dimension the place in the inner one that it shows.
std::vector<int64_t> mirrored(int64_t size, Padding pad, bool reflect) {
  std::vector<int64_t> at(size_t(size + pad.before + pad.after));
  const int64_t edge = reflect ? 1 : 0;  // a reflection leaves the edge itself out
  for (size_t i = 0; i < at.size(); ++i) {
    int64_t x = int64_t(i) - pad.before;
    if (x < 0) x = -x - 1 + edge;
    else if (x >= size) x = 2 * size - 1 - x - edge;
    at[i] = x;
  }
  return at;
}

Status run_mirror_pad(KernelContext& c) {
  const Tensor &in = c.input(0), &paddings = c.input(1);
  const bool reflect = c.attr<std::string>("mode") == "REFLECT";
  const int rank = in.rank();
  if (rank > kMaxMirrorRank) return unimplemented("inputs rank not in [0,", kMaxMirrorRank, "]: ", rank);
  WEFT_RETURN_IF_ERROR(check_paddings(in, paddings, ", "));
  const std::vector<Padding> pads = paddings_of(paddings);
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    const auto [before, after] = pads[size_t(i)];
    const int64_t d = in.dim(i);
    if (before < 0 || after < 0) return invalid_argument("paddings must be non-negative: ", before, " ", after);
    if (reflect && (before >= d || after >= d))
      return invalid_argument("paddings must be less than the dimension size: ", before, ", ", after, " not less than ", d);
    if (!reflect && (before > d || after > d))
      return invalid_argument("paddings must be no greater than the dimension size: ", before, ", ", after, " greater than ", d);
    if (d > INT64_MAX / 4) return invalid_argument("Padded size of dimension ", i, " is too large: ", d);
    dims.push_back(before + d + after);
  }
  const Shape shape(dims);
  if (shape == in.shape()) return pass_through(c);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  std::vector<std::vector<int64_t>> maps;
  for (int i = 0; i < rank; ++i) maps.push_back(mirrored(in.dim(i), pads[size_t(i)], reflect));
  const int64_t row = dims.back(), rows = shape.num_elements() / row, in_row = in.dim(rank - 1);
  return dispatch_movable(in.dtype(), [&]<class T>(Tag<T>) {
    const T* x = in.data<T>();
    T* y = out->data<T>();
    c.pool().parallel_for(rows, double(row), [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r) {
        int64_t rest = r, offset = 0, stride = in_row;
        for (int d = rank - 2; d >= 0; --d) {
          offset += maps[size_t(d)][size_t(rest % dims[size_t(d)])] * stride;
          rest /= dims[size_t(d)];
          stride *= in.dim(d);
        }
        const int64_t* map = maps.back().data();
        for (int64_t i = 0; i < row; ++i) y[r * row + i] = x[offset + map[i]];
      }
    });
    return Status();
  });
}

// Folds the borders of dimension d of x (shape `dims`) back on what they mirror; result in y. Integers wrap.
template <class T>
void fold(const T* x, T* y, int64_t outer, int64_t padded, int64_t inner, Padding pad, bool reflect) {
  const int64_t size = padded - pad.before - pad.after;
  const std::vector<int64_t> map = mirrored(size, pad, reflect);
  for (int64_t o = 0; o < outer; ++o) {
    const T* from = x + o * padded * inner;
    T* to = y + o * size * inner;
    std::copy_n(from + pad.before * inner, size * inner, to);
    for (int64_t i = 0; i < padded; ++i) {
      if (i >= pad.before && i < pad.before + size) continue;
      for (int64_t k = 0; k < inner; ++k) {
        T& t = to[map[size_t(i)] * inner + k];
        if constexpr (std::is_integral_v<T>) t = T(std::make_unsigned_t<T>(t) + std::make_unsigned_t<T>(from[i * inner + k]));
        else t += from[i * inner + k];
      }
    }
  }
}

Status run_mirror_pad_grad(KernelContext& c) {
  const Tensor &in = c.input(0), &paddings = c.input(1);
  const bool reflect = c.attr<std::string>("mode") == "REFLECT";
  const int rank = in.rank();
  if (rank > kMaxMirrorRank) return unimplemented("inputs rank not in [0,", kMaxMirrorRank, "]: ", rank);
  WEFT_RETURN_IF_ERROR(check_paddings(in, paddings, " "));
  const std::vector<Padding> pads = paddings_of(paddings);
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    const auto [before, after] = pads[size_t(i)];
    if (before < 0 || after < 0) return invalid_argument("Paddings must be non-negative: ", before, ", ", after);
    int64_t border;
    if (__builtin_add_overflow(before, after, &border) || border >= in.dim(i))
      return invalid_argument("Total paddings must be less than the input dimension size: ", int64_t(uint64_t(before) + uint64_t(after)),
                              " was not less than ", in.dim(i));
    const int64_t size = in.dim(i) - border;
    if (reflect && (before >= size || after >= size))
      return invalid_argument("paddings must be less than the output dimension size: ", before, ", ", after, " not less than ", size);
    if (!reflect && (before > size || after > size))
      return invalid_argument("paddings must be no greater than the output dimension size: ", before, ", ", after, " greater than ", size);
    dims.push_back(size);
  }
  if (rank == 0) return pass_through(c);
  // One dimension after the other, the last first, each into memory of its own.
  Tensor x = in;
  return dispatch<WEFT_NUMBERS>(in.dtype(), [&]<class T>(Tag<T>) -> Status {
    for (int d = rank; d-- > 0;) {
      const Shape shape = x.shape().with_dim(d, dims[size_t(d)]);
      WEFT_ASSIGN(Tensor y, c.temp(in.dtype(), shape));
      fold(x.data<T>(), y.data<T>(), shape.elements_in(0, d), x.dim(d), shape.elements_in(d + 1, rank), pads[size_t(d)], reflect);
      x = std::move(y);
    }
    c.set_output(0, std::move(x));
    return {};
  });
}

// The part of the gradient that belongs to the input.
Value unpadded(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value size = shape_of(g.x(0), g.x(1).dtype());
  const Value rows = reshape(rank_of(g.x(0)), ints(e, {1})), size_parts[] = {rows, ints(e, {1})};
  const Value before = reshape(slice(g.x(1), ints(e, {0, 0}), concat(size_parts, 0)), ints(e, {-1}));
  return slice(g.dy(), before, size);
}

}  // namespace

void pad(Registry& r) {
  r.add("MirrorPad")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .doc("The input with borders that mirror it, with or without its edge.")
      .traits({.same_if_same_shape = true})
      .shape(pad_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("MirrorPadGrad", {g.dy(), g.x(1)}, {{"mode", g.attr<std::string>("mode")}}), {}}; })
      .cpu(run_mirror_pad);

  r.add("MirrorPadGrad")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .doc("The gradient of MirrorPad: borders added to the places that they mirror.")
      .shape(mirror_pad_grad_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("MirrorPad", {g.dy(), g.x(1)}, {{"mode", g.attr<std::string>("mode")}}), {}}; })
      .cpu(run_mirror_pad_grad, types<WEFT_NUMBERS>("T"));

  r.add("Pad")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .doc("The input with borders of zeros.")
      .traits({.same_if_same_shape = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(pad_shape)
      .grad([](const GradContext& g) -> Grads { return {unpadded(g), {}}; })
      .cpu(run_pad);

  r.add("PadV2")
      .in("input: T")
      .in("paddings: Tpaddings")
      .in("constant_values: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .doc("The input with borders of a given value.")
      .traits({.same_if_same_shape = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(pad_v2_shape)
      .grad([](const GradContext& g) -> Grads { return {unpadded(g), {}, {}}; })
      .cpu(run_pad_v2);

  set_layout(r, {"Pad", "PadV2", "MirrorPad"}, layouts::kPad);
}

}  // namespace weft_engine::ops
