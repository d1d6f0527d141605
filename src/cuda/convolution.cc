#include "cuda/convolution.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "core/log.h"
#include "cuda/cudnn_graph.h"
#include "cuda/matmul.h"

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::DType;
using core::Result;
using core::Status;

constexpr size_t kMostMeasured = 10;
constexpr int64_t kAlignment = 16, kWorkspaceAlignment = 256;
enum Number : int64_t { kInput = 1, kFilter = 2, kOutput = 3 };  // of tensors in a graph

struct Key {
  Convolution convolution;
  bool tf32;
  auto operator<=>(const Key&) const = default;
};

// Null: there is none. Under the lock of the GPU's Dnn.
using Plans = std::map<Key, std::unique_ptr<DnnPlan>>;
Plans& plans_of(const Dnn* d) {
  static std::mutex mutex;
  static auto* all = new std::map<const Dnn*, Plans>();
  const std::lock_guard lock(mutex);
  return (*all)[d];
}

// [n, spatial..., c] as cuDNN counts dimensions: n, c, spatial.
Result<Descriptor> tensor(const Cudnn& dnn, DnnType type, const std::vector<int64_t>& sizes, int64_t number) {
  std::vector<int64_t> strides(sizes.size(), 1), own{sizes.front(), sizes.back()}, own_strides;
  for (size_t d = sizes.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
  own_strides = {strides.front(), strides.back()};
  for (size_t d = 1; d + 1 < sizes.size(); ++d) {
    own.push_back(sizes[d]);
    own_strides.push_back(strides[d]);
  }
  WEFT_ASSIGN(Descriptor t, Descriptor::make(dnn, DnnKind::kTensor));
  WEFT_RETURN_IF_ERROR(t.set(DnnAttribute::kTensorType, DnnValue::kDataType, 1, &type));
  WEFT_RETURN_IF_ERROR(t.set(DnnAttribute::kTensorSizes, own));
  WEFT_RETURN_IF_ERROR(t.set(DnnAttribute::kTensorStrides, own_strides));
  WEFT_RETURN_IF_ERROR(t.set(DnnAttribute::kTensorNumber, number));
  WEFT_RETURN_IF_ERROR(t.set(DnnAttribute::kTensorAlignment, kAlignment));
  WEFT_RETURN_IF_ERROR(t.finish());
  return t;
}

struct OperationNames {
  DnnKind kind;
  DnnAttribute alpha, beta, convolution, input, filter, output;
};
OperationNames names_of(Convolution::Kind kind) {
  using A = DnnAttribute;
  switch (kind) {
    case Convolution::Kind::kForward:
      return {DnnKind::kForward, A::kForwardAlpha, A::kForwardBeta, A::kForwardConvolution, A::kForwardInput, A::kForwardFilter, A::kForwardOutput};
    case Convolution::Kind::kInputGradient:
      return {DnnKind::kInputGradient, A::kInputGradientAlpha,  A::kInputGradientBeta, A::kInputGradientConvolution,
              A::kInputGradientResult, A::kInputGradientFilter, A::kInputGradientOf};
    case Convolution::Kind::kFilterGradient: break;
  }
  return {DnnKind::kFilterGradient, A::kFilterGradientAlpha,  A::kFilterGradientBeta, A::kFilterGradientConvolution,
          A::kFilterGradientInput,  A::kFilterGradientResult, A::kFilterGradientOf};
}

Result<Descriptor> graph_of(const Cudnn& dnn, void* handle, const Convolution& c, DnnType type) {
  WEFT_ASSIGN(Descriptor input, tensor(dnn, type, c.input, kInput));
  WEFT_ASSIGN(Descriptor filter, tensor(dnn, type, c.filter, kFilter));
  WEFT_ASSIGN(Descriptor output, tensor(dnn, type, c.output, kOutput));
  const bool is_double = type == DnnType::kDouble;
  const DnnType compute = is_double ? DnnType::kDouble : DnnType::kFloat;
  const int mode = kDnnCrossCorrelation;
  WEFT_ASSIGN(Descriptor window, Descriptor::make(dnn, DnnKind::kConvolution));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionCompute, DnnValue::kDataType, 1, &compute));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionMode, DnnValue::kConvolutionMode, 1, &mode));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionRank, int64_t(c.stride.size())));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionDilations, c.dilation));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionStrides, c.stride));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionLow, c.low));
  WEFT_RETURN_IF_ERROR(window.set(DnnAttribute::kConvolutionHigh, c.high));
  WEFT_RETURN_IF_ERROR(window.finish());
  const OperationNames names = names_of(c.kind);
  WEFT_ASSIGN(Descriptor operation, Descriptor::make(dnn, names.kind));
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const DnnValue scale = is_double ? DnnValue::kDouble : DnnValue::kFloat;
  WEFT_RETURN_IF_ERROR(operation.set(names.alpha, scale, 1, is_double ? static_cast<const void*>(&one_double) : &one));
  WEFT_RETURN_IF_ERROR(operation.set(names.beta, scale, 1, is_double ? static_cast<const void*>(&zero_double) : &zero));
  WEFT_RETURN_IF_ERROR(operation.set(names.convolution, window));
  WEFT_RETURN_IF_ERROR(operation.set(names.input, input));
  WEFT_RETURN_IF_ERROR(operation.set(names.filter, filter));
  WEFT_RETURN_IF_ERROR(operation.set(names.output, output));
  WEFT_RETURN_IF_ERROR(operation.finish());
  WEFT_ASSIGN(Descriptor graph, Descriptor::make(dnn, DnnKind::kGraph));
  WEFT_RETURN_IF_ERROR(graph.set(DnnAttribute::kGraphHandle, DnnValue::kHandle, 1, &handle));
  WEFT_RETURN_IF_ERROR(graph.set(DnnAttribute::kGraphOperations, operation));
  WEFT_RETURN_IF_ERROR(graph.finish());
  return graph;
}

