// SPDX-License-Identifier: Apache-2.0
//
// Parts of the C API that may change: compiler switches, checkpoints, op queries, shape inference
// of single ops, device plugins.
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Compiler switches ----

TF_CAPI_EXPORT extern void TF_EnableXLACompilation(TF_SessionOptions* options, unsigned char enable);

// Process-wide; these two answer the value before.
TF_CAPI_EXPORT extern unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable);
TF_CAPI_EXPORT extern unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable);

// As the value of the flag tf_xla_auto_jit: "0", "1", "2" or "fusible".
TF_CAPI_EXPORT extern void TF_SetXlaAutoJitMode(const char* mode);
TF_CAPI_EXPORT extern unsigned char TF_GetXlaAutoJitEnabled(void);
TF_CAPI_EXPORT extern void TF_SetXlaMinClusterSize(int size);
TF_CAPI_EXPORT extern unsigned char TF_GetXlaConstantFoldingDisabled(void);
TF_CAPI_EXPORT extern void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable);

// ---- Options and debugging ----

// Serialized ConfigProto; the caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation, unsigned char gpu_memory_allow_growth,
                                                 unsigned int num_cpu_devices);

// Serialized RunOptions; the caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace);

// Text of the whole object; the caller frees it with free().
TF_CAPI_EXPORT extern const char* TF_GraphDebugString(TF_Graph* graph, size_t* len);
TF_CAPI_EXPORT extern char* TF_FunctionDebugString(TF_Function* func, size_t* len);

TF_CAPI_EXPORT extern void TF_MakeInternalErrorStatus(TF_Status* status, const char* message);

// Reads the command line flags that the library knows and takes them out of argc and argv.
TF_CAPI_EXPORT extern void TF_InitMain(const char* usage, int* argc, char*** argv);

// Ends the process if no port is free.
TF_CAPI_EXPORT extern int TF_PickUnusedPortOrDie(void);

// ---- Named tensor queues of a graph ----

TF_CAPI_EXPORT extern TF_Tensor* TF_DequeueNamedTensor(TF_Session* session, int tensor_id, TF_Status* status);
TF_CAPI_EXPORT extern void TF_EnqueueNamedTensor(TF_Session* session, int tensor_id, TF_Tensor* tensor, TF_Status* status);

// ---- Checkpoints ----

typedef struct TF_CheckpointReader TF_CheckpointReader;

TF_CAPI_EXPORT extern TF_CheckpointReader* TF_NewCheckpointReader(const char* filename, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteCheckpointReader(TF_CheckpointReader* reader);
TF_CAPI_EXPORT extern int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader, const char* name);

// Names by number, below TF_CheckpointReaderSize.
TF_CAPI_EXPORT extern const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader, int index);
TF_CAPI_EXPORT extern int TF_CheckpointReaderSize(TF_CheckpointReader* reader);

TF_CAPI_EXPORT extern TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader, const char* name);
TF_CAPI_EXPORT extern void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader, const char* name, int64_t* dims, int num_dims,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader, const char* name);

// The caller deletes the tensor.
TF_CAPI_EXPORT extern TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader, const char* name, TF_Status* status);

// ---- What is known of an op ----

typedef struct TF_AttrBuilder TF_AttrBuilder;

TF_CAPI_EXPORT extern TF_AttrBuilder* TF_NewAttrBuilder(const char* op_name);
TF_CAPI_EXPORT extern void TF_DeleteAttrBuilder(TF_AttrBuilder* builder);
TF_CAPI_EXPORT extern void TF_AttrBuilderSetType(TF_AttrBuilder* builder, const char* attr_name, TF_DataType value);
TF_CAPI_EXPORT extern void TF_AttrBuilderSetTypeList(TF_AttrBuilder* builder, const char* attr_name, const TF_DataType* values, int num_values);

// An error if no kernel of the device takes these attributes.
TF_CAPI_EXPORT extern void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder* builder, const char* device_type, TF_Status* status);

// Name of the attribute that holds the length of a list input; null if there is none.
TF_CAPI_EXPORT extern const char* TF_GetNumberAttrForOpListInput(const char* op_name, int input_index, TF_Status* status);
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type, TF_Status* status);

// ---- Eager ----

// Takes over nothing: data is copied.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType data_type, void* data, size_t len, TF_Status* status);

// From a serialized ServerDef, whose cluster takes part in the collectives.
TF_CAPI_EXPORT extern void TFE_EnableCollectiveOps(TFE_Context* ctx, const void* proto, size_t proto_len, TF_Status* status);

// Fails all collectives, those that wait now and later ones; status is the reason they get.
TF_CAPI_EXPORT extern void TFE_AbortCollectiveOps(TFE_Context* ctx, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_CollectiveOpsCheckPeerHealth(TFE_Context* ctx, const char* task, int64_t timeout_in_ms, TF_Status* status);

// Serialized ServerDef of its text form.
TF_CAPI_EXPORT extern TF_Buffer* TFE_GetServerDef(const char* text_proto, TF_Status* status);

// ---- Shape inference of one op ----

struct TF_ShapeAndType {
  int num_dims;  // -1: unknown rank
  int64_t* dims;
  TF_DataType dtype;
};
typedef struct TF_ShapeAndType TF_ShapeAndType;

struct TF_ShapeAndTypeList {
  int num_items;
  TF_ShapeAndType* items;
};
typedef struct TF_ShapeAndTypeList TF_ShapeAndTypeList;

// Items start with unknown shape.
TF_CAPI_EXPORT extern TF_ShapeAndTypeList* TF_NewShapeAndTypeList(int num_shapes);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList* shape_list, int index, const int64_t* dims, int num_dims);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList* shape_list, int index);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList* shape_list, int index, TF_DataType dtype);
TF_CAPI_EXPORT extern void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList* shape_list);

// Deletes each list and the array itself.
TF_CAPI_EXPORT extern void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList** shape_list_array, int num_items);

// Runs the shape function of op. Values that are known may be given as tensors or as partial
// shapes; entries may be null. The caller deletes the outputs.
TF_CAPI_EXPORT extern void TFE_InferShapes(TFE_Op* op, TF_ShapeAndTypeList* input_shapes, TF_Tensor** input_tensors,
                                           TF_ShapeAndTypeList* input_tensor_as_shapes, TF_ShapeAndTypeList** input_resource_shapes_and_types,
                                           TF_ShapeAndTypeList** output_shapes, TF_ShapeAndTypeList*** output_resource_shapes_and_types,
                                           TF_Status* status);

// ---- Graphs and libraries ----

TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetValidateColocationConstraints(TF_ImportGraphDefOptions* opts, unsigned char enable);
TF_CAPI_EXPORT extern void TF_GraphRemoveFunction(TF_Graph* graph, const char* func_name, TF_Status* status);

// Loads a plugin that adds a device and its kernels; it stays loaded when the handle is gone.
TF_CAPI_EXPORT extern TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_C_API_EXPERIMENTAL_H_
