// Ops that call functions: PartitionedCall, If, Case, While, For. The functions themselves are planned and
// run by runtime/, through the seam op/function_caller.h.
#include <memory>

#include "op/api_traits.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/function/function_call.h"
#include "ops/control_flow/condition.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The shapes that the attribute promises; unknown if it is empty.
Status promised_shapes(ShapeContext& c) {
  const auto& wanted = c.attr<std::vector<PartialShape>>("output_shapes");
  if (wanted.empty()) return {};
  if (int(wanted.size()) != c.num_outputs())
    return invalid_argument("`output_shapes` must be the same length as num outputs (", wanted.size(), " vs. ", c.num_outputs());
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, wanted[size_t(i)]);
  return {};
}

// A loop without promises keeps the shapes of what goes in.
Status loop_shapes(ShapeContext& c) {
  if (!c.attr<std::vector<PartialShape>>("output_shapes").empty()) return promised_shapes(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.output(i, c.input(i));
    if (const auto* h = c.handle(i)) c.output_handle(i, *h);
  }
  return {};
}

Status shape_attr(ShapeContext& c) {
  c.output(0, c.attr<PartialShape>("shape"));
  return {};
}

// The gradient of each input has its shape; that of a resource has that of what it holds.
Status gradient_shape(ShapeContext& c) {
  if (c.num_inputs() < c.num_outputs()) return invalid_argument("len(inputs) < len(outputs)");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, c.handle(i) ? c.handle(i)->shape : c.input(i));
  return {};
}

// ---- kernels -------------------------------------------------------------------------------------------

template <class K>
Result<std::unique_ptr<Kernel>> make(const NodeInfo& node) {
  return std::unique_ptr<Kernel>(new K(node));
}

// Passes inputs [first, end) and stores the results as outputs.
Status call(KernelContext& c, FunctionHandle& f, int first) {
  const int n = c.num_inputs() - first;
  if (int(f.arg_types().size()) != n || int(f.ret_types().size()) != c.num_outputs())
    return invalid_argument("Expected ", f.arg_types().size(), " arguments and ", f.ret_types().size(), " results, got ", n, " and ",
                            c.num_outputs());
  std::vector<Tensor> args(static_cast<size_t>(n)), rets(static_cast<size_t>(c.num_outputs()));
  for (int i = 0; i < n; ++i) args[size_t(i)] = take_input(c, first + i);
  WEFT_RETURN_IF_ERROR(f.run(c.env(), args, rets));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, std::move(rets[size_t(i)]));
  return {};
}

InstantiateOptions call_options(const NodeInfo& node) {
  InstantiateOptions o;
  o.config_proto = node.attr<std::string>("config_proto");
  o.executor_type = node.attr<std::string>("executor_type");
  auto flag = [&](std::string_view name) {
    const auto it = node.extra_attrs().find(name);
    const bool* set = it == node.extra_attrs().end() ? nullptr : it->second.get<bool>();
    return set && *set;
  };
  o.must_compile = flag("_XlaMustCompile");
  o.may_compile = flag("_WeftMayCompile");
  return o;
}

class CallKernel final : public Kernel {
 public:
  explicit CallKernel(const NodeInfo& node) : f_(node.attr<FunctionAttr>("f"), call_options(node)) {}
  Status run(KernelContext& c) override {
    WEFT_ASSIGN(auto f, f_.get(c));
    return call(c, *f, 0);
  }

 private:
  Callee f_;
};

// The runtime knows this name: it makes the gradient of the function f.
FunctionAttr gradient_of(const FunctionAttr& f) {
  AttrMap attrs;
  attrs["f"] = f;
  return {"SymbolicGradient", std::make_shared<const AttrMap>(std::move(attrs))};
}

class GradientKernel final : public Kernel {
 public:
  explicit GradientKernel(const NodeInfo& node) : f_(gradient_of(node.attr<FunctionAttr>("f"))) {}
  Status run(KernelContext& c) override {
    WEFT_ASSIGN(auto f, f_.get(c));
    return call(c, *f, 0);
  }

 private:
  Callee f_;
};

