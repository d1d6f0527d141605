// A stand-in for cuDNN over the stand-in for the driver (stand_in.cc, the same library): convolutions of floats and their gradients by plain loops, and graphs of products, elementwise
// operations and reductions of [a, b, c, d], one after the other. Its one engine wants as much padding behind as in front, and overwrites its workspace.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/cudnn.h"
#include "tests/cuda/stand_in.h"

namespace {

using weft_engine::cuda::DnnAttribute;
using weft_engine::cuda::DnnKind;
using weft_engine::cuda::DnnPointwise;
using weft_engine::cuda::DnnReduction;
using weft_engine::cuda::DnnType;
using weft_engine::cuda::DnnValue;

constexpr int kBadParam = 2000, kNotSupported = 3000;
constexpr int64_t kWorkspace = 1000;

struct Descriptor {
  DnnKind kind;
  std::map<DnnAttribute, std::string> attributes;
  std::map<DnnAttribute, std::shared_ptr<const Descriptor>> parts;  // as they were when they were put in
  std::vector<std::shared_ptr<const Descriptor>> operations;  // of a graph

  template <class T>
  std::vector<T> list(DnnAttribute a) const {
    const auto it = attributes.find(a);
    std::vector<T> out(it == attributes.end() ? 0 : it->second.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), it->second.data(), out.size() * sizeof(T));
    return out;
  }
  template <class T>
  T one(DnnAttribute a) const {
    const std::vector<T> all = list<T>(a);
    return all.empty() ? T() : all[0];
  }
  const Descriptor& part(DnnAttribute a) const { return *parts.at(a); }
};

size_t size_of(DnnValue type) {
  switch (type) {
    case DnnValue::kDataType:
    case DnnValue::kFloat:
    case DnnValue::kConvolutionMode:
    case DnnValue::kHeuristicMode:
    case DnnValue::kPointwiseMode:
    case DnnValue::kReductionMode:
    case DnnValue::kNote: return 4;
    case DnnValue::kBool:
    case DnnValue::kChar: return 1;
    default: return 8;
  }
}

// Of a tensor: [n, c, three spatial dimensions], and how far apart elements are.
struct Array {
  int64_t size[5], stride[5];
  float* at = nullptr;

  explicit Array(const Descriptor& d) {
    const auto sizes = d.list<int64_t>(DnnAttribute::kTensorSizes), strides = d.list<int64_t>(DnnAttribute::kTensorStrides);
    const size_t missing = 5 - sizes.size();
    for (size_t i = 0; i < 5; ++i) {
      const bool made_up = i >= 2 && i < 2 + missing;
      size[i] = made_up ? 1 : sizes[i < 2 ? i : i - missing];
      stride[i] = made_up ? 0 : strides[i < 2 ? i : i - missing];
    }
  }
  float& operator()(const int64_t (&i)[5]) const {
    return at[i[0] * stride[0] + i[1] * stride[1] + i[2] * stride[2] + i[3] * stride[3] + i[4] * stride[4]];
  }
  void clear() const {
    each([&](const int64_t(&i)[5]) { (*this)(i) = 0; });
  }
  template <class F>
  void each(F f) const {
    int64_t i[5];
    for (i[0] = 0; i[0] < size[0]; ++i[0])
      for (i[1] = 0; i[1] < size[1]; ++i[1])
        for (i[2] = 0; i[2] < size[2]; ++i[2])
          for (i[3] = 0; i[3] < size[3]; ++i[3])
            for (i[4] = 0; i[4] < size[4]; ++i[4]) f(i);
  }
};

struct Names {
  DnnAttribute window, input, filter, output;
};
Names names_of(DnnKind kind) {
  using A = DnnAttribute;
  if (kind == DnnKind::kForward) return {A::kForwardConvolution, A::kForwardInput, A::kForwardFilter, A::kForwardOutput};
  if (kind == DnnKind::kInputGradient) return {A::kInputGradientConvolution, A::kInputGradientResult, A::kInputGradientFilter, A::kInputGradientOf};
  return {A::kFilterGradientConvolution, A::kFilterGradientInput, A::kFilterGradientResult, A::kFilterGradientOf};
}

std::vector<int64_t> three(const Descriptor& window, DnnAttribute a, int64_t otherwise) {
  std::vector<int64_t> v = window.list<int64_t>(a);
  v.insert(v.begin(), 3 - v.size(), otherwise);
  return v;
}

