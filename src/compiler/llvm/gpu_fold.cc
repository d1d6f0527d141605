// Folds: many numbers become one. How many threads work on one result, and how they share the work, follows from the sizes: a thread, a warp or a
// block along rows; blocks of 32 columns; and where that gives too few blocks, several blocks whose results are folded once more.
#include "compiler/llvm/gpu_emitter.h"

namespace weft_engine::compiler {
namespace {

constexpr int64_t kEnoughBlocks = 528;  // four for each multiprocessor of a large chip

int64_t guess(const ir::Dim& d, int64_t open) {
  const ir::Dim n = d.substitute([&](int) { return ir::Dim(open); });
  return n.is_const() ? n.value() : open;
}

}  // namespace

core::Status GpuEmitter::fold(const Fold& f) {
  if (f.kept.is(0)) return {};
  // A thread reads `own` places that lie side by side at once: reduced ones along rows, else kept ones.
  const int own = f.own;
  const ir::Dim kept_units = f.rows ? f.kept : ir::ceil_div(f.kept, own), units = f.rows ? ir::ceil_div(f.reduced, own) : f.reduced;
  const int64_t reduced = guess(units, 1024), kept = guess(kept_units, 1024);
  int lanes = 1;
  if (f.rows) {
    if (reduced * own > 2048 || (reduced * own > 512 && kept < 1024)) lanes = kThreads;
    else if (reduced * own > 8) lanes = kWarp;
  } else if (reduced * f.work > 32 && kept < (int64_t(1) << 18)) {
    int across = kWarp;
    while (own > 1 && across > 1 && across / 2 >= kept) across /= 2;
    lanes = kThreads / across;
  }
  const int columns = kThreads / lanes;  // threads of a block for different results
  const ir::Dim blocks = ir::ceil_div(kept_units, columns);
  const int64_t share = (f.rows ? 4096 : 256) / (f.rows ? own : 1);  // of what is reduced: what one block should have at least
  ir::Dim segments = 1;
  if (f.split && !(units.is_const() && units.value() <= share)) {
    segments = ir::max(ir::Dim(1), ir::min(ir::ceil_div(units, share), ir::ceil_div(ir::Dim(kEnoughBlocks), ir::max(blocks, ir::Dim(1)))));
  }
  const bool split = !segments.is(1);
  const size_t results = f.rows ? 1 : size_t(own);  // of a thread
  std::vector<ir::Dim> partial;
  if (split) {
    for (core::DType t : f.types) partial.push_back(reserve(f.kept * segments * int64_t(core::dtype_size(t))));
  }
  WEFT_RETURN_IF_ERROR(kernel(f.what, f.instr, blocks * segments, kThreads, [&]() -> core::Status {
    V group = block(), segment = nullptr;
    if (split) {
      const std::vector<ir::Dim> grid{segments, blocks};
      const Index at = e.places(bounded(wide(block()), ir::product(grid)), grid);
      segment = at[0];
      group = b.CreateTrunc(at[1], b.getInt32Ty());
    }
    const auto share_of = [&](int n, bool quotient) -> V {  // constants of two alone
      if (n == 1) return quotient ? thread() : b.getInt32(0);
      const int shift = __builtin_ctz(unsigned(n));
      return quotient ? b.CreateLShr(thread(), uint64_t(shift)) : b.CreateAnd(thread(), b.getInt32(uint32_t(n - 1)));
    };
    V lane = f.rows ? share_of(lanes, false) : lanes == 1 ? static_cast<V>(b.getInt32(0)) : share_of(columns, true);
    V column = f.rows ? share_of(lanes, true) : lanes == 1 ? thread() : share_of(columns, false);
    V number = number_below(kept_units, group, column, columns), size = e.dim(kept_units);
    V active = b.CreateICmpULT(number, size);
    // Those without a result compute another one's, and store nothing.
    V unit = bounded(known(at_most(number, b.CreateSub(size, e.i64(1)))), kept_units);
    std::vector<V> mine{unit};
    if (results > 1) {
      mine.clear();
      for (size_t j = 0; j < results; ++j) mine.push_back(bounded(e.add(e.mul(unit, e.i64(own)), e.i64(int64_t(j))), f.kept));
    }
    V begin = wide(lane), end = e.dim(units);
    if (split) {
      V part = e.dim(ir::ceil_div(units, segments));
      V from = known(b.CreateMul(segment, part));
      begin = known(b.CreateAdd(from, begin));
      end = known(at_most(b.CreateAdd(from, part), end));
    }
    // What is carried: for each of the thread's results all types, one result after the other.
    const size_t types = f.types.size();
    const auto of_result = [&](const std::vector<V>& v, size_t j) {
      return std::vector<V>(v.begin() + std::ptrdiff_t(j * types), v.begin() + std::ptrdiff_t((j + 1) * types));
    };
    const auto for_results = [&](const std::function<std::vector<V>(size_t j)>& one) {
      std::vector<V> out;
      for (size_t j = 0; j < results; ++j) {
        for (V v : one(j)) out.push_back(v);
      }
      return out;
    };
    const auto merge_all = [&](const std::vector<V>& x, const std::vector<V>& y) {
      return for_results([&](size_t j) { return f.merge(of_result(x, j), of_result(y, j)); });
    };
    std::vector<V> values = for_results([&](size_t j) { return f.start(mine[j]); });
    const auto turn = [&](V k, const std::vector<V>& v) {
      if (!f.rows || own == 1) return for_results([&](size_t j) { return f.step(mine[j], bounded(k, f.reduced), of_result(v, j)); });
      std::vector<V> out = v;
      for (int j = 0; j < own; ++j) out = f.step(unit, bounded(e.add(e.mul(k, e.i64(own)), e.i64(j)), f.reduced), out);
      return out;
    };
    const int several = reduced * f.work >= int64_t(lanes) * 8 && f.work <= 2 ? (own >= 8 ? 2 : 4) : 1;
    V position = begin;
    if (several > 1) {
      // Some at a time: as many reads on their way.
      values.push_back(begin);
      values = e.loop(begin, b.CreateSub(end, e.i64(int64_t(lanes) * (several - 1))), e.i64(int64_t(lanes) * several), values, false,
                      [&](V k, const std::vector<V>& so_far) {
                        std::vector<V> v(so_far.begin(), so_far.end() - 1);
                        for (int n = 0; n < several; ++n) v = turn(e.add(k, e.i64(int64_t(lanes) * n)), v);
                        v.push_back(e.add(k, e.i64(int64_t(lanes) * several)));
                        return v;
                      });
      position = values.back();
      values.pop_back();
    }
    values = e.loop(position, end, e.i64(lanes), values, false, turn);

    // The lanes of a warp, then the warps.
    if (lanes > 1) {
      const int first = f.rows ? 1 : columns;  // threads of a warp that far apart work on the same result
      for (int n = kWarp / 2; n >= first; n /= 2) {
        std::vector<V> other;
        for (V v : values) other.push_back(exchange(v, n));
        values = merge_all(values, other);
      }
    }
    if (lanes > kWarp || (!f.rows && lanes > 1)) {
      const int in_warp = f.rows ? 1 : columns, warps = kThreads / kWarp;  // results of a warp, in units
      std::vector<V> p;
      for (core::DType t : f.types) p.push_back(shared(e.type(t), int64_t(warps) * in_warp * int64_t(results)));
      const auto place_of = [&](V warp, size_t j) {
        V own_column = f.rows ? e.i64(0) : wide(column);
        return e.add(e.mul(e.add(e.mul(warp, e.i64(in_warp)), own_column), e.i64(int64_t(results))), e.i64(int64_t(j)));
      };
      V in = b.CreateAnd(thread(), b.getInt32(kWarp - 1));
      e.when(b.CreateICmpULT(in, b.getInt32(uint32_t(in_warp))), [&] {
        V warp = wide(b.CreateLShr(thread(), 5));
        for (size_t j = 0; j < results; ++j) {
          for (size_t k = 0; k < types; ++k) e.store(f.types[k], values[j * types + k], p[k], place_of(warp, j));
        }
      });
      barrier();
      for (int n = 0; n < warps; ++n) {
        const std::vector<V> other = for_results([&](size_t j) {
          std::vector<V> one;
          for (size_t k = 0; k < types; ++k) one.push_back(e.load(f.types[k], p[k], place_of(e.i64(n), j)));
          return one;
        });
        values = n == 0 ? other : merge_all(values, other);
      }
    }
    e.when(b.CreateAnd(active, b.CreateICmpEQ(lane, b.getInt32(0))), [&] {
      for (size_t j = 0; j < results; ++j) {
        const std::vector<V> result = of_result(values, j);
        if (!split) {
          f.finish(mine[j], result);
          continue;
        }
        V at = b.CreateAdd(b.CreateMul(mine[j], e.dim(segments)), segment);
        for (size_t k = 0; k < types; ++k) e.store(f.types[k], result[k], scratch(partial[k]), at);
      }
    });
    return {};
  }));
  if (!split) return {};
  Fold rest = f;
  rest.reduced = segments, rest.rows = true, rest.split = false, rest.work = 1, rest.own = 1;
  rest.step = [&](V mine, V segment, const std::vector<V>& v) {
    std::vector<V> other;
    V at = e.add(e.mul(mine, e.dim(segments)), segment);
    for (size_t j = 0; j < v.size(); ++j) other.push_back(e.load(f.types[j], scratch(partial[j]), at));
    return f.merge(v, other);
  };
  return fold(rest);
}

// One thread for each result: few numbers each, or such as lie apart.
core::Status GpuEmitter::fold_by_thread(const Fold& f) {
  return each(f.what, f.instr, f.kept, [&](V mine) -> core::Status {
    const std::vector<V> values = e.loop(e.i64(0), e.dim(f.reduced), e.i64(1), f.start(mine), false,
                                         [&](V k, const std::vector<V>& v) { return f.step(mine, bounded(k, f.reduced), v); });
    f.finish(mine, values);
    return {};
  });
}

namespace {

// The loops of an operand: those that stay and those that go.
struct Axes {
  CodeEmitter::Layout shape;
  std::vector<size_t> kept, reduced;
  std::vector<ir::Dim> kept_sizes, reduced_sizes;
  bool rows = true;

