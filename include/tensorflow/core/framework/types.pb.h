// SPDX-License-Identifier: Apache-2.0
//
// DataType, with the numbers that files hold.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TYPES_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_TYPES_PB_H_

#include <string>

namespace tensorflow {

// Number and name of each type, the name as in op definitions.
// clang-format off
#define WEFT_DATA_TYPES(X) \
  X(1, FLOAT, "float") X(2, DOUBLE, "double") X(3, INT32, "int32") X(4, UINT8, "uint8") X(5, INT16, "int16") \
  X(6, INT8, "int8") X(7, STRING, "string") X(8, COMPLEX64, "complex64") X(9, INT64, "int64") \
  X(10, BOOL, "bool") X(11, QINT8, "qint8") X(12, QUINT8, "quint8") X(13, QINT32, "qint32") \
  X(14, BFLOAT16, "bfloat16") X(15, QINT16, "qint16") X(16, QUINT16, "quint16") X(17, UINT16, "uint16") \
  X(18, COMPLEX128, "complex128") X(19, HALF, "half") X(20, RESOURCE, "resource") X(21, VARIANT, "variant") \
  X(22, UINT32, "uint32") X(23, UINT64, "uint64") X(24, FLOAT8_E5M2, "float8_e5m2") \
  X(25, FLOAT8_E4M3FN, "float8_e4m3fn") X(29, INT4, "int4") X(30, UINT4, "uint4")
// clang-format on

enum DataType : int {
  DT_INVALID = 0,
#define WEFT_TYPE(number, NAME, text) DT_##NAME = number, DT_##NAME##_REF = number + 100,
  WEFT_DATA_TYPES(WEFT_TYPE)
#undef WEFT_TYPE
};

inline bool DataType_IsValid(int type) {
  switch (type > 100 ? type - 100 : type) {
#define WEFT_TYPE(number, NAME, text) case number:
    WEFT_DATA_TYPES(WEFT_TYPE)
#undef WEFT_TYPE
    return true;
    default: return type == DT_INVALID;
  }
}
inline std::string DataType_Name(DataType type) {
  switch (static_cast<int>(type)) {
    case DT_INVALID: return "DT_INVALID";
#define WEFT_TYPE(number, NAME, text) \
  case number: return "DT_" #NAME;    \
  case number + 100: return "DT_" #NAME "_REF";
      WEFT_DATA_TYPES(WEFT_TYPE)
#undef WEFT_TYPE
    default: return "";
  }
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TYPES_PB_H_
