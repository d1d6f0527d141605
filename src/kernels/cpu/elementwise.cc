#include "kernels/cpu/elementwise.h"

#include "kernels/cpu/binary_loops.h"
#include "kernels/cpu/elementwise_simd.h"
#include "kernels/cpu/narrow.h"
#include "kernels/cpu/narrow_simd.h"
#include "kernels/cpu/unary_loops.h"

#include <algorithm>
#include <cstring>
#include <span>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace weft_engine::kernels {

using core::DType;

namespace {

constexpr std::string_view kUnaryNames[] = {
#define WEFT_UNARY(Name) #Name,
#include "kernels/cpu/scalar_functions.inc"
};
constexpr std::string_view kBinaryNames[] = {
#define WEFT_BINARY(Name) #Name,
#include "kernels/cpu/scalar_functions.inc"
};

template <class F>
std::optional<F> find(std::span<const std::string_view> names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? std::nullopt : std::optional(F(it - names.begin()));
}

}  // namespace

std::string_view name_of(Unary f) { return kUnaryNames[size_t(f)]; }
std::string_view name_of(Binary f) { return kBinaryNames[size_t(f)]; }
std::optional<Unary> find_unary(std::string_view name) { return find<Unary>(kUnaryNames, name); }
std::optional<Binary> find_binary(std::string_view name) { return find<Binary>(kBinaryNames, name); }

bool keeps_type(Unary f) {
  switch (f) {
#define WEFT_UNARY_TO_OTHER(Name) case Unary::k##Name:
#include "kernels/cpu/scalar_functions.inc"
    return false;
    default: return true;
  }
}

bool keeps_type(Binary f) {
  switch (f) {
#define WEFT_BINARY_TO_OTHER(Name) case Binary::k##Name:
#include "kernels/cpu/scalar_functions.inc"
    return false;
    default: return true;
  }
}

BinaryLoop binary_loop(Binary op, DType t) {
  if (BinaryLoop f = WEFT_BEST_ISA(binary_loop)(op, t)) return f;
  if (BinaryLoop f = WEFT_BEST_ISA(binary_math_loop)(op, t)) return f;
  if (BinaryLoop f = integer_binary_loop(op, t)) return f;
  if (BinaryLoop f = float_binary_loop(op, t)) return f;
  if (BinaryLoop f = complex_binary_loop(op, t)) return f;
  return special_binary_loop(op, t);
}

UnaryLoop unary_loop(Unary op, DType t) {
  if (UnaryLoop f = WEFT_BEST_ISA(unary_loop)(op, t)) return f;
  if (UnaryLoop f = plain_unary_loop(op, t)) return f;
  return special_unary_loop(op, t);
}

BinaryRowsLoop binary_rows_loop(Binary op, DType t) { return WEFT_BEST_ISA(binary_rows_loop)(op, t); }

void stream_copy(void* to, const void* from, size_t bytes) {
#if defined(__x86_64__)
  char* d = static_cast<char*>(to);
  const char* s = static_cast<const char*>(from);
  const size_t head = (64 - reinterpret_cast<uintptr_t>(d) % 64) % 64;
  if (bytes > head + 64) {
    std::memcpy(d, s, head);
    d += head, s += head, bytes -= head;
    for (; bytes >= 64; d += 64, s += 64, bytes -= 64) {
      for (int i = 0; i < 64; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(d + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + i)));
    }
    _mm_sfence();
  }
  std::memcpy(d, s, bytes);
#else
  std::memcpy(to, from, bytes);
#endif
}

namespace {

// Reading and writing main memory, for what is otherwise free.
double memory_cost(DType t) { return 0.1 * double(core::dtype_size(t)); }

}  // namespace

double binary_cost(Binary op, DType t) {
  switch (op) {
    case Binary::kPow:
    case Binary::kNextAfter: return 15;
    case Binary::kAtan2:
    case Binary::kXlogy:
    case Binary::kXlog1py:
    case Binary::kSoftplusGrad: return t == DType::kFloat ? 1 : 15;
    case Binary::kFloorMod:
    case Binary::kTruncateMod: return t == DType::kFloat || t == DType::kInt32 ? 1 : 5;
    case Binary::kFloorDiv:
    case Binary::kTruncateDiv: return t == DType::kFloat || t == DType::kDouble || t == DType::kInt32 ? 0.5 : 5;
    case Binary::kIgamma:
    case Binary::kIgammac:
    case Binary::kIgammaGradA:
    case Binary::kZeta:
    case Binary::kPolygamma: return 200;
    default: return memory_cost(t);
  }
}

double unary_cost(Unary op, DType t) {
  switch (op) {
    case Unary::kExp:
    case Unary::kExpm1:
    case Unary::kLog:
    case Unary::kLog1p:
    case Unary::kSin:
    case Unary::kCos:
    case Unary::kTanh:
    case Unary::kSigmoid:
    case Unary::kElu:
    case Unary::kSelu:
    case Unary::kSoftplus:
    case Unary::kErf:
    case Unary::kErfc: return t == DType::kFloat ? 0.5 : 10;
    case Unary::kComplexAbs:
    case Unary::kAngle: return 10;
    default: break;
  }
  if (t == DType::kFloat && (op == Unary::kErfinv || op == Unary::kNdtri)) return 2;
  if (op >= Unary::kErfc && op <= Unary::kBesselY1) return 30;
  if (op >= Unary::kExp && op <= Unary::kAtanh) return t == DType::kFloat ? 1 : 5;
  return memory_cost(t);
}

WidenLoop widen_loop(DType t) {
  return t == DType::kHalf ? WEFT_BEST_ISA(half_to_floats) : t == DType::kBfloat16 ? WEFT_BEST_ISA(bfloat_to_floats) : nullptr;
}

NarrowLoop narrow_loop(DType t) {
  return t == DType::kHalf ? WEFT_BEST_ISA(floats_to_half) : t == DType::kBfloat16 ? WEFT_BEST_ISA(floats_to_bfloat) : nullptr;
}

}  // namespace weft_engine::kernels
