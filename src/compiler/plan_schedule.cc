#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "compiler/plan_internal.h"
#include "compiler/scratch.h"
#include "ir/attention.h"

namespace weft_engine::compiler {
namespace {

using ir::Dim;
using ir::Op;
using ir::Region;

Dim bytes_of(const ir::Type& t) { return t.elements() * Dim(int64_t(core::dtype_size(t.dtype))); }

const Instr* behind_views(const Instr* i) {
  while (i->op == Op::kReshape) i = i->operands[0];
  return i;
}

void add_once(std::vector<int>& v, int x) {
  if (std::find(v.begin(), v.end(), x) == v.end()) v.push_back(x);
}

class Scheduler {
 public:
  explicit Scheduler(Draft& d) : draft_(d) {}

  core::Status run() {
    const ir::Module& m = *draft_.module;
    const Region& main = *m.main;
    std::vector<int> state_of(m.parameters.size(), -1);  // the result that is its new value
    for (size_t k = 0; k < m.results.size(); ++k) {
      if (m.results[k].state >= 0 && size_t(m.results[k].state) < state_of.size()) state_of[size_t(m.results[k].state)] = int(k);
    }
    for (size_t k = 0; k < main.parameters.size(); ++k) {
      const int v = add(bytes_of(main.parameters[k]->type), true);
      draft_.vars[size_t(v)].kind = Buffer::Kind::kParameter;
      draft_.vars[size_t(v)].index = int(k);
      draft_.vars[size_t(v)].at_start = true;
      draft_.vars[size_t(v)].read_only = state_of[k] < 0;
      draft_.vars[size_t(v)].at_end = state_of[k] >= 0;
      draft_.var[main.parameters[k]] = v;
    }
    constants(main);
    make_vars(main);
    uses(draft_.nodes);
    std::vector<std::pair<int, int>> pairs;
    for (size_t k = 0; k < state_of.size(); ++k) {
      if (state_of[k] >= 0) pairs.emplace_back(draft_.var_of(main.parameters[k]), draft_.var_of(main.results[size_t(state_of[k])]));
    }
    arrange(draft_.nodes, pairs);
    finish(m);
    int time = 0;
    number(draft_.nodes, time);
    return {};
  }

 private:
  int add(Dim bytes, bool fixed = false) {
    Var v;
    v.bytes = std::move(bytes);
    v.fixed = fixed;
    draft_.vars.push_back(std::move(v));
    return int(draft_.vars.size()) - 1;
  }

  void constants(const Region& r) {
    for (const auto& i : r.instrs) {
      for (const auto& part : i->regions) constants(*part);
      if (i->op != Op::kConstant || !draft_.stored.contains(i.get())) continue;
      const int v = add(bytes_of(i->type), true);
      draft_.vars[size_t(v)].kind = Buffer::Kind::kConstant;
      draft_.vars[size_t(v)].index = int(draft_.constants.size());
      draft_.vars[size_t(v)].at_start = true;
      draft_.vars[size_t(v)].read_only = true;
      draft_.var[i.get()] = v;
      draft_.constants.push_back(i.get());
    }
  }

  void make_vars(const Region& r) {
    for (const auto& p : r.instrs) {
      const Instr* i = p.get();
      if (i->op == Op::kParameter || i->op == Op::kConstant) continue;
      if (i->op == Op::kWhile) {
        loop_vars(i);
      } else if (ir::has_results(i->op)) {
        std::vector<int>& to = draft_.results[i];
        for (const ir::Type& t : i->results) to.push_back(add(bytes_of(t)));
        for (const auto& part : i->regions) make_vars(*part);
      } else if (draft_.stored.contains(i)) {
        draft_.var[i] = add(bytes_of(i->type));
      }
    }
  }

