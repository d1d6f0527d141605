// Loops: their form, over how many dimensions they run, and the steps that are nothing but loops.
#include <llvm/IR/Metadata.h>

#include <set>

#include "compiler/llvm/code_emitter_impl.h"
#include "compiler/llvm/gemm_kernel.h"

namespace weft_engine::compiler {

std::vector<CodeEmitter::V> CodeEmitter::loop(V begin, V end, V step, std::vector<V> carried, bool vectorize,
                                              const std::function<std::vector<V>(V, const std::vector<V>&)>& body) {
  Impl::Frame& f = impl_->frame;
  const auto *first = llvm::dyn_cast<llvm::ConstantInt>(begin), *last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first && last && first->getSExtValue() >= last->getSExtValue()) return carried;
  const auto* stride = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (first && last && stride && first->getSExtValue() + stride->getSExtValue() >= last->getSExtValue()) return body(begin, carried);  // once

  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* inside = llvm::BasicBlock::Create(context, "loop", function);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(context, "end", function);
  llvm::Instruction* entry =
      first && last ? static_cast<llvm::Instruction*>(b.CreateBr(inside)) : b.CreateCondBr(b.CreateICmpSLT(begin, end), inside, behind);
  b.SetInsertPoint(inside);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  std::vector<llvm::PHINode*> phis;
  std::vector<V> values;
  for (V c : carried) {
    phis.push_back(b.CreatePHI(c->getType(), 2));
    phis.back()->addIncoming(c, before);
    values.push_back(phis.back());
  }
  push_scope(f, entry, false);
  f.depth[i] = f.level;
  if (first && first->isZero() && stride && stride->isOne()) f.facts[i].bound = end;
  for (V v : values) f.depth[v] = f.level;
  llvm::MDNode* group = f.access_group;
  f.access_group = vectorize && carried.empty() ? llvm::MDNode::getDistinct(context, {}) : nullptr;
  std::vector<V> next = body(i, values);
  llvm::MDNode* own = f.access_group;
  f.access_group = group;
  pop_scope(f);

  llvm::BasicBlock* latch = b.GetInsertBlock();
  V following = b.CreateNSWAdd(i, step);
  i->addIncoming(following, latch);
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], latch);
  llvm::Instruction* back = b.CreateCondBr(b.CreateICmpSLT(following, end), inside, behind);
  llvm::SmallVector<llvm::Metadata*, 4> notes{nullptr};
  notes.push_back(llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.mustprogress")}));
  if (own) notes.push_back(llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), own}));
  const auto note = [&](const char* name, llvm::Constant* value) {
    llvm::SmallVector<llvm::Metadata*, 2> pair{llvm::MDString::get(context, name)};
    if (value) pair.push_back(llvm::ConstantAsMetadata::get(value));
    notes.push_back(llvm::MDNode::get(context, pair));
  };
  if (!vectorize) {
    note("llvm.loop.vectorize.enable", b.getFalse());
    const bool few = first && last && last->getSExtValue() - first->getSExtValue() <= 8;
    if (!few && carried.empty()) note("llvm.loop.unroll.disable", nullptr);  // rows: more code, but no less work
  } else if (first && last && stride && stride->isOne()) {
    const int64_t turns = last->getSExtValue() - first->getSExtValue(), lanes = target.lanes(4);
    if (turns < 4 * lanes && turns % lanes != 0 && latch == inside && inside->size() > 200) {
      note("llvm.loop.vectorize.enable", b.getFalse());  // masks of so long a body: LLVM takes minutes to move what they guard
    } else if (target.vector_bytes == 64 && (turns == lanes / 2 || turns == lanes / 4)) {
      note("llvm.loop.vectorize.enable", b.getTrue());
      note("llvm.loop.vectorize.width", b.getInt32(uint32_t(turns)));
      note("llvm.loop.interleave.count", b.getInt32(1));
      note("llvm.loop.unroll.disable", nullptr);
    } else if (target.vector_bytes == 64 && turns > 4 && turns < 4 * lanes && turns % lanes != 0) {
      // Rows that are not whole vectors: masks, which cost little here, rather than one element after the other.
      note("llvm.loop.vectorize.enable", b.getTrue());
      note("llvm.loop.vectorize.predicate.enable", b.getTrue());
      note("llvm.loop.vectorize.width", b.getInt32(uint32_t(turns < lanes / 2 ? lanes / 2 : lanes)));
      note("llvm.loop.interleave.count", b.getInt32(1));
      note("llvm.loop.unroll.disable", nullptr);
    } else if (turns > 8 * lanes) {
      note("llvm.loop.unroll.disable", nullptr);  // the vectoriser takes several vectors at a time already
    }
  }
  if (vectorize && carried.empty() && latch == inside && inside->size() > 200) {
    // A long chain waits for itself: several at a time, as far as registers go. LLVM would only do so for short ones.
    int memory = 0;
    for (const llvm::Instruction& x : *inside) memory += x.mayReadOrWriteMemory();
    if (memory <= 12) note("llvm.loop.interleave.count", b.getInt32(memory <= 6 ? 4 : 2));
  }
  llvm::MDNode* id = llvm::MDNode::getDistinct(context, notes);
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);

  b.SetInsertPoint(behind);
  std::vector<V> results;
  for (size_t k = 0; k < carried.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(carried[k]->getType(), 2);
    if (!(first && last)) phi->addIncoming(carried[k], before);
    phi->addIncoming(next[k], latch);
    f.depth[phi] = f.level;
    results.push_back(phi);
  }
  return results;
}

