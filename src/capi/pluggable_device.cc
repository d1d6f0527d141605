// Devices from plug-ins: stream_executor.h. A library fills tables of functions in SE_InitPlugin; each of its devices is then a device of the engine
// with memory of its own (core/own_memory.h). All work of a device is queued on one stream, so that copies come after the kernels before them.
#include "capi/pluggable_device.h"

#include <dlfcn.h>

#include <cstring>

#include "capi/internal.h"
#include "core/own_memory.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace weft_engine::capi {
namespace {

// ---- What a plug-in must have filled ----

Status check_size(size_t size, const char* type, const char* macro) {
  return size ? Status() : failed_precondition("struct_size field in ", type, " must be set to ", macro, ".");
}
Status check_set(bool set, const char* field, const char* type) {
  return set ? Status() : failed_precondition("'", field, "' field in ", type, " must be set.");
}
#define WEFT_CHECK_SET(type, object, field) WEFT_RETURN_IF_ERROR(check_set((object).field != nullptr, #field, #type))

Status check_name(std::string_view name) {
  bool fits = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
  for (char c : name) fits &= (c >= 'A' && c <= 'Z') || c == '_';
  return fits ? Status() : failed_precondition("Device name/type '", name, "' must match [A-Z][A-Z_]*.");
}

Status check(const SP_Platform& p) {
  WEFT_RETURN_IF_ERROR(check_size(p.struct_size, "SP_Platform", "SP_PLATFORM_STRUCT_SIZE"));
  WEFT_CHECK_SET(SP_Platform, p, name);
  WEFT_CHECK_SET(SP_Platform, p, type);
  WEFT_RETURN_IF_ERROR(check_name(p.name));
  return check_name(p.type);
}

Status check(const SP_PlatformFns& f) {
  WEFT_RETURN_IF_ERROR(check_size(f.struct_size, "SP_PlatformFns", "SP_PLATFORM_FNS_STRUCT_SIZE"));
  WEFT_CHECK_SET(SP_PlatformFns, f, get_device_count);
  WEFT_CHECK_SET(SP_PlatformFns, f, create_device);
  WEFT_CHECK_SET(SP_PlatformFns, f, destroy_device);
  WEFT_CHECK_SET(SP_PlatformFns, f, create_stream_executor);
  WEFT_CHECK_SET(SP_PlatformFns, f, destroy_stream_executor);
  WEFT_CHECK_SET(SP_PlatformFns, f, create_timer_fns);
  WEFT_CHECK_SET(SP_PlatformFns, f, destroy_timer_fns);
  WEFT_CHECK_SET(SP_PlatformFns, f, create_device_fns);
  WEFT_CHECK_SET(SP_PlatformFns, f, destroy_device_fns);
  return {};
}

Status check(const SP_StreamExecutor& se, const SP_Platform& platform) {
  WEFT_RETURN_IF_ERROR(check_size(se.struct_size, "SP_StreamExecutor", "SP_STREAM_EXECUTOR_STRUCT_SIZE"));
  WEFT_CHECK_SET(SP_StreamExecutor, se, allocate);
  WEFT_CHECK_SET(SP_StreamExecutor, se, deallocate);
  WEFT_CHECK_SET(SP_StreamExecutor, se, get_allocator_stats);
  WEFT_CHECK_SET(SP_StreamExecutor, se, host_memory_allocate);
  WEFT_CHECK_SET(SP_StreamExecutor, se, host_memory_deallocate);
  if (platform.supports_unified_memory) {
    WEFT_CHECK_SET(SP_StreamExecutor, se, unified_memory_allocate);
    WEFT_CHECK_SET(SP_StreamExecutor, se, unified_memory_deallocate);
  }
  WEFT_CHECK_SET(SP_StreamExecutor, se, device_memory_usage);
  WEFT_CHECK_SET(SP_StreamExecutor, se, create_stream);
  WEFT_CHECK_SET(SP_StreamExecutor, se, destroy_stream);
  WEFT_CHECK_SET(SP_StreamExecutor, se, create_stream_dependency);
  WEFT_CHECK_SET(SP_StreamExecutor, se, get_stream_status);
  WEFT_CHECK_SET(SP_StreamExecutor, se, create_event);
  WEFT_CHECK_SET(SP_StreamExecutor, se, destroy_event);
  WEFT_CHECK_SET(SP_StreamExecutor, se, get_event_status);
  WEFT_CHECK_SET(SP_StreamExecutor, se, record_event);
  WEFT_CHECK_SET(SP_StreamExecutor, se, wait_for_event);
  WEFT_CHECK_SET(SP_StreamExecutor, se, create_timer);
  WEFT_CHECK_SET(SP_StreamExecutor, se, destroy_timer);
  WEFT_CHECK_SET(SP_StreamExecutor, se, start_timer);
  WEFT_CHECK_SET(SP_StreamExecutor, se, stop_timer);
  WEFT_CHECK_SET(SP_StreamExecutor, se, memcpy_dtoh);
  WEFT_CHECK_SET(SP_StreamExecutor, se, memcpy_htod);
  WEFT_CHECK_SET(SP_StreamExecutor, se, sync_memcpy_dtoh);
  WEFT_CHECK_SET(SP_StreamExecutor, se, sync_memcpy_htod);
  WEFT_CHECK_SET(SP_StreamExecutor, se, block_host_for_event);
  WEFT_CHECK_SET(SP_StreamExecutor, se, synchronize_all_activity);
  WEFT_CHECK_SET(SP_StreamExecutor, se, host_callback);
  return {};
}

// ---- A platform and its devices ----

// One device as the plug-in knows it, made once per process. Not destroyed once its plug-in is loaded: tensors in its memory may outlive everything.
struct Executor {
  SP_Device device{};
  SP_Stream stream = nullptr;
  const SP_StreamExecutor* fns = nullptr;

