#include "runtime/program.h"

#include <algorithm>

#include "core/error_notes.h"
#include "core/loop_record.h"
#include "core/own_memory.h"
#include "core/threads.h"
#include "graph/node_traits.h"
#include "op/call_in_place.h"
#include "op/cancellation.h"
#include "op/step_trace.h"
#include "op/variable.h"

namespace weft_engine::runtime {

using graph::Endpoint;
using graph::Node;

struct Program::Frame {
  std::unique_ptr<Tensor[]> slots;
  std::unique_ptr<const Tensor*[]> operands;
  std::unique_ptr<RefVariable*[]> refs;  // beside the slots, where the program has references
};

// ---- planning ------------------------------------------------------------------------------------------

class Program::Planner {
 public:
  Planner(Program& p, const graph::FunctionBody& body, const PlanContext& c) : p_(p), body_(body), c_(c) {}

  Status plan() {
    WEFT_ASSIGN(order_, body_.graph->topological_order());
    p_.device_ = c_.device;
    p_.num_args_ = body_.args.size();
    values_.resize(size_t(body_.graph->num_ids()));
    WEFT_RETURN_IF_ERROR(name_values());
    WEFT_RETURN_IF_ERROR(emit());
    if (!waits_) assign_slots();
    return {};
  }
  bool waits() const { return waits_; }

 private:
  // A value before it has a slot.
  struct Value {
    int constant = -1;      // its number, if it is one
    int slot = -1;
    int last = -2;          // the last instruction that reads it; -2: none, instructions_.size(): a result
    bool ref = false;
    bool arg = false;
  };

  Value& value(const Endpoint& e) { return all_[size_t(values_[size_t(e.node->id())][size_t(e.index)])]; }

  int fresh() {
    all_.emplace_back();
    return int(all_.size()) - 1;
  }

  // Identity of a plain value is the value itself; constants and arguments need no instruction.
  Status name_values() {
    for (size_t i = 0; i < body_.args.size(); ++i) {
      const int v = fresh();
      all_[size_t(v)].slot = int(i);
      all_[size_t(v)].arg = true;
      values_[size_t(body_.args[i]->id())] = {v};
    }
    for (Node* n : order_) {
      auto& mine = values_[size_t(n->id())];
      if (is_arg(*n)) {
        if (mine.empty()) return internal_error("an _Arg that is not in the list of arguments: ", n->name());
        continue;
      }
      for (const Endpoint& e : n->inputs()) {
        if (!e.node) return core::names_node(invalid_argument("{{node ", n->name(), "}} has an input that leads nowhere"), n->name());
      }
      if (is_alias(*n)) {
        for (int i = 0; i < n->num_outputs(); ++i) mine.push_back(values_[size_t(n->input(i).node->id())][size_t(n->input(i).index)]);
        continue;
      }
      for (int i = 0; i < n->num_outputs(); ++i) {
        mine.push_back(fresh());
        all_.back().ref = is_ref_type(n->output_type(i));
      }
      if (is_const(*n)) {
        all_.back().constant = int(p_.constants_.size());
        p_.constants_.push_back(n->attr<Tensor>("value"));
      }
    }
    return {};
  }

  bool is_alias(const Node& n) const {
    if (!forwards_inputs(n)) return false;
    for (const Endpoint& e : n.inputs()) {
      if (is_ref_type(e.node->output_type(e.index))) return false;  // reads the variable here and now
    }
    return n.num_inputs() == n.num_outputs();
  }

  static bool makes_no_code(const Node& n) { return is_end(n) || is_const(n) || is_no_op(n) || role_of(n) == op::Role::kControlTrigger; }