// May the engine be used? Without TF32 float is computed with all bits, by none of the ways that round otherwise; sums of float are never of fewer bits.
Result<bool> allowed(const Cudnn& dnn, const Descriptor& config, DnnType type, bool tf32) {
  WEFT_ASSIGN(const Descriptor engine, Descriptor::make(dnn, DnnKind::kEngine));
  void* handle = engine.handle();
  int64_t count = 0;
  WEFT_CUDNN_RETURN(dnn, get(config.handle(), DnnAttribute::kConfigEngine, DnnValue::kDescriptor, 1, &count, &handle), "choosing an engine");
  DnnNote notes[kDnnNotes] = {};
  count = 0;
  WEFT_CUDNN_RETURN(dnn, get(handle, DnnAttribute::kEngineNotes, DnnValue::kNote, kDnnNotes, &count, notes), "choosing an engine");
  for (int64_t i = 0; i < std::min<int64_t>(count, kDnnNotes); ++i) {
    if (type != DnnType::kFloat) continue;  // of half numbers sums in parts may be, as in the peers
    if (notes[i] == DnnNote::kNarrowSums) return false;
    const bool rounds =
        notes[i] == DnnNote::kTensorCores || notes[i] == DnnNote::kNarrowInputs || notes[i] == DnnNote::kFft || notes[i] == DnnNote::kWinograd;
    if (rounds && !tf32) return false;
  }
  return true;
}

struct Places {
  DevicePtr input, filter, output;
  int64_t padded = 0;  // bytes of the workspace in front that are not the engine's
};

