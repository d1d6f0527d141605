#include <algorithm>

#include "compiler/plan_internal.h"
#include "ir/simplify.h"
#include "ir/attention.h"

namespace weft_engine::compiler {
namespace {

using ir::Op;
using ir::Region;

// How an operand is read.
enum class Read : uint8_t {
  kSame,     // at the index of the result
  kOnce,     // each element about once, at some other index
  kMany,     // elements again and again
  kPointer,  // from memory
};

Read read_of(const Instr& user, size_t k) {
  switch (user.op) {
    case Op::kUnary:
    case Op::kBinary:
    case Op::kCompare:
    case Op::kSelect:
    case Op::kConvert:
    case Op::kBitcast: return Read::kSame;
    case Op::kBroadcast: return user.type.elements() == user.operand(0).type.elements() ? Read::kOnce : Read::kMany;
    case Op::kPad:
    case Op::kDynamicSlice: return k == 0 ? Read::kOnce : Read::kMany;
    case Op::kGather:
    case Op::kPhilox: return Read::kMany;
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kReverse:
    case Op::kConcat:
    case Op::kDynamicUpdate:
    case Op::kReduce:
    case Op::kArgReduce:
    case Op::kScan:
    case Op::kWhile:
    case Op::kIf:
    case Op::kCheck: return Read::kOnce;
    default: return Read::kPointer;
  }
}

// What can be computed for one index without memory of its own. Pads, concats and gathers could be, but their branches and
// checks prevent vector code: they run alone.
bool is_inlined_at_use(Op op) {
  return ir::is_elementwise(op) || op == Op::kBroadcast || op == Op::kReshape || op == Op::kTranspose || op == Op::kSlice || op == Op::kReverse ||
         op == Op::kDynamicSlice;
}

bool is_loop(Op op) {
  return is_inlined_at_use(op) || op == Op::kPad || op == Op::kConcat || op == Op::kGather || op == Op::kIota || op == Op::kSizes ||
         op == Op::kConstant;
}

int cost_of(const Instr& i) {
  switch (i.op) {
    case Op::kUnary:
      switch (i.unary) {
        case ir::Unary::kNeg:
        case ir::Unary::kAbs:
        case ir::Unary::kNot:
        case ir::Unary::kSign:
        case ir::Unary::kFloor:
        case ir::Unary::kCeil:
        case ir::Unary::kRound:
        case ir::Unary::kTrunc:
        case ir::Unary::kIsNan:
        case ir::Unary::kIsInf:
        case ir::Unary::kIsFinite:
        case ir::Unary::kReal:
        case ir::Unary::kImag: return 1;
        case ir::Unary::kSqrt:
        case ir::Unary::kPopcount: return 6;
        default: return 20;
      }
    case Op::kBinary:
      switch (i.binary) {
        case ir::Binary::kDiv:
        case ir::Binary::kFloorDiv:
        case ir::Binary::kMod:
        case ir::Binary::kFloorMod: return 6;
        case ir::Binary::kPow:
        case ir::Binary::kAtan2: return 30;
        default: return 1;
      }
    case Op::kCompare:
    case Op::kSelect:
    case Op::kConvert: return 1;
    case Op::kDynamicSlice: return 2;
    default: return 0;
  }
}

class Fusion {
 public:
  explicit Fusion(Draft& d) : draft_(d), needed_(ir::needed(*d.module)) {}

  void run() {
    const Region& main = *draft_.module->main;
    collect(main);
    results(main);
    decide(main);
    draft_.nodes = steps(main);
  }

 private:
  static constexpr int kCheap = 1;         // is computed again rather than stored
  static constexpr int kLight = 6;         // for a single number
  static constexpr int kDearest = 1 << 20;
  static constexpr size_t kMaxRecomputed = 48;  // instructions that are computed again rather than stored, on a GPU
  static constexpr int kDeepest = 1500;    // instructions one behind the other: the code generator goes down them

  struct Info {
    std::vector<std::pair<const Instr*, size_t>> uses;
    int cost = 0, depth = 1;  // of computing an element inline, if operands that are read once are, too
  };

  void collect(const Region& r) {
    for (const auto& i : r.instrs) {
      if (!needed_.contains(i.get())) continue;
      for (size_t k = 0; k < i->operands.size(); ++k) info_[i->operands[k]].uses.emplace_back(i.get(), k);
      for (const auto& part : i->regions) collect(*part);
    }
  }

  // Results are copied to their places, or computed there; copies can make what depends on no memory.
  void results(const Region& r) {
    for (const Instr* v : r.results) {
      if (!is_generated(v)) must_.insert(v);
    }
  }

  // Loops between the region of the value and that of its reader.
  bool in_loop(const Instr* value, const Instr* user) const {
    for (const Region* r = user->parent; r && r != value->parent && r->owner; r = r->owner->parent) {
      if (r->owner->op == Op::kWhile) return true;
    }
    return false;
  }

