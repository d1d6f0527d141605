// Calls in the orders that bindings make them: attributes before and after the inputs that tell them, devices set early and asked for late, sessions
// that are asked for what they are given. What must come back was asked of TensorFlow (run with --tensorflow to ask again).
#include "check.h"

static TFE_Context* c;

static TFE_TensorHandle* tensor(TF_DataType type, int n, const void* data, size_t size) {
  const int64_t dims[] = {n};
  TF_Tensor* t = new_tensor(type, n ? 1 : 0, dims, data, size);
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  return h;
}

static TFE_Op* op_of(const char* name) {
  TFE_Op* op = NULL;
  OK(op = TFE_NewOp(c, name, s));
  return op;
}
static void in(TFE_Op* op, TFE_TensorHandle* h) { OK(TFE_OpAddInput(op, h, s)); }

// Executes and deletes; the type of the first result, or 0.
static TF_DataType type_of_result(TFE_Op* op, TF_Code code, const char* text) {
  TFE_TensorHandle* out[4] = {NULL};
  int n = 4;
  EXPECT(code, text, TFE_Execute(op, out, &n, s));
  TFE_DeleteOp(op);
  const TF_DataType type = TF_GetCode(s) == TF_OK ? TFE_TensorHandleDataType(out[0]) : 0;
  for (int i = 0; TF_GetCode(s) == TF_OK && i < n; ++i) TFE_DeleteTensorHandle(out[i]);
  return type;
}

