// An element of a value: from memory, or computed where it is read.
#include <llvm/IR/Constants.h>

#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {

using core::DType;
using ir::Op;

// Greedily: a group ends where both sides have come to the same product.
std::vector<Group> reshape_groups(std::span<const ir::Dim> from, std::span<const ir::Dim> to) {
  std::vector<Group> groups;
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    if (f < from.size() && from[f].is(1)) {
      groups.push_back({f, f + 1, t, t});
      ++f;
      continue;
    }
    if (t < to.size() && to[t].is(1)) {
      groups.push_back({f, f, t, t + 1});
      ++t;
      continue;
    }
    Group g{f, f, t, t};
    // The shortest prefixes of equal product, by trying all: ranks are small.
    bool found = false;
    ir::Dim p = 1;
    for (size_t i = f; i < from.size() && !found; ++i) {
      p = p * from[i];
      ir::Dim q = 1;
      for (size_t j = t; j < to.size() && !found; ++j) {
        q = q * to[j];
        if (p == q) {
          g.from_end = i + 1;
          g.to_end = j + 1;
          found = true;
        }
      }
    }
    if (!found) g = {f, from.size(), t, to.size()};
    groups.push_back(g);
    f = g.from_end;
    t = g.to_end;
  }
  return groups;
}

namespace {

// A literal's element as an immediate.
llvm::Constant* immediate(CodeEmitter& e, const core::Tensor& t, int64_t n) {
  llvm::Type* type = e.value_type(t.dtype());
  switch (t.dtype()) {
    case DType::kFloat: return llvm::ConstantFP::get(e.context, llvm::APFloat(t.data<float>()[n]));
    case DType::kDouble: return llvm::ConstantFP::get(e.context, llvm::APFloat(t.data<double>()[n]));
    case DType::kHalf: {
      llvm::APFloat f(llvm::APFloat::IEEEhalf(), llvm::APInt(16, t.data<uint16_t>()[n]));
      bool lost = false;
      f.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
      return llvm::ConstantFP::get(e.context, f);
    }
    case DType::kBfloat16:
      return llvm::ConstantFP::get(e.context, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, uint32_t(t.data<uint16_t>()[n]) << 16)));
    case DType::kBool: return e.b.getInt1(t.data<uint8_t>()[n] != 0);
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:
    case DType::kInt8:
    case DType::kUint8: return llvm::ConstantInt::get(type, t.data<uint8_t>()[n]);
    case DType::kInt16:
    case DType::kUint16: return llvm::ConstantInt::get(type, t.data<uint16_t>()[n]);
    case DType::kInt32:
    case DType::kUint32: return llvm::ConstantInt::get(type, t.data<uint32_t>()[n]);
    case DType::kComplex128: return llvm::ConstantInt::get(type, llvm::APInt(128, {t.data<uint64_t>()[2 * n], t.data<uint64_t>()[2 * n + 1]}));
    default: return llvm::ConstantInt::get(type, t.data<uint64_t>()[n]);
  }
}

}  // namespace

CodeEmitter::V CodeEmitter::element(const ir::Instr* i, const Index& index) {
  Impl::Frame& f = impl_->frame;
  if (const auto it = impl_->held.find(i); it != impl_->held.end()) return it->second;
  if (!impl_->numbers.empty()) {
    const ir::Instr* base = i;
    while (base->op == Op::kReshape) base = base->operands[0];
    if (const auto it = impl_->numbers.find(base); it != impl_->numbers.end()) return it->second();
  }
  const auto key = std::make_pair(i, index);
  for (int d = f.level; d >= 0; --d) {
    auto& known = f.scopes[size_t(d)].elements;
    if (auto it = known.find(key); it != known.end()) return it->second;
  }
  if (index.size() != size_t(i->rank())) {
    return fail(core::internal_error("an element of %", i->id, " (", ir::name_of(i->op), ") by ", index.size(), " numbers instead of ", i->rank()),
                value_type(i->type.dtype));
  }
  const bool stored = plan.buffer_of(i) >= 0 && !impl_->current.count(i);
  V v = nullptr;
  int depth = 0;
  if (stored) {
    V place = offset(i->type, index), from = pointer(i);
    depth = place_for(f, std::span<const V>(&place, 1));
    Hoist hoist(*this, depth);
    v = load(i->type.dtype, from, place);
  } else {
    depth = place_for(f, index);
    Hoist hoist(*this, depth);
    v = compute(i, index);
  }
  if (!llvm::isa<llvm::Constant>(v) && !f.depth.count(v)) f.depth[v] = depth;
  f.scopes[size_t(depth)].elements[key] = v;
  return v;
}

