// A plan from a module: the other files decide the steps and their order, this one gives memory and copies.
#include "compiler/plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/plan_internal.h"
#include "core/call_depth.h"

namespace weft_engine::compiler {
namespace {

using ir::Dim;

// Program points: a node at time t reads at 2t and writes at 2t + 1. What it writes counts as occupied from 2t, so that it shares no memory with
// what is read, but for pairs that the node allows.
using Interval = std::pair<int, int>;  // both ends belong to it
using Intervals = std::vector<Interval>;

void add_interval(Intervals& all, int from, int to) {
  if (!all.empty() && all.back().first <= to + 1 && from <= all.back().second + 1) {
    all.back().first = std::min(all.back().first, from);
    all.back().second = std::max(all.back().second, to);
  } else {
    all.emplace_back(from, to);
  }
}

Intervals united(const Intervals& a, const Intervals& b) {
  Intervals all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  Intervals out;
  for (const Interval& i : all) add_interval(out, i.first, i.second);
  return out;
}

bool overlap(const Intervals& a, const Intervals& b) {
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (std::max(a[i].first, b[k].first) <= std::min(a[i].second, b[k].second)) return true;
    if (a[i].second < b[k].second) ++i;
    else ++k;
  }
  return false;
}

class Memory {
 public:
  Memory(Draft& d, Plan& plan) : draft_(d), plan_(plan) {}

  core::Status run() {
    collect(draft_.nodes);
    const size_t n = draft_.vars.size();
    slot_of_.resize(n);
    std::iota(slot_of_.begin(), slot_of_.end(), 0);
    slots_.resize(n);
    for (size_t v = 0; v < n; ++v) {
      slots_[v].vars = {int(v)};
      slots_[v].live = live(int(v));
    }
    coalesce();
    buffers();
    plan_.steps = steps(draft_.nodes);
    offsets();
    return {};
  }

 private:
  struct Event {
    int time;
    bool reads, writes;
  };
  struct Slot {
    std::vector<int> vars;
    Intervals live;
    int buffer = -1;
  };

  void collect(const std::vector<PlanNode>& nodes) {
    events_.resize(draft_.vars.size());
    for (const PlanNode& n : nodes) {
      last_ = std::max(last_, n.end + 1);
      if (!n.regions.empty()) {
        for (const auto& part : n.regions) collect(part);
        continue;
      }
      if (leaves_.size() <= size_t(n.begin)) leaves_.resize(size_t(n.begin) + 1, nullptr);
      leaves_[size_t(n.begin)] = &n;
      for (int v : n.reads) events_[size_t(v)].push_back({n.begin, true, false});
      for (int v : n.writes) {
        auto& all = events_[size_t(v)];
        if (!all.empty() && all.back().time == n.begin) all.back().writes = true;
        else all.push_back({n.begin, false, true});
      }
    }
  }

  // ---- when a Var holds something that is still wanted

  Intervals live(int v) {
    const Var& var = draft_.vars[size_t(v)];
    if (var.read_only) return {{-1, 2 * last_ + 1}};
    Intervals out;
    seen_.clear();
    const bool at_start = flow(v, draft_.nodes, -1, 2 * last_ + 1, var.at_end, out);
    if (at_start || var.at_start) out.emplace_back(-1, -1);
    std::sort(out.begin(), out.end());
    Intervals merged;
    for (const Interval& i : out) add_interval(merged, i.first, i.second);
    return merged;
  }

  // The stretch of nodes from moment `from` to `to`, backwards: whether the Var is wanted in front of it, if `wanted` behind it.
  bool flow(int v, const std::vector<PlanNode>& nodes, int from, int to, bool wanted, Intervals& out) {
    const std::vector<Event>& all = events_[size_t(v)];
    int until = to;  // wanted from somewhere before up to here
    auto next = std::partition_point(all.begin(), all.end(), [&](const Event& e) { return 2 * e.time <= to; });
    while (next != all.begin() && 2 * std::prev(next)->time >= from) {
      const Event& e = *std::prev(next);
      const auto n = std::prev(std::partition_point(nodes.begin(), nodes.end(), [&](const PlanNode& x) { return x.begin <= e.time; }));
      if (n->regions.empty()) {
        const int t = 2 * e.time;
        if (wanted) out.emplace_back(t + 1, until);
        if (e.writes) {
          out.emplace_back(t, t + 1);
          wanted = false;
        }
        if (e.reads) wanted = true;
        until = t;
        --next;
        continue;
      }
      if (wanted) out.emplace_back(2 * n->end, until);
      wanted = inside(v, *n, wanted, out);
      until = 2 * n->begin + 1;
      while (next != all.begin() && std::prev(next)->time >= n->begin) --next;
    }
    if (wanted) out.emplace_back(from, until);
    return wanted;
  }

