// Rows: reductions along rows, with what they are made of and what is made with them (Step::Kind::kRows). A row belongs to some threads of one block, a
// power of two of them, which hold its elements in registers: memory is read once, before anything is written.
#include <algorithm>

#include "compiler/llvm/gpu_emitter.h"

namespace weft_engine::compiler {
namespace {

constexpr int64_t kElements = 16;  // of a row in one thread, if the row has not too many for that

// The least size in bytes of what is read or written for each element of the rows.
int64_t narrowest_of(const Plan& plan, const Step& s, const ir::Dim& all) {
  int64_t least = 16;
  std::vector<const ir::Instr*> todo(s.instrs.begin(), s.instrs.end());
  std::unordered_set<const ir::Instr*> seen;
  while (!todo.empty()) {
    const ir::Instr* i = todo.back();
    todo.pop_back();
    if (!seen.insert(i).second) continue;
    const bool own = std::find(s.instrs.begin(), s.instrs.end(), i) != s.instrs.end();
    if (plan.buffer_of(i) >= 0 && i->type.elements() == all) least = std::min(least, int64_t(core::dtype_size(i->type.dtype)));
    if (own || plan.buffer_of(i) < 0) todo.insert(todo.end(), i->operands.begin(), i->operands.end());
  }
  return least;
}

// Views of what the step computes: not in memory yet, either.
void note_views(const Plan& plan, const std::unordered_set<const ir::Instr*>& own, const ir::Instr* i, std::unordered_set<const ir::Instr*>& seen,
                std::unordered_set<const ir::Instr*>& to) {
  for (const ir::Instr* o : i->operands) {
    if (own.contains(o) || !seen.insert(o).second) continue;
    const ir::Instr* base = o;
    while (base->op == ir::Op::kReshape && !own.contains(base)) base = base->operands[0];
    if (base != o && own.contains(base)) to.insert(o);
    if (plan.buffer_of(o) < 0 || o->op == ir::Op::kReshape) note_views(plan, own, o, seen, to);
  }
}

}  // namespace

core::Status GpuEmitter::rows(const Step& s) {
  const auto first = std::find_if(s.instrs.begin(), s.instrs.end(), [](const ir::Instr* i) { return i->op == ir::Op::kReduce; });
  if (first == s.instrs.end() || !(*first)->operand(0).type.elements().is_const()) return core::internal_error("rows without a reduction");
  const int64_t count = (*first)->type.elements().value(), length = (*first)->operand(0).type.elements().value() / count;
  // `own` elements side by side are a unit; a thread has units that are `lanes` apart.
  const int64_t together = std::min<int64_t>(8, 16 / narrowest_of(plan, s, ir::Dim(count * length)));
  const int64_t own = length % together == 0 && length >= 2 * together ? together : 1, units = length / own;
  int64_t lanes = 1;
  while (lanes < units && (lanes < kWarp || (lanes < kThreads && (units + lanes - 1) / lanes * own > kElements))) lanes *= 2;
  const int64_t turns = (units + lanes - 1) / lanes, together_rows = kThreads / lanes;
  const bool whole = units % lanes == 0, full = count % together_rows == 0;
  std::vector<const ir::Instr*> stored;
  for (const ir::Instr* i : s.instrs) {
    if (plan.buffer_of(i) >= 0) stored.push_back(i);
  }
  e.impl().current.insert(stored.begin(), stored.end());
  const std::unordered_set<const ir::Instr*> members(s.instrs.begin(), s.instrs.end());
  std::unordered_set<const ir::Instr*> seen;
  for (const ir::Instr* i : s.instrs) note_views(plan, members, i, seen, e.impl().current);
  auto& held = e.impl().held;
  held.clear();
  const core::Status status = kernel("rows", *first, ir::ceil_div(ir::Dim(count), together_rows), kThreads, [&]() -> core::Status {
    V lane = lanes == 1 ? static_cast<V>(b.getInt32(0)) : b.CreateAnd(thread(), b.getInt32(uint32_t(lanes - 1)));
    V own_row = b.CreateLShr(thread(), uint64_t(__builtin_ctzll(uint64_t(lanes))));
    V number = number_below(ir::Dim(count), block(), own_row, int(together_rows));
    V active = full ? nullptr : b.CreateICmpULT(number, e.i64(count));
    // Threads without a row or a unit compute another one's, and neither count nor store it.
    V row = bounded(full ? number : known(at_most(number, e.i64(count - 1))), ir::Dim(count));
    std::vector<V> valid(size_t(turns), nullptr);
    std::vector<std::vector<V>> column(static_cast<size_t>(turns));
    for (int64_t u = 0; u < turns; ++u) {
      V unit = e.add(wide(lane), e.i64(u * lanes));
      if (!whole && u + 1 == turns) {
        valid[size_t(u)] = b.CreateICmpULT(unit, e.i64(units));
        unit = known(at_most(unit, e.i64(units - 1)));
      }
      bounded(unit, ir::Dim(units));
      for (int64_t j = 0; j < own; ++j) column[size_t(u)].push_back(bounded(e.add(e.mul(unit, e.i64(own)), e.i64(j)), ir::Dim(length)));
    }
    // The index of a value that has an element for each of the row's, or one for the row.
    const auto index = [&](const ir::Type& t, V within) {
      size_t behind = 0;
      for (int64_t n = 1; behind < t.dims.size() && (!within || n < count); ++behind) n *= t.dims[behind].value();
      Index at = e.places(row, std::span(t.dims).first(behind));
      if (within) {
        for (V v : e.places(within, std::span(t.dims).subspan(behind))) at.push_back(v);
      }
      return at;
    };
    for (const ir::Instr* i : s.instrs) {
      if (i->op != ir::Op::kReduce) continue;
      const ir::Instr* x = i->operands[0];
      const core::DType t = i->type.dtype, kept = carried(t);
      V sum = nullptr;
      for (int64_t u = 0; u < turns; ++u) {
        V part = nullptr;
        for (V c : column[size_t(u)]) {
          V v = e.element(x, index(x->type, c));
          part = part ? e.combine(i->reduce, t, part, v) : v;
        }
        if (valid[size_t(u)]) part = b.CreateSelect(valid[size_t(u)], part, e.identity(i->reduce, t));
        sum = sum ? e.combine(i->reduce, t, sum, part) : part;
      }
      for (int64_t n = std::min<int64_t>(lanes, kWarp) / 2; n >= 1; n /= 2) sum = e.combine(i->reduce, t, sum, exchange(sum, int(n)));
      if (lanes > kWarp) {
        // Each reduction has memory of its own: nobody has to wait until it was read.
        V parts = shared(e.type(kept), kThreads / kWarp);
        V warp = b.CreateLShr(thread(), 5);
        e.when(b.CreateICmpEQ(b.CreateAnd(thread(), b.getInt32(kWarp - 1)), b.getInt32(0)), [&] { e.store(kept, sum, parts, wide(warp)); });
        barrier();
        V begin = wide(b.CreateMul(own_row, b.getInt32(uint32_t(lanes / kWarp))));
        for (int64_t n = 0; n < lanes / kWarp; ++n) {
          V other = e.load(kept, parts, e.add(begin, e.i64(n)));
          sum = n == 0 ? other : e.combine(i->reduce, t, sum, other);
        }
      }
      held[i] = known(e.convert(sum, kept, t));
    }
    // All before the first store: a result may take the place of an operand.
    std::vector<V> of_row;
    std::vector<std::vector<std::vector<V>>> of_all(static_cast<size_t>(turns));
    std::vector<const ir::Instr*> single, every;
    for (const ir::Instr* i : stored) (i->type.elements().is(count) ? single : every).push_back(i);
    for (const ir::Instr* i : single) of_row.push_back(e.element(i, index(i->type, nullptr)));
    for (int64_t u = 0; u < turns; ++u) {
      for (const ir::Instr* i : every) {
        of_all[size_t(u)].emplace_back();
        for (V c : column[size_t(u)]) of_all[size_t(u)].back().push_back(e.element(i, index(i->type, c)));
      }
    }
    const auto when = [&](V condition, const std::function<void()>& then) { condition ? e.when(condition, then) : then(); };
    const auto both = [&](V a, V c) { return a && c ? b.CreateAnd(a, c) : a ? a : c; };
    for (int64_t u = 0; u < turns && !every.empty(); ++u) {
      when(both(active, valid[size_t(u)]), [&] {
        for (size_t k = 0; k < every.size(); ++k) {
          for (size_t j = 0; j < size_t(own); ++j) {
            e.store(every[k]->type.dtype, of_all[size_t(u)][k][j], e.pointer(every[k]),
                    e.offset(every[k]->type, index(every[k]->type, column[size_t(u)][j])));
          }
        }
      });
    }
    if (!single.empty()) {
      when(both(active, lanes == 1 ? nullptr : b.CreateICmpEQ(lane, b.getInt32(0))), [&] {
        for (size_t k = 0; k < single.size(); ++k)
          e.store(single[k]->type.dtype, of_row[k], e.pointer(single[k]), e.offset(single[k]->type, index(single[k]->type, nullptr)));
      });
    }
    return {};
  });
  held.clear();
  return status;
}

}  // namespace weft_engine::compiler
