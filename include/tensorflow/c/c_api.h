// SPDX-License-Identifier: Apache-2.0
//
// Graphs, functions, sessions, devices and libraries: the stable C API.
//
// An object from TF_New... is freed by the TF_Delete... of the same name. Strings and arrays handed
// out belong to the object they came from. Calls with a TF_Status* report through it.
#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of TensorFlow whose behaviour the library follows.
TF_CAPI_EXPORT extern const char* TF_Version(void);

// A stretch of text that somebody else owns; not ended by a 0 byte.
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

typedef struct TF_SessionOptions TF_SessionOptions;
typedef struct TF_Graph TF_Graph;
typedef struct TF_OperationDescription TF_OperationDescription;  // a node being built
typedef struct TF_Operation TF_Operation;  // a node; lives as long as its graph
typedef struct TF_Function TF_Function;
typedef struct TF_FunctionOptions TF_FunctionOptions;
typedef struct TF_ImportGraphDefOptions TF_ImportGraphDefOptions;
typedef struct TF_ImportGraphDefResults TF_ImportGraphDefResults;
typedef struct TF_Session TF_Session;
typedef struct TF_DeprecatedSession TF_DeprecatedSession;
typedef struct TF_DeviceList TF_DeviceList;
typedef struct TF_Library TF_Library;
typedef struct TF_ApiDefMap TF_ApiDefMap;
typedef struct TF_Server TF_Server;

// Input number index of a node.
typedef struct TF_Input {
  TF_Operation* oper;
  int index;
} TF_Input;

// Output number index of a node.
typedef struct TF_Output {
  TF_Operation* oper;
  int index;
} TF_Output;

// Fills *to from a serialized TensorProto.
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to, TF_Status* status);

// ---- Graph ----

TF_CAPI_EXPORT extern TF_Graph* TF_NewGraph(void);

// Sessions on the graph keep it alive until they go.
TF_CAPI_EXPORT extern void TF_DeleteGraph(TF_Graph* graph);

// Narrows the known shape of an output; -1 is an unknown dimension, num_dims -1 an unknown rank.
TF_CAPI_EXPORT extern void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output, const int64_t* dims, const int num_dims, TF_Status* status);

// -1 if the rank is unknown.
TF_CAPI_EXPORT extern int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status);

// num_dims must be what TF_GraphGetTensorNumDims answers.
TF_CAPI_EXPORT extern void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims, TF_Status* status);

// Null if there is none.
TF_CAPI_EXPORT extern TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name);

// Walks over the nodes: start with *pos = 0, stop at null.
TF_CAPI_EXPORT extern TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos);

TF_CAPI_EXPORT extern void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name, TF_Buffer* output_op_def, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def, TF_Status* status);

// Shape and type behind a resource or variant output, as CppShapeInferenceResult.HandleData.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph, TF_Output output);
TF_CAPI_EXPORT extern void TF_SetHandleShapeAndType(TF_Graph* graph, TF_Output output, const void* proto, size_t proto_len, TF_Status* status);

// The value of an output if it depends on constants alone; 0 if not, or on error.
TF_CAPI_EXPORT extern unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output, TF_Tensor** result, TF_Status* status);

// ---- Building a node ----

// Free the description with TF_FinishOperation. The Locked forms are for a caller that already
// holds the graph's lock.
TF_CAPI_EXPORT extern TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type, const char* oper_name);
TF_CAPI_EXPORT extern TF_OperationDescription* TF_NewOperationLocked(TF_Graph* graph, const char* op_type, const char* oper_name);

// On failure the status says why and null comes back; desc is freed in both cases.
TF_CAPI_EXPORT extern TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status);
TF_CAPI_EXPORT extern TF_Operation* TF_FinishOperationLocked(TF_OperationDescription* desc, TF_Status* status);

TF_CAPI_EXPORT extern void TF_SetDevice(TF_OperationDescription* desc, const char* device);

// Inputs are added in the order of the op's signature; an input that is a list, with one
// TF_AddInputList.
TF_CAPI_EXPORT extern void TF_AddInput(TF_OperationDescription* desc, TF_Output input);
TF_CAPI_EXPORT extern void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs, int num_inputs);

