// Loops over the same sizes that read each other's values, or the same ones, become one loop with several results: an update of
// Adam, the gates of a cell. On a GPU reductions along rows and the loops around them become one step: a softmax, a layer normalisation.
#include <algorithm>
#include <map>
#include <queue>

#include "compiler/plan_internal.h"

namespace weft_engine::compiler {
namespace {

using ir::Op;

class Merger {
 public:
  Merger(Draft& d, std::vector<PlanNode>& nodes, const std::vector<std::pair<const Instr*, const Instr*>>& places,
         const std::unordered_set<const Instr*>& wanted)
      : draft_(d), nodes_(nodes), places_(places), wanted_(wanted) {}

  void run() {
    collect();
    for (size_t k = 0; k < nodes_.size(); ++k) grow(k);
    for (size_t k = 0; k < nodes_.size(); ++k) grow_rows(k);
    finish();
  }

 private:
  static constexpr size_t kMostInstrs = 2000, kMostRowInstrs = 200,
                          kMostResults = 12;  // of one loop: registers are few, and so are streams that are fetched ahead

  struct ById {
    bool operator()(const Instr* a, const Instr* b) const { return a->id < b->id; }
  };
  struct Group {
    bool loop = false;  // can take others
    Rows rows;          // of the reductions in it
    std::vector<const Instr*> instrs, stores;
    std::map<const Instr*, bool, ById> reads;  // value in memory: read only at the loop's index, and directly
    std::vector<size_t> after;                 // steps that must come later
    size_t order = 0;
    size_t into;  // the group that took it
  };

  static void note(Group& g, const Instr* v, bool direct) {
    auto [it, fresh] = g.reads.emplace(v, direct);
    if (!fresh) it->second = it->second && direct;
  }

  void walk(const Instr* i, Group& g, std::unordered_set<const Instr*>& seen) const {
    if (const Instr* h = draft_.home(i)) return note(g, h, false);
    if (!seen.insert(i).second) return;
    for (const Instr* o : i->operands) walk(o, g, seen);
  }

  void inside(const ir::Region& r, Group& g, std::unordered_set<const Instr*>& seen) const {
    for (const auto& i : r.instrs) {
      for (const Instr* o : i->operands) walk(o, g, seen);
      for (const auto& part : i->regions) inside(*part, g, seen);
    }
    for (const Instr* v : r.results) walk(v, g, seen);
  }

  void collect() {
    groups_.resize(nodes_.size());
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const Step& s = nodes_[k].step;
      Group& g = groups_[k];
      g.instrs = s.instrs;
      g.order = k;
      g.into = k;
      std::unordered_set<const Instr*> seen;
      if (s.kind == Step::Kind::kLoop) {
        const Op op = s.instrs.back()->op;
        g.loop = op != Op::kPad && op != Op::kConcat && op != Op::kGather && !is_generated(s.instrs.back());
        const std::unordered_set<const Instr*> members(s.instrs.begin(), s.instrs.end());
        for (const Instr* i : s.instrs) {
          if (draft_.stored.contains(i)) g.stores.push_back(i);
          const bool here = ir::is_elementwise(i->op);
          for (const Instr* o : i->operands) {
            if (here && members.contains(o)) continue;
            if (here && draft_.stored.contains(o)) note(g, o, true);
            else walk(o, g, seen);
          }
        }
      } else {
        g.stores = {s.instrs[0]};
        if (draft_.threads == 0 && s.kind == Step::Kind::kInstr) g.rows = rows_of(s.instrs[0]);
        for (const Instr* o : s.instrs[0]->operands) walk(o, g, seen);
        for (const auto& part : s.instrs[0]->regions) inside(*part, g, seen);
      }
      for (const Instr* i : g.stores) maker_[i] = k;
      for (const auto& [v, direct] : g.reads) {
        readers_[v].push_back(k);
        const auto m = maker_.find(v);
        if (m != maker_.end() && m->second != k) groups_[m->second].after.push_back(k);
      }
    }
    // Readers of what is overwritten come first, where they can.
    for (const auto& [old, now] : places_) {
      const Instr *from = draft_.home(old), *to = draft_.home(now);
      const auto m = to ? maker_.find(to) : maker_.end();
      if (!from || m == maker_.end()) continue;
      const auto r = readers_.find(from);
      if (r == readers_.end()) continue;
      if (std::any_of(r->second.begin(), r->second.end(), [&](size_t k) { return k != m->second && reaches(m->second, k, true); })) continue;
      for (size_t k : r->second) {
        if (k != m->second) groups_[k].after.push_back(m->second);
      }
    }
  }

  size_t find(size_t k) const {
    while (groups_[k].into != k) k = groups_[k].into;
    return k;
  }