  static int first_point(const PlanNode& n, size_t region) {
    return region == 0 || n.regions[region - 1].empty() ? 2 * n.begin + 1 : 2 * n.regions[region - 1].back().end + 2;
  }
  static int last_point(const PlanNode& n, size_t region) {
    return n.regions[region].empty() ? first_point(n, region) : 2 * n.regions[region].back().end + 1;
  }

  bool inside(int v, const PlanNode& n, bool wanted, Intervals& out) {
    // A loop asks twice, and so would every loop inside it: 2^depth times for the innermost.
    const auto [known, fresh] = seen_.try_emplace({&n, wanted}, false);
    if (!fresh) return known->second;
    const bool before = inside_once(v, n, wanted, out);
    return seen_[{&n, wanted}] = before;
  }

  bool inside_once(int v, const PlanNode& n, bool wanted, Intervals& out) {
    auto part = [&](size_t k, bool behind) { return flow(v, n.regions[k], first_point(n, k), last_point(n, k), behind, out); };
    if (n.step.kind == Step::Kind::kIf) {
      bool before = false;
      for (size_t k = n.regions.size(); k-- > 0;) before = part(k, wanted) || before;
      return before;
    }
    // The condition runs before each iteration and once more. Twice is enough: what is wanted only grows.
    bool before = wanted;
    for (int round = 0; round < 2; ++round) before = part(0, part(1, before) || wanted);
    return before;
  }

  // ---- one place for several Vars

  bool may_touch(int moment, const Slot& a, const Slot& b) const {
    if (moment % 2 != 0 || moment < 0) return false;
    const PlanNode* n = size_t(moment / 2) < leaves_.size() ? leaves_[size_t(moment / 2)] : nullptr;
    if (!n) return false;
    auto in = [](const Slot& s, int v) { return std::find(s.vars.begin(), s.vars.end(), v) != s.vars.end(); };
    auto allowed = [&](const Slot& written, const Slot& read) {
      for (int w : n->writes) {
        if (!in(written, w)) continue;
        for (int r : n->reads) {
          if (in(read, r) && std::find(n->in_place.begin(), n->in_place.end(), std::pair(w, r)) == n->in_place.end()) return false;
        }
      }
      return true;
    };
    return allowed(a, b) && allowed(b, a);
  }

  bool interfere(const Slot& a, const Slot& b) const {
    for (size_t i = 0, k = 0; i < a.live.size() && k < b.live.size();) {
      const int from = std::max(a.live[i].first, b.live[k].first), to = std::min(a.live[i].second, b.live[k].second);
      if (from <= to && !(from == to && may_touch(from, a, b))) return true;
      if (a.live[i].second < b.live[k].second) ++i;
      else ++k;
    }
    return false;
  }

  const Var* fixed_in(const Slot& s) const {
    for (int v : s.vars) {
      if (draft_.vars[size_t(v)].fixed) return &draft_.vars[size_t(v)];
    }
    return nullptr;
  }

  void join(int u, int v) {
    int a = slot_of_[size_t(u)], b = slot_of_[size_t(v)];
    if (a == b || !(draft_.vars[size_t(u)].bytes == draft_.vars[size_t(v)].bytes)) return;
    if (slots_[size_t(a)].vars.size() < slots_[size_t(b)].vars.size()) std::swap(a, b);
    Slot &x = slots_[size_t(a)], &y = slots_[size_t(b)];
    const Var *p = fixed_in(x), *q = fixed_in(y);
    if ((p && q) || (p && p->read_only) || (q && q->read_only) || interfere(x, y)) return;
    for (int w : y.vars) slot_of_[size_t(w)] = a;
    x.vars.insert(x.vars.end(), y.vars.begin(), y.vars.end());
    x.live = united(x.live, y.live);
    y = {};
  }

  struct Request {
    int rank;
    int u, v;
  };

  // Copies that would vanish; those in loops first, as they are run often, then what is written in place.
  void requests(const std::vector<PlanNode>& nodes, int depth, std::vector<Request>& out) const {
    for (const PlanNode& n : nodes) {
      const int in = depth + (n.step.kind == Step::Kind::kWhile ? 1 : 0);
      for (const auto& part : n.regions) requests(part, in, out);
      for (const PlanNode::Copy& c : n.copies) {
        const int from = draft_.var_of(c.from);
        const Var& to = draft_.vars[size_t(c.to)];
        const int late = to.kind == Buffer::Kind::kResult ? 2 : 0;
        if (from >= 0) out.push_back({-4 * depth + late, from, c.to});
      }
      const bool whole = n.step.kind == Step::Kind::kInstr && !n.is_copies;
      if (n.is_copies) continue;
      for (const auto& [w, r] : n.in_place) out.push_back({whole ? -4 * depth - 1 : 1000, r, w});
    }
  }

