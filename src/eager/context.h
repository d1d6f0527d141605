// Context: devices, threads, resources and cached kernels of one eager program. Any number of threads
// may execute ops on one context.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/device.h"
#include "eager/executor.h"
#include "eager/remote.h"
#include "graph/function_library.h"
#include "op/registry.h"
#include "runtime/function_runtime.h"
#include "runtime/interruptible.h"

namespace weft_engine::eager {

using namespace weft_engine::core;

// A kernel with the node it was made for, kept for later calls of the same form.
struct CachedKernel {
  op::NodeInfo node;
  std::unique_ptr<op::Kernel> kernel;
  Device* device;
  op::KernelEnv env;
  bool may_call_back;  // its run may execute ops on the same thread: whoever runs it holds it. True for remote ones, too
  RemoteDevice* remote = nullptr;  // there is no kernel: the op is sent there
};

// What a cached kernel was made for: op, device, the types of the inputs, the attributes as they were set.
struct KernelKey {
  const op::OpSpec* spec;
  Device* device;
  uint64_t types;         // of the first eight inputs, a byte each
  uint64_t count;         // of inputs
  std::string_view rest;  // types of further inputs and the attributes, as bytes
  uint64_t hash() const;
};

// What to do with an input that lives on another device than the op. The numbers are TensorFlow's.
enum class PlacementPolicy : int { kExplicit = 0, kWarn = 1, kSilent = 2, kSilentForInt32 = 3 };

struct ContextOptions {
  int cpu_devices = 1;
  const DeviceSet* devices = nullptr;          // null: the CPUs of this process, and what plug-ins brought
  op::Rendezvous* rendezvous = nullptr;        // where Send and Recv of single ops meet; null: each op for itself
  int intra_threads = 0, inter_threads = 0;  // 0: one per core
  bool soft_placement = true;
  bool log_device_placement = false;
  bool async = false;
  PlacementPolicy policy = PlacementPolicy::kSilent;
  std::vector<std::string> disabled_passes;  // in functions
  bool auto_compile = false;                 // functions become machine code where they can
};

class Context {
 public:
  Context(op::Registry& registry, const ContextOptions& options);
  ~Context();

  op::Registry& registry() { return registry_; }
  const DeviceSet& devices() { return *devices_; }
  Device* host() { return devices_->host(); }
  ThreadPool& pool() { return pool_; }
  op::ResourceManager& resources() { return resources_; }
  // Functions that can be called by name, and what runs them.
  graph::FunctionLibrary& functions() { return *library_; }
  runtime::FunctionLibraryRuntime& runtime() { return *runtime_; }
  // Takes the function and what was derived from it out of the library, with the kernels and plans that were made for them.
  Status remove_function(std::string_view name, bool owned = false);
  // The other tasks of its cluster; null: it is alone. Set before ops run on their devices.
  std::shared_ptr<RemoteTasks> remote_tasks;
  // Set to collect what runs in functions; null otherwise.
  std::atomic<op::StepTrace*> trace{nullptr};

  // Soft placement, logging, policy and mode may change while ops run.
  std::atomic<bool> soft_placement, log_device_placement;
  std::atomic<PlacementPolicy> policy;

  // The executor of the calling thread: the context's own, unless the thread set another.
  std::shared_ptr<Executor> executor();
  void set_executor_for_thread(std::shared_ptr<Executor> executor);
  // Waits for the context's executor and the thread's; gives the first error, which is then forgotten.
  Status sync_executors();
  // Calls that run on threads of their own; some may have been abandoned there. Whoever destroys the context waits for them before.
  runtime::DetachedCalls detached_calls;
  bool maybe_async() const { return maybe_async_.load(std::memory_order_relaxed); }

  // The kernel for a key; made by `make` where it is not there. What is pointed to is
  // valid on this thread until its next call; copy the shared pointer to keep it longer. Null in a thread that is ending.
  Result<const std::shared_ptr<CachedKernel>*> kernel(const KernelKey& key, FunctionRef<Result<std::shared_ptr<CachedKernel>>()> make);
  // The same where the key names functions: no thread remembers it, so that it can be forgotten with them.
  Result<std::shared_ptr<CachedKernel>> function_kernel(const KernelKey& key, FunctionRef<Result<std::shared_ptr<CachedKernel>>()> make);
  void clear_kernels();
  int64_t cached_kernels() const;
  const op::KernelEnv env_for(Device* device) {
    op::KernelEnv env = runtime_->env();
    env.device = device;
    return env;
  }

 private:
  op::Registry& registry_;
  const DeviceSet* devices_;  // kept for ever: handles name their device after the context is gone
  const uint64_t id_;   // unique over all contexts, unlike their addresses
  ThreadPool pool_, inter_pool_;
  std::shared_ptr<graph::FunctionLibrary> library_;
  std::unique_ptr<runtime::FunctionLibraryRuntime> runtime_;
  op::ResourceManager resources_;  // after the runtime: iterators in it hold functions
  std::shared_ptr<Executor> executor_;
  std::atomic<bool> maybe_async_;
  struct Kernels;
  std::unique_ptr<Kernels> kernels_;
  std::atomic<uint64_t> generation_;  // changes when kernels are dropped; unique over all contexts
};

}  // namespace weft_engine::eager
