// Resource variables: handles, reading and assignment. What touches only a part of a variable is in
// state_sparse.cc, graph-only reference variables are in state_ref.cc.
#include <mutex>

#include "core/error_notes.h"
#include "graph/handle_use.h"
#include "kernels/cpu/accumulate.h"
#include "op/api_traits.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/placed_kernel.h"
#include "op/registry.h"
#include "op/session_state.h"
#include "ops/all.h"
#include "ops/state/variables.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

Result<const ResourceHandle::Info*> handle_input(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.dtype() != DType::kResource)
    return invalid_argument("cannot compute ", c.node().op(), " as input #", i, "(zero-based) was expected to be a resource tensor but is a ",
                            t.dtype(), " tensor");
  if (t.num_elements() < 1) return invalid_argument("input ", i, " of ", c.node().op(), " must be a resource handle");
  const auto* info = t.data<ResourceHandle>()[0].info();
  if (!info) return invalid_argument("the resource handle is empty");
  return info;
}

Result<VariableInput> variable_input(const KernelContext& c, int i) {
  WEFT_ASSIGN(const ResourceHandle::Info* info, handle_input(c, i));
  if (info->resource && info->type_name == Variable::kTypeName) [[likely]]
    return VariableInput{static_cast<Variable*>(info->resource.get()), info, nullptr};
  if (info->type_name != Variable::kTypeName) return c.resources().get<Variable>(c.input(i).data<ResourceHandle>()[0]).status();
  auto owner = c.resources().reserve<Variable>(info->container, info->name, [] { return std::make_shared<Variable>(DType::kInvalid); });
  return VariableInput{owner.get(), info, owner};
}

namespace {

constexpr std::string_view kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

std::string container_of(const KernelContext& c, const std::string& attr) { return attr.empty() ? c.resources().default_container() : attr; }

Result<Tensor> named_handle(const KernelContext& c, const std::string& container_attr, const std::string& name, DType dtype) {
  std::string container = container_of(c, container_attr);
  auto variable = c.resources().reserve<Variable>(container, name, [&] { return std::make_shared<Variable>(dtype); });
  return make_handle(c.device().name(), std::move(container), name, Variable::kTypeName, std::move(variable));
}

class VarHandle final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo& node) {
    auto k = std::make_unique<VarHandle>();
    k->container_ = node.attr<std::string>("container");
    k->name_ = node.attr<std::string>("shared_name");
    k->dtype_ = node.attr<DType>("dtype");
    return std::unique_ptr<Kernel>(std::move(k));
  }

  Status run(KernelContext& c) override {
    if (name_ == kAnonymousName) {
      auto variable = std::make_shared<Variable>(dtype_);
      WEFT_ASSIGN(variable->tensor(), Tensor::zeros(dtype_, Shape({0})));  // it exists at once, with nothing in it
      c.set_output(0, make_handle(c.device().name(), container_of(c, container_), name_, Variable::kTypeName, std::move(variable), true));
      return {};
    }
    std::lock_guard lock(mutex_);
    if (cached_for_ != &c.resources()) {
      WEFT_ASSIGN(handle_, named_handle(c, container_, name_, dtype_));
      cached_for_ = &c.resources();
    }
    c.set_output(0, handle_);
    return {};
  }

 private:
  std::string container_, name_;
  DType dtype_ = DType::kInvalid;
  std::mutex mutex_;
  ResourceManager* cached_for_ = nullptr;
  Tensor handle_;
};

Status run_var_handles(KernelContext& c) {
  const auto& containers = c.attr<std::vector<std::string>>("containers");
  const auto& names = c.attr<std::vector<std::string>>("shared_names");
  const auto& dtypes = c.attr<std::vector<DType>>("dtypes");
  const size_t n = size_t(c.num_outputs());
  if (containers.size() != n || names.size() != n || dtypes.size() != n)
    return invalid_argument("The number of elements in containers (", containers.size(), ") and shared_names (", names.size(), ") should match N ",
                            n);
  for (size_t i = 0; i < n; ++i) {
    WEFT_ASSIGN(Tensor handle, named_handle(c, containers[i], names[i], dtypes[i]));
    c.set_output(int(i), std::move(handle));
  }
  return {};
}

