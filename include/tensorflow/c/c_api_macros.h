// SPDX-License-Identifier: Apache-2.0
//
// What the C headers share: the export mark, the one-byte boolean, and the size of a struct up to
// one of its members (how the plugin structs say which version of them the caller knows).
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#include <stddef.h>

// TF_CAPI_WEAK lets a program be linked without the library and find the symbols at run time.
#if defined(SWIG)
#define TF_CAPI_EXPORT
#elif defined(_WIN32) && defined(TF_COMPILE_LIBRARY)
#define TF_CAPI_EXPORT __declspec(dllexport)
#elif defined(_WIN32)
#define TF_CAPI_EXPORT __declspec(dllimport)
#elif defined(TF_CAPI_WEAK)
#define TF_CAPI_EXPORT __attribute__((visibility("default"), weak))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

// A macro and not a typedef, so that a program may set its own before this header.
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

#endif  // TENSORFLOW_C_C_API_MACROS_H_
