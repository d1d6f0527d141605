// Debugger ops that tell about the numbers in a tensor.
#include <cmath>
#include <limits>

#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/variable.h"
#include "ops/all.h"
#include "ops/control_flow/debug_name.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

Status check_debug_name(const std::string& name) {
  const size_t colon = name.find(':');
  if (name.empty() || (colon != std::string::npos && name.find(':', colon + 1) != std::string::npos))
    return invalid_argument("Failed to parse tensor name: \"", name, "\"");
  if (colon == std::string::npos) return {};
  const std::string slot = name.substr(colon + 1);
  char* end = nullptr;
  const long number = std::strtol(slot.c_str(), &end, 10);
  if (slot.empty() || *end || number < INT32_MIN || number > INT32_MAX)
    return invalid_argument("Invalid string value for output_slot: \"", slot, "\"");
  return {};
}

namespace {

#define WEFT_DEBUG_TYPES WEFT_FLOATS, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

struct Counts {
  int64_t nan = 0, minus_inf = 0, plus_inf = 0, negative = 0, zero = 0, positive = 0;
};

// Numbers at or beyond a bound count as infinite.
template <class T>
Counts count(std::span<const T> values, double low, double high) {
  Counts n;
  for (const T& v : values) {
    const double x = double(v);
    if (std::isnan(x)) ++n.nan;
    else if (x <= low || x == -HUGE_VAL) ++n.minus_inf;
    else if (x >= high || x == HUGE_VAL) ++n.plus_inf;
    else ++(x < 0 ? n.negative : x > 0 ? n.positive : n.zero);
  }
  return n;
}

Status run_nan_count(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_debug_name(c.attr<std::string>("tensor_name")));
  const Tensor& in = c.input(0);
  int64_t nans = 0;
  if (in.valid()) {
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_DEBUG_TYPES>(in.dtype(), [&]<class T>(Tag<T>) {
      nans = count<T>(in.span<T>(), -HUGE_VAL, HUGE_VAL).nan;
      return Status();
    })));
  }
  c.set_output(0, Tensor::vector(std::vector<int64_t>{nans}));
  return {};
}

// Whether there is a value, the counts, the least, the greatest, mean and variance of finite numbers, type, rank, shape.
template <class T>
std::vector<double> summary(const Tensor& in, float low, float high) {
  const auto values = in.span<T>();
  const Counts n = count<T>(values, low, high);
  double least = HUGE_VAL, greatest = -HUGE_VAL, sum = 0, squares = 0;
  int64_t finite = 0;
  for (const T& v : values) {
    const double x = double(v);
    if (!std::isfinite(x)) continue;
    ++finite;
    sum += x;
    least = std::min(least, x);
    greatest = std::max(greatest, x);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN(), mean = finite ? sum / double(finite) : nan;
  for (const T& v : values) {
    const double x = double(v);
    if (std::isfinite(x)) squares += (x - mean) * (x - mean);
  }
  std::vector<double> out{1,
                          double(values.size()),
                          double(n.nan),
                          double(n.minus_inf),
                          double(n.negative),
                          double(n.zero),
                          double(n.positive),
                          double(n.plus_inf),
                          least,
                          greatest,
                          mean,
                          finite ? squares / double(finite) : nan,
                          double(in.dtype()),
                          double(in.rank())};
  for (int64_t d : in.shape().dims()) out.push_back(double(d));
  return out;
}

Status run_summary(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_debug_name(c.attr<std::string>("tensor_name")));
  const Tensor& in = c.input(0);
  if (!in.valid()) {
    std::vector<double> none(14, 0.0);
    none[8] = HUGE_VAL;
    none[9] = -HUGE_VAL;
    none[10] = none[11] = std::numeric_limits<double>::quiet_NaN();
    c.set_output(0, Tensor::vector(none));
    return {};
  }
  return dispatch<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(in.dtype(), [&]<class T>(Tag<T>) {
    c.set_output(0, Tensor::vector(summary<T>(in, c.attr<float>("lower_bound"), c.attr<float>("upper_bound"))));
    return Status();
  });
}

// TensorDebugMode of TensorFlow's debug_event.proto.
enum Mode : int64_t { kCurtHealth = 2, kConciseHealth = 3, kFullHealth = 4, kShape = 5, kReduceInfNan = 8 };