Status cannot_find(const KernelContext& c, int i, const Status& why) {
  auto info = handle_input(c, i);
  if (!info.ok()) return info.status();
  return failed_precondition("Could not find variable ", (*info)->name,
                             ". This could mean that the variable has been deleted. In TF1, it can also mean the "
                             "variable is uninitialized. Debug info: container=",
                             (*info)->container, ", status error message=", why.message())
      .with_payload(core::kNoteUninitialized, "");
}

struct ReadVariable {
  static Result<ReadVariable> make(const NodeInfo& node) { return ReadVariable{node.attr<DType>("dtype")}; }
  Status run(KernelContext& c) const {
    auto v = variable_input(c, 0);
    if (!v.ok()) [[unlikely]]
      return cannot_find(c, 0, v.status());
    std::shared_lock lock((*v)->mutex());
    const Tensor& t = (*v)->tensor();
    if (!t.valid()) [[unlikely]]
      return cannot_find(c, 0, check_exists(c, *v));
    if (t.dtype() != dtype) [[unlikely]]
      return invalid_argument("Trying to read variable with wrong dtype. Expected ", dtype, " got ", t.dtype());
    c.set_output(0, t);
    return {};
  }
  DType dtype;
};

Status run_read_variables(KernelContext& c) {
  const auto& dtypes = c.attr<std::vector<DType>>("dtypes");
  const int n = c.num_inputs();
  if (size_t(n) != dtypes.size()) return invalid_argument("Mismatched number of arguments to ReadVariablesOp (", n, " vs. ", dtypes.size(), ")");
  std::vector<std::string> missing;
  for (int i = 0; i < n; ++i) {
    WEFT_ASSIGN(VariableInput v, variable_input(c, i));
    std::shared_lock lock(v->mutex());
    if (!v->tensor().valid()) missing.push_back(v.info->name);
    c.set_output(i, v->tensor());
  }
  if (!missing.empty())
    return failed_precondition("In ReadVariablesOp the following variables were found uninitialized: ", join(missing, ", "))
        .with_payload(core::kNoteUninitialized, "");
  for (int i = 0; i < n; ++i) {
    if (c.output(i).dtype() == dtypes[size_t(i)]) continue;
    WEFT_ASSIGN(const ResourceHandle::Info* info, handle_input(c, i));
    return invalid_argument("Trying to read variable ", info->name, " from Container: ", info->container, " with wrong dtype. Expected ",
                            dtypes[size_t(i)], " got ", c.output(i).dtype());
  }
  return {};
}

struct AssignVariable {
  static Result<AssignVariable> make(const NodeInfo& node) { return AssignVariable{node.attr<DType>("dtype"), node.attr<bool>("validate_shape")}; }
  Status run(KernelContext& c) const {
    const Tensor& value = c.input(1);
    if (value.dtype() != dtype) return invalid_argument("Variable and value dtypes don't match; respectively, ", dtype, " and ", value.dtype());
    WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
    Tensor old;  // freed after the lock is given back
    std::unique_lock lock(v->mutex());
    Tensor& t = v->tensor();
    if (!t.valid()) {
      c.resources().add_container(v.info->container);
    } else if (t.dtype() != dtype) {
      return invalid_argument("Trying to assign variable with wrong dtype. Expected ", t.dtype(), " got ", dtype);
    } else if (validate_shape && v->initialized() && t.shape() != value.shape()) {
      return invalid_argument("Trying to assign to variable with tensor with wrong shape. Expected ", t.shape(), " got ", value.shape());
    }
    std::swap(old, t);
    v->set(value);
    return {};
  }
  DType dtype;
  bool validate_shape;
};

