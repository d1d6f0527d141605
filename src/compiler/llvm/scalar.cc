// Arithmetic of single elements.
#include <llvm/IR/Constants.h>

#include "compiler/llvm/code_emitter_impl.h"
#include "compiler/llvm/math.h"

namespace weft_engine::compiler {

using core::DType;

namespace {

bool is_unsigned(DType t) { return t == DType::kUint8 || t == DType::kUint16 || t == DType::kUint32 || t == DType::kUint64 || t == DType::kBool; }
bool is_float(llvm::Value* v) { return v->getType()->isFloatingPointTy(); }
llvm::Value* number(llvm::Value* like, double x) { return llvm::ConstantFP::get(like->getType(), x); }
llvm::Value* integer(llvm::Value* like, int64_t x) { return llvm::ConstantInt::get(like->getType(), uint64_t(x), true); }

// Integer quotients and rests, safe for every divisor.
llvm::Value* divide(CodeEmitter& e, ir::Binary op, bool is_signed, llvm::Value* a, llvm::Value* c, int message) {
  auto& b = e.b;
  llvm::Value *zero = integer(a, 0), *one = integer(a, 1);
  const bool rest = op == ir::Binary::kMod || op == ir::Binary::kFloorMod;
  llvm::Value* none = b.CreateICmpEQ(c, zero);
  if (!llvm::isa<llvm::Constant>(none)) e.error_if(none, message);
  else if (llvm::cast<llvm::Constant>(none)->isOneValue()) e.error_if(b.getTrue(), message);
  if (!is_signed) {
    llvm::Value* divisor = b.CreateSelect(none, one, c);
    return b.CreateSelect(none, zero, rest ? b.CreateURem(a, divisor) : b.CreateUDiv(a, divisor));
  }
  llvm::Value* minus = b.CreateICmpEQ(c, integer(a, -1));  // its quotient may not fit, which the processor does not forgive
  llvm::Value* divisor = b.CreateSelect(b.CreateOr(none, minus), one, c);
  llvm::Value *q = b.CreateSDiv(a, divisor), *r = b.CreateSub(a, b.CreateMul(q, divisor));
  llvm::Value* result = rest ? r : q;
  if (op == ir::Binary::kFloorDiv || op == ir::Binary::kFloorMod) {
    llvm::Value* down = b.CreateAnd(b.CreateICmpNE(r, zero), b.CreateICmpSLT(b.CreateXor(r, divisor), zero));
    result = rest ? b.CreateSelect(down, b.CreateAdd(r, divisor), r) : b.CreateSelect(down, b.CreateSub(q, one), q);
  }
  result = b.CreateSelect(minus, rest ? zero : b.CreateNeg(a), result);
  return b.CreateSelect(none, zero, result);
}

// NaN if one is; which of two equal zeros does not matter.
llvm::Value* extreme(CodeEmitter& e, bool max, bool is_signed, llvm::Value* a, llvm::Value* c) {
  auto& b = e.b;
  if (!is_float(a)) {
    const auto kind = max ? (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax) : (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    return b.CreateBinaryIntrinsic(kind, a, c);
  }
  if (llvm::isa<llvm::ConstantFP>(a)) std::swap(a, c);
  // A comparison with NaN is false: then the right one is taken.
  const auto pick = [&](llvm::Value* x, llvm::Value* y) { return b.CreateSelect(max ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y), x, y); };
  if (const auto* k = llvm::dyn_cast<llvm::ConstantFP>(c); k && !k->isNaN()) return pick(c, a);
  return b.CreateSelect(b.CreateFCmpUNO(a, a), a, pick(a, c));
}

}  // namespace

CodeEmitter::V CodeEmitter::unary(const ir::Instr* i, V x) {
  using ir::Unary;
  const DType t = i->operand(0).type.dtype;
  llvm::Type* type = x->getType();
  const auto intrinsic = [&](llvm::Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, x); };
  if (i->unary == Unary::kReal || i->unary == Unary::kImag) {
    const unsigned half = type->getIntegerBitWidth() / 2;
    V bits = b.CreateTrunc(i->unary == Unary::kReal ? x : b.CreateLShr(x, half), b.getIntNTy(half));
    return b.CreateBitCast(bits, value_type(i->type.dtype));
  }
  if (is_float(x)) {
    switch (i->unary) {
      case Unary::kNeg: return b.CreateFNeg(x);
      case Unary::kAbs: return intrinsic(llvm::Intrinsic::fabs);
      case Unary::kSign: {
        V negative = b.CreateSelect(b.CreateFCmpOLT(x, number(x, 0)), number(x, -1), x);
        return b.CreateSelect(b.CreateFCmpOGT(x, number(x, 0)), number(x, 1), negative);
      }
      case Unary::kSqrt: return intrinsic(llvm::Intrinsic::sqrt);
      case Unary::kRsqrt: return b.CreateFDiv(number(x, 1), intrinsic(llvm::Intrinsic::sqrt));
      case Unary::kFloor: return intrinsic(llvm::Intrinsic::floor);
      case Unary::kCeil: return intrinsic(llvm::Intrinsic::ceil);
      case Unary::kRound: return intrinsic(llvm::Intrinsic::rint);
      case Unary::kTrunc: return intrinsic(llvm::Intrinsic::trunc);
      case Unary::kIsNan: return b.CreateFCmpUNO(x, x);
      case Unary::kIsInf: return b.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs), llvm::ConstantFP::getInfinity(type));
      case Unary::kIsFinite: return b.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs), llvm::ConstantFP::getInfinity(type));
      case Unary::kNot:
      case Unary::kPopcount: break;
      default: return math(*this, i->unary, x);
    }
  } else {
    const bool wide = !is_unsigned(t);
    switch (i->unary) {
      case Unary::kNeg: return b.CreateNeg(x);
      case Unary::kAbs: return wide ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
      case Unary::kSign: {
        V negative = wide ? b.CreateSelect(b.CreateICmpSLT(x, integer(x, 0)), integer(x, -1), integer(x, 0)) : integer(x, 0);
        V positive = wide ? b.CreateICmpSGT(x, integer(x, 0)) : b.CreateICmpNE(x, integer(x, 0));
        return b.CreateSelect(positive, integer(x, 1), negative);
      }
      case Unary::kNot: return b.CreateNot(x);
      case Unary::kPopcount: return b.CreateZExtOrTrunc(intrinsic(llvm::Intrinsic::ctpop), value_type(i->type.dtype));
      case Unary::kFloor:
      case Unary::kCeil:
      case Unary::kRound:
      case Unary::kTrunc: return x;
      case Unary::kIsNan:
      case Unary::kIsInf: return b.getFalse();
      case Unary::kIsFinite: return b.getTrue();
      default: break;
    }
  }
  return fail(core::unimplemented(ir::name_of(i->unary), " of ", t), value_type(i->type.dtype));
}

