// Ops that check and show values on their way.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "core/log.h"
#include "op/api_traits.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/control_flow/debug_name.h"
#include "ops/control_flow/print_hook.h"
#include "ops/control_flow/summarize.h"
#include "wire/file.h"

namespace weft_engine::ops {

std::atomic<PrintHook>& print_hook() {
  static std::atomic<PrintHook> hook{nullptr};
  return hook;
}

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status run_assert(KernelContext& c) {
  const Tensor& condition = c.input(0);
  if (condition.rank() != 0) return invalid_argument("In[0] should be a scalar: ", condition.shape());
  if (condition.data<bool>()[0]) return {};
  const int64_t limit = c.attr<int64_t>("summarize");
  std::string text = "assertion failed: ";
  for (int i = 1; i < c.num_inputs(); ++i) text += cat(i > 1 ? " " : "", "[", summarize(c.input(i), limit), "]");
  return Status(Code::kInvalidArgument, std::move(text));
}

struct Abnormal {
  bool nan = false, minus_inf = false, plus_inf = false;
};

template <class T>
Abnormal find_abnormal(std::span<const T> values) {
  Abnormal a;
  for (const T& v : values) {
    const Wide<T> x = v;
    if (std::isfinite(x)) continue;
    if (std::isnan(x)) a.nan = true;
    else if (x < 0) a.minus_inf = true;
    else a.plus_inf = true;
  }
  return a;
}

// The second version tells the infinities apart.
std::string describe(const Abnormal& a, bool signs) {
  std::vector<std::string> kinds;
  if (signs) {
    if (a.minus_inf) kinds.push_back("-Inf");
    if (a.plus_inf) kinds.push_back("+Inf");
  } else if (a.minus_inf || a.plus_inf) {
    kinds.push_back("Inf");
  }
  if (a.nan) kinds.push_back("NaN");
  if (kinds.size() == 3) return cat(kinds[0], ", ", kinds[1], ", and ", kinds[2]);
  return join(kinds, " and ");
}

template <bool kSigns>
Status run_check_numerics(KernelContext& c) {
  const Tensor& in = c.input(0);
  return dispatch<WEFT_FLOATS>(in.dtype(), [&]<class T>(Tag<T>) -> Status {
    const std::string kinds = describe(find_abnormal(in.span<T>()), kSigns);
    if (!kinds.empty()) return invalid_argument(c.attr<std::string>("message"), " : Tensor had ", kinds, " values");
    c.set_output(0, in);
    return {};
  });
}

Status run_identity(KernelContext& c) {
  c.set_output(0, c.input(0));
  return {};
}

struct DebugIdentity {
  static Result<DebugIdentity> make(const NodeInfo& node) {
    WEFT_RETURN_IF_ERROR(check_debug_name(node.attr<std::string>("tensor_name")));
    return DebugIdentity{};
  }
  Status run(KernelContext& c) const { return run_identity(c); }
};

struct Print {
  std::string message;
  int64_t first_n, limit;
  std::shared_ptr<std::atomic<int64_t>> calls = std::make_shared<std::atomic<int64_t>>(0);

  static Result<Print> make(const NodeInfo& node) {
    return Print{.message = node.attr<std::string>("message"), .first_n = node.attr<int64_t>("first_n"), .limit = node.attr<int64_t>("summarize")};
  }
  Status run(KernelContext& c) const {
    c.set_output(0, c.input(0));
    if (first_n >= 0 && calls->fetch_add(1) >= first_n) return {};
    std::string text = message;
    for (int i = 1; i < c.num_inputs(); ++i) text += cat("[", summarize(c.input(i), limit), "]");
    text += "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    return {};
  }
};

Status append_to_file(const std::string& path, const std::string& text) {
  auto file = wire::open_to_append(path);
  if (!file.ok()) return invalid_argument("Could not open file: ", path);
  WEFT_RETURN_IF_ERROR((*file)->append(text));
  return (*file)->close();
}

Status run_print_v2(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 0) return invalid_argument("Input is expected to be scalar, but got ", in.shape());
  const std::string& stream = c.attr<std::string>("output_stream");
  const std::string text = cat(in.data<tstring>()[0].view(), c.attr<std::string>("end"));
  constexpr std::string_view kFile = "file://";
  if (stream == "stdout" || stream == "stderr") {
    if (PrintHook hook = print_hook().load(); hook && hook(stream == "stderr", text)) return {};
  }
  static std::mutex mutex;  // lines of different threads do not mix
  std::lock_guard lock(mutex);
  if (stream.starts_with(kFile)) return append_to_file(stream.substr(kFile.size()), text);
  if (stream == "stdout" || stream == "stderr") {
    std::FILE* to = stream == "stdout" ? stdout : stderr;
    std::fwrite(text.data(), 1, text.size(), to);
    std::fflush(to);
    return {};
  }
  if (stream == "log(info)") log(LogLevel::kInfo, text);
  else if (stream == "log(warning)") log(LogLevel::kWarning, text);
  else if (stream == "log(error)") log(LogLevel::kError, text);
  else return invalid_argument("Unknown output stream: ", stream, ", Valid streams are: stdout stderr log(info) log(warning) log(error)");
  return {};
}

