// What a kernel of the program is told of its surroundings: functions, handles, the rendezvous; the same op eagerly and in a session.
#include "check.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

static TF_Status* ks;  // kernels have a status of their own
static int made = 0, ran = 0, received = 0;
static bool in_session = false;

#define KERNEL_OK(call)                                                                 \
  do {                                                                                  \
    call;                                                                               \
    if (!CHECK(TF_GetCode(ks) == TF_OK)) printf("    " #call ": %s\n", TF_Message(ks)); \
  } while (0)

static void unknown_shape(TF_ShapeInferenceContext* context, TF_Status* status) { TF_ShapeInferenceContextSetUnknownShape(context, status); }

static void* create(TF_OpKernelConstruction* k) {
  ++made;
  TF_Buffer* f = NULL;
  KERNEL_OK(f = TF_OpKernelConstruction_GetAttrFunction(k, "f", ks));
  CHECK(f && f->length == 5 &&
        memcmp(f->data,
               "\x0a\x03"
               "foo",
               5) == 0);  // a NameAttrList
  TF_DeleteBuffer(f);
  CHECK(!TF_OpKernelConstruction_GetAttrFunction(k, "none", ks) && TF_GetCode(ks) == TF_NOT_FOUND &&
        strstr(TF_Message(ks), "No attr named 'none' in NodeDef:\n\t [[{{node "));
  CHECK(!TF_OpKernelConstruction_GetAttrFunction(k, "T", ks) && TF_GetCode(ks) == TF_INVALID_ARGUMENT &&
        strstr(TF_Message(ks), "AttrValue had value with type 'type' when 'func' expected"));
  return NULL;
}

static void received_value(void* context, TF_RendezvousDoneCallback_Params* p) {
  (void)context;
  ++received;
  CHECK(TF_GetCode(p->status) == TF_OK && !p->is_dead && p->tensor && *(float*)TF_TensorData(p->tensor) == 42);
}

static void compute(void* kernel, TF_OpKernelContext* x) {
  (void)kernel;
  ++ran;
  TF_StringView input = TF_GetOpKernelRequestedInput(x, 0);
  CHECK(in_session || (input.len == 11 && memcmp(input.data, "dummy_input", 11) == 0));
  TF_Buffer* b = TF_NewBuffer();
  KERNEL_OK(TF_GetSerializedFunctionDefLibrary(x, b, ks));
  CHECK(b->length == 0);
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  KERNEL_OK(TF_GetSerializedConfigProto(x, b, ks));
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  KERNEL_OK(TF_GetSerializedResourceHandleProto(x, 1, b, ks));
  CHECK(holds_bytes(b->data, b->length, "\x0a\x2c/job:localhost/replica:0/task:0/device:CPU:0\x12\x09localhost\x1a\x06handle"));
  TF_DeleteBuffer(b);
  TF_IncNumDeferredOps(x);
  TF_DecNumDeferredOps(x);
  const TF_RendezvousThunk r = TF_GetRendezvous(x);
  if (in_session && !on_tensorflow) {  // keys are internal to TensorFlow
    char text[] = "/job:localhost/replica:0/task:0/device:CPU:0;0000000000000001;/job:localhost/replica:0/task:0/device:CPU:0;edge_x;0:0";
    const TF_RendezvousParsedKey key = {text, sizeof text - 1};
    TF_RendezvousArgsStruct args;
    memset(&args, 0, sizeof args);
    TF_RendezvousAsyncRecv_Params receive = {NULL, &key, &args, {NULL, received_value}};
    const float value = 42;
    TF_Tensor* t = new_tensor(TF_FLOAT, 0, NULL, &value, sizeof value);
    TF_RendezvousSend_Params send = {&key, &args, t, false, ks};
    if (CHECK(r.rendezvous && r.send_func && r.async_recv_func && r.start_abort_func)) {
      r.async_recv_func(r.rendezvous, &receive);
      KERNEL_OK(r.send_func(r.rendezvous, &send));
    }
    TF_DeleteTensor(t);
  }
  TF_Tensor* value = NULL;
  KERNEL_OK(TF_GetInput(x, 0, &value, ks));
  KERNEL_OK(TF_SetOutput(x, 0, value, ks));
  TF_DeleteTensor(value);
}
static void destroy(void* kernel) { (void)kernel; }

void test_kernel_context(void) {
  ks = TF_NewStatus();
  TF_OpDefinitionBuilder* o = TF_NewOpDefinitionBuilder("SurroundedOp");
  TF_OpDefinitionBuilderAddInput(o, "x: T");
  TF_OpDefinitionBuilderAddInput(o, "r: resource");
  TF_OpDefinitionBuilderAddOutput(o, "y: T");
  TF_OpDefinitionBuilderAddAttr(o, "T: type");
  TF_OpDefinitionBuilderAddAttr(o, "f: func");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(o, unknown_shape);
  OK(TF_RegisterOpDefinition(o, s));
  OK(TF_RegisterKernelBuilder("SurroundedOp", TF_NewKernelBuilder("SurroundedOp", "CPU", create, compute, destroy), s));

  TFE_Context* c = new_context(NULL, 0, false);
  TFE_Op* op = new_op(c, "VarHandleOp", 0, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  OK(TFE_OpSetAttrShape(op, "shape", NULL, 0, s));
  TFE_OpSetAttrString(op, "shared_name", "handle", 6);
  TFE_TensorHandle* inputs[] = {scalar_f(2), run1(op, TF_OK, "")};
  op = new_op(c, "SurroundedOp", 2, inputs);
  TFE_OpSetAttrFunctionName(op, "f", "foo", 3);
  TFE_TensorHandle* out = run1(op, TF_OK, "");
  const float two = 2;
  CHECK(handle_is(out, 1, &two) && made == 1 && ran == 1);
  TFE_DeleteTensorHandle(out);
  TFE_DeleteTensorHandle(inputs[0]);
  TFE_DeleteTensorHandle(inputs[1]);
  TFE_DeleteContext(c);

  in_session = true;
  TF_Graph* g = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(g, "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_Operation *x = NULL, *v = NULL, *y = NULL, *there = NULL;
  OK(x = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "Neg", "there");  // on another device, so that the step has a rendezvous
  TF_AddInput(d, (TF_Output){x, 0});
  TF_SetDevice(d, "/device:CPU:1");
  OK(there = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "VarHandleOp", "v");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", NULL, 0);
  TF_SetAttrString(d, "shared_name", "handle", 6);
  OK(v = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "SurroundedOp", "mine");
  TF_AddInput(d, (TF_Output){there, 0});
  TF_AddInput(d, (TF_Output){v, 0});
  TF_SetDevice(d, "/device:CPU:0");
  TF_SetAttrFuncName(d, "f", "foo", 3);
  OK(y = TF_FinishOperation(d, s));
  TF_SessionOptions* options = TF_NewSessionOptions();
  OK(TF_SetConfig(options,
                  "\x0a\x07\x0a\x03"
                  "CPU\x10\x02",
                  9, s));  // device_count: two CPUs
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  TF_DeleteSessionOptions(options);
  TF_Tensor *value = new_tensor(TF_FLOAT, 0, NULL, &two, sizeof two), *result = NULL;
  const TF_Output fed = {x, 0}, fetched = {y, 0};
  OK(TF_SessionRun(session, NULL, &fed, &value, 1, &fetched, &result, 1, NULL, 0, NULL, s));
  CHECK(ran == 2 && (on_tensorflow || received == 1));
  TF_DeleteTensor(value);
  TF_DeleteTensor(result);
  OK(TF_DeleteSession(session, s));
  TF_DeleteGraph(g);
  TF_DeleteStatus(ks);
}
