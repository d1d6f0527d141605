// Registry: every op that the engine knows. Families fill it when the engine starts (ops/all.cc); a
// library loaded later, or the user, may add ops and kernels, from any thread. Nothing is ever removed,
// so a spec that was found stays valid.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "op/dispatch.h"
#include "op/kernel.h"
#include "op/op_spec.h"
#include "op/op_traits.h"
#include "op/shape_context.h"

namespace weft_engine::op {

// Fills one OpSpec; texts must be literals (or interned by the registry).
// Registering is some twenty thousand calls of these, once: what is more than a store is not inline, and literals go as they are.
class OpBuilder {
 public:
  using MakeKernel = Result<std::unique_ptr<Kernel>> (*)(const NodeInfo&);
  using TypeConstraints = std::initializer_list<TypeConstraint>;
  explicit OpBuilder(OpSpec& spec) : spec_(spec) {}
  OpBuilder& in(const char* s);
  OpBuilder& in(std::string_view s);
  OpBuilder& out(const char* s);
  OpBuilder& out(std::string_view s);
  OpBuilder& attr(const char* s);
  OpBuilder& attr(std::string_view s);
  // Of the output declared last.
  OpBuilder& full_type(std::string_view s);
  OpBuilder& stateful() {
    spec_.stateful = true;
    return *this;
  }
  OpBuilder& effect_free() {
    spec_.effect_free = true;
    return *this;
  }
  OpBuilder& commutative() {
    spec_.commutative = true;
    return *this;
  }
  OpBuilder& aggregate() {
    spec_.aggregate = true;
    return *this;
  }
  OpBuilder& allows_uninitialized_input() {
    spec_.allows_uninitialized_input = true;
    return *this;
  }
  OpBuilder& distributed_communication() {
    spec_.distributed_communication = true;
    return *this;
  }
  OpBuilder& deprecated(int version, std::string_view why) {
    spec_.deprecated_since = version;
    spec_.deprecation = why;
    return *this;
  }
  OpBuilder& doc(const char* s);
  OpBuilder& doc(std::string_view s);
  OpBuilder& grad(GradRule rule) {
    spec_.grad = rule;
    return *this;
  }
  OpBuilder& no_grad() {
    spec_.no_gradient = true;
    return *this;
  }
  OpBuilder& batch(BatchRule rule) {
    spec_.batch = rule;
    return *this;
  }
  OpBuilder& shape(ShapeRule rule) {
    spec_.shape = rule;
    return *this;
  }
  OpBuilder& traits(const OpTraits& traits) {
    spec_.set_traits(traits);
    return *this;
  }
  OpBuilder& on_gpu(OnGpu how) {
    spec_.on_gpu = how;
    return *this;
  }
  OpBuilder& library(LibraryCall call) {
    spec_.library = call;
    return *this;
  }

  // Kernels, in order of preference. Constraints limit the types; without any, all that the signature allows.
  template <class... Constraints>
  [[gnu::always_inline]] OpBuilder& cpu(KernelFunction f, const Constraints&... constraints) {
    return function_kernel(f, {constraints...});
  }
  // A struct kernel: cpu<Conv2D>(types<float>("T")).
  template <class K, class... Constraints>
  [[gnu::always_inline]] OpBuilder& cpu(const Constraints&... constraints) {
    return made_kernel(&StructKernel<K>::create, {constraints...});
  }
  // A kernel class derived from Kernel, made by a function; also for asynchronous ones.
  template <class... Constraints>
  [[gnu::always_inline]] OpBuilder& cpu_make(MakeKernel make, const Constraints&... constraints) {
    return made_kernel(make, {constraints...});
  }
  OpBuilder& kernel(const char* device, KernelFactory make, TypeConstraints constraints);
  OpBuilder& kernel(const char* device, KernelFactory make, std::vector<TypeConstraint> constraints);

 private:
  OpBuilder& function_kernel(KernelFunction f, TypeConstraints constraints);
  OpBuilder& made_kernel(MakeKernel make, TypeConstraints constraints);
  OpSpec& spec_;
};

class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;

  // For families at start-up.
  OpBuilder add(const char* name);
  OpBuilder add(std::string_view name);
  // The lowering of an op that was added before. Rules stand in <family>_lower.cc beside the family: kernels take long to compile.
  void lower(const char* name, LowerRule rule);
  void lower(std::string_view name, LowerRule rule);
  // The batching rule of an op that was added before, in <family>_batch.cc.
  void batch(std::string_view name, BatchRule rule);
  // The traits of an op that was added before, for what stands in a file of its own.
  void set_traits(std::string_view name, const OpTraits& traits);
  // A pattern of nodes that becomes this op, which was added before; in <family>_fuse.cc. At start-up only.
  void fuse(std::string_view into, FuseStage stage, FuseRule rule);
  struct Fusion {
    const OpSpec* into;
    FuseStage stage;
    FuseRule rule;
  };
  std::span<const Fusion> fusions() const { return fusions_; }  // in the order in which they run
  // For libraries and users: a finished spec, whose texts are interned here. AlreadyExists if the name is taken.
  Status add_dynamic(std::unique_ptr<OpSpec> spec);
  Status add_kernel(std::string_view op, KernelDef kernel);
  // A copy of the text that lives as long as the registry.
  std::string_view intern(std::string text);

  const OpSpec* find(std::string_view name) const;
  // NotFound with TensorFlow's text.
  Result<const OpSpec*> get(std::string_view name) const;
  std::vector<const OpSpec*> all() const;  // by name
  // A snapshot: kernels may be added while others look.
  std::vector<KernelDef> kernels(const OpSpec& spec) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<OpSpec>> ops_;
  std::deque<std::string> texts_;
  std::vector<Fusion> fusions_;
};

// The kernel of a node for a kind of device: the first that fits.
Result<std::unique_ptr<Kernel>> make_kernel(const Registry& registry, const NodeInfo& node, std::string_view device_type);

}  // namespace weft_engine::op
