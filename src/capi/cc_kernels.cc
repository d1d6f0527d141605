// Kernels that C++ sources of TensorFlow register (REGISTER_KERNEL_BUILDER), and what they see of a run.
#include "capi/cc_kernels.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "capi/cc_internal.h"
#include "core/error_notes.h"
#include "engine/registration.h"
#include "op/cancellation.h"
#include "op/step_resources.h"
#include "op/variable.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::CancellationManager;
using weft_engine::op::Kernel;
using weft_engine::op::KernelContext;
using weft_engine::op::KernelDef;
using weft_engine::op::NodeInfo;
using weft_engine::op::ResourceManager;

namespace {

KernelContext& context_of(weft_run* run) { return *reinterpret_cast<KernelContext*>(run); }

std::string node_name(const NodeInfo& node) { return node.name().empty() ? std::string(node.op()) : node.name(); }

// A kernel that said OK has set all its outputs.
Status check_outputs(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (!c.output(i).valid() && !is_ref_type(c.node().output_types()[size_t(i)]))
      return weft_engine::core::names_node(internal_error("Missing ", i, "-th output from {{node ", node_name(c.node()), "}}"), node_name(c.node()));
  }
  return {};
}

}  // namespace

struct weft_done {
  KernelContext* context;
  Kernel::Done done;
};

namespace {

class CcKernel final : public Kernel {
 public:
  CcKernel(const weft_kernel_def& f, void* object, bool asynchronous) : f_(f), object_(object), async_(asynchronous) {}
  ~CcKernel() override {
    if (object_) (void)caught([&] { return f_.destroy(object_), Status(); });
  }
  void* take_object() { return std::exchange(object_, nullptr); }
  bool is_async() const override { return async_; }
  Status run(KernelContext& c) override {
    WEFT_RETURN_IF_ERROR(caught([&] { return taken(f_.compute(object_, reinterpret_cast<weft_run*>(&c))); }));
    return check_outputs(c);
  }
  void run_async(KernelContext& c, Done done) override {
    auto* callback = new weft_done{&c, std::move(done)};
    Status s = caught([&] { return taken(f_.compute_async(object_, reinterpret_cast<weft_run*>(&c), callback)); });
    if (s.ok()) return;
    const std::unique_ptr<weft_done> owned(callback);
    owned->done(std::move(s));
  }

 private:
  const weft_kernel_def& f_;
  void* object_;  // null where somebody took it: nobody runs this kernel then
  const bool async_;
};

// What was registered, for ever: the registry keeps kernels.
struct Registered {
  weft_kernel_def functions;
  std::string op, device, label;
  std::vector<std::pair<std::string, std::vector<DType>>> constraints;
  std::vector<std::string> host_memory;
};

Result<std::unique_ptr<Kernel>> make_cc_kernel(const Registered& r, const NodeInfo& node) {
  weft_construction construction{node, r.device, {}};
  int asynchronous = 0;
  void* object = nullptr;
  Status s = caught([&] {
    object = r.functions.create(r.functions.data, &construction, &asynchronous);
    return Status();
  });
  auto kernel = std::make_unique<CcKernel>(r.functions, object, asynchronous != 0);
  if (s.ok()) s = construction.status;
  if (!s.ok()) return s;
  if (!object) return internal_error("the constructor of a kernel of ", node.op(), " gave none");
  return std::unique_ptr<Kernel>(std::move(kernel));
}

class Registrations {
 public:
  static Registrations& get() {
    static auto* all = new Registrations;
    return *all;
  }

  Status add(std::unique_ptr<Registered> kernel) {
    const std::lock_guard lock(mutex_);
    kernels_.push_back(std::move(kernel));
    const Registered& r = *kernels_.back();
    if (weft_engine::engine::Engine::get().registry().find(r.op)) return enter(r);
    waiting_[r.op].push_back(&r);
    return {};
  }
  Status add_waiting(std::string_view op) {
    const std::lock_guard lock(mutex_);
    const auto it = waiting_.find(op);
    if (it == waiting_.end()) return {};
    for (const Registered* r : it->second) WEFT_RETURN_IF_ERROR(enter(*r));
    waiting_.erase(it);
    return {};
  }
  // A node may ask for a kernel by its label, in the attribute _kernel.
  const Registered* labelled(const NodeInfo& node, std::string_view label) {
    const std::lock_guard lock(mutex_);
    for (const auto& r : kernels_) {
      if (r->op == node.op() && r->label == label && def_of(*r).matches(node)) return r.get();
    }
    return nullptr;
  }
  // Whether another kernel is as good: two libraries have one for the same op.
  bool rival(const Registered& r, const NodeInfo& node) {
    const std::lock_guard lock(mutex_);
    return std::any_of(kernels_.begin(), kernels_.end(), [&](const auto& k) {
      return k.get() != &r && k->op == r.op && k->device == r.device && k->label == r.label && k->functions.priority == r.functions.priority &&
             def_of(*k).matches(node);
    });
  }

