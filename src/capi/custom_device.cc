#include "capi/custom_device.h"

#include <algorithm>
#include <atomic>

#include "capi/checked.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::eager::TensorHandle;

namespace weft_engine::capi {

// A device that the engine cannot use; it gives handles their name and finds the callbacks.
class CustomDevice final : public Device {
 public:
  CustomDevice(DeviceName name, const TFE_CustomDevice& callbacks, void* info, TFE_Context* context)
      : Device(std::move(name), 0, {}), callbacks(callbacks), info(info), context(context) {}
  bool host_memory() const override { return false; }
  Result<Tensor> allocate(DType, const Shape&) override { return unimplemented("memory of the custom device ", name()); }
  AllocatorStats stats() const override { return {}; }
  void copy_from(Device&, const Tensor&, CopyDone done) override {
    done(unimplemented("a copy to the custom device ", name(), " inside the engine"));
  }
  void synchronize(std::function<void(Status)> done) override { done({}); }

  // Its callbacks may be called until the context that it was registered with is deleted; handles may outlive that.
  Status alive() const { return context ? Status() : failed_precondition("the context of the custom device ", name(), " was deleted"); }

  const TFE_CustomDevice callbacks;
  void* const info;
  std::atomic<TFE_Context*> context;  // null: deleted
};

// Of one context. Handles hold theirs, too, and name them after the context is deleted.
struct CustomDevices {
  std::mutex mutex;
  std::vector<std::shared_ptr<CustomDevice>> all;

  ~CustomDevices() {
    for (const auto& d : all) {
      d->context = nullptr;
      if (d->callbacks.delete_device) d->callbacks.delete_device(d->info);
    }
  }
};

namespace {

// What is in the memory of a tensor that is not the engine's.
struct Foreign {
  void* data = nullptr;
  TFE_CustomDeviceTensorHandle methods{};
  std::vector<RefPtr<TensorHandle>> parts;  // of a packed one
  std::shared_ptr<CustomDevice> device;     // of the handle, held as long as the tensor; null for a packed one
  ~Foreign() {
    if (data && methods.deallocator) methods.deallocator(data);
  }
};

// The device of packed handles.
CustomDevice* composite_device() {
  static auto* device = [] {
    DeviceName name = DeviceName::parse("/job:localhost/replica:0/task:0/device:COMPOSITE:0").value();
    return new CustomDevice(std::move(name), TFE_CustomDevice{}, nullptr, nullptr);
  }();
  return device;
}

Foreign& foreign(TFE_TensorHandle* h) { return *static_cast<Foreign*>(const_cast<void*>(unwrap(h)->tensor().raw())); }

TFE_TensorHandle* new_handle(std::unique_ptr<Foreign> value, DType dtype, CustomDevice* device) {
  auto release = [](void* data, size_t, void*) { delete static_cast<Foreign*>(data); };
  auto memory = Buffer::wrap(value.get(), sizeof(Foreign), release, nullptr);
  (void)value.release();
  return wrap(TensorHandle::make(Tensor(dtype, Shape(), std::move(memory)), device));
}

// The part of a packed handle that lives on a device; the first where none does.
RefPtr<TensorHandle> part_on(TFE_TensorHandle* packed, const std::string& device) {
  const auto& parts = foreign(packed).parts;
  const auto it = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p->device() && p->device()->name() == device; });
  return it == parts.end() ? parts.front() : *it;
}

// The one custom device that the inputs live on; null if there is none.
Result<CustomDevice*> device_of_inputs(TFE_Op* op) {
  CustomDevice* found = nullptr;
  for (const auto& input : op->op.inputs()) {
    auto* h = reinterpret_cast<TFE_TensorHandle*>(input.get());
    CustomDevice* d = is_packed(h) ? nullptr : custom_device_of(h);
    if (d && found && d != found)
      return invalid_argument(
          "If an operation has one of its inputs in a custom device, then all inputs should be on that same custom device or another physical "
          "device. Operation ",
          op->op.spec()->name, " has one input in custom device ", found->name(), " and at least one input in a different custom device ", d->name());
    if (d) found = d;
  }
  return found;
}

}  // namespace

