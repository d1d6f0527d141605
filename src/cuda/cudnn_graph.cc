#include "cuda/cudnn_graph.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace weft_engine::cuda {

using core::DType;
using core::Result;
using core::Status;

namespace {

constexpr int64_t kMostWorkspace = int64_t(1) << 30;
constexpr double kMostSeconds = 2;  // of measuring one graph; some engines are compiled first

}  // namespace

Result<Descriptor> Descriptor::make(const Cudnn& dnn, DnnKind kind) {
  Descriptor d;
  d.dnn_ = &dnn;
  WEFT_CUDNN_RETURN(dnn, create_descriptor(kind, &d.handle_), "making a descriptor");
  return d;
}

Status Descriptor::set(DnnAttribute attribute, DnnValue type, int64_t count, const void* values) {
  WEFT_CUDNN_RETURN(*dnn_, set(handle_, attribute, type, count, values), "describing a graph");
  return {};
}

Status Descriptor::finish() {
  WEFT_CUDNN_RETURN(*dnn_, finish(handle_), "describing a graph");
  return {};
}

std::optional<DnnType> dnn_type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat: return DnnType::kFloat;
    case DType::kDouble: return DnnType::kDouble;
    case DType::kHalf: return DnnType::kHalf;
    case DType::kBfloat16: return DnnType::kBfloat16;
    default: return std::nullopt;
  }
}

// ---- graphs

int64_t DnnGraph::tensor(Tensor t) {
  const auto number = int64_t(tensors_.size()) + 1;
  auto made = Descriptor::make(dnn_, DnnKind::kTensor);
  note(made.status());
  tensors_.emplace_back(std::move(t), made.ok() ? std::move(made).value() : Descriptor());
  if (!status_.ok()) return number;
  const Tensor& own = tensors_.back().first;
  Descriptor& d = tensors_.back().second;
  const bool yes = true;
  note(d.set(DnnAttribute::kTensorType, own.type));
  note(d.set(DnnAttribute::kTensorSizes, own.sizes));
  note(d.set(DnnAttribute::kTensorStrides, own.strides));
  note(d.set(DnnAttribute::kTensorNumber, number));
  note(d.set(DnnAttribute::kTensorAlignment, kAlignment));
  if (own.storage == Storage::kVirtual) note(d.set(DnnAttribute::kTensorVirtual, DnnValue::kBool, 1, &yes));
  if (own.storage == Storage::kByValue) note(d.set(DnnAttribute::kTensorByValue, DnnValue::kBool, 1, &yes));
  if (status_.ok()) note(d.finish());
  return number;
}

Descriptor& DnnGraph::operation(DnnKind kind) {
  auto made = Descriptor::make(dnn_, kind);
  note(made.status());
  operations_.push_back(made.ok() ? std::move(made).value() : Descriptor());
  return operations_.back();
}

void DnnGraph::product(int64_t a, int64_t b, int64_t to) {
  auto kind = Descriptor::make(dnn_, DnnKind::kProduct);
  note(kind.status());
  Descriptor& o = operation(DnnKind::kProductOperation);
  if (!status_.ok()) return;
  note(kind->set(DnnAttribute::kProductCompute, DnnType::kFloat));
  note(kind->finish());
  put(o, DnnAttribute::kProductA, a);
  put(o, DnnAttribute::kProductB, b);
  put(o, DnnAttribute::kProductC, to);
  note(o.set(DnnAttribute::kProductOf, *kind));
  if (status_.ok()) note(o.finish());
  kinds_.push_back(std::move(kind).value());
}