  void coalesce() {
    std::vector<Request> all;
    requests(draft_.nodes, 0, all);
    std::stable_sort(all.begin(), all.end(), [](const Request& a, const Request& b) { return a.rank < b.rank; });
    for (const Request& w : all) join(w.u, w.v);
  }

  // ---- the plan

  void buffers() {
    for (size_t s = 0; s < slots_.size(); ++s) {
      Slot& slot = slots_[s];
      if (slot.vars.empty() || (slot.live.empty() && !fixed_in(slot))) continue;
      slot.buffer = add_buffer(fixed_in(slot), draft_.vars[size_t(slot.vars[0])].bytes, slot.live);
      for (int v : slot.vars) {
        if (const Instr* i = draft_.vars[size_t(v)].scratch_of) plan_.scratch[i] = slot.buffer;
      }
    }
    plan_.constants = draft_.constants;
    for (const auto& [i, vars] : draft_.results) {
      for (int v : vars) plan_.results[i].push_back(buffer_of(v));
    }
    values(*draft_.module->main);
  }

  int add_buffer(const Var* fixed, const Dim& bytes, const Intervals& live) {
    Buffer b;
    b.bytes = bytes;
    if (fixed) {
      b.kind = fixed->kind;
      b.index = fixed->index;
    }
    plan_.buffers.push_back(std::move(b));
    live_.push_back(live);
    return int(plan_.buffers.size()) - 1;
  }

  int buffer_of(int var) const { return slots_[size_t(slot_of_[size_t(var)])].buffer; }

  void values(const ir::Region& r) {
    for (const auto& i : r.instrs) {
      const int v = draft_.var_of(i.get());
      if (v >= 0 && buffer_of(v) >= 0) plan_.buffer[i.get()] = buffer_of(v);
      for (const auto& part : i->regions) values(*part);
    }
  }

  std::vector<Step> steps(std::vector<PlanNode>& nodes) {
    std::vector<Step> out;
    for (PlanNode& n : nodes) {
      if (n.is_copies) {
        copies(n, out);
        continue;
      }
      for (auto& part : n.regions) n.step.regions.push_back(steps(part));
      out.push_back(std::move(n.step));
    }
    return out;
  }

  // Copies that happen at once, one after the other: none may overwrite what another is still to read.
  void copies(const PlanNode& n, std::vector<Step>& out) {
    struct Move {
      const Instr* value;
      int from, to;
      bool moved = false;  // waits elsewhere
    };
    std::vector<Move> left;
    for (const PlanNode::Copy& c : n.copies) {
      const int from = draft_.var_of(c.from), to = buffer_of(c.to);
      const Move m{c.from, from < 0 ? -1 : buffer_of(from), to};
      if (to >= 0 && m.from != m.to) left.push_back(m);
    }
    auto emit = [&](const Move& m, int to) {
      Step s;
      s.kind = Step::Kind::kCopy;
      s.copy_from = m.value;
      s.copy_from_buffer = m.moved ? m.from : -1;
      s.copy_to = to;
      out.push_back(std::move(s));
    };
    while (!left.empty()) {
      auto it = std::find_if(left.begin(), left.end(), [&](const Move& m) {
        return std::none_of(left.begin(), left.end(), [&](const Move& o) { return &o != &m && o.from == m.to; });
      });
      if (it == left.end()) {
        // All wait for each other: what is where the first goes is put aside.
        const int place = left[0].to;
        const auto reader = std::find_if(left.begin(), left.end(), [&](const Move& m) { return m.from == place; });
        const int aside = add_buffer(nullptr, plan_.buffers[size_t(place)].bytes, {{2 * n.begin, 2 * n.begin + 1}});
        emit(*reader, aside);
        for (Move& m : left) {
          if (m.from != place) continue;
          m.from = aside;
          m.moved = true;
        }
        continue;
      }
      emit(*it, it->to);
      left.erase(it);
    }
  }

  // ---- offsets