bool is_packed(TFE_TensorHandle* h) { return h && unwrap(h)->device() && unwrap(h)->device() == composite_device(); }

CustomDevice* custom_device_of(TFE_TensorHandle* h) { return h ? dynamic_cast<CustomDevice*>(unwrap(h)->device()) : nullptr; }

TFE_Context* custom_context_of(TFE_TensorHandle* h) { return custom_device_of(h)->context; }

std::shared_ptr<CustomDevice> find_custom_device(TFE_Context* c, std::string_view name) {
  if (!c || !c->custom) return nullptr;
  std::lock_guard lock(c->custom->mutex);
  for (const auto& d : c->custom->all) {
    if (d->name() == name) return d;
  }
  return nullptr;
}

Result<int> custom_num_dims(TFE_TensorHandle* h) {
  Foreign& f = foreign(h);
  if (is_packed(h)) return f.parts.front()->tensor().rank();
  int n = -1;
  WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { n = f.methods.num_dims(f.data, s); }));
  return n;
}

Result<int64_t> custom_dim(TFE_TensorHandle* h, int i) {
  Foreign& f = foreign(h);
  if (is_packed(h)) return f.parts.front()->tensor().dim(i);
  int64_t n = -1;
  WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { n = f.methods.dim(f.data, i, s); }));
  return n;
}

void* custom_data(TFE_TensorHandle* h) { return foreign(h).data; }

Status custom_copy(TFE_Context* c, TFE_TensorHandle* h, CustomDevice* to, const char* name, TFE_TensorHandle** out) {
  *out = nullptr;
  if (is_packed(h)) return internal_error("Invalid Tensor call on a PACKED handle");
  if (!to) WEFT_RETURN_IF_ERROR(custom_device_of(h)->alive());
  return checked([&](TF_Status* s) {
    if (to) {
      *out = to->callbacks.copy_tensor_to_device(c, h, s, to->info);
    } else {
      CustomDevice* from = custom_device_of(h);
      *out = from->callbacks.copy_tensor_from_device(c, h, name, s, from->info);
    }
  });
}

Status run_on_custom_device(TFE_Op* op, TFE_TensorHandle** outputs, int* num_outputs, bool* taken) {
  *taken = false;
  const auto named = find_custom_device(op->owner, op->device_text);
  CustomDevice* device = named.get();
  WEFT_ASSIGN(CustomDevice* of_inputs, device_of_inputs(op));
  if (!device && op->device_text.empty()) device = of_inputs;
  if (device) {
    *taken = true;
    WEFT_RETURN_IF_ERROR(device->alive());
    return checked([&](TF_Status* s) { device->callbacks.execute(op, num_outputs, outputs, s, device->info); });
  }
  // On a device of the engine: what lives elsewhere comes there first.
  const std::string host = op->owner->context.host()->name();
  for (size_t i = 0; i < op->op.inputs().size(); ++i) {
    auto* h = reinterpret_cast<TFE_TensorHandle*>(op->op.inputs()[i].get());
    if (is_packed(h)) {
      WEFT_RETURN_IF_ERROR(op->op.set_input(int(i), part_on(h, op->device_text.empty() ? host : op->device_text)));
    } else if (custom_device_of(h)) {
      TFE_TensorHandle* copy = nullptr;
      WEFT_RETURN_IF_ERROR(custom_copy(op->owner, h, nullptr, op->device_text.empty() ? host.c_str() : op->device_text.c_str(), &copy));
      if (!copy) return internal_error("the custom device gave no copy of an input of ", op->op.spec()->name);
      WEFT_RETURN_IF_ERROR(op->op.set_input(int(i), RefPtr<TensorHandle>::adopt(unwrap(copy))));
    }
  }
  return {};
}

}  // namespace weft_engine::capi

