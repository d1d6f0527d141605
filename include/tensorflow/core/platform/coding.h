// SPDX-License-Identifier: Apache-2.0
//
// Numbers as bytes, little-endian, and in seven bits a byte.
#ifndef TENSORFLOW_CORE_PLATFORM_CODING_H_
#define TENSORFLOW_CORE_PLATFORM_CODING_H_

#include <cstring>
#include <string>

#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/tstring.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace core {

inline void EncodeFixed16(char* to, uint16 v) { std::memcpy(to, &v, sizeof v); }
inline void EncodeFixed32(char* to, uint32 v) { std::memcpy(to, &v, sizeof v); }
inline void EncodeFixed64(char* to, uint64 v) { std::memcpy(to, &v, sizeof v); }
inline void PutFixed32(std::string* to, uint32 v) { to->append(reinterpret_cast<const char*>(&v), sizeof v); }
inline void PutFixed64(std::string* to, uint64 v) { to->append(reinterpret_cast<const char*>(&v), sizeof v); }
inline uint32 DecodeFixed32(const char* p) {
  uint32 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline uint64 DecodeFixed64(const char* p) {
  uint64 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class Text>
void PutVarint64(Text* to, uint64 v) {
  for (; v >= 128; v >>= 7) to->push_back(static_cast<char>(v | 128));
  to->push_back(static_cast<char>(v));
}
template <class Text>
void PutVarint32(Text* to, uint32 v) {
  PutVarint64(to, v);
}
inline int VarintLength(uint64 v) {
  int n = 1;
  for (; v >= 128; v >>= 7) ++n;
  return n;
}
// False, and nothing taken, where the text does not begin with a number.
inline bool GetVarint64(StringPiece* from, uint64* v) {
  uint64 out = 0;
  for (size_t i = 0; i < from->size() && i < 10; ++i) {
    const uint64 byte = static_cast<unsigned char>((*from)[i]);
    out |= (byte & 127) << (7 * i);
    if (byte < 128) {
      *v = out;
      from->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}
inline bool GetVarint32(StringPiece* from, uint32* v) {
  StringPiece rest = *from;
  uint64 wide = 0;
  if (!GetVarint64(&rest, &wide) || wide > kuint32max) return false;
  *v = static_cast<uint32>(wide);
  *from = rest;
  return true;
}

}  // namespace core
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_CODING_H_
