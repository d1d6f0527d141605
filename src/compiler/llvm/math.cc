#include "compiler/llvm/math.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cmath>

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;

// Arithmetic on floats; every function is straight code.
struct Float {
  CodeEmitter& e;
  llvm::IRBuilder<>& b = e.b;

  V k(double x) { return llvm::ConstantFP::get(b.getFloatTy(), x); }
  V n(int32_t x) { return b.getInt32(uint32_t(x)); }
  V fma(V x, V y, V z) {
    // Without the instruction, the intrinsic would be a call.
    if (e.target.fma) return b.CreateIntrinsic(llvm::Intrinsic::fma, {b.getFloatTy()}, {x, y, z});
    return b.CreateFAdd(b.CreateFMul(x, y), z);
  }
  V abs(V x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  V bits(V x) { return b.CreateBitCast(x, b.getInt32Ty()); }
  V real(V x) { return b.CreateBitCast(x, b.getFloatTy()); }
  // NaN stays.
  V at_most(V x, double high) { return b.CreateSelect(b.CreateFCmpOGT(x, k(high)), k(high), x); }
  V at_least(V x, double low) { return b.CreateSelect(b.CreateFCmpOLT(x, k(low)), k(low), x); }
  V polynomial(V x, std::initializer_list<double> c) {  // highest first
    auto it = c.begin();
    V sum = k(*it);
    for (++it; it != c.end(); ++it) sum = fma(sum, x, k(*it));
    return sum;
  }
  V power_of_two(V exponent) { return real(b.CreateShl(b.CreateAdd(exponent, n(127)), 23)); }

  // x = n ln 2 + r with |r| <= ln 2 / 2; the integer comes of adding a large number, which also does no harm to NaN.
  struct Reduced {
    V whole, rounded, r;  // n as an integer and as a float
  };
  Reduced reduce(V x) {
    V large = k(12582912.0);
    V shifted = fma(x, k(1.44269504088896341), large);
    V whole = b.CreateSub(bits(shifted), n(0x4b400000));
    V rounded = b.CreateFSub(shifted, large);
    V r = fma(rounded, k(-0.693359375), x);
    r = fma(rounded, k(2.12194440e-4), r);
    return {whole, rounded, r};
  }
  // e^r - 1 on the reduced range.
  V exp_rest(V r) {
    V p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
    return fma(b.CreateFMul(r, r), p, r);
  }
  V exp(V x) {
    const Reduced d = reduce(at_least(at_most(x, 89.0), -104.0));
    if (e.target.ptx) {
      // The chip has powers of two, good to 2 ulp. The highest one is not a float: what is above 127 is 0 or 1.
      const auto power = [&](V y) { return b.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_f, {}, {y}); };
      V scale = at_most(d.rounded, 127.0);
      V y = b.CreateFMul(power(b.CreateFMul(d.r, k(1.44269504088896341))), b.CreateFAdd(b.CreateFSub(d.rounded, scale), k(1)));
      return b.CreateFMul(y, power(scale));
    }
    V y = b.CreateFAdd(exp_rest(d.r), k(1));
    // In two steps: the ends of the range are beyond a normal power of two.
    V half = b.CreateAShr(d.whole, 1);
    return b.CreateFMul(b.CreateFMul(y, power_of_two(half)), power_of_two(b.CreateSub(d.whole, half)));
  }
  // Of a number in [-20, 89].
  V expm1_inside(V x) {
    const Reduced d = reduce(x);
    // 2 (p s + (s - 1/2)) with s = 2^(n - 1): p itself where n = 0, and no overflow before its time.
    V s = power_of_two(b.CreateSub(d.whole, n(1)));
    V y = fma(exp_rest(d.r), s, b.CreateFSub(s, k(0.5)));
    return b.CreateFAdd(y, y);
  }
  V expm1(V x) {
    return b.CreateSelect(b.CreateFCmpOEQ(x, k(0)), x, expm1_inside(at_least(at_most(x, 89.0), -20.0)));  // -0
  }
  V log(V x) {
    V tiny = b.CreateFCmpOLT(x, k(1.17549435e-38));
    V scaled = b.CreateSelect(tiny, b.CreateFMul(x, k(8388608.0)), x);
    V shifted = b.CreateSub(bits(scaled), n(0x3f3504f3));  // so that the mantissa is around 1
    V exponent = b.CreateAShr(shifted, 23);
    V m = real(b.CreateSub(bits(scaled), b.CreateShl(exponent, 23)));
    exponent = b.CreateSub(exponent, b.CreateSelect(tiny, n(23), n(0)));
    V f = b.CreateFSub(m, k(1)), z = b.CreateFMul(f, f), ef = b.CreateSIToFP(exponent, b.getFloatTy());
    V p = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
                         -2.4999993993e-1, 3.3333331174e-1});
    V y = b.CreateFMul(b.CreateFMul(f, z), p);
    y = fma(ef, k(-2.12194440e-4), y);
    y = fma(z, k(-0.5), y);
    y = b.CreateFAdd(f, y);
    y = fma(ef, k(0.693359375), y);
    V infinity = llvm::ConstantFP::getInfinity(b.getFloatTy());
    y = b.CreateSelect(b.CreateFCmpOLT(x, infinity), y, x);  // infinity, NaN
    y = b.CreateSelect(b.CreateFCmpOLT(x, k(0)), llvm::ConstantFP::getNaN(b.getFloatTy()), y);
    return b.CreateSelect(b.CreateFCmpOEQ(x, k(0)), llvm::ConstantFP::getInfinity(b.getFloatTy(), true), y);
  }
  V log1p(V x) {
    // log of the rounded 1 + x, and what the rounding lost.
    V u = b.CreateFAdd(x, k(1));
    V lost = b.CreateFDiv(b.CreateFSub(x, b.CreateFSub(u, k(1))), u);
    V fine = b.CreateAnd(b.CreateFCmpOGT(u, k(0)), b.CreateFCmpOLT(u, llvm::ConstantFP::getInfinity(b.getFloatTy())));
    V y = b.CreateFAdd(log(u), b.CreateSelect(fine, lost, k(0)));
    return b.CreateSelect(b.CreateFCmpOLT(abs(x), k(1e-8)), x, y);  // -0 too
  }
  V tanh(V x) {
    V a = at_most(abs(x), 10.0);
    V t = expm1_inside(b.CreateFAdd(a, a));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, b.CreateFDiv(t, b.CreateFAdd(t, k(2))), x);
  }
  V logistic(V x) {
    // e^-x may be 0 too early here, and must be infinite at the upper end: 2^128 as a float's bits is.
    const Reduced d = reduce(b.CreateFNeg(at_most(at_least(x, -89.0), 87.9)));
    V y = b.CreateFAdd(exp_rest(d.r), k(1));
    return b.CreateFDiv(k(1), fma(y, power_of_two(d.whole), k(1)));
  }
  // A rational function on [-4, 4], beyond which erf is 1 to the last bit.
  V erf(V x) {
    V c = at_least(at_most(x, 4.0), -4.0), z = b.CreateFMul(c, c);
    V p = polynomial(z, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04,
                         -2.95459980854025e-03, -1.60960333262415e-02});
    V q = polynomial(z, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02});
    return b.CreateFMul(c, b.CreateFDiv(p, q));  // in this order: tiny numbers keep their bits
  }
  // e^(-x^2) times a polynomial in 1 / (1 + 0.42 |x|), fitted to e^(x^2) erfc(x) by relative error: small results keep their bits.
  V erfc(V x) {
    V a = at_most(abs(x), 9.4);  // where the power of two below is 0
    V z = b.CreateFMul(a, a);
    const Reduced d = reduce(b.CreateFNeg(z));
    V u = b.CreateFDiv(k(1), fma(a, k(0.42), k(1)));
    V p = polynomial(u, {7.838383799429216e-2, -3.569240309864e-1, 5.102734266183586e-1, -2.0314251292458874e-1, 3.1416546238564946e-1,
                         1.7732360256875118e-1, 2.4356691740285608e-1, 2.3632743796699168e-1, 2.5899058586353885e-5});
    V y = b.CreateFMul(fma(exp_rest(d.r), p, p), power_of_two(d.whole));
    if (e.target.fma) y = fma(b.CreateFNeg(y), fma(a, a, b.CreateFNeg(z)), y);  // what rounding a^2 lost
    return b.CreateSelect(b.CreateFCmpOLT(x, k(0)), b.CreateFSub(k(2), y), y);
  }
};

