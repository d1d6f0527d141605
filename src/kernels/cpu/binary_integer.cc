// Integer arithmetic, and equality of all that is compared bit by bit. Signed overflow wraps around, so sums and products are done on the unsigned type.
#include <limits>
#include <type_traits>

#include "core/tstring.h"
#include "kernels/cpu/binary_loops.h"

namespace weft_engine::kernels {
namespace {

using core::DType;

// Small unsigned types are promoted to int, where a product may overflow; unsigned int does not.
template <class T>
using Modular = std::conditional_t<(sizeof(T) < 4), unsigned, std::make_unsigned_t<T>>;

#define WEFT_OP(Name, expr)           \
  struct Name {                       \
    template <class T>                \
    auto operator()(T a, T b) const { \
      return expr;                    \
    }                                 \
  };
WEFT_OP(Add, T(Modular<T>(a) + Modular<T>(b)))
WEFT_OP(Sub, T(Modular<T>(a) - Modular<T>(b)))
WEFT_OP(Mul, T(Modular<T>(a) * Modular<T>(b)))
WEFT_OP(SquaredDifference, T((Modular<T>(a) - Modular<T>(b)) * (Modular<T>(a) - Modular<T>(b))))
WEFT_OP(Maximum, a < b ? b : a)
WEFT_OP(Minimum, b < a ? b : a)
WEFT_OP(And, T(a& b))
WEFT_OP(Or, T(a | b))
WEFT_OP(Xor, T(a ^ b))
WEFT_OP(Equal, a == b)
WEFT_OP(NotEqual, a != b)
WEFT_OP(Less, a < b)
WEFT_OP(LessEqual, a <= b)
WEFT_OP(ReluGrad, b > 0 ? a : T(0))
WEFT_OP(Relu6Grad, (b > 0 && b < 6) ? a : T(0))
#undef WEFT_OP

struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct StringEqual {
  bool operator()(const core::tstring& a, const core::tstring& b) const { return a == b; }
};
struct StringNotEqual {
  bool operator()(const core::tstring& a, const core::tstring& b) const { return a != b; }
};

template <class T>
int shift_count(T b) {
  constexpr int kTop = int(sizeof(T)) * 8 - 1;
  return b < 0 ? 0 : b > T(kTop) ? kTop : int(b);
}
struct LeftShift {
  template <class T>
  T operator()(T a, T b) const {
    return T(Modular<T>(a) << shift_count(b));
  }
};
struct RightShift {
  template <class T>
  T operator()(T a, T b) const {
    return T(a >> shift_count(b));
  }
};

// The quotient rounded towards zero; the lowest value divided by -1 wraps around to itself.
template <class T>
T divide(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return T(Modular<T>(0) - Modular<T>(a));
  }
  return T(a / b);
}
template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
  }
  return T(a % b);
}

#define WEFT_DIVISION(Name, body)            \
  struct Name {                              \
    template <class T>                       \
    T operator()(T a, T b, bool& ok) const { \
      if (b == 0) {                          \
        ok = false;                          \
        return 0;                            \
      }                                      \
      body                                   \
    }                                        \
  };
WEFT_DIVISION(Div, return divide(a, b);)
WEFT_DIVISION(Mod, return remainder(a, b);)
WEFT_DIVISION(FloorDiv, {
  const T q = divide(a, b);
  return (a < 0) != (b < 0) && remainder(a, b) != 0 ? T(q - 1) : q;
})
WEFT_DIVISION(FloorMod, {
  const T m = remainder(a, b);
  return m != 0 && (m < 0) != (b < 0) ? T(m + b) : m;
})
#undef WEFT_DIVISION

struct Pow {
  template <class T>
  T operator()(T a, T b, bool& ok) const {
    if (b < 0) {
      ok = false;
      return 0;
    }
    Modular<T> result = 1, base = Modular<T>(a);
    for (auto e = Modular<T>(b); e; e >>= 1) {
      if (e & 1) result *= base;
      base *= base;
    }
    return T(result);
  }
};