void CodeEmitter::loop(V end, bool vectorize, const std::function<void(V)>& body) {
  loop(i64(0), end, i64(1), {}, vectorize, [&](V i, const std::vector<V>&) {
    body(i);
    return std::vector<V>();
  });
}

void CodeEmitter::when(V condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  Impl::Frame& f = impl_->frame;
  llvm::BasicBlock* yes = llvm::BasicBlock::Create(context, "then", function);
  llvm::BasicBlock* no = otherwise ? llvm::BasicBlock::Create(context, "else", function) : nullptr;
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(context, "end", function);
  llvm::Instruction* entry = b.CreateCondBr(condition, yes, no ? no : behind);
  const auto branch = [&](llvm::BasicBlock* block, const std::function<void()>& body) {
    b.SetInsertPoint(block);
    push_scope(f, entry, true);
    body();
    pop_scope(f);
    b.CreateBr(behind);
  };
  branch(yes, then);
  if (no) branch(no, otherwise);
  b.SetInsertPoint(behind);
}

void CodeEmitter::nest(std::span<const ir::Dim> dims, const std::vector<bool>& keep, bool vectorize, const std::function<void(const Index&)>& body) {
  // Runs of dimensions, each one loop.
  struct Run {
    std::vector<size_t> members;
    ir::Dim size = 1;
  };
  std::vector<Run> runs;
  bool apart = true;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (k > 0 && k - 1 < keep.size() && keep[k - 1]) apart = true;
    if (dims[k].is(1)) continue;
    if (apart) runs.emplace_back();
    apart = false;
    runs.back().members.push_back(k);
    runs.back().size = runs.back().size * dims[k];
  }
  Index index(dims.size(), i64(0));
  const std::function<void(size_t)> down = [&](size_t r) {
    if (r == runs.size()) return body(index);
    V all = dim(runs[r].size);
    const auto [begin, end] = r == 0 ? share(all, runs.size() == 1 ? 64 : 1) : std::pair<V, V>(i64(0), all);
    loop(begin, end, i64(1), {}, vectorize && r + 1 == runs.size(), [&](V i, const std::vector<V>&) {
      if (part() && r == 0) impl_->frame.facts[i].bound = all;
      std::vector<ir::Dim> sizes;
      for (size_t k : runs[r].members) sizes.push_back(dims[k]);
      const Index at = places(i, sizes);
      for (size_t k = 0; k < sizes.size(); ++k) index[runs[r].members[k]] = at[k];
      down(r + 1);
      return std::vector<V>();
    });
  };
  down(0);
}

namespace {

// Which dimensions of the loops the dimensions of a value run along.
struct Along {
  int low = -1, high = -1;  // -1: none; -2: the value's dimension before this one stands for both
  auto operator<=>(const Along&) const = default;
};
using Map = std::vector<Along>;

struct Needs {
  CodeEmitter& e;
  std::span<const ir::Dim> dims;  // of the loops
  std::vector<bool>& keep;
  std::set<std::pair<const ir::Instr*, Map>> seen;
  int split = -1;  // a loop that had better be several
  std::vector<ir::Dim> into;