// What an input tells is known from the moment it is added; what a client sets before that, or again, is the other way round.
void test_attr_orders(void) {
  c = new_context(NULL, 0, false);
  const int32_t two[] = {2, 3};
  const int64_t two_long[] = {2, 3};
  const float values[] = {1, 2};
  const int32_t zero = 0;
  TFE_TensorHandle *dims = tensor(TF_INT32, 2, two, sizeof two), *dims_long = tensor(TF_INT64, 2, two_long, sizeof two_long), *one = scalar_f(1),
                   *vector = tensor(TF_FLOAT, 2, values, sizeof values), *number = tensor(TF_INT32, 0, two, 4), *axis = tensor(TF_INT32, 0, &zero, 4);
  TFE_TensorHandle *pair[] = {vector, vector}, *mixed[] = {vector, number};

  // One tensor for each argument.
  const TF_DataType index_types[] = {TF_INT32, TF_INT64};
  for (int i = 0; i < 2; ++i) {
    TFE_Op* op = op_of("Fill");
    in(op, i ? dims : dims_long);
    in(op, one);
    TFE_OpSetAttrType(op, "index_type", index_types[i]);  // the other one: it comes too late
    CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);
    op = op_of("Fill");
    in(op, i ? dims : dims_long);
    TFE_OpSetAttrType(op, "index_type", index_types[i]);
    TFE_OpSetAttrInt(op, "index_type", 7);  // not even a type
    in(op, one);
    CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);
    op = op_of("Fill");
    TFE_OpSetAttrType(op, "index_type", index_types[i]);
    in(op, i ? dims : dims_long);
    in(op, one);
    type_of_result(op, TF_INVALID_ARGUMENT,
                   i ? "cannot compute Fill as input #0(zero-based) was expected to be a int64 tensor but is a int32 tensor"
                     : "cannot compute Fill as input #0(zero-based) was expected to be a int32 tensor but is a int64 tensor");
  }
  TFE_Op* op = op_of("AddV2");
  in(op, vector);
  TFE_OpSetAttrType(op, "T", TF_INT32);
  in(op, number);
  type_of_result(op, TF_INVALID_ARGUMENT, "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor");
  op = op_of("Relu");
  in(op, vector);
  TFE_OpSetAttrString(op, "T", "abc", 3);
  TFE_OpSetAttrType(op, "no_such", TF_INT64);
  const int64_t three[] = {3};
  const int64_t* shapes[] = {three};
  const int ranks[] = {1};
  TF_Tensor* t = new_tensor(TF_FLOAT, 1, (const int64_t[]){2}, values, sizeof values);
  OK(TFE_OpSetAttrShape(op, "no_such_shape", three, 1, s));  // clients are made for other versions, too
  OK(TFE_OpSetAttrShapeList(op, "no_such_shapes", shapes, ranks, 1, s));
  OK(TFE_OpSetAttrTensor(op, "no_such_tensor", t, s));
  OK(TFE_OpSetAttrValueProto(op, "no_such_value", "\x18\x01", 2, s));
  TF_DeleteTensor(t);
  EXPECT(TF_INVALID_ARGUMENT, "Value specified for `x` has 300 dimensions which is over the limit of 254.",
         TFE_OpSetAttrShape(op, "x", three, 300, s));
  CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);

  // The first of two values stays.
  op = op_of("ArgMax");
  in(op, vector);
  in(op, axis);
  TFE_OpSetAttrType(op, "output_type", TF_INT32);
  TFE_OpSetAttrType(op, "output_type", TF_INT64);
  CHECK(type_of_result(op, TF_OK, "") == TF_INT32);
  op = op_of("Cast");
  in(op, vector);
  TFE_OpSetAttrType(op, "SrcT", TF_INT32);
  TFE_OpSetAttrType(op, "DstT", TF_INT64);
  CHECK(type_of_result(op, TF_OK, "") == TF_INT64);

  // Lists.
  op = op_of("ConcatV2");
  OK(TFE_OpAddInputList(op, pair, 2, s));
  in(op, axis);
  TFE_OpSetAttrInt(op, "N", 7);
  TFE_OpSetAttrType(op, "T", TF_INT32);
  TFE_OpSetAttrType(op, "Tidx", TF_INT64);
  CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);
  op = op_of("ConcatV2");  // element by element: nothing is told, what is set counts
  in(op, vector);
  in(op, vector);
  in(op, axis);
  TFE_OpSetAttrInt(op, "N", 2);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TFE_OpSetAttrType(op, "Tidx", TF_INT32);
  CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);
  op = op_of("AddN");
  in(op, vector);
  in(op, vector);
  TFE_OpSetAttrType(op, "T", TF_INT32);
  TFE_OpSetAttrInt(op, "N", 2);
  type_of_result(op, TF_INVALID_ARGUMENT, "cannot compute AddN as input #0(zero-based) was expected to be a int32 tensor but is a float tensor");
  op = op_of("Pack");
  TFE_OpSetAttrInt(op, "N", 3);
  OK(TFE_OpAddInputList(op, pair, 2, s));
  type_of_result(op, TF_INVALID_ARGUMENT,
                 "NodeDef expected inputs 'float, float, float' do not match 2 inputs specified; Op<name=Pack; signature=values:N*T -> output:T; "
                 "attr=N:int,min=1; attr=T:type; "
                 "attr=axis:int,default=0>; NodeDef: {{node Pack}}");
  const TF_DataType wrong[] = {TF_INT32, TF_INT32};
  op = op_of("IdentityN");
  OK(TFE_OpAddInputList(op, mixed, 2, s));
  TFE_OpSetAttrTypeList(op, "T", wrong, 2);
  CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);
  op = op_of("IdentityN");
  TFE_OpSetAttrTypeList(op, "T", wrong, 2);
  OK(TFE_OpAddInputList(op, mixed, 2, s));
  type_of_result(op, TF_INVALID_ARGUMENT, "cannot compute IdentityN as input #0(zero-based) was expected to be a int32 tensor but is a float tensor");
  op = op_of("Select");
  in(op, vector);
  in(op, vector);
  type_of_result(op, TF_INVALID_ARGUMENT,
                 "NodeDef expected inputs 'bool, float, float' do not match 2 inputs specified; Op<name=Select; signature=condition:bool, t:T, e:T");
  op = op_of("AddV2");
  EXPECT(TF_INVALID_ARGUMENT, "Invalid input list definition", TFE_OpAddInputList(op, pair, 2, s));
  TFE_DeleteOp(op);

  TFE_TensorHandle* all[] = {dims, dims_long, one, vector, number, axis};
  for (int i = 0; i < 6; ++i) TFE_DeleteTensorHandle(all[i]);
  TFE_DeleteContext(c);
}

