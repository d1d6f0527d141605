// Where order matters: scans, sorts, scatters, updates in place.
#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {

core::Status CodeEmitter::emit_scan(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = i->type.dtype;
  const size_t axis = size_t(i->axes[0]);
  V out = pointer(i), n = dim(x->dim(int(axis)));
  const auto place_of = [&](V k) { return i->reverse ? sub(sub(n, i64(1)), k) : k; };
  const std::span<const ir::Dim> dims(x->type.dims), inner = dims.subspan(axis + 1);
  const bool narrow = t == core::DType::kHalf || t == core::DType::kBfloat16;
  if (!ir::product(inner).is(1) && !narrow && plan.buffer_of(x) != plan.buffer_of(i)) {
    // Rows at a time: each is the one before it and one of the operand.
    std::vector<bool> all, keep;
    boundaries(x, all);
    for (size_t d = axis + 1; d + 1 < dims.size(); ++d) keep.push_back(all[d]);
    nest(dims.first(axis), std::vector<bool>(axis, true), false, [&](const Index& outer) {
      const auto row = [&](V k, V before) {
        nest(inner, keep, true, [&](const Index& at) {
          const auto index = [&](V p) {
            Index r = outer;
            r.push_back(p);
            r.insert(r.end(), at.begin(), at.end());
            return r;
          };
          V v = nullptr;
          if (!before) v = i->exclusive ? identity(i->reduce, t) : element(x, index(place_of(k)));
          else
            v = combine(i->reduce, t, load(t, out, offset(i->type, index(place_of(before)))), element(x, index(place_of(i->exclusive ? before : k))));
          store(t, v, out, offset(i->type, index(place_of(k))));
        });
      };
      when(b.CreateICmpSGT(n, i64(0)), [&] { row(i64(0), nullptr); });
      loop(i64(1), n, i64(1), {}, false, [&](V k, const std::vector<V>&) {
        row(k, sub(k, i64(1)));
        return std::vector<V>();
      });
    });
    return impl_->status;
  }
  std::vector<ir::Dim> others = x->type.dims;
  others[axis] = 1;
  // One line after the other; the sum stays in a register.
  nest(others, std::vector<bool>(others.size(), true), false, [&](const Index& at) {
    loop(i64(0), n, i64(1), {identity(i->reduce, t)}, false, [&](V k, const std::vector<V>& v) {
      Index index = at;
      index[axis] = place_of(k);
      V place = offset(i->type, index);
      V sum = combine(i->reduce, t, v[0], element(x, index));
      store(t, i->exclusive ? v[0] : sum, out, place);
      return std::vector<V>{sum};
    });
  });
  return impl_->status;
}

std::vector<llvm::Value*> repeat(CodeEmitter& e, std::vector<llvm::Value*> values,
                                 const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& condition,
                                 const std::function<std::vector<llvm::Value*>(const std::vector<llvm::Value*>&)>& body) {
  using V = llvm::Value*;
  auto& b = e.b;
  CodeEmitter::Impl::Frame& f = e.impl().frame;
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* test = llvm::BasicBlock::Create(e.context, "while", e.function);
  llvm::BasicBlock* inside = llvm::BasicBlock::Create(e.context, "body", e.function);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(e.context, "end", e.function);
  b.CreateBr(test);
  b.SetInsertPoint(test);
  std::vector<llvm::PHINode*> phis;
  std::vector<V> now;
  for (V v : values) {
    phis.push_back(b.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
    now.push_back(phis.back());
  }
  push_scope(f, nullptr, true);
  b.CreateCondBr(condition(now), inside, behind);
  b.SetInsertPoint(inside);
  const std::vector<V> next = body(now);
  pop_scope(f);
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], b.GetInsertBlock());
  b.CreateBr(test);
  b.SetInsertPoint(behind);
  return now;
}

