// Functions made of graphs: names, bodies, control outputs, attributes, and the library of a graph.
#include "graph.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

static const int64_t d23[] = {2, 3}, d55[] = {5, 5};

// Text of a function's message; valid until the next call.
static bool function_holds(TF_Function* f, const char* text) {
  if (!f) return false;
  TF_Buffer* b = TF_NewBuffer();
  TF_SetStatus(s, TF_OK, "");
  TF_FunctionToFunctionDef(f, b, s);
  const bool found = TF_GetCode(s) == TF_OK && holds_bytes(b->data, b->length, text);
  TF_DeleteBuffer(b);
  return found;
}

typedef struct {
  TF_Graph* graph;
  TF_Operation *a, *b, *add, *mul, *nop;
} Body;

// mul = (A + b) * A, and a NoOp after the sum.
static Body new_body(void) {
  Body f;
  f.graph = TF_NewGraph();
  f.a = placeholder(f.graph, "A", TF_FLOAT, 2, d23);
  f.b = placeholder(f.graph, "B-x/y", TF_FLOAT, 2, d23);
  f.add = binary_op(f.graph, "Add", "add", f.a, f.b);
  f.mul = binary_op(f.graph, "Mul", "Mul", f.add, f.a);
  TF_OperationDescription* d = TF_NewOperation(f.graph, "NoOp", "Nop");
  TF_AddControlInput(d, f.add);
  OK(f.nop = TF_FinishOperation(d, s));
  return f;
}

static TF_Function* make(const Body* f, int num_opers, TF_Operation** opers, int ninputs, const TF_Output* inputs, int noutputs,
                         const TF_Output* outputs, const char* const* names) {
  return TF_GraphToFunction(f->graph, "fn", 0, num_opers, (const TF_Operation* const*)opers, ninputs, inputs, noutputs, outputs, names, NULL, NULL,
                            s);
}