  int users(const Instr* i) const {
    const auto it = info_.find(i);
    if (it == info_.end()) return 0;
    const Instr* last = nullptr;
    int n = 0;
    for (const auto& [u, k] : it->second.uses) {
      if (u != last) ++n;
      last = u;
    }
    return n;
  }

  // Several slices that together are no more than the value: each element is still computed once.
  static bool in_parts(const Instr* i, const Info& f) {
    ir::Dim total(0);
    for (const auto& [u, k] : f.uses) {
      if (u->op != Op::kSlice) return false;
      total = total + u->type.elements();
    }
    return (i->type.elements() - total).nonnegative();
  }

  void estimate(const Region& r) {
    for (const auto& i : r.instrs) {
      Info& f = info_[i.get()];
      f.cost = cost_of(*i);
      f.depth = 1;
      for (size_t k = 0; k < i->operands.size(); ++k) {
        const Instr* o = i->operands[k];
        if (!is_inlined_at_use(o->op) || (read_of(*i, k) == Read::kMany && info_[o].cost > (o->rank() == 0 ? kLight : 0))) continue;  // is in memory
        f.depth = std::max(f.depth, info_[o].depth + 1);
        if (users(o) == 1 || info_[o].cost <= kCheap) f.cost = std::min(f.cost + info_[o].cost, kDearest);
      }
      if (f.depth > kDeepest) {
        must_.insert(i.get());
        f.cost = 0;
        f.depth = 1;
      }
    }
  }

  // From the last to the first: readers before what they read.
  void decide(const Region& r) {
    estimate(r);
    for (size_t k = r.instrs.size(); k-- > 0;) {
      const Instr* i = r.instrs[k].get();
      if (!needed_.contains(i)) continue;
      for (size_t p = i->regions.size(); p-- > 0;) {
        const bool condition = i->op == Op::kWhile && p == 0;
        if (!condition) results(*i->regions[p]);
        decide(*i->regions[p]);
      }
      decide(i);
    }
  }

  void decide(const Instr* i) {
    if (i->op == Op::kGet || i->op == Op::kCheck || ir::has_results(i->op)) return;
    if (i->op == Op::kParameter) {
      draft_.stored.insert(i);
      return;
    }
    const Info& f = info_[i];
    const bool wanted = must_.contains(i);
    bool pointer = wanted, many = false, loop = false;
    for (const auto& [u, k] : f.uses) {
      const Read how = read_of(*u, k);
      pointer = pointer || how == Read::kPointer;
      many = many || how == Read::kMany;
      loop = loop || in_loop(i, u);
      // Written in place, or copied as a whole.
      if ((u->op == Op::kDynamicUpdate && k == 0) || u->op == Op::kWhile) pointer = pointer || !is_generated(i);
      // What is computed from the value that it goes into is there before that is overwritten.
      if (u->op == Op::kDynamicUpdate && k == 1 && computed_from(i, behind_views(u->operands[0]), 0)) pointer = true;
    }
    if (i->op == Op::kConstant) {
      if (pointer || !i->type.elements().is(1)) draft_.stored.insert(i);
      return;
    }
    if (i->op == Op::kReshape && !is_generated(i)) {
      // A view: its operand must be in memory where indices would have to be taken apart.
      if (pointer || !keeps_index(i)) must_.insert(i->operands[0]);
      return;
    }
    if (is_generated(i)) {
      if (pointer) draft_.stored.insert(i);
      return;
    }
    // A number is computed once in front of the loops that read it.
    const bool light = i->rank() == 0 && f.cost <= kLight;
    const bool store = pointer || !is_inlined_at_use(i->op) || ((many || loop) && f.cost > 0 && !light) ||
                       (users(i) > 1 && f.cost > (light ? kLight : kCheap) && !in_parts(i, f) && !cheaper_to_recompute(i));
    if (store) draft_.stored.insert(i);
  }

  // On a GPU memory is what costs: a value is computed again by each reader if that reads no more than storing it and reading it back moves.
  bool cheaper_to_recompute(const Instr* value) const {
    if (draft_.threads != 0 || !value->type.elements().is_const()) return false;
    int64_t read = 0;
    size_t computed = 0;
    std::vector<const Instr*> todo{value};
    std::unordered_set<const Instr*> seen;
    while (!todo.empty()) {
      const Instr* i = todo.back();
      todo.pop_back();
      if (!seen.insert(i).second || i->op == Op::kConstant || is_generated(i)) continue;
      if (i != value && (!is_inlined_at_use(i->op) || must_.contains(i))) {
        if (!i->type.elements().is_const()) return false;
        read += i->type.elements().value() * int64_t(core::dtype_size(i->type.dtype));
        continue;
      }
      if (++computed > kMaxRecomputed) return false;
      todo.insert(todo.end(), i->operands.begin(), i->operands.end());
    }
    const int64_t readers = users(value), moved = value->type.elements().value() * int64_t(core::dtype_size(value->type.dtype));
    return read * (readers - 1) <= moved * (readers + 1);
  }