  Status emit() {
    for (Node* n : order_) {
      if (makes_no_code(*n) || is_alias(*n)) continue;
      auto info = std::make_unique<const NodeInfo>(n->info());
      auto kernel = c_.kernel(*info, c_.device->type());
      if (!kernel.ok()) return with_node(kernel.status(), *info);
      if ((*kernel)->is_async()) {
        waits_ = true;
        return {};
      }
      Instruction in{};
      in.kernel = kernel->get();
      in.node = info.get();
      in.operands = uint32_t(p_.operands_.size());
      in.num_inputs = uint16_t(n->num_inputs());
      in.num_outputs = uint16_t(n->num_outputs());
      if (n->num_inputs() > 65000 || n->num_outputs() > 65000)
        return core::names_node(unimplemented("{{node ", n->name(), "}} has too many inputs or outputs"), n->name());
      const int index = int(p_.instructions_.size());
      for (int i = 0; i < n->num_inputs(); ++i) {
        const int v = values_[size_t(n->input(i).node->id())][size_t(n->input(i).index)];
        Value& val = all_[size_t(v)];
        p_.operands_.push_back(v);  // a value number for now
        p_.ref_names_.push_back(val.ref ? n->input(i).node->name() : std::string());
        if (val.constant >= 0) {
          if (i < 64) in.constant |= uint64_t(1) << i;
        } else {
          val.last = index;
        }
        in.refs |= val.ref;
      }
      for (int i = 0; i < n->num_outputs(); ++i) in.refs |= is_ref_type(n->output_type(i));
      p_.has_refs_ |= in.refs;
      p_.results_anywhere_ |= info->extra_attrs().contains(op::kResultsInPlace);
      outputs_.push_back(values_[size_t(n->id())]);
      p_.instructions_.push_back(in);
      p_.kernels_.push_back(std::move(kernel).value());
      p_.nodes_.push_back(std::move(info));
    }
    if (!p_.has_refs_) p_.ref_names_.clear();
    const int end = int(p_.instructions_.size());
    for (Node* r : body_.rets) {
      Value& v = value(r->input(0));
      v.last = end;
      p_.rets_.push_back({values_[size_t(r->input(0).node->id())][size_t(r->input(0).index)], false, v.ref});
      p_.has_refs_ |= v.ref;
    }
    return {};
  }

  // Linear scan: a value that is no longer needed gives its slot to the next single output.
  void assign_slots() {
    const size_t n = p_.instructions_.size();
    std::vector<std::vector<int>> ends(n + 1);  // values by their last reader
    for (size_t v = 0; v < all_.size(); ++v) {
      if (all_[v].constant < 0 && all_[v].last >= 0) ends[size_t(all_[v].last)].push_back(int(v));
    }
    size_t next = p_.num_args_;
    std::vector<int> free_slots;
    for (size_t a = 0; a < p_.num_args_; ++a) {
      const Value& v = all_[a];
      p_.arg_used_.push_back(v.last != -2);
      if (v.last == -2) p_.unused_args_.push_back(uint32_t(a));
    }
    for (size_t i = 0; i < n; ++i) {
      Instruction& in = p_.instructions_[i];
      const auto& outs = outputs_[i];
      if (outs.size() == 1 && !free_slots.empty()) {
        all_[size_t(outs[0])].slot = free_slots.back();
        free_slots.pop_back();
      } else {
        for (int v : outs) all_[size_t(v)].slot = int(next++);
      }
      in.first_output = outs.empty() ? 0 : uint32_t(all_[size_t(outs[0])].slot);
      in.frees_begin = uint32_t(p_.frees_.size());
      auto free_value = [&](int v) {
        p_.frees_.push_back(uint32_t(all_[size_t(v)].slot));
        free_slots.push_back(all_[size_t(v)].slot);
      };
      for (int v : ends[i]) {
        // Given away to the instruction when it is its last reader and reads it once.
        int count = 0, position = 0;
        for (int k = 0; k < in.num_inputs; ++k) {
          if (p_.operands_[in.operands + size_t(k)] == v) ++count, position = k;
        }
        if (count == 1 && position < 64 && !all_[size_t(v)].ref) in.donated |= uint64_t(1) << position;
        free_value(v);
      }
      for (int v : outs) {
        if (all_[size_t(v)].last == -2) free_value(v);
      }
      in.frees_end = uint32_t(p_.frees_.size());
    }
    auto encode = [&](int v) { return all_[size_t(v)].constant >= 0 ? ~int32_t(all_[size_t(v)].constant) : int32_t(all_[size_t(v)].slot); };
    for (auto& o : p_.operands_) o = encode(o);
    std::vector<char> seen(all_.size(), 0);
    for (size_t r = p_.rets_.size(); r-- > 0;) {  // the last of several results of one value may move it
      const int v = p_.rets_[r].operand;
      p_.rets_[r].last = all_[size_t(v)].constant < 0 && !seen[size_t(v)];
      seen[size_t(v)] = 1;
      p_.rets_[r].operand = encode(v);
    }
    for (size_t a = 0; a < p_.num_args_; ++a)
      p_.arg_unchanged_.push_back(a < p_.rets_.size() && p_.rets_[a].operand == int32_t(a) && p_.rets_[a].last);
    p_.num_slots_ = next;
  }

