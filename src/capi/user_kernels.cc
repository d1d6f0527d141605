// kernels.h: kernels that a program or a loaded library brings, called through plain C functions.
#include "capi/internal.h"
#include "core/error_notes.h"
#include "core/own_memory.h"
#include "core/resource.h"
#include "io/attr_codec.h"
#include "io/graph_def.h"
#include "op/placed_kernel.h"
#include "op/rendezvous.h"
#include "runtime/function_runtime.h"
#include "tensorflow/c/kernels.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::AttrValue;
using weft_engine::op::Kernel;
using weft_engine::op::KernelContext;
using weft_engine::op::NodeInfo;

struct TF_OpKernelConstruction {
  const NodeInfo& node;
  Status status;
};

struct TF_OpKernelContext {
  KernelContext& context;
  const weft_engine::op::HostArgs& host;
  Status status;
  // In host memory, as all is on the host itself.
  bool input_on_host(int i) const { return context.device().host_memory() || host.inputs[size_t(i)]; }
  bool output_on_host(int i) const { return context.device().host_memory() || host.outputs[size_t(i)]; }
  Result<Tensor*> allocate(int i, const Shape& shape) {
    if (context.device().host_memory() || !host.outputs[size_t(i)]) return context.allocate(i, shape);
    WEFT_ASSIGN(Tensor t, Tensor::allocate(context.output_type(i), shape));
    context.set_output(i, std::move(t));
    return &context.output(i);
  }
};

struct TF_AsyncOpKernelDoneCallback {
  std::unique_ptr<TF_OpKernelContext> context;
  Kernel::Done done;
};

struct TF_KernelBuilder {
  std::string op, device;
  void* (*create)(TF_OpKernelConstruction*) = nullptr;
  void (*compute)(void*, TF_OpKernelContext*) = nullptr;
  void (*compute_async)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*) = nullptr;
  void (*destroy)(void*) = nullptr;
  std::map<std::string, std::vector<DType>> constraints;
  std::vector<std::string> host_memory;
  int priority = 0;
};

namespace {

// The functions of a builder, shared by all kernels made from it.
struct Functions {
  decltype(TF_KernelBuilder::create) create;
  decltype(TF_KernelBuilder::compute) compute;
  decltype(TF_KernelBuilder::compute_async) compute_async;
  decltype(TF_KernelBuilder::destroy) destroy;
};

class UserKernel final : public Kernel {
 public:
  UserKernel(const Functions& f, void* object, weft_engine::op::HostArgs host) : f_(f), object_(object), host_(std::move(host)) {}
  ~UserKernel() override {
    if (f_.destroy && f_.create) f_.destroy(object_);
  }
  bool is_async() const override { return f_.compute_async != nullptr; }
  Status run(KernelContext& c) override {
    TF_OpKernelContext context{c, host_, {}};
    f_.compute(object_, &context);
    return context.status;
  }
  void run_async(KernelContext& c, Done done) override {
    auto* callback = new TF_AsyncOpKernelDoneCallback{std::make_unique<TF_OpKernelContext>(TF_OpKernelContext{c, host_, {}}), std::move(done)};
    f_.compute_async(object_, callback->context.get(), callback);
  }

 private:
  Functions f_;
  void* object_;
  const weft_engine::op::HostArgs host_;
};

TF_KernelBuilder* new_builder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*), void (*destroy)(void*)) {
  return guard_pointer<TF_KernelBuilder>([&] {
    auto* b = new TF_KernelBuilder;
    b->op = op ? op : "";
    b->device = device ? device : "CPU";
    b->create = create;
    b->destroy = destroy;
    return b;
  });
}

