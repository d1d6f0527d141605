// Kernel: the code of an op for one kind of device, made once per node (attributes read once), run many
// times, from several threads at once. KernelContext: inputs, outputs and surroundings of one run.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/device.h"
#include "core/tensor.h"
#include "core/thread_pool.h"
#include "op/node_info.h"
#include "op/resource_manager.h"

namespace weft_engine::op {

class CancellationManager;
class FunctionCaller;
class RefVariable;
class Rendezvous;
class StepTrace;

// What a kernel may use beside its inputs. Owned by whoever runs kernels; outlives the run.
struct KernelEnv {
  Device* device = nullptr;
  ThreadPool* pool = nullptr;
  ResourceManager* resources = nullptr;       // shared by all steps
  ResourceManager* step_resources = nullptr;  // TensorArrays, stacks: gone when the step (function call, session run) ends
  int64_t step_id = 0;
  // What follows is there only inside functions and sessions; null otherwise (functions: where the program has any).
  FunctionCaller* functions = nullptr;
  CancellationManager* cancellation = nullptr;
  Rendezvous* rendezvous = nullptr;
  StepTrace* trace = nullptr;  // set when somebody wants to know what ran when
};

class KernelContext {
 public:
  KernelContext(const NodeInfo& node, const KernelEnv& env, std::span<const Tensor* const> inputs, std::span<Tensor> outputs)
      : node_(node), env_(env), inputs_(inputs), outputs_(outputs) {}

  const NodeInfo& node() const { return node_; }
  const KernelEnv& env() const { return env_; }
  ThreadPool& pool() const { return *env_.pool; }
  Device& device() const { return *env_.device; }
  ResourceManager& resources() const { return *env_.resources; }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  int num_inputs() const { return int(inputs_.size()); }
  const Tensor& input(int i) const { return *inputs_[size_t(i)]; }
  // The one tensor, or the list, of the named argument.
  const Tensor& input(std::string_view name) const { return input(node_.input_range(name).begin); }
  std::span<const Tensor* const> input_list(std::string_view name) const {
    auto r = node_.input_range(name);
    return inputs_.subspan(size_t(r.begin), size_t(r.size()));
  }

  int num_outputs() const { return int(outputs_.size()); }
  DType output_type(int i) const { return base_type(node_.output_types()[size_t(i)]); }
  NodeInfo::Range output_range(std::string_view name) const { return node_.output_range(name); }
  // Memory for output i, of the type that the signature says, not initialised.
  Result<Tensor*> allocate(int i, const Shape& shape) {
    auto t = env_.device->allocate(output_type(i), shape);
    if (!t.ok()) [[unlikely]]
      return t.status();
    outputs_[size_t(i)] = std::move(t).value();
    return &outputs_[size_t(i)];
  }
  // As allocate, but takes over the memory of input j when the caller gives it away and it fits.
  Result<Tensor*> allocate_or_reuse(int i, const Shape& shape, int j) {
    if (reuse(i, shape, j)) return &outputs_[size_t(i)];
    return allocate(i, shape);
  }
  // Of the first input in j, k that fits.
  Result<Tensor*> allocate_or_reuse(int i, const Shape& shape, int j, int k) {
    if (donated_ && (reuse(i, shape, j) || reuse(i, shape, k))) return &outputs_[size_t(i)];
    return allocate(i, shape);
  }
  void set_output(int i, Tensor t) { outputs_[size_t(i)] = std::move(t); }
  Tensor& output(int i) { return outputs_[size_t(i)]; }
  // Scratch memory.
  Result<Tensor> temp(DType dtype, const Shape& shape) { return env_.device->allocate(dtype, shape); }

  // The object behind a resource input.
  template <class T>
  Result<std::shared_ptr<T>> resource(int i) const {
    const Tensor& t = input(i);
    if (t.dtype() != DType::kResource || t.num_elements() < 1) return invalid_argument("input ", i, " of ", node_.op(), " must be a resource handle");
    return env_.resources->get<T>(t.data<ResourceHandle>()[0]);
  }

  // Ref-typed inputs and outputs; only graphs have them.
  void set_refs(std::span<RefVariable* const> inputs, std::span<RefVariable*> outputs) {
    input_refs_ = inputs;
    output_refs_ = outputs;
  }
  RefVariable* input_ref(int i) const { return size_t(i) < input_refs_.size() ? input_refs_[size_t(i)] : nullptr; }
  void set_output_ref(int i, RefVariable* ref) {
    if (size_t(i) < output_refs_.size()) output_refs_[size_t(i)] = ref;
  }
  // Bit j set: nobody needs input j after this run.
  void donate_inputs(uint64_t mask) { donated_ = mask; }
  // For kernels that hand an input on: may they change its memory in place?
  bool input_donated(int j) const { return j < 64 && (donated_ >> j & 1); }
  // Bit j set: input j is the same tensor in every run of this kernel object, so that what is made of it
  // (packed weights) may be kept.
  void constant_inputs(uint64_t mask) { constant_ = mask; }
  bool input_is_constant(int j) const { return j < 64 && (constant_ >> j & 1); }

 private:
  bool reuse(int i, const Shape& shape, int j) {
    if (!input_donated(j)) return false;
    const Tensor& in = input(j);
    if (!in.unique() || in.shape() != shape || dtype_size(in.dtype()) != dtype_size(output_type(i)) || !is_simple(in.dtype())) return false;
    // Who gives an input away owns it; what the kernel reads of it meanwhile stays in place.
    outputs_[size_t(i)].take_memory(const_cast<Tensor&>(in), output_type(i));
    return true;
  }

  const NodeInfo& node_;
  const KernelEnv& env_;
  std::span<const Tensor* const> inputs_;
  std::span<Tensor> outputs_;
  std::span<RefVariable* const> input_refs_;
  std::span<RefVariable*> output_refs_;
  uint64_t donated_ = 0, constant_ = 0;
};

class Kernel {
 public:
  using Done = std::function<void(Status)>;
  virtual ~Kernel() = default;
  virtual Status run(KernelContext& c) = 0;
  // A kernel that waits (a queue, a message) is asynchronous: it returns at once and calls done later.
  virtual bool is_async() const { return false; }
  virtual void run_async(KernelContext& c, Done done) { done(run(c)); }
};

// A kernel that is one function, reading attributes as it runs. Fine where the work outweighs a few
// look-ups; hot ops use a struct with make() and run().
using KernelFunction = Status (*)(KernelContext&);

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(KernelFunction f) : f_(f) {}
  Status run(KernelContext& c) override { return f_(c); }

 private:
  KernelFunction f_;
};

// Wraps a struct K with `static Result<K> make(const NodeInfo&)` and `Status run(KernelContext&)`.
template <class K>
class StructKernel final : public Kernel {
 public:
  explicit StructKernel(K k) : k_(std::move(k)) {}
  Status run(KernelContext& c) override { return k_.run(c); }
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo& node) {
    auto k = K::make(node);
    if (!k.ok()) return k.status();
    return std::unique_ptr<Kernel>(new StructKernel(std::move(k).value()));
  }

 private:
  K k_;
};

}  // namespace weft_engine::op