  bool waits_ = false;
  Program& p_;
  const graph::FunctionBody& body_;
  const PlanContext& c_;
  std::vector<Node*> order_;
  std::vector<Value> all_;
  std::vector<std::vector<int>> values_;   // by node id: the value of each output
  std::vector<std::vector<int>> outputs_;  // by instruction
};

Result<std::unique_ptr<Program>> Program::make(const graph::FunctionBody& body, const PlanContext& c) {
  auto p = std::unique_ptr<Program>(new Program());
  if (needs_dataflow(body)) return std::unique_ptr<Program>();
  Planner planner(*p, body, c);
  WEFT_RETURN_IF_ERROR(planner.plan());
  if (planner.waits()) p.reset();
  return p;
}

Result<std::unique_ptr<Executable>> plan_sequential(const graph::FunctionBody& body, const PlanContext& c) {
  WEFT_ASSIGN(std::unique_ptr<Program> p, Program::make(body, c));
  return std::unique_ptr<Executable>(std::move(p));
}

// ---- frames --------------------------------------------------------------------------------------------

Program::~Program() { delete spare_.load(); }

Program::Frame* Program::acquire() {
  if (Frame* f = spare_.exchange(nullptr, std::memory_order_acquire)) return f;
  {
    std::lock_guard lock(frames_mutex_);
    if (!frames_.empty()) {
      Frame* f = frames_.back().release();
      frames_.pop_back();
      return f;
    }
  }
  auto f = std::make_unique<Frame>();
  f->slots = std::make_unique<Tensor[]>(num_slots_);
  f->operands = std::make_unique<const Tensor*[]>(operands_.size());
  for (size_t i = 0; i < operands_.size(); ++i)
    f->operands[i] = operands_[i] >= 0 ? &f->slots[size_t(operands_[i])] : &constants_[size_t(~operands_[i])];
  if (has_refs_) {
    f->refs = std::make_unique<RefVariable*[]>(num_slots_);
    std::fill_n(f->refs.get(), num_slots_, nullptr);
  }
  return f.release();
}

void Program::release(Frame* f, bool clean) {
  if (!clean) {
    for (size_t i = 0; i < num_slots_; ++i) f->slots[i].drop();
  }
  Frame* none = nullptr;
  if (spare_.compare_exchange_strong(none, f, std::memory_order_release)) return;
  std::lock_guard lock(frames_mutex_);
  if (frames_.size() < 64) frames_.emplace_back(f);
  else delete f;
}

// ---- running -------------------------------------------------------------------------------------------

Status Program::fail(Status s, const Instruction& in) const { return with_node(std::move(s), *in.node); }

inline Status Program::step(const Instruction& in, const KernelEnv& env, Frame& f) {
  if (in.refs) [[unlikely]]
    return step_with_refs(in, env, f);
  KernelContext c(*in.node, env, {f.operands.get() + in.operands, in.num_inputs}, {f.slots.get() + in.first_output, in.num_outputs});
  c.donate_inputs(in.donated);
  c.constant_inputs(in.constant);
  Status s = in.kernel->run(c);
  for (uint32_t i = in.frees_begin; i < in.frees_end; ++i) f.slots[frees_[i]].drop();
  return s;
}

// References are read when the reader runs, under the variable's lock.
Status Program::step_with_refs(const Instruction& in, const KernelEnv& env, Frame& f) {
  std::vector<Tensor> read(in.num_inputs);
  std::vector<const Tensor*> inputs(in.num_inputs);
  std::vector<RefVariable*> refs(in.num_inputs, nullptr);
  for (size_t i = 0; i < in.num_inputs; ++i) {
    const int32_t o = operands_[in.operands + i];
    inputs[i] = f.operands[in.operands + i];
    if (o < 0 || !f.refs[size_t(o)]) continue;
    RefVariable* ref = f.refs[size_t(o)];
    refs[i] = ref;
    std::shared_lock lock(ref->mutex());
    // An input that is itself a reference sees the variable; the others see its value now.
    if (!ref->initialized() && !is_ref_type(in.node->input_types()[i]) && !in.node->spec().allows_uninitialized_input)
      return failed_precondition("Attempting to use uninitialized value ", ref_names_[in.operands + i]).with_payload(core::kNoteUninitialized, "");
    if (!is_ref_type(in.node->input_types()[i])) read[i] = ref->tensor();
    else if (ref->initialized()) read[i] = ref->tensor();
    inputs[i] = &read[i];
  }
  for (uint32_t i = 0; i < in.num_outputs; ++i) f.refs[in.first_output + i] = nullptr;
  for (size_t i = 0; i < in.num_inputs; ++i) {
    // A reference input that the kernel will write must not be held here, or the write would copy.
    if (refs[i] && is_ref_type(in.node->input_types()[i])) read[i] = Tensor();
  }
  KernelContext c(*in.node, env, inputs, {f.slots.get() + in.first_output, in.num_outputs});
  c.set_refs(refs, {f.refs.get() + in.first_output, in.num_outputs});
  Status s = in.kernel->run(c);
  for (uint32_t i = in.frees_begin; i < in.frees_end; ++i) {
    f.slots[frees_[i]].drop();
    f.refs[frees_[i]] = nullptr;
  }
  return s;
}

Status Program::execute(const KernelEnv& caller, Frame& f) {
  KernelEnv env = caller;
  env.device = device_;
  if (env.trace || core::LoopRecord::get()) [[unlikely]]
    return execute_traced(env, f);
  for (uint32_t a : unused_args_) f.slots[a].drop();
  const Instruction* in = instructions_.data();
  const Instruction* const end = in + instructions_.size();
  try {
    for (; in != end; ++in) {
      if (env.cancellation && env.cancellation->asked_to_stop()) [[unlikely]]
        return cancelled("Step was cancelled");
      Status s = step(*in, env, f);
      if (!s.ok()) [[unlikely]]
        return fail(std::move(s), *in);
    }
  } catch (const std::bad_alloc&) {
    return fail(resource_exhausted("out of memory in ", in->node->op()), *in);
  } catch (const core::Interrupted&) {
    return core::interrupted_call();
  } catch (const std::exception& e) {
    return fail(internal_error("unexpected exception in ", in->node->op(), ": ", e.what()), *in);
  }
  return {};
}

Status Program::execute_traced(const KernelEnv& env, Frame& f) {
  for (uint32_t a : unused_args_) f.slots[a].drop();
  for (const Instruction& in : instructions_) {
    core::LoopRecord* const loops = core::LoopRecord::get();
    if (loops) loops->begin_op(in.node->op());
    StepTrace::Event e{in.node->name(), std::string(in.node->op()), device_->name(), StepTrace::now(), 0, StepTrace::thread_number(), {}};
    KernelContext c(*in.node, env, {f.operands.get() + in.operands, in.num_inputs}, {f.slots.get() + in.first_output, in.num_outputs});
    c.donate_inputs(in.donated);
    c.constant_inputs(in.constant);
    Status s;
    if (in.refs) {
      s = step_with_refs(in, env, f);
    } else {
      s = run_kernel(*in.kernel, c);
      for (uint32_t i = 0; i < in.num_outputs; ++i) {
        const Tensor& t = f.slots[in.first_output + i];
        e.outputs.emplace_back(t.dtype(), t.shape());
      }
      for (uint32_t i = in.frees_begin; i < in.frees_end; ++i) f.slots[frees_[i]].drop();
    }
    e.end_ns = StepTrace::now();
    if (loops) loops->end_op();
    if (env.trace) env.trace->add(std::move(e));
    if (!s.ok()) return fail(std::move(s), in);
  }
  return {};
}

Status Program::fetch(Frame& f, std::span<Tensor> rets) {
  for (size_t i = 0; i < rets_.size(); ++i) {
    const Ret& r = rets_[i];
    if (r.operand < 0) {
      rets[i] = constants_[size_t(~r.operand)];
    } else if (r.ref && f.refs[size_t(r.operand)]) {
      RefVariable* ref = f.refs[size_t(r.operand)];
      std::shared_lock lock(ref->mutex());
      if (!ref->initialized()) return failed_precondition("Attempting to use uninitialized value").with_payload(core::kNoteUninitialized, "");
      // The caller gets the value of now: a later write in place must not reach it, so it is a copy.
      WEFT_ASSIGN(rets[i], ref->tensor().copy());
      f.refs[size_t(r.operand)] = nullptr;
      f.slots[size_t(r.operand)].drop();
    } else if (r.last) {
      rets[i] = std::move(f.slots[size_t(r.operand)]);
    } else {
      rets[i] = f.slots[size_t(r.operand)];
    }
  }
  return {};
}

Status Program::run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
  if (args.size() != num_args_ || rets.size() != rets_.size())
    return invalid_argument("a function of ", num_args_, " arguments and ", rets_.size(), " results was called with ", args.size(), " and ",
                            rets.size());
  // On the host kernels read all that they get; elsewhere they have it brought (op/placed_kernel.h).
  if (device_->host_memory()) WEFT_RETURN_IF_ERROR(core::all_to_host(args));
  Frame* f = acquire();
  for (size_t i = 0; i < num_args_; ++i) f->slots[i] = std::move(args[i]);
  Status s = execute(env, *f);
  if (s.ok()) s = fetch(*f, rets);
  release(f, s.ok());
  return s;
}

