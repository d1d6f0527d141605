// One interface for running and for tracing: a function is traced, registered and run; then misuse.
#include "check.h"
#include "tensorflow/c/eager/c_api_unified_experimental.h"

static TF_AbstractTensor* abstract_scalar(float value) {
  TF_AbstractTensor* t = NULL;
  OK(t = TF_CreateAbstractTensorFromEagerTensor(scalar_f(value), s));
  return t;
}

// twice(x) = x + x
static TF_AbstractFunction* trace(void) {
  TF_ExecutionContext* g = NULL;
  OK(g = TF_CreateFunction("twice", s));
  if (!CHECK(g != NULL)) return NULL;
  TF_AbstractTensor* x = NULL;
  TF_Shape any = {-1, NULL};
  OK(x = TF_AddFunctionParameter(g, TF_FLOAT, any, s));
  EXPECT(TF_INVALID_ARGUMENT, "", CHECK(TF_ExecutionContextGetTFEContext(g, s) == NULL));
  EXPECT(TF_INVALID_ARGUMENT, "Not an eager tensor handle.", CHECK(TF_AbstractTensorGetEagerTensor(x, s) == NULL));
  TF_AbstractOp* op = TF_NewAbstractOp(g);
  TF_OutputList* o = TF_NewOutputList();
  TF_AbstractTensor* inputs[] = {x, x};
  EXPECT(TF_FAILED_PRECONDITION, "", TF_AbstractOpSetOpName(op, "sum", s));
  EXPECT(TF_FAILED_PRECONDITION, "op_type and op_name must be specified before specifying attrs.", TF_AbstractOpSetAttrType(op, "T", TF_FLOAT, s));
  OK(TF_AbstractOpSetOpType(op, "Add", s));
  OK(TF_OutputListSetNumOutputs(o, 1, s));
  NULLS EXPECT(TF_INVALID_ARGUMENT, "AbstractOp is incomplete.", TF_ExecuteOperation(op, 2, inputs, o, s));
  OK(TF_AbstractOpSetOpName(op, "sum", s));
  EXPECT(TF_FAILED_PRECONDITION, "", TF_AbstractOpSetOpType(op, "Mul", s));
  OK(TF_AbstractOpSetAttrType(op, "T", TF_FLOAT, s));
  OK(TF_ExecuteOperation(op, 2, inputs, o, s));
  CHECK(TF_OutputListNumOutputs(o) == 1);
  TF_AbstractTensor* sum = TF_OutputListGet(o, 0);
  CHECK(sum != NULL);
  TF_DeleteAbstractOp(op);
  // An eager tensor is no input of a node.
  TF_AbstractTensor* e = abstract_scalar(1);
  TF_AbstractTensor* mixed[] = {x, e};
  op = TF_NewAbstractOp(g);
  OK(TF_AbstractOpSetOpType(op, "Add", s));
  OK(TF_AbstractOpSetOpName(op, "mixed", s));
  TF_OutputList* none = TF_NewOutputList();
  OK(TF_OutputListSetNumOutputs(none, 1, s));
  INVALID(TF_ExecuteOperation(op, 2, mixed, none, s));
  TF_DeleteOutputList(none);
  TF_DeleteAbstractOp(op);
  TF_DeleteAbstractTensor(e);
  TF_AbstractFunction* f = NULL;
  OK(f = TF_FinalizeFunction(g, o, s));
  TF_DeleteOutputList(o);
  TF_DeleteAbstractTensor(sum);
  TF_DeleteAbstractTensor(x);
  return f;
}

void test_unified(void) {
  OK(TF_SetTracingImplementation("graphdef", s));
  EXPECT(TF_INVALID_ARGUMENT, "No tracing engine factory has been registered with the key 'no such engine' (available: graphdef",
         TF_SetTracingImplementation("no such engine", s));
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TF_ExecutionContext* c = NULL;
  OK(c = TF_NewEagerExecutionContext(options, s));
  TFE_DeleteContextOptions(options);
  OK(CHECK(TF_ExecutionContextGetTFEContext(c, s) != NULL));

  TF_AbstractFunction* f = trace();
  if (!CHECK(f != NULL)) return;
  OK(TF_ExecutionContextRegisterFunction(c, f, s));
  const float want[] = {6};
  TF_AbstractTensor* x = abstract_scalar(3);
  TF_OutputList* o = TF_NewOutputList();
  const char* names[] = {"Add", "twice"};
  for (int i = 0; i < 2; ++i) {
    TF_AbstractTensor* inputs[] = {x, x};
    TF_AbstractOp* op = TF_NewAbstractOp(c);
    OK(TF_AbstractOpSetOpType(op, names[i], s));
    INVALID(TF_AbstractOpSetOpName(op, "name", s));
    OK(TF_OutputListSetNumOutputs(o, 1, s));
    OK(TF_ExecuteOperation(op, 2 - i, inputs, o, s));
    TF_AbstractTensor* y = TF_OutputListGet(o, 0);
    TFE_TensorHandle* h = NULL;
    OK(h = TF_AbstractTensorGetEagerTensor(y, s));
    CHECK(handle_is(h, 1, want));
    TF_DeleteAbstractTensor(y);
    TF_DeleteAbstractOp(op);
  }
  NULLS {
    TF_AbstractOp* op = TF_NewAbstractOp(c);
    EXPECT(TF_NOT_FOUND, "", TF_AbstractOpSetOpType(op, "NoSuchOp", s));
    INVALID(TF_ExecuteOperation(op, 0, NULL, o, s));
    INVALID(TF_ExecuteOperation(NULL, 0, NULL, o, s));
    INVALID(TF_ExecuteOperation(op, 0, NULL, NULL, s));
    INVALID(TF_AbstractOpSetOpType(NULL, "Add", s));
    INVALID(TF_AbstractOpSetOpType(op, NULL, s));
    INVALID(TF_OutputListSetNumOutputs(o, -1, s));
    INVALID(TF_OutputListPushBack(o, NULL, s));
    CHECK(TF_OutputListGet(o, 7) == NULL && TF_OutputListGet(NULL, 0) == NULL && TF_OutputListNumOutputs(NULL) == 0);
    CHECK(TF_NewAbstractOp(NULL) == NULL);
    INVALID(CHECK(TF_CreateFunction(NULL, s) == NULL));
    INVALID(CHECK(TF_FinalizeFunction(c, o, s) == NULL));
    INVALID(CHECK(TF_CreateAbstractTensorFromEagerTensor(NULL, s) == NULL));
    INVALID(TF_ExecutionContextRegisterFunction(c, NULL, s));
    TF_DeleteAbstractOp(op);
    TF_DeleteAbstractTensor(NULL);
    TF_DeleteExecutionContext(NULL);
  }
  TF_DeleteOutputList(o);
  TF_DeleteAbstractTensor(x);
  TF_DeleteAbstractFunction(f);
  TF_DeleteExecutionContext(c);
}
