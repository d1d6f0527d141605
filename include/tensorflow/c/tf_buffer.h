// SPDX-License-Identifier: Apache-2.0
//
// TF_Buffer carries bytes across the C API, most often a serialized protocol buffer.
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Buffer {
  const void* data;
  size_t length;
  // Called with data and length when the buffer is deleted; may be null.
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

// Copies the bytes; the new buffer frees its copy.
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);

// An empty buffer, usually to be filled by a call that returns bytes.
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBuffer(void);

// Accepts null.
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer* buffer);

// The struct itself; data still belongs to *buffer.
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_TF_BUFFER_H_