// Heapsort: in place, and no input makes it slow. Where places are asked for, they are what is sorted, by value and then by place, which
// makes the order the stable one; else the values themselves.
core::Status CodeEmitter::emit_sort(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = x->type.dtype;
  const auto found = plan.results.find(i);
  if (found == plan.results.end() || found->second.size() != 2) return core::internal_error("a sort without memory for its results");
  const int to_values = found->second[0], to_places = found->second[1];
  if (to_values < 0 && to_places < 0) return {};
  V from = pointer(x), values = to_values >= 0 ? pointer(to_values) : nullptr, places = to_places >= 0 ? pointer(to_places) : nullptr;
  const ir::Type place_type = i->results[1];
  if (x->rank() == 0) return core::internal_error("a sort of a scalar");
  V n = dim(x->type.dims.back());
  const ir::Dim rows = ir::product(std::span(x->type.dims).first(x->type.dims.size() - 1));
  const core::DType place_dtype = place_type.dtype;
  const bool is_unsigned =
      t == core::DType::kBool || t == core::DType::kUint8 || t == core::DType::kUint16 || t == core::DType::kUint32 || t == core::DType::kUint64;
  const auto less = [&](V a, V c) {
    if (i->reverse) std::swap(a, c);
    return a->getType()->isFloatingPointTy() ? b.CreateFCmpOLT(a, c) : is_unsigned ? b.CreateICmpULT(a, c) : b.CreateICmpSLT(a, c);
  };
  loop(dim(rows), false, [&](V row) {
    V base = b.CreateNSWMul(row, n);
    // What is moved about, and the order of two of them.
    const auto get = [&](V k) { return places ? load(place_dtype, places, b.CreateNSWAdd(base, k)) : load(t, values, b.CreateNSWAdd(base, k)); };
    const auto put = [&](V k, V v) {
      if (places) store(place_dtype, v, places, b.CreateNSWAdd(base, k));
      else store(t, v, values, b.CreateNSWAdd(base, k));
    };
    const auto key = [&](V v) { return places ? load(t, from, b.CreateNSWAdd(base, b.CreateSExt(v, b.getInt64Ty()))) : v; };
    const auto before = [&](V a, V c) {
      V ka = key(a), kc = key(c);
      V first = less(ka, kc);
      return places ? b.CreateOr(first, b.CreateAnd(b.CreateNot(less(kc, ka)), b.CreateICmpSLT(a, c))) : first;
    };
    const auto sift = [&](V root, V end) {
      // root, and whether to go on
      repeat(
          *this, {root, b.getTrue()},
          [&](const std::vector<V>& v) { return b.CreateAnd(v[1], b.CreateICmpSLT(b.CreateAdd(b.CreateShl(v[0], 1), i64(1)), end)); },
          [&](const std::vector<V>& v) {
            V left = b.CreateAdd(b.CreateShl(v[0], 1), i64(1)), right = b.CreateAdd(left, i64(1));
            V exists = b.CreateICmpSLT(right, end);
            V other = b.CreateSelect(exists, right, left);
            V take = b.CreateAnd(exists, before(get(left), get(other)));
            V child = b.CreateSelect(take, right, left);
            V here = get(v[0]), there = get(child);
            V down = before(here, there);
            put(v[0], b.CreateSelect(down, there, here));
            put(child, b.CreateSelect(down, here, there));
            return std::vector<V>{child, down};
          });
    };
    loop(n, true, [&](V k) {
      if (places) store(place_dtype, convert(k, core::DType::kInt64, place_dtype), places, b.CreateNSWAdd(base, k));
      else store(t, load(t, from, b.CreateNSWAdd(base, k)), values, b.CreateNSWAdd(base, k));
    });
    V half = b.CreateLShr(n, 1);
    loop(half, false, [&](V k) { sift(b.CreateSub(b.CreateSub(half, i64(1)), k), n); });
    loop(b.CreateSub(n, i64(1)), false, [&](V k) {
      V end = b.CreateSub(b.CreateSub(n, i64(1)), k);
      V first = get(i64(0)), last = get(end);
      put(i64(0), last);
      put(end, first);
      sift(i64(0), end);
    });
    if (places && values) loop(n, false, [&](V k) { store(t, key(get(k)), values, b.CreateNSWAdd(base, k)); });
  });
  return impl_->status;
}

core::Status CodeEmitter::emit_scatter(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *numbers = i->operands[1], *updates = i->operands[2];
  const core::DType t = i->type.dtype;
  V out = pointer(i);
  if (plan.buffer_of(x) != plan.buffer_of(i)) materialize(x, out);
  const std::span<const ir::Dim> row(i->type.dims.data() + 1, i->type.dims.size() - 1);
  V size = dim(i->dim(0)), row_size = dim(ir::product(row));
  loop(dim(numbers->dim(0)), false, [&](V k) {
    V number = convert(element(numbers, {k}), numbers->type.dtype, core::DType::kInt64);
    V good = b.CreateICmpULT(number, size);
    error_if(b.CreateNot(good), i->message);
    when(good, [&] {
      V start = b.CreateNSWMul(number, row_size);
      std::vector<bool> keep(row.empty() ? 0 : row.size() - 1, false), all;
      boundaries(updates, all);
      for (size_t d = 0; d < keep.size(); ++d) keep[d] = all[d + 1];
      nest(row, keep, true, [&](const Index& at) {
        Index index{k};
        index.insert(index.end(), at.begin(), at.end());
        V place = b.CreateNSWAdd(start, linear(row, at));
        V v = element(updates, index);
        store(t, i->reduce == ir::Reduce::kSet ? v : combine(i->reduce, t, load(t, out, place), v), out, place);
      });
    });
  });
  return impl_->status;
}

core::Status CodeEmitter::emit_dynamic_update(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *update = i->operands[1];
  const core::DType t = i->type.dtype;
  V out = pointer(i);
  if (plan.buffer_of(x) != plan.buffer_of(i)) materialize(x, out);
  Index starts;
  for (int d = 0; d < i->rank(); ++d) {
    if (i->dim(d) == update->dim(d)) starts.push_back(i64(0));
    else starts.push_back(clamp(element(i->operands[size_t(d) + 2], {}), dim(i->dim(d) - update->dim(d) + ir::Dim(1))));
  }
  std::vector<bool> keep;
  boundaries(update, keep);
  for (size_t d = 0; d < starts.size(); ++d) {
    if (i->dim(int(d)) == update->dim(int(d))) continue;
    if (d > 0) keep[d - 1] = true;
    if (d < keep.size()) keep[d] = true;
  }
  const auto write = [&] {
    nest(update->type.dims, keep, true, [&](const Index& at) {
      Index index = at;
      for (size_t d = 0; d < index.size(); ++d) index[d] = add(starts[d], at[d]);
      store(t, element(update, at), out, offset(i->type, index));
    });
  };
  if (V good = fits(update->type, i->type)) when(good, write);
  else write();
  return impl_->status;
}

}  // namespace weft_engine::compiler
