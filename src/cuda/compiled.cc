#include "cuda/compiled.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include "compiler/codegen.h"
#include "compiler/generator_state.h"
#include "core/log.h"
#include "cuda/attention.h"
#include "graph/node_traits.h"
#include "ir/compare.h"
#include "ir/simplify.h"
#include "op/shape_context.h"

namespace weft_engine::cuda {

using namespace weft_engine::core;  // NOLINT: tensors, shapes and statuses throughout

namespace {

constexpr size_t kMostVersions = 64;
constexpr int64_t kMostKeyElements = 64;  // integer arguments of at most this size may be fixed in the code

// A check of sizes alone: who calls knows before anything is launched whether it holds. Kernels go on after an error, and may then read more than there is.
struct SizeCheck {
  ir::Compare compare = ir::Compare::kEq;
  ir::Dim a, b;

  bool holds(std::span<const int64_t> symbols) const { return ir::compared(compare, a.evaluate(symbols), b.evaluate(symbols)); }
};

std::vector<SizeCheck> size_checks(const ir::Module& m) {
  std::vector<SizeCheck> out;
  for (const auto& i : m.main->instrs) {
    if (i->op != ir::Op::kCheck || i->operand(0).op != ir::Op::kCompare) continue;
    const ir::Instr &c = i->operand(0), &a = c.operand(0), &b = c.operand(1);
    if (a.known && b.known && a.known->size() == 1 && b.known->size() == 1) out.push_back({c.compare, a.known->front(), b.known->front()});
  }
  return out;
}

bool equal_values(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && !lies_elsewhere(b) &&
         (a.byte_size() == 0 || std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0);
}

// WEFT_GPU_WITHOUT: names of ways that are not taken, to find out which one is to blame. A driver that stands in has no libraries but one that is named.
bool use_attention(Gpu& gpu) { return !without("attention") && (!gpu.driver().host_function || std::getenv("WEFT_CUDNN_LIBRARY")); }

}  // namespace

struct CompiledBody::Version {
  Status refused;  // there is no code for such calls, and there will be none
  std::vector<std::vector<int64_t>> arg_dims;  // -1: any
  std::vector<Shape> variable_shapes;
  op::SameVariables same;
  std::vector<std::pair<int, Tensor>> fixed;  // arguments whose values are in the code, in host memory
  std::unique_ptr<ir::Module> module;
  std::vector<SizeCheck> size_checks;
  compiler::Plan plan;
  std::unique_ptr<Program> program;
  struct Parameter {
    int argument = -1, variable = -1;
    DevicePtr own = 0;  // a state of the body itself
    bool written = false;
  };
  std::vector<Parameter> parameters;
  struct Result {
    int ret = -1;  // of the body; -1: a state
    DType dtype = DType::kInvalid;
  };
  std::vector<Result> results;

  void symbols(std::span<const Tensor* const> args, std::vector<int64_t>& out) const {
    out.clear();
    for (const ir::Symbol& s : module->symbols) {
      const int argument = parameters[size_t(s.parameter)].argument;
      out.push_back(argument < 0 ? 0 : args[size_t(argument)]->dim(s.dim));
    }
  }

  bool fits(std::span<const Tensor* const> args, const Variables& variables) const {
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i]->dtype() == DType::kResource) continue;
      const auto& dims = arg_dims[i];
      if (args[i]->rank() != int(dims.size())) return false;
      for (size_t d = 0; d < dims.size(); ++d) {
        const int64_t n = args[i]->dim(int(d));
        if (dims[d] < 0 ? n <= 1 : n != dims[d]) return false;  // sizes of 1 may mean something else
      }
    }
    for (const auto& [i, value] : fixed) {
      if (!equal_values(value, *args[size_t(i)])) return false;
    }
    if (same != variables.same) return false;
    for (size_t i = 0; i < variables.all.size(); ++i) {
      op::Variable& x = *variables.all[i];
      const std::shared_lock lock(x.mutex());
      if (!x.initialized() || !(x.tensor().shape() == variable_shapes[i])) return false;
    }
    if (!module || (module->guards.empty() && size_checks.empty())) return true;
    std::vector<int64_t> sizes;
    symbols(args, sizes);
    return std::all_of(module->guards.begin(), module->guards.end(),
                       [&](const ir::Guard& g) { return g.a.evaluate(sizes) == g.b.evaluate(sizes); }) &&
           std::all_of(size_checks.begin(), size_checks.end(), [&](const SizeCheck& c) { return c.holds(sizes); });
  }
};