void Program::run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) {
  std::vector<Tensor> rets(rets_.size());
  Status s = run(env, args, rets);
  done(std::move(s), std::move(rets));
}

Status Program::loop(Program& cond, Program& body, const KernelEnv& env, std::span<Tensor> vars, std::span<const Shape> shapes, bool& done) {
  done = true;
  if (cond.num_args_ != vars.size() || cond.rets_.size() != 1 || body.num_args_ != vars.size() || body.rets_.size() != vars.size())
    return invalid_argument("the functions of a loop do not fit its ", vars.size(), " variables");
  Frame* cf = cond.acquire();
  Frame* bf = body.acquire();
  Status s;
  Tensor go;
  // What the body passes on unchanged stays in its slot from the first iteration to the last.
  bool entered = false;
  for (;;) {
    for (size_t i = 0; i < vars.size(); ++i) {
      if (cond.arg_used_[i]) cf->slots[i] = entered && body.arg_unchanged_[i] ? bf->slots[i] : vars[i];
    }
    s = cond.execute(env, *cf);
    if (s.ok()) s = cond.fetch(*cf, {&go, 1});
    if (s.ok()) s = core::all_to_host({&go, 1});
    if (!s.ok()) break;
    if (go.dtype() != DType::kBool || go.num_elements() != 1) {
      s = invalid_argument("The second input must be a scalar, but it has shape ", go.shape());
      break;
    }
    if (!go.data<bool>()[0]) break;
    for (size_t i = 0; i < vars.size(); ++i) {
      if (!entered || !body.arg_unchanged_[i]) bf->slots[i] = std::move(vars[i]);
    }
    entered = true;
    s = body.execute(env, *bf);
    if (!s.ok()) break;
    for (size_t i = 0; i < vars.size(); ++i) {
      if (body.arg_unchanged_[i]) continue;
      const Ret& r = body.rets_[i];
      if (r.operand < 0) vars[i] = body.constants_[size_t(~r.operand)];
      else if (r.last) vars[i] = std::move(bf->slots[size_t(r.operand)]);
      else vars[i] = bf->slots[size_t(r.operand)];
      if (!shapes.empty() && !(vars[i].shape() == shapes[i])) done = false;
    }
    if (body.results_anywhere_) s = core::all_to_host(vars);
    if (!s.ok() || !done) break;
  }
  if (s.ok() && entered) {
    for (size_t i = 0; i < vars.size(); ++i) {
      if (body.arg_unchanged_[i]) vars[i] = std::move(bf->slots[i]);
    }
  }
  cond.release(cf, false);
  body.release(bf, false);
  return s;
}

}  // namespace weft_engine::runtime
