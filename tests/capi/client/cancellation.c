// Cancellation managers: what waits, loops or computes stops; callbacks are called once.
#include <pthread.h>
#include <time.h>

#include "graph.h"

static void* cancel_soon(void* manager) {
  const struct timespec pause = {0, 100000000};
  nanosleep(&pause, NULL);
  TFE_CancellationManagerStartCancel(manager);
  return NULL;
}

// Runs the op, which is cancelled from another thread meanwhile (`now`: before), and deletes it; its output, if there is one, too.
static void run_cancelled(TFE_Op* op, bool now, TF_Code code, const char* text) {
  TFE_CancellationManager* m = TFE_NewCancellationManager();
  OK(TFE_OpSetCancellationManager(op, m, s));
  pthread_t thread;
  if (now) TFE_CancellationManagerStartCancel(m);
  else pthread_create(&thread, NULL, cancel_soon, m);
  TFE_TensorHandle* h[1] = {NULL};
  int n = 1;
  EXPECT(code, text, TFE_Execute(op, h, &n, s));
  if (h[0]) TFE_DeleteTensorHandle(h[0]);
  if (!now) pthread_join(thread, NULL);
  CHECK(TFE_CancellationManagerIsCancelled(m));
  CHECK(!TFE_CancellationManagerIsCancelling(m));
  TFE_DeleteOp(op);
  TFE_DeleteCancellationManager(m);
}

static TFE_Op* dequeue(TFE_Context* c, TFE_TensorHandle* queue) {
  TFE_Op* op = new_op(c, "QueueDequeueV2", 1, &queue);
  const TF_DataType types[] = {TF_FLOAT};
  TFE_OpSetAttrTypeList(op, "component_types", types, 1);
  return op;
}

static void test_waiting(TFE_Context* c) {
  TFE_Op* op = new_op(c, "FIFOQueueV2", 0, NULL);
  const TF_DataType types[] = {TF_FLOAT};
  TFE_OpSetAttrTypeList(op, "component_types", types, 1);
  TFE_OpSetAttrString(op, "shared_name", "cancelled", 9);
  TFE_TensorHandle* queue = run1(op, TF_OK, "");
  if (!CHECK(queue != NULL)) return;
  run_cancelled(dequeue(c, queue), false, TF_CANCELLED, "Dequeue operation was cancelled");
  run_cancelled(dequeue(c, queue), true, TF_CANCELLED, "Dequeue operation was cancelled");
  // The queue is as it was.
  TFE_TensorHandle* one = scalar_f(1);
  op = new_op(c, "QueueEnqueueV2", 1, &queue);
  OK(TFE_OpAddInputList(op, &one, 1, s));
  int none = 0;
  OK(TFE_Execute(op, NULL, &none, s));
  TFE_DeleteOp(op);
  TFE_TensorHandle* got = run1(dequeue(c, queue), TF_OK, "");
  CHECK(got && handle_is(got, 1, (const float[]){1}));
  TFE_DeleteTensorHandle(got);
  TFE_DeleteTensorHandle(one);
  TFE_DeleteTensorHandle(queue);
}

static TF_Function* made(TF_Graph* g, const char* name, TF_Operation* in, TF_Operation* result) {
  TF_Function* f = NULL;
  TF_Output inputs[] = {out(in, 0)}, outputs[] = {out(result, 0)};
  OK(f = TF_GraphToFunction(g, name, 0, -1, NULL, 1, inputs, 1, outputs, NULL, NULL, NULL, s));
  return f;
}

// A function with a loop that never ends.
static void test_looping(TFE_Context* c) {
  const int32_t zero = 0;
  TF_Graph* g[3] = {TF_NewGraph(), TF_NewGraph(), TF_NewGraph()};
  TF_Operation* x = placeholder(g[0], "x", TF_INT32, 0, NULL);
  TF_Function* condition = made(g[0], "endless_condition", x, binary_op(g[0], "GreaterEqual", "y", x, const_i(g[0], "zero", 0, 1, &zero)));
  x = placeholder(g[1], "x", TF_INT32, 0, NULL);
  TF_Function* body = made(g[1], "endless_body", x, binary_op(g[1], "Maximum", "y", x, const_i(g[1], "zero", 0, 1, &zero)));
  TF_GraphCopyFunction(g[2], condition, NULL, s);
  TF_GraphCopyFunction(g[2], body, NULL, s);
  x = placeholder(g[2], "x", TF_INT32, 0, NULL);
  TF_OperationDescription* d = TF_NewOperation(g[2], "While", "loop");
  TF_Output input = out(x, 0);
  TF_AddInputList(d, &input, 1);
  const TF_DataType types[] = {TF_INT32};
  TF_SetAttrTypeList(d, "T", types, 1);
  TF_SetAttrFuncName(d, "cond", "endless_condition", 17);
  TF_SetAttrFuncName(d, "body", "endless_body", 12);
  TF_SetAttrBool(d, "_lower_using_switch_merge", 1);
  TF_Operation* loop = NULL;
  OK(loop = TF_FinishOperation(d, s));
  if (!loop) return;
  TF_Function* f = made(g[2], "endless", x, loop);
  OK(TFE_ContextAddFunction(c, condition, s));
  OK(TFE_ContextAddFunction(c, body, s));
  OK(TFE_ContextAddFunction(c, f, s));
  TFE_TensorHandle* start = scalar_i(1);
  run_cancelled(new_op(c, "endless", 1, &start), false, TF_CANCELLED, "");
  run_cancelled(new_op(c, "endless", 1, &start), true, TF_CANCELLED, "");
  TFE_DeleteTensorHandle(start);
  TF_DeleteFunction(f);
  TF_DeleteFunction(condition);
  TF_DeleteFunction(body);
  for (int i = 0; i < 3; ++i) TF_DeleteGraph(g[i]);
}

