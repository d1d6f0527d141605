// Products of matrices: which way round they are computed. The code itself: gemm_kernel.cc.
#include <numeric>

#include "compiler/llvm/code_emitter_impl.h"
#include "compiler/llvm/gemm_kernel.h"
#include "compiler/scratch.h"

namespace weft_engine::compiler {

llvm::Type* product_type(CodeEmitter& e, core::DType t) {
  switch (t) {
    case core::DType::kHalf:
    case core::DType::kBfloat16: return e.b.getFloatTy();
    case core::DType::kBool:
    case core::DType::kComplex64:
    case core::DType::kComplex128: return nullptr;
    default: return e.type(t);
  }
}

void copy_as_float(CodeEmitter& e, core::DType from, llvm::Value* p, llvm::Value* to, llvm::Value* elements) {
  e.loop(elements, true, [&](llvm::Value* n) { e.store(core::DType::kFloat, e.load(from, p, n), to, n); });
}

void copy_from_float(CodeEmitter& e, core::DType to, llvm::Value* p, llvm::Value* into, llvm::Value* elements) {
  e.loop(elements, true, [&](llvm::Value* n) { e.store(to, e.load(core::DType::kFloat, p, n), into, n); });
}

int64_t multiple_of(const ir::Dim& d) {
  int64_t n = d.constant();
  for (const ir::Dim::Term& t : d.terms()) n = std::gcd(n, t.coefficient);
  return std::max<int64_t>(1, std::abs(n));
}

namespace {

// How often each value is read, as far as it matters: 2 is many.
void count_uses(const ir::Region& r, std::unordered_map<const ir::Instr*, int>& uses) {
  for (const auto& i : r.instrs) {
    for (const ir::Instr* o : i->operands) ++uses[o];
    for (const auto& inner : i->regions) count_uses(*inner, uses);
  }
  for (const ir::Instr* i : r.results) uses[i] += 2;
}

bool same_memory(const Plan& plan, int a, int b) {
  if (a < 0 || b < 0) return false;
  const Buffer &x = plan.buffers[size_t(a)], &y = plan.buffers[size_t(b)];
  if (a == b) return true;
  if (x.kind != y.kind || !(x.bytes == y.bytes)) return false;
  return x.kind == Buffer::Kind::kArena ? x.offset == y.offset : x.index == y.index;
}

// Whether the code for a value reads this memory.
bool reads(const Plan& plan, const ir::Instr* i, int buffer, int depth = 0) {
  for (const ir::Instr* o : i->operands) {
    const int at = plan.buffer_of(o);
    if (at >= 0 ? same_memory(plan, at, buffer) : depth > 16 || reads(plan, o, buffer, depth + 1)) return true;
  }
  return false;
}

bool may_read(const Plan& plan, const Step& s, int buffer) {
  if (s.kind == Step::Kind::kCopy) {
    const int at = s.copy_from_buffer >= 0 ? s.copy_from_buffer : plan.buffer_of(s.copy_from);
    return at >= 0 ? same_memory(plan, at, buffer) : reads(plan, s.copy_from, buffer);
  }
  if (s.kind != Step::Kind::kLoop && s.kind != Step::Kind::kInstr && s.kind != Step::Kind::kRows) return true;
  for (const ir::Instr* i : s.instrs)
    if (reads(plan, i, buffer)) return true;
  return false;
}

}  // namespace

void find_accumulations(const Plan& plan, std::span<const Step> steps, CodeEmitter::Impl& impl) {
  std::unordered_map<const ir::Instr*, int> uses;
  for (size_t n = 0; n < steps.size(); ++n) {
    if (steps[n].kind != Step::Kind::kInstr || steps[n].instrs.empty() || steps[n].instrs[0]->op != ir::Op::kDot) continue;
    const ir::Instr* dot = steps[n].instrs[0];
    const DotPlan way = plan_dot(*dot);
    if (way.way != DotPlan::Way::kPlain || way.narrow) continue;
    if (uses.empty()) count_uses(*plan.module->main, uses);
    if (uses[dot] != 1) continue;
    // The sum comes later; until then nobody may ask for what is added to.
    for (size_t later = n + 1; later < steps.size(); ++later) {
      const Step& s = steps[later];
      const ir::Instr* sum = s.kind == Step::Kind::kLoop && s.instrs.size() == 1 ? s.instrs[0] : nullptr;
      if (sum && sum->op == ir::Op::kBinary && sum->binary == ir::Binary::kAdd && (sum->operands[0] == dot || sum->operands[1] == dot)) {
        const ir::Instr* to = sum->operands[sum->operands[0] == dot ? 1 : 0];
        const int memory = plan.buffer_of(sum);
        if (!same_memory(plan, memory, plan.buffer_of(to)) || reads(plan, dot, memory)) break;
        bool free = true;
        for (size_t between = n + 1; between < later; ++between) free = free && !may_read(plan, steps[between], memory);
        if (free) impl.added_to[dot] = sum, impl.done.insert(&s);
        break;
      }
      if (s.kind == Step::Kind::kWhile || s.kind == Step::Kind::kIf) break;
    }
  }
}

core::Status CodeEmitter::emit_dot(const ir::Instr* i) {
  using Way = DotPlan::Way;
  const ir::Instr &x = i->operand(0), &y = i->operand(1);
  const core::DType dtype = x.type.dtype;
  llvm::Type* element = product_type(*this, dtype);
  if (!element || i->type.dtype != dtype) return core::unimplemented("code for a product of ", core::dtype_name(dtype));
  if (plan.buffer_of(&x) < 0 || plan.buffer_of(&y) < 0) return core::internal_error("a product's operand has no memory");
  const DotPlan way = plan_dot(*i);
  V m = dim(way.m), n = dim(way.n), k = dim(way.k), batch = dim(way.batch);
  // Parts take matrices; or rows or columns of the one that there is.
  const bool one_matrix = way.batch.is(1), by_columns = i->transpose_b || (way.m.is_const() && way.m.value() < 16 * plan.threads);
  V row = i64(0), column = i64(0), m_all = m, n_all = n;
  if (part() && one_matrix) {
    const auto [begin, end] = share(by_columns ? n : m, 16);
    (by_columns ? column : row) = begin;
    (by_columns ? n : m) = b.CreateSub(end, begin);
  }
  const auto sum = impl_->added_to.find(i);
  const bool accumulate = sum != impl_->added_to.end();
  V a0 = pointer(&x), b0 = pointer(&y), c0 = pointer(accumulate ? sum->second : i);
  V mk = dim(way.m * way.k), kn = dim(way.k * way.n), mn = dim(way.m * way.n);
  V memory = scratch_bytes(*i).is(0) ? nullptr : scratch(i);
  const auto piece = [&](const ir::Dim& offset) { return b.CreateGEP(b.getInt8Ty(), memory, dim(offset)); };
  const auto in_memory = [&](V base, V number) { return b.CreateGEP(type(dtype), base, number); };

  const auto one = [&](V number) {
    V a = in_memory(a0, b.CreateMul(number, mk)), bb = in_memory(b0, b.CreateMul(number, kn)), c = in_memory(c0, b.CreateMul(number, mn)), to = c;
    if (way.narrow) {
      V as = piece(0), bs = piece(way.a), cs = piece(way.a + way.b);
      copy_as_float(*this, dtype, a, as, mk);
      copy_as_float(*this, dtype, bb, bs, kn);
      a = as, bb = bs, c = cs;
    }
    Product p;
    p.element = element;
    a = in_memory(a, i->transpose_a ? row : b.CreateMul(row, k)), bb = in_memory(bb, i->transpose_b ? b.CreateMul(column, k) : column);
    c = in_memory(c, b.CreateAdd(b.CreateMul(row, n_all), column));
    p.a = a, p.b = bb, p.c = c;
    p.a_columns = i->transpose_a;
    p.a_stride = i->transpose_a ? m_all : k;
    p.b_stride = i->transpose_b ? k : n_all, p.c_stride = n_all;
    p.m = m, p.n = n, p.k = k;
    p.m_multiple = m == m_all ? multiple_of(way.m) : 1;
    p.accumulate = accumulate;
    const ir::Dim behind = way.a + way.b + way.c;
    if (!way.panel.is(0)) p.pack = piece(behind + way.transposed + way.transposed_c);
    if (!way.rows.is(0)) p.pack_a = piece(behind + way.transposed + way.transposed_c + way.panel);
    const auto transposed = [&] {
      Product q = p;
      if (way.way == Way::kTransposeB) {
        q.b = piece(behind), q.b_stride = n;
        emit_transpose(b, target, element, bb, k, q.b, n, n, k);
        emit_product(b, target, q);
        return;
      }
      q.a = bb, q.a_columns = false, q.a_stride = k;
      q.b = a, q.b_stride = m;
      if (!i->transpose_a) {
        q.b = piece(behind);
        emit_transpose(b, target, element, a, k, q.b, m, m, k);
      }
      q.c = piece(behind + way.transposed), q.c_stride = m;
      q.m = n, q.n = m;
      q.m_multiple = n == n_all ? multiple_of(way.n) : 1;
      emit_product(b, target, q);
      emit_transpose(b, target, element, q.c, m, c, n_all, n, m);
    };
    if (way.way == Way::kPlain) {
      emit_product(b, target, p);
    } else if (way.way == Way::kRows) {
      emit_product_rows(b, target, p);
    } else if (!way.m.is_const() && !i->transpose_a) {
      V few = b.CreateICmpULE(m, i64(4));
      emit_when(b, few, [&] { emit_product_rows(b, target, p); });
      emit_when(b, b.CreateNot(few), transposed);
    } else {
      transposed();
    }
    if (way.narrow) copy_from_float(*this, dtype, c, to, mn);
  };
  if (one_matrix) {
    one(i64(0));
  } else {
    const auto [begin, end] = share(batch);
    loop(begin, end, i64(1), {}, false, [&](V number, const std::vector<V>&) {
      one(number);
      return std::vector<V>();
    });
  }
  return core::Status();
}

}  // namespace weft_engine::compiler