// Of engines for more padding on one side than on the other some give wrong numbers, so cuDNN is asked for the same on both sides; the rest are zeros around a copy of the
// input, or is cut off its gradient.
struct Even {
  Convolution convolution;
  std::vector<int64_t> front;  // zeros in front of each dimension of the copy
  int64_t bytes = 0;  // of the copy; 0: there is none
};
std::optional<Even> made_even(const Convolution& c) {
  Even e{c, std::vector<int64_t>(c.input.size(), 0), 0};
  for (size_t d = 0; d < c.low.size(); ++d) {
    const int64_t both = std::min(c.low[d], c.high[d]);
    e.front[d + 1] = c.low[d] - both;
    e.convolution.input[d + 1] += c.low[d] + c.high[d] - 2 * both;
    e.convolution.low[d] = e.convolution.high[d] = both;
    if (e.convolution.input[d + 1] != c.input[d + 1] && d + 2 < c.low.size()) return std::nullopt;  // a copy has planes of rows, no more
  }
  if (e.convolution.input == c.input) return e;
  e.bytes = int64_t(core::dtype_size(c.dtype));
  for (int64_t n : e.convolution.input) e.bytes *= n;
  e.bytes = (e.bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  return e;
}

// Between the input as it is and its copy with zeros around it.
BoxCopy box_of(const Convolution& c, const Even& e, DevicePtr plain, DevicePtr padded, bool to_padded) {
  const size_t rank = c.input.size(), element = core::dtype_size(c.dtype) * size_t(c.input[rank - 1]);
  const auto side = [&](const std::vector<int64_t>& sizes, DevicePtr at) {
    BoxCopy::Side s;
    s.device = at;
    s.pitch = element * size_t(sizes[rank - 2]);
    s.height = size_t(sizes[rank - 3]);
    return s;
  };
  BoxCopy box;
  box.from = side(c.input, plain);
  box.to = side(e.convolution.input, padded);
  box.to.x_bytes = element * size_t(e.front[rank - 2]);
  box.to.y = size_t(e.front[rank - 3]);
  if (!to_padded) std::swap(box.from, box.to);
  box.width = element * size_t(c.input[rank - 2]);
  box.height = size_t(c.input[rank - 3]);
  box.depth = 1;
  for (size_t d = 0; d + 3 < rank; ++d) box.depth *= size_t(c.input[d]);
  return box;
}

int run(const Cudnn& dnn, const Dnn& d, const DnnPlan& p, const Places& at) {
  const int64_t numbers[] = {kInput, kFilter, kOutput};
  const DevicePtr pointers[] = {at.input, at.filter, at.output};
  return execute(dnn, d.handle, p, numbers, pointers, d.workspace + DevicePtr(at.padded));
}

// The fastest of the proposals; null: there is none.
Result<std::unique_ptr<DnnPlan>> choose(const Cudnn& dnn, Gpu& gpu, Dnn& d, const Queue& queue, const Key& key, DnnType type, const Places& at) {
  WEFT_ASSIGN(const Descriptor graph, graph_of(dnn, d.handle, key.convolution, type));
  const DnnTarget target{d.handle, nullptr};
  const auto good = [&](const Descriptor& config) { return allowed(dnn, config, type, key.tf32); };
  std::vector<DnnPlan> plans;
  WEFT_RETURN_IF_ERROR(propose(dnn, target, graph, DnnHeuristic::kA, good, kMostMeasured, plans));
  if (plans.empty()) WEFT_RETURN_IF_ERROR(propose(dnn, target, graph, DnnHeuristic::kFallback, good, kMostMeasured, plans));
  return fastest(dnn, gpu, queue, std::move(plans), [&](const DnnPlan& p) -> Result<int> {
    WEFT_RETURN_IF_ERROR(reserve(gpu, d, at.padded + p.workspace));
    return run(dnn, d, p, at);
  });
}

}  // namespace

std::optional<Convolution> convolution_of(const ir::Instr& i, std::span<const int64_t> symbols) {
  const ir::Window& w = i.window;
  const bool filter_gradient = i.op == ir::Op::kConvFilterGrad;
  if ((i.op != ir::Op::kConv && !filter_gradient) || w.winograd || filter_form(i) == ir::FilterForm::kPlain) return std::nullopt;
  const bool input_gradient = filter_form(i) == ir::FilterForm::kOfForward;
  Convolution c;
  c.dtype = i.operand(0).type.dtype;
  c.kind = filter_gradient ? Convolution::Kind::kFilterGradient : input_gradient ? Convolution::Kind::kInputGradient : Convolution::Kind::kForward;
  const auto sizes = [&](const ir::Type& t) {
    std::vector<int64_t> out;
    for (const ir::Dim& d : t.dims) out.push_back(d.evaluate(symbols));
    return out;
  };
  const std::vector<int64_t> a = sizes(i.operand(0).type), b = sizes(i.operand(1).type), r = sizes(i.type);
  c.input = input_gradient ? r : a;
  c.filter = filter_gradient ? r : b;
  c.output = filter_gradient ? b : input_gradient ? a : r;
  for (const auto* t : {&c.input, &c.filter, &c.output}) {
    if (std::any_of(t->begin(), t->end(), [](int64_t n) { return n <= 0 || n > INT32_MAX; })) return std::nullopt;
  }
  for (size_t d = 0; d < w.size.size(); ++d) {
    const int64_t dilation = w.dilation.empty() ? 1 : w.dilation[d], holes = w.base_dilation.empty() ? 1 : w.base_dilation[d];
    const int64_t taps = c.filter[d + 1], span = (taps - 1) * dilation;
    if (!input_gradient && holes != 1) return std::nullopt;
    if (input_gradient && w.stride[d] != 1) return std::nullopt;
    const int64_t stride = input_gradient ? holes : w.stride[d];
    const int64_t low = input_gradient ? span - w.low[d].evaluate(symbols) : w.low[d].evaluate(symbols);
    // Behind: what the last window needs.
    const int64_t high = std::max<int64_t>((c.output[d + 1] - 1) * stride + span + 1 - c.input[d + 1] - low, 0);
    if (low < 0 || (c.input[d + 1] + low + high - span - 1) / stride + 1 != c.output[d + 1]) return std::nullopt;
    c.stride.push_back(stride);
    c.dilation.push_back(dilation);
    c.low.push_back(low);
    c.high.push_back(high);
  }
  if (c.stride.size() == 1) {  // cuDNN has two or three
    for (auto* t : {&c.input, &c.filter, &c.output}) t->insert(t->begin() + 1, 1);
    c.stride.insert(c.stride.begin(), 1);
    c.dilation.insert(c.dilation.begin(), 1);
    c.low.insert(c.low.begin(), 0);
    c.high.insert(c.high.begin(), 0);
  }
  if (c.stride.size() > 3) return std::nullopt;
  return c;
}

