// The experimental eager functions: executors, cancellation, context switches, handles on memory.
#include <atomic>
#include <map>

#include "capi/custom_device.h"
#include "capi/internal.h"
#include "core/log.h"
#include "io/attr_codec.h"
#include "op/cancellation.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::eager::TensorHandle;

// ---- Executors ----

struct TFE_Executor {
  std::shared_ptr<weft_engine::eager::Executor> executor;
};

TFE_Executor* TFE_NewExecutor(bool async, bool, int) {
  return guard_pointer<TFE_Executor>([&] { return new TFE_Executor{std::make_shared<weft_engine::eager::Executor>(async)}; });
}
void TFE_DeleteExecutor(TFE_Executor* e) { delete e; }
bool TFE_ExecutorIsAsync(TFE_Executor* e) { return e && e->executor->async(); }
void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* e, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(e);
    return e->executor->wait();
  });
}
void TFE_ExecutorClearError(TFE_Executor* e) {
  if (e) e->executor->clear_error();
}
void TFE_ContextSetExecutorForThread(TFE_Context* c, TFE_Executor* e) {
  if (c) c->context.set_executor_for_thread(e ? e->executor : nullptr);
}
TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* c) {
  return guard_pointer<TFE_Executor>([&]() -> TFE_Executor* { return c ? new TFE_Executor{c->context.executor()} : nullptr; });
}
void TFE_ContextAsyncWait(TFE_Context* c, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    return c->context.sync_executors();
  });
}

// ---- Context switches ----

uint64_t TFE_GetContextId(TFE_Context* c) { return reinterpret_cast<uintptr_t>(c); }
void TFE_ContextSetSoftDevicePlacement(TFE_Context* c, unsigned char on, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    c->context.soft_placement.store(on);
    return {};
  });
}
void TFE_ContextSetLogDevicePlacement(TFE_Context* c, unsigned char on, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    c->context.log_device_placement.store(on);
    return {};
  });
}
void TFE_ContextSetThreadLocalDevicePlacementPolicy(TFE_Context* c, TFE_ContextDevicePlacementPolicy p) {
  if (c) c->context.policy.store(static_cast<weft_engine::eager::PlacementPolicy>(p));
}
void TFE_ContextOptionsSetTfrt(TFE_ContextOptions*, bool) {}  // one runtime, whatever is asked
void TFE_ContextSetRunEagerOpAsFunction(TFE_Context*, unsigned char, TF_Status* status) { set(status, {}); }
void TFE_ContextSetJitCompileRewrite(TFE_Context*, unsigned char, TF_Status* status) { set(status, {}); }
// The devices are there since the context was made; only the same number can be asked for.
void TFE_SetLogicalCpuDevices(TFE_Context* c, int n, const char*, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    if (size_t(std::max(n, 0)) == c->context.devices().all().size()) return {};
    return failed_precondition("the number of CPU devices is fixed when the context is made: set device_count in its ConfigProto");
  });
}
void TFE_HostAddressSpace(TFE_Context* c, TF_Buffer* buffer) {
  if (!c || !buffer) return;
  guard(nullptr, [&]() -> Status {
    DeviceName name = c->context.host()->parsed_name();
    name.type.reset();
    name.id.reset();
    fill_buffer(buffer, name.to_string());
    return {};
  });
}
// A step ends nothing in eager mode: resources of a step belong to graphs.
void TFE_ContextStartStep(TFE_Context*) {}
void TFE_ContextEndStep(TFE_Context*) {}

// ---- Attributes as a value ----

struct TFE_OpAttrs {
  std::string op;
  std::vector<std::pair<std::string, weft_engine::op::AttrValue>> attrs;
};