  Axes(CodeEmitter& e, const ir::Instr* x, const std::vector<int>& axes) : shape(e.layout(std::span(&x, 1))) {
    for (size_t d = 0; d < shape.loops.size(); ++d) {
      if (shape.loops[d].is(1)) continue;
      const bool goes =
          std::any_of(axes.begin(), axes.end(), [&](int a) { return d >= shape.parts[size_t(a)].first && d < shape.parts[size_t(a)].second; });
      (goes ? reduced : kept).push_back(d);
      (goes ? reduced_sizes : kept_sizes).push_back(shape.loops[d]);
      rows = goes;  // the last one decides
    }
    if (reduced.empty()) rows = false;
  }
  CodeEmitter::Index index(CodeEmitter& e, llvm::Value* k, llvm::Value* r) const {
    CodeEmitter::Index at(shape.loops.size(), e.i64(0));
    const CodeEmitter::Index a = e.places(k, kept_sizes), c = e.places(r, reduced_sizes);
    for (size_t n = 0; n < kept.size(); ++n) at[kept[n]] = a[n];
    for (size_t n = 0; n < reduced.size(); ++n) at[reduced[n]] = c[n];
    return shape.index(e, at);
  }
};

}  // namespace

// All have the same operands' sizes and axes: what they read in common is read once.
core::Status GpuEmitter::reduce(const std::vector<const ir::Instr*>& all) {
  const ir::Instr* i = all[0];
  const Axes axes(e, i->operands[0], i->axes);
  Fold f;
  f.what = "reduce", f.instr = i, f.kept = i->type.elements(), f.reduced = ir::product(axes.reduced_sizes), f.rows = axes.rows;
  std::vector<const ir::Instr*> operands;
  int64_t least = 16;
  for (const ir::Instr* r : all) {
    f.types.push_back(carried(r->type.dtype));
    operands.push_back(r->operands[0]);
    least = std::min(least, narrowest(plan, r->operands[0]));
  }
  const auto each_one = [&](const std::function<V(size_t)>& one) {
    std::vector<V> out;
    for (size_t n = 0; n < all.size(); ++n) out.push_back(one(n));
    return out;
  };
  f.start = [&](V) { return each_one([&](size_t n) { return e.identity(all[n]->reduce, all[n]->type.dtype); }); };
  f.step = [&](V k, V r, const std::vector<V>& v) {
    const Index at = axes.index(e, k, r);
    return each_one([&](size_t n) { return e.combine(all[n]->reduce, all[n]->type.dtype, v[n], e.element(operands[n], at)); });
  };
  f.merge = [&](const std::vector<V>& x, const std::vector<V>& y) {
    return each_one([&](size_t n) { return e.combine(all[n]->reduce, all[n]->type.dtype, x[n], y[n]); });
  };
  f.finish = [&](V k, const std::vector<V>& v) {
    for (size_t n = 0; n < all.size(); ++n) e.store(all[n]->type.dtype, v[n], e.pointer(all[n]), k);
  };
  // Elements that lie side by side are read together, 16 bytes of the narrowest: along rows, or of several columns.
  const auto& along = f.rows ? axes.reduced_sizes : axes.kept_sizes;
  const int64_t together = std::min<int64_t>(all.size() > 2 ? 4 : 8, 16 / least);
  if (along.size() == 1 && along[0].is_const() && along[0].value() % together == 0 && along[0].value() >= 2 * together && f.reduced.is_const() &&
      f.reduced.value() >= 64 && is_cheap(plan, operands))
    f.own = int(together);
  return fold(f);
}

// The reductions of later steps that can be done with this one.
std::vector<const ir::Instr*> GpuEmitter::beside(std::span<const Step> s, size_t k) {
  constexpr size_t kMost = 4, kFurthest = 40;
  const auto is_reduce = [](const Step& x) { return x.kind == Step::Kind::kInstr && !x.instrs.empty() && x.instrs[0]->op == ir::Op::kReduce; };
  std::vector<const ir::Instr*> out{s[k].instrs[0]};
  const ir::Type& own = out[0]->operand(0).type;
  if (!own.elements().is_const() || own.elements().value() < 65536) return out;
  std::vector<Access> passed{access(s[k])};
  for (size_t n = k + 1; n < s.size() && n < k + kFurthest && out.size() < kMost; ++n) {
    if (s[n].kind == Step::Kind::kWhile || s[n].kind == Step::Kind::kIf) break;
    Access a = access(s[n]);
    const ir::Instr* i = is_reduce(s[n]) ? s[n].instrs[0] : nullptr;
    const bool alike = i && i->operand(0).type.dims == own.dims && i->axes == out[0]->axes && !core::is_complex_type(i->type.dtype);
    if (alike && std::all_of(passed.begin(), passed.end(), [&](const Access& p) { return between(p, a) == Dependence::kNone; })) {
      out.push_back(i);
      done_.insert(&s[n]);
      access_.reads.insert(access_.reads.end(), a.reads.begin(), a.reads.end());
      access_.writes.insert(access_.writes.end(), a.writes.begin(), a.writes.end());
    }
    passed.push_back(std::move(a));
  }
  return out;
}

core::Status GpuEmitter::arg_reduce(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType from = x->type.dtype;
  const Axes axes(e, x, i->axes);
  const bool max = i->reduce == ir::Reduce::kMax;
  ir::Instr order;  // for compare(): by the operand's type
  order.op = ir::Op::kCompare, order.compare = max ? ir::Compare::kGt : ir::Compare::kLt, order.operands = {i->operands[0]};
  const auto better = [&](V value, V at, V than, V than_at) {  // ties: the first one
    V equal = b.CreateNot(b.CreateOr(e.compare(&order, value, than), e.compare(&order, than, value)));
    if (value->getType()->isFloatingPointTy()) equal = b.CreateAnd(equal, b.CreateFCmpORD(value, than));
    return b.CreateOr(e.compare(&order, value, than), b.CreateAnd(equal, b.CreateICmpULT(at, than_at)));
  };
  Fold f;
  f.what = "arg_reduce", f.instr = i, f.kept = i->type.elements(), f.reduced = ir::product(axes.reduced_sizes), f.rows = axes.rows;
  f.types = {carried(from), core::DType::kInt64};
  // All begin with the first one: if that is a NaN, nothing is better.
  f.start = [&](V k) { return std::vector<V>{e.element(x, axes.index(e, k, e.i64(0))), e.i64(0)}; };
  f.step = [&](V k, V r, const std::vector<V>& v) {
    V y = e.element(x, axes.index(e, k, r));
    V wins = e.compare(&order, y, v[0]);
    return std::vector<V>{b.CreateSelect(wins, y, v[0]), b.CreateSelect(wins, r, v[1])};
  };
  f.merge = [&](const std::vector<V>& a, const std::vector<V>& c) {
    V wins = better(c[0], c[1], a[0], a[1]);
    return std::vector<V>{b.CreateSelect(wins, c[0], a[0]), b.CreateSelect(wins, c[1], a[1])};
  };
  f.finish = [&](V k, const std::vector<V>& v) { e.store(i->type.dtype, e.convert(v[1], core::DType::kInt64, i->type.dtype), e.pointer(i), k); };
  return fold(f);
}

}  // namespace weft_engine::compiler