CompiledBody::CompiledBody(graph::FunctionBody body, Options options) : body_(std::move(body)), options_(std::move(options)) {
  for (size_t i = 0; i < body_.arg_types.size(); ++i) {
    if (body_.arg_types[i] == DType::kResource) sources_.push_back({int(i), nullptr});
  }
  for (const graph::Node* n : body_.graph->nodes()) {
    if (role_of(*n) == op::Role::kVarHandle) sources_.push_back({-1, n});
  }
}
CompiledBody::~CompiledBody() = default;

Status CompiledBody::find_variables(const op::ResourceManager& resources, std::span<const Tensor* const> args, Variables& out) const {
  for (const Source& s : sources_) {
    if (s.node) {
      const std::string &container = s.node->attr<std::string>("container"), &shared = s.node->attr<std::string>("shared_name");
      WEFT_ASSIGN(auto v, resources.find<op::Variable>(container, shared.empty() ? s.node->name() : shared));
      out.all.push_back(std::move(v));
      continue;
    }
    const Tensor& t = *args[size_t(s.argument)];
    if (t.dtype() != DType::kResource || t.num_elements() != 1)
      return invalid_argument("argument ", s.argument, " of ", body_.name, " must be the handle of a variable");
    WEFT_ASSIGN(auto v, resources.get<op::Variable>(t.data<ResourceHandle>()[0]));
    out.all.push_back(std::move(v));
  }
  out.sort();
  return {};
}

Result<std::shared_ptr<CompiledBody::Version>> CompiledBody::version(CudaDevice& device, std::span<const Tensor* const> args,
                                                                     const Variables& variables) {
  const auto find = [&]() -> std::shared_ptr<Version> {
    for (const auto& v : versions_) {
      if (v->fits(args, variables)) return v;
    }
    return nullptr;
  };
  {
    const std::shared_lock lock(mutex_);
    if (auto v = find()) return v->refused.ok() ? Result<std::shared_ptr<Version>>(v) : v->refused;
  }
  const std::unique_lock lock(mutex_);
  if (auto v = find()) return v->refused.ok() ? Result<std::shared_ptr<Version>>(v) : v->refused;
  const Status sensible = options_.one_node ? check_call(device, args) : Status();
  auto made = options_.open_sizes && sensible.ok() ? compile(device, args, variables, true) : Result<std::shared_ptr<Version>>(unimplemented(""));
  // Code for all sizes may be refused, or not be for these.
  if (!sensible.ok()) made = sensible;
  else if (!made.ok() || !(*made)->fits(args, variables)) made = compile(device, args, variables, false);
  if (!made.ok()) {
    if (made.status().code() != Code::kUnimplemented && made.status().code() != Code::kInternal) return made.status();
    WEFT_ASSIGN(made, refusal(args, variables, made.status()));
  }
  if (versions_.size() >= kMostVersions) versions_.erase(versions_.begin());
  versions_.push_back(*made);
  return (*made)->refused.ok() ? made : Result<std::shared_ptr<Version>>((*made)->refused);
}