  // Waits for all that is on the stream.
  Status wait() const {
    TF_Status s;
    if (fns->block_host_until_done) {
      fns->block_host_until_done(&device, stream, &s);
      return s.status;
    }
    SP_Event event = nullptr;
    fns->create_event(&device, &event, &s);
    if (!s.status.ok()) return s.status;
    fns->record_event(&device, stream, event, &s);
    if (s.status.ok()) fns->block_host_for_event(&device, event, &s);
    fns->destroy_event(&device, event);
    return s.status;
  }
};

SP_DeviceMemoryBase block_of(void* address, uint64_t size) {
  SP_DeviceMemoryBase m{};
  m.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  m.opaque = address;
  m.size = size;
  return m;
}

class PluggableDevice final : public OwnMemoryDevice {
 public:
  PluggableDevice(const std::string& type, int id, int64_t memory, std::string description, std::shared_ptr<const Executor> executor)
      : OwnMemoryDevice(DeviceName{"localhost", 0, 0, type, id}, memory, std::move(description)), executor_(std::move(executor)) {}

  Result<Tensor> allocate(DType dtype, const Shape& shape) override {
    if (!is_simple(dtype)) return Tensor::allocate(dtype, shape);
    const int64_t elements = shape.num_elements();
    const int64_t bytes = multiply_without_overflow(elements, int64_t(dtype_size(dtype)));
    if (elements < 0 || bytes < 0) return Tensor::allocate(dtype, shape);  // says what is wrong with the shape
    if (bytes == 0) return Tensor::allocate(dtype, shape);
    SP_DeviceMemoryBase block = block_of(nullptr, 0);
    executor_->fns->allocate(&executor_->device, uint64_t(bytes), 0, &block);
    if (!block.opaque) return resource_exhausted("OOM when allocating tensor with shape", shape, " and type ", dtype_name(dtype), " on ", name());
    return adopt(dtype, shape, block.opaque, size_t(bytes),
                 [executor = executor_, block]() mutable { executor->fns->deallocate(&executor->device, &block); });
  }

  AllocatorStats stats() const override {
    SP_AllocatorStats s{};
    s.struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
    if (!executor_->fns->get_allocator_stats(&executor_->device, &s)) return {};
    return {s.num_allocs, s.bytes_in_use, s.peak_bytes_in_use, s.largest_alloc_size, s.has_bytes_limit ? s.bytes_limit : 0};
  }

