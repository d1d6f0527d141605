// SPDX-License-Identifier: Apache-2.0
//
// Elements of TF_STRING tensors, as library calls. C and C++ programs can use the inline
// TF_TString_ functions of tsl/platform/ctstring.h instead; these are for other languages.
#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/core/platform/ctstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes an empty string of raw memory; needed before any other call on it.
TF_CAPI_EXPORT extern void TF_StringInit(TF_TString* t);

TF_CAPI_EXPORT extern void TF_StringCopy(TF_TString* dst, const char* src, size_t size);

// Refers to src without copying: src must outlive dst.
TF_CAPI_EXPORT extern void TF_StringAssignView(TF_TString* dst, const char* src, size_t size);

// Ends with a 0 byte unless the string is a view.
TF_CAPI_EXPORT extern const char* TF_StringGetDataPointer(const TF_TString* tstr);

TF_CAPI_EXPORT extern TF_TString_Type TF_StringGetType(const TF_TString* str);
TF_CAPI_EXPORT extern size_t TF_StringGetSize(const TF_TString* tstr);
TF_CAPI_EXPORT extern size_t TF_StringGetCapacity(const TF_TString* str);

// Frees what the string owns.
TF_CAPI_EXPORT extern void TF_StringDealloc(TF_TString* tstr);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_TF_TSTRING_H_