// By size alone, where the sign makes no difference to the bits.
template <class Op>
BinaryLoop by_size(DType t) {
  switch (core::dtype_size(t)) {
    case 1: return &strided_loop<uint8_t, uint8_t, Op>;
    case 2: return &strided_loop<uint16_t, uint16_t, Op>;
    case 4: return &strided_loop<uint32_t, uint32_t, Op>;
    case 8: return &strided_loop<uint64_t, uint64_t, Op>;
    default: return nullptr;
  }
}
template <class Op>
BinaryLoop equality_by_size(DType t) {
  switch (core::dtype_size(t)) {
    case 1: return &strided_loop<uint8_t, bool, Op>;
    case 2: return &strided_loop<uint16_t, bool, Op>;
    case 4: return &strided_loop<uint32_t, bool, Op>;
    case 8: return &strided_loop<uint64_t, bool, Op>;
    default: return nullptr;
  }
}

#define WEFT_INTEGER_CASES(expr) \
  switch (t) {                   \
    case DType::kInt8: {         \
      using T = int8_t;          \
      return expr;               \
    }                            \
    case DType::kUint8: {        \
      using T = uint8_t;         \
      return expr;               \
    }                            \
    case DType::kInt16: {        \
      using T = int16_t;         \
      return expr;               \
    }                            \
    case DType::kUint16: {       \
      using T = uint16_t;        \
      return expr;               \
    }                            \
    case DType::kInt32: {        \
      using T = int32_t;         \
      return expr;               \
    }                            \
    case DType::kUint32: {       \
      using T = uint32_t;        \
      return expr;               \
    }                            \
    case DType::kInt64: {        \
      using T = int64_t;         \
      return expr;               \
    }                            \
    case DType::kUint64: {       \
      using T = uint64_t;        \
      return expr;               \
    }                            \
    default: return nullptr;     \
  }
template <class Op>
BinaryLoop by_type(DType t) {
  WEFT_INTEGER_CASES((&strided_loop<T, T, Op>))
}
template <class Op>
BinaryLoop comparison_by_type(DType t) {
  WEFT_INTEGER_CASES((&strided_loop<T, bool, Op>))
}
template <class Op>
BinaryLoop checked_by_type(DType t) {
  WEFT_INTEGER_CASES((&checked_loop<T, Op>))
}

bool has_plain_bytes(DType t) { return core::is_integer_type(t) || core::is_quantized_type(t) || t == DType::kBool; }

}  // namespace

BinaryLoop integer_binary_loop(Binary op, DType t) {
  if (t == DType::kString) {
    return op == Binary::kEqual      ? &strided_loop<core::tstring, bool, StringEqual>
           : op == Binary::kNotEqual ? &strided_loop<core::tstring, bool, StringNotEqual>
                                     : nullptr;
  }
  if (!has_plain_bytes(t)) return nullptr;
  if (op == Binary::kEqual) return equality_by_size<Equal>(t);
  if (op == Binary::kNotEqual) return equality_by_size<NotEqual>(t);
  if (!core::is_integer_type(t)) return nullptr;
  switch (op) {
    case Binary::kAdd: return by_size<Add>(t);
    case Binary::kSub: return by_size<Sub>(t);
    case Binary::kMul: return by_size<Mul>(t);
    case Binary::kSquaredDifference: return by_size<SquaredDifference>(t);
    case Binary::kBitwiseAnd: return by_size<And>(t);
    case Binary::kBitwiseOr: return by_size<Or>(t);
    case Binary::kBitwiseXor: return by_size<Xor>(t);
    case Binary::kMaximum: return by_type<Maximum>(t);
    case Binary::kMinimum: return by_type<Minimum>(t);
    case Binary::kLeftShift: return by_type<LeftShift>(t);
    case Binary::kRightShift: return by_type<RightShift>(t);
    case Binary::kReluGrad: return by_type<ReluGrad>(t);
    case Binary::kRelu6Grad: return by_type<Relu6Grad>(t);
    case Binary::kLess: return comparison_by_type<Less>(t);
    case Binary::kLessEqual: return comparison_by_type<LessEqual>(t);
    case Binary::kGreater: return comparison_by_type<Greater>(t);
    case Binary::kGreaterEqual: return comparison_by_type<GreaterEqual>(t);
    case Binary::kDiv:
    case Binary::kTruncateDiv: return checked_by_type<Div>(t);
    case Binary::kTruncateMod: return checked_by_type<Mod>(t);
    case Binary::kFloorDiv: return checked_by_type<FloorDiv>(t);
    case Binary::kFloorMod: return checked_by_type<FloorMod>(t);
    case Binary::kPow: return checked_by_type<Pow>(t);
    default: return nullptr;
  }
}

}  // namespace weft_engine::kernels