void DnnGraph::pointwise(DnnPointwise mode, std::vector<int64_t> operands, int64_t to, DnnType compute, int64_t axis) {
  auto kind = Descriptor::make(dnn_, DnnKind::kPointwise);
  note(kind.status());
  Descriptor& o = operation(DnnKind::kPointwiseOperation);
  if (!status_.ok()) return;
  note(kind->set(DnnAttribute::kPointwiseMode, DnnValue::kPointwiseMode, 1, &mode));
  note(kind->set(DnnAttribute::kPointwiseCompute, compute));
  if (axis >= 0) note(kind->set(DnnAttribute::kPointwiseAxis, axis));
  note(kind->finish());
  note(o.set(DnnAttribute::kPointwiseOf, *kind));
  constexpr DnnAttribute kPlaces[] = {DnnAttribute::kPointwiseX, DnnAttribute::kPointwiseB, DnnAttribute::kPointwiseT};
  for (size_t i = 0; i < operands.size() && i < std::size(kPlaces); ++i) put(o, kPlaces[i], operands[i]);
  put(o, DnnAttribute::kPointwiseY, to);
  if (status_.ok()) note(o.finish());
  kinds_.push_back(std::move(kind).value());
}

void DnnGraph::reduce(DnnReduction mode, int64_t from, int64_t to) {
  auto kind = Descriptor::make(dnn_, DnnKind::kReduction);
  note(kind.status());
  Descriptor& o = operation(DnnKind::kReductionOperation);
  if (!status_.ok()) return;
  note(kind->set(DnnAttribute::kReductionMode, DnnValue::kReductionMode, 1, &mode));
  note(kind->set(DnnAttribute::kReductionCompute, DnnType::kFloat));
  note(kind->finish());
  note(o.set(DnnAttribute::kReductionOf, *kind));
  put(o, DnnAttribute::kReductionX, from);
  put(o, DnnAttribute::kReductionY, to);
  if (status_.ok()) note(o.finish());
  kinds_.push_back(std::move(kind).value());
}

void DnnGraph::reshape(int64_t from, int64_t to) {
  Descriptor& o = operation(DnnKind::kReshapeOperation);
  if (!status_.ok()) return;
  put(o, DnnAttribute::kReshapeX, from);
  put(o, DnnAttribute::kReshapeY, to);
  if (status_.ok()) note(o.finish());
}

Result<Descriptor> DnnGraph::graph(const DnnTarget& target) {
  WEFT_RETURN_IF_ERROR(status_);
  WEFT_ASSIGN(Descriptor g, Descriptor::make(dnn_, DnnKind::kGraph));
  std::vector<void*> all;
  for (const Descriptor& o : operations_) all.push_back(o.handle());
  if (target.handle) WEFT_RETURN_IF_ERROR(g.set(DnnAttribute::kGraphHandle, DnnValue::kHandle, 1, &target.handle));
  WEFT_RETURN_IF_ERROR(g.set(DnnAttribute::kGraphOperations, DnnValue::kDescriptor, int64_t(all.size()), all.data()));
  WEFT_RETURN_IF_ERROR(g.finish());
  return g;
}

// ---- plans

Result<Dnn*> dnn_of(const Cudnn& dnn, Gpu& gpu) {
  static std::mutex mutex;
  static auto* all = new std::map<Gpu*, std::unique_ptr<Dnn>>();
  const std::lock_guard lock(mutex);
  auto& slot = (*all)[&gpu];
  if (slot) return slot.get();
  WEFT_RETURN_IF_ERROR(gpu.use());
  auto made = std::make_unique<Dnn>();
  WEFT_CUDNN_RETURN(dnn, create(&made->handle), "starting");
  slot = std::move(made);
  return slot.get();
}

Status reserve(Gpu& gpu, Dnn& d, int64_t bytes) {
  if (bytes <= d.workspace_bytes) return {};
  const AllocatingFor op("cuDNN");
  const int64_t wanted = std::max(bytes, 2 * d.workspace_bytes);
  WEFT_ASSIGN(d.workspace, gpu.allocate(size_t(wanted)));
  d.workspace_bytes = wanted;
  return {};
}