// A function of libm, or its float form.
V call(CodeEmitter& e, const std::string& name, std::initializer_list<V> arguments) {
  llvm::Type* t = (*arguments.begin())->getType();
  std::vector<llvm::Type*> types(arguments.size(), t);
  llvm::FunctionCallee f = e.module.getOrInsertFunction(t->isFloatTy() ? name + "f" : name, llvm::FunctionType::get(t, types, false));
  auto* function = llvm::cast<llvm::Function>(f.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->addFnAttr(llvm::Attribute::WillReturn);
  return e.b.CreateCall(f, std::vector<V>(arguments));
}

}  // namespace

V math(CodeEmitter& e, ir::Unary op, V x) {
  using ir::Unary;
  auto& b = e.b;
  if (x->getType()->isFloatTy()) {
    Float f{e};
    switch (op) {
      case Unary::kExp: return f.exp(x);
      case Unary::kExpm1: return f.expm1(x);
      case Unary::kLog: return f.log(x);
      case Unary::kLog1p: return f.log1p(x);
      case Unary::kTanh: return f.tanh(x);
      case Unary::kLogistic: return f.logistic(x);
      case Unary::kErf: return f.erf(x);
      case Unary::kErfc: return f.erfc(x);
      default: break;
    }
  }
  if (e.target.gpu) return gpu_math(e, op, x);
  V one = llvm::ConstantFP::get(x->getType(), 1);
  switch (op) {
    case Unary::kExp: return call(e, "exp", {x});
    case Unary::kExpm1: return call(e, "expm1", {x});
    case Unary::kLog: return call(e, "log", {x});
    case Unary::kLog1p: return call(e, "log1p", {x});
    case Unary::kSin: return call(e, "sin", {x});
    case Unary::kCos: return call(e, "cos", {x});
    case Unary::kTan: return call(e, "tan", {x});
    case Unary::kAsin: return call(e, "asin", {x});
    case Unary::kAcos: return call(e, "acos", {x});
    case Unary::kAtan: return call(e, "atan", {x});
    case Unary::kSinh: return call(e, "sinh", {x});
    case Unary::kCosh: return call(e, "cosh", {x});
    case Unary::kTanh: return call(e, "tanh", {x});
    case Unary::kAsinh: return call(e, "asinh", {x});
    case Unary::kAcosh: return call(e, "acosh", {x});
    case Unary::kAtanh: return call(e, "atanh", {x});
    case Unary::kLogistic: return b.CreateFDiv(one, b.CreateFAdd(one, call(e, "exp", {b.CreateFNeg(x)})));
    case Unary::kErf: {
      // TensorFlow's is a quotient of polynomials in x^2: NaN where that is infinite.
      V infinity = llvm::ConstantFP::getInfinity(x->getType());
      return b.CreateSelect(b.CreateFCmpOEQ(b.CreateFMul(x, x), infinity), llvm::ConstantFP::getNaN(x->getType()), call(e, "erf", {x}));
    }
    case Unary::kErfc: return call(e, "erfc", {x});
    case Unary::kLgamma: return call(e, "lgamma", {x});
    default: return e.fail(core::internal_error("no code for ", ir::name_of(op)), x->getType());
  }
}

