// SPDX-License-Identifier: Apache-2.0
//
// One interface for running ops at once and for tracing them into a function: the execution
// context decides which of the two TF_ExecuteOperation does.
#ifndef TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_
#define TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_

#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_ExecutionContext TF_ExecutionContext;
typedef struct TF_AbstractTensor TF_AbstractTensor;
typedef struct TF_AbstractOp TF_AbstractOp;
typedef struct TF_AbstractFunction TF_AbstractFunction;
typedef struct TF_OutputList TF_OutputList;

typedef struct TF_Shape {
  int num_dims;  // -1: unknown rank
  int64_t* dim_sizes;
} TF_Shape;

// ---- Contexts ----

// How functions are traced, process-wide: "graphdef" or "mlir".
TF_CAPI_EXPORT extern void TF_SetTracingImplementation(const char* name, TF_Status* status);

// A context that runs ops at once.
TF_CAPI_EXPORT extern TF_ExecutionContext* TF_NewEagerExecutionContext(TFE_ContextOptions* options, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteExecutionContext(TF_ExecutionContext* ctx);

// The eager context inside; an error for a tracing one.
TF_CAPI_EXPORT extern TFE_Context* TF_ExecutionContextGetTFEContext(TF_ExecutionContext* ctx, TF_Status* status);

// ---- Tracing ----

// A context that traces; TF_FinalizeFunction ends it.
TF_CAPI_EXPORT extern TF_ExecutionContext* TF_CreateFunction(const char* fn_name, TF_Status* status);
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_AddFunctionParameter(TF_ExecutionContext* func, TF_DataType dtype, TF_Shape shape, TF_Status* status);

// Frees ctx.
TF_CAPI_EXPORT extern TF_AbstractFunction* TF_FinalizeFunction(TF_ExecutionContext* ctx, TF_OutputList* outputs, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteAbstractFunction(TF_AbstractFunction* func);
TF_CAPI_EXPORT extern void TF_ExecutionContextRegisterFunction(TF_ExecutionContext* ctx, TF_AbstractFunction* func, TF_Status* status);

// ---- Ops ----

TF_CAPI_EXPORT extern TF_AbstractOp* TF_NewAbstractOp(TF_ExecutionContext* ctx);
TF_CAPI_EXPORT extern void TF_DeleteAbstractOp(TF_AbstractOp* op);

// The type must come before name and attributes.
TF_CAPI_EXPORT extern void TF_AbstractOpSetOpType(TF_AbstractOp* op, const char* const op_type, TF_Status* status);
TF_CAPI_EXPORT extern void TF_AbstractOpSetOpName(TF_AbstractOp* op, const char* const op_name, TF_Status* status);
TF_CAPI_EXPORT extern void TF_AbstractOpSetAttrType(TF_AbstractOp* op, const char* const attr_name, TF_DataType value, TF_Status* status);

TF_CAPI_EXPORT extern void TF_ExecuteOperation(TF_AbstractOp* op, int num_inputs, TF_AbstractTensor* const* inputs, TF_OutputList* outputs,
                                               TF_Status* status);

// ---- Tensors ----

TF_CAPI_EXPORT extern TF_AbstractTensor* TF_CreateAbstractTensorFromEagerTensor(TFE_TensorHandle* t, TF_Status* status);

// Still belongs to the abstract tensor; an error for a traced one.
TF_CAPI_EXPORT extern TFE_TensorHandle* TF_AbstractTensorGetEagerTensor(TF_AbstractTensor* tensor, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteAbstractTensor(TF_AbstractTensor* tensor);

// ---- Lists of outputs ----

TF_CAPI_EXPORT extern TF_OutputList* TF_NewOutputList(void);

// The tensors in it stay.
TF_CAPI_EXPORT extern void TF_DeleteOutputList(TF_OutputList* outputs);

// Number of outputs expected from the next TF_ExecuteOperation.
TF_CAPI_EXPORT extern void TF_OutputListSetNumOutputs(TF_OutputList* outputs, int num_outputs, TF_Status* status);
TF_CAPI_EXPORT extern int TF_OutputListNumOutputs(TF_OutputList* outputs);
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_OutputListGet(TF_OutputList* outputs, int i);
TF_CAPI_EXPORT extern void TF_OutputListPushBack(TF_OutputList* outputs, TF_AbstractTensor* tensor, TF_Status* status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_
