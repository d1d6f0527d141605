// The builder's instructions that move elements: broadcasts, reshapes, slices, pads, gathers, scatters.
#include <algorithm>

#include "ir/builder.h"
#include "ir/known.h"

namespace weft_engine::ir {

using core::invalid_argument;
using namespace known;  // NOLINT: what this file is about

Value Builder::broadcast_in_dim(Value x, std::vector<Dim> dims, std::vector<int> axes) {
  if (!ok({x})) return nullptr;
  if (x->type.dims == dims) return x;
  Instr* i = make(Op::kBroadcast, {x->type.dtype, std::move(dims)}, {x});
  i->axes = std::move(axes);
  i->known = moved(*x, i->type.dims, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(x->type.dims.size());
    for (size_t d = 0; d < from.size(); ++d) from[d] = x->dim(int(d)).is(1) ? 0 : index[size_t(i->axes[d])];
    return from;
  });
  return i;
}

Value Builder::broadcast_to(Value x, std::vector<Dim> dims) {
  if (!ok({x})) return nullptr;
  const int grow = int(dims.size()) - x->rank();
  if (grow < 0) return fail(invalid_argument("cannot broadcast ", x->type.to_string(), " to fewer dimensions at '", node_, "'"));
  std::vector<int> axes;
  for (int d = 0; d < x->rank(); ++d) {
    axes.push_back(d + grow);
    if (!x->dim(d).is(1)) same(x->dim(d), dims[size_t(d + grow)]);
  }
  if (!status_.ok()) return nullptr;
  return broadcast_in_dim(x, std::move(dims), std::move(axes));
}

Value Builder::reshape(Value x, std::vector<Dim> dims) {
  if (!ok({x})) return nullptr;
  if (x->type.dims == dims) return x;
  same(x->type.elements(), product(dims));
  if (!status_.ok()) return nullptr;
  if (x->op == Op::kReshape && x->operand(0).type.dims == dims) return x->operands[0];
  Instr* i = make(Op::kReshape, {x->type.dtype, std::move(dims)}, {x->op == Op::kReshape ? x->operands[0] : x});
  i->known = x->known;
  return i;
}

Value Builder::expand_dims(Value x, int axis) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> dims = x->type.dims;
  dims.insert(dims.begin() + axis, Dim(1));
  return reshape(x, std::move(dims));
}

Value Builder::transpose(Value x, std::vector<int> axes) {
  if (!ok({x})) return nullptr;
  bool same_order = true;
  std::vector<Dim> dims;
  for (size_t d = 0; d < axes.size(); ++d) {
    dims.push_back(x->dim(axes[d]));
    same_order = same_order && axes[d] == int(d);
  }
  if (same_order) return x;
  Instr* i = make(Op::kTranspose, {x->type.dtype, std::move(dims)}, {x});
  i->axes = std::move(axes);
  i->known = moved(*x, i->type.dims, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(index.size());
    for (size_t d = 0; d < index.size(); ++d) from[size_t(i->axes[d])] = index[d];
    return from;
  });
  return i;
}

Value Builder::slice(Value x, std::vector<Dim> starts, std::vector<Dim> sizes, std::vector<int64_t> steps) {
  if (!ok({x})) return nullptr;
  if (steps.empty()) steps.assign(starts.size(), 1);
  bool whole = x->type.dims == sizes;
  for (size_t d = 0; d < starts.size(); ++d) {
    whole = whole && starts[d].is(0) && steps[d] == 1;
    const Dim end = starts[d] + (sizes[d] - Dim(1)) * Dim(steps[d]);  // the last one
    if (end.is_const() && x->dim(int(d)).is_const() && !sizes[d].is(0) &&
        (end.value() >= x->dim(int(d)).value() || (starts[d].is_const() && starts[d].value() < 0)))
      return fail(invalid_argument("slice of '", node_, "' exceeds dimension ", d, " of ", x->type.to_string()));
    if (sizes[d].is_const() && sizes[d].value() < 0) return fail(invalid_argument("slice of '", node_, "' has a negative size"));
  }
  if (whole) return x;
  Instr* i = make(Op::kSlice, {x->type.dtype, std::move(sizes)}, {x});
  i->starts = std::move(starts);
  i->steps = std::move(steps);
  const bool numbers = std::all_of(i->starts.begin(), i->starts.end(), [](const Dim& d) { return d.is_const(); });
  if (numbers) {
    i->known = moved(*x, i->type.dims, [&](std::vector<int64_t> index) {
      for (size_t d = 0; d < index.size(); ++d) index[d] = i->starts[d].value() + index[d] * i->steps[d];
      return index;
    });
  }
  return i;
}