// A rule is asked for what the shape rule allows and memory can hold: it may do work for each size.
Status CompiledBody::check_call(CudaDevice& device, std::span<const Tensor* const> args) const {
  const op::NodeInfo& node = options_.one_node->info();
  std::vector<PartialShape> shapes;
  std::vector<const Tensor*> constants;
  for (const Tensor* t : args) {
    shapes.emplace_back(t->shape());
    constants.push_back(t->dtype() != DType::kResource && !memory_of(*t) ? t : nullptr);
    for (int d = 0; d < t->rank(); ++d) {
      if (t->dim(d) > INT32_MAX && t->num_elements() == 0) return unimplemented("a dimension of ", t->dim(d), " in an empty tensor");
    }
  }
  op::ShapeContext c(node, std::move(shapes), std::move(constants));
  WEFT_RETURN_IF_ERROR(node.spec().infer_shapes(c));
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    const std::optional<Shape> shape = c.outputs()[i].concrete();
    if (!shape || !is_simple(node.output_types()[i])) continue;
    const int64_t bytes = multiply_without_overflow(shape->num_elements(), int64_t(dtype_size(node.output_types()[i])));
    if (bytes < 0 || bytes > device.memory_limit()) return device.allocate(node.output_types()[i], *shape).status();
  }
  return {};
}

bool CompiledBody::may_decide_shapes(const Tensor& t) {
  return (t.dtype() == DType::kInt32 || t.dtype() == DType::kInt64) && t.num_elements() <= kMostKeyElements && !memory_of(t);
}

// Of calls with these shapes and numbers in host memory.
Result<std::shared_ptr<CompiledBody::Version>> CompiledBody::refusal(std::span<const Tensor* const> args, const Variables& variables,
                                                                     Status why) const {
  auto v = std::make_shared<Version>();
  v->refused = std::move(why);
  for (size_t i = 0; i < args.size(); ++i) {
    const Tensor& t = *args[i];
    v->arg_dims.emplace_back();
    if (t.dtype() == DType::kResource) continue;
    for (int d = 0; d < t.rank(); ++d) v->arg_dims.back().push_back(t.dim(d));
    if (!(i < options_.constant_args.size() && options_.constant_args[i]) && !may_decide_shapes(t)) continue;
    WEFT_ASSIGN(Tensor own, t.copy());
    v->fixed.emplace_back(int(i), std::move(own));
  }
  v->same = variables.same;
  for (const auto& x : variables.all) {
    const std::shared_lock lock(x->mutex());
    v->variable_shapes.push_back(x->initialized() ? x->tensor().shape() : Shape());
  }
  return v;
}

