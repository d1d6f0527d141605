// Reductions. Over trailing dimensions: one accumulator in a register (LLVM makes vectors and several of them out of it). Over others,
// with dimensions behind them that stay: row by row into the result, four rows at a time.
#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
using Index = CodeEmitter::Index;

// Dimensions that run as one loop.
struct Run {
  std::vector<size_t> members;
  std::vector<ir::Dim> sizes;
  bool reduced = false;
  ir::Dim size() const { return ir::product(sizes); }
  void set(CodeEmitter& e, V i, Index& index) const {
    const Index at = e.places(i, sizes);
    for (size_t k = 0; k < members.size(); ++k) index[members[k]] = at[k];
  }
};

std::vector<Run> runs_of(const CodeEmitter::Layout& l, const std::vector<int>& axes) {
  std::vector<Run> runs;
  bool apart = true;
  for (size_t d = 0; d < l.loops.size(); ++d) {
    if (d > 0 && l.keep[d - 1]) apart = true;
    if (l.loops[d].is(1)) continue;
    const bool reduced = std::any_of(axes.begin(), axes.end(), [&](int a) { return d >= l.parts[size_t(a)].first && d < l.parts[size_t(a)].second; });
    if (apart || runs.back().reduced != reduced) {
      runs.emplace_back();
      runs.back().reduced = reduced;
    }
    apart = false;
    runs.back().members.push_back(d);
    runs.back().sizes.push_back(l.loops[d]);
  }
  return runs;
}

// Loops over the runs, outermost first.
void over(CodeEmitter& e, std::span<const Run> runs, Index& index, bool vectorize, const std::function<void()>& body, bool shared = false) {
  if (runs.empty()) return body();
  V all = e.dim(runs[0].size());
  const auto [begin, end] = shared ? e.share(all, vectorize && runs.size() == 1 ? 16 : 1) : std::pair<V, V>(e.i64(0), all);
  e.loop(begin, end, e.i64(1), {}, vectorize && runs.size() == 1, [&](V i, const std::vector<V>&) {
    if (shared && e.part()) e.impl().frame.facts[i].bound = all;
    runs[0].set(e, i, index);
    over(e, runs.subspan(1), index, vectorize, body);
    return std::vector<V>();
  });
}

// The same with values passed on.
std::vector<V> fold(CodeEmitter& e, std::span<const Run> runs, Index& index, std::vector<V> values,
                    const std::function<std::vector<V>(const std::vector<V>&)>& body) {
  if (runs.empty()) return body(values);
  return e.loop(e.i64(0), e.dim(runs[0].size()), e.i64(1), std::move(values), runs.size() == 1, [&](V i, const std::vector<V>& v) {
    runs[0].set(e, i, index);
    return fold(e, runs.subspan(1), index, v, body);
  });
}

// The result's index.
Index kept(const Index& index, const std::vector<int>& axes) {
  Index out;
  for (size_t d = 0; d < index.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), int(d)) == axes.end()) out.push_back(index[d]);
  }
  return out;
}

}  // namespace