  // The host's memory must stay until it is read, so the copy is waited for.
  void copy_from(Device&, const Tensor& tensor, CopyDone done) override { done(copied_here(tensor)); }
  void copy_to_host(const Tensor& tensor, CopyDone done) override { done(copied_to_host(tensor)); }
  void* stream() override { return executor_->stream; }
  void synchronize(std::function<void(Status)> done) override {
    TF_Status s;
    executor_->fns->synchronize_all_activity(&executor_->device, &s);
    done(s.status);
  }

 private:
  Result<Tensor> copied_here(const Tensor& tensor) {
    if (memory_of(tensor) == this) return tensor;
    WEFT_ASSIGN(const Tensor source, to_host(tensor));  // between devices by way of the host
    WEFT_ASSIGN(Tensor out, allocate(source.dtype(), source.shape()));
    if (memory_of(out) != this) return source;  // nothing in it, or of a type that stays on the host
    SP_DeviceMemoryBase to = block_of(out.raw(), source.byte_size());
    TF_Status s;
    executor_->fns->memcpy_htod(&executor_->device, executor_->stream, &to, source.raw(), source.byte_size(), &s);
    if (!s.status.ok()) return s.status;
    WEFT_RETURN_IF_ERROR(executor_->wait());
    return out;
  }

  Result<Tensor> copied_to_host(const Tensor& tensor) {
    WEFT_ASSIGN(Tensor out, Tensor::allocate(tensor.dtype(), tensor.shape()));
    const SP_DeviceMemoryBase from = block_of(const_cast<void*>(tensor.raw()), tensor.byte_size());
    TF_Status s;
    executor_->fns->memcpy_dtoh(&executor_->device, executor_->stream, out.raw(), &from, tensor.byte_size(), &s);
    if (!s.status.ok()) return s.status;
    WEFT_RETURN_IF_ERROR(executor_->wait());
    return out;
  }

  const std::shared_ptr<const Executor> executor_;
};

// Until it is registered, all that the plug-in made is given back when the platform goes.
class Platform {
 public:
  ~Platform() {
    if (registered) return;
    for (const auto& e : executors_) {
      if (e->stream) executor_.destroy_stream(&e->device, e->stream);
      platform_fns_.destroy_device(&platform_, &e->device);
    }
    if (has_timers_) platform_fns_.destroy_timer_fns(&platform_, &timer_fns_);
    if (has_executor_) platform_fns_.destroy_stream_executor(&platform_, &executor_);
    if (has_device_fns_) platform_fns_.destroy_device_fns(&platform_, &device_fns_);
    if (destroy_platform_fns_) destroy_platform_fns_(&platform_fns_);
    if (destroy_platform_) destroy_platform_(&platform_);
  }