  void separate(const Along& a) {
    if (a.low < 0) return;
    if (a.low > 0) keep[size_t(a.low) - 1] = true;
    if (a.high + 1 < int(dims.size())) keep[size_t(a.high)] = true;
  }
  // A value that is in memory: dimensions can run as one if they follow one another there.
  void leaf(const ir::Instr* i, const Map& at) {
    const auto holder = [&](int p) {
      for (size_t d = 0; d < at.size(); ++d) {
        if (at[d].low >= 0 && at[d].low <= p && p <= at[d].high) return int(d);
      }
      return -1;
    };
    int p = -1;
    for (int q = 0; q < int(dims.size()); ++q) {
      if (dims[size_t(q)].is(1)) continue;
      if (p >= 0) {
        const int dp = holder(p), dq = holder(q);
        bool together = dp == dq;
        if (!together && dp >= 0 && dq > dp) {
          together = true;
          for (int d = dp + 1; d < dq; ++d) together = together && (i->dim(d).is(1) || at[size_t(d)].low == -2);
        }
        if (!together) keep[size_t(q) - 1] = true;
      }
      p = q;
    }
  }

  // Computed of stored values of its own shape alone: any order of its dimensions will do.
  bool plain(const ir::Instr* i, int depth) {
    if (depth > 50) return false;
    if (e.plan.buffer_of(i) >= 0 && !e.impl().current.count(i)) return true;
    if (i->op == ir::Op::kReshape) return plain(i->operands[0], depth + 1);
    if (i->op == ir::Op::kBroadcast) return i->operand(0).type.elements().is(1) && plain(i->operands[0], depth + 1);
    if (i->op == ir::Op::kConstant) return true;
    if (!ir::is_elementwise(i->op)) return false;
    for (const ir::Instr* o : i->operands) {
      if (!plain(o, depth + 1)) return false;
    }
    return true;
  }

  void reshape(const ir::Instr* i, const Map& at) {
    const ir::Instr* x = i->operands[0];
    Map to(size_t(x->rank()));
    for (const Group& g : reshape_groups(i->type.dims, x->type.dims)) {
      if (g.to_begin == g.to_end || g.from_begin == g.from_end) continue;
      // The loops that the group runs along, if they are consecutive.
      Along a;
      bool whole = true;
      for (size_t d = g.from_begin; d < g.from_end; ++d) {
        if (i->dim(int(d)).is(1) || at[d].low == -2) continue;
        if (at[d].low < 0 || (a.low >= 0 && at[d].low != a.high + 1)) whole = false;
        if (a.low < 0) a.low = at[d].low;
        a.high = at[d].high;
      }
      if (!whole || a.low < 0) continue;
      // Dimension by dimension, where the sizes match.
      Map matched(g.to_end - g.to_begin);
      int p = a.low;
      bool fits = true;
      for (size_t d = g.to_begin; d < g.to_end && fits; ++d) {
        if (x->dim(int(d)).is(1)) continue;
        Along& m = matched[d - g.to_begin];
        m = {p, p};
        ir::Dim size = 1;
        while (p <= a.high) {
          size = size * dims[size_t(p)];
          m.high = p++;
          if (size == x->dim(int(d))) break;
        }
        fits = size == x->dim(int(d));
      }
      if (fits && p > a.high) {
        std::copy(matched.begin(), matched.end(), to.begin() + int64_t(g.to_begin));
        continue;
      }
      if (a.low == a.high && split < 0 && !plain(x, 0)) {
        split = a.low;
        into.clear();
        for (size_t d = g.to_begin; d < g.to_end; ++d) {
          if (!x->dim(int(d)).is(1)) into.push_back(x->dim(int(d)));
        }
      }
      size_t d = g.to_begin;
      while (d + 1 < g.to_end && x->dim(int(d)).is(1)) ++d;
      to[d] = a;
      for (++d; d < g.to_end; ++d) to[d] = {-2, -2};
    }
    visit(x, to);
  }

