// Contexts, ops and their attributes, tensor handles: right, null and wrong.
#include "check.h"

void test_contexts(void) {
  TFE_ContextOptions* o = TFE_NewContextOptions();
  TFE_ContextOptionsSetAsync(o, 0);
  TFE_ContextOptionsSetDevicePlacementPolicy(o, TFE_DEVICE_PLACEMENT_WARN);
  OK(TFE_ContextOptionsSetConfig(o, "", 0, s));
  EXPECT(TF_INVALID_ARGUMENT, "Unparseable ConfigProto", TFE_ContextOptionsSetConfig(o, "\xff\xff\xff", 3, s));
  TFE_Context* c = NULL;
  OK(c = TFE_NewContext(o, s));
  CHECK(TFE_ContextGetDevicePlacementPolicy(c) == TFE_DEVICE_PLACEMENT_WARN);
  TFE_ContextSetThreadLocalDevicePlacementPolicy(c, TFE_DEVICE_PLACEMENT_SILENT);
  CHECK(TFE_ContextGetDevicePlacementPolicy(c) == TFE_DEVICE_PLACEMENT_SILENT);
  TFE_ContextClearCaches(c);

  TF_DeviceList* list = NULL;
  OK(list = TFE_ContextListDevices(c, s));
  CHECK(TF_DeviceListCount(list) >= 1);
  const char* text = NULL;
  OK(text = TF_DeviceListName(list, 0, s));
  CHECK(text && strcmp(text, "/job:localhost/replica:0/task:0/device:CPU:0") == 0);
  OK(text = TF_DeviceListType(list, 0, s));
  CHECK(text && strcmp(text, "CPU") == 0);
  OK(CHECK(TF_DeviceListMemoryBytes(list, 0, s) == (int64_t)256 << 20));
  OK(CHECK(TF_DeviceListIncarnation(list, 0, s) != 0));
  EXPECT(TF_INVALID_ARGUMENT, "index out of bounds", text = TF_DeviceListName(list, 99, s));
  CHECK(text == NULL);
  INVALID(TF_DeviceListType(list, -1, s));
  INVALID(TF_DeviceListMemoryBytes(list, 99, s));
  INVALID(TF_DeviceListIncarnation(list, 99, s));
  NULLS {
    CHECK(TF_DeviceListCount(NULL) == 0);
    INVALID(TF_DeviceListName(NULL, 0, s));
    INVALID(TF_DeviceListType(NULL, 0, s));
    INVALID(TF_DeviceListMemoryBytes(NULL, 0, s));
    INVALID(TF_DeviceListIncarnation(NULL, 0, s));
    CHECK(TF_DeviceListName(list, 0, NULL) != NULL);
    INVALID(CHECK(TFE_ContextListDevices(NULL, s) == NULL));
    INVALID(CHECK(TFE_NewContext(NULL, s) == NULL));
    INVALID(TFE_ContextOptionsSetConfig(NULL, "", 0, s));
    INVALID(TFE_ContextOptionsSetConfig(o, NULL, 3, s));
    TFE_ContextOptionsSetAsync(NULL, 1);
    TFE_ContextOptionsSetDevicePlacementPolicy(NULL, TFE_DEVICE_PLACEMENT_WARN);
    (void)TFE_ContextGetDevicePlacementPolicy(NULL);
    TFE_ContextClearCaches(NULL);
    TFE_DeleteContextOptions(NULL);
    TFE_DeleteContext(NULL);
  }
  TF_DeleteDeviceList(list);
  TF_DeleteDeviceList(NULL);
  TFE_DeleteContextOptions(o);
  TFE_DeleteContext(c);
}

