// Where order matters: scans, sorts, scatters, updates in place.
#include "compiler/llvm/emitter_impl.h"

namespace weft::compiler {

core::Status Emitter::emit_scan(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = i->type.dtype;
  const size_t axis = size_t(i->axes[0]);
  V out = pointer(i), n = dim(x->dim(int(axis)));
  std::vector<ir::Dim> others = x->type.dims;
  others[axis] = 1;
  // One line after the other; the sum stays in a register.
  nest(others, std::vector<bool>(others.size(), true), false, [&](const Index& at) {
    loop(i64(0), n, i64(1), {identity(i->reduce, t)}, false, [&](V k, const std::vector<V>& v) {
      Index index = at;
      index[axis] = i->reverse ? sub(sub(n, i64(1)), k) : k;
      V place = offset(i->type, index);
      V sum = combine(i->reduce, t, v[0], element(x, index));
      store(t, i->exclusive ? v[0] : sum, out, place);
      return std::vector<V>{sum};
    });
  });
  return impl_->status;
}

core::Status Emitter::emit_sort(const ir::Instr* i) { return core::unimplemented("code for ", ir::name_of(i->op)); }

core::Status Emitter::emit_scatter(const ir::Instr* i) {
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

core::Status Emitter::emit_dynamic_update(const ir::Instr* i) {
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
  nest(update->type.dims, keep, true, [&](const Index& at) {
    Index index = at;
    for (size_t d = 0; d < index.size(); ++d) index[d] = add(starts[d], at[d]);
    store(t, element(update, at), out, offset(i->type, index));
  });
  return impl_->status;
}

}  // namespace weft::compiler