// A name that cannot be read is refused where it is set; one that names nothing, when the op executes.
void test_device_names(void) {
  c = new_context(NULL, 0, false);
  static const char host[] = "/job:localhost/replica:0/task:0/device:CPU:0";
  const struct {
    const char *name, *read_back, *error;  // the last from executing; null: it runs
  } readable[] = {{"/device:CPU:0", "/device:CPU:0", NULL},
                  {"/cpu:0", "/device:CPU:0", NULL},
                  {"/CPU:0", "/device:CPU:0", NULL},
                  {host, host, NULL},
                  {"/device:CPU:*", "/device:CPU:*", NULL},
                  {"/task:0", "/task:0", NULL},
                  {"", "", NULL},
                  {"/device:CPU:0/device:CPU:0", "/device:CPU:0", NULL},
                  {"/job:worker", "/job:worker", "Could not satisfy device specification '/job:worker'"},
                  {"/job:a/job:b", "/job:b", "Could not satisfy device specification '/job:b'"},
                  {"/device:CPU:7", "/device:CPU:7",
                   "Could not satisfy device specification '/device:CPU:7'. enable_soft_placement=0. Supported device types [CPU]."},
                  {"/gpu:0", "/device:GPU:0", "Could not satisfy device specification '/device:GPU:0'"},
                  {"/device:FOO:0", "/device:FOO:0", "Could not satisfy device specification '/device:FOO:0'"}};
  const char* const unreadable[] = {"CPU:0", "cpu:0",  "bogus", "/bogus",     "/device:",          "/device:CPU:x",     "gpu",
                                    " ",     "/job:1", "//",    "/replica:x", "junk/device:CPU:0", "/device:CPU:0junk", "CPU:*"};
  TFE_TensorHandle* one = scalar_f(1);
  for (size_t i = 0; i < sizeof readable / sizeof *readable; ++i) {
    TFE_Op* op = op_of("Neg");
    OK(TFE_OpSetDevice(op, readable[i].name, s));
    CHECK(strcmp(TFE_OpGetDevice(op, s), readable[i].read_back) == 0);
    in(op, one);
    type_of_result(op, readable[i].error ? TF_INVALID_ARGUMENT : TF_OK, readable[i].error ? readable[i].error : "");
  }
  for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; ++i) {
    char text[128];
    snprintf(text, sizeof text, "Malformed device specification '%s' in eager op: Name: Neg", unreadable[i]);
    TFE_Op* op = op_of("Neg");
    EXPECT(TF_INVALID_ARGUMENT, text, TFE_OpSetDevice(op, unreadable[i], s));
    CHECK(strcmp(TFE_OpGetDevice(op, s), "") == 0);
    in(op, one);
    CHECK(type_of_result(op, TF_OK, "") == TF_FLOAT);  // the op has no device then
  }
  // Copies find their target by its full name or the part that says it inside a process.
  const char* const targets[] = {"", "CPU:0", "/device:CPU:0", host};
  for (int i = 0; i < 4; ++i) {
    TFE_TensorHandle* copy = NULL;
    OK(copy = TFE_TensorHandleCopyToDevice(one, c, targets[i], s));
    TFE_DeleteTensorHandle(copy);
  }
  EXPECT(TF_INVALID_ARGUMENT, "cpu:0 unknown device.", TFE_TensorHandleCopyToDevice(one, c, "cpu:0", s));
  EXPECT(TF_INVALID_ARGUMENT, "/task:0 unknown device.", TFE_TensorHandleCopyToDevice(one, c, "/task:0", s));
  EXPECT(TF_INVALID_ARGUMENT, "/device:CPU:7 unknown device.", TFE_TensorHandleCopyToDevice(one, c, "/device:CPU:7", s));
  TFE_DeleteTensorHandle(one);
  TFE_DeleteContext(c);

  // Nodes take every name; a run reads it.
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* const nodes[] = {"bogus", "/device:CPU:x", "CPU:0", "/replica:x", "/device:CPU:0"};
  for (int i = 0; i < 5; ++i) {
    TF_Graph* g = TF_NewGraph();
    TF_OperationDescription* d = TF_NewOperation(g, "NoOp", "n");
    TF_SetDevice(d, nodes[i]);
    TF_Operation* node = NULL;
    OK(node = TF_FinishOperation(d, s));
    CHECK(node && strcmp(TF_OperationDevice(node), nodes[i]) == 0);
    TF_Session* session = NULL;
    OK(session = TF_NewSession(g, options, s));
    const TF_Operation* targets_of_run[] = {node};
    char text[128];
    snprintf(text, sizeof text, "Malformed device specification '%s' in node: ", nodes[i]);
    EXPECT(i < 4 ? TF_INVALID_ARGUMENT : TF_OK, i < 4 ? text : "",
           TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, targets_of_run, 1, NULL, s));
    OK(TF_DeleteSession(session, s));
    TF_DeleteGraph(g);
  }
  TF_DeleteSessionOptions(options);
}

