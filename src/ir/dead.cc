#include "ir/simplify.h"

namespace weft::ir {
namespace {

void mark(const Region& r, std::unordered_set<const Instr*>& live) {
  for (const Instr* v : r.results) live.insert(v);
  for (size_t k = r.instrs.size(); k-- > 0;) {
    const Instr& i = *r.instrs[k];
    if (i.op == Op::kCheck || i.op == Op::kParameter) live.insert(&i);
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

void drop_dead(Module& m) { sweep(*m.main, needed(m)); }

}  // namespace weft::ir