const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op* op) {
  // Valid until the next call on this thread, as in TensorFlow it is until the op is freed.
  thread_local TFE_OpAttrs attrs;
  return guard_pointer<const TFE_OpAttrs>([&]() -> const TFE_OpAttrs* {
    if (!op || !op->usable() || !op->op.spec()) return nullptr;
    attrs.op = std::string(op->op.spec()->name);
    attrs.attrs.assign(op->op.attrs().begin(), op->op.attrs().end());
    return &attrs;
  });
}
void TFE_OpAddAttrs(TFE_Op* op, const TFE_OpAttrs* attrs) {
  if (!op || !attrs || !op->usable() || !op->op.spec()) return;
  for (const auto& [name, value] : attrs->attrs) {
    if (!op->knows(name)) (void)op->op.set_attr(name, value);
  }
}
void TFE_OpAttrsSerialize(const TFE_OpAttrs* attrs, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(attrs);
    WEFT_NOT_NULL(buffer);
    weft_engine::wire::ProtoWriter w;  // NameAttrList
    w.bytes(1, attrs->op);
    for (const auto& [name, value] : attrs->attrs) {
      weft_engine::wire::ProtoWriter entry;
      entry.bytes(1, name);
      WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_attr(value));
      entry.bytes(2, bytes);
      w.message(2, entry);
    }
    fill_buffer(buffer, w.str());
    return {};
  });
}

// ---- Cancellation ----

struct TFE_CancellationManager {
  struct Manager : weft_engine::op::CancellationManager {
    std::atomic<bool> cancelling{false};
  };
  // Shared with the ops that it was given to and with a call that cancels: either may outlast it.
  const std::shared_ptr<Manager> manager = std::make_shared<Manager>();
};

TFE_CancellationManager* TFE_NewCancellationManager() {
  return guard_pointer<TFE_CancellationManager>([] { return new TFE_CancellationManager; });
}
void TFE_DeleteCancellationManager(TFE_CancellationManager* m) { delete m; }
bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager* m) { return m && m->manager->cancelled(); }
bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager* m) { return m && m->manager->cancelling.load(); }
void TFE_CancellationManagerStartCancel(TFE_CancellationManager* m) {
  if (!m || m->manager->cancelled() || m->manager->cancelling.exchange(true)) return;
  const auto manager = m->manager;
  manager->start_cancel();
  manager->cancelling.store(false);
}
TFE_CancellationToken TFE_CancellationManagerGetToken(TFE_CancellationManager* m) { return m ? m->manager->get_token() : -1; }
bool TFE_CancellationManagerRegisterCallback(TFE_CancellationManager* m, TFE_CancellationToken token, const TFE_CancelCallback* c, const char*) {
  if (!m || !c) return false;
  return m->manager->register_callback(token, [c = *c] {
    if (c.callback) c.callback(c.context);
  });
}
bool TFE_CancellationManagerDeregisterCallback(TFE_CancellationManager* m, TFE_CancellationToken token) {
  return m && m->manager->deregister_callback(token);
}
bool TFE_CancellationManagerTryDeregisterCallback(TFE_CancellationManager* m, TFE_CancellationToken token) {
  return m && m->manager->try_deregister_callback(token);
}
void TFE_OpSetCancellationManager(TFE_Op* op, TFE_CancellationManager* m, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_NOT_NULL(m);
    op->cancellation = m->manager;
    return {};
  });
}

// ---- Handles on memory ----

