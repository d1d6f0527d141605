// SPDX-License-Identifier: Apache-2.0
//
// A SavedModel as objects in an eager context: its functions by their paths and its signatures, each of which makes an op to execute. What is got
// from a model belongs to it and is valid as long as it. TensorFlow has these functions in several headers, which are other names of this one.
#ifndef TENSORFLOW_C_EXPERIMENTAL_SAVED_MODEL_PUBLIC_SAVED_MODEL_API_H_
#define TENSORFLOW_C_EXPERIMENTAL_SAVED_MODEL_PUBLIC_SAVED_MODEL_API_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_SavedModel TF_SavedModel;
typedef struct TF_ConcreteFunction TF_ConcreteFunction;
typedef struct TF_ConcreteFunctionList TF_ConcreteFunctionList;
typedef struct TF_FunctionMetadata TF_FunctionMetadata;
typedef struct TF_SignatureDefFunction TF_SignatureDefFunction;
typedef struct TF_SignatureDefFunctionMetadata TF_SignatureDefFunctionMetadata;
typedef struct TF_SignatureDefParam TF_SignatureDefParam;
typedef struct TF_SignatureDefParamList TF_SignatureDefParamList;
typedef struct TF_TensorSpec TF_TensorSpec;
typedef struct TF_Shape TF_Shape;

// The context must last longer than the model. Without tags the model must have one graph.
TF_CAPI_EXPORT extern TF_SavedModel* TF_LoadSavedModel(const char* dirname, TFE_Context* ctx, TF_Status* status);
TF_CAPI_EXPORT extern TF_SavedModel* TF_LoadSavedModelWithTags(const char* dirname, TFE_Context* ctx, const char* const* tags, int tags_len,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteSavedModel(TF_SavedModel* model);

// The function at a path of attributes from the saved object ("net.call"), which must have been traced for one signature.
TF_CAPI_EXPORT extern TF_ConcreteFunction* TF_GetSavedModelConcreteFunction(TF_SavedModel* model, const char* function_path, TF_Status* status);
TF_CAPI_EXPORT extern TF_SignatureDefFunction* TF_GetSavedModelSignatureDefFunction(TF_SavedModel* model, const char* signature_def_key,
                                                                                    TF_Status* status);
// All that TF_GetSavedModelConcreteFunction finds, by path; to be deleted.
TF_CAPI_EXPORT extern TF_ConcreteFunctionList* TF_ListSavedModelFunctions(TF_SavedModel* model);
TF_CAPI_EXPORT extern size_t TF_ConcreteFunctionListSize(TF_ConcreteFunctionList* list);
TF_CAPI_EXPORT extern TF_ConcreteFunction* TF_ConcreteFunctionListGet(TF_ConcreteFunctionList* list, int i);
TF_CAPI_EXPORT extern void TF_DeleteConcreteFunctionList(TF_ConcreteFunctionList* list);

// An op that calls the function with these inputs and with what it captured; the caller executes and deletes it.
TF_CAPI_EXPORT extern TFE_Op* TF_ConcreteFunctionMakeCallOp(TF_ConcreteFunction* func, TFE_TensorHandle** inputs, int num_inputs, TF_Status* status);
TF_CAPI_EXPORT extern TF_FunctionMetadata* TF_ConcreteFunctionGetMetadata(TF_ConcreteFunction* func);

// Inputs are in the order of the arguments below.
TF_CAPI_EXPORT extern TFE_Op* TF_SignatureDefFunctionMakeCallOp(TF_SignatureDefFunction* func, TFE_TensorHandle** inputs, int num_inputs,
                                                                TF_Status* status);
TF_CAPI_EXPORT extern TF_SignatureDefFunctionMetadata* TF_SignatureDefFunctionGetMetadata(TF_SignatureDefFunction* func);
TF_CAPI_EXPORT extern const TF_SignatureDefParamList* TF_SignatureDefFunctionMetadataArgs(const TF_SignatureDefFunctionMetadata* metadata);
TF_CAPI_EXPORT extern const TF_SignatureDefParamList* TF_SignatureDefFunctionMetadataReturns(const TF_SignatureDefFunctionMetadata* metadata);
TF_CAPI_EXPORT extern size_t TF_SignatureDefParamListSize(const TF_SignatureDefParamList* list);
TF_CAPI_EXPORT extern const TF_SignatureDefParam* TF_SignatureDefParamListGet(const TF_SignatureDefParamList* list, int i);
TF_CAPI_EXPORT extern const char* TF_SignatureDefParamName(const TF_SignatureDefParam* param);
TF_CAPI_EXPORT extern const TF_TensorSpec* TF_SignatureDefParamTensorSpec(const TF_SignatureDefParam* param);
TF_CAPI_EXPORT extern TF_DataType TF_TensorSpecDataType(const TF_TensorSpec* spec);
TF_CAPI_EXPORT extern const TF_Shape* TF_TensorSpecShape(const TF_TensorSpec* spec);

// -1 where the rank, or the dimension, is not known.
TF_CAPI_EXPORT extern int TF_ShapeDims(const TF_Shape* shape);
TF_CAPI_EXPORT extern int64_t TF_ShapeDimSize(const TF_Shape* shape, int d);
// Of unknown rank.
TF_CAPI_EXPORT extern TF_Shape* TF_NewShape(void);
TF_CAPI_EXPORT extern void TF_DeleteShape(TF_Shape* shape);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_SAVED_MODEL_PUBLIC_SAVED_MODEL_API_H_