TF_CAPI_EXPORT extern void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input);

// Asks for the device of another node.
TF_CAPI_EXPORT extern void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op);

// ---- Attributes of a node being built ----

// Errors that these find (no such attribute, wrong type) are reported by TF_FinishOperation.
TF_CAPI_EXPORT extern void TF_SetAttrString(TF_OperationDescription* desc, const char* attr_name, const void* value, size_t length);
TF_CAPI_EXPORT extern void TF_SetAttrStringList(TF_OperationDescription* desc, const char* attr_name, const void* const* values,
                                                const size_t* lengths, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrInt(TF_OperationDescription* desc, const char* attr_name, int64_t value);
TF_CAPI_EXPORT extern void TF_SetAttrIntList(TF_OperationDescription* desc, const char* attr_name, const int64_t* values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrFloat(TF_OperationDescription* desc, const char* attr_name, float value);
TF_CAPI_EXPORT extern void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* attr_name, const float* values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrBool(TF_OperationDescription* desc, const char* attr_name, unsigned char value);
TF_CAPI_EXPORT extern void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* attr_name, const unsigned char* values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrType(TF_OperationDescription* desc, const char* attr_name, TF_DataType value);
TF_CAPI_EXPORT extern void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* attr_name, const TF_DataType* values, int num_values);

// In a function body: the value comes from the function's attribute of this name.
TF_CAPI_EXPORT extern void TF_SetAttrPlaceholder(TF_OperationDescription* desc, const char* attr_name, const char* placeholder);
TF_CAPI_EXPORT extern void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* attr_name, const char* value, size_t length);

// num_dims -1: unknown rank; a dimension of -1 is unknown.
TF_CAPI_EXPORT extern void TF_SetAttrShape(TF_OperationDescription* desc, const char* attr_name, const int64_t* dims, int num_dims);
TF_CAPI_EXPORT extern void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* attr_name, const int64_t* const* dims, const int* num_dims,
                                               int num_shapes);

// From serialized TensorShapeProto messages.
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc, const char* attr_name, const void* proto, size_t proto_len,
                                                      TF_Status* status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc, const char* attr_name, const void* const* protos,
                                                          const size_t* proto_lens, int num_shapes, TF_Status* status);

TF_CAPI_EXPORT extern void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name, TF_Tensor* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* attr_name, TF_Tensor* const* values, int num_values,
                                                TF_Status* status);

// From a serialized AttrValue.
TF_CAPI_EXPORT extern void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* attr_name, const void* proto, size_t proto_len,
                                                TF_Status* status);

// ---- Reading a node ----

TF_CAPI_EXPORT extern const char* TF_OperationName(TF_Operation* oper);
TF_CAPI_EXPORT extern const char* TF_OperationOpType(TF_Operation* oper);
TF_CAPI_EXPORT extern const char* TF_OperationDevice(TF_Operation* oper);

TF_CAPI_EXPORT extern int TF_OperationNumOutputs(TF_Operation* oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationOutputType(TF_Output output);
TF_CAPI_EXPORT extern int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status);

TF_CAPI_EXPORT extern int TF_OperationNumInputs(TF_Operation* oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationInputType(TF_Input input);
TF_CAPI_EXPORT extern int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status);

// The output that feeds this input.
TF_CAPI_EXPORT extern TF_Output TF_OperationInput(TF_Input input);

// Fills at most max_inputs; the array should hold TF_OperationNumInputs.
TF_CAPI_EXPORT extern void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max_inputs);

// A count read before the list may be out of date if other threads change the graph; the return
// value is what was written.
TF_CAPI_EXPORT extern int TF_OperationOutputNumConsumers(TF_Output output);
TF_CAPI_EXPORT extern int TF_OperationOutputConsumers(TF_Output output, TF_Input* consumers, int max_consumers);
TF_CAPI_EXPORT extern int TF_OperationNumControlInputs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** control_inputs, int max_control_inputs);
TF_CAPI_EXPORT extern int TF_OperationNumControlOutputs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** control_outputs, int max_control_outputs);