  void loop_vars(const Instr* i) {
    const Region &condition = *i->regions[0], &body = *i->regions[1];
    std::vector<int> to;
    for (size_t k = 0; k < i->operands.size(); ++k) {
      // What no iteration changes stays where it came from.
      const bool same = behind_views(body.results[k]) == body.parameters[k];
      const int from = draft_.var_of(i->operands[k]);
      const int v = same && from >= 0 ? from : add(bytes_of(i->results[k]));
      to.push_back(v);
      draft_.var[condition.parameters[k]] = v;
      draft_.var[body.parameters[k]] = v;
    }
    draft_.results[i] = std::move(to);
    make_vars(condition);
    make_vars(body);
  }

  // ---- what nodes read and write

  struct Reads {
    std::map<int, bool> vars;  // whether only at the index that is being computed
    std::unordered_set<const Instr*> seen[2];
  };

  void walk(const Instr* v, bool same, Reads& r) const {
    const int var = draft_.var_of(v);
    if (var >= 0) {
      auto [it, fresh] = r.vars.emplace(var, same);
      if (!fresh) it->second = it->second && same;
      return;
    }
    if (!r.seen[same].insert(v).second) return;
    const bool keeps = ir::is_elementwise(v->op) || v->op == Op::kReshape;
    for (const Instr* o : v->operands) walk(o, same && keeps, r);
  }

  static void note(PlanNode& n, const Reads& r) {
    for (const auto& [v, same] : r.vars) add_once(n.reads, v);
  }

  void uses(std::vector<PlanNode>& nodes) {
    for (PlanNode& n : nodes) {
      if (n.step.kind == Step::Kind::kLoop) {
        loop_uses(n);
      } else if (n.step.kind == Step::Kind::kRows) {
        row_uses(n);
      } else if (n.regions.empty()) {
        instr_uses(n);
      } else {
        region_uses(n);
      }
    }
  }

  void loop_uses(PlanNode& n) {
    const std::unordered_set<const Instr*> members(n.step.instrs.begin(), n.step.instrs.end());
    Reads r;
    for (const Instr* i : n.step.instrs) {
      const bool same = ir::is_elementwise(i->op) || i->op == Op::kReshape;
      for (const Instr* o : i->operands) {
        if (!(same && members.contains(o))) walk(o, same, r);
      }
      if (draft_.stored.contains(i)) add_once(n.writes, draft_.var_of(i));
    }
    note(n, r);
    for (int w : n.writes) {
      for (const auto& [v, same] : r.vars) {
        if (same && draft_.vars[size_t(v)].bytes == draft_.vars[size_t(w)].bytes) n.in_place.emplace_back(w, v);
      }
    }
  }

  void row_uses(PlanNode& n) {
    const std::unordered_set<const Instr*> members(n.step.instrs.begin(), n.step.instrs.end());
    const auto reduce = std::find_if(n.step.instrs.begin(), n.step.instrs.end(), [](const Instr* i) { return i->op == Op::kReduce; });
    const Rows rows = rows_of(*reduce);
    Reads r;
    // Up to what the step computes itself.
    const std::function<void(const Instr*, bool)> visit = [&](const Instr* v, bool same) {
      const Instr* home = draft_.home(v);
      if (members.contains(v) || (home && members.contains(home))) return;
      if (draft_.var_of(v) >= 0) return walk(v, same, r);
      if (!r.seen[same].insert(v).second) return;
      for (const Instr* o : v->operands) visit(o, same && (ir::is_elementwise(v->op) || v->op == Op::kReshape));
    };
    std::vector<int> whole;  // written, with an element for each one of the rows
    for (const Instr* i : n.step.instrs) {
      const bool all = part_of(rows, i->type) == RowPart::kAll;
      const bool same = i->op == Op::kReduce || (all && (ir::is_elementwise(i->op) || i->op == Op::kReshape));
      for (const Instr* o : i->operands) visit(o, same);
      if (!draft_.stored.contains(i)) continue;
      add_once(n.writes, draft_.var_of(i));
      if (all) whole.push_back(draft_.var_of(i));
    }
    note(n, r);
    for (int w : whole) {
      for (const auto& [v, same] : r.vars) {
        if (same && draft_.vars[size_t(v)].bytes == draft_.vars[size_t(w)].bytes) n.in_place.emplace_back(w, v);
      }
    }
  }

