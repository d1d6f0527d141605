// While: condition and body in regions. What goes round are the variables that change and the states that are written; which those are,
// and what lists among them hold, is found by lowering the loop until nothing new turns up.
#include <algorithm>

#include "compiler/lower_internal.h"
#include "graph/node_traits.h"
#include "graph/passes/util.h"
#include "op/lower_list.h"

namespace weft_engine::compiler {

using graph::Endpoint;
using graph::FunctionBody;
using ir::Dim;
using ir::Region;
using ir::Value;

namespace {

constexpr int kMostPasses = 12;

// A variable or a state that goes round.
struct Cell {
  bool is_state = false;
  size_t index = 0;
  bool length_changes = false, buffer_changes = false;  // lists
  std::optional<std::vector<Dim>> element;              // lists: found in an earlier pass
  std::optional<Dim> capacity;
  DType dtype = DType::kInvalid;
  Lowered::List known;  // lists: what is known of all elements, `same` and `known` alone
  bool started = false;
  // This pass
  Lowered init, in_cond, in_body, out;
  int first = -1;  // of its flat values

  int width() const {
    if (init.kind() == Lowered::Kind::kTensor) return 1;
    return init.kind() == Lowered::Kind::kList ? int(buffer_changes) + int(length_changes) : 0;
  }
};

// The value behind nodes that hand it on.
Endpoint behind(Endpoint e) {
  while (e.node && graph::forwards_inputs(*e.node)) e = e.node->input(e.index);
  return e;
}

bool hands_on(const FunctionBody& body, size_t i) {
  if (i >= body.rets.size()) return false;
  const Endpoint e = behind(body.rets[i]->input(0));
  return e.node && graph::is_arg(*e.node) && size_t(e.node->attr<int64_t>("index")) == i;
}

Value through_views(Value v) {
  while (v && (v->op == ir::Op::kReshape || v->op == ir::Op::kBroadcast) && v->rank() == 0 && v->operand(0).rank() == 0) v = v->operands[0];
  return v;
}

// How much a flat value grows each time round.
std::optional<int64_t> step_of(const Region& body, int k) {
  const Value r = through_views(body.results[size_t(k)]);
  const Value p = body.parameters[size_t(k)];
  if (!r || r->op != ir::Op::kBinary || r->rank() != 0) return std::nullopt;
  const Value a = through_views(r->operands[0]), c = through_views(r->operands[1]);
  const auto number = [](Value v) -> std::optional<int64_t> {
    if (!v->known || !(*v->known)[0].is_const()) return std::nullopt;
    return (*v->known)[0].value();
  };
  if (r->binary == ir::Binary::kAdd && a == p) return number(c);
  if (r->binary == ir::Binary::kAdd && c == p) return number(a);
  if (r->binary == ir::Binary::kSub && a == p) {
    if (const auto n = number(c)) return -*n;
  }
  return std::nullopt;
}

// At most that much: branches inside may add nothing.
std::optional<int64_t> most_step(const Region& body, int k, Value r, int depth = 0) {
  r = through_views(r);
  const Value p = body.parameters[size_t(k)];
  if (r == p) return 0;
  if (!r || depth > 16) return std::nullopt;
  if (r->op == ir::Op::kGet && r->operand(0).op == ir::Op::kIf) {
    std::optional<int64_t> most;
    for (const auto& region : r->operand(0).regions) {
      const auto n = most_step(body, k, region->results[size_t(r->index)], depth + 1);
      if (!n) return std::nullopt;
      most = std::max(most.value_or(*n), *n);
    }
    return most;
  }
  if (r->op != ir::Op::kBinary || r->rank() != 0 || (r->binary != ir::Binary::kAdd && r->binary != ir::Binary::kSub)) return std::nullopt;
  const Value by = through_views(r->operands[1]);
  if (!by->known || !(*by->known)[0].is_const()) return std::nullopt;
  const auto before = most_step(body, k, r->operands[0], depth + 1);
  if (!before) return std::nullopt;
  return *before + (r->binary == ir::Binary::kAdd ? 1 : -1) * (*by->known)[0].value();
}

struct Trips {
  std::optional<Dim> most;
  bool exact = false;
};

Trips trips_of(Value c, const Region& cond, const Region& body, const std::vector<Value>& init, int depth = 0) {
  c = through_views(c);
  if (!c || depth > 8) return {};
  if (c->op == ir::Op::kConstant && c->literal.num_elements() == 1) {
    if (c->type.dtype == DType::kBool && !c->literal.data<int8_t>()[0]) return {Dim(0), true};
    return {};
  }
  if (c->op == ir::Op::kBinary && c->binary == ir::Binary::kAnd) {
    const auto holds = [](Value v) { return v->op == ir::Op::kConstant && v->literal.num_elements() == 1 && v->literal.data<int8_t>()[0]; };
    if (holds(c->operands[0])) return trips_of(c->operands[1], cond, body, init, depth + 1);
    if (holds(c->operands[1])) return trips_of(c->operands[0], cond, body, init, depth + 1);
    const Trips a = trips_of(c->operands[0], cond, body, init, depth + 1), b = trips_of(c->operands[1], cond, body, init, depth + 1);
    if (a.most && b.most) return {ir::min(*a.most, *b.most), a.exact && b.exact};
    return {a.most ? a.most : b.most, false};
  }
  if (c->op != ir::Op::kCompare) return {};
  Value x = through_views(c->operands[0]), limit = c->operands[1];
  ir::Compare op = c->compare;
  if (!(x->op == ir::Op::kParameter && x->parent == &cond)) {
    std::swap(x, limit);
    x = through_views(x);
    op = op == ir::Compare::kLt   ? ir::Compare::kGt
         : op == ir::Compare::kGt ? ir::Compare::kLt
         : op == ir::Compare::kLe ? ir::Compare::kGe
         : op == ir::Compare::kGe ? ir::Compare::kLe
                                  : op;
  }
  if (x->op != ir::Op::kParameter || x->parent != &cond || x->rank() != 0 || !limit->known) return {};
  const Value start = init[size_t(x->index)];
  const auto step = step_of(body, x->index);
  if (!start->known || !step || *step == 0) return {};
  Dim from = (*start->known)[0], to = (*limit->known)[0];
  if (*step > 0 && (op == ir::Compare::kLt || op == ir::Compare::kLe)) {
    if (op == ir::Compare::kLe) to = to + Dim(1);
    return {ir::max(ceil_div(to - from, Dim(*step)), Dim(0)), true};
  }
  if (*step < 0 && (op == ir::Compare::kGt || op == ir::Compare::kGe)) {
    if (op == ir::Compare::kGe) to = to - Dim(1);
    return {ir::max(ceil_div(from - to, Dim(-*step)), Dim(0)), true};
  }
  return {};
}

}  // namespace

LoweredList Lowerer::while_loop(const op::FunctionAttr& cond, const op::FunctionAttr& body, LoweredList vars) {
  const auto cond_f = open(cond, vars.size()), body_f = open(body, vars.size());
  if (!cond_f || !body_f) return {};
  if (body_f->rets.size() != vars.size() || cond_f->rets.size() != 1) {
    b_.fail(core::invalid_argument("the functions of the loop '", b_.node(), "' do not fit its ", vars.size(), " variables"));
    return {};
  }
  const Snapshot before = snapshot();
  const auto outer = [&](size_t state) { return state < before.size() ? before[state] : states_[state].initial; };

  std::vector<Cell> cells;
  std::vector<int> cell_of(vars.size(), -1);
  for (size_t i = 0; i < vars.size(); ++i) {
    if (hands_on(*body_f, i)) continue;
    if (vars[i].kind() == Lowered::Kind::kState) {
      b_.fail(core::unimplemented("the loop '", b_.node(), "' changes which resource its variable ", i, " is"));
      return {};
    }
    cell_of[i] = int(cells.size());
    Cell c;
    c.index = i;
    cells.push_back(std::move(c));
  }

  for (int pass = 0; pass < kMostPasses; ++pass) {
    // ---- in
    std::vector<Value> init;
    for (Cell& c : cells) {
      c.init = c.is_state ? outer(c.index) : vars[c.index];
      if (c.init.kind() == Lowered::Kind::kList) {
        Lowered::List l = c.init.list();
        if (!l.element && c.element) l.element = c.element;
        if (!l.capacity && c.capacity) l.capacity = c.capacity;
        if (l.dtype == DType::kInvalid) l.dtype = c.dtype;
        if (!c.started) op::lists::take_known(c.known, l);
        c.started = true;
        c.init = Lowered::list(op::lists::with_buffer(b_, l));
        // Optimistic: a list of known form is changed, its length is not.
        if (c.init.list().buffer && pass == 0) c.buffer_changes = true;
      }
      c.first = int(init.size());
      if (c.init.kind() == Lowered::Kind::kTensor) {
        init.push_back(c.init.tensor());
      } else if (c.init.kind() == Lowered::Kind::kList) {
        if (c.buffer_changes) init.push_back(c.init.list().buffer);
        if (c.length_changes) init.push_back(c.init.list().length);
      }
    }
    if (!b_.status().ok()) return {};
    const auto inside = [&](const Cell& c, const std::vector<Value>& parameters) -> Lowered {
      if (c.init.kind() == Lowered::Kind::kTensor) return parameters[size_t(c.first)];
      if (c.init.kind() != Lowered::Kind::kList) return c.init;
      Lowered::List l = c.init.list();
      op::lists::take_known(l, c.known);
      int k = c.first;
      if (c.buffer_changes) l.buffer = parameters[size_t(k++)];
      if (c.length_changes) l.length = parameters[size_t(k)];
      return Lowered::list(std::move(l));
    };
    const auto enter = [&](std::vector<Value>& parameters) {
      for (const Value v : init) parameters.push_back(b_.region_parameter(v->type));
      LoweredList in = vars;
      for (const Cell& c : cells) {
        if (c.is_state) states_[c.index].value = inside(c, parameters);
        else in[c.index] = inside(c, parameters);
      }
      return in;
    };

    // ---- the condition
    ir::OpenRegion open_cond = b_.begin_region();
    std::vector<Value> parameters;
    LoweredList in = enter(parameters);
    const Snapshot before_cond = snapshot();
    const LoweredList holds = call(cond, in);
    if (!b_.status().ok()) return {};
    for (size_t s = 0; s < states_.size(); ++s) {
      if (s < before_cond.size() && !same_value(states_[s].value, before_cond[s])) {
        b_.fail(core::unimplemented("the condition of loop '", b_.node(), "' writes to '", states_[s].name, "'"));
        return {};
      }
    }
    Value go = holds[0].kind() == Lowered::Kind::kTensor ? holds[0].tensor() : nullptr;
    if (go && go->rank() != 0) go = b_.reshape(go, {});
    if (go && go->type.dtype != DType::kBool) go = b_.convert(go, DType::kBool);
    std::unique_ptr<Region> cond_r = open_cond.end({go});
    restore(before);
    if (!b_.status().ok()) return {};

    // ---- the body
    ir::OpenRegion open_body = b_.begin_region();
    parameters.clear();
    in = enter(parameters);
    for (Cell& c : cells) c.in_body = inside(c, parameters);
    LoweredList out = call(body, in);
    if (!b_.status().ok()) return {};
    bool again = false;
    for (Cell& c : cells) {
      c.out = c.is_state ? states_[c.index].value : out[c.index];
      if (c.out.kind() == Lowered::Kind::kList) c.out = Lowered::list(op::lists::with_buffer(b_, c.out.list()));
      if (c.out.kind() != c.init.kind()) {
        b_.fail(core::unimplemented("a variable of loop '", b_.node(), "' changes what it is"));
        return {};
      }
    }
    const Snapshot after = snapshot();

    // ---- states that the body wrote
    for (size_t s = 0; s < states_.size(); ++s) {
      const bool carried = std::any_of(cells.begin(), cells.end(), [&](const Cell& c) { return c.is_state && c.index == s; });
      if (carried || outer(s).kind() == Lowered::Kind::kNone || same_value(after[s], outer(s))) continue;
      Cell c;
      c.is_state = true;
      c.index = s;
      c.buffer_changes = outer(s).kind() == Lowered::Kind::kList && outer(s).list().buffer;
      cells.push_back(std::move(c));
      again = true;
    }
    // ---- lists: what the pass found
    std::vector<Value> results;
    bool grows = false;
    for (Cell& c : cells) {
      if (again && c.out.kind() == Lowered::Kind::kNone) continue;  // new
      if (c.init.kind() == Lowered::Kind::kTensor) {
        const Value v = c.out.tensor();
        if (!again && !same_type(b_, c.init.tensor()->type, v->type, core::cat("a variable of loop '", b_.node(), "'"))) return {};
        results.push_back(v);
        continue;
      }
      const Lowered::List &i = c.in_body.list(), &o = c.out.list();
      if (c.dtype == DType::kInvalid) c.dtype = o.dtype;
      op::lists::join_known(c.known, o);
      if (c.known.same != i.same || c.known.known != i.known) again = true;
      if (!i.element && o.element && !c.element) {
        c.element = o.element;
        again = true;
      }
      if (o.length != i.length && !c.length_changes) {
        c.length_changes = true;
        again = true;
      }
      if (o.buffer != i.buffer && !c.buffer_changes && i.element && i.capacity) {
        c.buffer_changes = true;
        again = true;
      }
      if (o.buffer && !i.buffer && i.capacity) again = true;  // the element is known now: the buffer goes round
      if (c.length_changes && !i.capacity && !c.capacity) grows = true;
      if (c.buffer_changes) results.push_back(o.buffer ? o.buffer : i.buffer);
      if (c.length_changes) results.push_back(o.length);
    }
    if (again) grows = false;
    std::unique_ptr<Region> body_r = open_body.end(results);
    restore(before);
    if (!b_.status().ok()) return {};
    for (Cell& c : cells) {
      if (c.init.kind() == Lowered::Kind::kList && c.element && (c.capacity || c.init.list().capacity)) c.buffer_changes = true;
    }
    if (again) continue;

    const Trips trips = trips_of(cond_r->results[0], *cond_r, *body_r, init);
    if (grows) {
      // Lists that are pushed to: as many elements as there are turns.
      for (Cell& c : cells) {
        if (c.init.kind() != Lowered::Kind::kList || !c.length_changes || c.capacity || c.init.list().capacity) continue;
        const int k = c.first + int(c.buffer_changes);
        const auto step = most_step(*body_r, k, body_r->results[size_t(k)]);
        const Value length = c.init.list().length;
        if (!trips.most || !step || !length->known) {
          b_.fail(core::unimplemented("the loop '", b_.node(),
                                      "' makes a list longer, and how often it turns is not known when compiling; give it maximum_iterations"));
          return {};
        }
        c.capacity = (*length->known)[0] + *trips.most * Dim(std::max<int64_t>(*step, 0));
        c.element = c.out.list().element;
        c.buffer_changes = true;
      }
      continue;
    }

    // ---- out
    std::vector<std::optional<int64_t>> steps;
    for (size_t k = 0; k < init.size(); ++k) steps.push_back(step_of(*body_r, int(k)));
    const std::vector<Value> last = b_.while_loop(init, std::move(cond_r), std::move(body_r));
    if (!b_.status().ok()) return {};
    if (trips.exact && trips.most) {
      if (!last.empty() && last[0]->op == ir::Op::kGet) last[0]->operands[0]->starts = {*trips.most};
      for (size_t k = 0; k < last.size(); ++k) {
        if (steps[k] && init[k]->known && init[k]->rank() == 0)
          last[k]->known = std::vector<Dim>{(*init[k]->known)[0] + *trips.most * Dim(*steps[k])};
      }
    }
    LoweredList result = vars;
    for (const Cell& c : cells) {
      Lowered v = inside(c, last);
      if (c.is_state) states_[c.index].value = std::move(v);
      else result[c.index] = std::move(v);
    }
    return result;
  }
  b_.fail(core::unimplemented("the loop '", b_.node(), "' keeps changing what it carries"));
  return {};
}

}  // namespace weft_engine::compiler