TF_CAPI_EXPORT extern void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def, TF_Status* status);

// ---- Reading attributes ----

// Says how much room the getters below need.
typedef struct TF_AttrMetadata {
  unsigned char is_list;
  int64_t list_size;  // -1 if not a list
  TF_AttrType type;   // of the value, or of each element
  // Strings: bytes in all. Shapes: dimensions in all, -1 for a single one of unknown rank.
  int64_t total_size;
} TF_AttrMetadata;

TF_CAPI_EXPORT extern TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* attr_name, TF_Status* status);

// Not ended by a 0 byte; what does not fit in max_length is cut.
TF_CAPI_EXPORT extern void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name, void* value, size_t max_length, TF_Status* status);

// values[i] points into storage, which must hold total_size bytes.
TF_CAPI_EXPORT extern void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name, void** values, size_t* lengths, int max_values,
                                                         void* storage, size_t storage_size, TF_Status* status);

TF_CAPI_EXPORT extern void TF_OperationGetAttrInt(TF_Operation* oper, const char* attr_name, int64_t* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrIntList(TF_Operation* oper, const char* attr_name, int64_t* values, int max_values, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloat(TF_Operation* oper, const char* attr_name, float* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* attr_name, float* values, int max_values, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBool(TF_Operation* oper, const char* attr_name, unsigned char* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* attr_name, unsigned char* values, int max_values,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrType(TF_Operation* oper, const char* attr_name, TF_DataType* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* attr_name, TF_DataType* values, int max_values,
                                                       TF_Status* status);

TF_CAPI_EXPORT extern void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name, int64_t* value, int num_dims, TF_Status* status);

// dims[i] points into storage, which must hold total_size numbers.
TF_CAPI_EXPORT extern void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name, int64_t** dims, int* num_dims, int num_shapes,
                                                        int64_t* storage, int storage_size, TF_Status* status);

// As serialized TensorShapeProto messages.
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper, const char* attr_name, TF_Buffer* value, TF_Status* status);

// The caller deletes the buffers.
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper, const char* attr_name, TF_Buffer** values, int max_values,
                                                                   TF_Status* status);

// The caller deletes the tensors.
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name, TF_Tensor** value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name, TF_Tensor** values, int max_values,
                                                         TF_Status* status);

// As a serialized AttrValue.
TF_CAPI_EXPORT extern void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name, TF_Buffer* output_attr_value, TF_Status* status);

// Attributes by number; output must hold TF_OperationGetAttrNameLength bytes and gets no 0 byte.
TF_CAPI_EXPORT extern int TF_OperationGetNumAttrs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetAttrNameLength(TF_Operation* oper, int i);
TF_CAPI_EXPORT extern void TF_OperationGetAttrName(TF_Operation* oper, int i, char* output, TF_Status* status);

// ---- Changing a finished graph ----

// For language bindings that build graphs in their own order. A session made before the change sees
// it only after TF_ExtendSession.
TF_CAPI_EXPORT extern void TF_UpdateEdge(TF_Graph* graph, TF_Output new_src, TF_Input dst, TF_Status* status);
TF_CAPI_EXPORT extern void TF_AddOperationControlInput(TF_Graph* graph, TF_Operation* op, TF_Operation* input);
TF_CAPI_EXPORT extern void TF_RemoveAllControlInputs(TF_Graph* graph, TF_Operation* op);

// attr_value_proto is a serialized AttrValue.
TF_CAPI_EXPORT extern void TF_SetAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name, TF_Buffer* attr_value_proto, TF_Status* status);
TF_CAPI_EXPORT extern void TF_ClearAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name, TF_Status* status);

// full_type_proto is a serialized FullTypeDef.
TF_CAPI_EXPORT extern void TF_SetFullType(TF_Graph* graph, TF_Operation* op, const TF_Buffer* full_type_proto);
TF_CAPI_EXPORT extern void TF_SetRequestedDevice(TF_Graph* graph, TF_Operation* op, const char* device);

