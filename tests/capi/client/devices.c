// Virtual CPUs, placement and its log, copies; async mode and executors.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define CPU(n) "/job:localhost/replica:0/task:0/device:CPU:" #n

// ConfigProto: device_count {CPU: 3}, allow_soft_placement as asked.
static const char kThreeCpus[] =
    "\x0a\x07\x0a\x03"
    "CPU"
    "\x10\x03";
static const char kThreeCpusSoft[] =
    "\x0a\x07\x0a\x03"
    "CPU"
    "\x10\x03"
    "\x38\x01";

static TFE_TensorHandle* add_on(TFE_Context* c, const char* device, TFE_TensorHandle* a, TF_Code code, const char* text) {
  TFE_TensorHandle* both[] = {a, a};
  TFE_Op* op = new_op(c, "AddV2", 2, both);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  TF_SetStatus(s, TF_OK, "");
  TFE_OpSetDevice(op, device, s);
  if (TF_GetCode(s) == TF_OK) TFE_Execute(op, &out, &n, s);  // a bad name may be told by either
  expect(code, text, device, __FILE__, __LINE__);
  TFE_DeleteOp(op);
  return TF_GetCode(s) == TF_OK ? out : NULL;
}

static bool lives_on(TFE_TensorHandle* h, const char* device) {
  const char* name = TFE_TensorHandleDeviceName(h, s);
  return name && strcmp(name, device) == 0;
}

