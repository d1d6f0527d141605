#include "cuda/device.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>

#include "core/log.h"
#include "cuda/kernels.h"

namespace weft_engine::cuda {

using namespace weft_engine::core;  // NOLINT: tensors, shapes and statuses throughout

namespace {

struct Visible {
  std::mutex mutex;
  std::optional<std::vector<int>> numbers;
  std::map<int, std::vector<int64_t>> limits;
};
Visible& visible() {
  static auto* v = new Visible();
  return *v;
}

}  // namespace

std::vector<Gpu*> physical_gpus() {
  if (!driver_available()) return {};
  auto gpus = Gpu::all();
  return gpus.ok() ? std::move(gpus).value() : std::vector<Gpu*>();
}

void set_visible_gpus(std::optional<std::vector<int>> numbers) {
  const std::lock_guard lock(visible().mutex);
  visible().numbers = std::move(numbers);
}

void set_logical_gpus(int number, std::vector<int64_t> limits) {
  const std::lock_guard lock(visible().mutex);
  visible().limits[number] = std::move(limits);
}

Status set_memory_fraction(double fraction) {
  if (fraction == 0) return {};
  if (!(fraction > 0)) return invalid_argument("per_process_gpu_memory_fraction must not be negative, got ", fraction);
  for (Gpu* gpu : physical_gpus()) {
    MemoryOptions o = gpu->memory_options();
    if (o.fraction == fraction) continue;
    o.fraction = fraction;
    if (const Status s = gpu->set_memory_options(o); !s.ok())
      log(LogLevel::kWarning, cat("per_process_gpu_memory_fraction of ", fraction, " changes nothing: GPU ", gpu->number(), " is in use"));
  }
  return {};
}

CudaDevice::CudaDevice(Gpu& gpu, int number, int64_t limit)
    : OwnMemoryDevice(DeviceName{"localhost", 0, 0, "GPU", number}, limit ? limit : gpu.memory_limit(), gpu.description()), gpu_(gpu), limit_(limit) {
  held_->stats.bytes_limit = limit;
}

AllocatorStats CudaDevice::stats() const {
  if (!limit_) return gpu_.stats();
  const std::lock_guard lock(held_->mutex);
  return held_->stats;
}

void CudaDevice::reset_peak_stats() {
  if (!limit_) return gpu_.reset_peak();
  const std::lock_guard lock(held_->mutex);
  held_->stats.peak_bytes_in_use = held_->stats.bytes_in_use;
}

Result<Tensor> CudaDevice::allocate(DType dtype, const Shape& shape) { return allocate_with(dtype, shape, nullptr); }

Result<Tensor> CudaDevice::allocate_with(DType dtype, const Shape& shape, const void* from) {
  if (!is_simple(dtype)) return Tensor::allocate(dtype, shape);
  const int64_t elements = shape.num_elements();
  const int64_t bytes = multiply_without_overflow(elements, int64_t(dtype_size(dtype)));
  if (elements < 0 || bytes <= 0) return Tensor::allocate(dtype, shape);  // says what is wrong with the shape, or has nothing in it
  const auto block = [&] { return from ? gpu_.copy_beside(from, size_t(bytes)) : gpu_.allocate(size_t(bytes)); };
  const auto take = [&]() -> Result<DevicePtr> {
    if (!limit_) return block();
    const std::lock_guard lock(held_->mutex);
    AllocatorStats& s = held_->stats;
    if (s.bytes_in_use + bytes > limit_) return resource_exhausted("the limit of ", limit_, " bytes");
    WEFT_ASSIGN(const DevicePtr taken, block());
    s.bytes_in_use += bytes;
    s.peak_bytes_in_use = std::max(s.peak_bytes_in_use, s.bytes_in_use);
    s.largest_alloc_size = std::max(s.largest_alloc_size, bytes);
    ++s.num_allocs;
    return taken;
  };
  auto at = take();
  if (!at.ok()) {
    if (at.status().code() != Code::kResourceExhausted) return at.status();
    return resource_exhausted("OOM when allocating tensor with shape", shape, " and type ", dtype_name(dtype), " on ", name(), " by allocator GPU_",
                              gpu_.number(), "_bfc\nHint: ", gpu_.holders(), ".");
  }
  if (!limit_) return adopt(dtype, shape, reinterpret_cast<void*>(*at), size_t(bytes), [&gpu = gpu_, at = *at] { gpu.free(at); });
  return adopt(dtype, shape, reinterpret_cast<void*>(*at), size_t(bytes), [&gpu = gpu_, at = *at, held = held_, bytes] {
    gpu.free(at);
    const std::lock_guard lock(held->mutex);
    held->stats.bytes_in_use -= bytes;
  });
}

Result<Tensor> CudaDevice::duplicate(const Tensor& tensor) {
  WEFT_ASSIGN(Tensor out, allocate(tensor.dtype(), tensor.shape()));
  if (memory_of(out) != this) return out;
  WEFT_RETURN_IF_ERROR(gpu_.copy(address(out), address(tensor), tensor.byte_size()));
  return out;
}

Result<Tensor> CudaDevice::copied_here(const Tensor& tensor) {
  OwnMemoryDevice* there = memory_of(tensor);
  if (there == this) return tensor;
  if (auto* other = dynamic_cast<CudaDevice*>(there); other && &other->gpu_ == &gpu_) return duplicate(tensor);  // of another set of devices
  WEFT_ASSIGN(const Tensor source, to_host(tensor));  // between GPUs by way of the host
  if (is_simple(source.dtype()) && Gpu::copies_beside(source.byte_size())) return allocate_with(source.dtype(), source.shape(), source.raw());
  WEFT_ASSIGN(Tensor out, allocate(source.dtype(), source.shape()));
  if (memory_of(out) != this) return source;  // nothing in it, or of a type that stays on the host
  WEFT_RETURN_IF_ERROR(gpu_.copy_to_device(address(out), source.raw(), source.byte_size()));
  return out;
}

Result<Tensor> CudaDevice::copied_to_host(const Tensor& tensor) {
  WEFT_ASSIGN(Tensor out, Tensor::allocate(tensor.dtype(), tensor.shape()));
  WEFT_RETURN_IF_ERROR(gpu_.copy_to_host(out.raw(), address(tensor), tensor.byte_size()));
  return out;
}

namespace {

// TensorFlow has several allocators; here memory is always of a stream-ordered pool, which is its cuda_malloc_async.
void read_allocator() {
  const char* given = std::getenv("TF_GPU_ALLOCATOR");
  if (!given || !*given || std::string_view(given) == "cuda_malloc_async") return;
  const bool known = std::string_view(given) == "cuda_malloc" || std::string_view(given) == "bfc";
  core::log(
      known ? core::LogLevel::kInfo : core::LogLevel::kWarning,
      cat("TF_GPU_ALLOCATOR=", given, known ? "" : " is not known, and", " changes nothing: memory of GPUs is always taken as by cuda_malloc_async"));
}

// Kernels are for chips from Volta on.
bool is_new_enough(const Gpu& gpu) {
  if (gpu.major() >= 7) return true;
  core::log(core::LogLevel::kWarning, cat("GPU ", gpu.number(), " (", gpu.description(), ") is not used: compute capability 7.0 or more is needed"));
  return false;
}

}  // namespace

Status add_gpus(op::Registry& registry) {
  if (!driver_available()) return {};
  return register_device_type("GPU", [&registry]() -> Result<std::vector<std::unique_ptr<Device>>> {
    WEFT_ASSIGN(const std::vector<Gpu*> gpus, Gpu::all());
    std::vector<std::unique_ptr<Device>> out;
    if (gpus.empty()) return out;
    static std::once_flag once;
    std::call_once(once, [&] {
      const char* growth = std::getenv("TF_FORCE_GPU_ALLOW_GROWTH");
      for (Gpu* gpu : gpus) {
        if (!growth) continue;
        MemoryOptions o = gpu->memory_options();
        o.growth = std::string_view(growth) != "false";
        (void)gpu->set_memory_options(o);
      }
      read_allocator();
      add_kernels(registry);
    });
    const std::lock_guard lock(visible().mutex);
    std::vector<int> numbers(gpus.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    for (int i : visible().numbers ? *visible().numbers : numbers) {
      if (i < 0 || size_t(i) >= gpus.size() || !is_new_enough(*gpus[size_t(i)])) continue;
      const auto limits = visible().limits.find(i);
      if (limits == visible().limits.end() || limits->second.empty()) {
        out.push_back(std::make_unique<CudaDevice>(*gpus[size_t(i)], int(out.size())));
        continue;
      }
      for (int64_t limit : limits->second) out.push_back(std::make_unique<CudaDevice>(*gpus[size_t(i)], int(out.size()), limit));
    }
    return out;
  });
}

}  // namespace weft_engine::cuda