Status register_kernel(TF_KernelBuilder& b) {
  if (!b.compute && !b.compute_async) return invalid_argument("a kernel needs a compute function");
  auto& registry = weft_engine::engine::Engine::get().registry();
  weft_engine::op::KernelDef def;
  def.device_type = b.device;
  def.priority = b.priority;
  def.host_memory_args = b.host_memory;
  std::vector<std::unique_ptr<DType[]>> types;
  for (auto& [attr, allowed] : b.constraints) {
    types.push_back(std::make_unique<DType[]>(allowed.size()));
    std::copy(allowed.begin(), allowed.end(), types.back().get());
    def.constraints.push_back({registry.intern(attr), std::span<const DType>(types.back().get(), allowed.size())});
  }
  const Functions f{b.create, b.compute, b.compute_async, b.destroy};
  def.make = [f, host = b.host_memory](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
    TF_OpKernelConstruction construction{node, {}};
    void* object = f.create ? f.create(&construction) : nullptr;
    auto kernel = std::make_unique<UserKernel>(f, object, weft_engine::op::HostArgs::of(node, host));
    if (!construction.status.ok()) return construction.status;
    return std::unique_ptr<Kernel>(std::move(kernel));
  };
  WEFT_RETURN_IF_ERROR(registry.add_kernel(b.op, std::move(def)));
  for (auto& t : types) (void)t.release();  // kept for ever, as the registry keeps kernels
  return {};
}

}  // namespace

TF_KernelBuilder* TF_NewKernelBuilder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                                      void (*compute)(void*, TF_OpKernelContext*), void (*destroy)(void*)) {
  auto* b = new_builder(op, device, create, destroy);
  if (b) b->compute = compute;
  return b;
}
TF_KernelBuilder* TF_NewAsyncKernelBuilder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                                           void (*compute)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*), void (*destroy)(void*)) {
  auto* b = new_builder(op, device, create, destroy);
  if (b) b->compute_async = compute;
  return b;
}
void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* callback) {
  if (!callback) return;
  const std::unique_ptr<TF_AsyncOpKernelDoneCallback> owned(callback);
  owned->done(owned->context->status);
}
void TF_DeleteKernelBuilder(TF_KernelBuilder* b) { delete b; }

void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* b, const char* attr, TF_DataType type, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(b);
    WEFT_NOT_NULL(attr);
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    b->constraints[attr].push_back(dtype);
    return {};
  });
}
void TF_KernelBuilder_HostMemory(TF_KernelBuilder* b, const char* arg) {
  if (b && arg) b->host_memory.emplace_back(arg);
}
void TF_KernelBuilder_Priority(TF_KernelBuilder* b, int32_t priority) {
  if (b) b->priority = priority;
}
void TF_KernelBuilder_Label(TF_KernelBuilder*, const char*) {}  // labels choose kernels only where a graph requests it

void TF_RegisterKernelBuilder(const char*, TF_KernelBuilder* b, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(b);
    const std::unique_ptr<TF_KernelBuilder> owned(b);  // the call takes the builder
    return register_kernel(*owned);
  });
}
void TF_RegisterKernelBuilderWithKernelDef(const char*, const char* name, TF_KernelBuilder* b, TF_Status* status) {
  TF_RegisterKernelBuilder(name, b, status);
}

// ---- What a kernel sees of a run ----

int TF_NumInputs(TF_OpKernelContext* c) { return c ? c->context.num_inputs() : 0; }
int TF_NumOutputs(TF_OpKernelContext* c) { return c ? c->context.num_outputs() : 0; }

void TF_GetInput(TF_OpKernelContext* c, int i, TF_Tensor** tensor, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(tensor);
    if (i < 0 || i >= c->context.num_inputs()) return out_of_range("input index out of range");
    *tensor = new TF_Tensor{c->context.input(i)};
    return {};
  });
}
TF_DataType TF_InputDatatype(TF_OpKernelContext* c, int i) {
  return static_cast<TF_DataType>(c && i >= 0 && i < c->context.num_inputs() ? c->context.input(i).dtype() : DType::kInvalid);
}
TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* c, int i) {
  return static_cast<TF_DataType>(c && i >= 0 && i < c->context.num_outputs() ? c->context.output_type(i) : DType::kInvalid);
}
void TF_InputRange(TF_OpKernelContext* c, const char* name, TF_InputRange_Args* args) {
  if (!args) return;
  guard(args->status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(name);
    const auto& inputs = c->context.node().spec().signature().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].name != name) continue;
      const auto r = c->context.node().input_range(int(i));
      args->start = r.begin;
      args->stop = r.end;
      return {};
    }
    return invalid_argument("Unknown input name: ", name);
  });
}
bool TF_IsHostMemoryInput(TF_OpKernelContext* c, int i, TF_Status* status) {
  guard(status, [&]() -> Status { return c && i >= 0 && i < c->context.num_inputs() ? Status() : out_of_range("input index out of range"); });
  return c && i >= 0 && i < c->context.num_inputs() && c->input_on_host(i);
}
bool TF_IsHostMemoryOutput(TF_OpKernelContext* c, int i, TF_Status* status) {
  guard(status, [&]() -> Status { return c && i >= 0 && i < c->context.num_outputs() ? Status() : out_of_range("output index out of range"); });
  return c && i >= 0 && i < c->context.num_outputs() && c->output_on_host(i);
}