void compute(const Descriptor& op, const std::map<int64_t, float*>& places) {
  const Names names = names_of(op.kind);
  const Descriptor& w = op.part(names.window);
  const auto array = [&](DnnAttribute a) {
    Array out(op.part(a));
    out.at = places.at(op.part(a).one<int64_t>(DnnAttribute::kTensorNumber));
    return out;
  };
  const Array x = array(names.input), f = array(names.filter), y = array(names.output);
  const auto stride = three(w, DnnAttribute::kConvolutionStrides, 1), dilation = three(w, DnnAttribute::kConvolutionDilations, 1),
             low = three(w, DnnAttribute::kConvolutionLow, 0);
  const int64_t outs = y.size[1] / (x.size[1] / f.size[1]);  // of a group
  (op.kind == DnnKind::kForward ? y : op.kind == DnnKind::kInputGradient ? x : f).clear();
  y.each([&](const int64_t(&o)[5]) {
    for (int64_t c = 0; c < f.size[1]; ++c) {
      int64_t k[3];
      for (k[0] = 0; k[0] < f.size[2]; ++k[0])
        for (k[1] = 0; k[1] < f.size[3]; ++k[1])
          for (k[2] = 0; k[2] < f.size[4]; ++k[2]) {
            int64_t in[5] = {o[0], o[1] / outs * f.size[1] + c, 0, 0, 0};
            bool inside = true;
            for (size_t d = 0; d < 3; ++d) {
              in[d + 2] = o[d + 2] * stride[d] + k[d] * dilation[d] - low[d];
              inside = inside && in[d + 2] >= 0 && in[d + 2] < x.size[d + 2];
            }
            if (!inside) continue;
            const int64_t at[5] = {o[1], c, k[0], k[1], k[2]};
            if (op.kind == DnnKind::kForward) y(o) += x(in) * f(at);
            else if (op.kind == DnnKind::kInputGradient) x(in) += y(o) * f(at);
            else f(at) += y(o) * x(in);
          }
    }
  });
}

// ---- graphs of operations on tensors of four dimensions

struct Value {
  std::vector<int64_t> size, stride;
  std::vector<float> data;  // in order

  size_t place(const int64_t (&i)[4]) const {  // dimensions of size 1 are repeated
    size_t at = 0;
    for (size_t d = 0; d < 4; ++d) at = at * size_t(size[d]) + size_t(size[d] == 1 ? 0 : i[d]);
    return at;
  }
  float operator()(const int64_t (&i)[4]) const { return data[place(i)]; }
  template <class F>
  void each(F f) const {
    int64_t i[4];
    for (i[0] = 0; i[0] < size[0]; ++i[0])
      for (i[1] = 0; i[1] < size[1]; ++i[1])
        for (i[2] = 0; i[2] < size[2]; ++i[2])
          for (i[3] = 0; i[3] < size[3]; ++i[3]) f(i);
  }
  int64_t position(const int64_t (&i)[4]) const { return i[0] * stride[0] + i[1] * stride[1] + i[2] * stride[2] + i[3] * stride[3]; }
};

float rounded(float x, DnnType type) {
  if (type != DnnType::kBfloat16 || std::isnan(x)) return x;
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u);
}

class Interpreter {
 public:
  explicit Interpreter(const std::map<int64_t, float*>& places) : places_(places) {}

  void run(const Descriptor& op) {
    using A = DnnAttribute;
    switch (op.kind) {
      case DnnKind::kProductOperation: {
        const Value a = read(op.part(A::kProductA)), b = read(op.part(A::kProductB));
        write(op.part(A::kProductC), [&](const int64_t(&i)[4]) {
          double sum = 0;
          for (int64_t k = 0; k < a.size[3]; ++k) sum += double(a({i[0], i[1], i[2], k})) * double(b({i[0], i[1], k, i[3]}));
          return float(sum);
        });
        return;
      }
      case DnnKind::kPointwiseOperation: return pointwise(op);
      case DnnKind::kReductionOperation: {
        const Value x = read(op.part(A::kReductionX));
        const bool most = op.part(A::kReductionOf).one<DnnReduction>(A::kReductionMode) == DnnReduction::kMax;
        write(op.part(A::kReductionY), [&](const int64_t(&i)[4]) {
          double sum = most ? -HUGE_VAL : 0;
          for (int64_t k = 0; k < x.size[3]; ++k) {
            const double v = double(x({i[0], i[1], i[2], k}));
            sum = most ? std::max(sum, v) : sum + v;
          }
          return float(sum);
        });
        return;
      }
      case DnnKind::kReshapeOperation: {
        // The same places in memory, counted otherwise.
        const Value x = read(op.part(A::kReshapeX));
        std::map<int64_t, float> at;
        x.each([&](const int64_t(&i)[4]) { at[x.position(i)] = x(i); });
        const Value y = shape_of(op.part(A::kReshapeY));
        write(op.part(A::kReshapeY), [&](const int64_t(&i)[4]) { return at.at(y.position(i)); });
        return;
      }
      default: return;
    }
  }

