// Functions of double for kernels of GPUs, where there is no libm to call: straight arithmetic, each a function of the module that all kernels
// share. Those of float that math.cc has no form for are computed in double and rounded. A few units of the last place.
#include <llvm/IR/Constants.h>

#include <cmath>

#include "compiler/llvm/math.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;

struct Double {
  llvm::Module& module;
  llvm::IRBuilder<> b;
  llvm::Type *real, *word;

  Double(llvm::Module& m) : module(m), b(m.getContext()), real(b.getDoubleTy()), word(b.getInt64Ty()) {}

  V k(double x) { return llvm::ConstantFP::get(real, x); }
  V n(int64_t x) { return b.getInt64(uint64_t(x)); }
  V add(V x, V y) { return b.CreateFAdd(x, y); }
  V sub(V x, V y) { return b.CreateFSub(x, y); }
  V mul(V x, V y) { return b.CreateFMul(x, y); }
  V div(V x, V y) { return b.CreateFDiv(x, y); }
  V neg(V x) { return b.CreateFNeg(x); }
  V fma(V x, V y, V z) { return b.CreateIntrinsic(llvm::Intrinsic::fma, {real}, {x, y, z}); }
  V abs(V x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  V sqrt(V x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  V round(V x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, x); }
  V sign_of(V x, V from) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, from); }
  V bits(V x) { return b.CreateBitCast(x, word); }
  V number(V x) { return b.CreateBitCast(x, real); }
  V select(V c, V x, V y) { return b.CreateSelect(c, x, y); }
  V less(V x, V y) { return b.CreateFCmpOLT(x, y); }
  V greater(V x, V y) { return b.CreateFCmpOGT(x, y); }
  V equal(V x, V y) { return b.CreateFCmpOEQ(x, y); }
  V infinity(bool negative = false) { return llvm::ConstantFP::getInfinity(real, negative); }
  V nan() { return llvm::ConstantFP::getNaN(real); }
  V negative(V x) { return b.CreateICmpSLT(bits(x), n(0)); }  // by its sign alone
  V at_most(V x, double high) { return select(greater(x, k(high)), k(high), x); }
  V at_least(V x, double low) { return select(less(x, k(low)), k(low), x); }
  V power_of_two(V exponent) { return number(b.CreateShl(b.CreateAdd(exponent, n(1023)), 52)); }
  V polynomial(V x, std::initializer_list<double> c) {  // highest first
    auto it = c.begin();
    V sum = k(*it);
    for (++it; it != c.end(); ++it) sum = fma(sum, x, k(*it));
    return sum;
  }

  // A function of the module: written when it is first asked for.
  llvm::Function* function(const char* name, int arguments, const std::function<V(Double&, llvm::Function*)>& body) {
    const std::string full = std::string("weft_") + name;
    if (llvm::Function* f = module.getFunction(full)) return f;
    auto* f = llvm::Function::Create(llvm::FunctionType::get(real, std::vector<llvm::Type*>(size_t(arguments), real), false),
                                     llvm::GlobalValue::InternalLinkage, full, module);
    f->addFnAttr(llvm::Attribute::NoUnwind);
    f->addFnAttr(llvm::Attribute::WillReturn);
    f->setDoesNotAccessMemory();
    Double d(module);
    d.b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", f));
    V result = body(d, f);
    d.b.CreateRet(result);
    return f;
  }
  V unary(const char* name, V x, V (Double::*body)(V)) {
    return b.CreateCall(function(name, 1, [&](Double& d, llvm::Function* f) { return (d.*body)(f->getArg(0)); }), {x});
  }
  V binary(const char* name, V x, V y, V (Double::*body)(V, V)) {
    return b.CreateCall(function(name, 2, [&](Double& d, llvm::Function* f) { return (d.*body)(f->getArg(0), f->getArg(1)); }), {x, y});
  }

  // ---- powers and logarithms
  struct Reduced {
    V whole, r;
  };
  // x = n ln 2 + r; the integer comes of adding a large number, which does no harm to NaN.
  Reduced reduce(V x) {
    V large = k(6755399441055744.0);
    V shifted = fma(x, k(1.4426950408889634074), large);
    V whole = b.CreateSExt(b.CreateTrunc(bits(shifted), b.getInt32Ty()), word), rounded = sub(shifted, large);
    V r = fma(rounded, k(-0.6931471805598903), x);
    return {whole, fma(rounded, k(-5.497923018708371e-14), r)};
  }
  // e^r - 1 for |r| <= ln 2 / 2.
  V exp_rest(V r) {
    V p = polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                         1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
    return fma(mul(r, r), p, r);
  }
  V exp_body(V x) {
    const Reduced d = reduce(at_least(at_most(x, 710.0), -746.0));
    V y = add(exp_rest(d.r), k(1)), half = b.CreateAShr(d.whole, 1);
    return mul(mul(y, power_of_two(half)), power_of_two(b.CreateSub(d.whole, half)));
  }
  V exp(V x) { return unary("exp", x, &Double::exp_body); }
  V expm1_body(V x) {
    const Reduced d = reduce(at_least(at_most(x, 710.0), -40.0));
    V s = power_of_two(b.CreateSub(d.whole, n(1)));
    V y = fma(exp_rest(d.r), s, sub(s, k(0.5)));
    return select(equal(x, k(0)), x, add(y, y));
  }
  V expm1(V x) { return unary("expm1", x, &Double::expm1_body); }

  // x = 2^exponent (1 + f) with 1 + f around 1.
  struct Split {
    V exponent, f;
  };
  Split split(V x) {
    V tiny = less(x, k(2.2250738585072014e-308));
    V scaled = bits(select(tiny, mul(x, k(18014398509481984.0)), x));
    V exponent = b.CreateAShr(b.CreateSub(scaled, n(0x3fe6a09e667f3bcd)), 52);
    V m = number(b.CreateSub(scaled, b.CreateShl(exponent, 52)));
    return {b.CreateSIToFP(b.CreateSub(exponent, select(tiny, n(54), n(0))), real), sub(m, k(1))};
  }
  // 2 (z / 3 + z^2 / 5 + ...)
  V log_series(V z) {
    return mul(z,
               polynomial(z, {2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3}));
  }
  V log_special(V x, V y) {
    y = select(less(x, infinity()), y, x);  // infinity, NaN
    y = select(less(x, k(0)), nan(), y);
    return select(equal(x, k(0)), infinity(true), y);
  }
  V log_body(V x) {
    const Split d = split(x);
    V s = div(d.f, add(d.f, k(2))), z = mul(s, s), half = mul(mul(d.f, d.f), k(0.5));
    V low = fma(s, add(half, log_series(z)), mul(d.exponent, k(5.497923018708371e-14)));
    return log_special(x, fma(d.exponent, k(0.6931471805598903), sub(d.f, sub(half, low))));
  }
  V log(V x) { return unary("log", x, &Double::log_body); }
  V log1p_body(V x) {
    V u = add(x, k(1));
    V lost = div(sub(x, sub(u, k(1))), u);
    V fine = b.CreateAnd(greater(u, k(0)), less(u, infinity()));
    V y = add(log(u), select(fine, lost, k(0)));
    return select(less(abs(x), k(1e-17)), x, y);
  }
  V log1p(V x) { return unary("log1p", x, &Double::log1p_body); }

  V pow_body(V x, V y) {
    V a = abs(x);
    // log a as a sum of two.
    const Split d = split(a);
    V below = add(d.f, k(2)), s = div(d.f, below);
    V s_low = div(fma(neg(s), below, d.f), below);
    s_low = add(s_low, div(mul(s, sub(sub(below, k(2)), d.f)), below));  // what rounding 2 + f changed
    V z = mul(s, s), head = add(s, s), rest = fma(s, log_series(z), add(s_low, s_low));
    V e_high = mul(d.exponent, k(0.6931471805598903));  // exact: the constant has bits to spare
    V high = add(e_high, head), carry = add(sub(e_high, high), head);
    carry = select(greater(abs(head), abs(e_high)), add(sub(head, high), e_high), carry);
    V low = add(carry, fma(d.exponent, k(5.497923018708371e-14), rest)), sum = add(high, low);
    low = sub(low, sub(sum, high));
    high = sum;
    V finite = b.CreateAnd(greater(a, k(0)), less(a, infinity()));
    high = select(finite, high, log_special(a, high));
    low = select(finite, low, k(0));
    V p = mul(y, high), p_low = add(fma(y, high, neg(p)), mul(y, low));
    V plain = less(abs(p), k(1e4));
    V power = exp(p);
    V exact = fma(power, p_low, power);
    power = select(b.CreateAnd(plain, less(power, infinity())), exact, power);
    power = select(equal(a, k(1)), k(1), power);
    V whole = equal(round(y), y), half = mul(y, k(0.5));
    V odd = b.CreateAnd(whole, b.CreateAnd(b.CreateFCmpONE(round(half), half), less(abs(y), k(9007199254740992.0))));
    V wrong = b.CreateAnd(b.CreateAnd(less(x, k(0)), b.CreateFCmpONE(a, infinity())), b.CreateAnd(b.CreateNot(whole), less(abs(y), infinity())));
    power = select(wrong, nan(), power);
    power = select(b.CreateAnd(odd, negative(x)), neg(power), power);
    power = select(b.CreateFCmpUNO(x, y), nan(), power);
    return select(b.CreateOr(equal(y, k(0)), equal(x, k(1))), k(1), power);
  }
  V pow(V x, V y) { return binary("pow", x, y, &Double::pow_body); }

  V sinh_body(V x) {
    V a = abs(x), t = expm1(at_most(a, 25.0)), h = exp(mul(a, k(0.5)));
    V y = mul(k(0.5), add(t, div(t, add(t, k(1)))));
    return sign_of(select(greater(a, k(22)), mul(mul(k(0.5), h), h), y), x);
  }
  V cosh_body(V x) {
    V a = abs(x), t = exp(at_most(a, 25.0)), h = exp(mul(a, k(0.5)));
    return select(greater(a, k(22)), mul(mul(k(0.5), h), h), add(mul(k(0.5), t), div(k(0.5), t)));
  }
  V tanh_body(V x) {
    V a = at_most(abs(x), 22.0), t = expm1(add(a, a));
    return sign_of(div(t, add(t, k(2))), x);
  }
  V logistic_body(V x) { return div(k(1), add(k(1), exp(neg(x)))); }
  V asinh_body(V x) {
    V a = abs(x), c = at_most(a, 1e9), square = mul(c, c);
    V y = log1p(add(c, div(square, add(k(1), sqrt(add(square, k(1)))))));
    return sign_of(select(greater(a, k(1e9)), add(log(a), k(0.69314718055994530942)), y), x);
  }
  V acosh_body(V x) {
    V t = sub(at_most(x, 1e9), k(1));
    V y = log1p(add(t, sqrt(add(add(t, t), mul(t, t)))));
    return select(greater(x, k(1e9)), add(log(x), k(0.69314718055994530942)), select(less(x, k(1)), nan(), y));
  }
  V atanh_body(V x) {
    V a = abs(x);
    return sign_of(mul(k(0.5), log1p(div(add(a, a), sub(k(1), a)))), x);
  }

  // ---- angles
  // The parts of a quarter of a turn: x = quadrant pi / 2 + r.
  struct ReducedAngle {
    V quadrant, r;
  };
  ReducedAngle reduce_angle(V x) {
    V a = abs(x), held = at_most(a, 268435456.0), large = k(6755399441055744.0);
    V shifted = fma(held, k(0.63661977236758134308), large);
    V quadrant = b.CreateAnd(bits(shifted), n(0x7fffffff)), rounded = sub(shifted, large);
    V r = fma(neg(rounded), k(1.5707963267948966), held);
    r = fma(neg(rounded), k(6.123233995736766e-17), r);
    r = fma(neg(rounded), k(-1.4973849048591698e-33), r);
    // Large ones: the bits of 2 / pi that matter, times the mantissa.
    static constexpr uint64_t kBits[] = {0,
                                         0xa2f9836e4e441529,
                                         0xfc2757d1f534ddc0,
                                         0xdb6295993c439041,
                                         0xfe5163abdebbc561,
                                         0xb7246e3a424dd2e0,
                                         0x06492eea09d1921c,
                                         0xfe1deb1cb129a73e,
                                         0xe88235f52ebb4484,
                                         0xe99c7026b45f7e41,
                                         0x3991d639835339f4,
                                         0x9c845f8bbdf9283b,
                                         0x1ff897ffde05980f,
                                         0xef2f118b5a0a6d1f,
                                         0x6d367ecf27cb09b7,
                                         0x4f463f669e5fea2d,
                                         0x7527bac7ebe5f17b,
                                         0x3d0739f78a5292ea,
                                         0x6bfb5fb11f8d5d08,
                                         0x56033046fc7b6bab,
                                         0xf0cfbc209af4361d};
    const char* name = "weft_two_over_pi";
    llvm::GlobalVariable* table = module.getNamedGlobal(name);
    if (!table) {
      llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), kBits);
      table = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::InternalLinkage, data, name);
      table->setAlignment(llvm::Align(8));
    }
    V far = select(less(a, infinity()), a, k(1));  // also for NaN
    far = select(greater(far, k(1)), far, k(1));
    V raw = bits(far), mantissa = b.CreateOr(b.CreateAnd(raw, n(0xfffffffffffff)), n(int64_t(1) << 52));
    V from = b.CreateAdd(b.CreateSub(b.CreateLShr(raw, 52), n(1075)), n(62)), at = b.CreateLShr(from, 6), shift = b.CreateAnd(from, n(63));
    const auto load = [&](int64_t i) -> V {
      llvm::LoadInst* l = b.CreateLoad(word, b.CreateInBoundsGEP(word, table, b.CreateAdd(at, n(i))));
      l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
      return l;
    };
    V words[4] = {load(0), load(1), load(2), load(3)};
    llvm::Type* wide = b.getInt128Ty();
    const auto part = [&](int i) { return b.CreateIntrinsic(llvm::Intrinsic::fshl, {word}, {words[i], words[i + 1], shift}); };
    const auto product = [&](V w) { return b.CreateMul(b.CreateZExt(mantissa, wide), b.CreateZExt(w, wide)); };
    V p2 = product(part(2)), p1 = b.CreateAdd(product(part(1)), b.CreateLShr(p2, 64)), p0 = b.CreateAdd(product(part(0)), b.CreateLShr(p1, 64));
    V high = b.CreateTrunc(p0, word), low = b.CreateTrunc(p1, word);
    V above = b.CreateOr(b.CreateShl(high, 2), b.CreateLShr(low, 62)), under = b.CreateShl(low, 2);
    V up = b.CreateLShr(above, 63);
    V fraction = add(mul(b.CreateSIToFP(above, real), k(0x1p-64)), mul(b.CreateUIToFP(under, real), k(0x1p-128)));
    V is_far = greater(a, k(268435456.0));
    quadrant = select(is_far, b.CreateAdd(b.CreateLShr(high, 62), up), quadrant);
    r = select(is_far, mul(fraction, k(1.5707963267948966)), r);
    return {quadrant, select(b.CreateFCmpUEQ(a, infinity()), nan(), r)};
  }
  V sine(V r) {
    V z = mul(r, r);
    V p = polynomial(z, {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
                         8.33333333332248946124e-03, -1.66666666666666324348e-01});
    return fma(mul(z, r), p, r);
  }
  V cosine(V r) {
    V z = mul(r, r);
    V p = polynomial(z, {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                         -1.38888888888741095749e-03, 4.16666666666666019037e-02});
    V half = mul(z, k(0.5)), w = sub(k(1), half);
    return add(w, fma(mul(z, z), p, sub(sub(k(1), w), half)));
  }
  V bit(V q, int64_t which) { return b.CreateICmpNE(b.CreateAnd(q, n(which)), n(0)); }
  V sin_body(V x) {
    const ReducedAngle t = reduce_angle(x);
    V y = select(bit(t.quadrant, 1), cosine(t.r), sine(t.r));
    y = select(bit(t.quadrant, 2), neg(y), y);
    y = select(negative(x), neg(y), y);
    return select(equal(x, k(0)), x, y);
  }
  V cos_body(V x) {
    const ReducedAngle t = reduce_angle(x);
    V y = select(bit(t.quadrant, 1), sine(t.r), cosine(t.r));
    return select(bit(b.CreateAdd(t.quadrant, n(1)), 2), neg(y), y);
  }
  V tan_body(V x) {
    const ReducedAngle t = reduce_angle(x);
    V s = sine(t.r), c = cosine(t.r), odd = bit(t.quadrant, 1);
    V y = div(select(odd, neg(c), s), select(odd, s, c));
    y = select(negative(x), neg(y), y);
    return select(equal(x, k(0)), x, y);
  }
  V atan_body(V x) {
    V a = abs(x), large = greater(a, k(2.41421356237309504880)), middle = b.CreateAnd(greater(a, k(0.66)), b.CreateNot(large));
    V t = select(large, div(k(-1), a), select(middle, div(sub(a, k(1)), add(a, k(1))), a));
    V base = select(large, k(1.5707963267948966), select(middle, k(0.78539816339744828), k(0)));
    V more = select(large, k(6.123233995736766e-17), select(middle, k(3.061616997868383e-17), k(0)));
    V z = mul(t, t);
    V p = polynomial(z, {-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1, -1.228866684490136173410e2,
                         -6.485021904942025371773e1});
    V q = polynomial(z, {1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2, 4.853903996359136964868e2,
                         1.945506571482613964425e2});
    V y = fma(t, mul(z, div(p, q)), t);
    return sign_of(add(base, add(y, more)), x);
  }
  V atan(V x) { return unary("atan", x, &Double::atan_body); }
  V atan2_body(V y, V x) {
    V a = abs(y), c = abs(x), steep = greater(a, c);
    V small = select(steep, c, a), big = select(steep, a, c);
    V ratio = select(equal(big, k(0)), k(0), select(equal(small, infinity()), k(1), div(small, big)));
    V angle = atan(ratio);
    angle = select(steep, add(sub(k(1.5707963267948966), angle), k(6.123233995736766e-17)), angle);
    angle = select(negative(x), add(sub(k(3.141592653589793), angle), k(1.2246467991473532e-16)), angle);
    return select(b.CreateFCmpUNO(x, y), nan(), sign_of(angle, y));
  }
  V asin_series(V z) {
    V p = polynomial(z, {3.47933107596021167570e-05, 7.91534994289814532176e-04, -4.00555345006794114027e-02, 2.01212532134862925881e-01,
                         -3.25565818622400915405e-01, 1.66666666666666657415e-01});
    V q = polynomial(z, {7.70381505559019352791e-02, -6.88283971605453293030e-01, 2.02094576023350569471e+00, -2.40339491173441421878e+00, 1.0});
    return mul(z, div(p, q));
  }
  V asin_body(V x) {
    V a = abs(x), outer = greater(a, k(0.5)), z = select(outer, mul(sub(k(1), a), k(0.5)), mul(a, a)), s = select(outer, sqrt(z), a);
    V y = fma(s, asin_series(z), s);
    V far = sub(k(1.5707963267948966), sub(add(y, y), k(6.123233995736766e-17)));
    return sign_of(select(outer, far, y), x);  // beyond 1: the root is NaN
  }
  V acos_body(V x) {
    V a = abs(x), outer = greater(a, k(0.5)), z = select(outer, mul(sub(k(1), a), k(0.5)), mul(a, a)), s = select(outer, sqrt(z), x);
    V y = fma(s, asin_series(z), s), twice = add(y, y);
    V far = select(negative(x), sub(k(3.141592653589793), sub(twice, k(1.2246467991473532e-16))), twice);
    return select(outer, far, sub(k(1.5707963267948966), sub(y, k(6.123233995736766e-17))));
  }

  // ---- the rest
  // erfc by e^(-x^2) times a polynomial in (x - 3.75) / (x + 3.75), fitted on [0.5, 28]; erf below that by its series.
  V erfc_outside(V a) {
    V c = at_most(a, 28.0), below = add(c, k(3.75)), t = div(sub(c, k(3.75)), below);
    V p = polynomial(
        t, {-4.1830023149393321554e-9, 2.1746182600239625461e-9,  3.9036732590410241301e-8,  -2.5358525537458499562e-8, -2.6302205886332300987e-7,
            2.7851129004525621065e-7,  1.6558414525846735755e-6,  -3.2887047141453925095e-6, -8.9039211967278483685e-6, 3.7471443886801368116e-5,
            1.0593997049228131735e-5,  -3.4864679378372167755e-4, 7.9482309648889269801e-4,  9.8633807152599003132e-4,  -1.2535880040567283952e-2,
            4.9118778615876686325e-2,  -1.3195540117857147919e-1, 2.7906204903376189435e-1,  -4.9047029120767722822e-1, 7.3631892522175195702e-1,
            -9.587415766529095778e-1,  1.0919229095627890423});
    V square = mul(c, c), lost = fma(c, c, neg(square)), power = exp(neg(square));
    return mul(div(p, below), fma(neg(power), lost, power));
  }
  V erf_inside(V x) {
    V z = mul(x, x), sum = nullptr;
    double factorial = 1, term[16];
    for (int i = 0; i < 16; ++i) {
      if (i) factorial *= i;
      term[i] = (i % 2 ? -1.0 : 1.0) * 1.1283791670955125739 / (factorial * (2 * i + 1));
    }
    sum = k(term[15]);
    for (int i = 14; i >= 0; --i) sum = fma(sum, z, k(term[i]));
    return mul(x, sum);
  }
  V erf_body(V x) {
    V a = abs(x), far = sign_of(sub(k(1), erfc_outside(a)), x);
    V y = select(less(a, k(0.6)), erf_inside(select(less(a, k(0.6)), x, k(0))), far);
    // TensorFlow's is a quotient of polynomials in x^2: NaN where that is infinite.
    return select(b.CreateFCmpUEQ(mul(x, x), infinity()), nan(), y);
  }
  V erfc_body(V x) {
    V a = abs(x), y = erfc_outside(a), near = sub(k(1), erf_inside(select(less(a, k(0.6)), x, k(0))));
    y = select(less(x, k(0)), sub(k(2), y), y);
    return select(b.CreateFCmpUNO(x, x), x, select(less(a, k(0.6)), near, y));
  }
  // Lanczos' approximation, and its mirror image for what is below a half.
  V lgamma_body(V x) {
    V mirror = less(x, k(0.5)), z = sub(select(mirror, sub(k(1), x), x), k(1));
    static constexpr double kTerms[] = {
        676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894, -176.61502916214059906584551354,
        12.507343278686904814458936853,     -0.13857109526572011689554707,       9.984369578019570859563e-6,       1.50563273514931155834e-7};
    V sum = k(0.99999999999980993227684700473478);
    for (int i = 0; i < 8; ++i) sum = add(sum, div(k(kTerms[i]), add(z, k(i + 1))));
    V t = add(z, k(7.5));
    // (z + 1/2) log t - t, together: for large ones the two parts are near each other.
    V y = add(fma(add(z, k(0.5)), sub(log(t), k(1)), k(-7)), add(log(sum), k(0.91893853320467274178)));
    V a = abs(x), f = sub(a, b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a));
    f = select(greater(f, k(0.5)), sub(k(1), f), f);
    V s = unary("sin", mul(f, k(3.141592653589793)), &Double::sin_body);
    V other = sub(sub(k(1.1447298858494001741), log(s)), y);
    y = select(mirror, other, y);
    return select(equal(a, infinity()), infinity(), y);
  }

  // x = q y + r with r of x's sign, exact: 11 bits of the quotient at a time.
  V remainder(V x, V y) {
    return b.CreateCall(function("remainder", 2,
                                 [](Double& d, llvm::Function* f) {
                                   auto& b = d.b;
                                   V x = f->getArg(0), y = f->getArg(1), a = d.abs(x), c = d.abs(y);
                                   const auto parts = [&](V v) {  // mantissa and exponent, subnormal ones too
                                     V raw = d.bits(v), e = b.CreateLShr(raw, 52), m = b.CreateAnd(raw, d.n(0xfffffffffffff));
                                     V tiny = b.CreateICmpEQ(e, d.n(0));
                                     return std::pair<V, V>(d.select(tiny, m, b.CreateOr(m, d.n(int64_t(1) << 52))), d.select(tiny, d.n(1), e));
                                   };
                                   const auto [mx, ex] = parts(a);
                                   const auto [my, ey] = parts(c);
                                   V divisor = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, my, d.n(1));
                                   V first = b.CreateURem(mx, divisor), left = b.CreateSub(ex, ey);
                                   llvm::BasicBlock* before = b.GetInsertBlock();
                                   llvm::BasicBlock* loop = llvm::BasicBlock::Create(b.getContext(), "loop", f);
                                   llvm::BasicBlock* behind = llvm::BasicBlock::Create(b.getContext(), "end", f);
                                   b.CreateCondBr(b.CreateICmpSGT(left, d.n(0)), loop, behind);
                                   b.SetInsertPoint(loop);
                                   llvm::PHINode *m = b.CreatePHI(d.word, 2), *l = b.CreatePHI(d.word, 2);
                                   V step = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, l, d.n(11));
                                   V next = b.CreateURem(b.CreateShl(m, step), divisor), rest = b.CreateSub(l, step);
                                   m->addIncoming(first, before), m->addIncoming(next, loop);
                                   l->addIncoming(left, before), l->addIncoming(rest, loop);
                                   b.CreateCondBr(b.CreateICmpSGT(rest, d.n(0)), loop, behind);
                                   b.SetInsertPoint(behind);
                                   llvm::PHINode* r = b.CreatePHI(d.word, 2);
                                   r->addIncoming(first, before), r->addIncoming(next, loop);
                                   V power = b.CreateSub(ey, d.n(1075)), half = b.CreateAShr(power, 1);
                                   V v = d.mul(d.mul(b.CreateUIToFP(r, d.real), d.power_of_two(half)), d.power_of_two(b.CreateSub(power, half)));
                                   v = d.sign_of(d.select(d.less(a, c), a, v), x);
                                   V wrong = b.CreateOr(b.CreateFCmpUEQ(a, d.infinity()), b.CreateFCmpUEQ(c, d.k(0)));
                                   return d.select(wrong, d.nan(), v);
                                 }),
                        {x, y});
  }
};