namespace {

Status check_output(TF_OpKernelContext* c, int i, DType dtype) {
  WEFT_NOT_NULL(c);
  if (i < 0 || i >= c->context.num_outputs()) return out_of_range("output index out of range");
  if (dtype != c->context.output_type(i))
    return invalid_argument("expected type for output ", i, ": ", dtype_name(c->context.output_type(i)), ", got ", dtype_name(dtype));
  return {};
}

}  // namespace

void TF_SetOutput(TF_OpKernelContext* c, int i, const TF_Tensor* tensor, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(tensor);
    WEFT_RETURN_IF_ERROR(check_output(c, i, tensor->tensor.dtype()));
    c->context.set_output(i, tensor->tensor);
    return {};
  });
}
TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* c, int i, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    if (i < 0 || i >= c->context.num_outputs()) return out_of_range("output index out of range");
    if (!c->context.output(i).valid()) return failed_precondition("output ", i, " is not allocated yet");
    out = new TF_Tensor{c->context.output(i)};
    return {};
  });
  return out;
}
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* c, int i, TF_DataType type, const int64_t* dims, int num_dims, size_t, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    WEFT_RETURN_IF_ERROR(check_output(c, i, dtype));
    WEFT_ASSIGN(Shape shape, shape_from(dims, num_dims));
    WEFT_ASSIGN(Tensor * t, c->allocate(i, shape));
    out = new TF_Tensor{*t};
    return {};
  });
  return out;
}
TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext* c, const int* candidates, int num_candidates, int i, const int64_t* dims, int num_dims,
                                           int* forwarded, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    if (i < 0 || i >= c->context.num_outputs()) return out_of_range("output index out of range");
    WEFT_ASSIGN(Shape shape, shape_from(dims, num_dims));
    if (forwarded) *forwarded = -1;
    for (int k = 0; candidates && k < num_candidates; ++k) {
      if (candidates[k] < 0 || candidates[k] >= c->context.num_inputs() || candidates[k] > 63) continue;
      WEFT_ASSIGN(Tensor * t, c->context.allocate_or_reuse(i, shape, candidates[k]));
      if (t->raw() != c->context.input(candidates[k]).raw()) continue;
      if (forwarded) *forwarded = candidates[k];
      out = new TF_Tensor{*t};
      return {};
    }
    WEFT_ASSIGN(Tensor * t, c->allocate(i, shape));
    out = new TF_Tensor{*t};
    return {};
  });
  return out;
}
TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* c, TF_DataType type, const int64_t* dims, int num_dims, TF_AllocatorAttributes* where,
                           TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    WEFT_ASSIGN(Shape shape, shape_from(dims, num_dims));
    const bool on_host = where && where->struct_size >= TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE && where->on_host;
    WEFT_ASSIGN(Tensor t, on_host ? Tensor::allocate(dtype, shape) : c->context.temp(dtype, shape));
    out = new TF_Tensor{std::move(t)};
    return {};
  });
  return out;
}
SP_Stream TF_GetStream(TF_OpKernelContext* c, TF_Status* status) {
  SP_Stream out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    auto* device = dynamic_cast<OwnMemoryDevice*>(&c->context.device());
    if (!device) return unimplemented(c->context.device().type(), " has no stream");
    out = static_cast<SP_Stream>(device->stream());
    return {};
  });
  return out;
}
void TF_OpKernelContext_Failure(TF_OpKernelContext* c, TF_Status* status) {
  if (c && status) c->status = status->status;
}
int64_t TF_StepId(TF_OpKernelContext* c) { return c ? c->context.env().step_id : 0; }
int64_t TF_GetStepId(TF_OpKernelContext* c) { return TF_StepId(c); }
uint64_t TF_GetFrameId(TF_OpKernelContext*) { return 0; }
int64_t TF_GetIterId(TF_OpKernelContext*) { return 0; }
int TF_GetDeviceId(TF_OpKernelContext* c) { return c ? c->context.device().parsed_name().id.value_or(0) : 0; }
int TF_GetGraphDefVersion(TF_OpKernelContext*) { return 0; }

