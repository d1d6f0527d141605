// Running sums, products and log-sum-exps; isotonic regression.
#include <cmath>
#include <limits>

#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Plus {
  template <class T>
  static T start() {
    return T(0);
  }
  template <class T>
  T operator()(T a, T x) const {
    return T(a + x);
  }
};
struct Times {
  template <class T>
  static T start() {
    return T(1);
  }
  template <class T>
  T operator()(T a, T x) const {
    if constexpr (std::is_same_v<T, uint16_t>) return T(unsigned(a) * unsigned(x));  // int could overflow
    else return T(a * x);
  }
};
// log(exp(a) + exp(x)). The comparisons are TensorFlow's, which let a NaN at the start pass by.
struct LogPlus {
  template <class T>
  static T start() {
    return T(-std::numeric_limits<Wide<T>>::infinity());
  }
  template <class T>
  T operator()(T a, T x) const {
    using W = Wide<T>;
    const W p = W(a), q = W(x);
    const W least = q < p ? q : p, most = p < q ? q : p;
    if (least < std::numeric_limits<W>::lowest()) return T(most);
    return T(std::log1p(std::exp(least - most)) + most);
  }
};

// Along the middle dimension of [outer, n, inner].
template <class T, class Op>
void scan_all(const T* in, T* out, int64_t outer, int64_t n, int64_t inner, bool exclusive, bool reverse, ThreadPool& pool, Op op) {
  pool.parallel_for(outer, double(n) * double(inner) * 2, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const T* x = in + o * n * inner;
      T* y = out + o * n * inner;
      if (inner == 1) {
        T sum = Op::template start<T>();
        for (int64_t s = 0; s < n; ++s) {
          const int64_t i = reverse ? n - 1 - s : s;
          const T next = op(sum, x[i]);
          y[i] = exclusive ? sum : next;
          sum = next;
        }
        continue;
      }
      for (int64_t s = 0; s < n; ++s) {
        const int64_t i = reverse ? n - 1 - s : s, before = reverse ? i + 1 : i - 1;
        const int64_t take = exclusive ? before : i;  // the element that joins here
        for (int64_t j = 0; j < inner; ++j) {
          const T sum = s ? y[before * inner + j] : Op::template start<T>();
          y[i * inner + j] = exclusive && !s ? sum : op(sum, x[take * inner + j]);
        }
      }
    }
  });
}

Status scan_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape axis_shape, c.with_rank(1, 0));
  c.output(0, c.input(0));
  return {};
}

template <class Op>
Status run_scan(KernelContext& c) {
  const Tensor &x = c.input(0), &axis_tensor = c.input(1);
  if (axis_tensor.rank() != 0) return invalid_argument("ScanOp: axis must be a scalar, not ", axis_tensor.shape());
  const int64_t given = axis_tensor.dtype() == DType::kInt32 ? axis_tensor.data<int32_t>()[0] : axis_tensor.data<int64_t>()[0];
  const int64_t axis = given < 0 ? given + x.rank() : given;
  if (axis < 0 || axis >= x.rank()) {
    return invalid_argument("ScanOp: Expected scan axis in the range [", -x.rank(), ", ", x.rank(), "), but got ", axis);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, x.shape()));
  if (x.num_elements() == 0) return {};
  const bool exclusive = c.attr<bool>("exclusive"), reverse = c.attr<bool>("reverse");
  const int64_t outer = x.shape().elements_in(0, int(axis)), n = x.dim(int(axis)), inner = x.shape().elements_in(int(axis) + 1, x.rank());
  auto run = [&]<class T>(Tag<T>) {
    scan_all(x.data<T>(), out->data<T>(), outer, n, inner, exclusive, reverse, c.pool(), Op{});
    return Status();
  };
  if constexpr (std::is_same_v<Op, LogPlus>) {
    return dispatch<WEFT_FLOATS>(x.dtype(), run);
  } else if (is_integer_type(x.dtype())) {  // of either sign as unsigned ones, which wrap
    switch (dtype_size(x.dtype())) {
      case 1: return run(Tag<uint8_t>{});
      case 2: return run(Tag<uint16_t>{});
      case 4: return run(Tag<uint32_t>{});
      default: return run(Tag<uint64_t>{});
    }
  } else {
    return dispatch<WEFT_FLOATS, WEFT_COMPLEX>(x.dtype(), run);
  }
}

// ---- IsotonicRegression

Status isotonic_shape(ShapeContext& c) {
  c.output(0, c.input(0));
  c.output(1, c.input(0));
  return {};
}

// The nearest not increasing row in the least-squares sense: neighbours that rise are pooled.
template <class In, class Out>
void isotonic_row(const In* x, Out* y, int32_t* segment, int64_t n) {
  struct Pool {
    double sum;
    int64_t count;
    double mean() const { return sum / double(count); }
  };
  std::vector<Pool> pools;
  for (int64_t i = 0; i < n; ++i) {
    pools.push_back({double(x[i]), 1});
    while (pools.size() > 1 && pools.back().mean() > pools[pools.size() - 2].mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  int64_t at = 0;
  for (size_t p = 0; p < pools.size(); ++p) {
    for (int64_t i = 0; i < pools[p].count; ++i, ++at) {
      y[at] = Out(pools[p].mean());
      segment[at] = int32_t(p);
    }
  }
}

template <class In, class Out>
Status isotonic(KernelContext& c) {
  const Tensor& x = c.input(0);
  WEFT_ASSIGN(Tensor* y, c.allocate(0, x.shape()));
  WEFT_ASSIGN(Tensor* segments, c.allocate(1, x.shape()));
  const int64_t n = x.rank() ? x.dim(x.rank() - 1) : 1;
  if (x.num_elements() == 0) return {};
  c.pool().parallel_for(x.num_elements() / n, double(n) * 20, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) isotonic_row(x.data<In>() + r * n, y->data<Out>() + r * n, segments->data<int32_t>() + r * n, n);
  });
  return {};
}

