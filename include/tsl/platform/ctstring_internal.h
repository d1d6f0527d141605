// SPDX-License-Identifier: Apache-2.0
//
// Memory layout of TF_TString, the element of a TF_STRING tensor: 24 bytes, the same in every
// library that follows TensorFlow. The two low bits of the first byte say which of four forms it
// has; the size is stored above them. Functions: tsl/platform/ctstring.h.
#ifndef TENSORFLOW_TSL_PLATFORM_CTSTRING_INTERNAL_H_
#define TENSORFLOW_TSL_PLATFORM_CTSTRING_INTERNAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "TF_TString is laid out for little-endian machines only."
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0x00,   // the bytes are in the struct itself
  TF_TSTR_LARGE = 0x01,   // the bytes are in malloc'ed memory that the string owns
  TF_TSTR_OFFSET = 0x02,  // the bytes follow at a distance from the struct, as in a mapped file
  TF_TSTR_VIEW = 0x03,    // the bytes are somebody else's
  TF_TSTR_TYPE_MASK = 0x03
} TF_TString_Type;

// Keeps the memory of views alive; unref answers whether that was the last reference.
struct TStringOwnerCApi;
typedef void (*tstring_owner_ref_t)(struct TStringOwnerCApi* self);
typedef bool (*tstring_owner_unref_t)(struct TStringOwnerCApi* self);

typedef struct TStringOwnerCApi {
  tstring_owner_ref_t ref;
  tstring_owner_unref_t unref;
  void* obj;
} TStringOwnerCApi;

typedef struct TF_TString_Large {
  size_t size;  // size << 2 | TF_TSTR_LARGE
  size_t cap;   // without the 0 byte at the end; cap + 1 is a multiple of 16
  char* ptr;
} TF_TString_Large;

typedef struct TF_TString_Offset {
  uint32_t size;    // size << 2 | TF_TSTR_OFFSET
  uint32_t offset;  // from the start of this struct
  uint32_t count;
} TF_TString_Offset;

typedef struct TF_TString_View {
  size_t size;  // size << 2 | TF_TSTR_VIEW
  const char* ptr;
  TStringOwnerCApi* owner_ref;  // null if nobody counts
} TF_TString_View;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

typedef union TF_TString_Union {
  TF_TString_Large large;
  TF_TString_Offset offset;
  TF_TString_View view;
  TF_TString_Raw raw;
} TF_TString_Union;

// All but the size byte and the 0 byte at the end: 22.
enum { TF_TString_SmallCapacity = sizeof(TF_TString_Union) - 2 };

typedef struct TF_TString_Small {
  uint8_t size;  // size << 2 | TF_TSTR_SMALL
  char str[TF_TString_SmallCapacity + 1];
} TF_TString_Small;

typedef struct TF_TString {
  union {
    TF_TString_Small smll;  // so spelt because <rpcndr.h> of Windows defines `small`
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_TSL_PLATFORM_CTSTRING_INTERNAL_H_