template <bool kSubtract>
Status run_assign_update(KernelContext& c) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  const Tensor& value = c.input(1);
  std::unique_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  if (v->tensor().dtype() != value.dtype()) return invalid_argument("DType of variable handle and value does not match.");
  if (v->tensor().shape() != value.shape())
    return invalid_argument("Cannot update variable with shape ", v->tensor().shape(), " using a Tensor with shape ", value.shape(),
                            ", shapes must be equal.");
  WEFT_RETURN_IF_ERROR(v->make_writable());
  if (!kernels::accumulate(value.dtype(), v->tensor().raw(), value.raw(), value.num_elements(), kSubtract, c.pool()))
    return unimplemented("no kernel for type ", value.dtype());
  return {};
}

Status run_is_initialized(KernelContext& c) {
  WEFT_ASSIGN(const ResourceHandle::Info* info, handle_input(c, 0));
  bool initialized = false;
  if (info->type_name == Variable::kTypeName) {
    WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
    std::shared_lock lock(v->mutex());
    initialized = v->initialized();
  }
  c.set_output(0, Tensor::scalar(initialized));
  return {};
}

Status run_variable_shape(KernelContext& c) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  Shape shape;
  {
    std::shared_lock lock(v->mutex());
    WEFT_RETURN_IF_ERROR(check_exists(c, v));
    shape = v->tensor().shape();
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({shape.rank()})));
  for (int i = 0; i < shape.rank(); ++i) {
    if (c.output_type(0) == DType::kInt64) {
      out->data<int64_t>()[i] = shape.dim(i);
    } else {
      if (shape.dim(i) > std::numeric_limits<int32_t>::max())
        return invalid_argument("Shape output type is 32-bit  but shape.dim(", i, ") is ", shape.dim(i), ", which exceeds 32-bit range");
      out->data<int32_t>()[i] = int32_t(shape.dim(i));
    }
  }
  return {};
}

// A named variable is emptied, not removed: other handles carry the object, and an assignment through
// any of them must bring it back for all.
Status run_destroy(KernelContext& c) {
  WEFT_ASSIGN(const ResourceHandle::Info* info, handle_input(c, 0));
  Status s;
  if (info->type_name == Variable::kTypeName) {
    WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
    if (v.info->anonymous) return {};  // is freed with its last handle
    Tensor old;
    std::unique_lock lock(v->mutex());
    if (v->tensor().valid()) {
      std::swap(old, v->tensor());
      v->reset();
    } else {
      // The type "<unknown>" is not registered, so this gives the text for a missing one.
      s = c.resources().remove(info->container, "<unknown>", info->name);
    }
  } else {
    s = c.resources().destroy(c.input(0).data<ResourceHandle>()[0]);
  }
  if (s.code() == Code::kNotFound && c.attr<bool>("ignore_lookup_error")) return {};
  return s;
}

Status run_disable_copy_on_read(KernelContext& c) {
  auto v = variable_input(c, 0);
  if (!v.ok()) return cannot_find(c, 0, v.status());
  std::shared_lock lock((*v)->mutex());
  Status s = check_exists(c, *v);
  return s.ok() ? s : cannot_find(c, 0, s);
}

Status run_count_up_to(KernelContext& c) {
  const int64_t limit = c.attr<int64_t>("limit");
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  std::unique_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  Tensor before = v->tensor();
  if (before.rank() != 0) return invalid_argument("input is not a scalar: ", before.shape());
  if (before.dtype() != c.output_type(0)) return invalid_argument("the counter has type ", before.dtype(), ", expected ", c.output_type(0));
  WEFT_RETURN_IF_ERROR((dispatch<int32_t, int64_t>(before.dtype(), [&]<class T>(Tag<T>) {
    const T count = before.data<T>()[0];
    if (count >= limit) return out_of_range("Reached limit of ", limit);
    v->set(Tensor::scalar(T(uint64_t(count) + 1)));  // wraps, should the limit be beyond the type
    return Status();
  })));
  c.set_output(0, std::move(before));
  return {};
}

Result<std::shared_ptr<SessionState>> session_state(KernelContext& c, const char* op) {
  auto state = c.resources().find<SessionState>(SessionState::kContainer, SessionState::kName);
  if (!state.ok()) return failed_precondition(op, " called on null session state");
  return state;
}