V math(CodeEmitter& e, ir::Binary op, V x, V y) {
  if (op == ir::Binary::kAtan2) return e.target.gpu ? gpu_math(e, op, x, y) : call(e, "atan2", {x, y});
  if (const auto* c = llvm::dyn_cast<llvm::ConstantFP>(y)) {
    if (c->isExactlyValue(1)) return x;
    if (c->isExactlyValue(2)) return e.b.CreateFMul(x, x);
    if (c->isExactlyValue(3)) return e.b.CreateFMul(e.b.CreateFMul(x, x), x);
    if (c->isExactlyValue(-1)) return e.b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x);
  }
  return e.target.gpu ? gpu_math(e, op, x, y) : call(e, "pow", {x, y});
}

V remainder(CodeEmitter& e, V x, V y) { return e.target.gpu ? gpu_remainder(e, x, y) : e.b.CreateFRem(x, y); }

V integer_power(CodeEmitter& e, V x, V y, bool is_signed, int message) {
  auto& b = e.b;
  llvm::Type* t = x->getType();
  V zero = llvm::ConstantInt::get(t, 0), one = llvm::ConstantInt::get(t, 1);
  V negative = is_signed ? b.CreateICmpSLT(y, zero) : static_cast<V>(b.getFalse());
  if (is_signed) e.error_if(negative, message);
  // Square and multiply over all bits of the exponent: straight code.
  V result = one, square = x, rest = y;
  for (unsigned k = 0; k < t->getIntegerBitWidth(); ++k) {
    V odd = b.CreateICmpNE(b.CreateAnd(rest, one), zero);
    result = b.CreateSelect(odd, b.CreateMul(result, square), result);
    square = b.CreateMul(square, square);
    rest = b.CreateLShr(rest, one);
  }
  return b.CreateSelect(negative, zero, result);
}

}  // namespace weft_engine::compiler