Result<std::shared_ptr<CompiledBody::Version>> CompiledBody::compile(CudaDevice& device, std::span<const Tensor* const> args,
                                                                     const Variables& variables, bool open) {
  const auto start = std::chrono::steady_clock::now();
  auto v = std::make_shared<Version>();
  compiler::LowerOptions o;
  o.gpu = true;
  std::vector<PartialShape> shapes;
  std::vector<std::optional<op::ShapeContext::HandleData>> handles(args.size());
  v->same = variables.same;
  for (size_t i = 0; i < variables.all.size(); ++i) {
    op::Variable& x = *variables.all[i];
    const std::shared_lock lock(x.mutex());
    if (!x.initialized()) return failed_precondition("a variable that ", body_.name, " uses has no value yet");
    const Tensor& t = x.tensor();
    v->variable_shapes.push_back(t.shape());
    o.variables.push_back({cat("variable_", i), t.dtype(), PartialShape(t.shape()), std::nullopt});
    if (!sources_[i].node) handles[size_t(sources_[i].argument)] = op::ShapeContext::HandleData{t.dtype(), PartialShape(t.shape())};
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const bool resource = body_.arg_types[i] == DType::kResource;
    const bool constant = i < options_.constant_args.size() && options_.constant_args[i];
    std::vector<int64_t> dims;
    for (int d = 0; d < args[i]->rank() && !resource; ++d) {
      const int64_t n = args[i]->dim(d);
      dims.push_back(open && !constant && n > 1 ? -1 : n);
    }
    v->arg_dims.push_back(dims);
    shapes.push_back(resource ? PartialShape::scalar() : PartialShape(std::vector<int64_t>(dims)));
    compiler::ArgInfo a{cat("arg_", i), shapes.back(), std::nullopt, -1};
    for (size_t k = 0; k < sources_.size() && resource; ++k) {
      if (sources_[k].argument == int(i)) a.variable = variables.first_of(int(k));
    }
    if (constant && !resource) {
      WEFT_ASSIGN(Tensor own, args[i]->copy());
      a.constant = own;
      v->fixed.emplace_back(int(i), std::move(own));
    }
    o.args.push_back(std::move(a));
  }
  o.variable_of = [&](const op::NodeInfo& node) -> std::optional<int> {
    for (size_t k = 0; k < sources_.size(); ++k) {
      if (sources_[k].node && sources_[k].node->name() == node.name()) return variables.first_of(int(k));
    }
    return std::nullopt;
  };
  const auto attempt = [&]() -> Result<std::unique_ptr<ir::Module>> {
    if (!options_.prepare) return compiler::lower(body_, o);
    graph::FunctionBody body = graph::clone(body_);
    WEFT_RETURN_IF_ERROR(compiler::prepare(body, shapes, handles));
    return compiler::lower(body, o);
  };
  auto lowered = attempt();
  if (!lowered.ok() && !open && lowered.status().code() == Code::kUnimplemented) {
    // Small integers may decide about shapes: then their values are part of the signature. Only those that are in host memory: to read others would wait for the GPU.
    const size_t before = v->fixed.size();
    for (size_t i = 0; i < args.size(); ++i) {
      const Tensor& t = *args[i];
      if (o.args[i].constant || !may_decide_shapes(t)) continue;
      WEFT_ASSIGN(Tensor own, t.copy());
      o.args[i].constant = own;
      v->fixed.emplace_back(int(i), std::move(own));
    }
    if (v->fixed.size() > before) {
      auto again = attempt();
      if (again.ok()) lowered = std::move(again);
    }
  }
  if (!lowered.ok()) return lowered.status();
  v->module = std::move(lowered).value();
  if (!open && options_.prepare && use_attention(device.gpu()) &&
      ir::fuse_attention(*v->module, [&](const ir::Attention& a) { return attends(device.gpu(), a); })) {
    ir::simplify(*v->module, false, ir::Convolutions::kOutputChannelsFirst);
    WEFT_RETURN_IF_ERROR(ir::verify(*v->module));
  }
  v->size_checks = size_checks(*v->module);
  WEFT_ASSIGN(v->plan, compiler::make_plan(*v->module, 0));
  if (options_.prepare && std::getenv("WEFT_GPU_DUMP"))
    log(LogLevel::kError, cat(ir::print(*v->module), compiler::print(v->plan)));  // for developers
  WEFT_ASSIGN(v->program, Program::make(device.gpu(), v->plan));
  WEFT_RETURN_IF_ERROR(bind(device, *v, o));
  if (!options_.prepare) return v;  // an op: nothing to tell
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  log(LogLevel::kInfo, cat("compiled ", body_.name, " for ", device.name(), " in ", int(seconds * 1e3), " ms"));
  return v;
}

// What of a call goes where.
Status CompiledBody::bind(CudaDevice& device, Version& v, const compiler::LowerOptions& o) {
  for (const ir::Parameter& p : v.module->parameters) {
    Version::Parameter to;
    for (size_t i = 0; i < o.args.size(); ++i) {
      if (p.kind == ir::Parameter::Kind::kInput && o.args[i].name == p.name) to.argument = int(i);
    }
    for (size_t i = 0; i < o.variables.size(); ++i) {
      if (p.kind == ir::Parameter::Kind::kState && o.variables[i].name == p.name) to.variable = int(i);
    }
    if (to.argument < 0 && to.variable < 0 && p.type.dtype == DType::kUint64) {
      WEFT_ASSIGN(to.own, generator(device, p.name));
    }
    if (to.argument < 0 && to.variable < 0 && !to.own) return unimplemented("state '", p.name, "' of ", body_.name, " in compiled code");
    v.parameters.push_back(to);
  }
  int ret = 0;
  for (size_t i = 0; i < v.module->results.size(); ++i) {
    const ir::Result& r = v.module->results[i];
    if (r.state >= 0) {
      v.parameters[size_t(r.state)].written = true;
      v.results.push_back({});
      continue;
    }
    // The body says which type integers of quantised numbers have.
    v.results.push_back({ret, size_t(ret) < body_.ret_types.size() ? base_type(body_.ret_types[size_t(ret)]) : DType::kInvalid});
    ++ret;
  }
  if (ret != int(body_.ret_types.size())) return internal_error("compiled ", body_.name, " gives ", ret, " results");
  return {};
}

