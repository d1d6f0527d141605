// SPDX-License-Identifier: Apache-2.0
//
// Registers kernels written in C: three callbacks (create, compute, delete) for an op on a device.
// Create reads attributes through TF_OpKernelConstruction, compute reads inputs and sets outputs
// through TF_OpKernelContext; both contexts are valid only during the call.
#ifndef TENSORFLOW_C_KERNELS_H_
#define TENSORFLOW_C_KERNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/core/common_runtime/next_pluggable_device/c/tf_rendezvous_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;

// A plugin device's own stream.
typedef struct SP_Stream_st* SP_Stream;

// Defined by a plugin, not by the library: called after loading, to register its kernels.
void TF_InitKernel(void);

// ---- Registration ----

// create_func and delete_func may be null; what create_func returns is handed to the others.
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewKernelBuilder(const char* op_name, const char* device_name,
                                                            void* (*create_func)(TF_OpKernelConstruction*),
                                                            void (*compute_func)(void*, TF_OpKernelContext*), void (*delete_func)(void*));

// compute_async_func must see to it that done is run exactly once.
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done), void (*delete_func)(void*));
TF_CAPI_EXPORT extern void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* done);

TF_CAPI_EXPORT extern void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder, const char* attr_name, TF_DataType type,
                                                           TF_Status* status);

// This argument lies in host memory even on a device with its own.
TF_CAPI_EXPORT extern void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder, const char* arg_name);

// The highest number wins where several kernels fit.
TF_CAPI_EXPORT extern void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder, int32_t priority_number);
TF_CAPI_EXPORT extern void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder, const char* label);

// Takes over the builder. kernel_name is the class name shown in listings.
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilder(const char* kernel_name, TF_KernelBuilder* builder, TF_Status* status);

// The constraints come from a serialized KernelDef and not from the builder.
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def, const char* name, TF_KernelBuilder* builder,
                                                                 TF_Status* status);

// Only for a builder that was not registered.
TF_CAPI_EXPORT extern void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);

// ---- While computing: inputs and outputs ----

TF_CAPI_EXPORT extern int TF_NumInputs(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int TF_NumOutputs(TF_OpKernelContext* ctx);

// The caller deletes the tensor.
TF_CAPI_EXPORT extern void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor, TF_Status* status);

TF_CAPI_EXPORT extern TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);
TF_CAPI_EXPORT extern TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);

typedef struct {
  size_t struct_size;
  void* priv;         // for the library
  int start;          // out
  int stop;           // out: one past the last
  TF_Status* status;  // out
} TF_InputRange_Args;

#define TF_InputRange_Args_STRUCT_SIZE TF_OFFSET_OF_END(TF_InputRange_Args, status)

// Numbers of the inputs that an argument name stands for.
TF_CAPI_EXPORT extern void TF_InputRange(TF_OpKernelContext* ctx, const char* name, TF_InputRange_Args* args);

TF_CAPI_EXPORT extern bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT extern bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);

TF_CAPI_EXPORT extern void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor, TF_Status* status);

// The caller deletes the tensor; its memory is the output's.
TF_CAPI_EXPORT extern TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index, TF_DataType dtype, const int64_t* dims, int num_dims,
                                                   size_t len, TF_Status* status);

// Reuses the memory of one of the candidates if nobody else needs it; *forwarded_input says which,
// or -1.
TF_CAPI_EXPORT extern TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext* context, const int* candidate_input_indices,
                                                                 int num_candidate_input_indices, int output_index, const int64_t* output_dims,
                                                                 int output_num_dims, int* forwarded_input, TF_Status* status);
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype, const int64_t* dims, int num_dims,
                                                 TF_AllocatorAttributes* alloc_attrs, TF_Status* status);

// ---- While computing: surroundings ----

// Null, with an error, unless a plugin brought the device.
TF_CAPI_EXPORT extern SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);

// Makes the step fail.
TF_CAPI_EXPORT extern void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);

TF_CAPI_EXPORT extern int64_t TF_StepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetStepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetIterId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int TF_GetDeviceId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);

// Name of the input as the NodeDef writes it.
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx, size_t index);

// Each fills a buffer with the message that its name says.
TF_CAPI_EXPORT extern void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext* ctx, TF_Buffer* serialized_function_def_library, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx, TF_Buffer* serialized_config_proto, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedResourceHandleProto(TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto,
                                                               TF_Status* status);

// Work that goes on after compute returned; the step ends when the count is back at 0.
TF_CAPI_EXPORT extern void TF_IncNumDeferredOps(TF_OpKernelContext* context);
TF_CAPI_EXPORT extern void TF_DecNumDeferredOps(TF_OpKernelContext* context);

// ---- While creating ----

// Makes the creation fail.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx, TF_Status* status);

TF_CAPI_EXPORT extern TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx, TF_Status* status);
TF_CAPI_EXPORT extern bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

// *list_size is -1 for no list; *total_size is in bytes for strings, in dimensions for shapes, and
// undefined for other types.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx, const char* attr_name, int32_t* list_size,
                                                               int32_t* total_size, TF_Status* status);

TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx, const char* attr_name, TF_DataType* val,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx, const char* attr_name, int32_t* val, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx, const char* attr_name, int64_t* val, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx, const char* attr_name, float* val, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx, const char* attr_name, TF_Bool* val, TF_Status* status);

// Not ended by a 0 byte; what does not fit in max_length is cut.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx, const char* attr_name, char* val, size_t max_length,
                                                                 TF_Status* status);

// The caller deletes the tensor.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx, const char* attr_name, TF_Tensor** val,
                                                                 TF_Status* status);

// Serialized NameAttrList; the caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx, const char* attr_name, TF_DataType* vals,
                                                                   int max_vals, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx, const char* attr_name, int32_t* vals, int max_vals,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx, const char* attr_name, int64_t* vals, int max_vals,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx, const char* attr_name, float* vals, int max_vals,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx, const char* attr_name, TF_Bool* vals, int max_vals,
                                                                   TF_Status* status);

// values[i] points into storage, which must hold total_size bytes.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx, const char* attr_name, char** values,
                                                                     size_t* lengths, int max_values, void* storage, size_t storage_size,
                                                                     TF_Status* status);

// The caller deletes the tensors.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx, const char* attr_name, TF_Tensor** vals,
                                                                     int max_values, TF_Status* status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_KERNELS_H_