static void test_misuse(TFE_Context* c) {
  TFE_TensorHandle *f = scalar_f(1), *i = scalar_i(1);
  TFE_Op* op = NULL;
  EXPECT(TF_NOT_FOUND, "'NoSuchOp' is neither a type of a primitive operation nor a name of a function registered in binary running on ",
         op = TFE_NewOp(c, "NoSuchOp", s));
  CHECK(op == NULL);
  CHECK(strstr(TF_Message(s), "Make sure the operation or function is registered in the binary running in this process.") != NULL);

  // Wrong types, too few and too many inputs, no inputs.
  TFE_TensorHandle* mixed[] = {f, i};
  run1(new_op(c, "AddV2", 2, mixed), TF_INVALID_ARGUMENT,
       "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor");
  run1(new_op(c, "AddV2", 1, mixed), TF_INVALID_ARGUMENT, "");
  TFE_TensorHandle* three[] = {f, f, f};
  NULLS run1(new_op(c, "AddV2", 3, three), TF_INVALID_ARGUMENT, "");
  run1(new_op(c, "AddV2", 0, NULL), TF_INVALID_ARGUMENT, "");
  const float a[] = {1, 2}, b[] = {1, 2, 3};
  TFE_TensorHandle* shapes[] = {floats(2, a), floats(3, b)};
  run1(new_op(c, "AddV2", 2, shapes), TF_INVALID_ARGUMENT, "Incompatible shapes: [2] vs. [3]");
  run1(new_op(c, "MatMul", 2, shapes), TF_INVALID_ARGUMENT, "ndims must be ");

  // Too few places for the results, too many, none.
  op = new_op(c, "AddV2", 2, three);
  TFE_TensorHandle* out[3] = {NULL, NULL, NULL};
  int n = 0;
  EXPECT(TF_INVALID_ARGUMENT, "Expecting 1 outputs, but *num_retvals is 0", TFE_Execute(op, out, &n, s));
  n = 3;
  OK(TFE_Execute(op, out, &n, s));
  CHECK(n == 1 && out[0] && !out[1]);
  TFE_DeleteTensorHandle(out[0]);
  TFE_DeleteOp(op);

  // An attribute that is missing, of a wrong kind, of no such name.
  op = new_op(c, "Cast", 1, three);
  n = 1;
  EXPECT(TF_NOT_FOUND, "No attr named 'DstT' in NodeDef", TFE_Execute(op, out, &n, s));
  TFE_OpSetAttrType(op, "DstT", TF_INT32);
  OK(TFE_Execute(op, out, &n, s));
  CHECK(TFE_TensorHandleDataType(out[0]) == TF_INT32);
  TFE_DeleteTensorHandle(out[0]);
  TFE_DeleteOp(op);
  op = new_op(c, "Cast", 1, three);
  TFE_OpSetAttrInt(op, "DstT", 3);
  n = 1;
  INVALID(TFE_Execute(op, out, &n, s));
  TFE_DeleteOp(op);
  op = new_op(c, "AddV2", 2, three);
  TFE_OpSetAttrInt(op, "no_such_attr", 3);  // dropped
  TFE_TensorHandle* sum = run1(op, TF_OK, "");
  const float two[] = {2};
  CHECK(handle_is(sum, 1, two));
  TFE_DeleteTensorHandle(sum);
  for (int k = 0; k < 2; ++k) TFE_DeleteTensorHandle(shapes[k]);
  TFE_DeleteTensorHandle(f);
  TFE_DeleteTensorHandle(i);
}

