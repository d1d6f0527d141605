// Building graphs: nodes, their attributes, and every mistake that the builder knows.
#include <stdlib.h>

#include "graph.h"

TF_Output out(TF_Operation* oper, int index) {
  TF_Output o = {oper, index};
  return o;
}

static TF_Operation* finish(TF_OperationDescription* d) {
  TF_Operation* oper = NULL;
  OK(oper = TF_FinishOperation(d, s));
  CHECK(oper != NULL);
  return oper;
}

TF_Operation* placeholder(TF_Graph* g, const char* name, TF_DataType type, int rank, const int64_t* dims) {
  TF_OperationDescription* d = TF_NewOperation(g, "Placeholder", name);
  TF_SetAttrType(d, "dtype", type);
  TF_SetAttrShape(d, "shape", dims, rank);
  return finish(d);
}

TF_Operation* const_i(TF_Graph* g, const char* name, int rank, int n, const int32_t* values) {
  const int64_t dims[] = {n};
  TF_Tensor* t = new_tensor(TF_INT32, rank, dims, values, (size_t)n * sizeof *values);
  TF_OperationDescription* d = TF_NewOperation(g, "Const", name);
  OK(TF_SetAttrTensor(d, "value", t, s));
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_DeleteTensor(t);
  return finish(d);
}

TF_Operation* unary(TF_Graph* g, const char* op, const char* name, TF_Operation* a) {
  TF_OperationDescription* d = TF_NewOperation(g, op, name);
  TF_AddInput(d, out(a, 0));
  return finish(d);
}

TF_Operation* binary_op(TF_Graph* g, const char* op, const char* name, TF_Operation* a, TF_Operation* b) {
  TF_OperationDescription* d = TF_NewOperation(g, op, name);
  TF_AddInput(d, out(a, 0));
  TF_AddInput(d, out(b, 0));
  return finish(d);
}

void refused(TF_Graph* g, const char* op, const char* name, TF_Operation* a, TF_Operation* b, const char* text) {
  TF_OperationDescription* d = TF_NewOperation(g, op, name);
  TF_AddInput(d, out(a, 0));
  if (b) TF_AddInput(d, out(b, 0));
  TF_Operation* oper = NULL;
  EXPECT(TF_INVALID_ARGUMENT, text, oper = TF_FinishOperation(d, s));
  CHECK(oper == NULL);
  CHECK(TF_GraphOperationByName(g, name) == NULL);
}

bool has_shape(TF_Graph* g, TF_Operation* oper, int index, int rank, const int64_t* dims) {
  if (!oper) return false;
  TF_SetStatus(s, TF_OK, "");
  const int n = TF_GraphGetTensorNumDims(g, out(oper, index), s);
  int64_t got[16] = {0};
  if (n > 0 && n <= 16) TF_GraphGetTensorShape(g, out(oper, index), got, n, s);
  bool same = TF_GetCode(s) == TF_OK && n == rank;
  for (int i = 0; same && i < rank; ++i) same = got[i] == dims[i];
  if (!same) {
    printf("    %s:%d has rank %d [", TF_OperationName(oper), index, n);
    for (int i = 0; i < n; ++i) printf("%ld ", (long)got[i]);
    printf("] %s\n", TF_Message(s));
  }
  return same;
}

bool named(TF_Operation* oper, const char* name) { return oper && strcmp(TF_OperationName(oper), name) == 0; }

bool reads(TF_Operation* oper, int input, const char* name, int index) {
  if (!oper) return false;
  TF_Input in = {oper, input};
  TF_Output from = TF_OperationInput(in);
  return named(from.oper, name) && from.index == index;
}

int count_nodes(TF_Graph* g) {
  size_t pos = 0;
  int n = 0;
  while (TF_GraphNextOperation(g, &pos)) ++n;
  return n;
}

#define MATMUL                                                                                                                                    \
  "Op<name=MatMul; signature=a:T, b:T -> product:T; attr=transpose_a:bool,default=false; attr=transpose_b:bool,default=false; "                   \
  "attr=T:type,allowed=[DT_BFLOAT16, DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64, DT_COMPLEX64, " \
  "DT_COMPLEX128]; attr=grad_a:bool,default=false; attr=grad_b:bool,default=false>"
