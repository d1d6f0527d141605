// Ops and kernels that the program brings itself: ops.h and kernels.h.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

// ---- Ops ----

static int shape_calls = 0;

// The output is the input without its first dimension, then one of size 2.
static void shape_of_scale(TF_ShapeInferenceContext* c, TF_Status* status) {
  ++shape_calls;
  CHECK(TF_ShapeInferenceContextNumInputs(c) == 1);
  TF_ShapeHandle *in = TF_NewShapeHandle(), *rest = TF_NewShapeHandle(), *out = TF_NewShapeHandle();
  TF_ShapeHandle *two = TF_ShapeInferenceContextVectorFromSize(c, 2), *scalar = TF_ShapeInferenceContextScalar(c);
  TF_DimensionHandle* d = TF_NewDimensionHandle();
  TF_DataType type = TF_INT8;
  TF_ShapeInferenceContext_GetAttrType(c, "T", &type, status);
  CHECK(TF_GetCode(status) == TF_OK && type == TF_FLOAT);
  TF_ShapeInferenceContext_GetAttrType(c, "nope", &type, status);
  CHECK(TF_GetCode(status) != TF_OK);
  TF_SetStatus(status, TF_OK, "");
  TF_ShapeInferenceContextGetInput(c, 7, in, status);
  CHECK(TF_GetCode(status) == TF_INVALID_ARGUMENT);
  TF_SetStatus(status, TF_OK, "");
  TF_ShapeInferenceContextGetInput(c, 0, in, status);
  CHECK(TF_GetCode(status) == TF_OK);
  CHECK(TF_ShapeInferenceContextRankKnown(c, scalar) && TF_ShapeInferenceContextRank(c, scalar) == 0);
  CHECK(TF_ShapeInferenceContextRank(c, two) == 1);
  TF_ShapeInferenceContextDim(c, two, 0, d);
  CHECK(TF_DimensionHandleValueKnown(d) && TF_DimensionHandleValue(d) == 2);
  TF_ShapeInferenceContextWithRankAtLeast(c, in, 1, in, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextWithRankAtMost(c, in, 4, in, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSubshape(c, in, 1, TF_ShapeInferenceContextRank(c, in), rest, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextConcatenateShapes(c, rest, two, out, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(c, 0, out, status);
  TF_DeleteDimensionHandle(d);
  TF_DeleteShapeHandle(in);
  TF_DeleteShapeHandle(rest);
  TF_DeleteShapeHandle(out);
  TF_DeleteShapeHandle(two);
  TF_DeleteShapeHandle(scalar);
}

static void infer(TFE_Context* c) {
  TFE_Op* op = new_op(c, "ClientScale", 0, NULL);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TF_ShapeAndTypeList *in = TF_NewShapeAndTypeList(1), *out = NULL;
  const int64_t dims[] = {5, -1, 3};
  TF_ShapeAndTypeListSetShape(in, 0, dims, 3);
  TF_ShapeAndTypeListSetDtype(in, 0, TF_FLOAT);
  OK(TFE_InferShapes(op, in, NULL, NULL, NULL, &out, NULL, s));
  CHECK(shape_calls > 0);
  if (CHECK(out && out->num_items == 1)) {
    const TF_ShapeAndType* o = &out->items[0];
    CHECK(o->num_dims == 3 && o->dims[0] == -1 && o->dims[1] == 3 && o->dims[2] == 2);
  }
  TF_DeleteShapeAndTypeList(out);
  out = NULL;
  TF_ShapeAndTypeListSetShape(in, 0, NULL, 0);
  EXPECT(TF_INVALID_ARGUMENT, "Shape must be at least rank 1 but is rank 0", TFE_InferShapes(op, in, NULL, NULL, NULL, &out, NULL, s));
  NULLS {
    TF_ShapeAndTypeListSetUnknownShape(in, 0);
    TF_ShapeAndTypeListSetUnknownShape(in, 9);
    TF_ShapeAndTypeListSetShape(in, -1, dims, 3);
    TF_ShapeAndTypeListSetShape(NULL, 0, dims, 3);
    TF_ShapeAndTypeListSetDtype(in, 5, TF_FLOAT);
    INVALID(TFE_InferShapes(NULL, in, NULL, NULL, NULL, &out, NULL, s));
    INVALID(TFE_InferShapes(op, NULL, NULL, NULL, NULL, &out, NULL, s));
    INVALID(TFE_InferShapes(op, in, NULL, NULL, NULL, NULL, NULL, s));
    TF_DeleteShapeAndTypeList(NULL);
  }
  TF_DeleteShapeAndTypeList(in);
  TFE_DeleteOp(op);
}

static void define(const char* name, void (*shape)(TF_ShapeInferenceContext*, TF_Status*)) {
  TF_OpDefinitionBuilder* b = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddAttr(b, "T: {float, int32}");
  TF_OpDefinitionBuilderAddAttr(b, "scale: float = 2.0");
  TF_OpDefinitionBuilderAddAttr(b, "count: int = 7");
  TF_OpDefinitionBuilderAddAttr(b, "flag: bool = true");
  TF_OpDefinitionBuilderAddAttr(b, "mode: string = 'none'");
  TF_OpDefinitionBuilderAddAttr(b, "sizes: list(int) = [4, 5]");
  TF_OpDefinitionBuilderAddAttr(b, "weights: list(float) = [0.5]");
  TF_OpDefinitionBuilderAddAttr(b, "flags: list(bool) = [true, false]");
  TF_OpDefinitionBuilderAddAttr(b, "names: list(string) = ['a', 'bcd']");
  TF_OpDefinitionBuilderAddAttr(b, "types: list(type) = [DT_FLOAT, DT_INT32]");
  TF_OpDefinitionBuilderAddInput(b, "x: T");
  TF_OpDefinitionBuilderAddOutput(b, "y: T");
  TF_OpDefinitionBuilderSetIsCommutative(b, false);
  TF_OpDefinitionBuilderSetIsAggregate(b, false);
  TF_OpDefinitionBuilderSetIsStateful(b, false);
  TF_OpDefinitionBuilderSetAllowsUninitializedInput(b, false);
  if (shape) TF_OpDefinitionBuilderSetShapeInferenceFunction(b, shape);
  OK(TF_RegisterOpDefinition(b, s));
}

void test_user_ops(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  define("ClientScale", shape_of_scale);
  infer(c);
  TF_Buffer* all = TF_GetAllOpList();
  CHECK(holds_bytes(all->data, all->length, "ClientScale"));
  TF_DeleteBuffer(all);
  // The same name again, a bad name, a bad signature. (TensorFlow dies of the first.)
  NULLS {
    TF_OpDefinitionBuilder* b = TF_NewOpDefinitionBuilder("ClientScale");
    EXPECT(TF_ALREADY_EXISTS, "Op with name ClientScale", TF_RegisterOpDefinition(b, s));
    b = TF_NewOpDefinitionBuilder("not a name");
    INVALID(TF_RegisterOpDefinition(b, s));
    b = TF_NewOpDefinitionBuilder("ClientBadSpec");
    TF_OpDefinitionBuilderAddInput(b, "x: no_such_type");
    INVALID(TF_RegisterOpDefinition(b, s));
    b = TF_NewOpDefinitionBuilder("ClientBadAttr");
    TF_OpDefinitionBuilderAddAttr(b, "T: {float, nonsense");
    INVALID(TF_RegisterOpDefinition(b, s));
    EXPECT(TF_NOT_FOUND, "'ClientBadSpec' is neither a type of a primitive operation", TFE_NewOp(c, "ClientBadSpec", s));
    b = TF_NewOpDefinitionBuilder(NULL);
    TF_OpDefinitionBuilderAddAttr(b, NULL);
    TF_OpDefinitionBuilderAddInput(b, NULL);
    TF_OpDefinitionBuilderAddOutput(b, NULL);
    TF_OpDefinitionBuilderDeprecated(b, 3, NULL);
    TF_OpDefinitionBuilderSetShapeInferenceFunction(b, NULL);
    TF_OpDefinitionBuilderAddAttr(NULL, "a: int");
    TF_OpDefinitionBuilderAddInput(NULL, "a: int32");
    TF_OpDefinitionBuilderAddOutput(NULL, "a: int32");
    TF_OpDefinitionBuilderDeprecated(NULL, 3, "x");
    TF_OpDefinitionBuilderSetIsStateful(NULL, true);
    TF_OpDefinitionBuilderSetShapeInferenceFunction(NULL, shape_of_scale);
    INVALID(TF_RegisterOpDefinition(b, s));
    INVALID(TF_RegisterOpDefinition(NULL, s));
    TF_DeleteOpDefinitionBuilder(NULL);
    TF_DeleteShapeHandle(NULL);
    TF_DeleteDimensionHandle(NULL);
  }
  TF_DeleteOpDefinitionBuilder(TF_NewOpDefinitionBuilder("ClientNeverRegistered"));
  TFE_DeleteContext(c);
}

// ---- Kernels ----

typedef struct {
  float scale;
  bool fail;
} Scale;

static int made = 0, destroyed = 0;

static bool name_is(TF_StringView v, const char* text) { return v.len == strlen(text) && memcmp(v.data, text, v.len) == 0; }

static void* scale_create(TF_OpKernelConstruction* c) {
  TF_Status* st = TF_NewStatus();
  Scale* k = calloc(1, sizeof *k);
  ++made;
  TF_OpKernelConstruction_GetAttrFloat(c, "scale", &k->scale, st);
  CHECK(TF_GetCode(st) == TF_OK);
  int32_t i32 = 0, list_size = 0, total_size = 0;
  int64_t i64 = 0, sizes[4] = {0};
  int32_t sizes32[4] = {0};
  float weights[2] = {0};
  TF_Bool flag = 0, flags[2] = {0, 1};
  TF_DataType type = TF_INT8, types[2] = {TF_INT8, TF_INT8};
  char mode[20] = {0}, storage[32], *names[2] = {NULL, NULL};
  size_t lengths[2] = {0};
  TF_OpKernelConstruction_GetAttrInt32(c, "count", &i32, st);
  TF_OpKernelConstruction_GetAttrInt64(c, "count", &i64, st);
  CHECK(TF_GetCode(st) == TF_OK && i32 == i64 && i64 == 7);
  TF_OpKernelConstruction_GetAttrBool(c, "flag", &flag, st);
  CHECK(TF_GetCode(st) == TF_OK && flag);
  TF_OpKernelConstruction_GetAttrType(c, "T", &type, st);
  CHECK(TF_GetCode(st) == TF_OK && type == TF_FLOAT);
  TF_OpKernelConstruction_GetAttrSize(c, "sizes", &list_size, &total_size, st);
  CHECK(TF_GetCode(st) == TF_OK && list_size == 2 && total_size == -1);
  TF_OpKernelConstruction_GetAttrInt64List(c, "sizes", sizes, 4, st);
  TF_OpKernelConstruction_GetAttrInt32List(c, "sizes", sizes32, 4, st);
  CHECK(TF_GetCode(st) == TF_OK && sizes[0] == 4 && sizes[1] == 5 && sizes32[1] == 5);
  TF_OpKernelConstruction_GetAttrFloatList(c, "weights", weights, 2, st);
  CHECK(TF_GetCode(st) == TF_OK && weights[0] == 0.5f);
  TF_OpKernelConstruction_GetAttrBoolList(c, "flags", flags, 2, st);
  CHECK(TF_GetCode(st) == TF_OK && flags[0] && !flags[1]);
  TF_OpKernelConstruction_GetAttrTypeList(c, "types", types, 2, st);
  CHECK(TF_GetCode(st) == TF_OK && types[0] == TF_FLOAT && types[1] == TF_INT32);
  TF_OpKernelConstruction_GetAttrSize(c, "names", &list_size, &total_size, st);
  CHECK(TF_GetCode(st) == TF_OK && list_size == 2 && total_size == 4);
  TF_OpKernelConstruction_GetAttrStringList(c, "names", names, lengths, 2, storage, sizeof storage, st);
  CHECK(TF_GetCode(st) == TF_OK && lengths[0] == 1 && lengths[1] == 3 && memcmp(names[1], "bcd", 3) == 0);
  TF_OpKernelConstruction_GetAttrStringList(c, "names", names, lengths, 2, storage, 2, st);
  CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
  TF_SetStatus(st, TF_OK, "");
  CHECK(TF_OpKernelConstruction_HasAttr(c, "scale", st) && TF_GetCode(st) == TF_OK);
  CHECK(!TF_OpKernelConstruction_HasAttr(c, "nope", st));
  TF_OpKernelConstruction_GetAttrFloat(c, "nope", weights, st);
  CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT || TF_GetCode(st) == TF_NOT_FOUND);
  TF_OpKernelConstruction_GetAttrInt64(c, "scale", &i64, st);  // of another kind
  CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
  TF_SetStatus(st, TF_OK, "");
  TF_OpKernelConstruction_GetAttrSize(c, "mode", &list_size, &total_size, st);
  CHECK(TF_GetCode(st) == TF_OK && list_size == -1 && total_size >= 4 && total_size < 20);
  TF_OpKernelConstruction_GetAttrString(c, "mode", mode, sizeof mode, st);
  CHECK(TF_GetCode(st) == TF_OK);
  TF_Buffer* node = TF_OpKernelConstruction_GetNodeDef(c, st);
  CHECK(TF_GetCode(st) == TF_OK && node && holds_bytes(node->data, node->length, "ClientScale"));
  TF_DeleteBuffer(node);
  (void)TF_OpKernelConstruction_GetName(c);
  NULLS {
    TF_OpKernelConstruction_GetAttrFloat(NULL, "scale", weights, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_GetAttrFloat(c, NULL, weights, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_GetAttrFloat(c, "scale", NULL, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_GetAttrInt64List(c, "sizes", NULL, 4, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_GetAttrString(c, "mode", NULL, 4, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_GetAttrStringList(c, "names", names, lengths, 2, NULL, 100, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_GetAttrSize(c, NULL, &list_size, &total_size, st);
    CHECK(TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_OpKernelConstruction_Failure(NULL, st);
    TF_OpKernelConstruction_Failure(c, NULL);
  }
  if (strcmp(mode, "construct") == 0) {
    TF_SetStatus(st, TF_FAILED_PRECONDITION, "cannot be made");
    TF_OpKernelConstruction_Failure(c, st);
  }
  k->fail = strcmp(mode, "compute") == 0;
  TF_DeleteStatus(st);
  return k;
}

static void scale_destroy(void* kernel) {
  if (kernel) ++destroyed;
  free(kernel);
}

static void scale_compute(void* kernel, TF_OpKernelContext* c) {
  const Scale* k = kernel;
  TF_Status* st = TF_NewStatus();
  TF_Tensor *in = NULL, *none = NULL;
  CHECK(TF_NumInputs(c) == 1 && TF_NumOutputs(c) == 1);
  TF_GetInput(c, 1, &none, st);
  CHECK(TF_GetCode(st) == TF_OUT_OF_RANGE && none == NULL);
  TF_GetInput(c, 0, &in, st);
  CHECK(TF_GetCode(st) == TF_OK);
  CHECK(TF_InputDatatype(c, 0) == TF_FLOAT && TF_ExpectedOutputDataType(c, 0) == TF_FLOAT);
  TF_InputRange_Args range = {TF_InputRange_Args_STRUCT_SIZE, NULL, -1, -1, st};
  TF_InputRange(c, "x", &range);
  CHECK(TF_GetCode(st) == TF_OK && range.start == 0 && range.stop == 1);
  (void)TF_StepId(c);
  CHECK(name_is(TF_GetDeviceName(c), "/job:localhost/replica:0/task:0/device:CPU:0"));
  CHECK(TF_GetDeviceId(c) == 0);
  const int64_t dims[] = {TF_TensorElementCount(in)};
  if (!on_tensorflow) {
    TF_Tensor* wrong = TF_AllocateOutput(c, 3, TF_FLOAT, dims, 1, 0, st);
    CHECK(wrong == NULL && TF_GetCode(st) == TF_OUT_OF_RANGE);
    wrong = TF_AllocateOutput(c, 0, TF_DOUBLE, dims, 1, 0, st);
    CHECK(wrong == NULL && TF_GetCode(st) == TF_INVALID_ARGUMENT);
    TF_GetInput(NULL, 0, &none, st);
    TF_GetInput(c, 0, NULL, st);
    TF_SetOutput(c, 0, NULL, st);
    TF_SetOutput(NULL, 0, in, st);
    CHECK(TF_AllocateOutput(NULL, 0, TF_FLOAT, dims, 1, 0, st) == NULL);
    CHECK(TF_AllocateOutput(c, 0, TF_FLOAT, NULL, 1, 0, st) == NULL);
    CHECK(TF_GetMutableOutput(c, 0, st) == NULL && TF_GetCode(st) != TF_OK);  // not there yet
    CHECK(TF_NumInputs(NULL) == 0 && TF_NumOutputs(NULL) == 0);
    (void)TF_InputDatatype(c, 5);
    TF_InputRange(c, "nope", &range);
    CHECK(TF_GetCode(st) != TF_OK);
    TF_OpKernelContext_Failure(NULL, st);
    TF_OpKernelContext_Failure(c, NULL);
  }
  TF_AllocatorAttributes attrs = {TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 1};
  TF_Tensor* temp = TF_AllocateTemp(c, TF_FLOAT, dims, 1, &attrs, st);
  CHECK(temp != NULL && TF_TensorByteSize(temp) == TF_TensorByteSize(in));
  TF_DeleteTensor(temp);
  TF_SetStatus(st, TF_OK, "");
  if (k->fail) {
    TF_SetStatus(st, TF_DATA_LOSS, "cannot be computed");
    TF_OpKernelContext_Failure(c, st);
  } else {
    const int candidates[] = {0};
    int forwarded = -2;
    TF_Tensor* out = TF_ForwardInputOrAllocateOutput(c, candidates, 1, 0, dims, 1, &forwarded, st);
    CHECK(TF_GetCode(st) == TF_OK && out != NULL && forwarded >= -1);
    if (out) {
      const float* from = TF_TensorData(in);
      float* to = TF_TensorData(out);
      for (int64_t i = 0; i < dims[0]; ++i) to[i] = k->scale * from[i];
    }
    TF_DeleteTensor(out);
  }
  TF_DeleteTensor(in);
  TF_DeleteStatus(st);
}

typedef struct {
  TF_OpKernelContext* context;
  TF_AsyncOpKernelDoneCallback* done;
} AsyncCall;

static void* async_work(void* p) {
  AsyncCall* call = p;
  TF_Status* st = TF_NewStatus();
  TF_Tensor* in = NULL;
  TF_GetInput(call->context, 0, &in, st);
  if (TF_NumDims(in) == 0) {
    TF_SetStatus(st, TF_INVALID_ARGUMENT, "not a scalar, please");
    TF_OpKernelContext_Failure(call->context, st);
  } else {
    TF_SetOutput(call->context, 0, in, st);
  }
  TF_DeleteTensor(in);
  TF_DeleteStatus(st);
  TF_RunAsyncOpKernelDoneCallback(call->done);
  free(call);
  return NULL;
}

static void async_compute(void* kernel, TF_OpKernelContext* c, TF_AsyncOpKernelDoneCallback* done) {
  (void)kernel;
  AsyncCall* call = malloc(sizeof *call);
  *call = (AsyncCall){c, done};
  pthread_t thread;
  pthread_create(&thread, NULL, async_work, call);
  pthread_detach(thread);
}

static void* async_create(TF_OpKernelConstruction* c) {
  (void)c;
  return NULL;
}

static TFE_TensorHandle* run_scale(TFE_Context* c, TFE_TensorHandle* x, const char* mode, TF_Code code, const char* text) {
  TFE_Op* op = new_op(c, "ClientScale", 1, &x);
  TFE_OpSetAttrFloat(op, "scale", 3);
  TFE_OpSetAttrString(op, "mode", mode, strlen(mode));
  return run1(op, code, text);
}

void test_user_kernels(void) {
  TF_KernelBuilder* b = TF_NewKernelBuilder("ClientScale", "CPU", scale_create, scale_compute, scale_destroy);
  OK(TF_KernelBuilder_TypeConstraint(b, "T", TF_FLOAT, s));
  TF_KernelBuilder_HostMemory(b, "x");
  TF_KernelBuilder_Priority(b, 1);
  OK(TF_RegisterKernelBuilder("ClientScaleKernel", b, s));
  TFE_Context* c = new_context(NULL, 0, false);
  const float values[] = {1, 2}, tripled[] = {3, 6};
  TFE_TensorHandle *x = floats(2, values), *scalar = scalar_f(1), *i = scalar_i(1);
  for (int k = 0; k < 2; ++k) {  // the second time the kernel is there already
    TFE_TensorHandle* out = run_scale(c, x, "none", TF_OK, "");
    CHECK(handle_is(out, 2, tripled));
    TFE_DeleteTensorHandle(out);
  }
  CHECK(made == 1 || on_tensorflow);
  run_scale(c, x, "construct", TF_FAILED_PRECONDITION, "cannot be made");
  run_scale(c, x, "compute", TF_DATA_LOSS, "cannot be computed");
  run_scale(c, i, "none", TF_NOT_FOUND, "");  // no kernel for int32
  TFE_DeleteContext(c);
  if (!CHECK(made == destroyed || on_tensorflow)) printf("    made %d, destroyed %d\n", made, destroyed);

  define("ClientAsync", NULL);
  b = TF_NewAsyncKernelBuilder("ClientAsync", "CPU", async_create, async_compute, NULL);
  OK(TF_RegisterKernelBuilder("ClientAsyncKernel", b, s));
  TF_Buffer* kernels = NULL;
  OK(kernels = TF_GetRegisteredKernelsForOp("ClientScale", s));
  CHECK(kernels && count_field_1(kernels->data, kernels->length) == 1 && holds_bytes(kernels->data, kernels->length, "CPU"));
  TF_DeleteBuffer(kernels);
  for (int async = 0; async < 2; ++async) {
    c = new_context(NULL, 0, async);
    TFE_TensorHandle* out = run1(new_op(c, "ClientAsync", 1, &x), TF_OK, "");
    CHECK(handle_is(out, 2, values));
    TFE_DeleteTensorHandle(out);
    out = run1(new_op(c, "ClientAsync", 1, &scalar), async ? TF_OK : TF_INVALID_ARGUMENT, async ? "" : "not a scalar, please");
    if (async) {
      EXPECT(TF_INVALID_ARGUMENT, "not a scalar, please", TFE_TensorHandleResolve(out, s));
      TFE_DeleteTensorHandle(out);
    }
    TFE_DeleteContext(c);
  }
  NULLS {
    b = TF_NewKernelBuilder(NULL, NULL, NULL, NULL, NULL);
    INVALID(TF_RegisterKernelBuilder("none", b, s));
    b = TF_NewKernelBuilder("ClientNoSuchOp", "CPU", NULL, scale_compute, NULL);
    EXPECT(TF_NOT_FOUND, "", TF_RegisterKernelBuilder("none", b, s));
    INVALID(TF_RegisterKernelBuilder("none", NULL, s));
    b = TF_NewKernelBuilder("ClientScale", "CPU", NULL, scale_compute, NULL);
    INVALID(TF_KernelBuilder_TypeConstraint(b, "T", (TF_DataType)99, s));
    INVALID(TF_KernelBuilder_TypeConstraint(b, NULL, TF_FLOAT, s));
    INVALID(TF_KernelBuilder_TypeConstraint(NULL, "T", TF_FLOAT, s));
    TF_KernelBuilder_HostMemory(b, NULL);
    TF_KernelBuilder_HostMemory(NULL, "x");
    TF_KernelBuilder_Priority(NULL, 1);
    TF_KernelBuilder_Label(NULL, NULL);
    TF_DeleteKernelBuilder(b);
    TF_DeleteKernelBuilder(NULL);
    TF_RunAsyncOpKernelDoneCallback(NULL);
  }
  TFE_DeleteTensorHandle(x);
  TFE_DeleteTensorHandle(scalar);
  TFE_DeleteTensorHandle(i);
}