  void visit(const ir::Instr* i, const Map& at) {
    if (!seen.insert({i, at}).second) return;
    const auto& current = e.impl().current;
    if (e.plan.buffer_of(i) >= 0 && !current.count(i)) return leaf(i, at);
    using Op = ir::Op;
    const size_t rank = size_t(i->rank());
    switch (i->op) {
      case Op::kUnary:
      case Op::kBinary:
      case Op::kCompare:
      case Op::kSelect:
      case Op::kConvert:
      case Op::kBitcast:
        for (const ir::Instr* o : i->operands) visit(o, at);
        return;
      case Op::kBroadcast: {
        const ir::Instr* x = i->operands[0];
        Map to(size_t(x->rank()));
        for (size_t d = 0; d < to.size(); ++d) {
          if (!x->dim(int(d)).is(1)) to[d] = at[size_t(i->axes[d])];
        }
        return visit(x, to);
      }
      case Op::kTranspose: {
        Map to(rank);
        for (size_t d = 0; d < rank; ++d) to[size_t(i->axes[d])] = at[d];
        return visit(i->operands[0], to);
      }
      case Op::kReshape: return reshape(i, at);
      case Op::kSlice:
      case Op::kDynamicSlice:
      case Op::kPad:
      case Op::kReverse:
      case Op::kConcat: {
        Map to(rank);
        for (size_t d = 0; d < rank; ++d) {
          bool same = i->dim(int(d)) == i->operand(0).dim(int(d));
          if (i->op == Op::kReverse) same = std::find(i->axes.begin(), i->axes.end(), int(d)) == i->axes.end();
          if (i->op == Op::kConcat) same = int(d) != i->axes[0];
          if (i->op == Op::kPad) same = same && i->low[d].is(0);
          if (same) to[d] = at[d];
          else separate(at[d]);
        }
        if (i->op == Op::kConcat) {
          for (const ir::Instr* o : i->operands) visit(o, to);
        } else {
          visit(i->operands[0], to);
        }
        return;
      }
      case Op::kIota: return separate(at[size_t(i->axes[0])]);
      case Op::kGather: {
        const ir::Instr *x = i->operands[0], *n = i->operands[1];
        const size_t axis = size_t(i->axes[0]), batch = size_t(i->batch), extra = size_t(n->rank()) - batch;
        Map to(size_t(x->rank())), of(size_t(n -> rank()));
        for (size_t d = 0; d < axis; ++d) to[d] = at[d];
        for (size_t d = axis + 1; d < to.size(); ++d) to[d] = at[d + extra - 1];
        for (size_t d = 0; d < of.size(); ++d) of[d] = d < batch ? at[d] : at[axis + d - batch];
        visit(x, to);
        return visit(n, of);
      }
      default: return leaf(i, at);
    }
  }
};

}  // namespace

void CodeEmitter::boundaries(const ir::Instr* i, std::vector<bool>& keep) {
  keep.resize(i->type.dims.empty() ? 0 : i->type.dims.size() - 1, false);
  Map at(i->type.dims.size());
  for (size_t d = 0; d < at.size(); ++d) at[d] = {int(d), int(d)};
  Needs{*this, i->type.dims, keep, {}, -1, {}}.visit(i, at);
}

CodeEmitter::Layout CodeEmitter::layout(std::span<const ir::Instr* const> values) {
  Layout l;
  l.loops = values[0]->type.dims;  // at first one for each dimension
  for (size_t d = 0; d < l.loops.size(); ++d) l.parts.emplace_back(d, d + 1);
  for (int round = 0; round < 8; ++round) {
    l.keep.assign(l.loops.empty() ? 0 : l.loops.size() - 1, false);
    Map at;
    for (const auto& [begin, end] : l.parts) at.push_back({int(begin), int(end) - 1});
    Needs needs{*this, l.loops, l.keep, {}, -1, {}};
    for (const ir::Instr* i : values) needs.visit(i, at);
    if (needs.split < 0) break;
    const size_t p = size_t(needs.split), more = needs.into.size() - 1;
    l.loops.erase(l.loops.begin() + int64_t(p));
    l.loops.insert(l.loops.begin() + int64_t(p), needs.into.begin(), needs.into.end());
    for (auto& [begin, end] : l.parts) {
      if (begin > p) begin += more;
      if (end > p) end += more;
    }
  }
  return l;
}

