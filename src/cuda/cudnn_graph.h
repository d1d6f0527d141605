// Graphs of cuDNN: descriptors, tensors and operations of a graph, what cuDNN proposes for it, and plans that run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "cuda/cudnn.h"
#include "cuda/gpu.h"

namespace weft_engine::cuda {

#define WEFT_CUDNN_RETURN(dnn, call, what)                                          \
  do {                                                                              \
    if (const int weft_error_ = (dnn).call) return (dnn).status(weft_error_, what); \
  } while (0)

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(Descriptor&& other) noexcept : dnn_(other.dnn_), handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(dnn_, other.dnn_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Descriptor() {
    if (handle_) dnn_->destroy_descriptor(handle_);
  }
  static core::Result<Descriptor> make(const Cudnn& dnn, DnnKind kind);
  void* handle() const { return handle_; }

  core::Status set(DnnAttribute attribute, DnnValue type, int64_t count, const void* values);
  core::Status set(DnnAttribute attribute, const std::vector<int64_t>& values) {
    return set(attribute, DnnValue::kInt64, int64_t(values.size()), values.data());
  }
  core::Status set(DnnAttribute attribute, int64_t value) { return set(attribute, DnnValue::kInt64, 1, &value); }
  core::Status set(DnnAttribute attribute, DnnType value) { return set(attribute, DnnValue::kDataType, 1, &value); }
  core::Status set(DnnAttribute attribute, const Descriptor& value) { return set(attribute, DnnValue::kDescriptor, 1, &value.handle_); }
  core::Status finish();

 private:
  const Cudnn* dnn_ = nullptr;
  void* handle_ = nullptr;
};

// What a graph is made for: the GPU of a handle, or one of which only the properties are there (tests).
struct DnnTarget {
  void* handle = nullptr;
  const Descriptor* properties = nullptr;
};

std::optional<DnnType> dnn_type_of(core::DType dtype);

// A graph that is being made. Errors stay until graph() is asked for. Tensors are known by their numbers.
class DnnGraph {
 public:
  explicit DnnGraph(const Cudnn& dnn) : dnn_(dnn) {}
  enum class Storage : uint8_t { kMemory, kVirtual, kByValue };
  struct Tensor {
    DnnType type = DnnType::kFloat;
    std::vector<int64_t> sizes, strides;
    Storage storage = Storage::kVirtual;
  };
  static constexpr int64_t kAlignment = 16;

  int64_t tensor(Tensor t);  // gives its number
  const Tensor& of(int64_t number) const { return tensors_[size_t(number - 1)].first; }
  void product(int64_t a, int64_t b, int64_t to);
  void pointwise(DnnPointwise mode, std::vector<int64_t> operands, int64_t to, DnnType compute = DnnType::kFloat, int64_t axis = -1);
  void reduce(DnnReduction mode, int64_t from, int64_t to);
  void reshape(int64_t from, int64_t to);
  core::Result<Descriptor> graph(const DnnTarget& target);

 private:
  void note(const core::Status& s) {
    if (status_.ok()) status_ = s;
  }
  Descriptor& operation(DnnKind kind);
  void put(Descriptor& d, DnnAttribute attribute, int64_t tensor) { note(d.set(attribute, tensors_[size_t(tensor - 1)].second)); }

  const Cudnn& dnn_;
  core::Status status_;
  std::vector<std::pair<Tensor, Descriptor>> tensors_;
  std::vector<Descriptor> operations_, kinds_;
};

struct DnnPlan {
  Descriptor config, plan;
  int64_t workspace = 0;
};

// Of one GPU, for as long as the process lives.
struct Dnn {
  void* handle = nullptr;
  std::mutex mutex;
  // Grows; what was outgrown stays, since recorded graphs use it.
  DevicePtr workspace = 0;
  int64_t workspace_bytes = 0;
};
core::Result<Dnn*> dnn_of(const Cudnn& dnn, Gpu& gpu);
core::Status reserve(Gpu& gpu, Dnn& d, int64_t bytes);

// What cuDNN proposes for a graph, the best first; engines that `allowed` refuses are left out. At most `most`.
core::Status propose(const Cudnn& dnn, const DnnTarget& target, const Descriptor& graph, DnnHeuristic mode,
                     const std::function<core::Result<bool>(const Descriptor& config)>& allowed, size_t most, std::vector<DnnPlan>& out);
// The fastest of the plans by `run`, which gives cuDNN's error; null: none runs.
core::Result<std::unique_ptr<DnnPlan>> fastest(const Cudnn& dnn, Gpu& gpu, const Queue& queue, std::vector<DnnPlan> plans,
                                               const std::function<core::Result<int>(const DnnPlan&)>& run);
int execute(const Cudnn& dnn, void* handle, const DnnPlan& plan, std::span<const int64_t> numbers, std::span<const DevicePtr> pointers,
            DevicePtr workspace);

}  // namespace weft_engine::cuda