Status run_get_session_handle(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<SessionState> state, session_state(c, "GetSessionHandle"));
  const int64_t id = state->new_id();
  std::string name = cat(c.node().name(), ";", id, ";", c.device().name());
  state->add(c.env().step_id, c.node().name(), name, c.input(0));
  if (c.output_type(0) == DType::kString) c.set_output(0, Tensor::scalar(tstring(name)));
  else c.set_output(0, make_handle(c.device().name(), SessionState::kContainer, name, SessionState::kTensorType));
  return {};
}

Result<std::string> handle_text(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.num_elements() != 1) return invalid_argument("handle must be scalar");
  return std::string(std::string_view(t.data<tstring>()[0]));
}

Status run_get_session_tensor(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<SessionState> state, session_state(c, "GetSessionTensor"));
  WEFT_ASSIGN(std::string name, handle_text(c));
  WEFT_ASSIGN(Tensor value, state->get(name));
  if (value.dtype() != c.output_type(0))
    return core::names_node(internal_error("Output 0 of type ", dtype_name(value.dtype()), " does not match declared output type ",
                                           dtype_name(c.output_type(0)), " for node {{node ", c.node().name(), "}}"),
                            c.node().name());
  c.set_output(0, std::move(value));
  return {};
}

Status run_delete_session_tensor(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<SessionState> state, session_state(c, "DeleteSessionTensor"));
  WEFT_ASSIGN(std::string name, handle_text(c));
  return state->remove(name);
}

// The description of the handle in input 0.
Result<const ResourceHandle::Info*> handle_info(const KernelContext& c) {
  const Tensor& t = c.input(0);
  const auto* info = t.num_elements() > 0 ? t.data<ResourceHandle>()[0].info() : nullptr;
  if (!info) return invalid_argument("the resource handle is empty");
  return info;
}

Status run_is_ref_counting(KernelContext& c) {
  WEFT_ASSIGN(const ResourceHandle::Info* info, handle_info(c));
  c.set_output(0, Tensor::scalar(info->anonymous && info->resource));
  return {};
}

// The handle is not asked when the resource is freed; but since it finds the object through itself alone, it
// keeps what it points at.
Status run_make_weak(KernelContext& c) {
  WEFT_ASSIGN(const ResourceHandle::Info* info, handle_info(c));
  c.set_output(0, make_handle(info->device, info->container, info->name, info->type_name, info->resource));
  return {};
}

// ---- shape rules ----

Status var_handle_shape(ShapeContext& c) {
  c.output(0, PartialShape::scalar());
  c.output_handle(0, {c.attr<DType>("dtype"), c.attr<PartialShape>("shape")});
  return {};
}

Status var_handles_shape(ShapeContext& c) {
  const auto& dtypes = c.attr<std::vector<DType>>("dtypes");
  const auto& shapes = c.attr<std::vector<PartialShape>>("shapes");
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.output(i, PartialShape::scalar());
    if (size_t(i) < dtypes.size() && size_t(i) < shapes.size()) c.output_handle(i, {dtypes[size_t(i)], shapes[size_t(i)]});
  }
  return {};
}

Status check_read_type(DType expected, const ShapeContext::HandleData& h) {
  if (h.dtype == expected || h.dtype == DType::kInvalid) return {};
  return invalid_argument("Trying to read variable with wrong dtype. Expected ", h.dtype, " got ", expected);
}

Status read_variable_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  if (const auto* h = c.handle(0)) {
    WEFT_RETURN_IF_ERROR(check_read_type(c.attr<DType>("dtype"), *h));
    c.output(0, h->shape);
  }
  return {};
}

Status read_variables_shape(ShapeContext& c) {
  const auto& dtypes = c.attr<std::vector<DType>>("dtypes");
  for (int i = 0; i < c.num_outputs() && i < c.num_inputs(); ++i) {
    if (const auto* h = c.handle(i)) {
      WEFT_RETURN_IF_ERROR(check_read_type(dtypes[size_t(i)], *h));
      c.output(i, h->shape);
    }
  }
  return {};
}

