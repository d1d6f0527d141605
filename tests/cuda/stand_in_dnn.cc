// A stand-in for cuDNN over the stand-in for the driver (stand_in.cc, the same library): convolutions of floats and their gradients by plain loops. Its one engine wants as much
// padding behind as in front, and overwrites its workspace.
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
using weft_engine::cuda::DnnValue;

constexpr int kBadParam = 2000, kNotSupported = 3000;
constexpr int64_t kWorkspace = 1000;

struct Descriptor {
  DnnKind kind;
  std::map<DnnAttribute, std::string> attributes;
  std::map<DnnAttribute, std::shared_ptr<const Descriptor>> parts;  // as they were when they were put in

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
    case DnnValue::kNote: return 4;
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

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

struct Handle {
  void* stream = nullptr;
};

EXPORT int cudnnCreate(void** handle) {
  *handle = new Handle();
  return 0;
}
EXPORT int cudnnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return 0;
}
EXPORT int cudnnBackendCreateDescriptor(DnnKind kind, void** descriptor) {
  *descriptor = new Descriptor{kind, {}, {}};
  return 0;
}
EXPORT int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return 0;
}
EXPORT int cudnnBackendFinalize(void* descriptor) {
  const auto& d = *static_cast<Descriptor*>(descriptor);
  if (d.kind == DnnKind::kTensor)
    return d.one<weft_engine::cuda::DnnType>(DnnAttribute::kTensorType) == weft_engine::cuda::DnnType::kFloat ? 0 : kNotSupported;
  if (d.kind != DnnKind::kConvolution) return 0;
  return d.list<int64_t>(DnnAttribute::kConvolutionLow) == d.list<int64_t>(DnnAttribute::kConvolutionHigh) ? 0 : kNotSupported;
}
EXPORT int cudnnBackendSetAttribute(void* descriptor, DnnAttribute attribute, DnnValue type, int64_t count, const void* values) {
  auto& d = *static_cast<Descriptor*>(descriptor);
  if (type == DnnValue::kDescriptor) d.parts[attribute] = std::make_shared<const Descriptor>(**static_cast<Descriptor* const*>(values));
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
    compute(graph->part(DnnAttribute::kGraphOperations), places);
    return 0;
  });
}