  // Sizes that are a number times the same product of symbols are placed together, each by its number; others are alone.
  void offsets() {
    std::map<std::string, std::vector<size_t>> kinds;
    std::map<std::string, Dim> unit;
    std::vector<size_t> alone;
    for (size_t k = 0; k < plan_.buffers.size(); ++k) {
      const Dim& bytes = plan_.buffers[k].bytes;
      if (plan_.buffers[k].kind != Buffer::Kind::kArena) continue;
      if (bytes.is_const()) {
        kinds[""].push_back(k);
        unit.emplace("", Dim(1));
      } else if (bytes.constant() == 0 && bytes.terms().size() == 1 && bytes.terms()[0].coefficient > 0) {
        const Dim one = floor_div(bytes, Dim(bytes.terms()[0].coefficient));
        kinds[one.to_string()].push_back(k);
        unit.emplace(one.to_string(), one);
      } else {
        alone.push_back(k);
      }
    }
    Dim at(0);
    for (const auto& [name, all] : kinds) at = at + pack(all, unit[name], at);
    lanes(alone, at);
    plan_.arena_bytes = at;
  }

  // To cache lines; for a GPU to what its libraries like best.
  int64_t aligned(int64_t n) const {
    const int64_t line = draft_.threads == 0 ? 256 : 64;
    return (n + line - 1) / line * line;
  }

  // Large ones first, each into the tightest hole among those that are in use at the same time.
  Dim pack(std::vector<size_t> all, const Dim& unit, const Dim& base) {
    auto size = [&](size_t k) {
      const Dim& d = plan_.buffers[k].bytes;
      return aligned(d.is_const() ? d.value() : d.terms()[0].coefficient);
    };
    std::stable_sort(all.begin(), all.end(), [&](size_t a, size_t b) { return size(a) > size(b); });
    std::vector<std::pair<int64_t, size_t>> placed;  // by offset
    int64_t total = 0;
    for (size_t k : all) {
      const int64_t want = size(k);
      int64_t end = 0, best = -1, tightest = 0;
      for (const auto& [offset, other] : placed) {
        if (!overlap(live_[k], live_[other])) continue;
        const int64_t hole = offset - end;
        if (hole >= want && (best < 0 || hole < tightest)) {
          best = end;
          tightest = hole;
        }
        end = std::max(end, offset + size(other));
      }
      if (best < 0) best = end;
      plan_.buffers[k].offset = base + Dim(best) * unit;
      placed.insert(std::upper_bound(placed.begin(), placed.end(), std::pair(best, k)), {best, k});
      total = std::max(total, best + want);
    }
    return Dim(total) * unit;
  }

  // Sizes that cannot be compared by number share a place only where one is surely not smaller.
  void lanes(const std::vector<size_t>& all, Dim& at) {
    struct Lane {
      Dim bytes;
      std::vector<size_t> members;
    };
    std::vector<Lane> lanes;
    for (size_t k : all) {
      const Dim& bytes = plan_.buffers[k].bytes;
      Lane* found = nullptr;
      for (Lane& l : lanes) {
        const bool fits = (l.bytes - bytes).nonnegative(), grows = (bytes - l.bytes).nonnegative();
        if (!fits && !grows) continue;
        if (std::any_of(l.members.begin(), l.members.end(), [&](size_t o) { return overlap(live_[k], live_[o]); })) continue;
        found = &l;
        break;
      }
      if (!found) found = &lanes.emplace_back();
      found->bytes = max(found->bytes, bytes);
      found->members.push_back(k);
    }
    for (const Lane& l : lanes) {
      for (size_t k : l.members) plan_.buffers[k].offset = at;
      at = at + ceil_div(l.bytes, Dim(64)) * Dim(64);
    }
  }

  Draft& draft_;
  Plan& plan_;
  int last_ = 0;
  std::vector<const PlanNode*> leaves_;  // by time
  std::vector<std::vector<Event>> events_;
  std::map<std::pair<const PlanNode*, bool>, bool> seen_;  // of one Var: in front of loops and branches, by whether it is wanted behind
  std::vector<int> slot_of_;
  std::vector<Slot> slots_;
  std::vector<Intervals> live_;  // of buffers
};

}  // namespace

core::Result<Plan> make_plan(const ir::Module& m, int threads) {
  constexpr int kMostThreads = 16;
  Draft draft;
  draft.module = &m;
  draft.threads = std::clamp(threads, 0, kMostThreads);
  Plan plan;
  plan.module = &m;
  plan.threads = std::max(draft.threads, 1);
  WEFT_RETURN_IF_ERROR(core::with_large_stack([&]() -> core::Status {
    fuse(draft);
    WEFT_RETURN_IF_ERROR(schedule(draft));
    return Memory(draft, plan).run();
  }));
  return plan;
}

}  // namespace weft_engine::compiler