#define PLACEHOLDER "Op<name=Placeholder; signature= -> output:dtype; attr=dtype:type; attr=shape:shape,default=<unknown>>"

static const int64_t d23[] = {2, 3}, d55[] = {5, 5}, d3[] = {3}, d32[] = {3, 2}, dn3[] = {-1, 3}, d33[] = {3, 3};

static TF_OperationDescription* with_input(TF_Graph* g, const char* op, const char* name, TF_Operation* a, int index) {
  TF_OperationDescription* d = TF_NewOperation(g, op, name);
  TF_AddInput(d, out(a, index));
  return d;
}

void test_graph_mistakes(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 2, d23);
  TF_Operation* y = placeholder(g, "y", TF_FLOAT, 2, d55);
  TF_Operation* v = placeholder(g, "v", TF_FLOAT, 1, d3);
  TF_Operation* xi = placeholder(g, "xi", TF_INT32, 2, d23);
  TF_OperationDescription* d;
  EXPECT(TF_INVALID_ARGUMENT, "Op type not registered 'NoSuchOp' in binary running on ", TF_FinishOperation(TF_NewOperation(g, "NoSuchOp", "a"), s));
  CHECK(strstr(TF_Message(s), " while building NodeDef 'a'") != NULL);
  EXPECT(TF_INVALID_ARGUMENT, "NodeDef missing attr 'dtype' from " PLACEHOLDER "; NodeDef: {{node noattr}}",
         TF_FinishOperation(TF_NewOperation(g, "Placeholder", "noattr"), s));
  d = TF_NewOperation(g, "Placeholder", "kind");
  TF_SetAttrInt(d, "dtype", 1);
  EXPECT(TF_INVALID_ARGUMENT,
         "AttrValue had value with type 'int' when 'type' expected\n\t for attr 'dtype'\n\t; NodeDef: {{node kind}}; " PLACEHOLDER,
         TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "Placeholder", "twice");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrType(d, "dtype", TF_INT32);
  EXPECT(TF_INVALID_ARGUMENT, "Inconsistent values for attr 'dtype' DT_FLOAT vs. DT_INT32 while building NodeDef 'twice' using " PLACEHOLDER,
         TF_FinishOperation(d, s));
  static const struct {
    int type;
    const char* text;
  } types[] = {{77, "AttrValue has invalid DataType enum: 77\n\t for attr 'dtype'"},
               {0, "AttrValue has invalid DataType\n\t for attr 'dtype'"},
               {101, "AttrValue must not have reference type value of float_ref\n\t for attr 'dtype'"}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    d = TF_NewOperation(g, "Placeholder", "type");
    TF_SetAttrType(d, "dtype", (TF_DataType)types[i].type);
    EXPECT(TF_INVALID_ARGUMENT, types[i].text, TF_FinishOperation(d, s));
  }
  d = TF_NewOperation(g, "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  EXPECT(TF_INVALID_ARGUMENT, "Duplicate node name in graph: 'x'", TF_FinishOperation(d, s));
  // A name that the op does not know is kept.
  d = TF_NewOperation(g, "Placeholder", "further");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrInt(d, "further", 1);
  OK(TF_FinishOperation(d, s));

  // Inputs.
  refused(g, "MatMul", "m", x, xi, "Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32 while building NodeDef 'm' using " MATMUL);
  refused(g, "MatMul", "m", x, NULL, "1 inputs specified of 2 inputs in Op while building NodeDef 'm' using " MATMUL);
  refused(g, "Neg", "m", x, y, "More Input() calls than the 1 input_args while building NodeDef 'm' using Op<name=Neg; signature=x:T -> y:T; ");
  EXPECT(TF_INVALID_ARGUMENT, "Attempt to add output 1 of x not in range [0, 1) to node with type Neg. Node: {{node x}}",
         TF_FinishOperation(with_input(g, "Neg", "m", x, 1), s));
  EXPECT(TF_INVALID_ARGUMENT, "Attempt to add output -1 of x not in range [0, 1) to node with type Neg. Node: {{node x}}",
         TF_FinishOperation(with_input(g, "Neg", "m", x, -1), s));
  EXPECT(TF_INVALID_ARGUMENT, "Attempt to add nullptr Node to node with type Neg", TF_FinishOperation(with_input(g, "Neg", "m", NULL, 0), s));
  TF_Output two[] = {out(x, 0), out(y, 0)}, mixed[] = {out(x, 0), out(xi, 0)};
#define LIST(op, list, n, text)    \
  d = TF_NewOperation(g, op, "m"); \
  TF_AddInputList(d, list, n);     \
  EXPECT(TF_INVALID_ARGUMENT, text, TF_FinishOperation(d, s))
  LIST("Neg", two, 2, "List provided to input 'x' when single Tensor expected while building NodeDef 'm' using ");
  LIST("Pack", two, 0,
       "Value for attr 'N' of 0 must be at least minimum 1\n\t; NodeDef: {{node m}}; Op<name=Pack; signature=values:N*T -> output:T; "
       "attr=N:int,min=1; "
       "attr=T:type; attr=axis:int,default=0>");
  LIST("Pack", mixed, 2, "Input 'values' passed int32 expected float while building NodeDef 'm' using ");
  LIST("Pack", two, 2,
       "Dimension 0 in both shapes must be equal, but are 2 and 5. Shapes are [2,3] and [5,5].\n\tFrom merging shape 0 with other shapes. for "
       "'{{node m}} = Pack[N=2, T=DT_FLOAT, axis=0](x, y)' with input shapes: [2,3], [5,5].");
  refused(g, "Pack", "m", x, NULL, "Single tensor passed to 'values', expected list while building NodeDef 'm' using ");
  d = with_input(g, "Neg", "m", x, 0);
  TF_SetAttrType(d, "T", TF_INT32);
  EXPECT(TF_INVALID_ARGUMENT, "Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32 while building NodeDef 'm'", TF_FinishOperation(d, s));
  refused(g, "Invert", "m", x, NULL,
          "Value for attr 'T' of float is not in the list of allowed values: int8, int16, int32, int64, uint8, uint16, uint32, uint64\n\t; NodeDef: "
          "{{node m}}; "
          "Op<name=Invert; ");
  d = with_input(g, "MatMul", "m", x, 0);
  TF_AddInput(d, out(xi, 0));
  TF_AddInput(d, out(x, 0));
  EXPECT(TF_INVALID_ARGUMENT, "2 errors while building NodeDef 'm' using Op<name=MatMul; ", TF_FinishOperation(d, s));
  CHECK(strstr(TF_Message(s), ":\nInconsistent values for attr 'T' DT_FLOAT vs. DT_INT32\nMore Input() calls than the 2 input_args") != NULL);
  refused(g, "Conv2D", "m", x, y, "NodeDef missing attrs 'padding', 'strides' from Op<name=Conv2D; signature=input:T, filter:T -> output:T; ");
  refused(g, "Assign", "m", x, x,
          "Input 'ref' passed float expected ref type while building NodeDef 'm' using Op<name=Assign; signature=ref:Ref(T), value:T -> "
          "output_ref:Ref(T); "
          "attr=T:type; attr=validate_shape:bool,default=true; attr=use_locking:bool,default=true; allows_uninitialized_input=true>");
  EXPECT(TF_INVALID_ARGUMENT, "; is_commutative=true; is_aggregate=true>", TF_FinishOperation(TF_NewOperation(g, "AddN", "m"), s));
  EXPECT(TF_INVALID_ARGUMENT, "signature=args: -> output:; attr=Tin:list(type),min=0; ",
         TF_FinishOperation(TF_NewOperation(g, "PartitionedCall", "m"), s));
  EXPECT(TF_INVALID_ARGUMENT, "Op<name=ReadVariableOp; signature=resource:resource -> value:dtype; attr=dtype:type; is_stateful=true>",
         TF_FinishOperation(TF_NewOperation(g, "ReadVariableOp", "m"), s));

  // Shapes.
  refused(g, "MatMul", "m", x, y,
          "Dimensions must be equal, but are 3 and 5 for '{{node m}} = MatMul[T=DT_FLOAT, grad_a=false, grad_b=false, transpose_a=false, "
          "transpose_b=false](x, y)' with input shapes: [2,3], [5,5].");
  refused(g, "MatMul", "m", v, y,
          "Shape must be rank 2 but is rank 1 for '{{node m}} = MatMul[T=DT_FLOAT, grad_a=false, grad_b=false, transpose_a=false, "
          "transpose_b=false](v, y)' "
          "with input shapes: [3], [5,5].");
  refused(g, "Add", "m", x, y, "Dimensions must be equal, but are 2 and 5 for '{{node m}} = Add[T=DT_FLOAT](x, y)' with input shapes: [2,3], [5,5].");
  const int64_t ones[] = {1, 1, 1, 1};
  d = with_input(g, "Conv2D", "m", x, 0);
  TF_AddInput(d, out(y, 0));
  TF_SetAttrIntList(d, "strides", ones, 4);
  TF_SetAttrString(d, "padding", "SAME", 4);
  EXPECT(
      TF_INVALID_ARGUMENT,
      "Shape must be rank 4 but is rank 2 for '{{node m}} = Conv2D[T=DT_FLOAT, data_format=\"NHWC\", dilations=[1, 1, 1, 1], explicit_paddings=[], "
      "padding=\"SAME\", strides=[1, 1, 1, 1], use_cudnn_on_gpu=true](x, y)' with input shapes: [2,3], [5,5].",
      TF_FinishOperation(d, s));
  d = with_input(g, "Conv2D", "m", x, 0);
  TF_AddInput(d, out(y, 0));
  TF_SetAttrIntList(d, "strides", ones, 4);
  TF_SetAttrString(d, "padding", "FOO", 3);
  EXPECT(TF_INVALID_ARGUMENT,
         "Value for attr 'padding' of \"FOO\" is not in the list of allowed values: \"SAME\", \"VALID\", \"EXPLICIT\"\n\t; NodeDef: {{node m}}; ",
         TF_FinishOperation(d, s));
  CHECK(count_nodes(g) == 5);

  // What TensorFlow answers with a crash.
  NULLS {
    TF_Graph* other = TF_NewGraph();
    TF_Operation* z = placeholder(other, "z", TF_FLOAT, 2, d23);
    refused(g, "Neg", "foreign", z, NULL, "");
    d = with_input(g, "Neg", "foreign", x, 0);
    TF_AddControlInput(d, z);
    INVALID(TF_FinishOperation(d, s));
    d = with_input(g, "Neg", "nullcontrol", x, 0);
    TF_AddControlInput(d, NULL);
    INVALID(TF_FinishOperation(d, s));
    TF_DeleteGraph(other);
    d = with_input(g, "Neg", "once", x, 0);
    TF_ColocateWith(d, NULL);
    OK(TF_FinishOperation(d, s));
    EXPECT(TF_FAILED_PRECONDITION, "", TF_FinishOperation(d, s));
    TF_AddInput(d, out(x, 0));
    TF_SetAttrInt(d, "x", 1);
    INVALID(TF_FinishOperation(NULL, s));
    CHECK(TF_NewOperation(NULL, "Neg", "n") == NULL);
    CHECK(TF_NewOperation(g, NULL, "n") == NULL);
    CHECK(TF_NewOperation(g, "Neg", NULL) == NULL);
    TF_AddInput(NULL, out(x, 0));
    TF_AddInputList(NULL, two, 2);
    TF_AddControlInput(NULL, x);
    TF_SetDevice(NULL, "");
    TF_SetAttrInt(NULL, "a", 1);
    d = with_input(g, "Neg", "nulls", x, 0);
    TF_SetAttrInt(d, NULL, 1);
    TF_SetAttrString(d, "_a", NULL, 3);
    TF_SetAttrStringList(d, "_b", NULL, NULL, 3);
    TF_SetAttrShapeList(d, "_c", NULL, NULL, 3);
    TF_SetAttrShape(d, "_d", NULL, 3);
    TF_SetAttrIntList(d, "_e", NULL, 3);
    INVALID(TF_SetAttrTensor(d, "_f", NULL, s));
    INVALID(TF_SetAttrTensorList(d, "_f", NULL, 2, s));
    INVALID(TF_SetAttrValueProto(d, "_f", NULL, 2, s));
    INVALID(TF_SetAttrTensorShapeProto(d, "_f", NULL, 2, s));
    INVALID(TF_SetAttrTensorShapeProtoList(d, "_f", NULL, NULL, 2, s));
    OK(TF_FinishOperation(d, s));
    (void)TF_NewOperation(g, "Neg", "left open");
  }
  TF_DeleteGraph(g);
  NULLS TF_DeleteGraph(NULL);
}

