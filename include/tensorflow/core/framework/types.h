// SPDX-License-Identifier: Apache-2.0
//
// Between types of C++ and DataType; types of devices and memory.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TYPES_H_
#define TENSORFLOW_CORE_FRAMEWORK_TYPES_H_

#include <ostream>
#include <string>
#include <vector>

#include "tensorflow/core/framework/numeric_types.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/platform/span.h"
#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/tstring.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

class ResourceHandle;
class Variant;

enum MemoryType { DEVICE_MEMORY = 0, HOST_MEMORY = 1 };
using MemoryTypeVector = gtl::InlinedVector<MemoryType, 4>;
using DataTypeVector = gtl::InlinedVector<DataType, 4>;
using DataTypeSlice = gtl::ArraySlice<DataType>;

class DeviceType {
 public:
  DeviceType(const char* type) : type_(type) {}                       // NOLINT
  explicit DeviceType(std::string_view type) : type_(type) {}
  const char* type() const { return type_.c_str(); }
  const std::string& type_string() const { return type_; }
  friend bool operator==(const DeviceType& a, const DeviceType& b) { return a.type_ == b.type_; }
  friend bool operator!=(const DeviceType& a, const DeviceType& b) { return a.type_ != b.type_; }
  friend bool operator<(const DeviceType& a, const DeviceType& b) { return a.type_ < b.type_; }

 private:
  std::string type_;
};
inline constexpr char DEVICE_DEFAULT[] = "DEFAULT";
inline constexpr char DEVICE_CPU[] = "CPU";
inline constexpr char DEVICE_GPU[] = "GPU";
inline constexpr char DEVICE_TPU[] = "TPU";