CodeEmitter::Index CodeEmitter::Layout::index(CodeEmitter& e, const Index& at) const {
  Index index;
  for (const auto& [begin, end] : parts) {
    index.push_back(end - begin == 1 ? at[begin] : e.linear(std::span(loops).subspan(begin, end - begin), std::span(at).subspan(begin, end - begin)));
  }
  return index;
}

void CodeEmitter::nest_for(std::span<const ir::Instr* const> values, const std::function<void(const Index&)>& body) {
  const Layout l = layout(values);
  nest(l.loops, l.keep, true, [&](const Index& at) { body(l.index(*this, at)); });
}

namespace {

// Stores the parts of a concatenation, each in loops of its own.
void store_parts(CodeEmitter& e, const ir::Instr* i, llvm::Value* pointer) {
  const size_t axis = size_t(i->axes[0]);
  ir::Dim start = 0;
  for (const ir::Instr* part : i->operands) {
    const auto& dims = part->type.dims;
    std::vector<bool> keep;
    e.boundaries(part, keep);
    bool leading = true;
    for (size_t d = 0; d < axis; ++d) leading = leading && dims[d].is(1);
    const ir::Dim inner = ir::product(std::span(dims).subspan(axis + 1));
    if (leading && e.plan.buffer_of(part) >= 0 && !e.impl().current.count(part)) {
      llvm::Type* t = e.type(i->type.dtype);
      const llvm::Align align(core::dtype_size(i->type.dtype));
      e.b.CreateMemCpy(e.b.CreateInBoundsGEP(t, pointer, e.dim(start * inner)), align, e.pointer(part), align,
                       e.dim(part->type.elements() * ir::Dim(int64_t(core::dtype_size(i->type.dtype)))));
    } else {
      if (!leading && axis > 0) keep[axis - 1] = true;
      e.nest(dims, keep, true, [&](const CodeEmitter::Index& index) {
        llvm::Value* v = e.element(part, index);
        llvm::Value* place = nullptr;
        if (leading) {
          place = e.add(e.linear(dims, index), e.dim(start * inner));
        } else {
          // Rows of the parts behind the axis stay whole.
          llvm::Value* row = e.linear(std::span(dims).first(axis), std::span(index).first(axis));
          llvm::Value* within = e.linear(std::span(dims).subspan(axis), std::span(index).subspan(axis));
          place = e.add(e.add(e.mul(row, e.dim(i->dim(int(axis)) * inner)), e.dim(start * inner)), within);
        }
        e.store(i->type.dtype, v, pointer, place);
      });
    }
    start = start + part->dim(int(axis));
  }
}

}  // namespace

void CodeEmitter::materialize(const ir::Instr* i, V pointer) {
  const bool stored = plan.buffer_of(i) >= 0 && !impl_->current.count(i);
  if (stored) {
    const llvm::Align align(core::dtype_size(i->type.dtype));
    b.CreateMemMove(pointer, align, this->pointer(i), align, dim(i->type.elements() * ir::Dim(int64_t(core::dtype_size(i->type.dtype)))));
    return;
  }
  if (i->op == ir::Op::kConcat) return store_parts(*this, i, pointer);
  nest_for(std::span(&i, 1), [&](const Index& index) { store(i->type.dtype, element(i, index), pointer, offset(i->type, index)); });
}

