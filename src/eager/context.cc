#include "eager/context.h"

#include <array>
#include <algorithm>
#include <shared_mutex>
#include <thread>
#include <unordered_map>

#include "core/thread_local.h"
#include "core/threads.h"
#include "runtime/session.h"

namespace weft_engine::eager {
namespace {

std::atomic<uint64_t> next_generation{1};

int thread_count(int wanted, bool inter) { return wanted > 0 ? std::min(wanted, 1024) : core::default_threads(inter); }

// Each thread remembers the kernels it used last, so that a hit takes no lock. Of functions it holds weak references: a function
// that is removed frees its kernels whatever other threads remember.
struct ThreadCache {
  template <class Pointer>
  struct Slot {
    uint64_t generation = 0;
    const op::OpSpec* spec = nullptr;
    Device* device = nullptr;
    uint64_t types = 0, count = 0;
    std::string rest;
    Pointer kernel;
    bool holds(const KernelKey& k, uint64_t now) const {
      return generation == now && spec == k.spec && device == k.device && types == k.types && count == k.count && rest == k.rest;
    }
    void set(const KernelKey& k, uint64_t now, Pointer p) {
      generation = now;
      spec = k.spec;
      device = k.device;
      types = k.types;
      count = k.count;
      rest = k.rest;
      kernel = std::move(p);
    }
  };
  std::array<Slot<std::shared_ptr<CachedKernel>>, 256> slots;
  std::array<Slot<std::weak_ptr<CachedKernel>>, 64> function_slots;
};

std::string as_bytes(const KernelKey& k) {
  std::string out;
  const uint64_t words[] = {reinterpret_cast<uintptr_t>(k.spec), reinterpret_cast<uintptr_t>(k.device), k.types, k.count};
  out.append(reinterpret_cast<const char*>(words), sizeof words);
  out.append(k.rest);
  return out;
}

// Releases what this thread remembers; other threads do so when they need the slot, or end.
void forget_kernels(uint64_t generation) {
  ThreadCache* cache = ThreadLocal<ThreadCache>::get();
  if (!cache) return;
  for (auto& slot : cache->slots) {
    if (slot.generation == generation) slot = {};
  }
}

struct ThreadExecutor {
  uint64_t context = 0;
  std::shared_ptr<Executor> executor;
};
thread_local ThreadExecutor thread_executor;

using Map = std::unordered_map<std::string, std::shared_ptr<CachedKernel>>;

// As many kernels as two generations hold: when the young one is full it becomes the old one, and what was not used since it began is dropped.
class KernelMap {
 public:
  explicit KernelMap(size_t most) : half_(most / 2) {}
  std::shared_ptr<CachedKernel> find(const std::string& key) const {
    for (const auto* map : {&young_, &old_}) {
      if (auto it = map->find(key); it != map->end()) return it->second;
    }
    return nullptr;
  }
  bool is_old(const std::string& key) const { return !young_.contains(key); }
  // Gives the one that is there. `dead` gets what is dropped, for the caller to free outside of his lock.
  std::shared_ptr<CachedKernel> put(std::string key, std::shared_ptr<CachedKernel> kernel, Map& dead) {
    if (auto it = young_.find(key); it != young_.end()) return it->second;
    if (auto it = old_.find(key); it != old_.end()) {
      kernel = std::move(it->second);
      old_.erase(it);
    }
    if (young_.size() >= half_) {
      dead = std::move(old_);
      old_ = std::exchange(young_, {});
    }
    return young_.emplace(std::move(key), std::move(kernel)).first->second;
  }
  template <class F>
  void take_if(F unwanted, std::vector<std::shared_ptr<CachedKernel>>& dead) {
    for (Map* map : {&young_, &old_}) {
      std::erase_if(*map, [&](auto& entry) {
        if (!unwanted(*entry.second)) return false;
        dead.push_back(std::move(entry.second));
        return true;
      });
    }
  }
  size_t size() const { return young_.size() + old_.size(); }

 private:
  const size_t half_;
  Map young_, old_;
};

constexpr size_t kMostKernels = 8192, kMostFunctionKernels = 512;

// Whether the kernel's op is one of the functions, or an attribute names one.
bool names_any(const CachedKernel& k, std::span<const std::string> names) {
  const auto is = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (is(k.node.op())) return true;
  for (const op::AttrValue& a : k.node.attrs()) {
    if (const auto* f = a.get<op::FunctionAttr>(); f && is(f->name)) return true;
    if (const auto* list = a.get<std::vector<op::FunctionAttr>>()) {
      if (std::any_of(list->begin(), list->end(), [&](const op::FunctionAttr& f) { return is(f.name); })) return true;
    }
  }
  return false;
}

}  // namespace

struct Context::Kernels {
  mutable std::shared_mutex mutex;
  KernelMap plain{kMostKernels}, functions{kMostFunctionKernels};

