// Eager calls: handles, ops and functions of other contexts, ops after errors, counts and attributes.
#include "capi_misuse.h"

static TFE_Context *a, *b;

static void two_contexts(void) {
  a = context();
  b = context();
}
static void execute(TFE_Op* op) {
  TFE_TensorHandle* out[4] = {NULL, NULL, NULL, NULL};
  int n = 4;
  ASK(TFE_Execute(op, out, &n, s));
  if (TF_GetCode(s) == TF_OK && n > 0 && out[0] && TFE_TensorHandleDataType(out[0]) == TF_FLOAT) TELL("%g", (double)value_of(out[0]));
}
static TFE_Op* new_op(TFE_Context* c, const char* name, TFE_TensorHandle* in, TFE_TensorHandle* in2) {
  TFE_Op* op;
  NEED(op = TFE_NewOp(c, name, s));
  if (in) NEED(TFE_OpAddInput(op, in, s));
  if (in2) NEED(TFE_OpAddInput(op, in2, s));
  return op;
}

static void handle_of_other_context(void) {
  two_contexts();
  TFE_TensorHandle* h = run_eager(a, "Neg", handle(2), NULL);
  execute(new_op(b, "Mul", h, handle(3)));
}
static void handle_after_its_context(void) {
  two_contexts();
  TFE_TensorHandle* h = run_eager(a, "Neg", handle(2), NULL);
  TFE_DeleteContext(a);
  TELL("%g", (double)value_of(h));
  TELL("%s", TFE_TensorHandleDeviceName(h, s));
  TELL("%s", TFE_TensorHandleBackingDeviceName(h, s));
  TELL("%d", TFE_TensorHandleNumDims(h, s));
  TFE_DeleteTensorHandle(h);
}
static void handle_of_deleted_context(void) {
  two_contexts();
  TFE_TensorHandle* h = run_eager(a, "Neg", handle(2), NULL);
  TFE_DeleteContext(a);
  execute(new_op(b, "Mul", h, h));
}
static TFE_TensorHandle* variable(TFE_Context* c, float value) {
  TFE_Op* op = new_op(c, "VarHandleOp", NULL, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  NEED(TFE_OpSetAttrShape(op, "shape", NULL, 0, s));
  TFE_OpSetAttrString(op, "container", "", 0);
  TFE_OpSetAttrString(op, "shared_name", "v", 1);
  TFE_TensorHandle* h = NULL;
  int n = 1;
  NEED(TFE_Execute(op, &h, &n, s));
  op = new_op(c, "AssignVariableOp", h, handle(value));
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  n = 0;
  NEED(TFE_Execute(op, NULL, &n, s));
  return h;
}
static void read_variable(TFE_Context* c, TFE_TensorHandle* h) {
  TFE_Op* op = new_op(c, "ReadVariableOp", h, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  execute(op);
}
static void variable_of_other_context(void) {
  two_contexts();
  read_variable(b, variable(a, 4));
}
static void variable_of_deleted_context(void) {
  two_contexts();
  TFE_TensorHandle* h = variable(a, 4);
  TFE_DeleteContext(a);
  read_variable(b, h);
}
// An iterator over square(x) for two numbers.
static TFE_TensorHandle* iterator(TFE_Context* c) {
  const TF_DataType type = TF_FLOAT;
  const int64_t* shape = NULL;
  const int rank = 0;
  NEED(TFE_ContextAddFunction(c, square_function("square"), s));
  const float values[] = {2, 3};
  const int64_t dims[] = {2};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 1, sizeof values);
  memcpy(TF_TensorData(t), values, sizeof values);
  TFE_TensorHandle *in, *data = NULL, *mapped = NULL, *it = NULL;
  NEED(in = TFE_NewTensorHandle(t, s));
  int n = 1;
  TFE_Op* op = new_op(c, "TensorSliceDataset", NULL, NULL);
  NEED(TFE_OpAddInputList(op, &in, 1, s));
  TFE_OpSetAttrTypeList(op, "Toutput_types", &type, 1);
  NEED(TFE_OpSetAttrShapeList(op, "output_shapes", &shape, &rank, 1, s));
  NEED(TFE_Execute(op, &data, &n, s));
  op = new_op(c, "MapDataset", data, NULL);
  NEED(TFE_OpAddInputList(op, NULL, 0, s));
  TFE_OpSetAttrTypeList(op, "Targuments", NULL, 0);
  TFE_OpSetAttrTypeList(op, "output_types", &type, 1);
  NEED(TFE_OpSetAttrShapeList(op, "output_shapes", &shape, &rank, 1, s));
  TFE_OpSetAttrFunctionName(op, "f", "square", 6);
  n = 1;
  NEED(TFE_Execute(op, &mapped, &n, s));
  op = new_op(c, "AnonymousIteratorV3", NULL, NULL);
  TFE_OpSetAttrTypeList(op, "output_types", &type, 1);
  NEED(TFE_OpSetAttrShapeList(op, "output_shapes", &shape, &rank, 1, s));
  n = 1;
  NEED(TFE_Execute(op, &it, &n, s));
  n = 0;
  NEED(TFE_Execute(new_op(c, "MakeIterator", mapped, it), NULL, &n, s));
  return it;
}
static void next_of(TFE_Context* c, TFE_TensorHandle* it) {
  const TF_DataType type = TF_FLOAT;
  const int64_t* shape = NULL;
  const int rank = 0;
  TFE_Op* op = new_op(c, "IteratorGetNext", it, NULL);
  TFE_OpSetAttrTypeList(op, "output_types", &type, 1);
  NEED(TFE_OpSetAttrShapeList(op, "output_shapes", &shape, &rank, 1, s));
  execute(op);
}
static void iterator_of_other_context(void) {
  two_contexts();
  TFE_TensorHandle* it = iterator(a);
  next_of(a, it);
  next_of(b, it);
}
static void iterator_of_deleted_context(void) {
  two_contexts();
  TFE_TensorHandle* it = iterator(a);
  next_of(a, it);
  TFE_DeleteContext(a);
  next_of(b, it);
  TFE_DeleteTensorHandle(it);
}
static void read_as_other_type(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "ReadVariableOp", variable(a, 4), NULL);
  TFE_OpSetAttrType(op, "dtype", TF_INT32);
  execute(op);
}
static void not_a_resource(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "ReadVariableOp", handle(1), NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  execute(op);
}
static void function_of_other_context(void) {
  two_contexts();
  NEED(TFE_ContextAddFunction(a, square_function("square"), s));
  execute(new_op(a, "square", handle(3), NULL));
  TFE_Op* op;
  ASK(op = TFE_NewOp(b, "square", s));
  TELL("%d", op == NULL);
}
static void function_removed_under_op(void) {
  two_contexts();
  NEED(TFE_ContextAddFunction(a, square_function("square"), s));
  TFE_Op* op = new_op(a, "square", handle(3), NULL);
  NEED(TFE_ContextRemoveFunction(a, "square", s));
  execute(op);
}
static void function_removed_then_reset(void) {
  two_contexts();
  NEED(TFE_ContextAddFunction(a, square_function("square"), s));
  TFE_Op* op = new_op(a, "square", handle(3), NULL);
  execute(op);
  NEED(TFE_ContextRemoveFunction(a, "square", s));
  ASK(TFE_OpReset(op, "square", NULL, s));
  ASK(TFE_OpReset(op, "Neg", NULL, s));
  NEED(TFE_OpAddInput(op, handle(3), s));
  execute(op);
}
static void function_op_then_new_context(void) {
  a = context();
  NEED(TFE_ContextAddFunction(a, square_function("square"), s));
  TFE_Op* op = new_op(a, "square", handle(3), NULL);
  execute(op);
  TFE_DeleteOp(op);
  TFE_DeleteContext(a);
  for (int i = 0; i < 8; ++i) {
    a = context();
    op = NULL;
    TF_SetStatus(s, TF_OK, "");
    op = TFE_NewOp(a, "square", s);
    if (op) TELL("%d", op != NULL);
    TFE_DeleteContext(a);
  }
  ASK(TF_SetStatus(s, TF_OK, ""));
}
static void function_removed_unknown(void) {
  two_contexts();
  ASK(TFE_ContextRemoveFunction(a, "no such", s));
  ASK(TFE_ContextAddFunctionDef(a, "\xff\xff", 2, s));
  TF_Buffer* buffer = TF_NewBuffer();
  ASK(TFE_ContextGetFunctionDef(a, "no such", buffer, s));
  ASK(TFE_ContextGetFunction(a, "no such", s));
}
static void too_few_inputs(void) {
  two_contexts();
  execute(new_op(a, "Mul", handle(1), NULL));
}
static void no_inputs(void) {
  two_contexts();
  execute(new_op(a, "Neg", NULL, NULL));
}
static void too_many_inputs(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  ASK(TFE_OpAddInput(op, handle(2), s));
  execute(op);
}
static void mixed_types(void) {
  two_contexts();
  TF_Tensor* t = TF_AllocateTensor(TF_INT32, NULL, 0, 4);
  memset(TF_TensorData(t), 0, 4);
  TFE_TensorHandle* h;
  NEED(h = TFE_NewTensorHandle(t, s));
  execute(new_op(a, "Mul", handle(1), h));
}
static void executed_twice(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  execute(op);
  execute(op);
}
static void outputs_too_few(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  int n = 0;
  ASK(TFE_Execute(op, NULL, &n, s));
}
static void outputs_negative(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  TFE_TensorHandle* out = NULL;
  int n = -3;
  ASK(TFE_Execute(op, &out, &n, s));
}
static void outputs_count_null(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  TFE_TensorHandle* out = NULL;
  ASK(TFE_Execute(op, &out, NULL, s));
}
static void unknown_op(void) {
  two_contexts();
  TFE_Op* op = NULL;
  ASK(op = TFE_NewOp(a, "", s));
  TELL("%d", op == NULL);
}
static void reset_to_unknown(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  TF_SetStatus(s, TF_OK, "");
  TFE_OpReset(op, "NoSuchOp", NULL, s);
  TELL("%d", (int)TF_GetCode(s));
  unsigned char list;
  (void)TFE_OpGetAttrType(op, "T", &list, s);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TFE_OpSetDevice(op, "nonsense", s);
  (void)TFE_OpGetName(op, s);
  (void)TFE_OpGetInputLength(op, "x", s);
  (void)TFE_OpAddInput(op, handle(1), s);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  TFE_Execute(op, &out, &n, s);
  ASK(TFE_OpReset(op, "Neg", NULL, s));
  NEED(TFE_OpAddInput(op, handle(5), s));
  execute(op);
  TFE_DeleteOp(op);
}
static void reset_after_error(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Mul", handle(1), NULL);
  execute(op);
  ASK(TFE_OpReset(op, "Neg", NULL, s));
  NEED(TFE_OpAddInput(op, handle(5), s));
  execute(op);
  TFE_DeleteOp(op);
}
static void reset_device_unknown(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  ASK(TFE_OpReset(op, "Neg", "/device:TPU:9", s));
  NEED(TFE_OpAddInput(op, handle(5), s));
  execute(op);
}
static void device_malformed(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  ASK(TFE_OpSetDevice(op, "not a device", s));
  execute(op);
}
static void attr_type_unknown(void) {
  two_contexts();
  const int values[] = {9999, -1, 0, 24, 101, 2147483647};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    TFE_Op* op = new_op(a, "Cast", handle(1), NULL);
    TFE_OpSetAttrType(op, "SrcT", TF_FLOAT);
    TFE_OpSetAttrType(op, "DstT", (TF_DataType)values[i]);
    TFE_OpSetAttrBool(op, "Truncate", 0);
    execute(op);
  }
}
static void attr_type_unknown_of_input(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", NULL, NULL);
  TFE_OpSetAttrType(op, "T", (TF_DataType)9999);
  NEED(TFE_OpAddInput(op, handle(1), s));
  execute(op);
}
static void attr_type_list_unknown(void) {
  two_contexts();
  const TF_DataType types[] = {(TF_DataType)9999, TF_FLOAT};
  TFE_Op* op = new_op(a, "FIFOQueueV2", NULL, NULL);
  TFE_OpSetAttrTypeList(op, "component_types", types, 2);
  TFE_OpSetAttrInt(op, "capacity", 1);
  TFE_OpSetAttrString(op, "container", "", 0);
  TFE_OpSetAttrString(op, "shared_name", "", 0);
  execute(op);
}
static void attr_of_other_kind(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", NULL, NULL);
  TFE_OpSetAttrInt(op, "T", 1);
  NEED(TFE_OpAddInput(op, handle(1), s));
  execute(op);
}
static void attr_query(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  unsigned char list;
  ASK(TFE_OpGetAttrType(op, "no such", &list, s));
  ASK(TFE_OpNameGetAttrType(a, "NoSuchOp", "T", &list, s));
  ASK(TFE_OpNameGetAttrType(a, "Neg", "no such", &list, s));
  ASK(TFE_OpGetInputLength(op, "no such", s));
  ASK(TFE_OpGetOutputLength(op, "no such", s));
}
static void attr_shape_rank(void) {
  two_contexts();
  int64_t dims[300];
  for (int i = 0; i < 300; ++i) dims[i] = 1;
  TFE_Op* op = new_op(a, "VarHandleOp", NULL, NULL);
  ASK(TFE_OpSetAttrShape(op, "shape", dims, 300, s));
}
static void attr_value_junk(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", NULL, NULL);
  ASK(TFE_OpSetAttrValueProto(op, "T", "\xff", 1, s));
}
static void attr_function_of_other_context(void) {
  two_contexts();
  NEED(TFE_ContextAddFunction(b, square_function("square"), s));
  TFE_Op* body = new_op(b, "square", NULL, NULL);
  TFE_TensorHandle* in = handle(3);
  TFE_Op* op = new_op(a, "PartitionedCall", NULL, NULL);
  NEED(TFE_OpAddInputList(op, &in, 1, s));
  const TF_DataType type = TF_FLOAT;
  TFE_OpSetAttrTypeList(op, "Tin", &type, 1);
  TFE_OpSetAttrTypeList(op, "Tout", &type, 1);
  TFE_OpSetAttrFunction(op, "f", body);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  TF_SetStatus(s, TF_OK, "");
  TFE_Execute(op, &out, &n, s);
  TELL("%d", (int)TF_GetCode(s));
}
static void input_list_to_single(void) {
  two_contexts();
  TFE_TensorHandle* in[] = {handle(1), handle(2)};
  TFE_Op* op = new_op(a, "Neg", NULL, NULL);
  TF_SetStatus(s, TF_OK, "");
  TFE_OpAddInputList(op, in, 2, s);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  TFE_Execute(op, &out, &n, s);
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void input_list_negative(void) {
  two_contexts();
  TFE_TensorHandle* in[] = {handle(1)};
  TFE_Op* op = new_op(a, "AddN", NULL, NULL);
  TF_SetStatus(s, TF_OK, "");
  TFE_OpAddInputList(op, in, -1, s);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  TFE_Execute(op, &out, &n, s);
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void input_null(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", NULL, NULL);
  ASK(TFE_OpAddInput(op, NULL, s));
}
static void flat_input_index(void) {
  two_contexts();
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  ASK(TFE_OpGetFlatInput(op, 7, s));
}
static void copy_to_unknown_device(void) {
  two_contexts();
  TFE_TensorHandle* h = handle(1);
  ASK(TFE_TensorHandleCopyToDevice(h, a, "/device:GPU:7", s));
  ASK(TFE_TensorHandleCopyToDevice(h, a, "nonsense", s));
}
static void copy_of_other_context(void) {
  two_contexts();
  TFE_TensorHandle* h = run_eager(a, "Neg", handle(2), NULL);
  TFE_TensorHandle* copy = NULL;
  ASK(copy = TFE_TensorHandleCopyToDevice(h, b, "/job:localhost/replica:0/task:0/device:CPU:0", s));
  TELL("%g", copy ? (double)value_of(copy) : -1);
}
static void null_handles(void) {
  ASK(TFE_TensorHandleNumDims(NULL, s));
  ASK(TFE_TensorHandleNumElements(NULL, s));
  ASK(TFE_TensorHandleDim(NULL, 0, s));
  ASK(TFE_TensorHandleDeviceName(NULL, s));
  ASK(TFE_TensorHandleBackingDeviceName(NULL, s));
  ASK(TFE_TensorHandleCopySharingTensor(NULL, s));
  ASK(TFE_TensorHandleResolve(NULL, s));
}
static void dim_index(void) {
  TFE_TensorHandle* h = handle(1);
  TELL("%d", TFE_TensorHandleNumDims(h, s));
}
static void dim_index_out(void) {
  TFE_TensorHandle* h = handle(1);
  ASK(TFE_TensorHandleDim(h, 4, s));
}
static void executor_of_other_context(void) {
  two_contexts();
  TFE_Executor* e = TFE_NewExecutor(true, true, 0);
  TFE_ContextSetExecutorForThread(a, e);
  TFE_TensorHandle* h = run_eager(a, "Neg", handle(2), NULL);
  TFE_ContextSetExecutorForThread(b, e);
  execute(new_op(b, "Mul", h, handle(3)));
  TFE_DeleteContext(a);
  ASK(TFE_ExecutorWaitForAllPendingNodes(e, s));
  TFE_DeleteExecutor(e);
  TFE_DeleteContext(b);
}
static void cancelled_manager(void) {
  two_contexts();
  TFE_CancellationManager* m = TFE_NewCancellationManager();
  TFE_CancellationManagerStartCancel(m);
  TFE_Op* op = new_op(a, "Neg", handle(1), NULL);
  TF_SetStatus(s, TF_OK, "");
  TFE_OpSetCancellationManager(op, m, s);
  TELL("%d", TFE_CancellationManagerIsCancelled(m));
  TELL("%d", TFE_CancellationManagerDeregisterCallback(m, 999));
}
static void device_list_index(void) {
  two_contexts();
  TF_DeviceList* list;
  NEED(list = TFE_ContextListDevices(a, s));
  ASK(TF_DeviceListName(list, 99, s));
  ASK(TF_DeviceListType(list, -1, s));
  ASK(TF_DeviceListMemoryBytes(list, 99, s));
  ASK(TF_DeviceListIncarnation(list, 99, s));
  TFE_DeleteContext(a);
  TELL("%d", TF_DeviceListCount(list));
}
static void policy_unknown(void) {
  TFE_ContextOptions* o = TFE_NewContextOptions();
  TFE_ContextOptionsSetDevicePlacementPolicy(o, (TFE_ContextDevicePlacementPolicy)99);
  TFE_Context* c;
  ASK(c = TFE_NewContext(o, s));
  execute(new_op(c, "Neg", handle(1), NULL));
  TFE_ContextSetThreadLocalDevicePlacementPolicy(c, (TFE_ContextDevicePlacementPolicy)-7);
  execute(new_op(c, "Neg", handle(1), NULL));
}
static void op_of_deleted_context(void) {
  two_contexts();
  NEED(TFE_ContextAddFunction(a, square_function("square"), s));
  TFE_Op *op = new_op(a, "Neg", handle(1), NULL), *call = new_op(a, "square", handle(1), NULL);
  TFE_DeleteContext(a);
  execute(op);
  execute(call);
  ASK(TFE_OpReset(op, "Neg", NULL, s));
  ASK(TFE_OpSetDevice(call, "/device:CPU:0", s));
  TFE_OpSetAttrType(call, "T", TF_FLOAT);
  ASK(TFE_OpGetContext(op, s));
  ASK(TFE_OpGetInputLength(call, "x", s));
  TFE_DeleteOp(op);
  TFE_DeleteOp(call);
}
static void op_attrs_of_other_op(void) {
  two_contexts();
  TFE_Op* cast = new_op(a, "Cast", handle(1), NULL);
  TFE_OpSetAttrType(cast, "DstT", TF_INT32);
  TFE_Op* op = new_op(b, "Neg", handle(1), NULL);
  TFE_OpAddAttrs(op, TFE_OpGetAttrs(cast));
  execute(op);
}

#define CASE(name) {"eager_" #name, name}
const Case eager_cases[] = {CASE(handle_of_other_context),
                            CASE(handle_after_its_context),
                            CASE(handle_of_deleted_context),
                            CASE(variable_of_other_context),
                            CASE(variable_of_deleted_context),
                            CASE(iterator_of_other_context),
                            CASE(iterator_of_deleted_context),
                            CASE(read_as_other_type),
                            CASE(not_a_resource),
                            CASE(function_of_other_context),
                            CASE(function_removed_under_op),
                            CASE(function_removed_then_reset),
                            CASE(function_op_then_new_context),
                            CASE(function_removed_unknown),
                            CASE(too_few_inputs),
                            CASE(no_inputs),
                            CASE(too_many_inputs),
                            CASE(mixed_types),
                            CASE(executed_twice),
                            CASE(outputs_too_few),
                            CASE(outputs_negative),
                            CASE(outputs_count_null),
                            CASE(unknown_op),
                            CASE(reset_to_unknown),
                            CASE(reset_after_error),
                            CASE(reset_device_unknown),
                            CASE(device_malformed),
                            CASE(attr_type_unknown),
                            CASE(attr_type_unknown_of_input),
                            CASE(attr_type_list_unknown),
                            CASE(attr_of_other_kind),
                            CASE(attr_query),
                            CASE(attr_shape_rank),
                            CASE(attr_value_junk),
                            CASE(attr_function_of_other_context),
                            CASE(input_list_to_single),
                            CASE(input_list_negative),
                            CASE(input_null),
                            CASE(flat_input_index),
                            CASE(copy_to_unknown_device),
                            CASE(copy_of_other_context),
                            CASE(null_handles),
                            CASE(dim_index),
                            CASE(dim_index_out),
                            CASE(executor_of_other_context),
                            CASE(cancelled_manager),
                            CASE(device_list_index),
                            CASE(policy_unknown),
                            CASE(op_of_deleted_context),
                            CASE(op_attrs_of_other_op),
                            {NULL, NULL}};
