// SPDX-License-Identifier: Apache-2.0
//
// TF_TString, the element of a TF_STRING tensor, with its functions as inline code: programs read
// and write string tensors without a call into the library. Layout: ctstring_internal.h.
//
// A string must be initialised before use and deallocated after it. Running out of memory aborts.
#ifndef TENSORFLOW_TSL_PLATFORM_CTSTRING_H_
#define TENSORFLOW_TSL_PLATFORM_CTSTRING_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tsl/platform/ctstring_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Reading ----

static inline TF_TString_Type TF_TString_GetType(const TF_TString* str) { return (TF_TString_Type)(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK); }

static inline size_t TF_TString_GetSize(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.size >> 2;
    case TF_TSTR_OFFSET: return str->u.offset.size >> 2;
    default:  // large and view begin alike
      return str->u.large.size >> 2;
  }
}

// How far the string can grow where it is; 0 if its bytes are not its own.
static inline size_t TF_TString_GetCapacity(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return TF_TString_SmallCapacity;
    case TF_TSTR_LARGE: return str->u.large.cap;
    default: return 0;
  }
}

// Ends with a 0 byte for small and large strings only.
static inline const char* TF_TString_GetDataPointer(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.str;
    case TF_TSTR_LARGE: return str->u.large.ptr;
    case TF_TSTR_OFFSET: return (const char*)str + str->u.offset.offset;
    default: return str->u.view.ptr;
  }
}

// ---- For the functions below only ----

// The capacity that holds n bytes when the 0 byte is counted and 16 divides the whole.
static inline size_t weft_tstr_round_cap(size_t n) { return ((n + 16) & ~(size_t)15) - 1; }

static inline char* weft_tstr_realloc(char* ptr, size_t cap) {
  char* grown = (char*)realloc(ptr, cap + 1);
  if (grown == NULL) abort();
  return grown;
}

static inline void weft_tstr_set_large(TF_TString* str, char* ptr, size_t size, size_t cap) {
  str->u.large.size = (size << 2) | TF_TSTR_LARGE;
  str->u.large.cap = cap;
  str->u.large.ptr = ptr;
  ptr[size] = '\0';
}

// Lets go of what the fields of str refer to, and leaves the fields.
static inline void weft_tstr_release(const TF_TString* str) {
  if (TF_TString_GetType(str) == TF_TSTR_LARGE) {
    free(str->u.large.ptr);
  } else if (TF_TString_GetType(str) == TF_TSTR_VIEW && str->u.view.owner_ref != NULL) {
    (void)str->u.view.owner_ref->unref(str->u.view.owner_ref);
  }
}

// Moves to owned memory of that capacity, keeping the first `keep` bytes; the size becomes `size`.
static inline void weft_tstr_to_large(TF_TString* str, size_t keep, size_t size, size_t cap) {
  if (TF_TString_GetType(str) == TF_TSTR_LARGE) {
    weft_tstr_set_large(str, weft_tstr_realloc(str->u.large.ptr, cap), size, cap);
    return;
  }
  char* fresh = weft_tstr_realloc(NULL, cap);
  if (keep != 0) memcpy(fresh, TF_TString_GetDataPointer(str), keep);
  weft_tstr_release(str);
  weft_tstr_set_large(str, fresh, size, cap);
}

// ---- Life ----

static inline void TF_TString_Init(TF_TString* str) { memset(str, 0, sizeof *str); }

// Frees what the string owns; it is then empty, except that a view without owner stays as it is.
static inline void TF_TString_Dealloc(TF_TString* str) {
  const TF_TString_Type type = TF_TString_GetType(str);
  const bool owns = (type == TF_TSTR_LARGE && str->u.large.ptr != NULL) || (type == TF_TSTR_VIEW && str->u.view.owner_ref != NULL);
  if (!owns) return;
  weft_tstr_release(str);
  TF_TString_Init(str);
}

// ---- Size ----

// Keeps the bytes that fit; new ones are not initialised. Answers the bytes, now the string's own.
static inline char* TF_TString_ResizeUninitialized(TF_TString* str, size_t new_size) {
  const size_t old_size = TF_TString_GetSize(str);
  const size_t keep = old_size < new_size ? old_size : new_size;

  if (new_size <= TF_TString_SmallCapacity) {
    if (TF_TString_GetType(str) != TF_TSTR_SMALL) {
      const TF_TString old = *str;  // the small form overwrites the fields
      const char* data = TF_TString_GetDataPointer(str);
      if (keep != 0) memcpy(str->u.smll.str, data, keep);
      weft_tstr_release(&old);
    }
    str->u.smll.size = (uint8_t)(new_size << 2 | TF_TSTR_SMALL);
    str->u.smll.str[new_size] = '\0';
    return str->u.smll.str;
  }

  const size_t cap = TF_TString_GetCapacity(str);
  if (new_size > cap) {
    weft_tstr_to_large(str, keep, new_size, weft_tstr_round_cap(new_size));
  } else if (new_size < old_size && new_size < cap / 2) {
    weft_tstr_to_large(str, keep, new_size, weft_tstr_round_cap(cap / 2));
  } else {
    weft_tstr_set_large(str, str->u.large.ptr, new_size, cap);
  }
  return str->u.large.ptr;
}