// DataTypeToEnum<float>::value; EnumToDataType<DT_FLOAT>::Type.
template <class T>
struct DataTypeToEnum {};
template <DataType kType>
struct EnumToDataType {};
template <class T, class = void>
struct IsValidDataType {
  static constexpr bool value = false;
};
#define WEFT_TYPE_PAIR(T, ENUM)                            \
  template <>                                              \
  struct DataTypeToEnum<T> {                               \
    static constexpr DataType value = ENUM;                \
    static constexpr DataType v() { return value; }        \
    static constexpr DataType ref() { return ENUM##_REF; } \
  };                                                       \
  template <>                                              \
  struct IsValidDataType<T> {                              \
    static constexpr bool value = true;                    \
  };                                                       \
  template <>                                              \
  struct EnumToDataType<ENUM> {                            \
    using Type = T;                                        \
  };
WEFT_TYPE_PAIR(float, DT_FLOAT)
WEFT_TYPE_PAIR(double, DT_DOUBLE)
WEFT_TYPE_PAIR(int32, DT_INT32)
WEFT_TYPE_PAIR(uint32, DT_UINT32)
WEFT_TYPE_PAIR(uint16, DT_UINT16)
WEFT_TYPE_PAIR(uint8, DT_UINT8)
WEFT_TYPE_PAIR(int16, DT_INT16)
WEFT_TYPE_PAIR(int8, DT_INT8)
WEFT_TYPE_PAIR(tstring, DT_STRING)
WEFT_TYPE_PAIR(complex64, DT_COMPLEX64)
WEFT_TYPE_PAIR(complex128, DT_COMPLEX128)
WEFT_TYPE_PAIR(int64_t, DT_INT64)
WEFT_TYPE_PAIR(uint64_t, DT_UINT64)
WEFT_TYPE_PAIR(bool, DT_BOOL)
WEFT_TYPE_PAIR(qint8, DT_QINT8)
WEFT_TYPE_PAIR(quint8, DT_QUINT8)
WEFT_TYPE_PAIR(qint16, DT_QINT16)
WEFT_TYPE_PAIR(quint16, DT_QUINT16)
WEFT_TYPE_PAIR(qint32, DT_QINT32)
WEFT_TYPE_PAIR(Eigen::bfloat16, DT_BFLOAT16)
WEFT_TYPE_PAIR(Eigen::half, DT_HALF)
WEFT_TYPE_PAIR(ResourceHandle, DT_RESOURCE)
WEFT_TYPE_PAIR(Variant, DT_VARIANT)
#undef WEFT_TYPE_PAIR
// Both are 64 bits; sources before 2.7 used this one.
template <>
struct DataTypeToEnum<long long> : DataTypeToEnum<int64_t> {};  // NOLINT
template <>
struct DataTypeToEnum<unsigned long long> : DataTypeToEnum<uint64_t> {};  // NOLINT
template <>
struct DataTypeToEnum<std::string> : DataTypeToEnum<tstring> {};

inline constexpr int kDataTypeRefOffset = 100;
inline bool IsRefType(DataType type) { return static_cast<int>(type) > kDataTypeRefOffset; }
inline DataType MakeRefType(DataType type) { return static_cast<DataType>(type + kDataTypeRefOffset); }
inline DataType RemoveRefType(DataType type) { return static_cast<DataType>(type - kDataTypeRefOffset); }
inline DataType BaseType(DataType type) { return IsRefType(type) ? RemoveRefType(type) : type; }

// "float", "int32_ref"
inline std::string DataTypeString(DataType type) {
  if (IsRefType(type)) return DataTypeString(RemoveRefType(type)) + "_ref";
  switch (static_cast<int>(type)) {
    case DT_INVALID: return "INVALID";
#define WEFT_TYPE(number, NAME, text) \
  case number: return text;
      WEFT_DATA_TYPES(WEFT_TYPE)
#undef WEFT_TYPE
    default: return "unknown dtype enum (" + std::to_string(static_cast<int>(type)) + ")";
  }
}
inline bool DataTypeFromString(std::string_view text, DataType* type) {
  if (text.size() > 4 && text.substr(text.size() - 4) == "_ref") {
    if (!DataTypeFromString(text.substr(0, text.size() - 4), type)) return false;
    *type = MakeRefType(*type);
    return true;
  }
#define WEFT_TYPE(number, NAME, name) \
  if (text == name) return *type = DT_##NAME, true;
  WEFT_DATA_TYPES(WEFT_TYPE)
#undef WEFT_TYPE
  if (text == "float32") return *type = DT_FLOAT, true;
  if (text == "float64") return *type = DT_DOUBLE, true;
  if (text == "float16") return *type = DT_HALF, true;
  return false;
}
inline std::string DataTypeSliceString(DataTypeSlice types) {
  std::string out;
  for (DataType type : types) out += (out.empty() ? "" : ", ") + DataTypeString(type);
  return out;
}
inline std::string DataTypeVectorString(const DataTypeVector& types) { return DataTypeSliceString(types); }
inline std::ostream& operator<<(std::ostream& out, const DeviceType& d) { return out << d.type_string(); }

// Bytes of an element; 0 for strings, resources and variants.
inline int DataTypeSize(DataType type) {
  switch (static_cast<int>(BaseType(type))) {
    case DT_BOOL:
    case DT_INT8:
    case DT_UINT8:
    case DT_QINT8:
    case DT_QUINT8:
    case DT_FLOAT8_E5M2:
    case DT_FLOAT8_E4M3FN:
    case DT_INT4:
    case DT_UINT4: return 1;
    case DT_INT16:
    case DT_UINT16:
    case DT_QINT16:
    case DT_QUINT16:
    case DT_HALF:
    case DT_BFLOAT16: return 2;
    case DT_INT32:
    case DT_UINT32:
    case DT_QINT32:
    case DT_FLOAT: return 4;
    case DT_INT64:
    case DT_UINT64:
    case DT_DOUBLE:
    case DT_COMPLEX64: return 8;
    case DT_COMPLEX128: return 16;
    default: return 0;
  }
}
inline bool DataTypeCanUseMemcpy(DataType type) { return DataTypeSize(type) > 0; }
inline bool DataTypeIsComplex(DataType type) { return type == DT_COMPLEX64 || type == DT_COMPLEX128; }
inline bool DataTypeIsFloating(DataType type) { return type == DT_HALF || type == DT_BFLOAT16 || type == DT_FLOAT || type == DT_DOUBLE; }
inline bool DataTypeIsQuantized(DataType type) {
  return type == DT_QINT8 || type == DT_QUINT8 || type == DT_QINT16 || type == DT_QUINT16 || type == DT_QINT32;
}
inline bool DataTypeIsUnsigned(DataType type) { return type == DT_UINT8 || type == DT_UINT16 || type == DT_UINT32 || type == DT_UINT64; }
inline bool DataTypeIsInteger(DataType type) {
  return DataTypeIsUnsigned(type) || type == DT_INT8 || type == DT_INT16 || type == DT_INT32 || type == DT_INT64;
}
inline bool DataTypeIsNumeric(DataType type) {
  return DataTypeIsInteger(type) || DataTypeIsFloating(type) || DataTypeIsComplex(type) || DataTypeIsQuantized(type);
}

// Types as the bits of a number.
class DataTypeSet {
 public:
  class Iterator {
   public:
    constexpr Iterator(uint32 mask, uint32 at) : mask_(mask), at_(at) { Skip(); }
    DataType operator*() const { return static_cast<DataType>(at_); }
    Iterator& operator++() {
      ++at_;
      Skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator was = *this;
      ++*this;
      return was;
    }
    bool operator==(const Iterator& o) const { return at_ == o.at_; }
    bool operator!=(const Iterator& o) const { return at_ != o.at_; }

   private:
    constexpr void Skip() {
      while (at_ < 32 && !(mask_ >> at_ & 1)) ++at_;
    }
    uint32 mask_, at_;
  };
  constexpr DataTypeSet() = default;
  explicit constexpr DataTypeSet(uint32 mask) : mask_(mask) {}
  constexpr bool Contains(DataType type) const { return static_cast<uint32>(type) < 32 && (mask_ >> static_cast<uint32>(type) & 1); }
  Iterator begin() const { return Iterator(mask_, 0); }
  Iterator end() const { return Iterator(mask_, 32); }
  size_t size() const { return static_cast<size_t>(__builtin_popcount(mask_)); }
  constexpr DataTypeSet operator|(DataTypeSet o) const { return DataTypeSet(mask_ | o.mask_); }
  friend constexpr bool operator==(DataTypeSet a, DataTypeSet b) { return a.mask_ == b.mask_; }
  friend constexpr bool operator!=(DataTypeSet a, DataTypeSet b) { return a.mask_ != b.mask_; }

 private:
  uint32 mask_ = 0;
};
constexpr DataTypeSet ToSet(DataType type) { return DataTypeSet(1u << static_cast<uint32>(type)); }
inline constexpr DataTypeSet kDataTypeIsFloating = ToSet(DT_HALF) | ToSet(DT_BFLOAT16) | ToSet(DT_FLOAT) | ToSet(DT_DOUBLE);
inline constexpr DataTypeSet kDataTypeIsComplex = ToSet(DT_COMPLEX64) | ToSet(DT_COMPLEX128);
inline constexpr DataTypeSet kDataTypeIsQuantized = ToSet(DT_QINT8) | ToSet(DT_QUINT8) | ToSet(DT_QINT16) | ToSet(DT_QUINT16) | ToSet(DT_QINT32);
inline constexpr DataTypeSet kDataTypeIsSigned = ToSet(DT_INT8) | ToSet(DT_INT16) | ToSet(DT_INT32) | ToSet(DT_INT64);
inline constexpr DataTypeSet kDataTypeIsUnsigned = ToSet(DT_UINT8) | ToSet(DT_UINT16) | ToSet(DT_UINT32) | ToSet(DT_UINT64);
inline constexpr DataTypeSet kDataTypeIsInteger = kDataTypeIsSigned | kDataTypeIsUnsigned;
inline constexpr DataTypeSet kRealNumberTypes = kDataTypeIsFloating | kDataTypeIsInteger;
inline constexpr DataTypeSet kNumberTypes = kRealNumberTypes | kDataTypeIsComplex | ToSet(DT_QINT8) | ToSet(DT_QUINT8) | ToSet(DT_QINT32);
inline constexpr DataTypeSet kQuantizedTypes = kDataTypeIsQuantized;
inline constexpr DataTypeSet kRealAndQuantizedTypes =
    kRealNumberTypes | ToSet(DT_QINT8) | ToSet(DT_QUINT8) | ToSet(DT_QINT16) | ToSet(DT_QUINT16) | ToSet(DT_QINT32);
inline constexpr DataTypeSet kAllTypes =
    kNumberTypes | kDataTypeIsQuantized | ToSet(DT_STRING) | ToSet(DT_BOOL) | ToSet(DT_RESOURCE) | ToSet(DT_VARIANT);
inline const DataTypeSet& AllTypes() { return kAllTypes; }
inline const DataTypeSet& RealNumberTypes() { return kRealNumberTypes; }
inline const DataTypeSet& NumberTypes() { return kNumberTypes; }
inline const DataTypeSet& QuantizedTypes() { return kQuantizedTypes; }
inline const DataTypeSet& RealAndQuantizedTypes() { return kRealAndQuantizedTypes; }
inline bool DataTypeIsSigned(DataType type) { return kDataTypeIsSigned.Contains(type); }
inline bool TypesCompatible(DataType expected, DataType actual) { return expected == actual || expected == BaseType(actual); }
inline bool DataTypeAlwaysOnHost(DataType type) { return type == DT_STRING || type == DT_STRING_REF || type == DT_RESOURCE; }
inline MemoryType MTypeFromDType(DataType type) { return type == DT_INT32 || DataTypeAlwaysOnHost(type) ? HOST_MEMORY : DEVICE_MEMORY; }
inline std::string DeviceTypeString(const DeviceType& type) { return type.type_string(); }

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TYPES_H_
