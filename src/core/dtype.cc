#include "core/dtype.h"

#include "core/cat.h"

namespace weft_engine::core {
namespace {

struct Row {
  const char* name;
  const char* python_name;
  const char* enum_name;
  uint8_t size;
};

// Indexed by the type's number.
constexpr Row kRows[kNumDTypes] = {
    {"INVALID", "invalid", "DT_INVALID", 0},
    {"float", "float32", "DT_FLOAT", 4},
    {"double", "float64", "DT_DOUBLE", 8},
    {"int32", "int32", "DT_INT32", 4},
    {"uint8", "uint8", "DT_UINT8", 1},
    {"int16", "int16", "DT_INT16", 2},
    {"int8", "int8", "DT_INT8", 1},
    {"string", "string", "DT_STRING", 24},
    {"complex64", "complex64", "DT_COMPLEX64", 8},
    {"int64", "int64", "DT_INT64", 8},
    {"bool", "bool", "DT_BOOL", 1},
    {"qint8", "qint8", "DT_QINT8", 1},
    {"quint8", "quint8", "DT_QUINT8", 1},
    {"qint32", "qint32", "DT_QINT32", 4},
    {"bfloat16", "bfloat16", "DT_BFLOAT16", 2},
    {"qint16", "qint16", "DT_QINT16", 2},
    {"quint16", "quint16", "DT_QUINT16", 2},
    {"uint16", "uint16", "DT_UINT16", 2},
    {"complex128", "complex128", "DT_COMPLEX128", 16},
    {"half", "float16", "DT_HALF", 2},
    {"resource", "resource", "DT_RESOURCE", 16},
    {"variant", "variant", "DT_VARIANT", 16},
    {"uint32", "uint32", "DT_UINT32", 4},
    {"uint64", "uint64", "DT_UINT64", 8},
    {"float8_e5m2", "float8_e5m2", "DT_FLOAT8_E5M2", 1},
    {"float8_e4m3fn", "float8_e4m3fn", "DT_FLOAT8_E4M3FN", 1},
    {"float8_e4m3fnuz", "float8_e4m3fnuz", "DT_FLOAT8_E4M3FNUZ", 1},
    {"float8_e4m3b11fnuz", "float8_e4m3b11fnuz", "DT_FLOAT8_E4M3B11FNUZ", 1},
    {"float8_e5m2fnuz", "float8_e5m2fnuz", "DT_FLOAT8_E5M2FNUZ", 1},
    {"int4", "int4", "DT_INT4", 1},
    {"uint4", "uint4", "DT_UINT4", 1},
    {"int2", "int2", "DT_INT2", 1},
    {"uint2", "uint2", "DT_UINT2", 1},
    {"float4_e2m1fn", "float4_e2m1fn", "DT_FLOAT4_E2M1FN", 1},
};

const Row* row(DType t) {
  auto i = static_cast<unsigned>(base_type(t));
  return i < kNumDTypes ? &kRows[i] : nullptr;
}

}  // namespace

bool is_valid_dtype(int n) { return (n > 0 && n < kNumDTypes) || (n > kRefOffset && n < kRefOffset + kNumDTypes); }

size_t dtype_size(DType t) {
  const Row* r = row(t);
  return r ? r->size : 0;
}

size_t dtype_c_size(DType t) { return is_simple(base_type(t)) ? dtype_size(t) : 0; }

std::string dtype_name(DType t) {
  const Row* r = row(t);
  if (!r) return cat("unknown dtype enum (", static_cast<int>(t), ")");
  return is_ref_type(t) ? cat(r->name, "_ref") : r->name;
}

std::string dtype_enum_name(DType t) {
  const Row* r = row(t);
  if (!r) return cat(static_cast<int>(t));
  return is_ref_type(t) ? cat(r->enum_name, "_REF") : r->enum_name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  if (name.ends_with("_ref") || name.ends_with("_REF")) {
    auto base = dtype_from_name(name.substr(0, name.size() - 4));
    return base ? std::optional(ref_type(*base)) : std::nullopt;
  }
  for (int i = 1; i < kNumDTypes; ++i) {
    if (name == kRows[i].name || name == kRows[i].python_name || name == kRows[i].enum_name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_integer_type(DType t) {
  switch (t) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
    case DType::kInt4:
    case DType::kUint4:
    case DType::kInt2:
    case DType::kUint2: return true;
    default: return false;
  }
}

bool is_floating_type(DType t) {
  switch (t) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:
    case DType::kFloat4E2m1fn: return true;
    default: return false;
  }
}

bool is_complex_type(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }

bool is_quantized_type(DType t) { return integer_type_of(t) != t; }

DType integer_type_of(DType t) {
  switch (t) {
    case DType::kQint8: return DType::kInt8;
    case DType::kQuint8: return DType::kUint8;
    case DType::kQint16: return DType::kInt16;
    case DType::kQuint16: return DType::kUint16;
    case DType::kQint32: return DType::kInt32;
    default: return t;
  }
}

}  // namespace weft_engine::core
