// TFE_Context and TFE_TensorHandle.
#include "capi/internal.h"
#include "io/op_def.h"
#include "io/rewriter_config.h"
#include "tensorflow/c/eager/c_api_experimental.h"

using namespace weft::capi;  // NOLINT
using weft::eager::TensorHandle;

struct TFE_ContextOptions {
  weft::eager::ContextOptions options;
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
    WEFT_ASSIGN(weft::io::SessionConfig c, weft::io::decode_config(bytes));
    WEFT_ASSIGN(o->options.disabled_passes, weft::io::disabled_passes(bytes));
    o->options.auto_compile = weft::io::wants_jit(bytes);
    o->options.cpu_devices = c.cpu_devices;
    o->options.intra_threads = c.intra_threads;
    o->options.inter_threads = c.inter_threads;
    o->options.log_device_placement = c.log_device_placement;
    if (c.has_soft_placement) o->options.soft_placement = c.allow_soft_placement;
    return {};
  });
}
void TFE_ContextOptionsSetAsync(TFE_ContextOptions* o, unsigned char enable) {
  if (o) o->options.async = enable;
}
void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions* o, TFE_ContextDevicePlacementPolicy p) {
  if (o) o->options.policy = static_cast<weft::eager::PlacementPolicy>(p);
}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* o, TF_Status* status) {
  TFE_Context* c = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(o);
    c = new TFE_Context(o->options);
    return {};
  });
  return c;
}
void TFE_DeleteContext(TFE_Context* c) { delete c; }

void TFE_ContextClearCaches(TFE_Context* c) {
  if (c) c->context.clear_kernels();
}
TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context* c) {
  return static_cast<TFE_ContextDevicePlacementPolicy>(c ? c->context.policy.load() : weft::eager::PlacementPolicy::kSilent);
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

const weft::core::Device* device_at(const TF_DeviceList* list, int i, TF_Status* status) {
  const weft::core::Device* d = nullptr;
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
    WEFT_NOT_NULL(h);
    WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
    return f(unwrap(h)->tensor());
  });
}

constexpr const char* kHostName = "/job:localhost/replica:0/task:0/device:CPU:0";

const char* device_name(TFE_TensorHandle* h, TF_Status* status) {
  const char* name = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
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
    n = t.rank();
    return {};
  });
  return n;
}
int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) {
  int64_t n = -1;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    n = t.num_elements();
    return {};
  });
  return n;
}
int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int i, TF_Status* status) {
  int64_t n = -1;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    if (i < 0 || i >= t.rank()) return invalid_argument("dimension ", i, " does not exist in shape ", t.shape());
    n = t.dim(i);
    return {};
  });
  return n;
}
const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) { return device_name(h, status); }
const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) { return device_name(h, status); }

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h, TF_Status* status) {
  TFE_TensorHandle* copy = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    copy = wrap(RefPtr<TensorHandle>::share(unwrap(h)));
    return {};
  });
  return copy;
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) {
  TF_Tensor* out = nullptr;
  with_tensor(h, status, [&](const Tensor& t) -> Status {
    if (const auto* d = unwrap(h)->device(); d && !d->host_memory()) return unimplemented("reading a tensor from ", d->name());
    out = new TF_Tensor{t};
    return {};
  });
  return out;
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context* c, const char* name, TF_Status* status) {
  TFE_TensorHandle* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_NOT_NULL(c);
    WEFT_ASSIGN(weft::core::Device * target, c->context.devices().resolve(name ? name : "", false));
    WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
    weft::core::Device* source = unwrap(h)->device();
    Status copied;
    target->copy_from(source ? *source : *c->context.host(), unwrap(h)->tensor(), [&](Result<Tensor> t) {
      if (t.ok()) out = wrap(TensorHandle::make(std::move(t).value(), target));
      else copied = t.status();
    });
    return copied;
  });
  return out;
}