namespace {
TF_StringView view(std::string_view s) { return TF_StringView{s.data(), s.size()}; }
}  // namespace

// A kernel does not know the names of the nodes before it; TensorFlow's eager runtime has none either and says this.
TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* c, size_t i) {
  return c && i < size_t(c->context.num_inputs()) ? view("dummy_input") : view("");
}

TF_StringView TF_GetDeviceName(TF_OpKernelContext* c) { return c ? view(c->context.device().name()) : view(""); }
TF_StringView TF_GetOpKernelName(TF_OpKernelContext* c) { return c ? view(c->context.node().name()) : view(""); }
TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* c) { return c ? view(c->context.resources().default_container()) : view(""); }

// ---- Messages about the surroundings ----

void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext* c, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(buffer);
    const auto* runtime = dynamic_cast<const weft_engine::runtime::FunctionLibraryRuntime*>(c->context.env().functions);
    if (!runtime) {
      fill_buffer(buffer, {});
      return {};
    }
    WEFT_ASSIGN(const std::string bytes, weft_engine::io::encode_function_library(*runtime->library()));
    fill_buffer(buffer, bytes);
    return {};
  });
}
// Kernels see no ConfigProto: what it says was read when the context or session was made. An empty one is what an eager context has in TensorFlow.
void TF_GetSerializedConfigProto(TF_OpKernelContext* c, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(buffer);
    fill_buffer(buffer, {});
    return {};
  });
}
void TF_GetSerializedResourceHandleProto(TF_OpKernelContext* c, int i, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(buffer);
    if (i < 0 || i >= c->context.num_inputs()) return out_of_range("input ", i, " does not exist");
    const Tensor& t = c->context.input(i);
    if (t.dtype() != DType::kResource || t.num_elements() < 1) return invalid_argument("input ", i, " is not a resource handle");
    const ResourceHandle::Info* h = t.data<ResourceHandle>()[0].info();
    if (!h) return invalid_argument("input ", i, " is an empty resource handle");
    weft_engine::wire::ProtoWriter w;
    w.bytes(1, h->device);
    w.bytes(2, h->container);
    w.bytes(3, h->name);
    w.varint(4, h->hash_code);
    w.bytes(5, h->type_name);
    fill_buffer(buffer, w.str());
    return {};
  });
}

// A step of this engine ends when its kernels did, so that there is nothing to count.
void TF_IncNumDeferredOps(TF_OpKernelContext*) {}
void TF_DecNumDeferredOps(TF_OpKernelContext*) {}

namespace {

std::string_view key_of(const TF_RendezvousParsedKey* key) {
  return key && key->full_key ? std::string_view(key->full_key, key->full_key_size) : std::string_view();
}

void rendezvous_send(void* rendezvous, TF_RendezvousSend_Params* p) {
  if (!rendezvous || !p) return;
  guard(p->status, [&]() -> Status {
    return static_cast<weft_engine::op::Rendezvous*>(rendezvous)->send(key_of(p->key), p->tensor ? p->tensor->tensor : Tensor(), p->is_dead);
  });
}
void rendezvous_recv(void* rendezvous, TF_RendezvousAsyncRecv_Params* p) {
  if (!rendezvous || !p || !p->on_done.callback) return;
  const TF_RendezvousDoneCallbackImpl on_done = p->on_done;
  static_cast<weft_engine::op::Rendezvous*>(rendezvous)->recv_async(key_of(p->key), [on_done](Status s, Tensor value, bool dead) {
    const TF_Status status{std::move(s)};
    const TF_Tensor tensor{std::move(value)};
    TF_RendezvousDoneCallback_Params done{on_done.context, &status, tensor.tensor.valid() ? &tensor : nullptr, dead};
    on_done.callback(on_done.context, &done);
  });
}
void rendezvous_abort(void* rendezvous, const TF_Status* status) {
  if (rendezvous && status) static_cast<weft_engine::op::Rendezvous*>(rendezvous)->abort(status->status);
}

}  // namespace