// Whether an op without a shape function is an error; it is by default.
TF_CAPI_EXPORT extern void TF_SetRequireShapeInferenceFns(TF_Graph* graph, bool require);

// Adds an input to a While node, past the checks of TF_UpdateEdge.
TF_CAPI_EXPORT extern void TF_AddWhileInputHack(TF_Graph* graph, TF_Output new_src, TF_Operation* dst, TF_Status* status);

// ---- Importing a GraphDef ----

TF_CAPI_EXPORT extern TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts);

// Put before every imported name, with a slash between.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts, const char* prefix);

TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts, const char* device);

// Whether a clash of names, or of the prefix, is solved by renaming instead of failing.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts, unsigned char uniquify_names);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts, unsigned char uniquify_prefix);

// Uses of src_name:src_index become uses of dst, a node already in the graph.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts, const char* src_name, int src_index,
                                                                   TF_Output dst);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions* opts, const char* src_name, TF_Operation* dst);

// Makes every imported node wait for oper.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions* opts, TF_Operation* oper);

// Outputs and nodes that the import shall return, in this order.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts, const char* oper_name, int index);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts, const char* oper_name);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* opts);

TF_CAPI_EXPORT extern void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
                                                  TF_Status* status);
TF_CAPI_EXPORT extern void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph, const TF_Buffer* graph_def,
                                                                   const TF_ImportGraphDefOptions* options, TF_Output* return_outputs,
                                                                   int num_return_outputs, TF_Status* status);
TF_CAPI_EXPORT extern TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(TF_Graph* graph, const TF_Buffer* graph_def,
                                                                                  const TF_ImportGraphDefOptions* options, TF_Status* status);

// graph_def->data is a GraphDef object in this process, not its bytes.
TF_CAPI_EXPORT extern TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResultsNoSerialization(TF_Graph* graph, const TF_Buffer* graph_def,
                                                                                                 const TF_ImportGraphDefOptions* options,
                                                                                                 TF_Status* status);

TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results, int* num_outputs, TF_Output** outputs);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results, int* num_opers, TF_Operation*** opers);

// Mappings whose source the GraphDef did not hold.
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults* results,
                                                                              int* num_missing_unused_input_mappings, const char*** src_names,
                                                                              int** src_indexes);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results);

// ---- While loops ----

// Made by TF_NewWhile. The caller builds the condition and the body in the two graphs and sets
// cond_output, body_outputs and name.
typedef struct TF_WhileParams {
  const int ninputs;
  TF_Graph* const cond_graph;
  const TF_Output* const cond_inputs;
  TF_Output cond_output;
  TF_Graph* const body_graph;
  const TF_Output* const body_inputs;
  TF_Output* const body_outputs;
  const char* name;  // unique prefix for the nodes of the loop
} TF_WhileParams;

// End it with TF_FinishWhile or TF_AbortWhile.
TF_CAPI_EXPORT extern TF_WhileParams TF_NewWhile(TF_Graph* graph, TF_Output* inputs, int ninputs, TF_Status* status);

// Adds the loop to the graph and fills outputs (ninputs of them); frees what params holds.
TF_CAPI_EXPORT extern void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status, TF_Output* outputs);
TF_CAPI_EXPORT extern void TF_AbortWhile(const TF_WhileParams* params);

// ---- Gradients ----

// Adds nodes for the derivatives of sum(y) by each x and fills dx; a null dy means ones.
TF_CAPI_EXPORT extern void TF_AddGradients(TF_Graph* graph, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status,
                                           TF_Output* dy);

// The same with a prefix for the new names; null lets the library choose.
TF_CAPI_EXPORT extern void TF_AddGradientsWithPrefix(TF_Graph* graph, const char* prefix, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx,
                                                     TF_Status* status, TF_Output* dy);

// ---- Functions ----

// Makes a function of nodes of a graph. num_opers -1 takes all nodes but the inputs; output_names
// may be null.
TF_CAPI_EXPORT extern TF_Function* TF_GraphToFunction(const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
                                                      int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
                                                      int noutputs, const TF_Output* outputs, const char* const* output_names,
                                                      const TF_FunctionOptions* opts, const char* description, TF_Status* status);