class RemoteCallKernel final : public Kernel {
 public:
  explicit RemoteCallKernel(const NodeInfo& node) : f_(node.attr<FunctionAttr>("f")) {}
  Status run(KernelContext& c) override {
    const Tensor& target = c.input(0);
    if (target.num_elements() != 1) return invalid_argument("RemoteCall's target must be one name, got shape ", target.shape());
    std::string name(target.data<tstring>()[0].view());
    Callee* f;
    {
      std::lock_guard lock(mutex_);
      auto& slot = by_target_[name];
      InstantiateOptions o;
      o.target = name;
      if (!slot) slot = std::make_unique<Callee>(f_, o);
      f = slot.get();
    }
    WEFT_ASSIGN(auto h, f->get(c, 1));
    return call(c, *h, 1);
  }

 private:
  const FunctionAttr f_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Callee>> by_target_;
};

class IfKernel final : public Kernel {
 public:
  explicit IfKernel(const NodeInfo& node) : then_(node.attr<FunctionAttr>("then_branch")), else_(node.attr<FunctionAttr>("else_branch")) {
    const AttrValue* lowered = node.find_attr("_lower_using_switch_merge");
    const bool* on = lowered ? lowered->get<bool>() : nullptr;
    lowered_ = on && *on;
  }
  Status run(KernelContext& c) override {
    const Tensor& pred = c.input(0);
    bool value = false;
    if (lowered_ && pred.dtype() == DType::kBool) {  // as the Switch that TensorFlow makes of it
      if (pred.num_elements() != 1) return invalid_argument("The second input must be a scalar, but it has shape ", pred.shape());
      value = pred.data<bool>()[0];
    } else {
      WEFT_ASSIGN(value, condition_value(pred));
    }
    WEFT_ASSIGN(auto f, (value ? then_ : else_).get(c, 1));
    return call(c, *f, 1);
  }

 private:
  Callee then_, else_;
  bool lowered_ = false;
};

class CaseKernel final : public Kernel {
 public:
  explicit CaseKernel(const NodeInfo& node) {
    for (const auto& f : node.attr<std::vector<FunctionAttr>>("branches")) branches_.push_back(std::make_unique<Callee>(f));
  }
  Status run(KernelContext& c) override {
    const Tensor& index = c.input(0);
    if (index.rank() != 0) return invalid_argument("branch_index must be a scalar, got shape ", index.shape());
    int i = index.data<int32_t>()[0];
    if (i < 0 || i >= int(branches_.size())) i = int(branches_.size()) - 1;
    WEFT_ASSIGN(auto f, branches_[size_t(i)]->get(c, 1));
    return call(c, *f, 1);
  }

 private:
  std::vector<std::unique_ptr<Callee>> branches_;
};

class WhileKernel final : public Kernel {
 public:
  explicit WhileKernel(const NodeInfo& node) : cond_(node.attr<FunctionAttr>("cond")), body_(node.attr<FunctionAttr>("body")) {}
  Status run(KernelContext& c) override {
    WEFT_ASSIGN(auto cond, cond_.get(c));
    WEFT_ASSIGN(auto body, body_.get(c));
    const size_t n = size_t(c.num_inputs());
    if (cond->arg_types().size() != n || body->arg_types().size() != n || body->ret_types().size() != n || cond->ret_types().size() != 1)
      return invalid_argument("the functions of a loop with ", n, " variables take ", cond->arg_types().size(), " and ", body->arg_types().size(),
                              " arguments and give ", cond->ret_types().size(), " and ", body->ret_types().size(), " results");
    for (size_t i = 0; i < n; ++i) {
      if (body->ret_types()[i] != base_type(c.node().input_types()[i]) || body->arg_types()[i] != body->ret_types()[i] ||
          cond->arg_types()[i] != body->arg_types()[i])
        return invalid_argument("variable ", i, " of a loop is ", dtype_name(c.node().input_types()[i]), " outside and ",
                                dtype_name(body->ret_types()[i]), " inside");
    }
    std::vector<Tensor> vars(n);
    for (size_t i = 0; i < n; ++i) vars[i] = take_input(c, int(i));
    if (cond->ret_types()[0] == DType::kBool) {
      WEFT_RETURN_IF_ERROR(body->loop(c.env(), *cond, vars));
    } else {
      WEFT_RETURN_IF_ERROR(loop_of_number(c, *cond, *body, vars));
    }
    for (size_t i = 0; i < n; ++i) c.set_output(int(i), std::move(vars[i]));
    return {};
  }