 private:
  static KernelDef def_of(const Registered& r) {
    KernelDef def;
    def.device_type = r.device;
    def.priority = r.label.empty() ? r.functions.priority : std::numeric_limits<int>::min();
    def.host_memory_args = r.host_memory;
    for (const auto& [attr, types] : r.constraints) def.constraints.push_back({attr, types});
    return def;
  }
  Status enter(const Registered& r) {
    KernelDef def = def_of(r);
    def.make = [this, &r](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
      std::string label;
      if (const auto it = node.extra_attrs().find("_kernel"); it != node.extra_attrs().end()) {
        if (const std::string* text = it->second.get<std::string>()) label = *text;
      }
      const Registered* chosen = label == r.label ? &r : labelled(node, label);
      if (!chosen)
        return weft_engine::core::names_node(
            not_found("No registered '", node.op(), "' OpKernel with label '", label, "' for {{node ", node_name(node), "}}"), node_name(node));
      if (rival(*chosen, node)) {
        const std::string def = cat("op: \"", r.op, "\" device_type: \"", r.device, "\"");
        return weft_engine::core::names_node(invalid_argument("Multiple OpKernel registrations match NodeDef at the same priority '{{node ",
                                                              node_name(node), "}}': '", def, "' and '", def, "'"),
                                             node_name(node));
      }
      return make_cc_kernel(*chosen, node);
    };
    return weft_engine::engine::Engine::get().registry().add_kernel(r.op, std::move(def));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Registered>> kernels_;
  std::map<std::string, std::vector<const Registered*>, std::less<>> waiting_;
};

Status register_cc_kernel(const weft_kernel_def& def) {
  auto r = std::make_unique<Registered>();
  r->functions = def;
  r->op = string_of(def.op);
  r->device = string_of(def.device);
  r->label = string_of(def.label);
  for (size_t i = 0; i < def.num_constraints; ++i) {
    auto& [attr, types] = r->constraints.emplace_back(string_of(def.constraints[i].attr), std::vector<DType>());
    for (size_t k = 0; k < def.constraints[i].num_types; ++k) {
      WEFT_ASSIGN(DType type, dtype_from(static_cast<TF_DataType>(def.constraints[i].types[k])));
      types.push_back(type);
    }
  }
  for (size_t i = 0; i < def.num_host_memory; ++i) r->host_memory.push_back(string_of(def.host_memory[i]));
  return Registrations::get().add(std::move(r));
}

}  // namespace

namespace weft_engine::capi {
Status add_waiting_kernels(std::string_view op) { return Registrations::get().add_waiting(op); }
void* take_object(Kernel& kernel) {
  auto* ours = dynamic_cast<CcKernel*>(&kernel);
  return ours ? ours->take_object() : nullptr;
}
}  // namespace weft_engine::capi

void weft_register_kernel(const weft_kernel_def* def) {
  weft_engine::engine::note_registration_error(caught([&] { return register_cc_kernel(*def); }));
}

// ---- While a kernel is made ----

const weft_node* weft_construction_node(weft_construction* c) { return as_c(c->node); }
weft_text weft_construction_device_type(weft_construction* c) { return text_of(c->device_type); }
int weft_construction_graph_version(weft_construction*) { return graph_version(); }
void weft_construction_fail(weft_construction* c, int code, weft_text message) {
  if (c->status.ok() && code != 0) c->status = Status(static_cast<Code>(code), string_of(message));
}

// ---- While it runs ----

namespace {
bool same_dims(const Shape& shape, weft_dims dims) {
  return shape.rank() == dims.rank && std::equal(shape.dims().begin(), shape.dims().end(), dims.dims);
}
}  // namespace

void weft_run_describe(weft_run* run, weft_run_info* info) {
  KernelContext& c = context_of(run);
  *info = {as_c(c.node()), c.num_inputs(), c.num_outputs()};
}
const TF_Tensor* weft_run_describe_input(weft_run* run, int i, weft_tensor_info* info) {
  KernelContext& c = context_of(run);
  if (i < 0 || i >= c.num_inputs() || !c.input(i).valid()) return nullptr;
  *info = info_of(c.input(i));
  return as_c(&c.input(i));
}
TF_Status* weft_run_make_output(weft_run* run, int i, weft_dims dims, TF_Tensor** out, weft_tensor_info* info) {
  return returned(caught([&]() -> Status {
    KernelContext& c = context_of(run);
    if (i < 0 || i >= c.num_outputs()) return internal_error("allocate_output: there is no output ", i);
    const Shape* shape = nullptr;
    Result<Shape> made = Shape();
    if (c.num_inputs() > 0 && c.input(0).valid() && same_dims(c.input(0).shape(), dims)) {
      shape = &c.input(0).shape();  // what most ops ask for
    } else {
      made = shape_from(dims.dims, dims.rank);
      if (!made.ok()) return made.status();
      shape = &*made;
    }
    WEFT_ASSIGN(Tensor* t, c.allocate(i, *shape));
    *out = as_c(t);
    *info = info_of(*t);
    return {};
  }));
}
const weft_node* weft_run_node(weft_run* run) { return as_c(context_of(run).node()); }
int weft_run_num_inputs(weft_run* run) { return context_of(run).num_inputs(); }
int weft_run_num_outputs(weft_run* run) { return context_of(run).num_outputs(); }
const TF_Tensor* weft_run_input(weft_run* run, int i) {
  KernelContext& c = context_of(run);
  return i >= 0 && i < c.num_inputs() && c.input(i).valid() ? as_c(&c.input(i)) : nullptr;
}
TF_Tensor* weft_run_output(weft_run* run, int i) {
  KernelContext& c = context_of(run);
  return i >= 0 && i < c.num_outputs() && c.output(i).valid() ? as_c(&c.output(i)) : nullptr;
}
TF_Status* weft_run_allocate(weft_run* run, int i, weft_dims dims) {
  return returned(caught([&]() -> Status {
    KernelContext& c = context_of(run);
    if (i < 0 || i >= c.num_outputs()) return internal_error("allocate_output: there is no output ", i);
    WEFT_ASSIGN(Shape shape, shape_from(dims.dims, dims.rank));
    auto t = c.allocate(i, shape);
    return t.ok() ? Status() : t.status();
  }));
}
int weft_run_forward(weft_run* run, int input, int output, weft_dims dims) {
  KernelContext& c = context_of(run);
  if (input < 0 || input >= c.num_inputs() || output < 0 || output >= c.num_outputs() || !c.input_donated(input)) return 0;
  const Tensor& in = c.input(input);
  if (!in.unique() || !is_simple(in.dtype()) || in.dtype() != c.output_type(output)) return 0;
  auto shape = shape_from(dims.dims, dims.rank);
  if (!shape.ok() || shape->num_elements() != in.num_elements()) return 0;
  const void* const data = in.raw();
  const Shape had = in.shape();
  auto t = c.allocate_or_reuse(output, had, input);  // sees to the rest of what giving memory away needs
  if (!t.ok() || (*t)->raw() != data) {
    c.output(output).drop();
    return 0;
  }
  if (*shape != had) c.output(output) = c.output(output).reshaped(std::move(shape).value());
  return 1;
}
TF_Tensor* weft_run_take_input(weft_run* run, int input, int dtype, weft_dims dims) {
  KernelContext& c = context_of(run);
  if (input < 0 || input >= c.num_inputs() || weft_run_input_is_ref(run, input) || !c.input_donated(input)) return nullptr;
  const Tensor& in = c.input(input);
  if (!in.valid() || !in.unique() || !is_simple(in.dtype()) || int(in.dtype()) != dtype) return nullptr;
  auto shape = shape_from(dims.dims, dims.rank);
  if (!shape.ok() || shape->num_elements() != in.num_elements()) return nullptr;
  auto taken = std::make_unique<TF_Tensor>();
  taken->tensor.take_memory(const_cast<Tensor&>(in), in.dtype());  // who gives an input away owns it
  if (taken->tensor.shape() != *shape) {
    Tensor reshaped = taken->tensor.reshaped(std::move(shape).value());
    taken->tensor = Tensor();
    taken->tensor = std::move(reshaped);
  }
  return taken.release();
}
TF_Status* weft_run_set_output(weft_run* run, int i, const TF_Tensor* tensor) {
  return returned(caught([&]() -> Status {
    KernelContext& c = context_of(run);
    if (i < 0 || i >= c.num_outputs()) return internal_error("set_output: there is no output ", i);
    if (!tensor || !tensor->tensor.valid()) return invalid_argument("set_output: output ", i, " is a tensor without a value");
    if (tensor->tensor.dtype() != c.output_type(i))
      return internal_error("expected type for output ", i, ": ", dtype_name(c.output_type(i)), ", got ", dtype_name(tensor->tensor.dtype()));
    if (&tensor->tensor != &c.output(i)) c.set_output(i, tensor->tensor);
    return {};
  }));
}
int64_t weft_run_step_id(weft_run* run) { return context_of(run).env().step_id; }
weft_text weft_run_device_name(weft_run* run) { return text_of(context_of(run).device().name()); }
weft_text weft_run_device_type(weft_run* run) { return text_of(context_of(run).device().type()); }
weft_pool* weft_run_pool(weft_run* run) { return reinterpret_cast<weft_pool*>(&context_of(run).pool()); }
weft_resources* weft_run_resources(weft_run* run) { return reinterpret_cast<weft_resources*>(&context_of(run).resources()); }
weft_resources* weft_run_step_resources(weft_run* run) {
  weft_engine::op::note_step_resource();
  KernelContext& c = context_of(run);
  return reinterpret_cast<weft_resources*>(c.env().step_resources ? c.env().step_resources : &c.resources());
}
weft_cancellation* weft_run_cancellation(weft_run* run) { return reinterpret_cast<weft_cancellation*>(context_of(run).env().cancellation); }

int weft_run_input_is_ref(weft_run* run, int i) {
  KernelContext& c = context_of(run);
  return i >= 0 && i < c.num_inputs() && is_ref_type(c.node().input_types()[size_t(i)]);
}
TF_Tensor* weft_run_ref(weft_run* run, int i, void** mutex) {
  auto* ref = weft_run_input_is_ref(run, i) ? context_of(run).input_ref(i) : nullptr;
  if (!ref) return nullptr;
  *mutex = &ref->mutex();
  return as_c(&ref->tensor());
}
TF_Status* weft_run_forward_ref(weft_run* run, int input, int output) {
  return returned(caught([&]() -> Status {
    KernelContext& c = context_of(run);
    auto* ref = weft_run_input_is_ref(run, input) ? c.input_ref(input) : nullptr;
    if (!ref || output < 0 || output >= c.num_outputs()) return internal_error("no reference goes from input ", input, " to output ", output);
    {
      const std::shared_lock lock(ref->mutex());
      c.set_output(output, ref->tensor());
    }
    c.set_output_ref(output, ref);
    return {};
  }));
}

void weft_done_call(weft_done* done, int code, weft_text message) {
  const std::unique_ptr<weft_done> owned(done);
  owned->done(code ? Status(static_cast<Code>(code), string_of(message)) : check_outputs(*owned->context));
}

// ---- Cancellation ----

namespace {
CancellationManager& manager_of(weft_cancellation* c) { return *reinterpret_cast<CancellationManager*>(c); }
}  // namespace

int weft_cancellation_cancelled(weft_cancellation* c) { return manager_of(c).cancelled(); }
int64_t weft_cancellation_token(weft_cancellation* c) { return manager_of(c).get_token(); }
int weft_cancellation_register(weft_cancellation* c, int64_t token, void (*call)(void*), void (*release)(void*), void* data) {
  const std::shared_ptr<void> owned(data, release);
  return manager_of(c).register_callback(token, [call, owned] { (void)caught([&] { return call(owned.get()), Status(); }); });
}
int weft_cancellation_deregister(weft_cancellation* c, int64_t token) { return manager_of(c).deregister_callback(token); }
int weft_cancellation_try_deregister(weft_cancellation* c, int64_t token) { return manager_of(c).try_deregister_callback(token); }
void weft_cancellation_cancel(weft_cancellation* c) { manager_of(c).start_cancel(); }
static_assert(sizeof(CancellationManager) <= WEFT_CANCELLATION_SIZE && alignof(CancellationManager) <= alignof(std::max_align_t));
void weft_cancellation_construct(void* memory, weft_cancellation* parent) {
  new (memory) CancellationManager(parent ? &manager_of(parent) : nullptr);
}
void weft_cancellation_destroy(void* memory) { static_cast<CancellationManager*>(memory)->~CancellationManager(); }
