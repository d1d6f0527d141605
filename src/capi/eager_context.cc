// TFE_Context and TFE_TensorHandle.
#include "capi/custom_device.h"
#include "capi/internal.h"
#include "eager/copy.h"
#include "capi/run_metadata.h"
#include "core/own_memory.h"
#include "engine/engine.h"
#include "io/op_def.h"
#include "io/rewriter_config.h"
#include "op/held.h"
#include "tensorflow/c/eager/c_api_experimental.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::eager::TensorHandle;

struct TFE_ContextOptions {
  weft_engine::eager::ContextOptions options{.soft_placement = false};  // unless a ConfigProto asks for it
};

TFE_ContextOptions* TFE_NewContextOptions() {
  return guard_pointer<TFE_ContextOptions>([] { return new TFE_ContextOptions; });
}
void TFE_DeleteContextOptions(TFE_ContextOptions* o) { delete o; }

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* o, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(o);
    if (length) WEFT_NOT_NULL(proto);
    const std::string_view bytes(static_cast<const char*>(proto), length);
    WEFT_ASSIGN(weft_engine::io::SessionConfig c, weft_engine::io::decode_config(bytes));
    WEFT_RETURN_IF_ERROR(weft_engine::engine::Engine::get().limit_gpu_memory(c.gpu_memory_fraction));
    WEFT_ASSIGN(o->options.disabled_passes, weft_engine::io::disabled_passes(bytes));
    o->options.auto_compile = weft_engine::io::wants_jit(bytes);
    o->options.cpu_devices = c.cpu_devices;
    o->options.intra_threads = c.intra_threads;
    o->options.inter_threads = c.inter_threads;
    o->options.log_device_placement = c.log_device_placement;
    o->options.soft_placement = c.allow_soft_placement;
    return {};
  });
}
void TFE_ContextOptionsSetAsync(TFE_ContextOptions* o, unsigned char enable) {
  if (o) o->options.async = enable;
}
void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions* o, TFE_ContextDevicePlacementPolicy p) {
  if (o) o->options.policy = static_cast<weft_engine::eager::PlacementPolicy>(p);
}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* o, TF_Status* status) {
  TFE_Context* c = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(o);
    c = new TFE_Context(o->options);
    c->graphs = std::make_shared<CollectedGraphs>();
    return {};
  });
  return c;
}
// Datasets and iterators that live on call functions of their context: then it stays, as it does for an abandoned call that the end of the process overtakes.
void TFE_DeleteContext(TFE_Context* c) {
  if (!c) return;
  c->alive->store(false);
  (void)c->context.sync_executors();
  if (!c->context.detached_calls.wait()) return;
  c->context.clear_kernels();
  c->context.resources().clear();
  if (!weft_engine::op::held(c->context.runtime())) delete c;
}

void TFE_ContextClearCaches(TFE_Context* c) {
  if (c) c->context.clear_kernels();
}
TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context* c) {
  return static_cast<TFE_ContextDevicePlacementPolicy>(c ? c->context.policy.load() : weft_engine::eager::PlacementPolicy::kSilent);
}

// ---- Devices ----

TF_DeviceList* TFE_ContextListDevices(TFE_Context* c, TF_Status* status) {
  TF_DeviceList* list = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    list = new TF_DeviceList;
    for (const auto& d : c->context.devices().all()) list->devices.push_back(d.get());
    return {};
  });
  return list;
}
void TF_DeleteDeviceList(TF_DeviceList* list) { delete list; }
int TF_DeviceListCount(const TF_DeviceList* list) { return list ? int(list->devices.size()) : 0; }

namespace {

const weft_engine::core::Device* device_at(const TF_DeviceList* list, int i, TF_Status* status) {
  const weft_engine::core::Device* d = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(list);
    if (i < 0 || size_t(i) >= list->devices.size()) return invalid_argument("index out of bounds");
    d = list->devices[size_t(i)];
    return {};
  });
  return d;
}

}  // namespace

const char* TF_DeviceListName(const TF_DeviceList* list, int i, TF_Status* status) {
  const auto* d = device_at(list, i, status);
  return d ? d->name().c_str() : nullptr;
}
const char* TF_DeviceListType(const TF_DeviceList* list, int i, TF_Status* status) {
  const auto* d = device_at(list, i, status);
  return d ? d->type().c_str() : nullptr;
}
int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int i, TF_Status* status) {
  const auto* d = device_at(list, i, status);
  return d ? d->memory_limit() : -1;
}
uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int i, TF_Status* status) {
  const auto* d = device_at(list, i, status);
  return d ? d->incarnation() : 0;
}

// ---- Tensor handles ----

TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status) {
  TFE_TensorHandle* h = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(t);
    if (!t->tensor.valid()) return invalid_argument("the tensor has no type");
    h = wrap(TensorHandle::make(t->tensor, nullptr));
    return {};
  });
  return h;
}
void TFE_DeleteTensorHandle(TFE_TensorHandle* h) {
  if (h) unwrap(h)->drop_ref();
}
TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) { return static_cast<TF_DataType>(h ? unwrap(h)->dtype() : DType::kInvalid); }