Status propose(const Cudnn& dnn, const DnnTarget& target, const Descriptor& graph, DnnHeuristic mode,
               const std::function<Result<bool>(const Descriptor& config)>& allowed, size_t most, std::vector<DnnPlan>& out) {
  WEFT_ASSIGN(Descriptor heuristic, Descriptor::make(dnn, DnnKind::kHeuristic));
  WEFT_RETURN_IF_ERROR(heuristic.set(DnnAttribute::kHeuristicGraph, graph));
  WEFT_RETURN_IF_ERROR(heuristic.set(DnnAttribute::kHeuristicMode, DnnValue::kHeuristicMode, 1, &mode));
  if (target.properties) WEFT_RETURN_IF_ERROR(heuristic.set(DnnAttribute::kHeuristicProperties, *target.properties));
  WEFT_RETURN_IF_ERROR(heuristic.finish());
  int64_t count = 0;
  WEFT_CUDNN_RETURN(dnn, get(heuristic.handle(), DnnAttribute::kHeuristicResults, DnnValue::kDescriptor, 0, &count, nullptr), "choosing an engine");
  std::vector<Descriptor> configs;
  std::vector<void*> handles;
  for (int64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(Descriptor c, Descriptor::make(dnn, DnnKind::kEngineConfig));
    handles.push_back(c.handle());
    configs.push_back(std::move(c));
  }
  if (count) {
    WEFT_CUDNN_RETURN(dnn, get(heuristic.handle(), DnnAttribute::kHeuristicResults, DnnValue::kDescriptor, count, &count, handles.data()),
                      "choosing an engine");
  }
  for (size_t i = 0; i < size_t(count) && i < configs.size() && out.size() < most; ++i) {
    if (allowed) {
      auto good = allowed(configs[i]);
      if (!good.ok() || !*good) continue;
    }
    DnnPlan p;
    WEFT_ASSIGN(p.plan, Descriptor::make(dnn, DnnKind::kPlan));
    if (target.handle) WEFT_RETURN_IF_ERROR(p.plan.set(DnnAttribute::kPlanHandle, DnnValue::kHandle, 1, &target.handle));
    if (target.properties) WEFT_RETURN_IF_ERROR(p.plan.set(DnnAttribute::kPlanProperties, *target.properties));
    WEFT_RETURN_IF_ERROR(p.plan.set(DnnAttribute::kPlanConfig, configs[i]));
    if (!p.plan.finish().ok()) continue;  // not for this chip
    int64_t n = 0;
    WEFT_CUDNN_RETURN(dnn, get(p.plan.handle(), DnnAttribute::kPlanWorkspace, DnnValue::kInt64, 1, &n, &p.workspace), "choosing an engine");
    if (p.workspace > kMostWorkspace) continue;
    p.config = std::move(configs[i]);
    out.push_back(std::move(p));
  }
  return {};
}

Result<std::unique_ptr<DnnPlan>> fastest(const Cudnn& dnn, Gpu& gpu, const Queue& queue, std::vector<DnnPlan> plans,
                                         const std::function<Result<int>(const DnnPlan&)>& run) {
  size_t best = plans.size();
  double least = 0;
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (queue.recording) {
      best = 0;
      break;
    }
    if (best < plans.size() && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kMostSeconds) break;
    int error = 0;
    auto us = gpu.time([&]() -> Status {
      WEFT_ASSIGN(error, run(plans[i]));
      return dnn.status(error, "a graph");
    });
    if (!us.ok()) {
      if (!error) return us.status();
      continue;
    }
    if (best == plans.size() || *us < least) least = *us, best = i;
  }
  if (best == plans.size()) return nullptr;
  return std::make_unique<DnnPlan>(std::move(plans[best]));
}

int execute(const Cudnn& dnn, void* handle, const DnnPlan& plan, std::span<const int64_t> numbers, std::span<const DevicePtr> pointers,
            DevicePtr workspace) {
  auto pack = Descriptor::make(dnn, DnnKind::kPack);
  if (!pack.ok()) return 1;
  int error = dnn.set(pack->handle(), DnnAttribute::kPackPointers, DnnValue::kPointer, int64_t(pointers.size()), pointers.data());
  if (!error) error = dnn.set(pack->handle(), DnnAttribute::kPackNumbers, DnnValue::kInt64, int64_t(numbers.size()), numbers.data());
  if (!error) error = dnn.set(pack->handle(), DnnAttribute::kPackWorkspace, DnnValue::kPointer, 1, &workspace);
  if (!error) error = dnn.finish(pack->handle());
  return error ? error : dnn.execute(handle, plan.plan.handle(), pack->handle());
}

}  // namespace weft_engine::cuda