 private:
  static Value shape_of(const Descriptor& t) {
    return {t.list<int64_t>(DnnAttribute::kTensorSizes), t.list<int64_t>(DnnAttribute::kTensorStrides), {}};
  }
  Value read(const Descriptor& t) {
    const int64_t number = t.one<int64_t>(DnnAttribute::kTensorNumber);
    if (t.one<char>(DnnAttribute::kTensorVirtual)) return values_.at(number);
    Value v = shape_of(t);
    const DnnType type = t.one<DnnType>(DnnAttribute::kTensorType);
    const float* from = places_.at(number);
    v.each([&](const int64_t(&i)[4]) {
      const int64_t at = v.position(i);
      v.data.push_back(type == DnnType::kBfloat16 ? std::bit_cast<float>(uint32_t(reinterpret_cast<const uint16_t*>(from)[at]) << 16) : from[at]);
    });
    return v;
  }
  template <class F>
  void write(const Descriptor& t, F f) {
    Value v = shape_of(t);
    const DnnType type = t.one<DnnType>(DnnAttribute::kTensorType);
    v.each([&](const int64_t(&i)[4]) { v.data.push_back(rounded(f(i), type)); });
    const int64_t number = t.one<int64_t>(DnnAttribute::kTensorNumber);
    if (!t.one<char>(DnnAttribute::kTensorVirtual)) {
      float* to = places_.at(number);
      v.each([&](const int64_t(&i)[4]) {
        if (type == DnnType::kBfloat16) reinterpret_cast<uint16_t*>(to)[v.position(i)] = uint16_t(std::bit_cast<uint32_t>(v(i)) >> 16);
        else to[v.position(i)] = v(i);
      });
    }
    values_[number] = std::move(v);
  }

  void pointwise(const Descriptor& op) {
    using A = DnnAttribute;
    const Descriptor& kind = op.part(A::kPointwiseOf);
    const auto mode = kind.one<DnnPointwise>(A::kPointwiseMode);
    const auto axis = kind.one<int64_t>(A::kPointwiseAxis);
    const Value x = read(op.part(A::kPointwiseX));
    const Value b = op.parts.contains(A::kPointwiseB) ? read(op.part(A::kPointwiseB)) : x;
    const Value t = op.parts.contains(A::kPointwiseT) ? read(op.part(A::kPointwiseT)) : x;
    write(op.part(A::kPointwiseY), [&](const int64_t(&i)[4]) -> float {
      switch (mode) {
        case DnnPointwise::kAdd: return x(i) + b(i);
        case DnnPointwise::kMul: return x(i) * b(i);
        case DnnPointwise::kDiv: return x(i) / b(i);
        case DnnPointwise::kSub: return x(i) - b(i);
        case DnnPointwise::kExp: return std::exp(x(i));
        case DnnPointwise::kLog: return std::log(x(i));
        case DnnPointwise::kIdentity: return x(i);
        case DnnPointwise::kGreaterEqual: return x(i) >= b(i) ? 1 : 0;
        case DnnPointwise::kIndex: return float(i[axis]);
        case DnnPointwise::kSelect: return t(i) != 0 ? x(i) : b(i);
      }
      return 0;
    });
  }

  const std::map<int64_t, float*>& places_;
  std::map<int64_t, Value> values_;
};

bool is_convolution(DnnKind kind) { return kind == DnnKind::kForward || kind == DnnKind::kInputGradient || kind == DnnKind::kFilterGradient; }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