Result<bool> convolve(Gpu& gpu, const Queue& queue, const Convolution& c, DevicePtr a, DevicePtr b, DevicePtr r) {
  const auto type = dnn_type_of(c.dtype);
  if (!type || (a | b | r) % kAlignment) return false;
  const auto not_there = [](const Status& why) {
    static std::once_flag once;
    std::call_once(once, [&] { core::log(core::LogLevel::kWarning, cat("convolutions on GPUs are slower than they could be: ", why.message())); });
    return false;
  };
  auto dnn = cudnn();
  if (!dnn.ok()) return not_there(dnn.status());
  auto started = dnn_of(**dnn, gpu);
  if (!started.ok()) return not_there(started.status());
  const std::optional<Even> even = made_even(c);
  if (!even) return false;
  Dnn& d = **started;
  Places at{a, b, r, even->bytes};
  if (c.kind == Convolution::Kind::kInputGradient) at = {r, b, a, even->bytes};
  if (c.kind == Convolution::Kind::kFilterGradient) at = {a, r, b, even->bytes};
  const DevicePtr plain = at.input;
  const std::lock_guard lock(d.mutex);  // one workspace, one stream
  WEFT_CUDNN_RETURN(**dnn, set_stream(d.handle, queue.stream), "choosing a stream");
  WEFT_RETURN_IF_ERROR(reserve(gpu, d, at.padded));
  if (at.padded) at.input = d.workspace;
  const Key key{even->convolution, tf32_allowed()};
  Plans& plans = plans_of(&d);
  auto it = plans.find(key);
  if (it == plans.end()) {
    auto made = choose(**dnn, gpu, d, queue, key, *type, at);
    if (!made.ok()) {
      if (made.status().code() == core::Code::kResourceExhausted) return made.status();
      core::log(core::LogLevel::kInfo, cat("a convolution without cuDNN: ", made.status().message()));
    }
    it = plans.emplace(key, made.ok() ? std::move(made).value() : nullptr).first;
  }
  if (!it->second) return false;
  WEFT_RETURN_IF_ERROR(reserve(gpu, d, at.padded + it->second->workspace));
  if (at.padded) at.input = d.workspace;
  const bool written = c.kind == Convolution::Kind::kInputGradient;
  if (at.padded && !written) {
    WEFT_RETURN_IF_ERROR(gpu.fill_zero(at.input, size_t(at.padded), queue.stream));
    WEFT_RETURN_IF_ERROR(gpu.copy(box_of(c, *even, plain, at.input, true), queue.stream));
  }
  if (const int error = run(**dnn, d, *it->second, at)) return (*dnn)->status(error, "a convolution");
  if (at.padded && written) WEFT_RETURN_IF_ERROR(gpu.copy(box_of(c, *even, plain, at.input, false), queue.stream));
  return true;
}

}  // namespace weft_engine::cuda