Value Builder::slice_axis(Value x, int axis, Dim start, Dim size) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> starts(size_t(x->rank()), Dim(0)), dims = x -> type.dims;
  starts[size_t(axis)] = std::move(start);
  dims[size_t(axis)] = std::move(size);
  return slice(x, std::move(starts), std::move(dims));
}

Value Builder::pad(Value x, Value value, std::vector<Dim> low, std::vector<Dim> high, std::vector<int64_t> interior) {
  if (!ok({x, value})) return nullptr;
  if (interior.empty()) interior.assign(low.size(), 0);
  bool nothing = true;
  std::vector<Dim> dims;
  for (size_t d = 0; d < low.size(); ++d) {
    const Dim& in = x->dim(int(d));
    const Dim spread = interior[d] == 0 ? in : ir::max(in + (in - Dim(1)) * Dim(interior[d]), Dim(0));
    dims.push_back(low[d] + spread + high[d]);
    nothing = nothing && low[d].is(0) && high[d].is(0) && interior[d] == 0;
    if (dims.back().is_const() && dims.back().value() < 0) return fail(invalid_argument("padding of '", node_, "' leaves a negative size"));
  }
  if (nothing) return x;
  Instr* i = make(Op::kPad, {x->type.dtype, std::move(dims)}, {x, value});
  i->low = std::move(low);
  i->high = std::move(high);
  i->interior = std::move(interior);
  return i;
}

Value Builder::concat(std::vector<Value> parts, int axis) {
  for (Value p : parts) {
    if (!ok({p})) return nullptr;
  }
  if (parts.empty()) return fail(core::internal_error("nothing to concatenate at '", node_, "'"));
  if (parts.size() == 1) return parts[0];
  Type type = parts[0]->type;
  Dim total(0);
  bool known = true;
  for (Value p : parts) {
    if (p->rank() != type.rank()) return fail(invalid_argument("ConcatOp : Ranks of all input tensors should match at '", node_, "'"));
    for (int d = 0; d < type.rank(); ++d) {
      if (d != axis) type.dims[size_t(d)] = same(type.dims[size_t(d)], p->dim(d));
    }
    total = total + p->dim(axis);
    known = known && p->known;
  }
  if (!status_.ok()) return nullptr;
  type.dims[size_t(axis)] = total;
  Instr* i = make(Op::kConcat, std::move(type), parts);
  i->axes = {axis};
  if (known && count(i->type.dims)) {
    std::vector<Dim> v(size_t(*count(i->type.dims)));
    each(i->type.dims, [&](std::vector<int64_t> index, size_t k) {
      for (Value p : parts) {
        const int64_t n = p->dim(axis).value();
        if (index[size_t(axis)] < n) {
          v[k] = (*p->known)[place(p->type.dims, index)];
          return;
        }
        index[size_t(axis)] -= n;
      }
    });
    i->known = std::move(v);
  }
  return i;
}

Value Builder::reverse(Value x, std::vector<int> axes) {
  if (!ok({x})) return nullptr;
  if (axes.empty()) return x;
  Instr* i = make(Op::kReverse, x->type, {x});
  i->axes = std::move(axes);
  i->known = moved(*x, i->type.dims, [&](std::vector<int64_t> index) {
    for (int d : i->axes) index[size_t(d)] = x->dim(d).value() - 1 - index[size_t(d)];
    return index;
  });
  return i;
}

namespace {
// As a row and a list of no rows: no start lets `part` fit. What is computed then is not used: a check has failed before.
bool never_fits(const std::vector<Dim>& part, const Type& whole) {
  for (size_t d = 0; d < part.size(); ++d) {
    const Dim rest = whole.dims[d] - part[d];
    if (rest.is_const() && rest.value() < 0) return true;
  }
  return false;
}
}  // namespace