V as_double(CodeEmitter& e, V x) { return x->getType()->isDoubleTy() ? x : e.b.CreateFPExt(x, e.b.getDoubleTy()); }
V back(CodeEmitter& e, V y, llvm::Type* t) { return t->isDoubleTy() ? y : e.b.CreateFPTrunc(y, t); }

}  // namespace

V gpu_math(CodeEmitter& e, ir::Unary op, V x) {
  using ir::Unary;
  Double d(e.module);
  d.b.SetInsertPoint(e.b.GetInsertBlock(), e.b.GetInsertPoint());
  V w = as_double(e, x);
  d.b.SetInsertPoint(e.b.GetInsertBlock(), e.b.GetInsertPoint());
  const auto of = [&](const char* name, V (Double::*body)(V)) { return back(e, d.unary(name, w, body), x->getType()); };
  switch (op) {
    case Unary::kExp: return of("exp", &Double::exp_body);
    case Unary::kExpm1: return of("expm1", &Double::expm1_body);
    case Unary::kLog: return of("log", &Double::log_body);
    case Unary::kLog1p: return of("log1p", &Double::log1p_body);
    case Unary::kSin: return of("sin", &Double::sin_body);
    case Unary::kCos: return of("cos", &Double::cos_body);
    case Unary::kTan: return of("tan", &Double::tan_body);
    case Unary::kAsin: return of("asin", &Double::asin_body);
    case Unary::kAcos: return of("acos", &Double::acos_body);
    case Unary::kAtan: return of("atan", &Double::atan_body);
    case Unary::kSinh: return of("sinh", &Double::sinh_body);
    case Unary::kCosh: return of("cosh", &Double::cosh_body);
    case Unary::kTanh: return of("tanh", &Double::tanh_body);
    case Unary::kAsinh: return of("asinh", &Double::asinh_body);
    case Unary::kAcosh: return of("acosh", &Double::acosh_body);
    case Unary::kAtanh: return of("atanh", &Double::atanh_body);
    case Unary::kLogistic: return of("logistic", &Double::logistic_body);
    case Unary::kErf: return of("erf", &Double::erf_body);
    case Unary::kErfc: return of("erfc", &Double::erfc_body);
    case Unary::kLgamma: return of("lgamma", &Double::lgamma_body);
    default: return e.fail(core::internal_error("no GPU code for ", ir::name_of(op)), x->getType());
  }
}

V gpu_math(CodeEmitter& e, ir::Binary op, V x, V y) {
  V a = as_double(e, x), c = as_double(e, y);
  Double d(e.module);
  d.b.SetInsertPoint(e.b.GetInsertBlock(), e.b.GetInsertPoint());
  V r = op == ir::Binary::kAtan2 ? d.binary("atan2", a, c, &Double::atan2_body) : d.binary("pow", a, c, &Double::pow_body);
  return back(e, r, x->getType());
}

V gpu_remainder(CodeEmitter& e, V x, V y) {
  V a = as_double(e, x), c = as_double(e, y);
  Double d(e.module);
  d.b.SetInsertPoint(e.b.GetInsertBlock(), e.b.GetInsertPoint());
  return back(e, d.remainder(a, c), x->getType());
}

}  // namespace weft_engine::compiler