  // Whether there is a way from a to b; without `direct`: by way of another.
  bool reaches(size_t a, size_t b, bool direct) {
    ++stamp_;
    marks_.resize(groups_.size(), 0);
    std::vector<size_t> open;
    auto visit = [&](size_t from, bool first) {
      for (size_t raw : groups_[from].after) {
        const size_t k = find(raw);
        if (k == from || (first && !direct && k == b) || marks_[k] == stamp_) continue;
        marks_[k] = stamp_;
        open.push_back(k);
      }
    };
    visit(a, true);
    while (!open.empty()) {
      const size_t k = open.back();
      open.pop_back();
      if (k == b) return true;
      visit(k, false);
    }
    return false;
  }

  // How many values both together would store.
  size_t results(const Group& a, const Group& b) const {
    size_t n = a.stores.size() + b.stores.size();
    if (n <= kMostResults) return n;
    n = 0;
    for (const Group* g : {&a, &b}) {
      for (const Instr* v : g->stores) {
        const auto r = readers_.find(v);
        const bool others = r != readers_.end() && std::any_of(r->second.begin(), r->second.end(),
                                                               [&](size_t k) { return &groups_[find(k)] != &a && &groups_[find(k)] != &b; });
        n += others || wanted_.contains(v);
      }
    }
    return n;
  }

  bool fits(const Group& a, const Group& b) const {
    if (!a.loop || !b.loop || !(a.instrs.back()->type.dims == b.instrs.back()->type.dims)) return false;
    if (a.instrs.size() + b.instrs.size() > kMostInstrs || results(a, b) > kMostResults) return false;
    // What one makes, the other reads at the same index or not at all.
    auto reads_well = [](const Group& reader, const Group& maker) {
      return std::all_of(maker.stores.begin(), maker.stores.end(), [&](const Instr* v) {
        const auto it = reader.reads.find(v);
        return it == reader.reads.end() || it->second;
      });
    };
    return reads_well(a, b) && reads_well(b, a);
  }

  void grow(size_t start) {
    for (bool more = true; more;) {
      more = false;
      const size_t b = find(start);
      if (!groups_[b].loop) return;
      std::vector<size_t> with;
      for (const auto& [v, direct] : groups_[b].reads) {
        if (!direct) continue;
        const auto m = maker_.find(v);
        if (m != maker_.end()) with.push_back(find(m->second));
        // Those that read the same, if it is large enough to matter.
        if (v->type.dims == groups_[b].instrs.back()->type.dims) {
          for (size_t k : readers_[v]) {
            if (k < start) with.push_back(find(k));
          }
        }
      }
      std::sort(with.begin(), with.end(), std::greater<>());
      with.erase(std::unique(with.begin(), with.end()), with.end());
      for (size_t a : with) {
        if (a == b || find(a) != a || !fits(groups_[a], groups_[b])) continue;
        if (reaches(a, b, false) || reaches(b, a, false)) continue;
        merge(a, b);
        more = true;
        break;
      }
    }
  }

  bool fits_rows(const Group& a, const Group& b) const {
    if (a.rows.count ? !(a.rows == b.rows) : !a.loop) return false;
    if (a.instrs.size() + b.instrs.size() > kMostRowInstrs || results(a, b) > kMostResults) return false;
    std::unordered_set<const Instr*> stores(a.stores.begin(), a.stores.end());
    stores.insert(b.stores.begin(), b.stores.end());
    return stays_in_row(draft_, b.rows, a.instrs, stores) && stays_in_row(draft_, b.rows, b.instrs, stores);
  }

  // A group with a reduction takes what it reads, what reads it, and reductions of the same rows.
  void grow_rows(size_t start) {
    for (bool more = true; more;) {
      more = false;
      const size_t b = find(start);
      if (!groups_[b].rows.count) return;
      std::vector<size_t> with;
      for (const auto& [v, direct] : groups_[b].reads) {
        const auto m = maker_.find(v);
        if (m != maker_.end()) with.push_back(find(m->second));
        if (part_of(groups_[b].rows, v->type) != RowPart::kAll) continue;
        for (size_t k : readers_[v]) {
          if (groups_[find(k)].rows == groups_[b].rows) with.push_back(find(k));
        }
      }
      for (const Instr* v : groups_[b].stores) {
        for (size_t k : readers_[v]) with.push_back(find(k));
      }
      std::sort(with.begin(), with.end(), std::greater<>());
      with.erase(std::unique(with.begin(), with.end()), with.end());
      for (size_t a : with) {
        if (a == b || !fits_rows(groups_[a], groups_[b])) continue;
        if (reaches(a, b, false) || reaches(b, a, false)) continue;
        merge(a, b);
        more = true;
        break;
      }
    }
  }

