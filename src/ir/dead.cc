#include <algorithm>
#include <unordered_map>

#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

void mark(const Region& r, std::unordered_set<const Instr*>& live) {
  for (const Instr* v : r.results) live.insert(v);
  for (const Instr* v : r.parameters) live.insert(v);
  for (size_t k = r.instrs.size(); k-- > 0;) {
    const Instr& i = *r.instrs[k];
    if (i.op == Op::kCheck) live.insert(&i);
    // A loop or branch that holds a check stays.
    if (!live.contains(&i) && !i.regions.empty()) {
      for (const auto& part : i.regions) {
        std::vector<const Region*> open{part.get()};
        while (!open.empty()) {
          const Region* q = open.back();
          open.pop_back();
          for (const auto& j : q->instrs) {
            if (j->op == Op::kCheck) live.insert(&i);
            for (const auto& deeper : j->regions) open.push_back(deeper.get());
          }
        }
      }
    }
    if (!live.contains(&i)) continue;
    for (const Instr* o : i.operands) live.insert(o);
    for (size_t p = i.regions.size(); p-- > 0;) mark(*i.regions[p], live);
  }
}

void sweep(Region& r, const std::unordered_set<const Instr*>& live) {
  for (auto& i : r.instrs) {
    if (!live.contains(i.get())) continue;
    for (auto& part : i->regions) sweep(*part, live);
  }
  std::erase_if(r.instrs, [&](const std::unique_ptr<Instr>& i) { return !live.contains(i.get()); });
}

}  // namespace

std::unordered_set<const Instr*> needed(const Module& m) {
  std::unordered_set<const Instr*> live;
  mark(*m.main, live);
  return live;
}

namespace {

// Keeps numbers `keep` of a list.
template <class T>
void filter(std::vector<T>& v, const std::vector<char>& keep) {
  size_t n = 0;
  for (size_t k = 0; k < v.size(); ++k) {
    if (!keep[k]) continue;
    if (n != k) v[n] = std::move(v[k]);
    ++n;
  }
  v.resize(n);
}

// What the values and the region's checks depend on, in the region and around it.
void reach(const Region& r, const std::vector<Instr*>& values, std::unordered_set<const Instr*>& live) {
  for (const Instr* v : values) live.insert(v);
  for (size_t k = r.instrs.size(); k-- > 0;) {
    const Instr& i = *r.instrs[k];
    if (i.op == Op::kCheck || !i.regions.empty()) live.insert(&i);
    if (!live.contains(&i)) continue;
    for (const Instr* o : i.operands) live.insert(o);
    for (size_t p = i.regions.size(); p-- > 0;) reach(*i.regions[p], i.regions[p]->results, live);
  }
}

std::vector<char> wanted_variables(const Instr& loop, std::vector<char> keep) {
  const Region &condition = *loop.regions[0], &body = *loop.regions[1];
  for (bool more = true; more;) {
    more = false;
    std::unordered_set<const Instr*> live;
    reach(condition, condition.results, live);
    std::vector<Instr*> results;
    for (size_t k = 0; k < keep.size(); ++k) {
      if (keep[k]) results.push_back(body.results[k]);
    }
    reach(body, results, live);
    for (size_t k = 0; k < keep.size(); ++k) {
      if (keep[k] || !(live.contains(body.parameters[k]) || live.contains(condition.parameters[k]))) continue;
      keep[k] = 1;
      more = true;
    }
  }
  return keep;
}

bool drop_in(Region& r, const std::unordered_set<const Instr*>& live) {
  bool any = false;
  std::unordered_map<const Instr*, std::vector<Instr*>> gets;
  for (auto& i : r.instrs) {
    if (i->op == Op::kGet && live.contains(i.get())) gets[i->operands[0]].push_back(i.get());
  }
  for (auto& i : r.instrs) {
    for (auto& part : i->regions) any = drop_in(*part, live) || any;
    if ((i->op != Op::kWhile && i->op != Op::kIf) || !live.contains(i.get())) continue;
    std::vector<char> keep(i->results.size(), 0);
    for (const Instr* g : gets[i.get()]) keep[size_t(g->index)] = 1;
    if (i->op == Op::kWhile) keep = wanted_variables(*i, std::move(keep));
    if (std::find(keep.begin(), keep.end(), 0) == keep.end()) continue;
    any = true;
    std::vector<int> number(keep.size());
    for (size_t k = 0, n = 0; k < keep.size(); ++k) number[k] = keep[k] ? int(n++) : -1;
    for (Instr* g : gets[i.get()]) g->index = number[size_t(g->index)];
    filter(i->results, keep);
    if (i->op == Op::kWhile) filter(i->operands, keep);
    for (size_t p = 0; p < i->regions.size(); ++p) {
      Region& part = *i->regions[p];
      const bool condition = i->op == Op::kWhile && p == 0;
      if (!condition) filter(part.results, keep);
      if (i->op == Op::kIf) continue;
      // What still reads the others is dead, and they are no parameters any more: drop_dead takes both.
      for (size_t k = 0; k < keep.size(); ++k) {
        if (keep[k]) part.parameters[k]->index = number[k];
      }
      filter(part.parameters, keep);
    }
  }
  return any;
}

}  // namespace

bool drop_variables(Module& m) { return drop_in(*m.main, needed(m)); }

void drop_dead(Module& m) { sweep(*m.main, needed(m)); }

}  // namespace weft_engine::ir