CodeEmitter::V CodeEmitter::binary(const ir::Instr* i, V a, V c) {
  using ir::Binary;
  const DType t = i->operand(0).type.dtype;
  const bool is_signed = !is_unsigned(t);
  if (i->binary == Binary::kComplex) {
    const unsigned half = unsigned(core::dtype_size(t)) * 8;
    const auto wide = [&](V part) { return b.CreateZExt(b.CreateBitCast(part, b.getIntNTy(half)), b.getIntNTy(2 * half)); };
    return b.CreateOr(wide(a), b.CreateShl(wide(c), half));
  }
  if (is_float(a)) {
    switch (i->binary) {
      case Binary::kAdd: return b.CreateFAdd(a, c);
      case Binary::kSub: return b.CreateFSub(a, c);
      case Binary::kMul: return b.CreateFMul(a, c);
      case Binary::kDiv: return b.CreateFDiv(a, c);
      case Binary::kFloorDiv: return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(a, c));
      case Binary::kMod: return remainder(*this, a, c);
      case Binary::kFloorMod: {
        V r = remainder(*this, a, c);
        V other = b.CreateXor(b.CreateFCmpOLT(c, number(a, 0)), b.CreateFCmpOLT(r, number(a, 0)));
        return b.CreateSelect(b.CreateAnd(b.CreateFCmpUNE(r, number(a, 0)), other), b.CreateFAdd(r, c), r);
      }
      case Binary::kPow:
      case Binary::kAtan2: return math(*this, i->binary, a, c);
      case Binary::kMax: return extreme(*this, true, true, a, c);
      case Binary::kMin: return extreme(*this, false, true, a, c);
      default: break;
    }
  } else {
    switch (i->binary) {
      case Binary::kAdd: return t == DType::kBool ? b.CreateOr(a, c) : b.CreateAdd(a, c);
      case Binary::kSub: return b.CreateSub(a, c);
      case Binary::kMul: return t == DType::kBool ? b.CreateAnd(a, c) : b.CreateMul(a, c);
      case Binary::kDiv:
      case Binary::kFloorDiv:
      case Binary::kMod:
      case Binary::kFloorMod: return divide(*this, i->binary, is_signed, a, c, i->message);
      case Binary::kMax: return extreme(*this, true, is_signed, a, c);
      case Binary::kMin: return extreme(*this, false, is_signed, a, c);
      case Binary::kAnd: return b.CreateAnd(a, c);
      case Binary::kOr: return b.CreateOr(a, c);
      case Binary::kXor: return b.CreateXor(a, c);
      case Binary::kShl:
      case Binary::kShr: {
        const int64_t last = int64_t(core::dtype_size(t)) * 8 - 1;
        V by = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, c, integer(c, last));  // negative ones too: the width - 1
        if (i->binary == Binary::kShl) return b.CreateShl(a, by);
        return is_signed ? b.CreateAShr(a, by) : b.CreateLShr(a, by);
      }
      case Binary::kPow: return integer_power(*this, a, c, is_signed, i->message);
      default: break;
    }
  }
  return fail(core::unimplemented(ir::name_of(i->binary), " of ", t), value_type(i->type.dtype));
}