  void merge(size_t a, size_t b) {
    if (groups_[a].instrs.size() > groups_[b].instrs.size()) std::swap(a, b);
    Group &to = groups_[b], &from = groups_[a];
    to.instrs.insert(to.instrs.end(), from.instrs.begin(), from.instrs.end());  // some twice, for now
    to.stores.insert(to.stores.end(), from.stores.begin(), from.stores.end());
    for (const auto& [v, direct] : from.reads) note(to, v, direct);
    for (const Instr* v : to.stores) to.reads.erase(v);
    to.after.insert(to.after.end(), from.after.begin(), from.after.end());
    to.order = std::max(to.order, from.order);
    from.into = b;
    if (!to.rows.count) to.rows = from.rows;
    if (to.rows.count) to.loop = false;
    from.loop = false;
    from.instrs.clear();
  }

  // Values that only their own loop reads need no memory any more; the groups in order.
  void finish() {
    std::unordered_map<const Instr*, size_t> position;
    for (const Instr* i : groups_.empty() ? std::vector<const Instr*>() : all_instrs()) position.emplace(i, position.size());
    for (size_t k = 0; k < groups_.size(); ++k) {
      Group& g = groups_[k];
      if (g.into != k || (nodes_[k].step.kind != Step::Kind::kLoop && !(g.rows.count && g.instrs.size() > 1))) continue;
      if (g.rows.count) nodes_[k].step.kind = Step::Kind::kRows;
      std::sort(g.instrs.begin(), g.instrs.end(), [&](const Instr* x, const Instr* y) { return position[x] < position[y]; });
      g.instrs.erase(std::unique(g.instrs.begin(), g.instrs.end()), g.instrs.end());
      if (g.stores.size() > 1) {
        for (const Instr* v : g.stores) {
          const auto& r = readers_[v];
          if (!wanted_.contains(v) && std::all_of(r.begin(), r.end(), [&](size_t x) { return find(x) == k; })) draft_.stored.erase(v);
        }
      }
      nodes_[k].step.instrs = g.instrs;
    }
    order();
  }

  // Every instruction that is computed here, in the order in which it is; those of outer regions first.
  std::vector<const Instr*> all_instrs() const {
    std::vector<const ir::Region*> regions;
    std::unordered_set<const ir::Region*> seen;
    for (const Group& g : groups_) {
      for (const Instr* i : g.instrs) {
        if (seen.insert(i->parent).second) regions.push_back(i->parent);
      }
    }
    auto depth = [](const ir::Region* r) {
      int n = 0;
      for (; r && r->owner; r = r->owner->parent) ++n;
      return n;
    };
    std::stable_sort(regions.begin(), regions.end(), [&](const ir::Region* a, const ir::Region* b) { return depth(a) < depth(b); });
    std::vector<const Instr*> out;
    for (const ir::Region* r : regions) {
      for (const auto& i : r->instrs) out.push_back(i.get());
    }
    return out;
  }

  void order() {
    std::vector<int> waits(groups_.size(), 0);
    std::vector<std::vector<size_t>> after(groups_.size());
    for (size_t k = 0; k < groups_.size(); ++k) {
      if (groups_[k].into != k) continue;
      for (size_t raw : groups_[k].after) {
        if (find(raw) != k) after[k].push_back(find(raw));
      }
      std::sort(after[k].begin(), after[k].end());
      after[k].erase(std::unique(after[k].begin(), after[k].end()), after[k].end());
      for (size_t next : after[k]) ++waits[next];
    }
    using Entry = std::pair<size_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t k = 0; k < groups_.size(); ++k) {
      if (groups_[k].into == k && waits[k] == 0) ready.emplace(groups_[k].order, k);
    }
    std::vector<PlanNode> out;
    while (!ready.empty()) {
      const size_t k = ready.top().second;
      ready.pop();
      out.push_back(std::move(nodes_[k]));
      for (size_t next : after[k]) {
        if (--waits[next] == 0) ready.emplace(groups_[next].order, next);
      }
    }
    nodes_ = std::move(out);
  }

  Draft& draft_;
  std::vector<PlanNode>& nodes_;
  const std::vector<std::pair<const Instr*, const Instr*>>& places_;
  const std::unordered_set<const Instr*>& wanted_;
  std::vector<Group> groups_;
  std::unordered_map<const Instr*, size_t> maker_;
  std::unordered_map<const Instr*, std::vector<size_t>> readers_;
  std::vector<int> marks_;
  int stamp_ = 0;
};

}  // namespace

void merge_loops(Draft& d, std::vector<PlanNode>& nodes, const std::vector<std::pair<const Instr*, const Instr*>>& places,
                 const std::unordered_set<const Instr*>& wanted) {
  Merger(d, nodes, places, wanted).run();
}

}  // namespace weft_engine::compiler