  void instr_uses(PlanNode& n) {
    const Instr* i = n.step.instrs[0];
    Reads r;
    for (const Instr* o : i->operands) walk(o, false, r);
    note(n, r);
    if (ir::has_results(i->op)) {
      n.writes = draft_.results[i];
    } else if (i->op != Op::kCheck) {
      n.writes = {draft_.var_of(i)};
    }
    if (i->op == Op::kDynamicUpdate || i->op == Op::kScatter) {
      const int from = draft_.var_of(i->operands[0]);
      Reads others;
      for (size_t k = 1; k < i->operands.size(); ++k) walk(i->operands[k], false, others);
      if (from >= 0 && !others.vars.contains(from)) n.in_place.emplace_back(n.writes[0], from);
    }
    Dim scratch = scratch_bytes(*i, draft_.threads);
    if (!scratch.is(0)) {
      const int v = add(std::move(scratch));
      draft_.vars[size_t(v)].scratch_of = i;
      n.writes.push_back(v);
    }
  }

  static PlanNode reader(const Reads& r) {
    PlanNode n;
    n.is_copies = true;
    note(n, r);
    return n;
  }

  void region_uses(PlanNode& n) {
    const Instr* i = n.step.instrs[0];
    const std::vector<int> to = draft_.results[i];
    for (size_t k = 0; k < n.regions.size(); ++k) {
      std::vector<PlanNode>& nodes = n.regions[k];
      const Region& r = *i->regions[k];
      uses(nodes);
      const bool condition = i->op == Op::kWhile && k == 0;
      std::vector<std::pair<int, int>> pairs;
      if (i->op == Op::kWhile && k == 1) {
        for (size_t p = 0; p < to.size(); ++p) pairs.emplace_back(to[p], draft_.var_of(r.results[p]));
      }
      arrange(nodes, pairs);
      if (condition) {
        Reads read;
        for (const Instr* v : r.results) walk(v, false, read);
        nodes.push_back(reader(read));
      } else {
        nodes.push_back(copies(r.results, to));
      }
      for (const PlanNode& inner : nodes) {
        for (int v : inner.reads) add_once(n.reads, v);
        for (int v : inner.writes) add_once(n.writes, v);
      }
    }
    for (size_t k = 0; k < to.size(); ++k) {
      if (i->op == Op::kIf || to[k] != draft_.var_of(i->operands[k])) add_once(n.writes, to[k]);
    }
    Reads operands;
    for (const Instr* o : i->operands) walk(o, false, operands);
    note(n, operands);
  }

  PlanNode copies(const std::vector<Instr*>& from, const std::vector<int>& to) const {
    PlanNode n;
    n.is_copies = true;
    Reads r;
    for (size_t k = 0; k < to.size(); ++k) {
      if (draft_.var_of(from[k]) == to[k]) continue;
      n.copies.push_back({from[k], to[k]});
      walk(from[k], false, r);
      add_once(n.writes, to[k]);
    }
    note(n, r);
    for (int w : n.writes) {
      for (int v : n.reads) n.in_place.emplace_back(w, v);
    }
    return n;
  }

  // ---- order