 private:
  // Any number may be the condition, as in Python.
  static Status loop_of_number(KernelContext& c, FunctionHandle& cond, FunctionHandle& body, std::vector<Tensor>& vars) {
    for (;;) {
      std::vector<Tensor> args = vars, rets(vars.size());
      Tensor go;
      WEFT_RETURN_IF_ERROR(cond.run(c.env(), args, {&go, 1}));
      WEFT_ASSIGN(bool value, condition_value(go));
      if (!value) return {};
      WEFT_RETURN_IF_ERROR(body.run(c.env(), vars, rets));
      vars = std::move(rets);
    }
  }
  Callee cond_, body_;
};

class ForKernel final : public Kernel {
 public:
  explicit ForKernel(const NodeInfo& node) : body_(node.attr<FunctionAttr>("body")) {}
  Status run(KernelContext& c) override {
    int32_t range[3];
    static constexpr const char* kNames[] = {"start", "limit", "delta"};
    for (int i = 0; i < 3; ++i) {
      if (c.input(i).rank() != 0) return invalid_argument(kNames[i], " must be a scalar, got shape ", c.input(i).shape());
      range[i] = c.input(i).data<int32_t>()[0];
    }
    const auto [start, limit, delta] = range;
    if ((delta > 0 && start <= limit) || (delta < 0 && start >= limit) || (delta == 0 && start == limit)) {
    } else {
      return invalid_argument("Invalid start/limit/delta: ", start, " ", limit, " ", delta);
    }
    WEFT_ASSIGN(auto f, body_.get(c, 2));  // the counter and the variables
    const size_t n = size_t(c.num_inputs()) - 3;
    if (f->arg_types().size() != n + 1 || f->ret_types().size() != n)
      return invalid_argument("For loop body returned ", f->ret_types().size(), " arguments. Expected: ", n);
    std::vector<Tensor> vars(n);
    for (size_t i = 0; i < n; ++i) vars[i] = take_input(c, int(i) + 3);
    for (int64_t i = start; delta > 0 ? i < limit : delta < 0 && i > limit; i += delta) {
      std::vector<Tensor> args;
      args.push_back(Tensor::scalar<int32_t>(int32_t(i)));
      for (auto& v : vars) args.push_back(std::move(v));
      WEFT_RETURN_IF_ERROR(f->run(c.env(), args, vars));
    }
    for (size_t i = 0; i < n; ++i) c.set_output(int(i), std::move(vars[i]));
    return {};
  }

 private:
  Callee body_;
};

// The place of the kind of device this runs on, or the length of the list.
Status run_device_index(KernelContext& c) {
  const auto& names = c.attr<std::vector<std::string>>("device_names");
  int index = int(names.size());
  for (int i = int(names.size()) - 1; i >= 0; --i) {
    if (names[size_t(i)] == c.device().type()) index = i;
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {}));
  out->data<int32_t>()[0] = index;
  return {};
}

// A value that no one may use; TensorFlow fails when it runs.
Status run_fake_param(KernelContext& c) {
  const auto& shape = c.attr<PartialShape>("shape");
  if (c.output_type(0) == DType::kResource || c.output_type(0) == DType::kVariant || !shape.fully_known()) return c.allocate(0, {}).status();
  return c.allocate(0, *shape.concrete()).status();
}

}  // namespace

Result<std::shared_ptr<FunctionHandle>> Callee::get(const KernelContext& c, int first) {
  FunctionCaller* caller = c.env().functions;
  if (!caller) return failed_precondition(c.node().op(), " calls function ", f_.name, ", which needs a context with functions");
  if (const Known* k = known_.load(std::memory_order_acquire); k && k->caller == caller) {
    if (auto handle = k->handle.lock()) return handle;
  }
  std::lock_guard lock(mutex_);
  for (const auto& k : all_) {
    if (k->caller != caller) continue;
    if (auto handle = k->handle.lock()) {
      known_.store(k.get(), std::memory_order_release);
      return handle;
    }
  }
  InstantiateOptions options = options_;
  for (int i = first; i < c.num_inputs(); ++i) {
    const Tensor& t = c.input(i);
    if (t.dtype() != DType::kResource || t.num_elements() != 1) continue;
    options.input_devices.resize(size_t(c.num_inputs() - first));
    if (const auto* info = t.data<ResourceHandle>()[0].info()) options.input_devices[size_t(i - first)] = info->device;
  }
  WEFT_ASSIGN(auto handle, caller->instantiate(f_, options));
  all_.push_back(std::make_unique<const Known>(Known{caller, handle->weak_from_this()}));
  known_.store(all_.back().get(), std::memory_order_release);
  return handle;
}

