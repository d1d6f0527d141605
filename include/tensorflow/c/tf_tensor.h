// SPDX-License-Identifier: Apache-2.0
//
// TF_Tensor: a typed, shaped block of memory, shared by reference inside the engine.
// Elements lie in row-major order; TF_STRING elements are TF_TString (tf_tstring.h).
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;  // not 0: in host memory even if the device has its own
} TF_AllocatorAttributes;

#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

typedef struct TF_Tensor TF_Tensor;

// ---- Making and freeing ----

// Takes over data, which is handed to deallocator once nobody needs it any more. Data that is not
// aligned enough may be copied, and then is handed back before the call returns. Null if len is too
// small for the type and shape.
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
                                              void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg);

// Alignment, in bytes, at which TF_NewTensor need not copy.
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);

// The elements are not initialised; len is in bytes.
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims, int num_dims, size_t len);

// Only if nobody else owns the memory: a new handle on it, the old one being deleted. Otherwise
// null, and the tensor stays as it is.
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

// Gives up this handle; the memory goes when its last owner does.
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor* tensor);

// ---- Looking inside ----

TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor* tensor);

// dim_index must be below TF_NumDims.
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);

TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor* tensor);

// ---- Changing ----

// The number of elements must stay the same.
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);

// Makes `to` share the memory of `from` under another type and shape of equal size in bytes.
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to, const int64_t* new_dims, int num_new_dims,
                                                TF_Status* status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_TF_TENSOR_H_
