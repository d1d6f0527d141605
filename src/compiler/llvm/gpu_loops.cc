// One thread for each element, or for several that lie side by side: elementwise instructions, movement, copies, updates.
#include "compiler/llvm/gpu_emitter.h"

namespace weft_engine::compiler {
namespace {

int64_t size_of(core::DType t) { return int64_t(core::dtype_size(t)); }

}  // namespace

bool is_cheap(const Plan& plan, std::span<const ir::Instr* const> instrs) {
  constexpr int kMost = 96;
  int work = 0;
  std::vector<const ir::Instr*> todo(instrs.begin(), instrs.end());
  std::unordered_set<const ir::Instr*> seen;
  while (!todo.empty() && work <= kMost) {
    const ir::Instr* i = todo.back();
    todo.pop_back();
    if (!seen.insert(i).second) continue;
    ++work;
    switch (i->op) {
      case ir::Op::kPad:
        // What lies side by side stays so where nothing is put between.
        if (i->rank() == 0 || !i->low.back().is(0) || !i->high.back().is(0) || (!i->interior.empty() && i->interior.back())) return false;
        work += 4;
        break;
      case ir::Op::kConcat:
      case ir::Op::kGather:
      case ir::Op::kPhilox:
      case ir::Op::kReverse:
      case ir::Op::kTranspose: return false;  // not side by side
      case ir::Op::kUnary:
      case ir::Op::kBinary: {
        const core::DType t = i->operand(0).type.dtype;
        const bool divides =
            i->op == ir::Op::kBinary && (i->binary == ir::Binary::kFloorMod || i->binary == ir::Binary::kPow || i->binary == ir::Binary::kMod ||
                                         i->binary == ir::Binary::kFloorDiv || i->binary == ir::Binary::kAtan2);
        if (t == core::DType::kDouble || divides) work += 8;
        break;
      }
      default: break;
    }
    for (const ir::Instr* o : i->operands) {
      const bool of_step = std::find(instrs.begin(), instrs.end(), o) != instrs.end();
      if (of_step || plan.buffer_of(o) < 0) todo.push_back(o);
    }
  }
  return work <= kMost;
}

int64_t narrowest(const Plan& plan, const ir::Instr* value) {
  int64_t least = 16;
  std::vector<const ir::Instr*> todo{value};
  std::unordered_set<const ir::Instr*> seen;
  while (!todo.empty()) {
    const ir::Instr* i = todo.back();
    todo.pop_back();
    if (!seen.insert(i).second) continue;
    if (plan.buffer_of(i) < 0) todo.insert(todo.end(), i->operands.begin(), i->operands.end());
    else if (i->type.elements() == value->type.elements()) least = std::min(least, size_of(i->type.dtype));
  }
  return least == 16 ? size_of(value->type.dtype) : least;
}

core::Status GpuEmitter::copy(int to, int from, const ir::Type& t, const ir::Instr* instr) {
  const GpuArg into = arg_of(to), of = arg_of(from);
  if (into == of) return {};
  constexpr int64_t kMostElements = int64_t(1) << 18;  // a kernel that others may be part of; more: by the driver
  if (together_ && t.elements().is_const() && t.elements().value() <= kMostElements) {
    const core::DType dtype = t.dtype;
    const ir::Dim all = t.elements();
    const int64_t several = all.value() % 4 || all.value() < 4096 || size_of(dtype) > 4 ? 1 : 4;
    return each("copy", instr, all, several, [this, to, from, dtype, all](V number, int64_t own) -> core::Status {
      std::vector<V> values;
      for (int64_t k = 0; k < own; ++k) values.push_back(e.load(dtype, e.pointer(from), bounded(e.add(e.mul(number, e.i64(own)), e.i64(k)), all)));
      for (int64_t k = 0; k < own; ++k) e.store(dtype, values[size_t(k)], e.pointer(to), bounded(e.add(e.mul(number, e.i64(own)), e.i64(k)), all));
      return {};
    });
  }
  WEFT_RETURN_IF_ERROR(settle());
  GpuLaunch l;
  l.kind = GpuLaunch::Kind::kCopy, l.instr = instr;
  l.args = {into, of};
  l.bytes = t.elements() * size_of(t.dtype);
  launches_->push_back(std::move(l));
  return {};
}

core::Status GpuEmitter::materialize(const ir::Instr* i, int buffer) {
  if (plan.buffer_of(i) >= 0 && !e.impl().current.count(i)) return copy(buffer, plan.buffer_of(i), i->type, i);
  if (i->op == ir::Op::kConcat) return concat(i, buffer);
  return store_all(std::span(&i, 1), std::span(&i, 1), buffer);
}

core::Status GpuEmitter::loop(const Step& s) {
  std::vector<const ir::Instr*> stored;
  for (const ir::Instr* i : s.instrs) {
    if (plan.buffer_of(i) >= 0 && !is_number(i)) stored.push_back(i);
  }
  if (stored.empty()) return {};
  e.impl().current.insert(stored.begin(), stored.end());
  for (const ir::Instr* i : stored) {
    if (i->type.dims.size() != stored[0]->type.dims.size()) return core::internal_error("values of different sizes in one loop");
  }
  if (stored.size() == 1 && stored[0]->op == ir::Op::kGather && stored[0]->type.elements().is(0)) {
    // Nothing to be stored, but numbers that are checked.
    const ir::Instr *i = stored[0], *numbers = i->operands[1];
    return each("gather", i, numbers->type.elements(), [this, i, numbers](V n) -> core::Status {
      V number = e.convert(e.element(numbers, e.places(n, numbers->type.dims)), numbers->type.dtype, core::DType::kInt64);
      e.error_if(b.CreateICmpUGE(number, e.dim(i->operand(0).dim(i->axes[0]))), i->message);
      return {};
    });
  }
  if (stored.size() == 1 && stored[0]->op == ir::Op::kConcat) return concat(stored[0], plan.buffer_of(stored[0]));
  if (stored.size() == 1 && stored[0]->op == ir::Op::kTranspose) {
    bool done = false;
    WEFT_RETURN_IF_ERROR(transpose(stored[0], &done));
    if (done) return {};
  }
  return store_all(s.instrs, stored, -1);
}

// `into`: the buffer of the one value, where it is not its own.
core::Status GpuEmitter::store_all(std::span<const ir::Instr* const> in_order, std::span<const ir::Instr* const> stored, int into) {
  const ir::Instr* first = stored[0];
  const CodeEmitter::Layout shape = e.layout(stored);
  const ir::Dim all = first->type.elements();
  bool flat = true;  // all dimensions run as one
  for (size_t k = 0; k < shape.keep.size(); ++k) flat = flat && (!shape.keep[k] || shape.loops[k].is(1) || shape.loops[k + 1].is(1));
  int64_t largest = 1;
  for (const ir::Instr* i : in_order) largest = std::max(largest, size_of(i->type.dtype));
  int64_t several = std::min<int64_t>(8, 16 / std::min<int64_t>(largest, 16));
  const ir::Dim inner = shape.loops.empty() ? ir::Dim(1) : shape.loops.back();
  if (!is_cheap(plan, in_order) || (all.is_const() && all.value() < 4096)) several = 1;
  if (!flat && !(inner.is_const() && inner.value() % several == 0)) several = 1;
  const auto write = [this, shape, first, into, in_order = std::vector(in_order.begin(), in_order.end()),
                      stored = std::vector(stored.begin(), stored.end())](std::span<const Index> at) {
    std::vector<V> values;
    for (const Index& loops : at) {
      const Index index = shape.index(e, loops);
      for (const ir::Instr* i : in_order) {
        if (i->type.dims == first->type.dims) e.element(i, index);
      }
      for (const ir::Instr* i : stored) values.push_back(e.element(i, index));
    }
    // All before the first store: a result may take the place of an operand.
    size_t n = 0;
    for (const Index& loops : at) {
      const Index index = shape.index(e, loops);
      for (const ir::Instr* i : stored) e.store(i->type.dtype, values[n++], into >= 0 ? e.pointer(into) : e.pointer(i), e.offset(i->type, index));
    }
  };
  return each("loop", first, all, several, [this, shape, write, all, inner, flat](V number, int64_t own) -> core::Status {
    if (own == 1) {
      const Index at = e.places(number, shape.loops);
      write(std::span(&at, 1));
      return {};
    }
    if (!flat) {
      std::vector<ir::Dim> outer = shape.loops;
      outer.back() = inner.value() / own;
      const Index row = e.places(number, outer);
      std::vector<Index> at;
      for (int64_t k = 0; k < own; ++k) {
        Index one = row;
        one.back() = bounded(e.add(e.mul(row.back(), e.i64(own)), e.i64(k)), inner);
        at.push_back(one);
      }
      write(at);
      return {};
    }
    V begin = e.mul(number, e.i64(own)), end = e.dim(all);
    const auto together = [&] {
      std::vector<Index> at;
      for (int64_t k = 0; k < own; ++k) at.push_back(e.places(bounded(e.add(begin, e.i64(k)), all), shape.loops));
      write(at);
    };
    if (all.is_const() && all.value() % own == 0) {
      together();
      return {};
    }
    e.when(b.CreateICmpULE(b.CreateAdd(begin, e.i64(own)), end), together, [&] {
      e.loop(begin, end, e.i64(1), {}, false, [&](V k, const std::vector<V>&) {
        const Index at = e.places(bounded(k, all), shape.loops);
        write(std::span(&at, 1));
        return std::vector<V>();
      });
    });
    return {};
  });
}

// Each part by itself.
core::Status GpuEmitter::concat(const ir::Instr* i, int buffer) {
  const size_t axis = size_t(i->axes[0]);
  const ir::Dim inner = ir::product(std::span(i->type.dims).subspan(axis + 1));
  ir::Dim start = 0;
  for (const ir::Instr* part : i->operands) {
    if (!part->dim(int(axis)).is(0)) {
      const CodeEmitter::Layout shape = e.layout(std::span(&part, 1));
      WEFT_RETURN_IF_ERROR(each("concat", i, part->type.elements(), [this, i, part, buffer, axis, inner, start, shape](V number) -> core::Status {
        const auto& dims = part->type.dims;
        const Index index = shape.index(e, e.places(number, shape.loops));
        V row = e.linear(std::span(dims).first(axis), std::span(index).first(axis));
        V within = e.linear(std::span(dims).subspan(axis), std::span(index).subspan(axis));
        V to = e.add(e.add(e.mul(row, e.dim(i->dim(int(axis)) * inner)), e.dim(start * inner)), within);
        e.store(i->type.dtype, e.element(part, index), e.pointer(buffer), to);
        return {};
      }));
    }
    start = start + part->dim(int(axis));
  }
  return {};
}

// A transposition of a stored value that moves the innermost dimension: tiles in shared memory, so that reads and writes both go along rows.
core::Status GpuEmitter::transpose(const ir::Instr* i, bool* done) {
  const ir::Instr* x = i->operands[0];
  if (plan.buffer_of(x) < 0 || e.impl().current.count(x) || plan.buffer_of(x) == plan.buffer_of(i)) return {};
  // Runs of dimensions that stay together, in the result's order.
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
  if (runs.size() < 2) return {};
  for (size_t k = runs.size() - 1; k-- > 0;) runs[k].to_stride = runs[k + 1].to_stride * runs[k + 1].size;
  size_t inner = 0;  // contiguous in the operand
  for (size_t k = 0; k < runs.size(); ++k) {
    if (runs[k].at > runs[inner].at) inner = k;
  }
  const Run columns = runs[inner], rows = runs.back();
  const auto worth = [](const ir::Dim& d) { return !d.is_const() || d.value() >= 8; };
  if (inner == runs.size() - 1 || !worth(rows.size) || !worth(columns.size)) return {};
  std::vector<ir::Dim> others;
  std::vector<Run> outer;
  for (size_t k = 0; k + 1 < runs.size(); ++k) {
    if (k == inner) continue;
    others.push_back(runs[k].size);
    outer.push_back(runs[k]);
  }
  *done = true;
  constexpr int kTile = 32, kRows = kThreads / kTile;
  const ir::Dim across = ir::ceil_div(columns.size, kTile), down = ir::ceil_div(rows.size, kTile), matrices = ir::product(others);
  return kernel("transpose", i, across * down * matrices, kThreads, [&]() -> core::Status {
    const core::DType t = i->type.dtype;
    llvm::Type* memory = e.type(t);
    V tile = shared(memory, kTile * (kTile + 1));
    const std::vector<ir::Dim> grid{matrices, down, across};
    const Index at = e.places(bounded(wide(block()), ir::product(grid)), grid);
    const Index index = e.places(bounded(at[0], matrices), others);
    V read = e.i64(0), write = e.i64(0);
    for (size_t k = 0; k < outer.size(); ++k) {
      read = e.add(read, e.mul(index[k], e.dim(outer[k].from_stride)));
      write = e.add(write, e.mul(index[k], e.dim(outer[k].to_stride)));
    }
    V lane = wide(b.CreateAnd(thread(), b.getInt32(kTile - 1))), group = wide(b.CreateLShr(thread(), 5));
    V row = e.mul(at[1], e.i64(kTile)), column = e.mul(at[2], e.i64(kTile));
    V all_rows = e.dim(rows.size), all_columns = e.dim(columns.size);
    V from = e.pointer(x), to = e.pointer(i);
    for (int k = 0; k < kTile; k += kRows) {
      V r = e.add(group, e.i64(k)), c = lane;
      V place_r = e.add(row, r), place_c = e.add(column, c);
      e.when(b.CreateAnd(b.CreateICmpULT(place_r, all_rows), b.CreateICmpULT(place_c, all_columns)), [&] {
        V source = e.add(read, e.add(e.mul(place_r, e.dim(rows.from_stride)), place_c));
        V value = b.CreateAlignedLoad(memory, place(from, memory, source), llvm::Align(uint64_t(size_of(t))));
        b.CreateStore(value, place(tile, memory, e.add(e.mul(r, e.i64(kTile + 1)), c)));
      });
    }
    barrier();
    for (int k = 0; k < kTile; k += kRows) {
      V c = e.add(group, e.i64(k)), r = lane;
      V place_r = e.add(row, r), place_c = e.add(column, c);
      e.when(b.CreateAnd(b.CreateICmpULT(place_r, all_rows), b.CreateICmpULT(place_c, all_columns)), [&] {
        V target = e.add(write, e.add(e.mul(place_c, e.dim(columns.to_stride)), place_r));
        V value = b.CreateLoad(memory, place(tile, memory, e.add(e.mul(r, e.i64(kTile + 1)), c)));
        b.CreateAlignedStore(value, place(to, memory, target), llvm::Align(uint64_t(size_of(t))));
      });
    }
    return {};
  });
}

core::Status GpuEmitter::update(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *update = i->operands[1];
  const int buffer = plan.buffer_of(i);
  if (plan.buffer_of(x) != buffer) {
    WEFT_RETURN_IF_ERROR(materialize(x, buffer));
    WEFT_RETURN_IF_ERROR(flush());
  }
  const CodeEmitter::Layout shape = e.layout(std::span(&update, 1));
  const auto store = [this, i, update, buffer, shape](std::span<const V> numbers) {
    std::vector<V> values;
    std::vector<Index> places;
    for (V number : numbers) {
      const Index at = shape.index(e, e.places(number, shape.loops));
      values.push_back(e.element(update, at));
      places.push_back(at);
    }
    for (size_t k = 0; k < places.size(); ++k) {
      Index index = places[k];
      for (int d = 0; d < i->rank(); ++d) {
        if (i->dim(d) == update->dim(d)) continue;
        V start = e.clamp(e.element(i->operands[size_t(d) + 2], {}), e.dim(i->dim(d) - update->dim(d) + ir::Dim(1)));
        index[size_t(d)] = e.add(start, places[k][size_t(d)]);
      }
      e.store(i->type.dtype, values[k], e.pointer(buffer), e.offset(i->type, index));
    }
  };
  const auto put = [this, i, update, store](std::span<const V> numbers) {
    if (V good = e.fits(update->type, i->type)) e.when(good, [&] { store(numbers); });
    else store(numbers);
  };
  const ir::Dim all = update->type.elements();
  const bool whole =
      all.is_const() && all.value() % 4 == 0 && all.value() >= 4096 && size_of(i->type.dtype) <= 4 && is_cheap(plan, std::span(&update, 1));
  return each("update", i, all, whole ? 4 : 1, [this, put, all](V number, int64_t own) -> core::Status {
    std::vector<V> numbers;
    for (int64_t k = 0; k < own; ++k) numbers.push_back(own == 1 ? number : bounded(e.add(e.mul(number, e.i64(own)), e.i64(k)), all));
    put(numbers);
    return {};
  });
}

}  // namespace weft_engine::compiler