static void test_op_nulls(TFE_Context* c) {
  TFE_TensorHandle* f = scalar_f(1);
  TFE_Op* op = new_op(c, "AddV2", 0, NULL);
  TFE_TensorHandle* out = NULL;
  int n = 1;
  INVALID(CHECK(TFE_NewOp(NULL, "AddV2", s) == NULL));
  INVALID(CHECK(TFE_NewOp(c, NULL, s) == NULL));
  CHECK(TFE_NewOp(c, "NoSuchOp", NULL) == NULL);
  TFE_DeleteOp(NULL);
  INVALID(TFE_OpReset(NULL, "AddV2", "", s));
  INVALID(TFE_OpReset(op, NULL, "", s));
  OK(TFE_OpReset(op, "AddV2", NULL, s));
  INVALID(CHECK(TFE_OpGetName(NULL, s) == NULL));
  INVALID(CHECK(TFE_OpGetContext(NULL, s) == NULL));
  INVALID(TFE_OpSetDevice(NULL, "/cpu:0", s));
  OK(TFE_OpSetDevice(op, NULL, s));
  INVALID(CHECK(TFE_OpGetDevice(NULL, s) == NULL));
  INVALID(TFE_OpAddInput(NULL, f, s));
  INVALID(TFE_OpAddInput(op, NULL, s));
  INVALID(TFE_OpAddInputList(NULL, &f, 1, s));
  INVALID(TFE_OpAddInputList(op, NULL, 1, s));
  INVALID(TFE_OpAddInputList(op, &out, 1, s));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid input list definition", TFE_OpAddInputList(op, NULL, 0, s));  // the argument is not a list
  INVALID(TFE_OpGetInputLength(NULL, "x", s));
  INVALID(TFE_OpGetInputLength(op, NULL, s));
  INVALID(TFE_OpGetOutputLength(NULL, "z", s));
  INVALID(TFE_OpGetOutputLength(op, NULL, s));
  INVALID(TFE_OpGetFlatInputCount(NULL, s));
  INVALID(TFE_OpGetFlatInput(NULL, 0, s));
  INVALID(TFE_OpGetFlatInput(op, 5, s));
  INVALID(TFE_Execute(NULL, &out, &n, s));
  INVALID(TFE_Execute(op, NULL, &n, s));
  INVALID(TFE_Execute(op, &out, NULL, s));
  n = -5;
  INVALID(TFE_Execute(op, &out, &n, s));
  TFE_Execute(op, &out, &n, NULL);
  unsigned char is_list = 0;
  INVALID(TFE_OpGetAttrType(NULL, "T", &is_list, s));
  INVALID(TFE_OpGetAttrType(op, NULL, &is_list, s));
  OK(TFE_OpGetAttrType(op, "T", NULL, s));
  INVALID(TFE_OpNameGetAttrType(NULL, "AddV2", "T", &is_list, s));
  INVALID(TFE_OpNameGetAttrType(c, NULL, "T", &is_list, s));
  INVALID(TFE_OpNameGetAttrType(c, "AddV2", NULL, &is_list, s));
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(f);
}

