// FunctionLibraryRuntime: turns functions of a library into plans, once, and runs them. One for each
// eager context and each session; it implements the seam FunctionCaller.
//
//   instantiate: body -> passes -> place -> (partition) -> Executable
//   run:         the plan for these shapes of arguments if there is one, else the general plan
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device.h"
#include "graph/function_library.h"
#include "graph/passes/passes.h"
#include "op/resource_manager.h"
#include "runtime/executable.h"
#include "runtime/kernel_cache.h"

namespace weft_engine::runtime {

struct RuntimeOptions {
  const Registry* registry = nullptr;
  const DeviceSet* devices = nullptr;
  ThreadPool* pool = nullptr;   // inside ops
  ThreadPool* inter = nullptr;  // between ops
  ResourceManager* resources = nullptr;
  std::atomic<bool>* soft_placement = nullptr;        // null: on
  std::atomic<bool>* log_device_placement = nullptr;  // null: off
  std::vector<std::string> disabled_passes;
  bool auto_compile = false;  // functions and sessions' runs become machine code where they can
  Rendezvous* rendezvous = nullptr;  // of all steps that have none of their own
};

// Which passes a ConfigProto (a call's attribute config_proto) turns off. io/ knows the format; the engine says so once, at its start.
using ConfigReader = Result<std::vector<std::string>> (*)(std::string_view);
void set_config_reader(ConfigReader reader);
// Makes of a function that of its gradients, for SymbolicGradient. Set by engine/, which knows autodiff/.
using GradientMaker = Result<FunctionAttr> (*)(const Registry& registry, const std::shared_ptr<graph::FunctionLibrary>& library,
                                               const FunctionAttr& function);
void set_gradient_maker(GradientMaker maker);

// What instantiate makes.
class Instance final : public FunctionHandle {
 public:
  Instance(class FunctionLibraryRuntime& runtime, graph::FunctionBody body, InstantiateOptions options,
           std::shared_ptr<KernelCache> kernels = nullptr, std::vector<std::string> disabled_passes = {});
  const std::vector<DType>& arg_types() const override { return body_.arg_types; }
  const std::vector<DType>& ret_types() const override { return body_.ret_types; }
  // Results are in host memory, where the kernels of another function read them.
  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override;
  // The same for an eager call: results stay where they were computed.
  Status run_in_place(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets);
  void run_async(const KernelEnv& env, std::vector<Tensor> args, Done done) override;
  Status loop(const KernelEnv& env, FunctionHandle& cond, std::span<Tensor> vars) override;

  const std::string& name() const { return body_.name; }
  // The general plan; made at the first call, or here.
  Result<Executable*> plan();
  // The body after passes and placement, for people and tools.
  Result<graph::FunctionBody> optimized(const std::vector<PartialShape>& arg_shapes,
                                        const std::function<Status(graph::FunctionBody&)>& change = nullptr) const;

 private:
  struct Specialization {
    std::vector<Shape> shapes;
    std::unique_ptr<Executable> plan;
  };
  using Specializations = std::vector<std::shared_ptr<const Specialization>>;
  Result<Executable*> choose(std::span<const Tensor> args);
  Result<std::unique_ptr<Executable>> make_plan(const std::vector<PartialShape>& arg_shapes) const;
  bool matches(const Specialization& s, std::span<const Tensor> args) const;
  const Specialization* specialize(std::span<const Tensor> args);
  // The plan made for these shapes; null if there is none (yet).
  const Specialization* find_specialization(std::span<const Tensor> args);

  FunctionLibraryRuntime& runtime_;
  const graph::FunctionBody body_;
  const InstantiateOptions options_;
  const std::vector<std::string> disabled_passes_;
  std::shared_ptr<KernelCache> kernels_;
  std::mutex mutex_;
  std::atomic<Executable*> general_{nullptr};
  std::unique_ptr<Executable> general_owner_;
  Status error_;
  std::atomic<const Specialization*> recent_{nullptr};
  std::atomic<std::shared_ptr<const Specializations>> specializations_;
  std::vector<Shape> missed_;  // the shapes that last had no plan of their own
  std::atomic<bool> specializable_{true};
};

class FunctionLibraryRuntime final : public FunctionCaller {
 public:
  FunctionLibraryRuntime(RuntimeOptions options, std::shared_ptr<graph::FunctionLibrary> library);
  ~FunctionLibraryRuntime() override;

  // The handle holds the function's owner, if it has one: with it, the functions that it calls stay in the library.
  Result<std::shared_ptr<FunctionHandle>> instantiate(const FunctionAttr& function, const InstantiateOptions& options = {}) override;
  // The same without the owner, for caches that forget the function when it leaves the library.
  Result<std::shared_ptr<Instance>> instance(const FunctionAttr& function, const InstantiateOptions& options = {});
  // These functions left the library. Plans that nobody holds go; those of functions without an owner may still be called by
  // plans of others, so that the last ones are kept.
  void forget(std::span<const std::string> names, bool owned);
  // A body that is not in the library (a session's graph with its feeds and fetches).
  std::shared_ptr<Instance> instantiate(graph::FunctionBody body, std::shared_ptr<KernelCache> kernels = nullptr, bool must_compile = false);

  const std::shared_ptr<graph::FunctionLibrary>& library() const { return library_; }
  const RuntimeOptions& options() const { return options_; }
  // How functions that are instantiated from here on are optimised; at first as the options say.
  void set_optimizer(std::vector<std::string> disabled_passes, bool auto_compile);
  bool auto_compile() const { return auto_compile_.load(std::memory_order_relaxed); }
  Device* default_device(const InstantiateOptions& o) const;
  KernelEnv env() const;
  // The surroundings of a step that starts here (an eager call, a session's run).
  KernelEnv step_env() {
    KernelEnv e = env();
    e.step_id = steps_.fetch_add(1, std::memory_order_relaxed) + 1;
    return e;
  }
  // After a step that failed: what it left behind goes.
  void step_failed(int64_t step_id);

 private:
  const RuntimeOptions options_;
  std::shared_ptr<graph::FunctionLibrary> library_;
  std::atomic<int64_t> steps_{0};
  std::atomic<bool> auto_compile_;
  std::shared_mutex mutex_;
  std::vector<std::string> disabled_passes_;
  int settings_ = 0;  // how often they changed: functions are instantiated anew
  struct Cached {
    std::shared_ptr<const graph::FunctionDef> def;
    std::shared_ptr<Instance> instance;
  };
  std::unordered_map<std::string, std::unordered_map<std::string, Cached>> instances_;  // by name, then by attributes and options
  std::deque<std::shared_ptr<Instance>> dropped_;
  void drop(std::shared_ptr<Instance> instance, std::vector<std::shared_ptr<Instance>>& dead);
};

}  // namespace weft_engine::runtime
