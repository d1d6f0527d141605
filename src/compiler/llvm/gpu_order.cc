// Where order matters: scans, sorts, scatters.
#include "compiler/llvm/gpu_emitter.h"

namespace weft_engine::compiler {
namespace {

// For choices alone.
bool is_many(const ir::Dim& d, int64_t n) { return !d.is_const() || d.value() >= n; }

}  // namespace

core::Status GpuEmitter::scan(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = i->type.dtype, kept = carried(t);
  const size_t axis = size_t(i->axes[0]);
  const ir::Dim length = x->dim(int(axis));
  std::vector<ir::Dim> others = x->type.dims;
  others[axis] = 1;
  const ir::Dim lines = ir::product(others);
  const auto index_of = [&](const Index& at, V k) {
    Index index = at;
    index[axis] = bounded(i->reverse ? e.sub(e.sub(e.dim(length), e.i64(1)), k) : k, length);
    return index;
  };
  if (!is_many(length, 65) || (lines.is_const() && lines.value() >= 16384)) {
    return each("scan", i, lines, [&](V line) -> core::Status {
      const Index at = e.places(line, others);
      e.loop(e.i64(0), e.dim(length), e.i64(1), {e.identity(i->reduce, t)}, false, [&](V k, const std::vector<V>& v) {
        const Index index = index_of(at, bounded(k, length));
        V sum = e.combine(i->reduce, t, v[0], e.element(x, index));
        e.store(t, i->exclusive ? v[0] : sum, e.pointer(i), e.offset(i->type, index));
        return std::vector<V>{sum};
      });
      return {};
    });
  }
  // A block for each line, a piece of it at a time.
  return kernel("scan", i, lines, kThreads, [&]() -> core::Status {
    const Index at = e.places(bounded(wide(block()), lines), others);
    V memory[2] = {shared(e.type(kept), kThreads), shared(e.type(kept), kThreads)};
    V t32 = thread(), me = wide(t32), none = e.identity(i->reduce, t), n = e.dim(length);
    e.loop(e.i64(0), n, e.i64(kThreads), {none}, false, [&](V base, const std::vector<V>& carry) {
      V k = b.CreateAdd(base, me), inside = b.CreateICmpSLT(k, n);
      const Index index = index_of(at, at_most(k, b.CreateSub(n, e.i64(1))));
      V sum = b.CreateSelect(inside, e.element(x, index), none);
      int now = 0;
      e.store(kept, sum, memory[now], me);
      barrier();
      for (int d = 1; d < kThreads; d *= 2, now = 1 - now) {
        V has = b.CreateICmpUGE(t32, b.getInt32(uint32_t(d)));
        V other = e.load(kept, memory[now], b.CreateSelect(has, b.CreateSub(me, e.i64(d)), e.i64(0)));
        sum = b.CreateSelect(has, e.combine(i->reduce, t, other, sum), sum);
        e.store(kept, sum, memory[1 - now], me);
        barrier();
      }
      V total = e.load(kept, memory[now], e.i64(kThreads - 1));
      V result = sum;
      if (i->exclusive) {
        V has = b.CreateICmpUGT(t32, b.getInt32(0));
        result = b.CreateSelect(has, e.load(kept, memory[now], b.CreateSelect(has, b.CreateSub(me, e.i64(1)), e.i64(0))), none);
      }
      result = e.combine(i->reduce, t, carry[0], result);
      e.when(inside, [&] { e.store(t, result, e.pointer(i), e.offset(i->type, index)); });
      barrier();
      return std::vector<V>{e.combine(i->reduce, t, carry[0], total)};
    });
    return {};
  });
}

// Merges runs of 1, 2, 4 ...: every element finds its place by how many of the other run come before it. Passes come in pairs, so that the
// result lies where it began; those that an open size does not need have no blocks.
core::Status GpuEmitter::sort_places(const ir::Instr* i, const ir::Dim& rows, const ir::Dim& n, const GpuArg& places,
                                     const std::function<V(V row, V a, V c)>& less) {
  const ir::Dim all = rows * n;
  if (all.is(0)) return {};
  const GpuArg other = scratch_arg(reserve(all * 4));
  const core::DType t = core::DType::kInt32;
  const std::vector<ir::Dim> dims{rows, n};
  WEFT_RETURN_IF_ERROR(each("sort_begin", i, all, [&](V number) -> core::Status {
    const Index at = e.places(number, dims);
    e.store(t, b.CreateTrunc(at[1], b.getInt32Ty()), argument(places), number);
    return {};
  }));
  bool there = false;  // in `other`
  int turns = 1;
  for (int64_t width = 1; width < (int64_t(1) << 31) && (there || !n.is_const() || width < n.value()); width *= 2, there = !there, ++turns) {
    const int64_t first = there ? width / 2 : width;  // of the pair
    WEFT_RETURN_IF_ERROR(each("sort_merge", i, all, [&](V number) -> core::Status {
      V from = argument(there ? other : places), to = argument(there ? places : other);
      const Index at = e.places(number, dims);
      V row = at[0], k = at[1], size = e.dim(n), begin = e.mul(row, size);
      V mine = e.load(t, from, number);
      V start = b.CreateAnd(k, e.i64(~(2 * width - 1)));
      V middle = at_most(b.CreateAdd(start, e.i64(width)), size), end = at_most(b.CreateAdd(start, e.i64(2 * width)), size);
      V left = b.CreateICmpULT(k, middle);
      V low = b.CreateSelect(left, middle, start), high = b.CreateSelect(left, end, middle), own = b.CreateSelect(left, start, middle);
      const std::vector<V> found = e.loop(e.i64(0), e.i64(turns), e.i64(1), {low, high}, false, [&](V, const std::vector<V>& v) {
        V open = b.CreateICmpULT(v[0], v[1]);
        V probe = b.CreateLShr(b.CreateAdd(v[0], v[1]), 1);
        V held = at_most(probe, b.CreateSub(size, e.i64(1)));
        V that = e.load(t, from, b.CreateAdd(begin, held));
        // Equal ones: those of the left run come first.
        V before = b.CreateSelect(left, less(row, that, mine), b.CreateNot(less(row, mine, that)));
        V next = b.CreateAnd(open, before), stop = b.CreateAnd(open, b.CreateNot(before));
        return std::vector<V>{b.CreateSelect(next, b.CreateAdd(probe, e.i64(1)), v[0]), b.CreateSelect(stop, probe, v[1])};
      });
      V to_place = b.CreateAdd(b.CreateAdd(start, b.CreateSub(k, own)), b.CreateSub(found[0], low));
      e.store(t, mine, to, b.CreateAdd(begin, to_place));
      return {};
    }));
    if (!n.is_const()) {
      GpuLaunch& l = launches_->back();
      l.blocks = l.blocks * ir::min(ir::Dim(1), ir::max(ir::Dim(0), n - ir::Dim(first)));
    }
  }
  return {};
}

core::Status GpuEmitter::sort(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = x->type.dtype;
  const auto found = plan.results.find(i);
  if (found == plan.results.end() || found->second.size() != 2) return core::internal_error("a sort without memory for its results");
  const int to_values = found->second[0], to_places = found->second[1];
  if (to_values < 0 && to_places < 0) return {};
  if (x->rank() == 0) return core::internal_error("a sort of a scalar");
  if (plan.buffer_of(x) < 0) return core::internal_error("a sort's operand has no memory");
  const ir::Dim n = x->type.dims.back(), rows = ir::product(std::span(x->type.dims).first(x->type.dims.size() - 1));
  const bool own = to_places >= 0 && i->results[1].dtype == core::DType::kInt32;
  const GpuArg places = own ? arg_of(to_places) : scratch_arg(reserve(rows * n * 4));
  ir::Instr order;
  order.op = ir::Op::kCompare, order.compare = i->reverse ? ir::Compare::kGt : ir::Compare::kLt, order.operands = {i->operands[0]};
  WEFT_RETURN_IF_ERROR(sort_places(i, rows, n, places, [&](V row, V a, V c) {
    const auto key = [&](V p) { return e.load(t, e.pointer(x), b.CreateAdd(b.CreateMul(row, e.dim(n)), b.CreateZExt(p, b.getInt64Ty()))); };
    V ka = key(a), kc = key(c);
    V result = e.compare(&order, ka, kc);
    // NaNs behind all else: places must be a permutation whatever comes in.
    if (ka->getType()->isFloatingPointTy()) result = b.CreateOr(result, b.CreateAnd(b.CreateFCmpUNO(kc, kc), b.CreateFCmpORD(ka, ka)));
    return result;
  }));
  const std::vector<ir::Dim> dims{rows, n};
  if (to_values < 0 && own) return {};
  return each("sort_end", i, rows * n, [&](V number) -> core::Status {
    const Index at = e.places(number, dims);
    V p = e.load(core::DType::kInt32, argument(places), number);
    if (!own && to_places >= 0) e.store(i->results[1].dtype, e.convert(p, core::DType::kInt32, i->results[1].dtype), e.pointer(to_places), number);
    if (to_values < 0) return {};
    V from = b.CreateAdd(b.CreateMul(at[0], e.dim(n)), b.CreateZExt(p, b.getInt64Ty()));
    e.store(t, e.load(t, e.pointer(x), from), e.pointer(to_values), number);
    return {};
  });
}

// Rows in the order of their numbers, so that all of one number stand together and one thread combines them one after the other.
core::Status GpuEmitter::scatter(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *numbers = i->operands[1], *updates = i->operands[2];
  const core::DType t = i->type.dtype, nt = numbers->type.dtype;
  const int buffer = plan.buffer_of(i);
  if (plan.buffer_of(x) != buffer) WEFT_RETURN_IF_ERROR(materialize(x, buffer));
  const ir::Dim row = ir::product(std::span(i->type.dims).subspan(1)), n = numbers->dim(0);
  std::vector<ir::Dim> row_dims(i->type.dims.begin() + 1, i->type.dims.end());
  const auto number_at = [&](V k) { return e.convert(e.element(numbers, {k}), nt, core::DType::kInt64); };
  const auto update_at = [&](V k, V column) {
    Index index{k};
    const Index rest = e.places(column, row_dims);
    index.insert(index.end(), rest.begin(), rest.end());
    return e.element(updates, index);
  };
  const auto combined = [&](V so_far, V v) { return i->reduce == ir::Reduce::kSet ? v : e.combine(i->reduce, t, so_far, v); };
  if (!is_many(n, 33)) {
    return each("scatter", i, ir::max(row, ir::Dim(1)), [&](V column) -> core::Status {  // rows of nothing have numbers too
      e.loop(n.is(0) ? e.i64(0) : e.dim(n), false, [&](V k) {
        V number = number_at(bounded(k, n)), good = b.CreateICmpULT(number, e.dim(i->dim(0)));
        e.error_if(b.CreateNot(good), i->message);
        if (row.is(0)) return;
        e.when(b.CreateAnd(good, b.CreateICmpULT(column, e.dim(row))), [&] {
          V at = b.CreateAdd(b.CreateMul(number, e.dim(row)), column);
          e.store(t, combined(e.load(t, e.pointer(buffer), at), update_at(k, column)), e.pointer(buffer), at);
        });
      });
      return {};
    });
  }
  const GpuArg places = scratch_arg(reserve(n * 4));
  const bool is_signed = nt != core::DType::kUint32 && nt != core::DType::kUint64;
  WEFT_RETURN_IF_ERROR(sort_places(i, 1, n, places, [&](V, V a, V c) {
    const auto key = [&](V p) { return e.load(nt, e.pointer(numbers), b.CreateZExt(p, b.getInt64Ty())); };
    return is_signed ? b.CreateICmpSLT(key(a), key(c)) : b.CreateICmpULT(key(a), key(c));
  }));
  return each("scatter", i, n * row, [&](V all) -> core::Status {
    const std::vector<ir::Dim> dims{n, row};
    const Index at = e.places(all, dims);
    const auto update_number = [&](V p) { return b.CreateZExt(e.load(core::DType::kInt32, argument(places), p), b.getInt64Ty()); };
    const auto target = [&](V p) { return e.convert(e.load(nt, e.pointer(numbers), update_number(p)), nt, core::DType::kInt64); };
    V mine = target(at[0]);
    V good = b.CreateICmpULT(mine, e.dim(i->dim(0)));
    e.error_if(b.CreateNot(good), i->message);
    V before = target(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSub(at[0], e.i64(1)), e.i64(0)));
    V first = b.CreateOr(b.CreateICmpEQ(at[0], e.i64(0)), b.CreateICmpNE(before, mine));
    e.when(b.CreateAnd(good, first), [&] {
      V place = b.CreateAdd(b.CreateMul(mine, e.dim(row)), at[1]);
      V start = e.load(t, e.pointer(buffer), place), last = e.dim(n - ir::Dim(1));
      const std::vector<V> result = repeat(
          e, {at[0], start, b.getTrue()}, [&](const std::vector<V>& v) { return v[2]; },
          [&](const std::vector<V>& v) {
            V sum = combined(v[1], update_at(update_number(v[0]), at[1]));
            V next = b.CreateAdd(v[0], e.i64(1));
            V more = b.CreateAnd(b.CreateICmpSLE(next, last), b.CreateICmpEQ(target(at_most(next, last)), mine));
            return std::vector<V>{next, sum, more};
          });
      e.store(t, result[1], e.pointer(buffer), place);
    });
    return {};
  });
}

}  // namespace weft_engine::compiler