namespace {

// A transposition of stored floats (or whatever has their size) that moves the innermost dimension: tiles in registers instead of
// elements one by one. False: nothing was written.
bool transpose_in_tiles(CodeEmitter& e, const ir::Instr* i) {
  if (i->op != ir::Op::kTranspose) return false;
  const ir::Instr* x = i->operands[0];
  if (core::dtype_size(i->type.dtype) != 4 || e.plan.buffer_of(x) < 0 || e.impl().current.count(x)) return false;
  if (e.plan.buffer_of(x) == e.plan.buffer_of(i)) return false;
  // Runs of dimensions that stay together, in the result's order; `at`: where a run begins in the operand.
  struct Run {
    int at = 0;
    ir::Dim size = 1, from_stride = 1, to_stride = 1;
  };
  std::vector<Run> runs;
  int last = -2;
  for (int axis : i->axes) {
    if (x->dim(axis).is(1)) continue;
    bool follows = axis > last && last >= 0;
    for (int d = last + 1; follows && d < axis; ++d) follows = x->dim(d).is(1);
    if (!follows) runs.push_back({axis, 1, 1, 1});
    runs.back().size = runs.back().size * x->dim(axis);
    runs.back().from_stride = ir::product(std::span(x->type.dims).subspan(size_t(axis) + 1));
    last = axis;
  }
  if (runs.size() < 2) return false;
  for (size_t k = runs.size() - 1; k-- > 0;) runs[k].to_stride = runs[k + 1].to_stride * runs[k + 1].size;
  size_t inner = 0;  // the run that is contiguous in the operand
  for (size_t k = 0; k < runs.size(); ++k) {
    if (runs[k].at > runs[inner].at) inner = k;
  }
  const Run columns = runs[inner], rows = runs.back();
  const auto worth = [](const ir::Dim& d) { return !d.is_const() || d.value() >= 8; };
  if (inner == runs.size() - 1 || !worth(rows.size) || !worth(columns.size)) return false;
  std::vector<ir::Dim> others;
  std::vector<Run> outer;
  for (size_t k = 0; k + 1 < runs.size(); ++k) {
    if (k == inner) continue;
    others.push_back(runs[k].size);
    outer.push_back(runs[k]);
  }
  llvm::Type* t = e.b.getFloatTy();
  llvm::Value *from = e.pointer(x), *to = e.pointer(i);
  e.nest(others, std::vector<bool>(others.size(), true), false, [&](const CodeEmitter::Index& index) {
    llvm::Value *read = e.i64(0), *write = e.i64(0);
    for (size_t k = 0; k < outer.size(); ++k) {
      read = e.add(read, e.mul(index[k], e.dim(outer[k].from_stride)));
      write = e.add(write, e.mul(index[k], e.dim(outer[k].to_stride)));
    }
    emit_transpose(e.b, e.target, t, e.b.CreateInBoundsGEP(t, from, read), e.dim(rows.from_stride), e.b.CreateInBoundsGEP(t, to, write),
                   e.dim(columns.to_stride), e.dim(rows.size), e.dim(columns.size));
  });
  return true;
}

}  // namespace

core::Status CodeEmitter::emit_copy(const Step& s) {
  const int from = s.copy_from_buffer >= 0 ? s.copy_from_buffer : plan.buffer_of(s.copy_from);
  if (from == s.copy_to) return {};
  if (from >= 0) {
    const llvm::Align align(core::dtype_size(s.copy_from->type.dtype));
    V bytes = dim(s.copy_from->type.elements() * ir::Dim(int64_t(core::dtype_size(s.copy_from->type.dtype))));
    b.CreateMemMove(pointer(s.copy_to), align, pointer(from), align, bytes);
    return impl_->status;
  }
  materialize(s.copy_from, pointer(s.copy_to));
  return impl_->status;
}

core::Status CodeEmitter::emit_loop(const Step& s) {
  std::vector<const ir::Instr*> stored;
  for (const ir::Instr* i : s.instrs) {
    if (plan.buffer_of(i) < 0) continue;
    stored.push_back(i);
    impl_->current.insert(i);
  }
  if (stored.empty()) return {};
  if (stored.size() == 1 && stored[0]->op == ir::Op::kConcat) {
    store_parts(*this, stored[0], pointer(stored[0]));
    return impl_->status;
  }
  if (stored.size() == 1 && transpose_in_tiles(*this, stored[0])) return impl_->status;
  for (const ir::Instr* i : stored) {
    if (i->type.dims.size() != stored[0]->type.dims.size()) return core::internal_error("values of different sizes in one loop");
  }
  nest_for(stored, [&](const Index& index) {
    // In the step's order, so that long chains are no deep recursions; all before the first store: a result may take the place of an operand.
    for (const ir::Instr* i : s.instrs) {
      if (i->type.dims == stored[0]->type.dims) element(i, index);
    }
    std::vector<V> values;
    for (const ir::Instr* i : stored) values.push_back(element(i, index));
    for (size_t k = 0; k < stored.size(); ++k) store(stored[k]->type.dtype, values[k], pointer(stored[k]), offset(stored[k]->type, index));
  });
  return impl_->status;
}

}  // namespace weft_engine::compiler