Status bring_variable(CudaDevice& device, op::Variable& variable, bool to_write) {
  Tensor& t = variable.tensor();
  if (t.byte_size() == 0) return {};
  if (memory_of(t) != &device) {
    WEFT_ASSIGN(t, to_device(t, device));
  }
  if (to_write && !t.buffer()->unique()) {
    WEFT_ASSIGN(t, device.duplicate(t));
  }
  return {};
}

Status CompiledBody::call(CudaDevice& device, Version& v, std::span<const Tensor* const> args, const Variables& variables, std::span<Tensor> rets,
                          op::StepTrace* trace) {
  // An op that has one kernel is mostly what is around it: vectors keep their memory from call to call.
  thread_local Program::Call call;
  call.parameters.clear();
  call.results.clear();
  call.result_bytes.clear();
  call.trace = trace;
  v.symbols(args, call.symbols);
  std::vector<char> used(variables.all.size()), written(variables.all.size());
  std::unique_lock generators(generators_mutex_, std::defer_lock);
  for (const auto& p : v.parameters) {
    if (p.variable >= 0) {
      used[size_t(p.variable)] = true;
      written[size_t(p.variable)] = p.written;
    }
    if (p.own && !generators.owns_lock()) generators.lock();
  }
  // Variables stay locked until everything is queued.
  std::vector<std::unique_lock<std::shared_mutex>> locks;
  for (int i : variables.by_address) {
    if (!used[size_t(i)]) continue;
    locks.emplace_back(variables[i].mutex());
    WEFT_RETURN_IF_ERROR(bring_variable(device, variables[i], written[size_t(i)]));
  }
  std::vector<Tensor> brought;
  for (const auto& p : v.parameters) {
    if (p.argument >= 0) {
      const Tensor& t = *args[size_t(p.argument)];
      if (t.byte_size() == 0 || memory_of(t) == &device) {
        call.parameters.push_back(address(t));
      } else {
        WEFT_ASSIGN(Tensor there, to_device(t, device));
        call.parameters.push_back(address(there));
        brought.push_back(std::move(there));
      }
    } else if (p.own) {
      call.parameters.push_back(p.own);
    } else {
      const Tensor& t = variables[p.variable].tensor();
      if (!(t.shape() == v.variable_shapes[size_t(p.variable)]))
        return failed_precondition("a variable of ", body_.name, " changed its shape while it was called");
      call.parameters.push_back(address(t));
    }
  }
  for (size_t i = 0; i < v.results.size(); ++i) {
    const auto& r = v.results[i];
    if (r.ret < 0) {
      call.results.push_back(0);
      call.result_bytes.push_back(0);
      continue;
    }
    thread_local std::vector<int64_t> dims;
    dims.clear();
    for (const ir::Dim& d : v.module->main->results[i]->type.dims) dims.push_back(d.evaluate(call.symbols));
    WEFT_ASSIGN(rets[size_t(r.ret)], device.allocate(r.dtype, Shape(dims)));
    call.results.push_back(address(rets[size_t(r.ret)]));
    call.result_bytes.push_back(memory_of(rets[size_t(r.ret)]) == &device ? rets[size_t(r.ret)].byte_size() : 0);
  }
  return v.program->run(call);
}

// The counter of a random op, which all versions share.
Result<DevicePtr> CompiledBody::generator(CudaDevice& device, const std::string& name) {
  const std::lock_guard lock(generators_mutex_);
  Tensor& t = generators_[name];
  if (!t.valid()) {
    WEFT_ASSIGN(Tensor start, Tensor::zeros(DType::kUint64, {2}));
    if (name.ends_with(compiler::kUnseededGeneratorState)) start.data<uint64_t>()[1] = uint64_t(std::random_device()()) << 32;
    WEFT_ASSIGN(t, to_device(start, device));
  }
  return address(t);
}

}  // namespace weft_engine::cuda