// Each input type has one output type: itself, or the float that holds its means well.
Result<std::unique_ptr<Kernel>> make_isotonic(const NodeInfo& node) {
  const DType in = node.attr<DType>("T"), out = node.attr<DType>("output_dtype");
  KernelFunction f = nullptr;
  if (in == DType::kInt8 && out == DType::kFloat) f = isotonic<int8_t, float>;
  if (in == DType::kInt16 && out == DType::kFloat) f = isotonic<int16_t, float>;
  if (in == DType::kInt32 && out == DType::kDouble) f = isotonic<int32_t, double>;
  if (in == DType::kInt64 && out == DType::kDouble) f = isotonic<int64_t, double>;
  if (in == DType::kFloat && out == in) f = isotonic<float, float>;
  if (in == DType::kDouble && out == in) f = isotonic<double, double>;
  if (in == DType::kHalf && out == in) f = isotonic<half, half>;
  if (in == DType::kBfloat16 && out == in) f = isotonic<bfloat16, bfloat16>;
  if (!f) return not_found("No registered 'IsotonicRegression' OpKernel for 'CPU' devices compatible with node ", node.to_string());
  return std::unique_ptr<Kernel>(new FunctionKernel(f));
}

// ---- gradients -----------------------------------------------------------------------------------------

// What a running sum does, the other way round.
AttrMap reversed(const GradContext& g) { return {{"exclusive", g.attr<bool>("exclusive")}, {"reverse", !g.attr<bool>("reverse")}}; }

Grads cumprod_grad(const GradContext& g) {
  const Value product = g.one("Cumprod", {g.x(0), g.x(1)}, {{"exclusive", g.attr<bool>("exclusive")}, {"reverse", g.attr<bool>("reverse")}});
  return {binary("DivNoNan", g.one("Cumsum", {product * g.dy(), g.x(1)}, reversed(g)), g.x(0)), {}};
}

// Positive and negative parts apart, since both go through logarithms.
Grads cumulative_logsumexp_grad(const GradContext& g) {
  const Value dy = g.dy(), zero = zeros_like(dy);
  const double lowest = dy.dtype() == DType::kDouble     ? -1.7976931348623157e308
                        : dy.dtype() == DType::kHalf     ? -65504.0
                        : dy.dtype() == DType::kBfloat16 ? -3.3895313892515355e38
                                                         : -3.4028234663852886e38;
  const Value least = scalar(g.emitter(), dy.dtype(), lowest);
  auto part = [&](std::string_view comparison, const Value& v) {
    const Value log = where(binary(comparison, dy, zero), unary("Log", v), least);
    return unary("Exp", g.one("CumulativeLogsumexp", {log - g.y(), g.x(1)}, reversed(g)) + g.x(0));
  };
  return {part("Greater", dy) - part("Less", -dy), {}};
}

// The mean of the gradient over each pool. Pools of all rows get numbers of their own.
Grads isotonic_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value shape = shape_of(g.y(1)), rows = element(shape, 0), columns = element(shape, 1);
  const Value zero = scalar(e, DType::kInt32, 0), one = scalar(e, DType::kInt32, 1), flat = ints(e, {-1});
  const Value pools = reshape(g.y(1) + expand_dims(e.one("Range", {zero, rows, one}) * columns, 1), flat);
  const Value dy = reshape(g.dy(), flat), n = rows * columns;
  const Value sums = e.one("UnsortedSegmentSum", {dy, pools, n}), counts = e.one("UnsortedSegmentSum", {ones_like(dy), pools, n});
  return {reshape(gather(sums / binary("Maximum", counts, ones_like(counts)), pools), shape)};
}

}  // namespace

void scan(Registry& r) {
  r.add("Cumprod")
      .in("x: T")
      .in("axis: Tidx")
      .out("out: T")
      .attr("exclusive: bool = false")
      .attr("reverse: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Running products along an axis.")
      .shape(scan_shape)
      .batch(batch_along_axes)
      .grad(cumprod_grad)
      .cpu(run_scan<Times>, types<WEFT_NUMBERS>("T"));

  r.add("Cumsum")
      .in("x: T")
      .in("axis: Tidx")
      .out("out: T")
      .attr("exclusive: bool = false")
      .attr("reverse: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Running sums along an axis.")
      .shape(scan_shape)
      .batch(batch_along_axes)
      .grad([](const GradContext& g) -> Grads { return {g.one("Cumsum", {g.dy(), g.x(1)}, reversed(g)), {}}; })
      .cpu(run_scan<Plus>, types<WEFT_NUMBERS>("T"));

  r.add("CumulativeLogsumexp")
      .in("x: T")
      .in("axis: Tidx")
      .out("out: T")
      .attr("exclusive: bool = false")
      .attr("reverse: bool = false")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Running logarithms of sums of exponentials along an axis.")
      .shape(scan_shape)
      .batch(batch_along_axes)
      .grad(cumulative_logsumexp_grad)
      .cpu(run_scan<LogPlus>);

  r.add("IsotonicRegression")
      .in("input: T")
      .out("output: output_dtype")
      .out("segments: int32")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("output_dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .doc("The nearest row that does not increase, and which elements were pooled.")
      .shape(isotonic_shape)
      .grad(isotonic_grad)
      .cpu_make(make_isotonic);

  set_layout(r, {"Cumprod", "Cumsum", "CumulativeLogsumexp"}, layouts::whole_along(1));
}

}  // namespace weft_engine::ops