core::Status CodeEmitter::emit_reduce(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = i->type.dtype;
  const Layout shape = layout(std::span(&x, 1));
  const std::vector<Run> runs = runs_of(shape, i->axes);
  Index index(shape.loops.size(), i64(0));  // by loop
  const auto value = [&] { return element(x, shape.index(*this, index)); };
  const auto place = [&] { return offset(i->type, kept(shape.index(*this, index), i->axes)); };
  V out = pointer(i);
  std::vector<Run> reduced, rest;
  for (const Run& r : runs) (r.reduced ? reduced : rest).push_back(r);
  // What cannot be shared is the first part's.
  const auto alone = [&](bool one, const std::function<void()>& code) {
    if (one && part()) when(b.CreateIsNull(part()), code);
    else code();
  };
  const bool narrow = t == core::DType::kHalf || t == core::DType::kBfloat16;
  if (runs.empty() || runs.back().reduced || reduced.empty() || narrow) {
    alone(rest.empty(), [&] {
      over(
          *this, rest, index, reduced.empty(),
          [&] {
            const std::vector<V> sum = fold(*this, reduced, index, {identity(i->reduce, t)},
                                            [&](const std::vector<V>& v) { return std::vector<V>{combine(i->reduce, t, v[0], value())}; });
            store(t, sum[0], out, place());
          },
          true);
    });
    return impl_->status;
  }

  const std::vector<Run> inner{rest.back()};
  rest.pop_back();
  // A few columns: a sum for each, all in registers.
  if (inner[0].size().is_const() && inner[0].size().value() <= 4) {
    const int64_t columns = inner[0].size().value();
    const auto row = [&] {
      const std::vector<V> sums = fold(*this, reduced, index, std::vector<V>(size_t(columns), identity(i->reduce, t)), [&](const std::vector<V>& v) {
        std::vector<V> next;
        for (int64_t c = 0; c < columns; ++c) {
          inner[0].set(*this, i64(c), index);
          next.push_back(combine(i->reduce, t, v[size_t(c)], value()));
        }
        return next;
      });
      for (int64_t c = 0; c < columns; ++c) {
        inner[0].set(*this, i64(c), index);
        store(t, sums[size_t(c)], out, place());
      }
    };
    alone(rest.empty(), [&] { over(*this, rest, index, false, row, true); });
    return impl_->status;
  }
  // Parts take rows of the result, or columns of the one row that there is.
  const bool columns = rest.empty();
  const auto all_rows = [&] {
    over(*this, inner, index, true, [&] { store(t, identity(i->reduce, t), out, place()); }, columns);
    const Run last = reduced.back();
    over(*this, std::span(reduced).first(reduced.size() - 1), index, false, [&] {
      const auto rows = [&](V begin, V end, int64_t step) {
        loop(begin, end, i64(step), {}, false, [&](V r, const std::vector<V>&) {
          const auto one = [&] {
            V to = place();
            V sum = nullptr;
            for (int64_t k = 0; k < step; ++k) {
              last.set(*this, add(r, i64(k)), index);
              V v = value();
              sum = sum ? combine(i->reduce, t, sum, v) : v;
            }
            store(t, combine(i->reduce, t, load(t, out, to), sum), out, to);
          };
          over(*this, inner, index, true, one, columns);
          return std::vector<V>();
        });
      };
      V n = dim(last.size());
      V whole = mul(div(n, i64(4)), i64(4));
      rows(i64(0), whole, 4);
      rows(whole, n, 1);
    });
  };
  over(*this, rest, index, false, all_rows, true);
  return impl_->status;
}

core::Status CodeEmitter::emit_arg_reduce(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType from = x->type.dtype;
  const size_t axis = size_t(i->axes[0]);
  std::vector<ir::Dim> others = x->type.dims;
  others[axis] = 1;
  std::vector<bool> keep(others.size(), true);
  const bool max = i->reduce == ir::Reduce::kMax;
  V out = pointer(i);
  nest(others, keep, false, [&](const Index& at) {
    Index index = at;
    // A NaN wins: the first one, as it never compares greater.
    index[axis] = i64(0);
    V first = element(x, index);
    const std::vector<V> best = loop(i64(1), dim(x->dim(int(axis))), i64(1), {first, i64(0)}, false, [&](V k, const std::vector<V>& v) {
      Index here = at;
      here[axis] = k;
      V y = element(x, here);
      V better = nullptr;
      if (y->getType()->isFloatingPointTy()) {
        better = max ? b.CreateFCmpOGT(y, v[0]) : b.CreateFCmpOLT(y, v[0]);
      } else {
        const bool is_unsigned = from == core::DType::kBool || from == core::DType::kUint8 || from == core::DType::kUint16 ||
                                 from == core::DType::kUint32 || from == core::DType::kUint64;
        better =
            is_unsigned ? (max ? b.CreateICmpUGT(y, v[0]) : b.CreateICmpULT(y, v[0])) : (max ? b.CreateICmpSGT(y, v[0]) : b.CreateICmpSLT(y, v[0]));
      }
      return std::vector<V>{b.CreateSelect(better, y, v[0]), b.CreateSelect(better, k, v[1])};
    });
    store(i->type.dtype, convert(best[1], core::DType::kInt64, i->type.dtype), out, offset(i->type, kept(at, i->axes)));
  });
  return impl_->status;
}

}  // namespace weft_engine::compiler