void test_graph_shapes(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 2, d23);
  TF_Operation* y = placeholder(g, "y", TF_FLOAT, 2, d55);
  TF_Operation* w = placeholder(g, "w", TF_FLOAT, 2, dn3);
  TF_Operation* u = placeholder(g, "u", TF_FLOAT, -1, NULL);
  CHECK(has_shape(g, x, 0, 2, d23));
  CHECK(has_shape(g, w, 0, 2, dn3));
  CHECK(has_shape(g, u, 0, -1, NULL));
  const int32_t i32[] = {3, 2}, perm[] = {1, 0}, bad_perm[] = {1, 2}, open4[] = {-1, 4}, below[] = {-2, 3}, one[] = {1};
  TF_Operation* c32 = const_i(g, "c32", 1, 2, i32);
  TF_Operation* p = const_i(g, "perm", 1, 2, perm);
  CHECK(has_shape(g, binary_op(g, "Reshape", "re", x, c32), 0, 2, d32));
  CHECK(has_shape(g, binary_op(g, "Transpose", "tr", x, p), 0, 2, d32));
  refused(g, "Transpose", "m", x, const_i(g, "badperm", 1, 2, bad_perm),
          "perm dim 2 is out of range of input rank 2 for '{{node m}} = Transpose[T=DT_FLOAT, Tperm=DT_INT32](x, badperm)' with input shapes: [2,3], "
          "[2] and "
          "with computed input tensors: input[1] = <1 2>.");
  refused(g, "Reshape", "m", x, const_i(g, "open4", 1, 2, open4),
          "Dimension size must be evenly divisible by 4 but is 6 for '{{node m}} = Reshape[T=DT_FLOAT, Tshape=DT_INT32](x, open4)' with input "
          "shapes: [2,3], "
          "[2] and with input tensors computed as partial shapes: input[1] = [?,4].");
  refused(g, "Reshape", "m", x, const_i(g, "below", 1, 2, below), "Invalid value in tensor used for shape: -2");

  // Values that follow from constants and shapes.
  TF_Operation* shape_x = unary(g, "Shape", "shape_x", x);
  TF_Operation* sum = binary_op(g, "Add", "sum", shape_x, p);
  TF_Operation* value = const_i(g, "one", 0, 1, one);
  CHECK(has_shape(g, binary_op(g, "Fill", "fill", sum, value), 0, 2, d33));
  TF_Operation* shape_w = unary(g, "Shape", "shape_w", w);
  CHECK(has_shape(g, binary_op(g, "Fill", "fill_w", shape_w, value), 0, 2, dn3));
  CHECK(has_shape(g, binary_op(g, "Reshape", "re_u", u, shape_w), 0, 2, dn3));
  refused(
      g, "Reshape", "m", y, shape_w,
      "Dimension size must be evenly divisible by 3 but is 25 for '{{node m}} = Reshape[T=DT_FLOAT, Tshape=DT_INT32](y, shape_w)' with input shapes: "
      "[5,5], [2] and with input tensors computed as partial shapes: input[1] = [?,3].");
  TF_Tensor* t = NULL;
  CHECK(TF_TryEvaluateConstant(g, out(sum, 0), &t, s) == 1);
  if (CHECK(t && TF_TensorType(t) == TF_INT32 && TF_TensorElementCount(t) == 2))
    CHECK(((int32_t*)TF_TensorData(t))[0] == 3 && ((int32_t*)TF_TensorData(t))[1] == 3);
  if (t) TF_DeleteTensor(t);
  CHECK(TF_TryEvaluateConstant(g, out(shape_x, 0), &t, s) == 1);
  if (t) TF_DeleteTensor(t);
  t = NULL;
  OK(CHECK(TF_TryEvaluateConstant(g, out(x, 0), &t, s) == 0));
  OK(CHECK(TF_TryEvaluateConstant(g, out(shape_w, 0), &t, s) == 0));
  CHECK(t == NULL);

  // What the user knows better.
  const int64_t d4[] = {4};
  OK(TF_GraphSetTensorShape(g, out(u, 0), d3, 1, s));
  CHECK(has_shape(g, u, 0, 1, d3));
  EXPECT(TF_INVALID_ARGUMENT, "Shapes must be equal rank, but are 1 and 2", TF_GraphSetTensorShape(g, out(u, 0), d23, 2, s));
  EXPECT(TF_INVALID_ARGUMENT, "Dimension 0 in both shapes must be equal, but are 3 and 4. Shapes are [3] and [4].",
         TF_GraphSetTensorShape(g, out(u, 0), d4, 1, s));
  OK(TF_GraphSetTensorShape(g, out(x, 0), NULL, -1, s));
  CHECK(has_shape(g, x, 0, 2, d23));
  EXPECT(TF_INVALID_ARGUMENT, "output_port '5' is out of range, node 'x' has 1 outputs", TF_GraphSetTensorShape(g, out(x, 5), d3, 1, s));
  int64_t dims[4];
  EXPECT(TF_INVALID_ARGUMENT, "Expected rank is 3 but actual rank is 2", TF_GraphGetTensorShape(g, out(x, 0), dims, 3, s));
  TF_Graph* other = TF_NewGraph();
  TF_Operation* z = placeholder(other, "z", TF_FLOAT, 2, d23);
  EXPECT(TF_INVALID_ARGUMENT, "Node z was not found in the graph", TF_GraphGetTensorNumDims(g, out(z, 0), s));
  EXPECT(TF_INVALID_ARGUMENT, "Node z was not found in the graph", TF_GraphSetTensorShape(g, out(z, 0), d3, 1, s));

  // Variables tell what they hold.
  TF_OperationDescription* d = TF_NewOperation(g, "VarHandleOp", "var");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", d23, 2);
  TF_Operation* var = finish(d);
  d = with_input(g, "ReadVariableOp", "read", var, 0);
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  CHECK(has_shape(g, finish(d), 0, 2, d23));
  d = with_input(g, "ReadVariableOp", "m", var, 0);
  TF_SetAttrType(d, "dtype", TF_INT32);
  EXPECT(TF_INVALID_ARGUMENT,
         "Trying to read variable with wrong dtype. Expected float got int32 for '{{node m}} = ReadVariableOp[dtype=DT_INT32](var)' with input "
         "shapes: [].",
         TF_FinishOperation(d, s));
  TF_Buffer* handle = TF_GetHandleShapeAndType(g, out(var, 0));
  if (CHECK(handle != NULL)) {
    CHECK(handle->length == 18 && memcmp(handle->data, "\x08\x01\x12\x0e\x0a\x08\x12\x02\x08\x02\x12\x02\x08\x03\x10\x01\x22\x00", 18) == 0);
    TF_Operation* h = placeholder(g, "handle", TF_RESOURCE, 0, NULL);
    OK(TF_SetHandleShapeAndType(g, out(h, 0), handle->data, handle->length, s));
    d = with_input(g, "ReadVariableOp", "read_h", h, 0);
    TF_SetAttrType(d, "dtype", TF_FLOAT);
    CHECK(has_shape(g, finish(d), 0, 2, d23));
    TF_DeleteBuffer(handle);
  }
  CHECK(TF_GetHandleShapeAndType(g, out(x, 0)) == NULL);
  EXPECT(TF_INVALID_ARGUMENT, "Couldn't deserialize HandleData proto", TF_SetHandleShapeAndType(g, out(var, 0), "\xff\xff", 2, s));
  NULLS {
    INVALID(TF_GraphGetTensorNumDims(g, out(NULL, 0), s));
    INVALID(TF_GraphGetTensorNumDims(NULL, out(x, 0), s));
    INVALID(TF_GraphGetTensorNumDims(g, out(x, 1), s));
    INVALID(TF_GraphGetTensorNumDims(g, out(x, -1), s));
    INVALID(TF_GraphGetTensorShape(g, out(x, 0), NULL, 2, s));
    INVALID(TF_GraphSetTensorShape(g, out(x, 0), NULL, 2, s));
    INVALID(TF_GraphSetTensorShape(g, out(u, 0), dims, 300, s));
    INVALID(TF_TryEvaluateConstant(g, out(x, 3), &t, s));
    INVALID(TF_TryEvaluateConstant(g, out(x, 0), NULL, s));
    CHECK(TF_GetHandleShapeAndType(NULL, out(x, 0)) == NULL);
    CHECK(TF_GetHandleShapeAndType(g, out(z, 0)) == NULL);
    INVALID(TF_SetHandleShapeAndType(g, out(NULL, 0), "", 0, s));
  }
  TF_DeleteGraph(other);
  TF_DeleteGraph(g);
}