Tensor take_input(KernelContext& c, int i) {
  if (c.input_donated(i)) return std::move(const_cast<Tensor&>(c.input(i)));
  return c.input(i);
}

void function(Registry& r) {
  r.add("Case")
      .in("branch_index: int32")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1")
      .attr("output_shapes: list(shape) = []")
      .stateful()
      .doc("Calls the function that an index chooses.")
      .traits({.role = Role::kCase, .made = Made::kStateful})
      .shape(promised_shapes)
      .cpu_make(make<CaseKernel>);

  r.add("DeviceIndex")
      .out("index: int32")
      .attr("device_names: list(string)")
      .stateful()
      .effect_free()
      .doc("The place of the current kind of device in a list of names.")
      .shape(shapes::scalar)
      .cpu(run_device_index);

  r.add("FakeParam")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .doc("Stands for a value that is never used, in a branch that has none.")
      .traits({.role = Role::kFakeParam, .made = Made::kAlways, .impure = true})
      .shape(shape_attr)
      .cpu(run_fake_param);

  r.add("For")
      .in("start: int32")
      .in("limit: int32")
      .in("delta: int32")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("body: func")
      .doc("Calls a function for each number from start to limit, passing its results on.")
      .shape(shapes::unknown)
      .cpu_make(make<ForKernel>);

  r.add("If")
      .in("cond: Tcond")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tcond: type")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("then_branch: func")
      .attr("else_branch: func")
      .attr("output_shapes: list(shape) = []")
      .stateful()
      .doc("Calls one of two functions.")
      .traits({.role = Role::kIf, .made = Made::kStateful})
      .shape(promised_shapes)
      .cpu_make(make<IfKernel>);

  r.add("PartitionedCall")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("f: func")
      .attr("config: string = ''")
      .attr("config_proto: string = ''")
      .attr("executor_type: string = ''")
      .doc("Calls a function that has no side effects; its parts may run on several devices.")
      .traits({.role = Role::kCall, .made = Made::kStateless})
      .shape(shapes::unknown)
      .cpu_make(make<CallKernel>);

  r.add("RemoteCall")
      .in("target: string")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 1")
      .attr("Tout: list(type) >= 1")
      .attr("f: func")
      .stateful()
      .doc("Calls a function on another device or process.")
      .shape(shapes::unknown)
      .cpu_make(make<RemoteCallKernel>);

  r.add("StatefulPartitionedCall")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("f: func")
      .attr("config: string = ''")
      .attr("config_proto: string = ''")
      .attr("executor_type: string = ''")
      .stateful()
      .distributed_communication()
      .doc("Calls a function; its parts may run on several devices.")
      .traits({.role = Role::kCall, .made = Made::kStateful})
      .shape(shapes::unknown)
      .cpu_make(make<CallKernel>);

  r.add("StatelessCase")
      .in("branch_index: int32")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1")
      .attr("output_shapes: list(shape) = []")
      .doc("Calls the function that an index chooses, none of which has side effects.")
      .traits({.role = Role::kCase, .made = Made::kStateless, .silent_by_row = true})
      .shape(promised_shapes)
      .cpu_make(make<CaseKernel>);

  r.add("StatelessIf")
      .in("cond: Tcond")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tcond: type")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("then_branch: func")
      .attr("else_branch: func")
      .attr("output_shapes: list(shape) = []")
      .doc("Calls one of two functions, neither of which has side effects.")
      .traits({.role = Role::kIf, .made = Made::kStateless, .silent_by_row = true})
      .shape(promised_shapes)
      .cpu_make(make<IfKernel>);

  r.add("StatelessWhile")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10")
      .doc("Calls a function without side effects as long as another gives true.")
      .traits({.role = Role::kWhile, .made = Made::kStateless, .silent_by_row = true})
      .shape(loop_shapes)
      .cpu_make(make<WhileKernel>);

  r.add("SymbolicGradient")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 1")
      .attr("Tout: list(type) >= 1")
      .attr("f: func")
      .doc("The gradients of a function for its inputs.")
      .traits({.role = Role::kSymbolicGradient, .made = Made::kAlways})
      .shape(gradient_shape)
      .cpu_make(make<GradientKernel>);

  r.add("While")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10")
      .stateful()
      .doc("Calls a function as long as another gives true.")
      .traits({.role = Role::kWhile, .made = Made::kStateful})
      .shape(loop_shapes)
      .cpu_make(make<WhileKernel>);

  set_api_trait(r, {"PartitionedCall", "StatefulPartitionedCall"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