  // `pairs`: (old, new) values of what should be in one place: readers of the old go first, where they can.
  void arrange(std::vector<PlanNode>& nodes, std::vector<std::pair<int, int>> pairs) {
    const size_t n = nodes.size();
    std::unordered_map<int, size_t> writer;
    std::unordered_map<int, std::vector<size_t>> readers;
    for (size_t k = 0; k < n; ++k) {
      for (int v : nodes[k].writes) writer.emplace(v, k);
      for (int v : nodes[k].reads) readers[v].push_back(k);
      const Step& s = nodes[k].step;
      if (s.kind == Step::Kind::kInstr && !nodes[k].in_place.empty()) pairs.emplace_back(nodes[k].in_place[0].second, nodes[k].in_place[0].first);
    }
    std::vector<std::vector<size_t>> after(n);
    for (const auto& [v, all] : readers) {
      const auto w = writer.find(v);
      if (w == writer.end()) continue;
      for (size_t k : all) {
        if (k != w->second) after[w->second].push_back(k);
      }
    }
    for (const auto& [before, now] : pairs) {
      const auto w = writer.find(now);
      const auto r = readers.find(before);
      if (before == now || now < 0 || w == writer.end() || r == readers.end()) continue;
      const std::vector<char> later = reachable(after, w->second);
      if (std::any_of(r->second.begin(), r->second.end(), [&](size_t k) { return k != w->second && later[k]; })) continue;
      for (size_t k : r->second) {
        if (k != w->second) after[k].push_back(w->second);
      }
    }
    reorder(nodes, after);
  }

  static std::vector<char> reachable(const std::vector<std::vector<size_t>>& after, size_t from) {
    std::vector<char> seen(after.size(), 0);
    std::vector<size_t> open{from};
    while (!open.empty()) {
      const size_t k = open.back();
      open.pop_back();
      for (size_t next : after[k]) {
        if (seen[next]) continue;
        seen[next] = 1;
        open.push_back(next);
      }
    }
    return seen;
  }

  static void reorder(std::vector<PlanNode>& nodes, const std::vector<std::vector<size_t>>& after) {
    std::vector<int> waits(nodes.size(), 0);
    for (const auto& all : after) {
      for (size_t k : all) ++waits[k];
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t k = 0; k < nodes.size(); ++k) {
      if (waits[k] == 0) ready.push(k);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t k = ready.top();
      ready.pop();
      order.push_back(k);
      for (size_t next : after[k]) {
        if (--waits[next] == 0) ready.push(next);
      }
    }
    if (order.size() != nodes.size()) return;
    std::vector<PlanNode> out;
    out.reserve(nodes.size());
    for (size_t k : order) out.push_back(std::move(nodes[k]));
    nodes = std::move(out);
  }

  // ---- copies

  void finish(const ir::Module& m) {
    const Region& main = *m.main;
    std::vector<int> to;
    for (size_t k = 0; k < main.results.size(); ++k) {
      if (m.results[k].state >= 0) {
        to.push_back(draft_.var_of(main.parameters[size_t(m.results[k].state)]));
        continue;
      }
      const int v = add(bytes_of(main.results[k]->type), true);
      Var& var = draft_.vars[size_t(v)];
      var.kind = Buffer::Kind::kResult;
      var.index = int(k);
      var.at_end = true;
      to.push_back(v);
    }
    draft_.nodes.push_back(copies(main.results, to));
    before_regions(draft_.nodes);
  }

  // Loops get their variables, branches are chosen.
  void before_regions(std::vector<PlanNode>& nodes) {
    std::vector<PlanNode> out;
    for (PlanNode& n : nodes) {
      if (!n.regions.empty()) {
        const Instr* i = n.step.instrs[0];
        if (i->op == Op::kWhile) {
          out.push_back(copies(i->operands, draft_.results[i]));
        } else {
          Reads r;
          walk(i->operands[0], false, r);
          out.push_back(reader(r));
        }
        for (auto& part : n.regions) before_regions(part);
      }
      out.push_back(std::move(n));
    }
    nodes = std::move(out);
  }

  static void number(std::vector<PlanNode>& nodes, int& time) {
    for (PlanNode& n : nodes) {
      n.begin = n.end = time++;
      if (n.regions.empty()) continue;
      for (auto& part : n.regions) number(part, time);
      n.end = time++;
    }
  }

  Draft& draft_;
};

}  // namespace

core::Status schedule(Draft& d) { return Scheduler(d).run(); }

}  // namespace weft_engine::compiler