  static const Instr* behind_views(const Instr* i) {
    while (i->op == Op::kReshape) i = i->operands[0];
    return i;
  }

  static bool computed_from(const Instr* i, const Instr* what, int depth) {
    if (behind_views(i) == what) return true;
    if (!is_inlined_at_use(i->op) || depth > 8) return false;
    return std::any_of(i->operands.begin(), i->operands.end(), [&](const Instr* o) { return computed_from(o, what, depth + 1); });
  }

  bool lies_in_memory(const Instr* i) const {
    while (i->op == Op::kReshape && !draft_.stored.contains(i)) i = i->operands[0];
    return draft_.stored.contains(i) || i->op == Op::kGet;
  }

  // The instructions that one loop computes for an index, in order; without those that are read at another index.
  void members(const Instr* i, std::unordered_set<const Instr*>& seen, std::vector<const Instr*>& out) const {
    if (!seen.insert(i).second) return;
    if (ir::is_elementwise(i->op)) {
      for (const Instr* o : i->operands) {
        if (!lies_in_memory(o) && o->op != Op::kConstant) members(o, seen, out);
      }
    }
    out.push_back(i);
  }

  std::vector<PlanNode> steps(const Region& r) {
    std::vector<PlanNode> out;
    for (const auto& p : r.instrs) {
      const Instr* i = p.get();
      if (!needed_.contains(i)) continue;
      PlanNode n;
      if (i->op == Op::kWhile || i->op == Op::kIf) {
        n.step.kind = i->op == Op::kWhile ? Step::Kind::kWhile : Step::Kind::kIf;
        n.step.instrs = {i};
        for (const auto& part : i->regions) n.regions.push_back(steps(*part));
      } else if (i->op == Op::kCheck || ir::has_results(i->op)) {
        n.step.instrs = {i};
      } else if (!draft_.stored.contains(i) || i->op == Op::kParameter || i->op == Op::kConstant) {
        continue;
      } else if (is_loop(i->op)) {
        n.step.kind = Step::Kind::kLoop;
        std::unordered_set<const Instr*> seen;
        members(i, seen, n.step.instrs);
      } else {
        n.step.instrs = {i};
      }
      out.push_back(std::move(n));
    }
    merge_loops(draft_, out, places(r), must_);
    return out;
  }

  // States and variables of loops: old and new values.
  std::vector<std::pair<const Instr*, const Instr*>> places(const Region& r) const {
    std::vector<std::pair<const Instr*, const Instr*>> out;
    const auto& described = draft_.module->results;
    for (size_t k = 0; k < r.results.size(); ++k) {
      if (!r.owner && described[k].state >= 0) out.emplace_back(r.parameters[size_t(described[k].state)], r.results[k]);
      if (r.owner && r.owner->op == Op::kWhile && r.results.size() == r.parameters.size()) out.emplace_back(r.parameters[k], r.results[k]);
    }
    return out;
  }

  Draft& draft_;
  const std::unordered_set<const Instr*> needed_;
  std::unordered_map<const Instr*, Info> info_;
  std::unordered_set<const Instr*> must_;
};

}  // namespace

bool is_generated(const Instr* i) {
  for (int depth = 0; depth < 64; ++depth) {
    switch (i->op) {
      case Op::kSizes:
      case Op::kIota: return true;
      case Op::kConstant: return i->type.elements().is(1);
      case Op::kBroadcast:
      case Op::kReshape:
      case Op::kConvert:
      case Op::kTranspose:
      case Op::kReverse: i = i->operands[0]; break;
      default: return false;
    }
  }
  return false;
}

bool keeps_index(const Instr* r) {
  auto without_ones = [](const ir::Type& t) {
    std::vector<ir::Dim> dims;
    std::copy_if(t.dims.begin(), t.dims.end(), std::back_inserter(dims), [](const ir::Dim& d) { return !d.is(1); });
    return dims;
  };
  return without_ones(r->type) == without_ones(r->operands[0]->type);
}

int Draft::var_of(const Instr* i) const {
  for (;;) {
    const auto it = var.find(i);
    if (it != var.end()) return it->second;
    if (i->op == Op::kGet) {
      const auto r = results.find(i->operands[0]);
      return r == results.end() ? -1 : r->second[size_t(i->index)];
    }
    if (i->op != Op::kReshape) return -1;
    i = i->operands[0];
  }
}

const Instr* Draft::home(const Instr* i) const {
  while (i->op == Op::kReshape && !stored.contains(i)) i = i->operands[0];
  if (i->op == Op::kGet) return i->operands[0];
  return stored.contains(i) ? i : nullptr;
}

void fuse(Draft& d) { Fusion(d).run(); }

}  // namespace weft_engine::compiler
