#include "core/own_memory.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "core/function_ref.h"
#include "core/log.h"

namespace weft_engine::core {

std::atomic<int64_t> own_memory_blocks{0};

namespace {

// All memory of devices, by address.
struct Blocks {
  struct Block {
    uintptr_t end;
    OwnMemoryDevice* device;
  };
  std::shared_mutex mutex;
  std::map<uintptr_t, Block> all;
};

Blocks& blocks() {
  static auto* all = new Blocks();  // tensors may outlive main
  return *all;
}

struct Release {
  uintptr_t begin;
  std::function<void()> release;
};

void free_block(void*, size_t, void* arg) {
  const std::unique_ptr<Release> r(static_cast<Release*>(arg));
  Blocks& b = blocks();
  {
    const std::unique_lock lock(b.mutex);
    b.all.erase(r->begin);
    own_memory_blocks.fetch_sub(1);
  }
  r->release();
}

Result<Tensor> wait_for(FunctionRef<void(Device::CopyDone)> start) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<Tensor>> result;
  };
  auto waiting = std::make_shared<Waiting>();
  start([waiting](Result<Tensor> t) {
    const std::lock_guard lock(waiting->mutex);
    waiting->result.emplace(std::move(t));
    waiting->changed.notify_one();
  });
  std::unique_lock lock(waiting->mutex);
  waiting->changed.wait(lock, [&] { return waiting->result.has_value(); });
  return std::move(*waiting->result);
}

struct DeviceTypes {
  std::mutex mutex;
  std::vector<std::pair<std::string, DeviceFactory>> all;
};

DeviceTypes& device_types() {
  static auto* types = new DeviceTypes();
  return *types;
}

}  // namespace

Tensor OwnMemoryDevice::adopt(DType dtype, const Shape& shape, void* data, size_t bytes, std::function<void()> release) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  Blocks& b = blocks();
  {
    const std::unique_lock lock(b.mutex);
    b.all[begin] = {begin + bytes, this};
    own_memory_blocks.fetch_add(1);
  }
  return Tensor(dtype, shape, Buffer::wrap(data, bytes, free_block, new Release{begin, std::move(release)}));
}

OwnMemoryDevice* memory_of(const Tensor& tensor) {
  if (own_memory_blocks.load(std::memory_order_relaxed) == 0 || !tensor.buffer() || tensor.buffer()->owns_elements()) return nullptr;
  Blocks& b = blocks();
  const auto at = reinterpret_cast<uintptr_t>(tensor.raw());
  const std::shared_lock lock(b.mutex);
  auto it = b.all.upper_bound(at);
  if (it == b.all.begin()) return nullptr;
  --it;
  return at < it->second.end ? it->second.device : nullptr;
}

Result<Tensor> to_host(const Tensor& tensor) {
  OwnMemoryDevice* source = memory_of(tensor);
  if (!source) return tensor;
  return wait_for([&](Device::CopyDone done) { source->copy_to_host(tensor, std::move(done)); });
}

Result<Tensor> to_device(const Tensor& tensor, Device& device) {
  if (device.host_memory()) return to_host(tensor);
  OwnMemoryDevice* source = memory_of(tensor);
  if (source == &device || !is_simple(tensor.dtype())) return tensor;
  return wait_for([&](Device::CopyDone done) { device.copy_from(device, tensor, std::move(done)); });
}

Status all_to_host(std::span<Tensor> tensors) {
  for (Tensor& t : tensors) {
    if (!memory_of(t)) continue;
    WEFT_ASSIGN(t, to_host(t));
  }
  return {};
}

Status register_device_type(const std::string& type, DeviceFactory factory) {
  DeviceTypes& types = device_types();
  const std::lock_guard lock(types.mutex);
  for (const auto& [name, make] : types.all) {
    if (name == type) return already_exists("Device type ", type, " is already registered");
  }
  types.all.emplace_back(type, std::move(factory));
  return {};
}

int num_device_types() {
  DeviceTypes& types = device_types();
  const std::lock_guard lock(types.mutex);
  return int(types.all.size());
}

std::unique_ptr<DeviceSet> process_devices(int cpus) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < cpus; ++i) devices.push_back(std::make_unique<CpuDevice>(i));
  DeviceTypes& types = device_types();
  const std::lock_guard lock(types.mutex);
  for (const auto& [type, make] : types.all) {
    auto made = make();
    if (!made.ok()) {
      log(LogLevel::kError, cat("No devices of type ", type, ": ", made.status()));
      continue;
    }
    for (auto& d : *made) devices.push_back(std::move(d));
  }
  return std::make_unique<DeviceSet>(std::move(devices));
}

bool is_mixed(const DeviceSet& devices) {
  if (devices.all().size() == 1) return false;
  for (const auto& d : devices.all()) {
    if (!d->host_memory()) return true;
  }
  return false;
}

std::vector<Device*> by_priority(const DeviceSet& devices) {
  std::vector<Device*> out;
  for (const auto& d : devices.all()) {
    if (!d->host_memory() && d->parsed_name().id.value_or(0) == 0) out.push_back(d.get());
  }
  out.push_back(devices.host());
  return out;
}

Status unsatisfied(const DeviceSet& devices, std::string_view wanted, const std::vector<std::string>& supported_types) {
  std::vector<std::string> names;
  for (const auto& d : devices.all()) names.push_back(d->name());
  return invalid_argument("Could not satisfy device specification '", wanted, "'. enable_soft_placement=0. Supported device types [",
                          join(supported_types, ", "), "]. All available devices [", join(names, ", "), "].");
}

}  // namespace weft_engine::core