Status assign_variable_shape(ShapeContext& c) {
  const auto* h = c.handle(0);
  if (!h) return {};
  WEFT_RETURN_IF_ERROR(check_read_type(c.attr<DType>("dtype"), *h));
  return h->shape.merge_with(c.input(1)).status();
}

Status variable_shape_shape(ShapeContext& c) {
  const auto* h = c.handle(0);
  c.output(0, PartialShape::vector(h && h->shape.has_rank() ? h->shape.rank() : kUnknownDim));
  return {};
}

Status count_up_to_shape(ShapeContext& c) {
  if (const auto* h = c.handle(0)) {
    WEFT_RETURN_IF_ERROR(check_read_type(c.attr<DType>("T"), *h));
    WEFT_RETURN_IF_ERROR(h->shape.merge_with(PartialShape::scalar()).status());
  }
  c.output(0, PartialShape::scalar());
  return {};
}

Status session_tensor_shape(ShapeContext& c) { return c.with_rank(0, 0).status(); }
Status delete_session_tensor_shape(ShapeContext& c) { return c.with_rank(0, 0).status(); }

void shape_of_value(graph::HandleUse& use) {
  use.node.op = "Shape";
  use.attrs = {{"T", use.dtype}};
  use.keep("out_type");
}

}  // namespace

