// Products of matrices, where no library makes them: tiles of 64 x 64 through shared memory, 4 x 4 numbers a thread.
#include "compiler/llvm/code_emitter_impl.h"
#include "compiler/llvm/gpu_emitter.h"
#include "compiler/scratch.h"

namespace weft_engine::compiler {

core::Status GpuEmitter::dot(const ir::Instr* i) {
  const auto sum = e.impl().added_to.find(i);
  const bool add = sum != e.impl().added_to.end();
  const int to = plan.buffer_of(add ? sum->second : i);
  if (i->type.dtype == core::DType::kBool || i->operand(0).type.dtype != i->type.dtype) {
    return core::unimplemented("code for a product of ", core::dtype_name(i->operand(0).type.dtype));
  }
  return library(i, {i->operands[0], i->operands[1]}, to, add, [&] { return dot_kernels(i, to, add); });
}

core::Status GpuEmitter::dot_kernels(const ir::Instr* i, int to, bool add) {
  const ir::Instr *x = i->operands[0], *y = i->operands[1];
  const core::DType t = i->type.dtype, kept = carried(t);
  const DotPlan p = plan_dot(*i);
  const bool transposed_a = i->transpose_a, transposed_b = i->transpose_b;
  llvm::Type* type = e.value_type(t);
  const auto multiply_add = [&](V sum, V a, V c) {
    return type->isFloatingPointTy() ? b.CreateFAdd(sum, b.CreateFMul(a, c)) : b.CreateAdd(sum, b.CreateMul(a, c));
  };
  const auto store = [&](V at, V v) {
    if (add) v = e.combine(ir::Reduce::kSum, t, e.load(t, e.pointer(to), at), v);
    e.store(t, v, e.pointer(to), at);
  };
  // Places of A[batch, m, k] and B[batch, k, n].
  const auto place_a = [&](V batch, V m, V k) {
    V row = transposed_a ? e.add(e.mul(k, e.dim(p.m)), m) : e.add(e.mul(m, e.dim(p.k)), k);
    return e.add(e.mul(batch, e.dim(p.m * p.k)), row);
  };
  const auto place_b = [&](V batch, V k, V n) {
    V row = transposed_b ? e.add(e.mul(n, e.dim(p.k)), k) : e.add(e.mul(k, e.dim(p.n)), n);
    return e.add(e.mul(batch, e.dim(p.k * p.n)), row);
  };
  const auto few = [](const ir::Dim& d) { return d.is_const() && d.value() <= 8; };
  if (few(p.m) || few(p.n)) {
    const std::vector<ir::Dim> dims{p.batch, p.m, p.n};
    Fold f;
    f.what = "dot", f.instr = i, f.kept = p.batch * p.m * p.n, f.reduced = p.k, f.work = 2;
    f.rows = few(p.m) && !few(p.n) ? transposed_b : !few(p.m) && few(p.n) ? !transposed_a : !transposed_a || transposed_b;
    f.types = {kept};
    f.start = [&](V) { return std::vector<V>{e.identity(ir::Reduce::kSum, t)}; };
    f.step = [&](V k, V r, const std::vector<V>& v) {
      const Index at = e.places(k, dims);
      V a = e.load(t, e.pointer(x), place_a(at[0], at[1], r)), c = e.load(t, e.pointer(y), place_b(at[0], r, at[2]));
      return std::vector<V>{multiply_add(v[0], a, c)};
    };
    f.merge = [&](const std::vector<V>& a, const std::vector<V>& c) { return std::vector<V>{e.combine(ir::Reduce::kSum, t, a[0], c[0])}; };
    f.finish = [&](V k, const std::vector<V>& v) { store(k, v[0]); };
    return fold(f);
  }
  constexpr int kTile = 64, kDepth = 16, kSide = 16, kOwn = kTile / kSide, kStride = kTile + 1;
  const ir::Dim down = ir::ceil_div(p.m, kTile), across = ir::ceil_div(p.n, kTile);
  return kernel("dot", i, p.batch * down * across, kThreads, [&]() -> core::Status {
    V tile_a = shared(e.type(kept), kDepth * kStride), tile_b = shared(e.type(kept), kDepth * kStride);
    const std::vector<ir::Dim> grid{p.batch, down, across};
    const Index at = e.places(bounded(wide(block()), ir::product(grid)), grid);
    V me = wide(thread());
    V first_m = e.mul(at[1], e.i64(kTile)), first_n = e.mul(at[2], e.i64(kTile)), m = e.dim(p.m), n = e.dim(p.n), k = e.dim(p.k);
    V zero = llvm::Constant::getNullValue(type);
    // The threads of a warp along what is contiguous.
    const auto fill = [&](const ir::Instr* from, V tile, bool along_k, V base_k, V first, V limit, const std::function<V(V, V)>& place_of) {
      for (int j = 0; j < kTile * kDepth / kThreads; ++j) {
        V depth = along_k ? e.mod(me, e.i64(kDepth)) : e.add(e.div(me, e.i64(kTile)), e.i64(j * (kThreads / kTile)));
        V own = along_k ? e.add(e.div(me, e.i64(kDepth)), e.i64(j * (kThreads / kDepth))) : e.mod(me, e.i64(kTile));
        V kk = b.CreateAdd(base_k, depth), mm = b.CreateAdd(first, own);
        V good = b.CreateAnd(b.CreateICmpULT(kk, k), b.CreateICmpULT(mm, limit));
        V held_k = at_most(kk, b.CreateSub(k, e.i64(1))), held_m = at_most(mm, b.CreateSub(limit, e.i64(1)));
        V v = b.CreateSelect(good, e.load(t, e.pointer(from), place_of(held_k, held_m)), zero);
        e.store(kept, v, tile, e.add(e.mul(depth, e.i64(kStride)), own));
      }
    };
    V tx = e.mod(me, e.i64(kSide)), ty = e.div(me, e.i64(kSide));
    const std::vector<V> sums =
        e.loop(e.i64(0), k, e.i64(kDepth), std::vector<V>(kOwn * kOwn, zero), false, [&](V base, const std::vector<V>& so_far) {
          fill(x, tile_a, !transposed_a, base, first_m, m, [&](V kk, V mm) { return place_a(at[0], mm, kk); });
          fill(y, tile_b, transposed_b, base, first_n, n, [&](V kk, V nn) { return place_b(at[0], kk, nn); });
          barrier();
          std::vector<V> v = so_far;
          for (int d = 0; d < kDepth; ++d) {
            V a[kOwn], c[kOwn];
            for (int r = 0; r < kOwn; ++r) {
              a[r] = e.load(kept, tile_a, e.add(ty, e.i64(d * kStride + r * kSide)));
              c[r] = e.load(kept, tile_b, e.add(tx, e.i64(d * kStride + r * kSide)));
            }
            for (int r = 0; r < kOwn; ++r) {
              for (int q = 0; q < kOwn; ++q) v[size_t(r * kOwn + q)] = multiply_add(v[size_t(r * kOwn + q)], a[r], c[q]);
            }
          }
          barrier();
          return v;
        });
    for (int r = 0; r < kOwn; ++r) {
      for (int q = 0; q < kOwn; ++q) {
        V row = e.add(e.add(first_m, ty), e.i64(r * kSide)), column = e.add(e.add(first_n, tx), e.i64(q * kSide));
        e.when(b.CreateAnd(b.CreateICmpULT(row, m), b.CreateICmpULT(column, n)),
               [&] { store(e.add(e.mul(at[0], e.dim(p.m * p.n)), e.add(e.mul(row, n), column)), sums[size_t(r * kOwn + q)]); });
      }
    }
    return {};
  });
}

}  // namespace weft_engine::compiler