// ---- The C functions ----

namespace {

Status add_device(TFE_Context* c, const TFE_CustomDevice& device, const char* name, void* info) {
  WEFT_NOT_NULL(c);
  WEFT_NOT_NULL(name);
  if (!device.execute || !device.copy_tensor_to_device || !device.copy_tensor_from_device)
    return invalid_argument("a custom device needs the callbacks that execute and copy");
  auto parsed = DeviceName::parse(name);
  if (!parsed.ok() || !parsed->complete())
    return invalid_argument(
        name, " could not be parsed as a device name. Use the full /job:<name>/replica:<replica>/task:<task>/device:<type>:<device_num> format.");
  if (c->context.devices().find(*parsed)) return already_exists(name, " already registered as a physical device.");
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (find_custom_device(c, parsed->to_string())) return already_exists(name, " already registered as a custom device.");
  if (!c->custom) c->custom = std::make_shared<CustomDevices>();
  std::lock_guard devices(c->custom->mutex);
  c->custom->all.push_back(std::make_shared<CustomDevice>(std::move(*parsed), device, info, c));
  return {};
}

}  // namespace

void TFE_RegisterCustomDevice(TFE_Context* c, TFE_CustomDevice device, const char* name, void* info, TF_Status* status) {
  guard(status, [&]() -> Status {
    Status s = add_device(c, device, name, info);
    if (!s.ok() && device.delete_device) device.delete_device(info);  // the device is the context's from the call on
    return s;
  });
}

bool TFE_IsCustomDevice(TFE_Context* c, const char* name) { return name && find_custom_device(c, name) != nullptr; }

TFE_TensorHandle* TFE_NewCustomDeviceTensorHandle(TFE_Context* c, const char* device, TF_DataType type, void* data,
                                                  TFE_CustomDeviceTensorHandle methods, TF_Status* status) {
  TFE_TensorHandle* h = nullptr;
  guard(status, [&]() -> Status {
    auto value = std::make_unique<Foreign>();
    value->data = data;
    value->methods = methods;
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(device);
    if (!methods.num_dims || !methods.dim) return invalid_argument("a tensor of a custom device needs the callbacks that say its shape");
    value->device = find_custom_device(c, device);
    if (!value->device) return invalid_argument(device, " unknown device.");
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    CustomDevice* d = value->device.get();
    h = new_handle(std::move(value), dtype, d);
    return {};
  });
  return h;
}

TFE_TensorHandle* TFE_CreatePackedTensorHandle(TFE_Context* c, TFE_TensorHandle** handles, int* num_handles, TF_Status* status) {
  TFE_TensorHandle* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(num_handles);
    if (*num_handles <= 0) return invalid_argument("Handles should not be empty.");
    WEFT_NOT_NULL(handles);
    for (int i = 0; i < *num_handles; ++i) WEFT_NOT_NULL(handles[i]);
    if (CustomDevice* d = is_packed(handles[0]) ? nullptr : custom_device_of(handles[0])) {
      WEFT_RETURN_IF_ERROR(d->alive());
      if (!d->callbacks.pack) return unimplemented("This custom device does not support packing tensors.");
      return checked([&](TF_Status* s) { out = d->callbacks.pack(c, handles, *num_handles, s, d->info); });
    }
    auto value = std::make_unique<Foreign>();
    for (int i = 0; i < *num_handles; ++i) {
      if (custom_device_of(handles[i])) return invalid_argument("tensors of custom devices cannot be packed with those of others");
      WEFT_RETURN_IF_ERROR(unwrap(handles[i])->wait());
      value->parts.push_back(RefPtr<TensorHandle>::share(unwrap(handles[i])));
    }
    c->has_packed.store(true, std::memory_order_relaxed);
    out = new_handle(std::move(value), unwrap(handles[0])->dtype(), composite_device());
    return {};
  });
  return out;
}