Status print_v2_shape(ShapeContext& c) {
  const std::string& stream = c.attr<std::string>("output_stream");
  static constexpr std::string_view kStreams[] = {"stdout", "stderr", "log(info)", "log(warning)", "log(error)"};
  bool known = stream.starts_with("file://");
  for (std::string_view s : kStreams) known |= s == stream;
  if (!known) return invalid_argument("Unknown output stream: ", stream, ", Valid streams are: stdout stderr log(info) log(warning) log(error)");
  return c.with_rank(0, 0).status();
}

Status run_timestamp(KernelContext& c) {
  using namespace std::chrono;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<double>()[0] = double(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count()) / 1e6;
  return {};
}

Status assert_shape(ShapeContext& c) { return c.with_rank(0, 0).status(); }

// Holds if it holds for every row.
Batched assert_rows(BatchContext& c) {
  std::vector<Value> in = c.inner_all();
  if (c.has_rows(0)) in[0] = reduce("All", reshape(in[0], c.list({-1})), c.scalar(0));
  return c.itself(in);
}

// A text that is the same for all rows is printed once; others are printed row by row.
Batched print_rows(BatchContext& c) { return c.refused(); }

// ---- gradients -----------------------------------------------------------------------------------------

Grads check_numerics_grad(const GradContext& g, std::string_view op) {
  const std::string message = cat("Not a number (NaN) or infinity (Inf) values detected in gradient. ", g.attr<std::string>("message"));
  return {g.one(op, {g.dy()}, {{"message", message}})};
}

// The first input is passed on.
Grads passed_on_grad(const GradContext& g) {
  Grads grads = g.none();
  grads[0] = g.raw_dy();
  return grads;
}

}  // namespace

void debug(Registry& r) {
  r.add("Assert")
      .doc("Fails, showing some tensors, if the condition is false.")
      .in("condition: bool")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .attr("summarize: int = 3")
      .stateful()
      .shape(assert_shape)
      .batch(assert_rows)
      .no_grad()
      .cpu(run_assert);

  r.add("CheckNumerics")
      .doc("Passes a tensor on, and fails if it holds infinities or NaN.")
      .in("tensor: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("message: string")
      .stateful()
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .grad([](const GradContext& g) { return check_numerics_grad(g, "CheckNumerics"); })
      .cpu(run_check_numerics<false>);

  r.add("CheckNumericsV2")
      .doc("Passes a tensor on, and fails if it holds infinities, distinguished by sign, or NaN.")
      .in("tensor: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("message: string")
      .stateful()
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) { return check_numerics_grad(g, "CheckNumericsV2"); })
      .cpu(run_check_numerics<true>);

  r.add("CheckPinned")
      .in("tensor: T")
      .out("output: T")
      .attr("T: type")
      .doc("Fails for a tensor that is not in memory pinned for a GPU.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu([](KernelContext&) -> Status { return failed_precondition("to check pinnedness, must be built with `--config=cuda`"); });

  r.add("DebugIdentity")
      .doc("Passes a tensor on; a mark for debuggers, which weft does not write to debug_urls.")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("device_name: string = ''")
      .attr("tensor_name: string = ''")
      .attr("debug_urls: list(string) = []")
      .attr("gated_grpc: bool = false")
      .allows_uninitialized_input()
      .traits({.impure = true})
      .shape(shapes::unchanged)
      .cpu<DebugIdentity>();

  r.add("DebugIdentityV2")
      .doc("Passes a tensor on; a mark for debuggers, which weft does not write to debug_urls.")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("tfdbg_context_id: string = ''")
      .attr("op_name: string = ''")
      .attr("output_slot: int = -1")
      .attr("tensor_debug_mode: int = -1")
      .attr("debug_urls: list(string) = []")
      .attr("circular_buffer_size: int = 1000")
      .attr("tfdbg_run_id: string = ''")
      .stateful()
      .shape(shapes::unchanged)
      .grad(passed_on_grad)
      .cpu(run_identity);

  r.add("DebugIdentityV3")
      .doc("Passes a tensor on; a mark for debuggers, which weft does not write to debug_urls.")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("device_name: string = ''")
      .attr("tensor_name: string = ''")
      .attr("io_of_node: string = ''")
      .attr("is_input: bool = false")
      .attr("io_index: int = -1")
      .attr("debug_urls: list(string) = []")
      .attr("gated_grpc: bool = false")
      .stateful()
      .allows_uninitialized_input()
      .shape(shapes::unchanged)
      .cpu<DebugIdentity>();

  r.add("Print")
      .doc("Passes a tensor on and prints others, the first few times.")
      .in("input: T")
      .in("data: U")
      .out("output: T")
      .attr("T: type")
      .attr("U: list(type) >= 0")
      .attr("message: string = ''")
      .attr("first_n: int = -1")
      .attr("summarize: int = 3")
      .stateful()
      .shape(shapes::unchanged)
      .grad(passed_on_grad)
      .cpu<Print>();

  r.add("PrintV2")
      .doc("Prints a string to a stream, the log or a file.")
      .in("input: string")
      .attr("output_stream: string = 'stderr'")
      .attr("end: string = '\\n'")
      .stateful()
      .shape(print_v2_shape)
      .batch(print_rows)
      .cpu(run_print_v2);

  r.add("Timestamp").doc("Seconds since 1970.").out("ts: double").stateful().effect_free().shape(shapes::scalar).no_grad().cpu(run_timestamp);

  set_api_trait(r, {"Assert", "CheckNumerics", "CheckNumericsV2", "Print"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
