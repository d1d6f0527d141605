#include "eager/context.h"

#include <thread>

namespace weft::eager {
namespace {

std::atomic<uint64_t> next_generation{1};

int thread_count(int wanted) {
  if (wanted > 0) return std::min(wanted, 1024);
  const unsigned cores = std::thread::hardware_concurrency();
  return cores ? int(cores) : 1;
}

// Each thread remembers the kernels it used last, so that a hit takes no lock.
struct ThreadCache {
  static constexpr size_t kSlots = 256;
  struct Slot {
    uint64_t generation = 0, hash = 0;
    std::string key;
    std::shared_ptr<CachedKernel> kernel;
  };
  Slot slots[kSlots];
};

ThreadCache& thread_cache() {
  thread_local std::unique_ptr<ThreadCache> cache = std::make_unique<ThreadCache>();
  return *cache;
}

struct ThreadExecutor {
  const Context* context = nullptr;
  std::shared_ptr<Executor> executor;
};
thread_local ThreadExecutor thread_executor;

}  // namespace

Context::Context(op::Registry& registry, const ContextOptions& o)
    : soft_placement(o.soft_placement),
      log_device_placement(o.log_device_placement),
      policy(o.policy),
      registry_(registry),
      devices_(DeviceSet::cpus(o.cpu_devices)),
      pool_(thread_count(o.intra_threads)),
      executor_(std::make_shared<Executor>(o.async)),
      maybe_async_(o.async),
      generation_(next_generation.fetch_add(1)) {}

Context::~Context() {
  (void)executor_->wait();
  if (thread_executor.context == this) thread_executor = {};
}

std::shared_ptr<Executor> Context::executor() {
  return thread_executor.context == this && thread_executor.executor ? thread_executor.executor : executor_;
}

void Context::set_executor_for_thread(std::shared_ptr<Executor> executor) {
  if (executor && executor->async()) maybe_async_.store(true);
  thread_executor = {this, std::move(executor)};
}

Result<const std::shared_ptr<CachedKernel>*> Context::kernel(std::string_view key, uint64_t hash, FunctionRef<Result<std::shared_ptr<CachedKernel>>()> make) {
  auto& slot = thread_cache().slots[hash % ThreadCache::kSlots];
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  if (slot.hash == hash && slot.generation == generation && slot.key == key) [[likely]] return &slot.kernel;
  std::shared_ptr<CachedKernel> found;
  std::string owned(key);
  {
    std::shared_lock lock(kernels_mutex_);
    if (auto it = kernels_.find(owned); it != kernels_.end()) found = it->second;
  }
  if (!found) {
    WEFT_ASSIGN(std::shared_ptr<CachedKernel> made, make());
    std::unique_lock lock(kernels_mutex_);
    found = kernels_.emplace(owned, std::move(made)).first->second;
  }
  slot.generation = generation;
  slot.hash = hash;
  slot.key = std::move(owned);
  slot.kernel = std::move(found);
  return &slot.kernel;
}

void Context::clear_kernels() {
  std::unique_lock lock(kernels_mutex_);
  kernels_.clear();
  generation_.store(next_generation.fetch_add(1));
}

int64_t Context::cached_kernels() const {
  std::shared_lock lock(kernels_mutex_);
  return int64_t(kernels_.size());
}

}  // namespace weft::eager