// The same with nodes that must run although no output needs them.
TF_CAPI_EXPORT extern TF_Function* TF_GraphToFunctionWithControlOutputs(const TF_Graph* fn_body, const char* fn_name,
                                                                        unsigned char append_hash_to_fn_name, int num_opers,
                                                                        const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
                                                                        int noutputs, const TF_Output* outputs, const char* const* output_names,
                                                                        int ncontrol_outputs, const TF_Operation* const* control_outputs,
                                                                        const char* const* control_output_names, const TF_FunctionOptions* opts,
                                                                        const char* description, TF_Status* status);

TF_CAPI_EXPORT extern const char* TF_FunctionName(TF_Function* func);
TF_CAPI_EXPORT extern void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def, TF_Status* status);
TF_CAPI_EXPORT extern TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len, TF_Status* status);

// As serialized AttrValue messages.
TF_CAPI_EXPORT extern void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name, const void* proto, size_t proto_len,
                                                        TF_Status* status);
TF_CAPI_EXPORT extern void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name, TF_Buffer* output_attr_value, TF_Status* status);

// Copies in a graph stay.
TF_CAPI_EXPORT extern void TF_DeleteFunction(TF_Function* func);

// Adds func, and grad (may be null) as its gradient, to the graph's library.
TF_CAPI_EXPORT extern void TF_GraphCopyFunction(TF_Graph* graph, const TF_Function* func, const TF_Function* grad, TF_Status* status);

TF_CAPI_EXPORT extern int TF_GraphNumFunctions(TF_Graph* graph);

// Returns how many were written; the caller deletes them.
TF_CAPI_EXPORT extern int TF_GraphGetFunctions(TF_Graph* graph, TF_Function** funcs, int max_func, TF_Status* status);

// ---- Sessions ----

TF_CAPI_EXPORT extern TF_SessionOptions* TF_NewSessionOptions(void);
TF_CAPI_EXPORT extern void TF_DeleteSessionOptions(TF_SessionOptions* options);

// "" or "local" is this process; otherwise an address such as "grpc://host:port".
TF_CAPI_EXPORT extern void TF_SetTarget(TF_SessionOptions* options, const char* target);

// From a serialized ConfigProto.
TF_CAPI_EXPORT extern void TF_SetConfig(TF_SessionOptions* options, const void* proto, size_t proto_len, TF_Status* status);

TF_CAPI_EXPORT extern TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status);

// Reads a SavedModel directory; graph must be empty, and meta_graph_def may be null.
TF_CAPI_EXPORT extern TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* session_options, const TF_Buffer* run_options,
                                                               const char* export_dir, const char* const* tags, int tags_len, TF_Graph* graph,
                                                               TF_Buffer* meta_graph_def, TF_Status* status);

// No further runs; frees nothing.
TF_CAPI_EXPORT extern void TF_CloseSession(TF_Session* session, TF_Status* status);

// The handle is gone even if the status is an error.
TF_CAPI_EXPORT extern void TF_DeleteSession(TF_Session* session, TF_Status* status);

// Runs what outputs and targets need. The caller keeps its input tensors and deletes the output
// tensors; run_options and run_metadata may be null.
TF_CAPI_EXPORT extern void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs, TF_Tensor* const* input_values,
                                         int ninputs, const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
                                         const TF_Operation* const* target_opers, int ntargets, TF_Buffer* run_metadata, TF_Status* status);

// Partial runs: set up once, then feed and fetch in pieces.
TF_CAPI_EXPORT extern void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs, int ninputs, const TF_Output* outputs, int noutputs,
                                               const TF_Operation* const* target_opers, int ntargets, const char** handle, TF_Status* status);
TF_CAPI_EXPORT extern void TF_SessionPRun(TF_Session* session, const char* handle, const TF_Output* inputs, TF_Tensor* const* input_values,
                                          int ninputs, const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
                                          const TF_Operation* const* target_opers, int ntargets, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeletePRunHandle(const char* handle);

// Lets the session see nodes added since its last run.
TF_CAPI_EXPORT extern void TF_ExtendSession(TF_Session* session, TF_Status* status);

// ---- Sessions without a TF_Graph, of programs older than it ----

TF_CAPI_EXPORT extern TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* options, TF_Status* status);
TF_CAPI_EXPORT extern void TF_CloseDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status);