  Result<std::shared_ptr<CachedKernel>> get(KernelMap& map, std::string key, FunctionRef<Result<std::shared_ptr<CachedKernel>>()> make) {
    std::shared_ptr<CachedKernel> found;
    {
      std::shared_lock lock(mutex);
      found = map.find(key);
      if (found && !map.is_old(key)) return found;
    }
    if (!found) {
      WEFT_ASSIGN(found, make());
    }
    Map dead;
    std::unique_lock lock(mutex);
    found = map.put(std::move(key), std::move(found), dead);
    lock.unlock();
    return found;
  }
};

Context::Context(op::Registry& registry, const ContextOptions& o)
    : soft_placement(o.soft_placement),
      log_device_placement(o.log_device_placement),
      policy(o.policy),
      registry_(registry),
      devices_(o.devices ? o.devices : runtime::shared_cpus(o.cpu_devices)),
      id_(next_generation.fetch_add(1)),
      pool_(thread_count(o.intra_threads, false)),
      inter_pool_(thread_count(o.inter_threads, true)),
      library_(std::make_shared<graph::FunctionLibrary>()),
      executor_(std::make_shared<Executor>(o.async)),
      maybe_async_(o.async),
      kernels_(std::make_unique<Kernels>()),
      generation_(next_generation.fetch_add(1)) {
  runtime::RuntimeOptions r;
  r.registry = &registry_;
  r.devices = devices_;
  r.pool = &pool_;
  r.inter = &inter_pool_;
  r.resources = &resources_;
  r.soft_placement = &soft_placement;
  r.log_device_placement = &log_device_placement;
  r.disabled_passes = o.disabled_passes;
  r.auto_compile = o.auto_compile;
  r.rendezvous = o.rendezvous;
  runtime_ = std::make_unique<runtime::FunctionLibraryRuntime>(std::move(r), library_);
}

Context::~Context() {
  (void)detached_calls.wait();
  (void)executor_->wait();
  forget_kernels(generation_.load());
  if (thread_executor.context == id_) thread_executor = {};
}

std::shared_ptr<Executor> Context::executor() {
  return thread_executor.context == id_ && thread_executor.executor ? thread_executor.executor : executor_;
}

void Context::set_executor_for_thread(std::shared_ptr<Executor> executor) {
  if (executor && executor->async()) maybe_async_.store(true);
  thread_executor = {id_, std::move(executor)};
}

Status Context::sync_executors() {
  Status status = executor_->wait();
  executor_->clear_error();
  if (auto mine = executor(); mine != executor_) {
    Status s = mine->wait();
    mine->clear_error();
    if (status.ok()) status = std::move(s);
  }
  if (remote_tasks) {
    Status s = remote_tasks->sync();
    if (status.ok()) status = std::move(s);
  }
  return status;
}

// Multiply and fold; it only needs to spread over the slots, since a slot compares the whole key.
uint64_t KernelKey::hash() const {
  uint64_t h = reinterpret_cast<uintptr_t>(spec) ^ (reinterpret_cast<uintptr_t>(device) << 7) ^ types * 0x9e3779b97f4a7c15u ^ count;
  const auto mix = [&h](uint64_t v) {
    h = (h ^ v) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  };
  const char *p = rest.data(), *end = p + rest.size();
  uint64_t v = 0;
  for (; end - p >= 8; p += 8) {
    std::memcpy(&v, p, 8);
    mix(v);
  }
  if (p != end) {
    v = 0;
    std::memcpy(&v, p, size_t(end - p));
    mix(v);
  }
  h *= 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

Result<const std::shared_ptr<CachedKernel>*> Context::kernel(const KernelKey& key, FunctionRef<Result<std::shared_ptr<CachedKernel>>()> make) {
  ThreadCache* cache = ThreadLocal<ThreadCache>::get();
  if (!cache) return nullptr;
  auto& slot = cache->slots[key.hash() % cache->slots.size()];
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  if (slot.holds(key, generation)) [[likely]]
    return &slot.kernel;
  WEFT_ASSIGN(std::shared_ptr<CachedKernel> found, kernels_->get(kernels_->plain, as_bytes(key), make));
  slot.set(key, generation, std::move(found));
  return &slot.kernel;
}

Result<std::shared_ptr<CachedKernel>> Context::function_kernel(const KernelKey& key, FunctionRef<Result<std::shared_ptr<CachedKernel>>()> make) {
  ThreadCache* cache = ThreadLocal<ThreadCache>::get();
  if (!cache) return kernels_->get(kernels_->functions, as_bytes(key), make);
  auto& slot = cache->function_slots[key.hash() % cache->function_slots.size()];
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  if (slot.holds(key, generation)) [[likely]] {
    if (auto found = slot.kernel.lock()) [[likely]]
      return found;
  }
  WEFT_ASSIGN(std::shared_ptr<CachedKernel> found, kernels_->get(kernels_->functions, as_bytes(key), make));
  slot.set(key, generation, found);
  return found;
}

Status Context::remove_function(std::string_view name, bool owned) {
  std::vector<std::string> gone;
  WEFT_RETURN_IF_ERROR(library_->remove(name, &gone));
  std::vector<std::shared_ptr<CachedKernel>> dead;
  {
    std::unique_lock lock(kernels_->mutex);
    kernels_->functions.take_if([&](const CachedKernel& k) { return names_any(k, gone); }, dead);
  }
  dead.clear();
  runtime_->forget(gone, owned);
  return {};
}

void Context::clear_kernels() {
  std::vector<std::shared_ptr<CachedKernel>> dead;
  {
    std::unique_lock lock(kernels_->mutex);
    for (KernelMap* map : {&kernels_->plain, &kernels_->functions}) map->take_if([](const CachedKernel&) { return true; }, dead);
  }
  forget_kernels(generation_.load());
  generation_.store(next_generation.fetch_add(1));
}

int64_t Context::cached_kernels() const {
  std::shared_lock lock(kernels_->mutex);
  return int64_t(kernels_->plain.size() + kernels_->functions.size());
}

}  // namespace weft_engine::eager