void test_ops(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  TFE_TensorHandle *a = scalar_f(3), *b = scalar_f(4);
  TFE_TensorHandle* both[] = {a, b};
  TFE_Op* op = NULL;
  OK(op = TFE_NewOp(c, "AddV2", s));
  const char* text = NULL;
  OK(text = TFE_OpGetName(op, s));
  CHECK(text && strcmp(text, "AddV2") == 0);
  OK(CHECK(TFE_OpGetContext(op, s) == c));
  OK(text = TFE_OpGetDevice(op, s));
  CHECK(text && strcmp(text, "") == 0);
  OK(TFE_OpSetDevice(op, "/cpu:0", s));
  OK(text = TFE_OpGetDevice(op, s));
  CHECK(text && strcmp(text, "/device:CPU:0") == 0);
  for (int i = 0; i < 2; ++i) OK(TFE_OpAddInput(op, both[i], s));
  OK(CHECK(TFE_OpGetFlatInputCount(op, s) == 2));
  TFE_TensorHandle* same = NULL;
  OK(same = TFE_OpGetFlatInput(op, 1, s));
  const float four[] = {4}, seven[] = {7}, twelve[] = {12};
  CHECK(handle_is(same, 1, four));  // the op's own: not to be deleted
  OK(CHECK(TFE_OpGetInputLength(op, "x", s) == 1));
  OK(CHECK(TFE_OpGetOutputLength(op, "z", s) == 1));
  EXPECT(TF_INVALID_ARGUMENT, "Input 'nope' not found", TFE_OpGetInputLength(op, "nope", s));
  EXPECT(TF_INVALID_ARGUMENT, "Output 'nope' not found", TFE_OpGetOutputLength(op, "nope", s));
  TFE_TensorHandle* out = NULL;
  int n = 1;
  OK(TFE_Execute(op, &out, &n, s));
  CHECK(n == 1 && handle_is(out, 1, seven));
  TFE_DeleteTensorHandle(out);
  // The same object for another op, twice in a row; then a reset that fails.
  OK(TFE_OpReset(op, "Mul", NULL, s));
  OK(TFE_OpReset(op, "Mul", "/cpu:0", s));
  for (int i = 0; i < 2; ++i) OK(TFE_OpAddInput(op, both[i], s));
  n = 1;
  OK(TFE_Execute(op, &out, &n, s));
  CHECK(handle_is(out, 1, twelve));
  TFE_DeleteTensorHandle(out);
  EXPECT(TF_NOT_FOUND, "'NoSuchOp' is neither a type of a primitive operation nor a name of a function registered in binary running on ",
         TFE_OpReset(op, "NoSuchOp", NULL, s));
  if (!on_tensorflow) {
    OK(TFE_OpReset(op, "AddV2", NULL, s));
    for (int i = 0; i < 2; ++i) OK(TFE_OpAddInput(op, both[i], s));
    n = 1;
    OK(TFE_Execute(op, &out, &n, s));
    CHECK(handle_is(out, 1, seven));
    TFE_DeleteTensorHandle(out);
  }
  TFE_DeleteOp(op);

  // Lists of inputs and of outputs.
  TFE_TensorHandle* list[] = {a, b, a};
  op = new_op(c, "Pack", 0, NULL);
  OK(TFE_OpAddInputList(op, list, 3, s));
  OK(CHECK(TFE_OpGetInputLength(op, "values", s) == 3));
  TFE_TensorHandle* packed = run1(op, TF_OK, "");
  const float want[] = {3, 4, 3};
  CHECK(handle_is(packed, 3, want));
  op = new_op(c, "Unpack", 1, &packed);
  TFE_OpSetAttrInt(op, "num", 3);
  OK(CHECK(TFE_OpGetOutputLength(op, "output", s) == 3));
  TFE_TensorHandle* parts[4];
  n = 4;
  OK(TFE_Execute(op, parts, &n, s));
  CHECK(n == 3 && handle_is(parts[1], 1, four));
  for (int i = 0; i < n; ++i) TFE_DeleteTensorHandle(parts[i]);
  n = 2;
  EXPECT(TF_INVALID_ARGUMENT, "Expecting 3 outputs, but *num_retvals is 2", TFE_Execute(op, parts, &n, s));
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(packed);

  test_misuse(c);
  NULLS test_op_nulls(c);
  TFE_DeleteTensorHandle(a);
  TFE_DeleteTensorHandle(b);
  TFE_DeleteContext(c);
}

static void test_attr_kinds(TFE_Context* c) {
  const struct {
    const char *op, *attr;
    TF_AttrType type;
    int list;
  } kinds[] = {{"AddV2", "T", TF_ATTR_TYPE, 0},
               {"Unpack", "num", TF_ATTR_INT, 0},
               {"MatMul", "transpose_a", TF_ATTR_BOOL, 0},
               {"VarHandleOp", "shared_name", TF_ATTR_STRING, 0},
               {"VarHandleOp", "shape", TF_ATTR_SHAPE, 0},
               {"Const", "value", TF_ATTR_TENSOR, 0},
               {"LeakyRelu", "alpha", TF_ATTR_FLOAT, 0},
               {"If", "then_branch", TF_ATTR_FUNC, 0},
               {"Conv2D", "strides", TF_ATTR_INT, 1},
               {"Case", "branches", TF_ATTR_FUNC, 1},
               {"IdentityN", "T", TF_ATTR_TYPE, 1},
               {"Bucketize", "boundaries", TF_ATTR_FLOAT, 1}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    unsigned char is_list = 9;
    TF_AttrType type = TF_ATTR_INT;
    TF_SetStatus(s, TF_OK, "");
    type = TFE_OpNameGetAttrType(c, kinds[i].op, kinds[i].attr, &is_list, s);
    if (TF_GetCode(s) == TF_NOT_FOUND) continue;  // an op that this library does not have yet
    if (!CHECK(TF_GetCode(s) == TF_OK && type == kinds[i].type && is_list == kinds[i].list)) printf("    %s.%s\n", kinds[i].op, kinds[i].attr);
  }
  unsigned char is_list = 0;
  EXPECT(TF_NOT_FOUND, "'NoSuchOp' is neither a type of a primitive operation", TFE_OpNameGetAttrType(c, "NoSuchOp", "T", &is_list, s));
  EXPECT(TF_INVALID_ARGUMENT, "Attribute 'nope' does not exist for this operation", TFE_OpNameGetAttrType(c, "AddV2", "nope", &is_list, s));
  TFE_Op* op = new_op(c, "AddV2", 0, NULL);
  OK(CHECK(TFE_OpGetAttrType(op, "T", &is_list, s) == TF_ATTR_TYPE && !is_list));
  EXPECT(TF_INVALID_ARGUMENT, "Attribute 'nope' does not exist for this operation", TFE_OpGetAttrType(op, "nope", &is_list, s));
  TFE_DeleteOp(op);
}