Result<std::vector<double>> summary_v2(const KernelContext& c, const Tensor& in, const Counts& n) {
  const double id = double(c.attr<int64_t>("tensor_id")), size = double(in.num_elements()), type = double(in.dtype()), rank = in.rank();
  const double minus = double(n.minus_inf), plus = double(n.plus_inf), nans = double(n.nan);
  switch (const int64_t mode = c.attr<int64_t>("tensor_debug_mode")) {
    case kCurtHealth: return std::vector<double>{id, n.nan + n.minus_inf + n.plus_inf > 0 ? 1.0 : 0.0};
    case kConciseHealth: return std::vector<double>{id, size, minus, plus, nans};
    case kFullHealth: return std::vector<double>{id, -1, type, rank, size, minus, plus, nans, double(n.negative), double(n.zero), double(n.positive)};
    case kShape: {
      constexpr int kDims = 6;  // the last ones of a longer shape
      std::vector<double> out{id, type, rank, size};
      for (int i = std::max(0, in.rank() - kDims); i < in.rank(); ++i) out.push_back(double(in.dim(i)));
      out.resize(4 + kDims);
      return out;
    }
    case kReduceInfNan:
      return std::vector<double>{n.minus_inf ? -HUGE_VAL : 0.0, n.plus_inf ? HUGE_VAL : 0.0, n.nan ? std::numeric_limits<double>::quiet_NaN() : 0.0};
    default: return unimplemented("Unimplemented tensor debug mode: ", mode);
  }
}

Status run_summary_v2(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int digits = c.output_type(0) == DType::kFloat ? 24 : 53;
  if (const int64_t id = c.attr<int64_t>("tensor_id"); id > int64_t(1) << digits)
    return invalid_argument("DebugNumericSummaryV2Op requires tensor_id to be less than or equal to (2^", digits, "). Given tensor_id:", id);
  Counts n;
  WEFT_RETURN_IF_ERROR((dispatch<bool, WEFT_DEBUG_TYPES>(in.dtype(), [&]<class T>(Tag<T>) {
    n = count<T>(in.span<T>(), -HUGE_VAL, HUGE_VAL);
    return Status();
  })));
  WEFT_ASSIGN(std::vector<double> values, summary_v2(c, in, n));
  if (digits == 24) c.set_output(0, Tensor::vector(std::vector<float>(values.begin(), values.end())));
  else c.set_output(0, Tensor::vector(values));
  return {};
}

Status run_gradient_identity(KernelContext& c) {
  if (RefVariable* ref = c.input_ref(0)) c.set_output_ref(0, ref);
  c.set_output(0, c.input(0));
  return {};
}

Grads passed_on(const GradContext& g) { return {g.dy()}; }

}  // namespace

void debug_numeric(Registry& r) {
  r.add("DebugGradientIdentity")
      .doc("Passes a tensor on; a mark for the debugger of gradients.")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .allows_uninitialized_input()
      .traits({.impure = true, .elementwise = true})
      .shape(shapes::unchanged)
      .grad(passed_on)
      .cpu(run_gradient_identity);

  r.add("DebugGradientRefIdentity")
      .doc("Passes a reference on; a mark for the debugger of gradients.")
      .in("input: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .shape(shapes::unchanged)
      .grad(passed_on)
      .cpu(run_gradient_identity);

  r.add("DebugNanCount")
      .doc("How many NaN a tensor holds; weft does not write to debug_urls.")
      .in("input: T")
      .out("output: int64")
      .attr("T: type")
      .attr("device_name: string = ''")
      .attr("tensor_name: string = ''")
      .attr("debug_urls: list(string) = []")
      .attr("gated_grpc: bool = false")
      .allows_uninitialized_input()
      .traits({.impure = true})
      .shape([](ShapeContext& c) -> Status {  // TensorFlow's own rule says a scalar, which is not so
        c.output(0, PartialShape::vector(1));
        return {};
      })
      .cpu(run_nan_count, types<WEFT_DEBUG_TYPES>("T"));

  r.add("DebugNumericSummary")
      .doc("Counts, limits, mean, variance, type and shape of a tensor as one vector; weft does not write to debug_urls.")
      .in("input: T")
      .out("output: double")
      .attr("T: type")
      .attr("device_name: string = ''")
      .attr("tensor_name: string = ''")
      .attr("debug_urls: list(string) = []")
      .attr("lower_bound: float = -inf")
      .attr("upper_bound: float = inf")
      .attr("mute_if_healthy: bool = false")
      .attr("gated_grpc: bool = false")
      .allows_uninitialized_input()
      .traits({.impure = true})
      .shape(shapes::unknown)
      .cpu(run_summary, types<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>("T"));

  r.add("DebugNumericSummaryV2")
      .doc("What the debugger records of a tensor, by mode: health, shape, or whether there are infinities and NaN.")
      .in("input: T")
      .out("output: output_dtype")
      .attr("output_dtype: {float, double} = DT_FLOAT")
      .attr("T: type")
      .attr("tensor_debug_mode: int = -1")
      .attr("tensor_id: int = -1")
      .traits({.impure = true})
      .shape(shapes::unknown)
      .cpu(run_summary_v2, types<bool, WEFT_DEBUG_TYPES>("T"));

  set_layout(r, {"DebugGradientIdentity"}, layouts::kOneDevice);
}

}  // namespace weft_engine::ops