// Only steps that run on several devices have one; elsewhere the thunk is empty.
TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* c) {
  weft_engine::op::Rendezvous* r = c ? c->context.env().rendezvous : nullptr;
  if (!r) return {nullptr, nullptr, nullptr, nullptr};
  return {r, rendezvous_send, rendezvous_recv, rendezvous_abort};
}

// ---- What a kernel sees while it is made ----

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* c, TF_Status* status) {
  if (c && status) c->status = status->status;
}
TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* c) { return c ? view(c->node.name()) : view(""); }
TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* c, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    weft_engine::wire::ProtoWriter w;
    w.bytes(1, c->node.name());
    w.bytes(2, c->node.op());
    const auto& sig = c->node.spec().signature();
    for (size_t i = 0; i < sig.attrs.size(); ++i) {
      weft_engine::wire::ProtoWriter entry;
      entry.bytes(1, sig.attrs[i].name);
      WEFT_ASSIGN(std::string value, weft_engine::io::encode_attr(c->node.attrs()[i]));
      entry.bytes(2, value);
      w.message(5, entry);
    }
    out = new_buffer(w.str());
    return {};
  });
  return out;
}
bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* c, const char* name, TF_Status* status) {
  bool has = false;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(name);
    has = c->node.find_attr(name) != nullptr;
    return {};
  });
  return has;
}

namespace {

template <class T>
Result<const T*> attr_of(TF_OpKernelConstruction* c, const char* name) {
  WEFT_NOT_NULL(c);
  WEFT_NOT_NULL(name);
  const AttrValue* v = c->node.find_attr(name);
  if (!v) return invalid_argument("Operation '", c->node.name(), "' has no attr named '", name, "'.");
  const T* t = v->get<T>();
  if (!t) return invalid_argument("Attribute '", name, "' is of type ", v->kind());
  return t;
}

template <class T, class Out>
void get_plain(TF_OpKernelConstruction* c, const char* name, Out* out, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(out);
    WEFT_ASSIGN(const T* v, attr_of<T>(c, name));
    *out = static_cast<Out>(*v);
    return {};
  });
}

template <class T, class Out>
void get_list(TF_OpKernelConstruction* c, const char* name, Out* out, int most, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const std::vector<T>* v, attr_of<std::vector<T>>(c, name));
    if (!v->empty()) WEFT_NOT_NULL(out);
    for (int i = 0; i < most && size_t(i) < v->size(); ++i) out[i] = static_cast<Out>((*v)[size_t(i)]);
    return {};
  });
}

}  // namespace

void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* c, const char* n, TF_DataType* v, TF_Status* s) { get_plain<DType>(c, n, v, s); }
void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* c, const char* n, int32_t* v, TF_Status* s) { get_plain<int64_t>(c, n, v, s); }
void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* c, const char* n, int64_t* v, TF_Status* s) { get_plain<int64_t>(c, n, v, s); }
void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* c, const char* n, float* v, TF_Status* s) { get_plain<float>(c, n, v, s); }
void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* c, const char* n, TF_Bool* v, TF_Status* s) { get_plain<bool>(c, n, v, s); }
void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* c, const char* n, TF_DataType* v, int most, TF_Status* s) {
  get_list<DType>(c, n, v, most, s);
}
void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* c, const char* n, int32_t* v, int most, TF_Status* s) {
  get_list<int64_t>(c, n, v, most, s);
}
void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* c, const char* n, int64_t* v, int most, TF_Status* s) {
  get_list<int64_t>(c, n, v, most, s);
}
void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* c, const char* n, float* v, int most, TF_Status* s) {
  get_list<float>(c, n, v, most, s);
}
void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* c, const char* n, TF_Bool* v, int most, TF_Status* s) {
  get_list<bool>(c, n, v, most, s);
}