CodeEmitter::V CodeEmitter::compare(const ir::Instr* i, V a, V c) {
  using ir::Compare;
  using P = llvm::CmpInst::Predicate;
  static constexpr P kFloat[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  static constexpr P kSigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P kUnsigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  const int n = int(i->compare);
  if (is_float(a)) return b.CreateFCmp(kFloat[n], a, c);
  return b.CreateICmp(is_unsigned(i->operand(0).type.dtype) ? kUnsigned[n] : kSigned[n], a, c);
}

CodeEmitter::V CodeEmitter::convert(V x, DType from, DType to) {
  if (from == to) return x;
  llvm::Type* t = value_type(to);
  if (to == DType::kBool) return is_float(x) ? b.CreateFCmpUNE(x, number(x, 0)) : b.CreateICmpNE(x, integer(x, 0));
  if (is_float(x)) {
    if (t->isFloatingPointTy()) {
      V v = b.CreateFPCast(x, t);
      // Narrow ones are computed in float, but a conversion rounds.
      if (to == DType::kHalf) return b.CreateFPExt(b.CreateFPTrunc(v, b.getHalfTy()), t);
      if (to == DType::kBfloat16) {
        V bits = b.CreateBitCast(v, b.getInt32Ty());
        V odd = b.CreateAnd(b.CreateLShr(bits, 16), b.getInt32(1));
        V rounded = b.CreateAnd(b.CreateAdd(bits, b.CreateAdd(odd, b.getInt32(0x7fff))), b.getInt32(0xffff0000u));
        return b.CreateSelect(b.CreateFCmpUNO(v, v), v, b.CreateBitCast(rounded, t));
      }
      return v;
    }
    // Kernels of one op on a GPU do as TensorFlow's kernels: the low bits of an int32.
    if (target.gpu && t->getIntegerBitWidth() < 32) return b.CreateTrunc(convert(x, from, DType::kInt32), t);
    // As TensorFlow's compiled code has it: the nearest number that fits, 0 for NaN. (Its kernels do as the processor does.)
    return b.CreateIntrinsic(is_unsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat, {t, x->getType()}, {x});
  }
  if (t->isFloatingPointTy())
    return convert(is_unsigned(from) ? b.CreateUIToFP(x, t) : b.CreateSIToFP(x, t), t->isDoubleTy() ? DType::kDouble : DType::kFloat, to);
  return is_unsigned(from) ? b.CreateZExtOrTrunc(x, t) : b.CreateSExtOrTrunc(x, t);
}

CodeEmitter::V CodeEmitter::combine(ir::Reduce r, DType t, V a, V c) {
  using ir::Reduce;
  const bool real = is_float(a);
  switch (r) {
    case Reduce::kSum:
    case Reduce::kMean:
    case Reduce::kProd: {
      if (t == DType::kBool) return r == Reduce::kProd ? b.CreateAnd(a, c) : b.CreateOr(a, c);
      if (!real) return r == Reduce::kProd ? b.CreateMul(a, c) : b.CreateAdd(a, c);
      llvm::IRBuilder<>::FastMathFlagGuard guard(b);
      llvm::FastMathFlags flags = b.getFastMathFlags();
      flags.setAllowReassoc(true);
      b.setFastMathFlags(flags);
      return r == Reduce::kProd ? b.CreateFMul(a, c) : b.CreateFAdd(a, c);
    }
    case Reduce::kMax:
    case Reduce::kMin:
      // The form that the vectoriser knows as a reduction. Which of two zeros is taken does not matter.
      if (real && !target.gpu) {
        llvm::IRBuilder<>::FastMathFlagGuard guard(b);
        llvm::FastMathFlags flags;
        flags.setNoSignedZeros();
        b.setFastMathFlags(flags);
        return b.CreateBinaryIntrinsic(r == Reduce::kMax ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, c);
      }
      return extreme(*this, r == Reduce::kMax, !is_unsigned(t), a, c);
    case Reduce::kAnd: return b.CreateAnd(a, c);
    case Reduce::kOr: return b.CreateOr(a, c);
    case Reduce::kSet: return c;
    case Reduce::kSub: return real ? b.CreateFSub(a, c) : b.CreateSub(a, c);
    case Reduce::kDiv: return real ? b.CreateFDiv(a, c) : divide(*this, ir::Binary::kDiv, !is_unsigned(t), a, c, -1);
  }
  return a;
}

CodeEmitter::V CodeEmitter::identity(ir::Reduce r, DType t) {
  using ir::Reduce;
  llvm::Type* type = value_type(t);
  const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
  switch (r) {
    case Reduce::kProd:
    case Reduce::kDiv: return bits ? static_cast<V>(llvm::ConstantInt::get(type, 1)) : llvm::ConstantFP::get(type, 1.0);
    case Reduce::kMax:
      if (!bits) return llvm::ConstantFP::getInfinity(type, true);
      return is_unsigned(t) ? llvm::Constant::getNullValue(type) : llvm::ConstantInt::get(context, llvm::APInt::getSignedMinValue(bits));
    case Reduce::kMin:
      if (!bits) return llvm::ConstantFP::getInfinity(type);
      return is_unsigned(t) ? llvm::Constant::getAllOnesValue(type) : llvm::ConstantInt::get(context, llvm::APInt::getSignedMaxValue(bits));
    case Reduce::kAnd: return llvm::Constant::getAllOnesValue(type);
    default: return llvm::Constant::getNullValue(type);
  }
}

}  // namespace weft_engine::compiler