// A kernel that computes goes on to its end in TensorFlow; here its caller does not wait for that.
static void test_computing(TFE_Context* c) {
  TFE_TensorHandle *one = scalar_f(1), *two[] = {one, one};
  run_cancelled(new_op(c, "AddV2", 2, two), true, TF_OK, "");
  TFE_DeleteTensorHandle(one);
  NULLS {
    const int64_t dims[] = {4000, 4000};
    TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 2, sizeof(float) * 4000 * 4000);
    memset(TF_TensorData(t), 0, TF_TensorByteSize(t));
    TFE_TensorHandle* a = NULL;
    OK(a = TFE_NewTensorHandle(t, s));
    TF_DeleteTensor(t);
    TFE_TensorHandle* in[] = {a, a};
    run_cancelled(new_op(c, "MatMul", 2, in), false, TF_CANCELLED, "");
    TFE_DeleteTensorHandle(a);
  }
}

static void count(void* number) { ++*(int*)number; }

static void test_callbacks(void) {
  TFE_CancellationManager* m = TFE_NewCancellationManager();
  int first = 0, second = 0;
  const TFE_CancelCallback one = {count, &first}, two = {count, &second};
  const TFE_CancellationToken a = TFE_CancellationManagerGetToken(m), b = TFE_CancellationManagerGetToken(m);
  CHECK(a != b);
  CHECK(TFE_CancellationManagerRegisterCallback(m, a, &one, "one"));
  CHECK(TFE_CancellationManagerRegisterCallback(m, b, &two, "two"));
  CHECK(TFE_CancellationManagerTryDeregisterCallback(m, b));
  CHECK(!TFE_CancellationManagerIsCancelled(m));
  TFE_CancellationManagerStartCancel(m);
  TFE_CancellationManagerStartCancel(m);
  CHECK(first == 1 && second == 0);
  CHECK(TFE_CancellationManagerIsCancelled(m));
  CHECK(!TFE_CancellationManagerDeregisterCallback(m, a));
  CHECK(!TFE_CancellationManagerRegisterCallback(m, TFE_CancellationManagerGetToken(m), &one, "late"));
  TFE_DeleteCancellationManager(m);
}

// An op whose manager was deleted runs as one that nobody cancels; a callback may delete the manager that calls it.
static void delete_manager(void* manager) { TFE_DeleteCancellationManager(*(TFE_CancellationManager**)manager); }

static void test_deleted(TFE_Context* c) {
  TFE_CancellationManager* m = TFE_NewCancellationManager();
  TFE_TensorHandle *one = scalar_f(1), *two[] = {one, one};
  TFE_Op* op = new_op(c, "AddV2", 2, two);
  OK(TFE_OpSetCancellationManager(op, m, s));
  TFE_DeleteCancellationManager(m);
  void* taken[64];  // the manager's memory among them
  for (int i = 0; i < 64; ++i) taken[i] = memset(malloc(8 * (size_t)(i + 1)), 0xff, 8 * (size_t)(i + 1));
  TFE_TensorHandle* sum = run1(op, TF_OK, "");
  CHECK(sum && handle_is(sum, 1, (const float[]){2}));
  for (int i = 0; i < 64; ++i) free(taken[i]);
  TFE_DeleteTensorHandle(sum);
  TFE_DeleteTensorHandle(one);
  m = TFE_NewCancellationManager();
  const TFE_CancelCallback last = {delete_manager, &m};
  CHECK(TFE_CancellationManagerRegisterCallback(m, TFE_CancellationManagerGetToken(m), &last, "last"));
  TFE_CancellationManagerStartCancel(m);
}

void test_cancellation(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  if (!c) return;
  test_callbacks();
  test_waiting(c);
  test_looping(c);
  test_computing(c);
  NULLS { test_deleted(c); }
  TFE_DeleteContext(c);
}