Value Builder::dynamic_slice(Value x, std::vector<Value> starts, std::vector<Dim> sizes) {
  if (!ok({x})) return nullptr;
  std::vector<Value> operands{x};
  bool fixed = true;
  std::vector<Dim> at;
  for (Value& s : starts) {
    s = convert(s, DType::kInt64);
    if (!ok({s})) return nullptr;
    operands.push_back(s);
    // A start that is known and fits needs no clamping.
    fixed = fixed && s->known && (*s->known)[0].nonnegative() && (x->dim(int(at.size())) - sizes[at.size()] - (*s->known)[0]).nonnegative();
    if (fixed) at.push_back((*s->known)[0]);
  }
  if (never_fits(sizes, x->type)) return fill(x->type.dtype, std::move(sizes), 0);
  if (fixed) return slice(x, std::move(at), std::move(sizes));
  return make(Op::kDynamicSlice, {x->type.dtype, std::move(sizes)}, std::move(operands));
}

Value Builder::dynamic_update(Value x, Value update, std::vector<Value> starts) {
  if (!ok({x, update})) return nullptr;
  std::vector<Value> operands{x, update};
  for (Value s : starts) {
    operands.push_back(convert(s, DType::kInt64));
    if (!ok({operands.back()})) return nullptr;
  }
  if (never_fits(update->type.dims, x->type)) return x;
  return make(Op::kDynamicUpdate, x->type, std::move(operands));
}

Value Builder::gather(Value x, Value indices, int axis, int batch, std::string text) {
  if (!ok({x, indices})) return nullptr;
  std::vector<Dim> dims(x->type.dims.begin(), x->type.dims.begin() + axis);
  for (int d = 0; d < batch; ++d) dims[size_t(d)] = same(x->dim(d), indices->dim(d));
  dims.insert(dims.end(), indices->type.dims.begin() + batch, indices->type.dims.end());
  dims.insert(dims.end(), x->type.dims.begin() + axis + 1, x->type.dims.end());
  if (!status_.ok()) return nullptr;
  Instr* i = make(Op::kGather, {x->type.dtype, std::move(dims)}, {x, indices});
  i->axes = {axis};
  i->batch = batch;
  i->message = message(std::move(text));
  const Dim& most = x->dim(axis);
  const bool numbers = indices->known && most.is_const() && std::all_of(indices->known->begin(), indices->known->end(), [&](const Dim& d) {
                         return d.is_const() && d.value() >= 0 && d.value() < most.value();
                       });
  if (numbers) i->message = -1;
  if (numbers && batch == 0) {
    const size_t n = indices->type.dims.size();
    i->known = moved(*x, i->type.dims, [&](const std::vector<int64_t>& index) {
      const std::vector<int64_t> which(index.begin() + axis, index.begin() + axis + long(n));
      std::vector<int64_t> from(index.begin(), index.begin() + axis);
      from.push_back((*indices->known)[place(indices->type.dims, which)].value());
      from.insert(from.end(), index.begin() + axis + long(n), index.end());
      return from;
    });
  }
  return i;
}

Value Builder::scatter(Value x, Value indices, Value updates, Reduce reduce, std::string text) {
  if (!ok({x, indices, updates})) return nullptr;
  if (x->rank() < 1 || indices->rank() != 1 || updates->rank() != x->rank())
    return fail(core::internal_error("scatter of wrong ranks at '", node_, "'"));
  same(indices->dim(0), updates->dim(0));
  for (int d = 1; d < x->rank(); ++d) same(x->dim(d), updates->dim(d));
  if (!status_.ok()) return nullptr;
  if (core::is_complex_type(x->type.dtype) && reduce != Reduce::kSet) {
    if (reduce != Reduce::kSum && reduce != Reduce::kSub)
      return fail(core::unimplemented("the compiler does not combine rows of complex numbers by ", name_of(reduce), " ('", node_, "')"));
    const auto part = [&](Value to, Value from) { return scatter(to, indices, from, reduce, text); };
    return complex(part(real(x), real(updates)), part(imag(x), imag(updates)));
  }
  Instr* i = make(Op::kScatter, x->type, {x, indices, updates});
  i->reduce = reduce;
  i->message = message(std::move(text));
  return i;
}

}  // namespace weft_engine::ir