void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* c, const char* name, char* out, size_t most, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const std::string* v, attr_of<std::string>(c, name));
    if (!most) return {};
    WEFT_NOT_NULL(out);
    const size_t n = std::min(v->size(), most);
    std::memcpy(out, v->data(), n);
    if (n < most) out[n] = 0;
    return {};
  });
}
void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* c, const char* name, char** values, size_t* lengths, int most, void* storage,
                                               size_t storage_size, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const std::vector<std::string>* v, attr_of<std::vector<std::string>>(c, name));
    if (!v->empty() && most > 0) {
      WEFT_NOT_NULL(values);
      WEFT_NOT_NULL(lengths);
    }
    char* at = static_cast<char*>(storage);
    for (int i = 0; i < most && size_t(i) < v->size(); ++i) {
      const std::string& s = (*v)[size_t(i)];
      if (s.size() > storage_size) return invalid_argument("Not enough storage to hold the requested list of strings");
      if (!s.empty()) WEFT_NOT_NULL(storage);
      if (!s.empty()) std::memcpy(at, s.data(), s.size());
      values[i] = at;
      lengths[i] = s.size();
      at += s.size();
      storage_size -= s.size();
    }
    return {};
  });
}
void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* c, const char* name, TF_Tensor** out, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(out);
    WEFT_ASSIGN(const Tensor* v, attr_of<Tensor>(c, name));
    *out = new TF_Tensor{*v};
    return {};
  });
}
void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* c, const char* name, TF_Tensor** out, int most, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const std::vector<Tensor>* v, attr_of<std::vector<Tensor>>(c, name));
    if (!v->empty() && most > 0) WEFT_NOT_NULL(out);
    for (int i = 0; i < most && size_t(i) < v->size(); ++i) out[i] = new TF_Tensor{(*v)[size_t(i)]};
    return {};
  });
}
TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* c, const char* name, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(name);
    const AttrValue* v = c->node.find_attr(name);
    if (!v)
      return weft_engine::core::names_node(not_found("No attr named '", name, "' in NodeDef:\n\t [[{{node ",
                                                     c->node.name().empty() ? std::string(c->node.op()) : c->node.name(), "}}]]"),
                                           c->node.name().empty() ? std::string(c->node.op()) : c->node.name());
    if (!v->get<weft_engine::op::FunctionAttr>()) return invalid_argument("AttrValue had value with type '", v->kind(), "' when 'func' expected");
    WEFT_ASSIGN(const std::string value, weft_engine::io::encode_attr(*v));
    weft_engine::wire::ProtoReader r(value);
    while (r.next()) {
      if (r.field() == 10) out = new_buffer(r.bytes());  // the NameAttrList inside of the AttrValue
    }
    return out ? Status() : internal_error("a function without a message");
  });
  return out;
}
void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* c, const char* name, int32_t* list_size, int32_t* total_size, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(name);
    WEFT_NOT_NULL(list_size);
    WEFT_NOT_NULL(total_size);
    const AttrValue* v = c->node.find_attr(name);
    if (!v) return invalid_argument("Operation '", c->node.name(), "' has no attr named '", name, "'.");
    *list_size = *total_size = -1;
    std::visit(
        [&](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, std::string>) {
            *total_size = int32_t(x.size());
          } else if constexpr (std::is_same_v<T, PartialShape>) {
            *total_size = x.rank();
          } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            *list_size = int32_t(x.size());
            *total_size = 0;
            for (const auto& s : x) *total_size += int32_t(s.size());
          } else if constexpr (requires(T list) { list.push_back(x[0]); }) {
            *list_size = int32_t(x.size());
          }
        },
        v->storage());
    return {};
  });
}