CodeEmitter::V CodeEmitter::compute(const ir::Instr* i, const Index& index) {
  Impl::Frame& f = impl_->frame;
  const size_t rank = index.size();
  // A place that is known to exist.
  const auto bounded = [&](V v, const ir::Dim& d) {
    if (!llvm::isa<llvm::ConstantInt>(v)) {
      Impl::Fact& fact = f.facts[v];
      if (!fact.bound) fact.bound = dim(d);
    }
    return v;
  };
  const auto in_range = [&](V v, V size) { return b.CreateICmpULT(v, size); };  // v >= 0 too
  switch (i->op) {
    case Op::kConstant: {
      const core::Tensor& t = i->literal;
      type(t.dtype());
      if (!impl_->status.ok()) return fail({}, value_type(i->type.dtype));
      if (t.num_elements() == 0) return llvm::PoisonValue::get(value_type(i->type.dtype));
      V place = offset(i->type, index);
      if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(place)) return immediate(*this, t, c->getSExtValue());
      llvm::GlobalVariable*& g = impl_->literals[i];
      if (!g) {
        const llvm::StringRef bytes(static_cast<const char*>(t.raw()), t.byte_size());
        llvm::Constant* data = llvm::ConstantDataArray::getRaw(bytes, bytes.size(), b.getInt8Ty());
        g = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "literal");
        g->setAlignment(llvm::Align(64));
        g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      }
      return load(t.dtype(), g, place);
    }
    case Op::kSizes: {
      const auto& known = *i->known;
      const auto number = [&](const ir::Dim& d) { return convert(dim(d), DType::kInt64, i->type.dtype); };
      if (rank == 0) return number(known[0]);
      if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(index[0])) return number(known[size_t(c->getSExtValue())]);
      V v = number(known.back());
      for (size_t k = known.size() - 1; k-- > 0;) v = b.CreateSelect(b.CreateICmpEQ(index[0], i64(int64_t(k))), number(known[k]), v);
      return v;
    }
    case Op::kIota: return convert(index[size_t(i->axes[0])], DType::kInt64, i->type.dtype);
    case Op::kUnary: return unary(i, element(i->operands[0], index));
    case Op::kBinary: {
      V x = element(i->operands[0], index);
      return binary(i, x, element(i->operands[1], index));
    }
    case Op::kCompare: {
      V x = element(i->operands[0], index);
      return compare(i, x, element(i->operands[1], index));
    }
    case Op::kSelect: {
      V c = element(i->operands[0], index), x = element(i->operands[1], index);
      return b.CreateSelect(c, x, element(i->operands[2], index));
    }
    case Op::kConvert: return convert(element(i->operands[0], index), i->operand(0).type.dtype, i->type.dtype);
    case Op::kBitcast: {
      V x = element(i->operands[0], index);
      const auto bits = [&](V v, DType t) -> V {
        if (t == DType::kBool) return b.CreateZExt(v, b.getInt8Ty());
        if (t == DType::kHalf) return b.CreateBitCast(b.CreateFPTrunc(v, b.getHalfTy()), b.getInt16Ty());
        if (t == DType::kBfloat16) return b.CreateTrunc(b.CreateLShr(b.CreateBitCast(v, b.getInt32Ty()), 16), b.getInt16Ty());
        return v->getType()->isIntegerTy() ? v : b.CreateBitCast(v, b.getIntNTy(unsigned(core::dtype_size(t) * 8)));
      };
      V raw = bits(x, i->operand(0).type.dtype);
      switch (i->type.dtype) {
        case DType::kBool: return b.CreateICmpNE(raw, b.getInt8(0));
        case DType::kHalf: return b.CreateFPExt(b.CreateBitCast(raw, b.getHalfTy()), b.getFloatTy());
        case DType::kBfloat16: return b.CreateBitCast(b.CreateShl(b.CreateZExt(raw, b.getInt32Ty()), 16), b.getFloatTy());
        default: return b.CreateBitCast(raw, value_type(i->type.dtype));
      }
    }
    case Op::kBroadcast: {
      const ir::Instr* x = i->operands[0];
      Index at(size_t(x->rank()));
      for (size_t d = 0; d < at.size(); ++d) at[d] = x->dim(int(d)).is(1) ? i64(0) : index[size_t(i->axes[d])];
      return element(x, at);
    }
    case Op::kReshape: {
      const ir::Instr* x = i->operands[0];
      Index at(size_t(x->rank()), i64(0));
      for (const Group& g : reshape_groups(i->type.dims, x->type.dims)) {
        const std::span from(i->type.dims), to(x->type.dims);
        if (g.to_end == g.to_begin) continue;
        V n = linear(from.subspan(g.from_begin, g.from_end - g.from_begin), std::span(index).subspan(g.from_begin, g.from_end - g.from_begin));
        const Index part = places(n, to.subspan(g.to_begin, g.to_end - g.to_begin));
        std::copy(part.begin(), part.end(), at.begin() + int64_t(g.to_begin));
      }
      return element(x, at);
    }
    case Op::kTranspose: {
      Index at(rank);
      for (size_t d = 0; d < rank; ++d) at[size_t(i->axes[d])] = index[d];
      return element(i->operands[0], at);
    }
    case Op::kSlice: {
      Index at(rank);
      for (size_t d = 0; d < rank; ++d) {
        const int64_t step = i->steps.empty() ? 1 : i->steps[d];
        at[d] = bounded(add(mul(index[d], i64(step)), dim(i->starts[d])), i->operand(0).dim(int(d)));
      }
      return element(i->operands[0], at);
    }
    case Op::kPad: {
      const ir::Instr* x = i->operands[0];
      V padding = element(i->operands[1], {});
      Index at(rank);
      V inside = nullptr;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t hole = i->interior.empty() ? 0 : i->interior[d];
        const ir::Dim& size = x->dim(int(d));
        if (size.is(0)) return padding;
        if (i->low[d].is(0) && hole == 0 && i->dim(int(d)) == size) {
          at[d] = index[d];
          continue;
        }
        V n = dim(size), place = sub(index[d], dim(i->low[d]));
        V good = nullptr;
        if (hole == 0) {
          good = in_range(place, n);
        } else {
          V stretched = b.CreateNSWMul(n, i64(hole + 1));
          good = in_range(place, stretched);
          V held = clamp(place, mul(n, i64(hole + 1)));
          good = b.CreateAnd(good, b.CreateICmpEQ(mod(held, i64(hole + 1)), i64(0)));
          place = div(held, i64(hole + 1));
        }
        at[d] = clamp(place, n);
        inside = inside ? b.CreateAnd(inside, good) : good;
      }
      V v = element(x, at);
      return inside ? b.CreateSelect(inside, v, padding) : v;
    }
    case Op::kConcat: {
      const size_t axis = size_t(i->axes[0]);
      V v = nullptr;
      ir::Dim start = 0;
      for (const ir::Instr* part : i->operands) {
        const ir::Dim size = part->dim(int(axis));
        if (!size.is(0)) {
          Index at = index;
          V place = sub(index[axis], dim(start));
          at[axis] = clamp(place, dim(size));
          V x = element(part, at);
          v = v ? b.CreateSelect(b.CreateICmpSGE(index[axis], dim(start)), x, v) : x;
        }
        start = start + size;
      }
      return v ? v : llvm::PoisonValue::get(value_type(i->type.dtype));
    }
    case Op::kReverse: {
      Index at = index;
      for (int axis : i->axes) {
        V last = sub(dim(i->dim(axis)), i64(1));
        at[size_t(axis)] = bounded(sub(last, index[size_t(axis)]), i->dim(axis));
      }
      return element(i->operands[0], at);
    }
    case Op::kDynamicSlice: {
      const ir::Instr* x = i->operands[0];
      Index at(rank);
      for (size_t d = 0; d < rank; ++d) {
        if (x->dim(int(d)) == i->dim(int(d))) {
          at[d] = index[d];
          continue;
        }
        V start = clamp(element(i->operands[d + 1], {}), dim(x->dim(int(d)) - i->dim(int(d)) + ir::Dim(1)));
        at[d] = bounded(add(start, index[d]), x->dim(int(d)));
      }
      return element(x, at);
    }
    case Op::kGather: {
      const ir::Instr *x = i->operands[0], *n = i->operands[1];
      const size_t axis = size_t(i->axes[0]), batch = size_t(i->batch), extra = size_t(n->rank()) - batch;
      Index at(size_t(x->rank())), of(size_t(n -> rank()));
      for (size_t d = 0; d < of.size(); ++d) of[d] = d < batch ? index[d] : index[axis + d - batch];
      // The number itself, its check and its error belong to where the index varies, perhaps outside of the innermost loop.
      V number = element(n, of);
      V size = dim(x->dim(int(axis)));
      V place = nullptr, good = nullptr;
      const auto key = std::make_pair(i, [&] {
        Index k = of;
        k.push_back(number);
        k.push_back(nullptr);  // unlike every index
        return k;
      }());
      const int depth = place_for(f, std::span<const V>(&number, 1));
      auto& known = f.scopes[size_t(depth)].elements;
      if (auto it = known.find(key); it != known.end()) {
        good = it->second;
        place = f.facts[good].a;
      } else {
        Hoist hoist(*this, depth);
        V wide = convert(number, n->type.dtype, DType::kInt64);
        if (!llvm::isa<llvm::Constant>(wide)) f.depth[wide] = depth;
        good = in_range(wide, size);
        place = clamp(wide, size);
        error_if(b.CreateNot(good), i->message);
        if (!llvm::isa<llvm::Constant>(good)) {
          f.depth[good] = depth;
          known[key] = good;
          f.facts[good].a = place;
        }
      }
      for (size_t d = 0; d < at.size(); ++d) at[d] = d < axis ? index[d] : d == axis ? place : index[d + extra - 1];
      llvm::Type* t = value_type(i->type.dtype);
      if (x->dim(int(axis)).is(0)) return llvm::Constant::getNullValue(t);
      return b.CreateSelect(good, element(x, at), llvm::Constant::getNullValue(t));
    }
    case Op::kPhilox: return philox(i, index[0]);
    default:
      return fail(core::internal_error("an element of %", i->id, " (", ir::name_of(i->op), ") was requested, but it is not stored"),
                  value_type(i->type.dtype));
  }
}

}  // namespace weft_engine::compiler
