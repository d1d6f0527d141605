#include "kernels/cpu/elementwise.h"

#include "kernels/cpu/binary_loops.h"
#include "kernels/cpu/elementwise_simd.h"
#include "kernels/cpu/narrow.h"
#include "kernels/cpu/narrow_simd.h"
#include "kernels/cpu/unary_loops.h"

namespace weft::kernels {

using core::DType;

BinaryLoop binary_loop(Binary op, DType t) {
  if (BinaryLoop f = WEFT_BEST_ISA(binary_loop)(op, t)) return f;
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

namespace {

// Reading and writing main memory, for what is otherwise free.
double memory_cost(DType t) { return 0.1 * double(core::dtype_size(t)); }

}  // namespace

double binary_cost(Binary op, DType t) {
  switch (op) {
    case Binary::kPow:
    case Binary::kAtan2:
    case Binary::kXlogy:
    case Binary::kXlog1py:
    case Binary::kNextAfter:
    case Binary::kSoftplusGrad: return 15;
    case Binary::kFloorMod:
    case Binary::kTruncateMod:
    case Binary::kFloorDiv:
    case Binary::kTruncateDiv: return 5;
    case Binary::kIgamma:
    case Binary::kIgammac:
    case Binary::kIgammaGradA:
    case Binary::kZeta:
    case Binary::kPolygamma: return 200;
    default: return memory_cost(t);
  }
}

double unary_cost(Unary op, DType t) {
  if (op >= Unary::kErfc && op <= Unary::kBesselY1) return 30;
  if (op >= Unary::kExp && op <= Unary::kAtanh) return 5;
  switch (op) {
    case Unary::kSigmoid:
    case Unary::kElu:
    case Unary::kSelu:
    case Unary::kSoftplus:
    case Unary::kErf: return t == DType::kFloat ? 1 : 10;
    case Unary::kComplexAbs:
    case Unary::kAngle: return 10;
    default: return memory_cost(t);
  }
}

WidenLoop widen_loop(DType t) {
  return t == DType::kHalf ? WEFT_BEST_ISA(half_to_floats) : t == DType::kBfloat16 ? WEFT_BEST_ISA(bfloat_to_floats) : nullptr;
}

NarrowLoop narrow_loop(DType t) {
  return t == DType::kHalf ? WEFT_BEST_ISA(floats_to_half) : t == DType::kBfloat16 ? WEFT_BEST_ISA(floats_to_bfloat) : nullptr;
}

}  // namespace weft::kernels
