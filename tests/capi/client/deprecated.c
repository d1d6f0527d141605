// Sessions that own their graph and run by name; queues and tables with handles of version 1.
#include "graph.h"

static bool float_is(TF_Tensor* t, float want) {
  const bool same = t && TF_TensorType(t) == TF_FLOAT && TF_TensorElementCount(t) == 1 && *(const float*)TF_TensorData(t) == want;
  TF_DeleteTensor(t);
  return same;
}

static TF_Tensor* float_tensor(float value) { return new_tensor(TF_FLOAT, 0, NULL, &value, sizeof value); }

// A queue and a table of version 1, whose handles are references: they hold what they have from run to run.
static void run_version_1(void) {
  TF_Graph* g = TF_NewGraph();
  const TF_DataType types[] = {TF_FLOAT};
  TF_OperationDescription* d = TF_NewOperation(g, "FIFOQueue", "queue");
  TF_SetAttrTypeList(d, "component_types", types, 1);
  TF_Operation *queue = NULL, *put = NULL, *size = NULL, *table = NULL, *table_size = NULL;
  OK(queue = TF_FinishOperation(d, s));
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 0, NULL);
  const TF_Output values[] = {out(x, 0)};
  d = TF_NewOperation(g, "QueueEnqueue", "put");
  TF_AddInput(d, out(queue, 0));
  TF_AddInputList(d, values, 1);
  OK(put = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "QueueSize", "size");
  TF_AddInput(d, out(queue, 0));
  OK(size = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "MutableHashTable", "table");
  TF_SetAttrType(d, "key_dtype", TF_INT64);
  TF_SetAttrType(d, "value_dtype", TF_FLOAT);
  OK(table = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "LookupTableSize", "table_size");
  TF_AddInput(d, out(table, 0));
  OK(table_size = TF_FinishOperation(d, s));
  if (!CHECK(put && size && table_size)) return;
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  TF_DeleteSessionOptions(options);
  TF_Tensor *feed[] = {float_tensor(3)}, *got[] = {NULL, NULL};
  const TF_Output sizes[] = {out(size, 0), out(table_size, 0)};
  const TF_Operation* targets[] = {put};
  for (int run = 1; run <= 3; ++run) {
    OK(TF_SessionRun(session, NULL, values, feed, 1, NULL, NULL, 0, targets, 1, NULL, s));
    OK(TF_SessionRun(session, NULL, NULL, NULL, 0, sizes, got, 2, NULL, 0, NULL, s));
    CHECK(got[0] && *(const int32_t*)TF_TensorData(got[0]) == run);
    CHECK(got[1] && *(const int64_t*)TF_TensorData(got[1]) == 0);
    TF_DeleteTensor(got[0]);
    TF_DeleteTensor(got[1]);
  }
  TF_DeleteTensor(feed[0]);
  OK(TF_DeleteSession(session, s));
  TF_DeleteGraph(g);
}

void test_deprecated_sessions(void) {
  run_version_1();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_DeprecatedSession* d = NULL;
  OK(d = TF_NewDeprecatedSession(options, s));
  TF_DeleteSessionOptions(options);
  if (!CHECK(d != NULL)) return;

  // x, y = -x; and in a second message z = -y.
  TF_Graph* g = TF_NewGraph();
  unary(g, "Neg", "y", placeholder(g, "x", TF_FLOAT, 0, NULL));
  TF_Buffer* def = TF_NewBuffer();
  OK(TF_GraphToGraphDef(g, def, s));
  TF_DeleteGraph(g);
  OK(TF_ExtendGraph(d, def->data, def->length, s));
  static const char more[] = "\x0a\x14\x0a\x01z\x12\x03Neg\x1a\x01y\x2a\x07\x0a\x01T\x12\x02\x30\x01";
  OK(TF_ExtendGraph(d, more, sizeof more - 1, s));
  INVALID(TF_ExtendGraph(d, def->data, def->length, s));  // the names are taken
  INVALID(TF_ExtendGraph(d, "\xff\xff", 2, s));
  TF_DeleteBuffer(def);

  const char *in[] = {"x:0"}, *out[] = {"y:0", "z"}, *target[] = {"z"}, *missing[] = {"nothing:0"}, *beyond[] = {"y:7"};
  TF_Tensor *x[] = {float_tensor(3)}, *got[] = {NULL, NULL};
  OK(TF_Run(d, NULL, in, x, 1, out, got, 2, target, 1, NULL, s));
  CHECK(float_is(got[0], -3));
  CHECK(float_is(got[1], 3));
  EXPECT(TF_INVALID_ARGUMENT, "Tensor nothing:0, specified in either feed_devices or fetch_devices was not found in the Graph",
         TF_Run(d, NULL, in, x, 1, missing, got, 1, NULL, 0, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Tensor nothing:0", TF_Run(d, NULL, missing, x, 1, out, got, 1, NULL, 0, NULL, s));
  EXPECT(TF_OUT_OF_RANGE, "Node 'y' (type: 'Neg', num of outputs: 1) does not have output 7",
         TF_Run(d, NULL, in, x, 1, beyond, got, 1, NULL, 0, NULL, s));
  EXPECT(TF_NOT_FOUND, "Some target nodes not found", TF_Run(d, NULL, in, x, 1, NULL, NULL, 0, missing, 1, NULL, s));

  const char* handle = NULL;
  OK(TF_PRunSetup(d, in, 1, out, 2, NULL, 0, &handle, s));
  OK(TF_PRun(d, handle, in, x, 1, out, got, 1, NULL, 0, s));
  CHECK(float_is(got[0], -3));
  OK(TF_PRun(d, handle, NULL, NULL, 0, out + 1, got, 1, NULL, 0, s));
  CHECK(float_is(got[0], 3));
  TF_DeletePRunHandle(handle);

  TF_DeviceList* list = NULL;
  OK(list = TF_DeprecatedSessionListDevices(d, s));
  CHECK(TF_DeviceListCount(list) >= 1);
  TF_DeleteDeviceList(list);
  NULLS {
    INVALID(CHECK(TF_NewDeprecatedSession(NULL, s) == NULL));
    INVALID(TF_ExtendGraph(NULL, more, 1, s));
    INVALID(TF_ExtendGraph(d, NULL, 1, s));
    INVALID(TF_ExtendSession(NULL, s));
    INVALID(TF_Run(NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, s));
    INVALID(TF_Run(d, NULL, NULL, x, 1, NULL, NULL, 0, NULL, 0, NULL, s));
    INVALID(TF_PRun(d, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, s));
    INVALID(TF_CloseDeprecatedSession(NULL, s));
    OK(TF_DeleteDeprecatedSession(NULL, s));
  }
  TF_DeleteTensor(x[0]);
  OK(TF_CloseDeprecatedSession(d, s));
  OK(TF_DeleteDeprecatedSession(d, s));
}
