// TensorFlow's data types by number, their sizes and names, and the C++ type behind each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/float_types.h"

namespace weft_engine::core {

class tstring;
class ResourceHandle;
class Variant;

enum class DType : int {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
  kFloat8E4m3fnuz = 26,
  kFloat8E4m3b11fnuz = 27,
  kFloat8E5m2fnuz = 28,
  kInt4 = 29,
  kUint4 = 30,
  kInt2 = 31,
  kUint2 = 32,
  kFloat4E2m1fn = 33,
};
inline constexpr int kNumDTypes = 34;
inline constexpr int kRefOffset = 100;  // DT_FLOAT_REF = 101, ...

inline bool is_ref_type(DType t) { return static_cast<int>(t) > kRefOffset; }
inline DType base_type(DType t) { return is_ref_type(t) ? static_cast<DType>(static_cast<int>(t) - kRefOffset) : t; }
inline DType ref_type(DType t) { return is_ref_type(t) ? t : static_cast<DType>(static_cast<int>(t) + kRefOffset); }
bool is_valid_dtype(int number);  // base and ref types

// Bytes of one element as stored here (24 for strings, 16 for resource and variant); 0 for kInvalid.
size_t dtype_size(DType t);
// What TF_DataTypeSize says: 0 for strings, resources and variants.
size_t dtype_c_size(DType t);
// "float", "int32", "half": as in signatures and most error messages.
std::string dtype_name(DType t);
// "DT_FLOAT".
std::string dtype_enum_name(DType t);
// Accepts signature names ("float", "half", "int32"), Python names ("float32") and "DT_FLOAT".
std::optional<DType> dtype_from_name(std::string_view name);

// Elements that may be copied with memcpy and need no construction.
inline bool is_simple(DType t) { return t != DType::kString && t != DType::kResource && t != DType::kVariant; }
bool is_integer_type(DType t);   // signed and unsigned, not bool, not quantised
bool is_floating_type(DType t);  // incl. narrow ones, not complex
bool is_complex_type(DType t);
bool is_quantized_type(DType t);
DType integer_type_of(DType t);  // of a quantised type the integers that have its bits; any other as it is

inline void append(std::string& out, DType t) { out += dtype_name(t); }

template <class T>
struct DTypeOf;  // DTypeOf<float>::value
#define WEFT_DTYPES(X)                      \
  X(float, kFloat)                          \
  X(double, kDouble)                        \
  X(int32_t, kInt32)                        \
  X(uint8_t, kUint8)                        \
  X(int16_t, kInt16)                        \
  X(int8_t, kInt8)                          \
  X(tstring, kString)                       \
  X(complex64, kComplex64)                  \
  X(int64_t, kInt64)                        \
  X(bool, kBool)                            \
  X(qint8, kQint8)                          \
  X(quint8, kQuint8)                        \
  X(qint32, kQint32)                        \
  X(bfloat16, kBfloat16)                    \
  X(qint16, kQint16)                        \
  X(quint16, kQuint16)                      \
  X(uint16_t, kUint16)                      \
  X(complex128, kComplex128)                \
  X(half, kHalf)                            \
  X(ResourceHandle, kResource)              \
  X(Variant, kVariant)                      \
  X(uint32_t, kUint32)                      \
  X(uint64_t, kUint64)                      \
  X(float8_e5m2, kFloat8E5m2)               \
  X(float8_e4m3fn, kFloat8E4m3fn)           \
  X(float8_e4m3fnuz, kFloat8E4m3fnuz)       \
  X(float8_e4m3b11fnuz, kFloat8E4m3b11fnuz) \
  X(float8_e5m2fnuz, kFloat8E5m2fnuz) X(int4, kInt4) X(uint4, kUint4) X(int2, kInt2) X(uint2, kUint2) X(float4_e2m1fn, kFloat4E2m1fn)
#define WEFT_X(T, name)                         \
  template <>                                   \
  struct DTypeOf<T> {                           \
    static constexpr DType value = DType::name; \
  };
WEFT_DTYPES(WEFT_X)
#undef WEFT_X
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace weft_engine::core