// As above, with new bytes set to c.
static inline char* TF_TString_Resize(TF_TString* str, size_t new_size, char c) {
  const size_t old_size = TF_TString_GetSize(str);
  char* data = TF_TString_ResizeUninitialized(str, new_size);
  if (new_size > old_size) memset(data + old_size, c, new_size - old_size);
  return data;
}

// Makes room for at least new_cap bytes; the content stays.
static inline void TF_TString_Reserve(TF_TString* str, size_t new_cap) {
  if (new_cap <= TF_TString_SmallCapacity) return;
  if (TF_TString_GetType(str) == TF_TSTR_LARGE && new_cap <= str->u.large.cap) return;
  const size_t size = TF_TString_GetSize(str);
  weft_tstr_to_large(str, size, size, weft_tstr_round_cap(new_cap > size ? new_cap : size));
}

// The same, at least doubling, so that many small appends stay linear.
static inline void TF_TString_ReserveAmortized(TF_TString* str, size_t new_cap) {
  const size_t cap = TF_TString_GetCapacity(str);
  if (new_cap > cap) TF_TString_Reserve(str, new_cap > 2 * cap ? new_cap : 2 * cap);
}

// ---- Writing ----

// A view or offset string becomes a copy first.
static inline char* TF_TString_GetMutableDataPointer(TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.str;
    case TF_TSTR_LARGE: return str->u.large.ptr;
    default: return TF_TString_ResizeUninitialized(str, TF_TString_GetSize(str));
  }
}

static inline void TF_TString_Copy(TF_TString* dst, const char* src, size_t size) {
  char* data = TF_TString_ResizeUninitialized(dst, size);
  if (size != 0) memcpy(data, src, size);
}

// Refers to src without copying. owner_ref may be null: then src must outlive dst.
static inline void TF_TString_AssignViewWithOwner(TF_TString* dst, const char* src, size_t size, TStringOwnerCApi* owner_ref) {
  if (owner_ref != NULL) owner_ref->ref(owner_ref);  // before dst lets go: it may be the same owner
  TF_TString_Dealloc(dst);
  dst->u.view.size = (size << 2) | TF_TSTR_VIEW;
  dst->u.view.ptr = src;
  dst->u.view.owner_ref = owner_ref;
}

static inline void TF_TString_AssignView(TF_TString* dst, const char* src, size_t size) { TF_TString_AssignViewWithOwner(dst, src, size, NULL); }

// src must not point into dst.
static inline void TF_TString_AppendN(TF_TString* dst, const char* src, size_t size) {
  if (size == 0) return;
  const size_t old_size = TF_TString_GetSize(dst);
  TF_TString_ReserveAmortized(dst, old_size + size);
  char* data = TF_TString_ResizeUninitialized(dst, old_size + size);
  memcpy(data + old_size, src, size);
}

static inline void TF_TString_Append(TF_TString* dst, const TF_TString* src) {
  const size_t size = TF_TString_GetSize(src);
  if (size == 0) return;
  // Makes room before asking where the bytes are: dst and src may be one string.
  TF_TString_ReserveAmortized(dst, TF_TString_GetSize(dst) + size);
  TF_TString_AppendN(dst, TF_TString_GetDataPointer(src), size);
}

// A copy of a small or large string; for a view another view, and for an offset string a view of
// its bytes.
static inline void TF_TString_Assign(TF_TString* dst, const TF_TString* src) {
  if (dst == src) return;
  const char* data = TF_TString_GetDataPointer(src);
  const size_t size = TF_TString_GetSize(src);
  switch (TF_TString_GetType(src)) {
    case TF_TSTR_SMALL:
      TF_TString_Dealloc(dst);
      *dst = *src;
      return;
    case TF_TSTR_LARGE:
      TF_TString_Dealloc(dst);
      TF_TString_Copy(dst, data, size);
      return;
    case TF_TSTR_VIEW: TF_TString_AssignViewWithOwner(dst, data, size, src->u.view.owner_ref); return;
    default: TF_TString_AssignView(dst, data, size); return;
  }
}

// Takes over what src owns and leaves it empty; small and offset strings stay as they are.
static inline void TF_TString_Move(TF_TString* dst, TF_TString* src) {
  if (dst == src) return;
  TF_TString_Dealloc(dst);
  switch (TF_TString_GetType(src)) {
    case TF_TSTR_SMALL: *dst = *src; return;
    case TF_TSTR_OFFSET: TF_TString_AssignView(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src)); return;
    default:
      *dst = *src;
      TF_TString_Init(src);
      return;
  }
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_TSL_PLATFORM_CTSTRING_H_