// What a run is fed it cannot be asked for.
void test_fed_and_fetched(void) {
  TF_Graph* g = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(g, "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_Operation *x = NULL, *y = NULL, *z = NULL;
  OK(x = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "Neg", "y");
  TF_AddInput(d, (TF_Output){x, 0});
  OK(y = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "Neg", "z");
  TF_AddInput(d, (TF_Output){y, 0});
  OK(z = TF_FinishOperation(d, s));
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  const float one = 1;
  TF_Tensor* value = new_tensor(TF_FLOAT, 0, NULL, &one, sizeof one);
  TF_Tensor* const values[] = {value, value};
  TF_Tensor* results[2];
  const TF_Output xy[] = {{x, 0}, {y, 0}}, zy[] = {{z, 0}, {y, 0}}, xx[] = {{x, 0}, {x, 0}}, zz[] = {{z, 0}, {z, 0}}, none[] = {{x, 3}};
  EXPECT(TF_INVALID_ARGUMENT, "x:0 is both fed and fetched.", TF_SessionRun(session, NULL, xy, values, 1, xy, results, 1, NULL, 0, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "y:0 is both fed and fetched.", TF_SessionRun(session, NULL, xy, values, 2, zy, results, 2, NULL, 0, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Endpoint \"x:0\" fed more than once.", TF_SessionRun(session, NULL, xx, values, 2, zy, results, 1, NULL, 0, NULL, s));
  OK(TF_SessionRun(session, NULL, xy, values, 1, zz, results, 2, NULL, 0, NULL, s));
  TF_DeleteTensor(results[0]);
  TF_DeleteTensor(results[1]);
  EXPECT(TF_OUT_OF_RANGE, "Node 'x' (type: 'Placeholder', num of outputs: 1) does not have output 3",
         TF_SessionRun(session, NULL, none, values, 1, zy, results, 1, NULL, 0, NULL, s));
  EXPECT(TF_OUT_OF_RANGE, "Node 'x' (type: 'Placeholder', num of outputs: 1) does not have output 3",
         TF_SessionRun(session, NULL, xy, values, 1, none, results, 1, NULL, 0, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.",
         TF_SessionRun(session, NULL, xy, values, 1, NULL, NULL, 0, NULL, 0, NULL, s));
  const char* handle = NULL;
  EXPECT(TF_INVALID_ARGUMENT, "x:0 is both fed and fetched.", TF_SessionPRunSetup(session, xy, 1, xy, 1, NULL, 0, &handle, s));
  EXPECT(TF_INVALID_ARGUMENT, "Endpoint \"x:0\" fed more than once.", TF_SessionPRunSetup(session, xx, 2, zy, 1, NULL, 0, &handle, s));

  // Queues by number.
  EXPECT(TF_INTERNAL, "Unable to find the dequeue node in the TF graph.", TF_DequeueNamedTensor(session, 3, s));
  EXPECT(TF_INTERNAL, "Unable to find the enqueue node in the TF graph.", TF_EnqueueNamedTensor(session, 3, value, s));
  OK(TF_FinishOperation(TF_NewOperation(g, "NoOp", "fifo_queue_enqueue_3"), s));
  EXPECT(TF_INTERNAL, "Unable to find the placeholder node as input to enqueue in the TF graph.", TF_EnqueueNamedTensor(session, 3, value, s));

  // A reset closes every session of the process.
  const char* containers[] = {"a"};
  OK(TF_Reset(options, containers, 1, s));
  EXPECT(TF_CANCELLED, "Session has been closed.", TF_SessionRun(session, NULL, xy, values, 1, zy, results, 1, NULL, 0, NULL, s));
  OK(TF_DeleteSession(session, s));
  TF_SetTarget(options, "bogus");
  EXPECT(TF_NOT_FOUND, "No session factory registered for the given session options: {target: \"bogus\"", TF_Reset(options, NULL, 0, s));
  TF_DeleteSessionOptions(options);
  TF_DeleteTensor(value);
  TF_DeleteGraph(g);
}

// Ops that the library lists and has no kernel for.
void test_no_kernel(void) {
  c = new_context(NULL, 0, false);
  TFE_Op* op = op_of("InfeedEnqueue");
  TFE_TensorHandle* one = scalar_f(1);
  in(op, one);
  type_of_result(op, TF_NOT_FOUND,
                 "Could not find device for node: {{node InfeedEnqueue}} = InfeedEnqueue[device_ordinal=-1, dtype=DT_FLOAT, layout=[], shape=[]]\n"
                 "All kernels registered for op InfeedEnqueue:\n  <no registered kernels>\n");
  TFE_DeleteTensorHandle(one);
  TFE_DeleteContext(c);

  TF_Graph* g = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(g, "InfeedDequeue", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  const int64_t dims[] = {3};
  TF_SetAttrShape(d, "shape", dims, 1);
  TF_Operation* x = NULL;
  OK(x = TF_FinishOperation(d, s));
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  TF_DeleteSessionOptions(options);
  const TF_Output out = {x, 0};
  TF_Tensor* result = NULL;
  EXPECT(TF_INVALID_ARGUMENT, "No OpKernel was registered to support Op 'InfeedDequeue' used by {{node x}} with these attrs: [",
         TF_SessionRun(session, NULL, NULL, NULL, 0, &out, &result, 1, NULL, 0, NULL, s));
  CHECK(strstr(TF_Message(s), "]\nRegistered devices: [CPU]\nRegistered kernels:\n  <no registered kernels>\n\n\t [[x]]") != NULL);
  OK(TF_DeleteSession(session, s));
  TF_DeleteGraph(g);
  TF_Buffer* kernels = NULL;
  OK(kernels = TF_GetRegisteredKernelsForOp("InfeedDequeue", s));
  CHECK(kernels && kernels->length == 0);
  TF_DeleteBuffer(kernels);
}

// A context that is not a task of a cluster.
void test_no_cluster(void) {
  c = new_context(NULL, 0, false);
  TF_Buffer* value = TF_NewBuffer();
  EXPECT(TF_FAILED_PRECONDITION, "Coordination service is not enabled.", TFE_GetConfigKeyValue(c, "k", 100, value, s));
  EXPECT(TF_FAILED_PRECONDITION, "Coordination service agent is not enabled.", TFE_InsertConfigKeyValue(c, "k", "v", s));
  EXPECT(TF_FAILED_PRECONDITION, "Coordination service is not enabled.", TFE_DeleteConfigKeyValue(c, "k", s));
  EXPECT(TF_FAILED_PRECONDITION, "Coordination service is not enabled.", TFE_ReportErrorToCluster(c, 3, "no", s));
  EXPECT(TF_FAILED_PRECONDITION, "Coordination service is not enabled.", TFE_WaitAtBarrier(c, "b", 100, s));
  const TF_Buffer tasks = {NULL, 0, NULL};
  EXPECT(TF_FAILED_PRECONDITION, "Coordination service is not enabled.", TFE_GetTaskStates(c, &tasks, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid tensorflow.ServerDef protocol buffer", TFE_ContextSetServerDef(c, 0, "junk", 4, s));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid tensorflow.ServerDef protocol buffer", TFE_ContextSetServerDefWithTimeout(c, 0, "junk", 4, 100, s, true));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid tensorflow.ServerDef protocol buffer", TFE_ContextUpdateServerDef(c, 0, "junk", 4, s));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid tensorflow.ServerDef protocol buffer", TFE_InitializeLocalOnlyContext(c, 0, "junk", 4, s));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid tensorflow.ServerDef protocol buffer", TFE_EnableCollectiveOps(c, "junk", 4, s));
  NULLS {  // TensorFlow ends the process, or starts a server
    EXPECT(TF_INVALID_ARGUMENT, "Unable to find worker interface corresponding to task a", TFE_ContextCheckAlive(c, "a", s));
    EXPECT(TF_INVALID_ARGUMENT, "Unable to find worker interface corresponding to task a", TFE_CollectiveOpsCheckPeerHealth(c, "a", 10, s));
    EXPECT(TF_INVALID_ARGUMENT, "the cluster's protocol is ''", TFE_ContextSetServerDef(c, 0, NULL, 0, s));
    INVALID(TFE_GetConfigKeyValue(NULL, "k", 100, value, s));
    INVALID(TFE_ContextSetServerDef(NULL, 0, "", 0, s));
  }
  OK(TFE_GetExecutedOpNames(c, value, s));
  CHECK(value->length == 0);
  TF_DeleteBuffer(value);
  TFE_DeleteContext(c);
}