struct Handle {
  void* stream = nullptr;
};

EXPORT size_t cudnnGetVersion() { return 91400; }
EXPORT int cudnnCreate(void** handle) {
  *handle = new Handle();
  return 0;
}
EXPORT int cudnnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return 0;
}
EXPORT int cudnnBackendCreateDescriptor(DnnKind kind, void** descriptor) {
  *descriptor = new Descriptor{kind, {}, {}, {}};
  return 0;
}
EXPORT int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return 0;
}
EXPORT int cudnnBackendFinalize(void* descriptor) {
  const auto& d = *static_cast<Descriptor*>(descriptor);
  if (is_convolution(d.kind)) {
    const bool floats = d.part(names_of(d.kind).input).one<DnnType>(DnnAttribute::kTensorType) == DnnType::kFloat;
    return floats ? 0 : kNotSupported;
  }
  if (d.kind == DnnKind::kTensor) {
    const auto type = d.one<DnnType>(DnnAttribute::kTensorType);
    return type == DnnType::kHalf || type == DnnType::kDouble ? kNotSupported : 0;
  }
  if (d.kind != DnnKind::kConvolution) return 0;
  return d.list<int64_t>(DnnAttribute::kConvolutionLow) == d.list<int64_t>(DnnAttribute::kConvolutionHigh) ? 0 : kNotSupported;
}
EXPORT int cudnnBackendSetAttribute(void* descriptor, DnnAttribute attribute, DnnValue type, int64_t count, const void* values) {
  auto& d = *static_cast<Descriptor*>(descriptor);
  if (attribute == DnnAttribute::kGraphOperations) {
    for (int64_t i = 0; i < count; ++i) d.operations.push_back(std::make_shared<const Descriptor>(*static_cast<Descriptor* const*>(values)[i]));
  } else if (type == DnnValue::kDescriptor) d.parts[attribute] = std::make_shared<const Descriptor>(**static_cast<Descriptor* const*>(values));
  else d.attributes[attribute].assign(static_cast<const char*>(values), size_t(count) * size_of(type));
  return 0;
}
EXPORT int cudnnBackendGetAttribute(void* descriptor, DnnAttribute attribute, DnnValue, int64_t most, int64_t* count, void* values) {
  const auto& d = *static_cast<Descriptor*>(descriptor);
  switch (attribute) {
    case DnnAttribute::kHeuristicResults: {
      *count = 1;
      if (!most) return 0;
      auto* config = static_cast<Descriptor**>(values)[0];
      config->parts[DnnAttribute::kHeuristicGraph] = d.parts.at(DnnAttribute::kHeuristicGraph);
      return 0;
    }
    case DnnAttribute::kConfigEngine: *count = 1; return 0;
    case DnnAttribute::kEngineNotes: *count = 0; return 0;
    case DnnAttribute::kPlanWorkspace: {
      *count = 1;
      *static_cast<int64_t*>(values) = kWorkspace;
      return 0;
    }
    default: return kBadParam;
  }
}
EXPORT const char* cudnnGetErrorString(int error) { return error == kNotSupported ? "not supported" : error ? "bad parameter" : "success"; }
EXPORT int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  if (weft_stand_in::counted("cudnnBackendExecute")) return kBadParam;
  const auto& p = *static_cast<Descriptor*>(pack);
  const auto numbers = p.list<int64_t>(DnnAttribute::kPackNumbers);
  const auto pointers = p.list<float*>(DnnAttribute::kPackPointers);
  std::map<int64_t, float*> places;
  for (size_t i = 0; i < numbers.size(); ++i) places[numbers[i]] = pointers[i];
  auto* const workspace = p.one<char*>(DnnAttribute::kPackWorkspace);
  const auto graph = static_cast<Descriptor*>(plan)->part(DnnAttribute::kPlanConfig).parts.at(DnnAttribute::kHeuristicGraph);
  return weft_stand_in::queue(static_cast<Handle*>(handle)->stream, [graph, places, workspace] {
    std::memset(workspace, 0x7f, size_t(kWorkspace));
    if (is_convolution(graph->operations[0]->kind)) {
      compute(*graph->operations[0], places);
      return 0;
    }
    Interpreter interpreter(places);
    for (const auto& op : graph->operations) interpreter.run(*op);
    return 0;
  });
}