void state(Registry& r) {
  r.add("IsResourceHandleRefCounting")
      .in("handle: resource")
      .out("result: bool")
      .stateful()
      .effect_free()
      .doc("Tells whether a resource lives as long as its handles.")
      .traits({.python_only = true})
      .shape(shapes::scalar)
      .cpu(run_is_ref_counting);

  r.add("MakeWeakResourceHandle")
      .in("handle: resource")
      .out("dup: resource")
      .stateful()
      .effect_free()
      .doc("Gives a handle of the same resource that does not count as one of its owners.")
      .traits({.python_only = true})
      .shape(shapes::scalar)
      .cpu(run_make_weak);

  r.add("VarHandleOp")
      .out("resource: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("debug_name: string = ''")
      .attr("dtype: type")
      .attr("shape: shape")
      .attr("allowed_devices: list(string) = []")
      .stateful()
      .effect_free()
      .doc("Makes a handle to the variable of that name; the variable exists from its first assignment on.")
      .traits({.role = Role::kVarHandle, .made = Made::kAlways})
      .shape(var_handle_shape)
      .cpu_make(&VarHandle::create);

  r.add("_VarHandlesOp")
      .out("resources: N * resource")
      .attr("containers: list(string)")
      .attr("shared_names: list(string)")
      .attr("N: int >= 0")
      .attr("dtypes: list(type)")
      .attr("shapes: list(shape)")
      .stateful()
      .doc("Makes handles to several variables at once.")
      .shape(var_handles_shape)
      .cpu(run_var_handles);

  r.add("ReadVariableOp")
      .in("resource: resource")
      .out("value: dtype")
      .attr("dtype: type")
      .stateful()
      .effect_free()
      .doc("Reads the value of a variable.")
      .traits({.role = Role::kReadVariable, .made = Made::kAlways, .only_reads = true})
      .shape(read_variable_shape)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy()}; })
      .cpu<ReadVariable>();

  r.add("_ReadVariablesOp")
      .in("resources: N * resource")
      .out("values: dtypes")
      .attr("N: int >= 0")
      .attr("dtypes: list(type) >= 1")
      .stateful()
      .effect_free()
      .doc("Reads the values of several variables.")
      .traits({.only_reads = true})
      .shape(read_variables_shape)
      .cpu(run_read_variables);

  r.add("AssignVariableOp")
      .in("resource: resource")
      .in("value: dtype")
      .attr("dtype: type")
      .attr("validate_shape: bool = false")
      .stateful()
      .doc("Gives a variable a new value, which may have another shape unless validate_shape is set.")
      .traits({.role = Role::kAssignVariable, .made = Made::kAlways})
      .shape(assign_variable_shape)
      .cpu<AssignVariable>();

  r.add("AssignAddVariableOp")
      .in("resource: resource")
      .in("value: dtype")
      .attr("dtype: type")
      .stateful()
      .traits({.role = Role::kAddToVariable, .made = Made::kAlways})
      .doc("Adds a tensor of the same shape to a variable.")
      .shape(assign_variable_shape)
      .cpu(run_assign_update<false>, types<WEFT_NUMBERS>("dtype"));

  r.add("AssignSubVariableOp")
      .in("resource: resource")
      .in("value: dtype")
      .attr("dtype: type")
      .stateful()
      .traits({.role = Role::kSubtractFromVariable, .made = Made::kAlways})
      .doc("Subtracts a tensor of the same shape from a variable.")
      .shape(assign_variable_shape)
      .cpu(run_assign_update<true>, types<WEFT_NUMBERS>("dtype"));

  r.add("VarIsInitializedOp")
      .in("resource: resource")
      .out("is_initialized: bool")
      .stateful()
      .effect_free()
      .doc("Says whether a variable has a value.")
      .traits({.role = Role::kIsInitialized, .only_reads = true})
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_is_initialized);

  r.add("VariableShape")
      .in("input: resource")
      .out("output: out_type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .stateful()
      .effect_free()
      .doc("The shape of a variable as a vector.")
      .traits({.role = Role::kVariableShape, .made = Made::kAlways, .only_reads = true, .metadata = true, .on_value = shape_of_value})
      .shape(variable_shape_shape)
      .no_grad()
      .cpu(run_variable_shape);

  r.add("DestroyResourceOp")
      .in("resource: resource")
      .attr("ignore_lookup_error: bool = true")
      .stateful()
      .traits({.role = Role::kDestroyResource, .made = Made::kAlways})
      .doc("Removes the resource that a handle names.")
      .shape(shapes::no_outputs)
      .cpu(run_destroy);

  r.add("DisableCopyOnRead")
      .in("resource: resource")
      .stateful()
      .doc("Lets readers share the memory of a variable again; here they always do, so only the handle is checked.")
      .shape(shapes::no_outputs)
      .cpu(run_disable_copy_on_read);

  r.add("ResourceCountUpTo")
      .in("resource: resource")
      .out("output: T")
      .attr("limit: int")
      .attr("T: {int32, int64}")
      .stateful()
      .doc("Gives the value of a counter and increments it, or fails at the limit.")
      .shape(count_up_to_shape)
      .cpu(run_count_up_to, types<int32_t, int64_t>("T"));

  r.add("GetSessionHandle")
      .in("value: T")
      .out("handle: string")
      .attr("T: type")
      .stateful()
      .doc("Keeps a tensor in the session and gives its name.")
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_get_session_handle);

  r.add("GetSessionHandleV2")
      .in("value: T")
      .out("handle: resource")
      .attr("T: type")
      .stateful()
      .doc("Keeps a tensor in the session and gives a handle to it.")
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_get_session_handle);

  r.add("GetSessionTensor")
      .in("handle: string")
      .out("value: dtype")
      .attr("dtype: type")
      .stateful()
      .doc("The tensor that the session keeps under a name.")
      .shape(session_tensor_shape)
      .no_grad()
      .cpu(run_get_session_tensor);

  r.add("DeleteSessionTensor")
      .in("handle: string")
      .stateful()
      .doc("Drops the tensor that the session keeps under a name.")
      .shape(delete_session_tensor_shape)
      .no_grad()
      .cpu(run_delete_session_tensor);

  for (std::string_view op : {"VarHandleOp", "ReadVariableOp", "AssignVariableOp", "DestroyResourceOp"}) any_device(r, op);
  any_device(r, "VarIsInitializedOp", {"is_initialized"});
  any_device(r, "VariableShape", {"output"});

  set_layout(r, {"VarIsInitializedOp", "VariableShape"}, layouts::kReplicated);
  set_api_trait(r, {"ReadVariableOp", "VarHandleOp"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