// Drops the state (variables, queues) of the named containers on the target.
TF_CAPI_EXPORT extern void TF_Reset(const TF_SessionOptions* opt, const char** containers, int ncontainers, TF_Status* status);

// Adds the nodes of a serialized GraphDef.
TF_CAPI_EXPORT extern void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto, size_t proto_len, TF_Status* status);

// As TF_SessionRun and its partial runs, by name.
TF_CAPI_EXPORT extern void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options, const char** input_names, TF_Tensor** inputs,
                                  int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_oper_names,
                                  int ntargets, TF_Buffer* run_metadata, TF_Status* status);
TF_CAPI_EXPORT extern void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names, int ninputs, const char** output_names, int noutputs,
                                        const char** target_oper_names, int ntargets, const char** handle, TF_Status* status);
TF_CAPI_EXPORT extern void TF_PRun(TF_DeprecatedSession* session, const char* handle, const char** input_names, TF_Tensor** inputs, int ninputs,
                                   const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_oper_names, int ntargets,
                                   TF_Status* status);

// ---- Devices ----

TF_CAPI_EXPORT extern TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status);
TF_CAPI_EXPORT extern TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteDeviceList(TF_DeviceList* list);
TF_CAPI_EXPORT extern int TF_DeviceListCount(const TF_DeviceList* list);
TF_CAPI_EXPORT extern const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status);
TF_CAPI_EXPORT extern const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status);

// -1 on error.
TF_CAPI_EXPORT extern int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index, TF_Status* status);

// Changes whenever the device is started anew; 0 on error.
TF_CAPI_EXPORT extern uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index, TF_Status* status);

// ---- Libraries, ops and kernels ----

// Loads ops and kernels from a shared library; they stay for the life of the process.
TF_CAPI_EXPORT extern TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status);

// Serialized OpList of what the library added; it belongs to the handle.
TF_CAPI_EXPORT extern TF_Buffer TF_GetOpList(TF_Library* lib_handle);

// Frees the handle; the library stays loaded.
TF_CAPI_EXPORT extern void TF_DeleteLibraryHandle(TF_Library* lib_handle);

// Serialized OpList of everything registered; the caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllOpList(void);

// ApiDef entries (names and texts for bindings) of the given OpList.
TF_CAPI_EXPORT extern TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteApiDefMap(TF_ApiDefMap* apimap);

// text is one or more ApiDef messages in text form; later ones override.
TF_CAPI_EXPORT extern void TF_ApiDefMapPut(TF_ApiDefMap* api_def_map, const char* text, size_t text_len, TF_Status* status);
TF_CAPI_EXPORT extern TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* api_def_map, const char* name, size_t name_len, TF_Status* status);

// As a serialized KernelList.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);
TF_CAPI_EXPORT extern TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status);

TF_CAPI_EXPORT extern void TF_RegisterFilesystemPlugin(const char* plugin_filename, TF_Status* status);

// Gets the text of every print op from now on, in place of the log.
TF_CAPI_EXPORT extern void TF_RegisterLogListener(void (*listener)(const char*));

// ---- In-process server ----

// From a serialized ServerDef; it listens after TF_ServerStart.
TF_CAPI_EXPORT extern TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status);
TF_CAPI_EXPORT extern void TF_ServerStart(TF_Server* server, TF_Status* status);
TF_CAPI_EXPORT extern void TF_ServerStop(TF_Server* server, TF_Status* status);

// Waits until the server is stopped.
TF_CAPI_EXPORT extern void TF_ServerJoin(TF_Server* server, TF_Status* status);

// Address for TF_SetTarget.
TF_CAPI_EXPORT extern const char* TF_ServerTarget(TF_Server* server);
TF_CAPI_EXPORT extern void TF_DeleteServer(TF_Server* server);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_C_API_H_