static void test_scalar_attrs(TFE_Context* c) {
  const int64_t square[] = {2, 2};
  const float values[] = {1, 2, 3, 4};
  TF_Tensor* t = new_tensor(TF_FLOAT, 2, square, values, sizeof values);
  TFE_TensorHandle* m = NULL;
  OK(m = TFE_NewTensorHandle(t, s));
  TFE_TensorHandle* both[] = {m, m};
  TFE_Op* op = new_op(c, "MatMul", 2, both);
  TFE_OpSetAttrBool(op, "transpose_b", 1);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TFE_TensorHandle* out = run1(op, TF_OK, "");
  const float product[] = {5, 11, 11, 25};
  CHECK(handle_is(out, 4, product));
  TFE_DeleteTensorHandle(out);

  op = new_op(c, "LeakyRelu", 1, both);
  TFE_OpSetAttrFloat(op, "alpha", 0.5f);
  out = run1(op, TF_OK, "");
  CHECK(handle_is(out, 4, values));
  TFE_DeleteTensorHandle(out);

  op = new_op(c, "Const", 0, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  OK(TFE_OpSetAttrTensor(op, "value", t, s));
  out = run1(op, TF_OK, "");
  CHECK(handle_is(out, 4, values));
  TFE_DeleteTensorHandle(out);
  op = new_op(c, "Const", 0, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_INT32);  // not the tensor's
  OK(TFE_OpSetAttrTensor(op, "value", t, s));
  run1(op, TF_INVALID_ARGUMENT, "");

  op = new_op(c, "VarHandleOp", 0, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_OpSetAttrString(op, "shared_name", "v", 1);
  OK(TFE_OpSetAttrShape(op, "shape", square, 2, s));
  out = run1(op, TF_OK, "");
  CHECK(out && TFE_TensorHandleDataType(out) == TF_RESOURCE);
  TFE_TensorHandle* assign[] = {out, m};
  op = new_op(c, "AssignVariableOp", 2, assign);
  int n = 0;
  OK(TFE_Execute(op, NULL, &n, s));
  TFE_DeleteOp(op);
  op = new_op(c, "ReadVariableOp", 1, assign);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_TensorHandle* read = run1(op, TF_OK, "");
  CHECK(handle_is(read, 4, values));
  TFE_DeleteTensorHandle(read);
  op = new_op(c, "ReadVariableOp", 1, assign);
  TFE_OpSetAttrType(op, "dtype", TF_INT32);
  run1(op, TF_INVALID_ARGUMENT, "Trying to read variable with wrong dtype. Expected int32 got float");
  TFE_DeleteTensorHandle(out);

  op = new_op(c, "VarHandleOp", 0, NULL);
  OK(TFE_OpSetAttrShape(op, "shape", NULL, -1, s));
  int64_t many[300];
  for (int i = 0; i < 300; ++i) many[i] = 1;
  EXPECT(TF_INVALID_ARGUMENT, "Value specified for `shape` has 300 dimensions which is over the limit of 254.",
         TFE_OpSetAttrShape(op, "shape", many, 300, s));
  const int64_t unknown[] = {-1, 3};
  OK(TFE_OpSetAttrShape(op, "shape", unknown, 2, s));
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(m);
  TF_DeleteTensor(t);
}

static void test_list_attrs(TFE_Context* c) {
  const float values[] = {1, 2, 3, 4};
  const int64_t image[] = {1, 2, 2, 1};
  TF_Tensor* t = new_tensor(TF_FLOAT, 4, image, values, sizeof values);
  TFE_TensorHandle* x = NULL;
  OK(x = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  TFE_Op* op = new_op(c, "MaxPool", 1, &x);
  const int64_t window[] = {1, 2, 2, 1};
  TFE_OpSetAttrIntList(op, "ksize", window, 4);
  TFE_OpSetAttrIntList(op, "strides", window, 4);
  TFE_OpSetAttrString(op, "padding", "VALID", 5);
  TFE_TensorHandle* out = run1(op, TF_OK, "");
  const float four[] = {4};
  CHECK(handle_is(out, 1, four));
  TFE_DeleteTensorHandle(out);
  op = new_op(c, "MaxPool", 1, &x);
  TFE_OpSetAttrIntList(op, "ksize", window, 4);
  TFE_OpSetAttrIntList(op, "strides", window, 4);
  TFE_OpSetAttrString(op, "padding", "NEITHER", 7);
  run1(op, TF_INVALID_ARGUMENT, "");
  op = new_op(c, "MaxPool", 1, &x);
  TFE_OpSetAttrIntList(op, "ksize", window, 2);
  TFE_OpSetAttrIntList(op, "strides", window, 4);
  TFE_OpSetAttrString(op, "padding", "VALID", 5);
  run1(op, TF_INVALID_ARGUMENT, "Length for attr 'ksize' of 2 must be at least minimum 4");

  op = new_op(c, "Bucketize", 1, &x);
  const float bounds[] = {1.5f, 3.5f};
  TFE_OpSetAttrFloatList(op, "boundaries", bounds, 2);
  out = run1(op, TF_OK, "");
  TF_Tensor* buckets = NULL;
  OK(buckets = TFE_TensorHandleResolve(out, s));
  const int32_t* b = TF_TensorData(buckets);
  CHECK(b[0] == 0 && b[1] == 1 && b[2] == 1 && b[3] == 2);
  TF_DeleteTensor(buckets);
  TFE_DeleteTensorHandle(out);

  TFE_TensorHandle* i = scalar_i(5);
  TFE_TensorHandle* two[] = {x, i};
  op = new_op(c, "IdentityN", 0, NULL);
  OK(TFE_OpAddInputList(op, two, 2, s));
  const TF_DataType types[] = {TF_FLOAT, TF_INT32};
  TFE_OpSetAttrTypeList(op, "T", types, 2);
  TFE_TensorHandle* outs[2];
  int n = 2;
  OK(TFE_Execute(op, outs, &n, s));
  CHECK(n == 2 && TFE_TensorHandleDataType(outs[1]) == TF_INT32);
  TFE_DeleteTensorHandle(outs[0]);
  TFE_DeleteTensorHandle(outs[1]);
  TFE_DeleteOp(op);

  // Shapes and types of a queue; strings of a summary-like op have no kernel everywhere, so only set.
  op = new_op(c, "FIFOQueueV2", 0, NULL);
  const int64_t* shape_dims[] = {window, NULL};
  const int ranks[] = {4, 0};
  TFE_OpSetAttrTypeList(op, "component_types", types, 2);
  OK(TFE_OpSetAttrShapeList(op, "shapes", shape_dims, ranks, 2, s));
  const int too_many[] = {4, 300};
  EXPECT(TF_INVALID_ARGUMENT, "has 300 dimensions which is over the limit of 254.", TFE_OpSetAttrShapeList(op, "shapes", shape_dims, too_many, 2, s));
  TFE_DeleteOp(op);
  op = new_op(c, "UnicodeEncode", 0, NULL);
  const void* strings[] = {"a", "bc"};
  const size_t lengths[] = {1, 2};
  TFE_OpSetAttrStringList(op, "no_such", strings, lengths, 2);
  TFE_DeleteOp(op);
  op = new_op(c, "AddV2", 0, NULL);
  const unsigned char bools[] = {1, 0};
  TFE_OpSetAttrBoolList(op, "no_such", bools, 2);
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(i);
  TFE_DeleteTensorHandle(x);
}

static void test_attr_protos(TFE_Context* c) {
  TFE_TensorHandle* f = scalar_f(2.75f);
  TFE_Op* op = new_op(c, "Cast", 1, &f);
  OK(TFE_OpSetAttrValueProto(op, "DstT", "\x30\x03", 2, s));  // AttrValue.type = DT_INT32
  TFE_TensorHandle* out = run1(op, TF_OK, "");
  CHECK(out && TFE_TensorHandleDataType(out) == TF_INT32);
  TFE_DeleteTensorHandle(out);
  op = new_op(c, "Cast", 1, &f);
  EXPECT(TF_INVALID_ARGUMENT, "Unparseable AttrValue proto", TFE_OpSetAttrValueProto(op, "DstT", "\xff\xff\xff", 3, s));
  TFE_DeleteOp(op);
  op = new_op(c, "If", 0, NULL);
  if (op) {
    TFE_OpSetAttrFunctionName(op, "then_branch", "some_function", 13);
    TFE_Op* value = new_op(c, "AddV2", 0, NULL);
    TFE_OpSetAttrFunction(op, "else_branch", value);
    TFE_DeleteOp(value);
    TFE_DeleteOp(op);
  }
  op = new_op(c, "Case", 0, NULL);
  if (op) {
    TFE_Op* values[] = {new_op(c, "AddV2", 0, NULL), new_op(c, "Mul", 0, NULL)};
    TFE_OpSetAttrFunctionList(op, "branches", (const TFE_Op**)values, 2);
    TFE_DeleteOp(values[0]);
    TFE_DeleteOp(values[1]);
    TFE_DeleteOp(op);
  }
  TFE_DeleteTensorHandle(f);
}

static void test_attr_nulls(TFE_Context* c) {
  TFE_Op* op = new_op(c, "MaxPool", 0, NULL);
  const int64_t dims[] = {1};
  const int64_t* list[] = {dims};
  const int rank = 1;
  const TFE_Op* ops[] = {NULL};
  TFE_Op* targets[] = {NULL, op};
  for (int i = 0; i < 2; ++i) {
    TFE_Op* o = targets[i];
    const char* name = i ? NULL : "ksize";  // once a null op, once a null name
    TFE_OpSetAttrString(o, name, "a", 1);
    TFE_OpSetAttrInt(o, name, 1);
    TFE_OpSetAttrFloat(o, name, 1);
    TFE_OpSetAttrBool(o, name, 1);
    TFE_OpSetAttrType(o, name, TF_FLOAT);
    INVALID(TFE_OpSetAttrShape(o, name, dims, 1, s));
    TFE_OpSetAttrFunctionName(o, name, "f", 1);
    TFE_OpSetAttrFunction(o, name, op);
    INVALID(TFE_OpSetAttrTensor(o, name, NULL, s));
    TFE_OpSetAttrStringList(o, name, NULL, NULL, 1);
    TFE_OpSetAttrIntList(o, name, dims, 1);
    TFE_OpSetAttrFloatList(o, name, NULL, 1);
    TFE_OpSetAttrBoolList(o, name, NULL, 1);
    TFE_OpSetAttrTypeList(o, name, NULL, 1);
    INVALID(TFE_OpSetAttrShapeList(o, name, list, &rank, 1, s));
    TFE_OpSetAttrFunctionList(o, name, ops, 1);
    INVALID(TFE_OpSetAttrValueProto(o, name, "\x30\x03", 2, s));
  }
  TFE_OpSetAttrString(op, "padding", NULL, 5);
  TFE_OpSetAttrShape(op, "ksize", NULL, 2, s);
  TFE_OpSetAttrFunctionName(op, "ksize", NULL, 1);
  TFE_OpSetAttrFunction(op, "ksize", NULL);
  INVALID(TFE_OpSetAttrTensor(op, "ksize", NULL, s));
  TFE_OpSetAttrStringList(op, "ksize", NULL, NULL, 1);
  TFE_OpSetAttrIntList(op, "ksize", NULL, 4);
  TFE_OpSetAttrIntList(op, "ksize", dims, -4);
  INVALID(TFE_OpSetAttrShapeList(op, "ksize", NULL, &rank, 1, s));
  INVALID(TFE_OpSetAttrShapeList(op, "ksize", list, NULL, 1, s));
  TFE_OpSetAttrFunctionList(op, "ksize", NULL, 1);
  INVALID(TFE_OpSetAttrValueProto(op, "ksize", NULL, 2, s));
  TFE_OpSetAttrType(op, "T", (TF_DataType)12345);
  run1(op, TF_INVALID_ARGUMENT, "");
}

void test_attrs(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  test_attr_kinds(c);
  test_scalar_attrs(c);
  test_list_attrs(c);
  test_attr_protos(c);
  NULLS test_attr_nulls(c);
  TFE_DeleteContext(c);
}

void test_handles(void) {
  const int64_t dims[] = {2, 3};
  const float values[] = {1, 2, 3, 4, 5, 6};
  TF_Tensor* t = new_tensor(TF_FLOAT, 2, dims, values, sizeof values);
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  CHECK(TFE_TensorHandleDataType(h) == TF_FLOAT);
  OK(CHECK(TFE_TensorHandleNumDims(h, s) == 2));
  OK(CHECK(TFE_TensorHandleNumElements(h, s) == 6));
  OK(CHECK(TFE_TensorHandleDim(h, 1, s) == 3));
  if (!on_tensorflow) {
    INVALID(CHECK(TFE_TensorHandleDim(h, 2, s) == -1));
    INVALID(CHECK(TFE_TensorHandleDim(h, -1, s) == -1));
  }
  const char* text = NULL;
  OK(text = TFE_TensorHandleDeviceName(h, s));
  CHECK(text && strcmp(text, "/job:localhost/replica:0/task:0/device:CPU:0") == 0);
  OK(text = TFE_TensorHandleBackingDeviceName(h, s));
  CHECK(text && strcmp(text, "/job:localhost/replica:0/task:0/device:CPU:0") == 0);
  TFE_TensorHandle* copy = NULL;
  OK(copy = TFE_TensorHandleCopySharingTensor(h, s));
  TFE_DeleteTensorHandle(h);
  CHECK(handle_is(copy, 6, values));
  // The handle outlives its context, with the name of its device.
  TFE_Context* c = new_context(NULL, 0, false);
  TFE_TensorHandle* sum = binary(c, "AddV2", copy, copy);
  TFE_TensorHandle* moved = NULL;
  OK(moved = TFE_TensorHandleCopyToDevice(copy, c, "/device:CPU:0", s));
  CHECK(handle_is(moved, 6, values));
  INVALID(TFE_TensorHandleCopyToDevice(copy, c, "nonsense:device:", s));
  INVALID(TFE_TensorHandleCopyToDevice(copy, c, "/device:CPU:9", s));
  TFE_DeleteContext(c);
  NULLS {
    OK(text = TFE_TensorHandleDeviceName(sum, s));
    CHECK(text && strcmp(text, "/job:localhost/replica:0/task:0/device:CPU:0") == 0);
  }
  const float twice[] = {2, 4, 6, 8, 10, 12};
  CHECK(handle_is(sum, 6, twice));
  NULLS {
    INVALID(CHECK(TFE_NewTensorHandle(NULL, s) == NULL));
    INVALID(TFE_TensorHandleNumDims(NULL, s));
    INVALID(TFE_TensorHandleNumElements(NULL, s));
    INVALID(TFE_TensorHandleDim(NULL, 0, s));
    INVALID(TFE_TensorHandleDeviceName(NULL, s));
    INVALID(TFE_TensorHandleBackingDeviceName(NULL, s));
    INVALID(TFE_TensorHandleCopySharingTensor(NULL, s));
    INVALID(TFE_TensorHandleResolve(NULL, s));
    INVALID(TFE_TensorHandleCopyToDevice(NULL, NULL, "/cpu:0", s));
    INVALID(TFE_TensorHandleCopyToDevice(copy, NULL, "/cpu:0", s));
    (void)TFE_TensorHandleDataType(NULL);
    CHECK(TFE_TensorHandleNumDims(copy, NULL) == 2);
  }
  TFE_DeleteTensorHandle(NULL);
  TFE_DeleteTensorHandle(copy);
  TFE_DeleteTensorHandle(moved);
  TFE_DeleteTensorHandle(sum);
}
