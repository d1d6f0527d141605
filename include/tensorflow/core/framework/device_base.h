// SPDX-License-Identifier: Apache-2.0
//
// DeviceBase: what a kernel asks of the device that it runs on.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DEVICE_BASE_H_
#define TENSORFLOW_CORE_FRAMEWORK_DEVICE_BASE_H_

#include <memory>
#include <string>

#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor_types.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/threadpool.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

#ifdef WEFT_WITH_EIGEN
namespace internal {
// The engine's threads as Eigen sees threads.
class EigenPool : public Eigen::ThreadPoolInterface {
 public:
  explicit EigenPool(weft_pool* pool) : pool_(pool) {}
  void Schedule(std::function<void()> f) override { pool_.Schedule(std::move(f)); }
  int NumThreads() const override { return pool_.NumThreads(); }
  int CurrentThreadId() const override { return -1; }

 private:
  mutable thread::ThreadPool pool_;
};
}  // namespace internal
#endif

// What a device that is not the host's has for each of its streams. There are none.
class DeviceContext : public core::RefCounted {
 public:
  void* stream() const { return nullptr; }
};

class DeviceBase {
 public:
  struct CpuWorkerThreads {
    int num_threads = 0;
    thread::ThreadPool* workers = nullptr;
  };
  DeviceBase(weft_pool* pool, std::string_view name) : pool_(pool), threads_{pool_.NumThreads(), &pool_}, name_(name) {}
  const CpuWorkerThreads* tensorflow_cpu_worker_threads() const { return &threads_; }
  const std::string& name() const { return name_; }
  const std::string& device_type() const {
    static const auto* const kHost = new std::string("CPU");
    return *kHost;
  }
  Env* env() { return Env::Default(); }
  Allocator* GetAllocator(AllocatorAttributes) { return cpu_allocator(); }
  bool has_eigen_cpu_device() const { return true; }
  int NumaNode() const { return -1; }
  DeviceBase* UnderlyingDevice() { return this; }
  const DeviceBase* UnderlyingDevice() const { return this; }
  thread::ThreadPool* tensorflow_device_thread_pool() { return nullptr; }

#ifdef WEFT_WITH_EIGEN
  const Eigen::ThreadPoolDevice* eigen_cpu_device() {
    if (!eigen_) {
      eigen_pool_ = std::make_unique<internal::EigenPool>(pool_.underlying());
      eigen_ = std::make_unique<Eigen::ThreadPoolDevice>(eigen_pool_.get(), eigen_pool_->NumThreads());
    }
    return eigen_.get();
  }
#endif

 private:
  thread::ThreadPool pool_;
  CpuWorkerThreads threads_;
  std::string name_;
#ifdef WEFT_WITH_EIGEN
  std::unique_ptr<internal::EigenPool> eigen_pool_;
  std::unique_ptr<Eigen::ThreadPoolDevice> eigen_;
#endif
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_DEVICE_BASE_H_
