// SPDX-License-Identifier: Apache-2.0
//
// IteratorContext: the surroundings of one request for an element of a dataset. Included by dataset.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_CONTEXT_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_CONTEXT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/model.h"
#include "tensorflow/core/framework/op_kernel_context.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/threadpool.h"

namespace tensorflow {
namespace data {

class SplitProvider;

// A copy may be kept: it outlasts the request, as threads of an iterator need it.
class IteratorContext {
 public:
  struct Params {
    explicit Params(IteratorContext* c) : walk(c->own()), env(c->env()), is_restoring(c->is_restoring()) {}
    explicit Params(OpKernelContext* c) : walk(weft_walk_of_run(c->run()), weft_walk_delete), env(Env::Default()) {}
    std::shared_ptr<weft_walk> walk;
    Env* env;
    bool is_restoring = false;
  };
  explicit IteratorContext(OpKernelContext* c) : IteratorContext(Params(c)) {}
  explicit IteratorContext(IteratorContext* c) : IteratorContext(Params(c)) {}
  explicit IteratorContext(Params params) : own_(std::move(params.walk)), walk_(own_.get()), is_restoring_(params.is_restoring) {}
  IteratorContext(const IteratorContext& c) : own_(c.own()), walk_(own_.get()), is_restoring_(c.is_restoring_) {}
  void operator=(const IteratorContext&) = delete;

  Allocator* allocator(AllocatorAttributes) { return cpu_allocator(); }
  std::function<Allocator*(AllocatorAttributes)> allocator_getter() {
    return [](AllocatorAttributes) { return cpu_allocator(); };
  }
  Env* env() const { return Env::Default(); }
  // Of the iterator that tf.data asks: it is cancelled with the step that asks, and at the iterator's end.
  CancellationManager* cancellation_manager() { return CancellationManager::Of(weft_walk_cancellation(walk_)); }
  ResourceMgr* resource_mgr() {
    if (!resources_) resources_.emplace(weft_walk_resources(walk_));
    return &*resources_;
  }
  // Runs a task on the engine's threads.
  std::function<void(std::function<void()>)>* runner() {
    if (!runner_) {
      runner_ = [pool = weft_walk_pool(walk_)](std::function<void()> task) { thread::ThreadPool(pool).Schedule(std::move(task)); };
    }
    return &runner_;
  }
  int32 runner_threadpool_size() { return weft_pool_threads(weft_walk_pool(walk_)); }
  std::unique_ptr<thread::ThreadPool> CreateThreadPool(const std::string& name, int num_threads) {
    return std::make_unique<thread::ThreadPool>(env(), name, num_threads);
  }
  std::unique_ptr<Thread> StartThread(const std::string& name, std::function<void()> f) {
    return std::unique_ptr<Thread>(env()->StartThread({}, name, std::move(f)));
  }
  bool is_restoring() const { return is_restoring_; }
  int64 interleave_depth() const { return 0; }
  bool warm_start() const { return false; }
  bool symbolic_checkpoint() const { return false; }
  std::shared_ptr<model::Model> model() const { return nullptr; }
  std::vector<std::shared_ptr<SplitProvider>> split_providers() const { return {}; }
  template <class Checkpoint>
  void MergeCheckpoint(Checkpoint*) {}
  void PurgeCheckpoint(const std::string&) {}
  template <class Iterator>
  void SaveCheckpoint(Iterator*) {}

  // For these headers.
  explicit IteratorContext(weft_walk* walk) : walk_(walk) {}
  weft_walk* walk() const { return walk_; }

 private:
  std::shared_ptr<weft_walk> own() const { return own_ ? own_ : std::shared_ptr<weft_walk>(weft_walk_copy(walk_), weft_walk_delete); }
  const std::shared_ptr<weft_walk> own_;  // null: the request's
  weft_walk* const walk_;
  const bool is_restoring_ = false;
  std::optional<ResourceMgr> resources_;
  std::function<void(std::function<void()>)> runner_;
};

// What random access needs of its surroundings.
struct AnyContext {
  explicit AnyContext(IteratorContext* c) : allocator(c->allocator({})), runner(c->runner()), runner_threadpool_size(c->runner_threadpool_size()) {}
  Allocator* allocator;
  std::function<void(std::function<void()>)>* runner;
  int64 runner_threadpool_size;
};

}  // namespace data
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_DATASET_CONTEXT_H_