void test_functions(void) {
  Body f = new_body();
  TF_Output inputs[] = {out(f.a, 0), out(f.b, 0)}, same[] = {out(f.a, 0), out(f.a, 0)}, bad[] = {out(f.a, 3)};
  TF_Output outputs[] = {out(f.mul, 0), out(f.mul, 0)}, inner[] = {out(f.add, 0), out(f.a, 0)};
  TF_Function* fn = NULL;
  OK(fn = TF_GraphToFunction(f.graph, "f", 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, "text", s));
  if (!CHECK(fn != NULL)) return;
  CHECK(strcmp(TF_FunctionName(fn), "f") == 0);
  // The signature, the two nodes, and what comes out.
  CHECK(function_holds(fn,
                       "\x0a\x01"
                       "f\x12\x05\x0a\x01"
                       "a\x18\x01\x12\x09\x0a\x05"
                       "b_x_y\x18\x01\x1a\x07\x0a\x03mul\x18\x01\x32\x04text"));
  CHECK(function_holds(fn,
                       "\x0a\x03"
                       "add\x12\x03"
                       "Add\x1a\x01"
                       "a\x1a\x05"
                       "b_x_y"));
  CHECK(function_holds(fn,
                       "\x0a\x03Mul\x12\x03Mul\x1a\x07"
                       "add:z:0\x1a\x01"
                       "a"));
  CHECK(function_holds(fn, "\x0a\x03mul\x12\x07Mul:z:0"));
  CHECK(function_holds(fn, "_output_shapes"));
  TF_Function* hashed = NULL;
  OK(hashed = TF_GraphToFunction(f.graph, "f", 1, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));
  CHECK(hashed && strncmp(TF_FunctionName(hashed), "f_", 2) == 0 && strlen(TF_FunctionName(hashed)) == 13);

  TF_Function* g = NULL;
  const char *result[] = {"Result"}, *twice[] = {"r", "r"};
  OK(g = make(&f, -1, NULL, 2, inputs, 1, outputs, result));
  CHECK(function_holds(g, "\x0a\x06Result\x12\x07Mul:z:0"));
  TF_DeleteFunction(g);
  OK(g = make(&f, -1, NULL, 2, inputs, 2, outputs, NULL));
  CHECK(function_holds(g, "\x0a\x03mul\x18\x01\x1a\x09\x0a\x05mul_0\x18\x01"));
  TF_DeleteFunction(g);
  OK(g = make(&f, -1, NULL, 1, inputs, 1, outputs, NULL));  // the other placeholder stays in the body
  CHECK(function_holds(g, "B-x/y:output:0"));
  TF_DeleteFunction(g);
  TF_Operation *mul_only[] = {f.mul}, *reversed[] = {f.mul, f.add}, *without_mul[] = {f.a, f.add};
  OK(g = make(&f, 1, mul_only, 2, inner, 1, outputs, NULL));
  CHECK(function_holds(g,
                       "\x0a\x03Mul\x12\x03Mul\x1a\x03"
                       "add\x1a\x01"
                       "a") &&
        !function_holds(g,
                        "\x12\x03"
                        "Add"));
  TF_DeleteFunction(g);
  OK(g = make(&f, 2, reversed, 2, inputs, 1, outputs, NULL));
  TF_DeleteFunction(g);
  OK(g = make(&f, 0, NULL, 2, inputs, 1, inputs, NULL));  // nothing but arguments; the output's name comes first
  CHECK(function_holds(g,
                       "\x0a\x01"
                       "a\x12\x03"
                       "a_0"));
  TF_DeleteFunction(g);
  EXPECT(TF_INVALID_ARGUMENT, "Cannot have duplicate output names. Name 'r' appears more than once in 'output_names' array.",
         g = make(&f, -1, NULL, 2, inputs, 2, outputs, twice));
  CHECK(g == NULL);
  EXPECT(TF_INVALID_ARGUMENT, "TF_Output A:0 appears more than once in the input list", make(&f, -1, NULL, 2, same, 1, outputs, NULL));
  EXPECT(TF_OUT_OF_RANGE,
         "Node 'A' (type: 'Placeholder', num of outputs: 1) does not have output 3\n\tEncountered while processing input 0 into function 'fn'",
         make(&f, -1, NULL, 1, bad, 1, outputs, NULL));
  EXPECT(TF_OUT_OF_RANGE, "does not have output 3\n\tEncountered while processing output 0 from function 'fn'",
         make(&f, -1, NULL, 2, inputs, 1, bad, NULL));
  EXPECT(TF_INVALID_ARGUMENT,
         "Input 0, 'add:0', of node 'Mul' in function 'fn' is not available. You might need to include it in inputs or include its source node in "
         "the body",
         make(&f, 1, mul_only, 2, inputs, 1, outputs, NULL));
  EXPECT(TF_INVALID_ARGUMENT, "TF_Output Mul:0 is neither in the function body nor among function inputs. Encountered while creating function 'fn'",
         make(&f, 2, without_mul, 2, inputs, 1, outputs, NULL));

  // Nodes that must run.
  const TF_Operation* controls[] = {f.nop, f.nop};
  const char *control[] = {"Ctl"}, *repeated[] = {"c", "c"};
#define CONTROLS(num_opers, opers, n, names)                                                                                                     \
  TF_GraphToFunctionWithControlOutputs(f.graph, "fc", 0, num_opers, (const TF_Operation* const*)opers, 2, inputs, 1, outputs, NULL, n, controls, \
                                       names, NULL, NULL, s)
  OK(g = CONTROLS(-1, NULL, 1, NULL));
  CHECK(function_holds(g, "2\x0a\x0a\x03Nop\x12\x03Nop") && function_holds(g, "\xa2\x01\x03Nop"));
  TF_DeleteFunction(g);
  OK(g = CONTROLS(-1, NULL, 1, control));
  CHECK(function_holds(g,
                       "2\x0a\x0a\x03"
                       "Ctl\x12\x03Nop"));
  TF_DeleteFunction(g);
  EXPECT(TF_INVALID_ARGUMENT, "Repeated control output name: c", CONTROLS(-1, NULL, 2, repeated));
  EXPECT(TF_INVALID_ARGUMENT, "Control output node name must be not empty", CONTROLS(2, reversed, 1, control));

  // State and references.
  TF_Graph* state = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(state, "VarHandleOp", "v");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", d23, 2);
  TF_Operation *v = NULL, *read = NULL, *ref = NULL;
  OK(v = TF_FinishOperation(d, s));
  d = TF_NewOperation(state, "ReadVariableOp", "read");
  TF_AddInput(d, out(v, 0));
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  OK(read = TF_FinishOperation(d, s));
  TF_Output handle[] = {out(v, 0)}, value[] = {out(read, 0)};
  OK(g = TF_GraphToFunction(state, "r", 0, -1, NULL, 1, handle, 1, value, NULL, NULL, NULL, s));
  CHECK(function_holds(g, "\x0a\x01v\x18\x14") && function_holds(g, "\x88\x01\x01") && !function_holds(g, "_output_shapes"));
  TF_DeleteFunction(g);
  d = TF_NewOperation(state, "VariableV2", "ref");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", d23, 2);
  OK(ref = TF_FinishOperation(d, s));
  TF_Output refs[] = {out(ref, 0)};
  EXPECT(TF_INVALID_ARGUMENT, "Output 0 of node 'ref' has a reference type float_ref\n\tEncountered while processing input 0 into function 'r'",
         TF_GraphToFunction(state, "r", 0, -1, NULL, 1, refs, 0, NULL, NULL, NULL, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Output 0 of node 'ref' has a reference type float_ref\n\tEncountered while creating function 'r'",
         TF_GraphToFunction(state, "r", 0, -1, NULL, 0, NULL, 1, refs, NULL, NULL, NULL, s));

  // Attributes and messages.
  OK(TF_FunctionSetAttrValueProto(fn, "_noinline", "\x28\x01", 2, s));
  TF_Buffer* b = TF_NewBuffer();
  OK(TF_FunctionGetAttrValueProto(fn, "_noinline", b, s));
  CHECK(b->length == 2 && memcmp(b->data, "\x28\x01", 2) == 0);
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  EXPECT(TF_INVALID_ARGUMENT, "Function 'f' has no attr named 'none'.", TF_FunctionGetAttrValueProto(fn, "none", b, s));
  EXPECT(TF_INVALID_ARGUMENT, "Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto",
         TF_FunctionSetAttrValueProto(fn, "x", "\xff\xff", 2, s));
  OK(TF_FunctionToFunctionDef(fn, b, s));
  OK(g = TF_FunctionImportFunctionDef(b->data, b->length, s));
  CHECK(g && strcmp(TF_FunctionName(g), "f") == 0 && function_holds(g, "_noinline"));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid FunctionDef given to TF_FunctionImportFunctionDef", TF_FunctionImportFunctionDef("\xff\xff", 2, s));

  // The library of a graph, and calls of what is in it.
  TF_Graph* user = TF_NewGraph();
  OK(TF_GraphCopyFunction(user, fn, hashed, s));
  OK(TF_GraphCopyFunction(user, g, NULL, s));
  CHECK(TF_GraphNumFunctions(user) == 2);
  EXPECT(TF_INVALID_ARGUMENT, "Cannot assign gradient function 'f' to 'f' because it already has gradient function 'f_",
         TF_GraphCopyFunction(user, fn, fn, s));
  EXPECT(TF_INVALID_ARGUMENT, "'func' argument to TF_GraphCopyFunction cannot be null", TF_GraphCopyFunction(user, NULL, fn, s));
  TF_DeleteFunction(g);
  OK(g = TF_GraphToFunction(f.graph, "f", 0, -1, NULL, 2, inputs, 1, inputs, NULL, NULL, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Cannot add function 'f' because a different function with the same name already exists.",
         TF_GraphCopyFunction(user, g, NULL, s));
  TF_DeleteFunction(g);
  TF_Function* all[4] = {NULL, NULL, NULL, NULL};
  OK(CHECK(TF_GraphGetFunctions(user, all, 4, s) == 2));
  CHECK(all[0] && all[1] && strcmp(TF_FunctionName(all[0]), TF_FunctionName(all[1])) != 0);
  TF_DeleteFunction(all[0]);
  TF_DeleteFunction(all[1]);
  OK(CHECK(TF_GraphGetFunctions(user, all, 1, s) == 1));
  TF_DeleteFunction(all[0]);
  TF_Operation* x = placeholder(user, "x", TF_FLOAT, 2, d23);
  TF_Operation* y = placeholder(user, "y", TF_FLOAT, 2, d55);
  TF_Operation* call = binary_op(user, "f", "call", x, x);
  CHECK(strcmp(TF_OperationOpType(call), "f") == 0 && has_shape(user, call, 0, 2, d23));
  refused(user, "f", "call2", x, y,
          "Dimensions must be equal, but are 2 and 5 for '{{node add}} = Add[T=DT_FLOAT](a, b_x_y)' with input shapes: [2,3], [5,5].");
  const TF_DataType floats_[] = {TF_FLOAT};
  TF_Output pair[] = {out(x, 0), out(x, 0)};
  d = TF_NewOperation(user, "PartitionedCall", "pcall");
  TF_AddInputList(d, pair, 2);
  TF_SetAttrTypeList(d, "Tout", floats_, 1);
  TF_SetAttrFuncName(d, "f", "f", 1);
  OK(call = TF_FinishOperation(d, s));
  CHECK(has_shape(user, call, 0, 2, d23));
  d = TF_NewOperation(user, "PartitionedCall", "unknown");  // a function that comes later
  TF_AddInputList(d, pair, 1);
  TF_SetAttrTypeList(d, "Tout", floats_, 1);
  TF_SetAttrFuncName(d, "f", "nope", 4);
  OK(call = TF_FinishOperation(d, s));
  CHECK(has_shape(user, call, 0, -1, NULL));
  d = TF_NewOperation(user, "PartitionedCall", "few");
  TF_AddInputList(d, pair, 1);
  TF_SetAttrTypeList(d, "Tout", floats_, 1);
  TF_SetAttrFuncName(d, "f", "f", 1);
  EXPECT(TF_INTERNAL, "Function instantiation included invalid input index: 1 not in [0, 1).", TF_FinishOperation(d, s));

  // A copy of the graph brings its functions along.
  TF_Buffer* def = TF_NewBuffer();
  OK(TF_GraphToGraphDef(user, def, s));
  TF_Graph* copy = TF_NewGraph();
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  OK(TF_GraphImportGraphDef(copy, def, options, s));
  CHECK(TF_GraphNumFunctions(copy) == 2 && has_shape(copy, TF_GraphOperationByName(copy, "call"), 0, 2, d23));
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  TF_DeleteGraph(copy);

  EXPECT(TF_INVALID_ARGUMENT, "Tried to remove non-existent function 'nope'.", TF_GraphRemoveFunction(user, "nope", s));
  OK(TF_GraphRemoveFunction(user, "f", s));
  CHECK(TF_GraphNumFunctions(user) == 1);
  NULLS {
    INVALID(TF_GraphToFunction(NULL, "f", 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));
    INVALID(TF_GraphToFunction(f.graph, NULL, 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));
    INVALID(TF_GraphToFunction(f.graph, "f", 0, 2, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));
    INVALID(TF_GraphToFunction(f.graph, "f", 0, -1, NULL, 2, NULL, 1, outputs, NULL, NULL, NULL, s));
    INVALID(TF_GraphToFunction(user, "f", 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));  // another graph's nodes
    TF_Output none[] = {out(NULL, 0)};
    INVALID(TF_GraphToFunction(f.graph, "f", 0, -1, NULL, 1, none, 1, outputs, NULL, NULL, NULL, s));
    CHECK(TF_FunctionName(NULL) == NULL && TF_GraphNumFunctions(NULL) == 0);
    INVALID(TF_GraphCopyFunction(NULL, fn, NULL, s));
    INVALID(TF_GraphGetFunctions(user, NULL, 1, s));
    INVALID(TF_FunctionToFunctionDef(NULL, b, s));
    INVALID(TF_FunctionImportFunctionDef(NULL, 2, s));
    INVALID(TF_FunctionSetAttrValueProto(fn, NULL, "", 0, s));
    INVALID(TF_FunctionGetAttrValueProto(NULL, "a", b, s));
    INVALID(TF_GraphRemoveFunction(user, NULL, s));
    TF_DeleteFunction(NULL);
    INVALID(TF_AddGradients(NULL, NULL, 0, NULL, 0, NULL, s, NULL));
    INVALID(TF_AddGradients(user, NULL, 1, NULL, 0, NULL, s, NULL));
    // The gradient of a * b in a has the shape of a; an input that the output does not depend on is an error.
    TF_Output product = out(f.mul, 0), a = out(f.a, 0), grad = out(NULL, 0), stray = out(placeholder(f.graph, "stray", TF_FLOAT, 0, NULL), 0);
    TF_AddGradients(f.graph, &product, 1, &a, 1, NULL, s, &grad);
    CHECK(TF_GetCode(s) == TF_OK && grad.oper && TF_GraphGetTensorNumDims(f.graph, grad, s) == 2);
    INVALID(TF_AddGradients(f.graph, &product, 1, &stray, 1, NULL, s, &grad));
  }
  TF_DeleteBuffer(b);
  TF_DeleteFunction(fn);
  TF_DeleteFunction(hashed);
  TF_DeleteGraph(user);
  TF_DeleteGraph(state);
  TF_DeleteGraph(f.graph);
}

void test_eager_functions(void) {
  Body f = new_body();
  TF_Output inputs[] = {out(f.a, 0), out(f.b, 0)}, outputs[] = {out(f.mul, 0)};
  TF_Function *fn = NULL, *other = NULL;
  OK(fn = TF_GraphToFunction(f.graph, "f", 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));
  OK(other = TF_GraphToFunction(f.graph, "f", 0, -1, NULL, 2, inputs, 1, inputs, NULL, NULL, NULL, s));
  TFE_Context* c = new_context(NULL, 0, false);
  CHECK(!TFE_ContextHasFunction(c, "f"));
  OK(TFE_ContextAddFunction(c, fn, s));
  CHECK(TFE_ContextHasFunction(c, "f"));
  EXPECT(TF_INVALID_ARGUMENT,
         "Attempting to add a duplicate function with name: f where the previous and current definitions differ. Previous definition: ",
         TFE_ContextAddFunction(c, other, s));
  TF_Buffer* b = TF_NewBuffer();
  OK(TFE_ContextGetFunctionDef(c, "f", b, s));
  CHECK(holds_bytes(b->data, b->length, "Mul:z:0"));
  OK(TFE_ContextAddFunctionDef(c, b->data, b->length, s));  // the second time
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  EXPECT(TF_NOT_FOUND, "Unable to find FunctionDef with name: nope", TFE_ContextGetFunctionDef(c, "nope", b, s));
  TF_DeleteBuffer(b);
  TF_Function* found = NULL;
  OK(found = TFE_ContextGetFunction(c, "f", s));
  CHECK(found && strcmp(TF_FunctionName(found), "f") == 0);
  TF_DeleteFunction(found);
  EXPECT(TF_NOT_FOUND, "Unable to find Function with name: nope", found = TFE_ContextGetFunction(c, "nope", s));
  CHECK(found == NULL);
  EXPECT(TF_INVALID_ARGUMENT, "Invalid FunctionDef proto", TFE_ContextAddFunctionDef(c, "\xff\xff", 2, s));

  const int64_t d23_[] = {2, 3};
  const float ones[] = {1, 2, 3, 4, 5, 6}, want[] = {2, 8, 18, 32, 50, 72};
  TF_Tensor* t = new_tensor(TF_FLOAT, 2, d23_, ones, sizeof ones);
  TFE_TensorHandle* x = NULL;
  OK(x = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  TFE_TensorHandle* y = binary(c, "f", x, x);
  CHECK(handle_is(y, 6, want));
  if (y) TFE_DeleteTensorHandle(y);

  OK(TFE_ContextRemoveFunction(c, "f", s));
  CHECK(TFE_ContextHasFunction(c, "f"));  // it was added twice
  OK(TFE_ContextRemoveFunction(c, "f", s));
  CHECK(!TFE_ContextHasFunction(c, "f"));
  EXPECT(TF_INVALID_ARGUMENT, "Tried to remove non-existent function 'f'.", TFE_ContextRemoveFunction(c, "f", s));
  OK(TFE_ContextAddFunction(c, other, s));  // another one under the name
  y = binary(c, "f", x, x);
  CHECK(handle_is(y, 6, ones));
  if (y) TFE_DeleteTensorHandle(y);
  NULLS {
    INVALID(TFE_ContextAddFunction(NULL, fn, s));
    INVALID(TFE_ContextAddFunction(c, NULL, s));
    INVALID(TFE_ContextAddFunctionDef(c, NULL, 4, s));
    INVALID(TFE_ContextRemoveFunction(c, NULL, s));
    INVALID(TFE_ContextGetFunctionDef(c, "f", NULL, s));
    INVALID(TFE_ContextGetFunction(NULL, "f", s));
    CHECK(!TFE_ContextHasFunction(NULL, "f") && !TFE_ContextHasFunction(c, NULL));
  }
  TFE_DeleteTensorHandle(x);
  TFE_DeleteContext(c);
  TF_DeleteFunction(fn);
  TF_DeleteFunction(other);
  TF_DeleteGraph(f.graph);
}

static bool op_def_holds(TF_FunctionLibraryDefinition* l, const char* name, const char* text) {
  TF_Buffer* b = TF_NewBuffer();
  OK(TF_LookUpOpDef(l, name, b, s));
  const bool found = holds_bytes(b->data, b->length, text);
  TF_DeleteBuffer(b);
  return found;
}

// The functions of a GraphDef, looked up beside the ops.
void test_function_library(void) {
  Body f = new_body();
  TF_Output inputs[] = {out(f.a, 0), out(f.b, 0)}, outputs[] = {out(f.mul, 0)};
  TF_Function* fn = NULL;
  OK(fn = TF_GraphToFunction(f.graph, "of_library", 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, s));
  TF_Graph* g = TF_NewGraph();
  OK(TF_GraphCopyFunction(g, fn, NULL, s));
  TF_Buffer *def = TF_NewBuffer(), *b = TF_NewBuffer();
  OK(TF_GraphToGraphDef(g, def, s));
  TF_FunctionLibraryDefinition* l = NULL;
  OK(l = TF_NewFunctionLibraryDefinition(def, s));
  TF_DeleteBuffer(def);  // the library keeps what it needs
  if (CHECK(l != NULL)) {
    CHECK(op_def_holds(l, "of_library", "b_x_y"));
    CHECK(op_def_holds(l, "MatMul", "transpose_a"));
    EXPECT(TF_NOT_FOUND, "Op type not registered 'NoSuchOp'", TF_LookUpOpDef(l, "NoSuchOp", b, s));
  }
  TF_Buffer* bad = TF_NewBufferFromString("\xff\xff", 2);
  INVALID(CHECK(TF_NewFunctionLibraryDefinition(bad, s) == NULL));
  TF_DeleteBuffer(bad);
  NULLS {
    INVALID(CHECK(TF_NewFunctionLibraryDefinition(NULL, s) == NULL));
    INVALID(TF_LookUpOpDef(NULL, "MatMul", b, s));
    INVALID(TF_LookUpOpDef(l, NULL, b, s));
    INVALID(TF_LookUpOpDef(l, "MatMul", NULL, s));
    TF_DeleteFunctionLibraryDefinition(NULL);
  }
  TF_DeleteFunctionLibraryDefinition(l);
  TF_DeleteBuffer(b);
  TF_DeleteGraph(g);
  TF_DeleteFunction(fn);
  TF_DeleteGraph(f.graph);
}

// The switches of the compiler keep what they are told.
void test_compiler_switches(void) {
  CHECK(TF_SetXlaEnableLazyCompilation(0) == 1);
  CHECK(TF_SetXlaEnableLazyCompilation(1) == 0);
  CHECK(TF_SetTfXlaCpuGlobalJit(1) == 0);
  CHECK(TF_SetTfXlaCpuGlobalJit(0) == 1);
  CHECK(TF_GetXlaAutoJitEnabled() == 0);
  TF_SetXlaAutoJitMode("2");
  CHECK(TF_GetXlaAutoJitEnabled() == 1);
  TF_SetXlaAutoJitMode("0");
  CHECK(TF_GetXlaAutoJitEnabled() == 0);
  CHECK(TF_GetXlaConstantFoldingDisabled() == 0);
  TF_SetXlaConstantFoldingDisabled(1);
  CHECK(TF_GetXlaConstantFoldingDisabled() == 1);
  TF_SetXlaConstantFoldingDisabled(0);
  TF_SetXlaMinClusterSize(4);
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_EnableXLACompilation(o, 1);
  TF_EnableXLACompilation(o, 0);
  TF_DeleteSessionOptions(o);
}