  Status init(void (*init_plugin)(SE_PlatformRegistrationParams*, TF_Status*)) {
    SE_PlatformRegistrationParams params{};
    params.struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
    params.major_version = SE_MAJOR;
    params.minor_version = SE_MINOR;
    params.patch_version = SE_PATCH;
    platform_.struct_size = SP_PLATFORM_STRUCT_SIZE;
    platform_fns_.struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
    params.platform = &platform_;
    params.platform_fns = &platform_fns_;
    TF_Status s;
    init_plugin(&params, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    WEFT_RETURN_IF_ERROR(check_size(params.struct_size, "SE_PlatformRegistrationParams", "SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE"));
    WEFT_CHECK_SET(SE_PlatformRegistrationParams, params, destroy_platform);
    WEFT_CHECK_SET(SE_PlatformRegistrationParams, params, destroy_platform_fns);
    WEFT_RETURN_IF_ERROR(check(platform_));
    WEFT_RETURN_IF_ERROR(check(platform_fns_));
    destroy_platform_ = params.destroy_platform;
    destroy_platform_fns_ = params.destroy_platform_fns;
    type_ = platform_.type;
    name_ = platform_.name;
    if (type_ == "CPU") return failed_precondition("Device type 'CPU' is not one that a plug-in can bring.");
    return create_tables();
  }

  // Devices are made here, so that what is wrong with them is an error of the call that loads the library.
  Status create_devices() {
    int count = 0;
    TF_Status s;
    platform_fns_.get_device_count(&platform_, &count, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    if (count < 0 || count > kMostDevices) return failed_precondition("The plug-in for ", type_, " reports ", count, " devices.");
    for (int i = 0; i < count; ++i) {
      auto e = std::make_shared<Executor>();
      e->fns = &executor_;
      e->device.struct_size = SP_DEVICE_STRUCT_SIZE;
      SE_CreateDeviceParams params{};
      params.struct_size = SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE;
      params.ordinal = i;
      params.device = &e->device;
      platform_fns_.create_device(&platform_, &params, &s);
      WEFT_RETURN_IF_ERROR(s.status);
      Executor& made = *e;
      executors_.push_back(std::move(e));
      WEFT_RETURN_IF_ERROR(check_size(made.device.struct_size, "SP_Device", "SP_DEVICE_STRUCT_SIZE"));
      SP_Stream stream = nullptr;
      executor_.create_stream(&made.device, &stream, &s);
      WEFT_RETURN_IF_ERROR(s.status);
      made.stream = stream;
    }
    return {};
  }

  std::vector<std::unique_ptr<Device>> devices() const {
    std::vector<std::unique_ptr<Device>> out;
    for (size_t i = 0; i < executors_.size(); ++i) {
      const Executor& e = *executors_[i];
      int64_t free = 0, total = 0;
      if (!executor_.device_memory_usage(&e.device, &free, &total)) total = 0;
      out.push_back(std::make_unique<PluggableDevice>(type_, int(i), total, description(e), executors_[i]));
    }
    return out;
  }
  const std::string& type() const { return type_; }
  bool registered = false;

 private:
  static constexpr int kMostDevices = 1024;

  std::string description(const Executor& e) const {
    std::string out = cat("device: ", e.device.ordinal, ", name: ", name_);
    if (e.device.pci_bus_id) out += cat(", pci bus id: ", e.device.pci_bus_id);
    return out;
  }

  Status create_tables() {
    TF_Status s;
    SE_CreateDeviceFnsParams device_params{};
    device_params.struct_size = SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE;
    device_fns_.struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
    device_params.device_fns = &device_fns_;
    platform_fns_.create_device_fns(&platform_, &device_params, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    has_device_fns_ = true;
    WEFT_RETURN_IF_ERROR(check_size(device_fns_.struct_size, "SP_DeviceFns", "SP_DEVICE_FNS_STRUCT_SIZE"));

    SE_CreateStreamExecutorParams executor_params{};
    executor_params.struct_size = SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE;
    executor_.struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
    executor_params.stream_executor = &executor_;
    platform_fns_.create_stream_executor(&platform_, &executor_params, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    has_executor_ = true;
    WEFT_RETURN_IF_ERROR(check(executor_, platform_));

    timer_fns_.struct_size = SP_TIMER_FNS_STRUCT_SIZE;
    platform_fns_.create_timer_fns(&platform_, &timer_fns_, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    has_timers_ = true;
    WEFT_RETURN_IF_ERROR(check_size(timer_fns_.struct_size, "SP_TimerFns", "SP_TIMER_FNS_STRUCT_SIZE"));
    WEFT_CHECK_SET(SP_TimerFns, timer_fns_, nanoseconds);
    return {};
  }

  SP_Platform platform_{};
  SP_PlatformFns platform_fns_{};
  SP_DeviceFns device_fns_{};
  SP_StreamExecutor executor_{};
  SP_TimerFns timer_fns_{};
  bool has_device_fns_ = false, has_executor_ = false, has_timers_ = false;
  void (*destroy_platform_)(SP_Platform*) = nullptr;
  void (*destroy_platform_fns_)(SP_PlatformFns*) = nullptr;
  std::string type_, name_;
  std::vector<std::shared_ptr<Executor>> executors_;
};

}  // namespace

Status load_devices(void* library) {
  const auto init = reinterpret_cast<void (*)(SE_PlatformRegistrationParams*, TF_Status*)>(dlsym(library, "SE_InitPlugin"));
  if (!init) return {};
  auto platform = std::make_shared<Platform>();
  WEFT_RETURN_IF_ERROR(platform->init(init));
  WEFT_RETURN_IF_ERROR(platform->create_devices());
  WEFT_RETURN_IF_ERROR(
      register_device_type(platform->type(), [platform]() -> Result<std::vector<std::unique_ptr<Device>>> { return platform->devices(); }));
  platform->registered = true;
  return {};
}

}  // namespace weft_engine::capi