namespace {

// Waits for the value and hands the tensor to f.
template <class F>
void with_tensor(TFE_TensorHandle* h, TF_Status* status, F&& f) {
  guard(status, [&]() -> Status {
    if (!h) return invalid_argument("Invalid handle");
    WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
    return f(unwrap(h)->tensor());
  });
}

constexpr const char* kHostName = "/job:localhost/replica:0/task:0/device:CPU:0";

const char* device_name(TFE_TensorHandle* h, TF_Status* status) {
  const char* name = nullptr;
  guard(status, [&]() -> Status {
    if (!h) return invalid_argument("Invalid handle");
    const auto* d = unwrap(h)->device();
    name = d ? d->name().c_str() : kHostName;
    return {};
  });
  return name;
}

}  // namespace

int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) {
  int n = -1;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    if (custom_device_of(h)) {
      WEFT_ASSIGN(n, custom_num_dims(h));
    } else {
      n = t.rank();
    }
    return {};
  });
  return n;
}
int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) {
  int64_t n = -1;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    if (!custom_device_of(h)) {
      n = t.num_elements();
      return {};
    }
    WEFT_ASSIGN(const int rank, custom_num_dims(h));
    int64_t product = 1;
    for (int i = 0; i < rank; ++i) {
      WEFT_ASSIGN(const int64_t size, custom_dim(h, i));
      product = multiply_without_overflow(product, size);
    }
    n = product;
    return {};
  });
  return n;
}
int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int i, TF_Status* status) {
  int64_t n = -1;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    if (custom_device_of(h)) {
      WEFT_ASSIGN(const int rank, custom_num_dims(h));
      if (i < 0 || i >= rank) return invalid_argument("dimension ", i, " does not exist in a tensor of ", rank, " dimensions");
      WEFT_ASSIGN(n, custom_dim(h, i));
      return {};
    }
    if (i < 0 || i >= t.rank()) return invalid_argument("dimension ", i, " does not exist in shape ", t.shape());
    n = t.dim(i);
    return {};
  });
  return n;
}
const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) { return device_name(h, status); }
// Of a result in host memory of a device with its own, the host's.
const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  const char* name = device_name(h, status);
  if (!h || !name || !dynamic_cast<weft_engine::core::OwnMemoryDevice*>(unwrap(h)->device())) return name;
  return unwrap(h)->wait().ok() && !weft_engine::core::memory_of(unwrap(h)->tensor()) ? kHostName : name;
}

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h, TF_Status* status) {
  TFE_TensorHandle* copy = nullptr;
  guard(status, [&]() -> Status {
    if (!h) return invalid_argument("Invalid handle");
    copy = wrap(RefPtr<TensorHandle>::share(unwrap(h)));
    return {};
  });
  return copy;
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) {
  TF_Tensor* out = nullptr;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    if (is_packed(h)) return invalid_argument("Resolve() is not supported on packed TensorHandles.");
    if (custom_device_of(h)) {
      TFE_TensorHandle* copy = nullptr;
      WEFT_RETURN_IF_ERROR(custom_copy(custom_context_of(h), h, nullptr, kHostName, &copy));
      if (!copy) return internal_error("the custom device gave no copy");
      const RefPtr<TensorHandle> owned = RefPtr<TensorHandle>::adopt(unwrap(copy));
      if (custom_device_of(copy)) return internal_error("the custom device gave a copy that is not in the host's memory");
      WEFT_RETURN_IF_ERROR(owned->wait());
      out = new TF_Tensor{owned->tensor()};
      return {};
    }
    WEFT_ASSIGN(Tensor here, weft_engine::core::to_host(t));
    out = new TF_Tensor{std::move(here)};
    return {};
  });
  return out;
}

// By its full name or the part that says it inside a process, as TensorFlow finds the target of a copy; no name is the first CPU.
static Result<weft_engine::core::Device*> device_named(weft_engine::eager::Context& context, std::string_view name) {
  if (name.empty()) return context.host();
  for (const auto& d : context.devices().all()) {
    const std::string local = cat(d->type(), ":", d->parsed_name().id.value_or(0));
    if (name == d->name() || name == local || name == "/device:" + local) return d.get();
  }
  return invalid_argument(name, " unknown device.");
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context* c, const char* name, TF_Status* status) {
  TFE_TensorHandle* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_NOT_NULL(c);
    const std::shared_ptr<CustomDevice> custom = name ? find_custom_device(c, name) : nullptr;
    weft_engine::core::Device* target = nullptr;
    if (!custom) {
      WEFT_ASSIGN(target, device_named(c->context, name ? name : ""));
    }
    if (custom || custom_device_of(h)) {
      WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
      return custom_copy(c, h, custom.get(), target ? target->name().c_str() : name, &out);
    }
    WEFT_ASSIGN(auto there, weft_engine::eager::copy_to(c->context, weft_engine::core::RefPtr<TensorHandle>::share(unwrap(h)), target));
    out = wrap(std::move(there));
    return {};
  });
  return out;
}