void test_devices(void) {
  TFE_Context* c = new_context(kThreeCpus, sizeof kThreeCpus - 1, false);
  TF_DeviceList* list = NULL;
  OK(list = TFE_ContextListDevices(c, s));
  int cpus = 0;
  for (int i = 0; i < TF_DeviceListCount(list); ++i) cpus += strcmp(TF_DeviceListType(list, i, s), "CPU") == 0;
  CHECK(cpus == 3);
  TF_DeleteDeviceList(list);

  TFE_TensorHandle* a = scalar_f(2);
  const float four[] = {4};
  const char* names[] = {"/device:CPU:1", CPU(1), "/cpu:1", "/job:localhost/device:CPU:1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    TFE_TensorHandle* out = add_on(c, names[i], a, TF_OK, "");
    CHECK(handle_is(out, 1, four) && lives_on(out, CPU(1)));
    TFE_DeleteTensorHandle(out);
  }
  // With hard placement a device that is not there is an error; with soft placement it is not.
  OK(TFE_ContextSetSoftDevicePlacement(c, 0, s));
  add_on(c, "/device:CPU:7", a, TF_INVALID_ARGUMENT, "Could not satisfy device specification '/device:CPU:7'. enable_soft_placement=0.");
  add_on(c, "/device:GPU:0", a, TF_INVALID_ARGUMENT, "Could not satisfy device specification '/device:GPU:0'. enable_soft_placement=0.");
  add_on(c, "no such device!", a, TF_INVALID_ARGUMENT, "Malformed device specification 'no such device!' in eager op");
  OK(TFE_ContextSetSoftDevicePlacement(c, 1, s));
  add_on(c, "no such device!", a, TF_INVALID_ARGUMENT, "Malformed device specification 'no such device!' in eager op");
  TFE_TensorHandle* out = add_on(c, "/device:GPU:0", a, TF_OK, "");
  CHECK(handle_is(out, 1, four) && lives_on(out, CPU(0)));
  TFE_DeleteTensorHandle(out);

  // The log of placements.
  OK(TFE_ContextSetLogDevicePlacement(c, 1, s));
  capture_stderr();
  out = add_on(c, "/cpu:1", a, TF_OK, "");
  const char* text = captured_stderr();
  if (!CHECK(strstr(text, "Executing op AddV2 in device " CPU(1)) != NULL)) printf("    logged: %s\n", text);
  OK(TFE_ContextSetLogDevicePlacement(c, 0, s));
  capture_stderr();
  TFE_TensorHandle* silent = add_on(c, "/cpu:1", a, TF_OK, "");
  CHECK(strstr(captured_stderr(), "Executing op") == NULL);
  TFE_DeleteTensorHandle(silent);

  // Copies, and inputs of several devices in one op.
  TFE_TensorHandle* copy = NULL;
  OK(copy = TFE_TensorHandleCopyToDevice(out, c, "/device:CPU:2", s));
  CHECK(lives_on(copy, CPU(2)) && handle_is(copy, 1, four));
  INVALID(TFE_TensorHandleCopyToDevice(out, c, "/device:CPU:3", s));
  INVALID(TFE_TensorHandleCopyToDevice(out, c, "/device:GPU:0", s));
  TFE_TensorHandle* mixed = binary(c, "Mul", copy, out);
  const float sixteen[] = {16};
  CHECK(handle_is(mixed, 1, sixteen));
  TFE_DeleteTensorHandle(mixed);

  // A variable draws its ops to its device.
  TFE_Op* op = new_op(c, "VarHandleOp", 0, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  OK(TFE_OpSetAttrShape(op, "shape", NULL, 0, s));
  OK(TFE_OpSetDevice(op, "/cpu:2", s));
  TFE_TensorHandle* variable = run1(op, TF_OK, "");
  CHECK(lives_on(variable, CPU(2)));
  TFE_TensorHandle* assign[] = {variable, out};
  int n = 0;
  op = new_op(c, "AssignVariableOp", 2, assign);
  OK(TFE_Execute(op, NULL, &n, s));
  TFE_DeleteOp(op);
  op = new_op(c, "ReadVariableOp", 1, assign);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_TensorHandle* read = run1(op, TF_OK, "");
  CHECK(handle_is(read, 1, four) && lives_on(read, CPU(2)));
  TFE_DeleteTensorHandle(read);
  TFE_DeleteTensorHandle(variable);
  TFE_DeleteTensorHandle(copy);
  TFE_DeleteTensorHandle(out);
  NULLS {
    INVALID(TFE_ContextSetSoftDevicePlacement(NULL, 1, s));
    INVALID(TFE_ContextSetLogDevicePlacement(NULL, 1, s));
  }
  TFE_DeleteContext(c);

  // Soft placement by the config.
  c = new_context(kThreeCpusSoft, sizeof kThreeCpusSoft - 1, false);
  out = add_on(c, "/device:GPU:0", a, TF_OK, "");
  CHECK(handle_is(out, 1, four));
  TFE_DeleteTensorHandle(out);
  TFE_DeleteContext(c);
  TFE_DeleteTensorHandle(a);
}

// An op that fails when it runs, not when it is put together.
static TFE_TensorHandle* failing(TFE_Context* c, TFE_TensorHandle* a) {
  const float three[] = {1, 2, 3};
  TFE_TensorHandle* b = floats(3, three);
  TFE_TensorHandle* both[] = {a, b};
  TFE_Op* op = new_op(c, "AddV2", 2, both);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  OK(TFE_Execute(op, &out, &n, s));
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(b);
  return out;
}

static void test_executors(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  const float two[] = {1, 2}, sum[] = {2, 4};
  TFE_TensorHandle* a = floats(2, two);
  TFE_Executor* e = TFE_NewExecutor(true, false, 0);
  CHECK(TFE_ExecutorIsAsync(e));
  TFE_ContextSetExecutorForThread(c, e);
  TFE_Executor* same = TFE_ContextGetExecutorForThread(c);
  CHECK(same && TFE_ExecutorIsAsync(same));
  TFE_DeleteExecutor(same);
  TFE_TensorHandle* good = binary(c, "AddV2", a, a);
  TFE_TensorHandle* bad = failing(c, a);
  EXPECT(TF_INVALID_ARGUMENT, "Incompatible shapes", TFE_ExecutorWaitForAllPendingNodes(e, s));
  CHECK(handle_is(good, 2, sum));
  INVALID(TFE_TensorHandleResolve(bad, s));
  TFE_ExecutorClearError(e);
  OK(TFE_ExecutorWaitForAllPendingNodes(e, s));
  TFE_DeleteTensorHandle(good);
  TFE_DeleteTensorHandle(bad);
  good = binary(c, "AddV2", a, a);
  OK(TFE_ExecutorWaitForAllPendingNodes(e, s));
  CHECK(handle_is(good, 2, sum));
  TFE_DeleteTensorHandle(good);
  // Back to the context's own, which is not async.
  TFE_Executor* sync = TFE_NewExecutor(false, false, 0);
  CHECK(!TFE_ExecutorIsAsync(sync));
  TFE_ContextSetExecutorForThread(c, sync);
  good = binary(c, "AddV2", a, a);
  CHECK(handle_is(good, 2, sum));
  TFE_DeleteTensorHandle(good);
  NULLS {
    TFE_ContextSetExecutorForThread(NULL, e);
    TFE_ContextSetExecutorForThread(c, NULL);
    CHECK(TFE_ContextGetExecutorForThread(NULL) == NULL);
    CHECK(!TFE_ExecutorIsAsync(NULL));
    INVALID(TFE_ExecutorWaitForAllPendingNodes(NULL, s));
    TFE_ExecutorClearError(NULL);
    TFE_DeleteExecutor(NULL);
    INVALID(TFE_ContextAsyncWait(NULL, s));
  }
  TFE_DeleteTensorHandle(a);
  TFE_DeleteExecutor(e);
  TFE_DeleteExecutor(sync);
  TFE_DeleteContext(c);
}

// The child of a fork has no executor's thread: what was to come from it is an error there, and new ops run.
static void test_async_in_fork(void) {
  TFE_Context* c = new_context(NULL, 0, true);
  const TF_DataType types[] = {TF_FLOAT};
  TFE_Op* op = new_op(c, "FIFOQueueV2", 0, NULL);
  TFE_OpSetAttrTypeList(op, "component_types", types, 1);
  TFE_OpSetAttrString(op, "shared_name", "forked", 6);
  TFE_TensorHandle* queue = run1(op, TF_OK, "");
  op = new_op(c, "QueueDequeueV2", 1, &queue);
  TFE_OpSetAttrTypeList(op, "component_types", types, 1);
  TFE_TensorHandle *one = scalar_f(1), *never = run1(op, TF_OK, ""), *later = binary(c, "AddV2", one, one);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    TFE_TensorHandleResolve(never, s);
    bool fine = TF_GetCode(s) == TF_FAILED_PRECONDITION;
    TFE_TensorHandleResolve(later, s);
    fine &= TF_GetCode(s) == TF_FAILED_PRECONDITION;
    TFE_TensorHandle* two = binary(c, "AddV2", one, one);
    _exit(fine && handle_is(two, 1, (const float[]){2}) ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  op = new_op(c, "QueueCloseV2", 1, &queue);  // ends the op that waits: the context's destructor waits for it
  TFE_OpSetAttrBool(op, "cancel_pending_enqueues", 1);
  TFE_Executor* now = TFE_NewExecutor(false, false, 0);
  TFE_ContextSetExecutorForThread(c, now);
  int none = 0;
  OK(TFE_Execute(op, NULL, &none, s));
  TFE_ContextSetExecutorForThread(c, NULL);
  TFE_DeleteExecutor(now);
  TFE_DeleteOp(op);
  for (TFE_TensorHandle** h = (TFE_TensorHandle*[]){queue, one, never, later, NULL}; *h; ++h) TFE_DeleteTensorHandle(*h);
  TFE_DeleteContext(c);
}

void test_async(void) {
  NULLS test_async_in_fork();
  TFE_Context* c = new_context(NULL, 0, true);
  const float two[] = {1, 2}, eight[] = {8, 16};
  TFE_TensorHandle* a = floats(2, two);
  TFE_TensorHandle* b = binary(c, "AddV2", a, a);
  TFE_TensorHandle* d = binary(c, "AddV2", b, b);
  TFE_TensorHandle* e = binary(c, "AddV2", d, d);
  CHECK(TFE_TensorHandleDataType(e) == TF_FLOAT);
  OK(CHECK(TFE_TensorHandleNumDims(e, s) == 1));
  CHECK(handle_is(e, 2, eight));
  OK(TFE_ContextAsyncWait(c, s));
  TFE_DeleteTensorHandle(b);
  TFE_DeleteTensorHandle(d);
  TFE_DeleteTensorHandle(e);

  // The error shows at the next read and stays, until someone waits for it or clears it.
  TFE_TensorHandle* bad = failing(c, a);
  EXPECT(TF_INVALID_ARGUMENT, "Incompatible shapes: [2] vs. [3]", CHECK(TFE_TensorHandleResolve(bad, s) == NULL));
  INVALID(TFE_TensorHandleNumElements(bad, s));
  TFE_TensorHandle* both[] = {a, a};
  run1(new_op(c, "AddV2", 2, both), TF_INVALID_ARGUMENT, "Incompatible shapes");
  EXPECT(TF_INVALID_ARGUMENT, "Incompatible shapes: [2] vs. [3]", TFE_ContextAsyncWait(c, s));
  OK(TFE_ContextAsyncWait(c, s));
  TFE_DeleteTensorHandle(bad);
  bad = failing(c, a);
  INVALID(TFE_TensorHandleNumDims(bad, s));
  TFE_Executor* executor = TFE_ContextGetExecutorForThread(c);
  TFE_ExecutorClearError(executor);
  TFE_DeleteExecutor(executor);
  OK(TFE_ContextAsyncWait(c, s));
  b = binary(c, "AddV2", a, a);
  const float four[] = {2, 4};
  CHECK(handle_is(b, 2, four));
  TFE_DeleteTensorHandle(b);
  TFE_DeleteTensorHandle(bad);

  // Ops are still running when the context is deleted.
  TFE_TensorHandle* last = a;
  for (int i = 0; i < 50; ++i) {
    TFE_TensorHandle* next = binary(c, "AddV2", last, last);
    if (last != a) TFE_DeleteTensorHandle(last);
    last = next;
  }
  TFE_DeleteContext(c);
  TFE_DeleteTensorHandle(last);
  TFE_DeleteTensorHandle(a);
  test_executors();
}