TFE_TensorHandle* TFE_NewTensorHandleFromTensor(TFE_Context*, TF_Tensor* t, TF_Status* status) { return TFE_NewTensorHandle(t, status); }
TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType type, void* data, size_t length, TF_Status* status) {
  TFE_TensorHandle* h = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(data);
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    if (!is_simple(dtype) || length != dtype_size(dtype))
      return invalid_argument("a ", dtype_name(dtype), " scalar does not have ", length, " bytes");
    WEFT_ASSIGN(Tensor t, Tensor::allocate(dtype, Shape()));
    std::memcpy(t.raw(), data, length);
    h = wrap(TensorHandle::make(std::move(t), nullptr));
    return {};
  });
  return h;
}
TF_Tensor* TFE_AllocateHostTensor(TFE_Context* c, TF_DataType type, const int64_t* dims, int num_dims, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    WEFT_ASSIGN(Shape shape, shape_from(dims, num_dims));
    WEFT_ASSIGN(Tensor t, Tensor::allocate(dtype, shape));
    out = new TF_Tensor{std::move(t)};
    return {};
  });
  return out;
}
void* TFE_TensorHandleDevicePointer(TFE_TensorHandle* h, TF_Status* status) {
  void* p = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
    if (is_packed(h)) return invalid_argument("TFE_TensorHandleDevicePointer may not be called on a packed tensor handle.");
    p = custom_device_of(h) ? custom_data(h) : const_cast<void*>(unwrap(h)->tensor().raw());
    return {};
  });
  return p;
}
size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle* h, TF_Status* status) {
  size_t n = 0;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
    if (custom_device_of(h)) return invalid_argument("TFE_TensorHandleDeviceMemorySize may not be called on a REMOTE tensor handle.");
    n = unwrap(h)->tensor().byte_size();
    return {};
  });
  return n;
}
TFE_TensorHandle* TFE_NewTensorHandleFromDeviceMemory(TFE_Context* c, const char* device, TF_DataType type, const int64_t* dims, int num_dims,
                                                      void* data, size_t len, void (*deallocator)(void*, size_t, void*), void* arg,
                                                      TF_Status* status) {
  TFE_TensorHandle* h = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_ASSIGN(weft_engine::core::Device * target, c->context.devices().resolve(device ? device : "", false));
    const std::unique_ptr<TF_Tensor> t(TF_NewTensor(type, dims, num_dims, data, len, deallocator, arg));
    if (!t) return invalid_argument("the memory does not fit the type and shape");
    h = wrap(TensorHandle::make(t->tensor, target));
    return {};
  });
  return h;
}
const char* TFE_TensorHandleDeviceType(TFE_TensorHandle* h, TF_Status* status) {
  const char* type = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    const auto* d = unwrap(h)->device();
    type = d ? d->type().c_str() : "CPU";
    return {};
  });
  return type;
}
int TFE_TensorHandleDeviceID(TFE_TensorHandle* h, TF_Status* status) {
  int id = -1;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    const auto* d = unwrap(h)->device();
    id = d ? d->parsed_name().id.value_or(0) : 0;
    return {};
  });
  return id;
}
void TFE_TensorHandleGetStatus(TFE_TensorHandle* h, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    return unwrap(h)->wait();
  });
}

// ---- Debug information on handles ----

struct TFE_TensorDebugInfo {
  std::vector<int64_t> dims;
};
TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* h, TF_Status* status) {
  TFE_TensorDebugInfo* info = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_RETURN_IF_ERROR(unwrap(h)->wait());
    info = new TFE_TensorDebugInfo{unwrap(h)->tensor().shape().vec()};
    return {};
  });
  return info;
}
void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* info) { delete info; }
int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* info) { return info ? int(info->dims.size()) : -1; }
int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* info, int i) {
  return info && i >= 0 && size_t(i) < info->dims.size() ? info->dims[size_t(i)] : -1;
}

// ---- Facts about ops ----

int TF_OpIsStateful(const char* op, TF_Status* status) {
  int stateful = 0;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_ASSIGN(const weft_engine::op::OpSpec* spec, weft_engine::engine::Engine::get().registry().get(op));
    stateful = spec->stateful;
    return {};
  });
  return stateful;
}
const char* TF_GetNumberAttrForOpListInput(const char* op, int i, TF_Status* status) {
  const char* name = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_ASSIGN(const weft_engine::op::OpSpec* spec, weft_engine::engine::Engine::get().registry().get(op));
    const auto& sig = spec->signature();
    if (i < 0 || size_t(i) >= sig.inputs.size()) return invalid_argument(i, " out of range for ", op);
    const int attr = sig.inputs[size_t(i)].number_attr;
    if (attr < 0) return not_found(op, " does not have number_attr() defined.");
    name = sig.attrs[size_t(attr)].name.c_str();
    return {};
  });
  return name;
}
void TF_RegisterLogListener(void (*listener)(const char*)) { set_log_listener(listener); }
void TF_InitMain(const char*, int*, char***) {}
