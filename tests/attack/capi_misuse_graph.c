// Graphs: nodes of other graphs in every function that takes one, objects that are freed twice, indices and lengths.
#include "capi_misuse.h"

static Small a, b;

static void two_graphs(void) {
  a = small_graph(3, 0);
  b = small_graph(5, 20);
}

// ---- building ----

static void finish_neg_of(TF_Output in) {
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Neg", "mixed");
  TF_AddInput(d, in);
  ASK(TF_FinishOperation(d, s));
}
static void input_of_other_graph(void) {
  two_graphs();
  finish_neg_of((TF_Output){b.x, 0});
}
static void input_index(void) {
  two_graphs();
  finish_neg_of((TF_Output){a.x, 1});
  finish_neg_of((TF_Output){a.x, -1});
}
static void input_null(void) {
  two_graphs();
  finish_neg_of((TF_Output){NULL, 0});
}
static void input_list_of_other_graph(void) {
  two_graphs();
  TF_Output list[] = {{a.x, 0}, {b.x, 0}};
  TF_OperationDescription* d = TF_NewOperation(a.graph, "AddN", "mixed");
  TF_AddInputList(d, list, 2);
  ASK(TF_FinishOperation(d, s));
}
static void input_list_negative(void) {
  two_graphs();
  TF_Output list[] = {{a.x, 0}};
  TF_OperationDescription* d = TF_NewOperation(a.graph, "AddN", "negative");
  TF_AddInputList(d, list, -1);
  ASK(TF_FinishOperation(d, s));
}
static void input_list_null(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "AddN", "null");
  TF_AddInputList(d, NULL, 2);
  ASK(TF_FinishOperation(d, s));
}
static void control_of_other_graph(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "mixed");
  TF_AddControlInput(d, b.c);
  ASK(TF_FinishOperation(d, s));
}
static void control_null(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "mixed");
  TF_AddControlInput(d, NULL);
  ASK(TF_FinishOperation(d, s));
}
static void colocate_with_other_graph(void) {
  two_graphs();
  TF_Operation* only = constant(b.graph, "only", 1);
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "mixed");
  TF_ColocateWith(d, only);
  ASK(TF_FinishOperation(d, s));
}
static void finish_twice(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "once");
  ASK(TF_FinishOperation(d, s));
  ASK(TF_FinishOperation(d, s));
}
static void set_after_finish(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "once");
  ASK(TF_FinishOperation(d, s));
  TF_AddInput(d, (TF_Output){a.x, 0});
  TF_SetAttrInt(d, "k", 1);
  TF_SetDevice(d, "/cpu:0");
  TF_AddControlInput(d, a.x);
  ASK(TF_FinishOperation(d, s));
}
static void too_many_inputs(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Neg", "many");
  TF_AddInput(d, (TF_Output){a.x, 0});
  TF_AddInput(d, (TF_Output){a.x, 0});
  ASK(TF_FinishOperation(d, s));
}
static void too_few_inputs(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Mul", "few");
  TF_AddInput(d, (TF_Output){a.x, 0});
  ASK(TF_FinishOperation(d, s));
}
static void unknown_op(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoSuchOp", "n1");
  TF_AddInput(d, (TF_Output){a.x, 0});
  ASK(TF_FinishOperation(d, s));
}
static void bad_name(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "a name with spaces");
  ASK(TF_FinishOperation(d, s));
  d = TF_NewOperation(a.graph, "NoOp", "");
  ASK(TF_FinishOperation(d, s));
}
static void name_twice(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "c");
  ASK(TF_FinishOperation(d, s));
}
static void attr_type_unknown(void) {
  two_graphs();
  const int values[] = {9999, -1, 24, 0, 101, 2147483647};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    char name[8];
    snprintf(name, sizeof name, "t%d", (int)i);
    TF_OperationDescription* d = TF_NewOperation(a.graph, "Placeholder", name);
    TF_SetAttrType(d, "dtype", (TF_DataType)values[i]);
    ASK(TF_FinishOperation(d, s));
  }
}
static void attr_type_list_unknown(void) {
  two_graphs();
  const TF_DataType types[] = {TF_FLOAT, (TF_DataType)9999};
  TF_OperationDescription* d = TF_NewOperation(a.graph, "FIFOQueueV2", "q");
  TF_SetAttrTypeList(d, "component_types", types, 2);
  ASK(TF_FinishOperation(d, s));
}
static void attr_of_other_kind(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Placeholder", "q");
  TF_SetAttrInt(d, "dtype", 1);
  ASK(TF_FinishOperation(d, s));
}
static void attr_shape_wrong(void) {
  two_graphs();
  const int64_t dims[] = {-7, 3};
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Placeholder", "p1");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", dims, 2);
  ASK(TF_FinishOperation(d, s));
  const int64_t huge[] = {INT64_MAX, INT64_MAX};
  d = TF_NewOperation(a.graph, "Placeholder", "p2");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", huge, 2);
  ASK(TF_FinishOperation(d, s));
}
static void attr_shape_rank(void) {
  two_graphs();
  int64_t dims[300];
  for (int i = 0; i < 300; ++i) dims[i] = 1;
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Placeholder", "q");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", dims, 300);
  ASK(TF_FinishOperation(d, s));
}
static void attr_value_junk(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Placeholder", "q");
  ASK(TF_SetAttrValueProto(d, "dtype", "\xff\xff", 2, s));
  ASK(TF_SetAttrTensorShapeProto(d, "shape", "\xff", 1, s));
  const void* protos[] = {"\xff"};
  const size_t lengths[] = {1};
  ASK(TF_SetAttrTensorShapeProtoList(d, "shape", protos, lengths, 1, s));
}
static void const_without_value(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Const", "k");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  ASK(TF_FinishOperation(d, s));
}
static void const_of_other_type(void) {
  two_graphs();
  TF_Tensor* t = scalar(1);
  TF_OperationDescription* d = TF_NewOperation(a.graph, "Const", "k");
  TF_SetAttrType(d, "dtype", TF_INT32);
  ASK(TF_SetAttrTensor(d, "value", t, s));
  ASK(TF_FinishOperation(d, s));
}
static void device_wrong(void) {
  two_graphs();
  TF_OperationDescription* d = TF_NewOperation(a.graph, "NoOp", "k");
  TF_SetDevice(d, "not a device!");
  ASK(TF_FinishOperation(d, s));
}

// ---- reading ----

static void output_type_index(void) {
  two_graphs();
  TELL("%d", (int)TF_OperationOutputType((TF_Output){a.c, 0}));
}
static void output_type_index_out(void) {
  two_graphs();
  TELL("%d", (int)TF_OperationOutputType((TF_Output){a.c, 5}) >= 0);
}
static void input_type_index_out(void) {
  two_graphs();
  TELL("%d", (int)TF_OperationInputType((TF_Input){a.n, 5}) >= 0);
}
static void input_index_out(void) {
  two_graphs();
  TELL("%d", TF_OperationInput((TF_Input){a.n, 5}).oper == NULL);
}
static void list_lengths(void) {
  two_graphs();
  ASK(TF_OperationOutputListLength(a.split, "no such", s));
  ASK(TF_OperationInputListLength(a.split, "no such", s));
  TELL("%d", TF_OperationOutputListLength(a.split, "output", s));
  TELL("%d", TF_OperationInputListLength(a.split, "value", s));
}
static void small_buffers(void) {
  two_graphs();
  TF_Output in[1] = {{NULL, 42}};
  TF_OperationAllInputs(a.n, in, 0);
  TELL("%d", in[0].index);
  TF_OperationAllInputs(a.n, in, -1);
  TELL("%d", in[0].index);
  TF_Input consumers[2] = {{NULL, 7}, {NULL, 7}};
  TELL("%d", TF_OperationOutputConsumers((TF_Output){a.x, 0}, consumers, 0));
  TELL("%d", consumers[0].index);
  TELL("%d", TF_OperationOutputConsumers((TF_Output){a.x, 0}, consumers, 1));
  TELL("%d", consumers[1].index);
  TELL("%d", TF_OperationOutputConsumers((TF_Output){a.x, 9}, consumers, 2));
  TELL("%d", TF_OperationOutputNumConsumers((TF_Output){a.x, 9}));
}
static void attr_wrong(void) {
  two_graphs();
  int64_t i = 0;
  float f = 0;
  TF_DataType t = 0;
  TF_Tensor* tensor = NULL;
  TF_Buffer* buffer = TF_NewBuffer();
  ASK(TF_OperationGetAttrInt(a.c, "no such", &i, s));
  ASK(TF_OperationGetAttrInt(a.c, "dtype", &i, s));
  ASK(TF_OperationGetAttrFloat(a.c, "dtype", &f, s));
  ASK(TF_OperationGetAttrType(a.c, "value", &t, s));
  ASK(TF_OperationGetAttrTensor(a.c, "dtype", &tensor, s));
  ASK(TF_OperationGetAttrIntList(a.c, "dtype", &i, 1, s));
  ASK(TF_OperationGetAttrTypeList(a.c, "dtype", &t, 1, s));
  ASK(TF_OperationGetAttrValueProto(a.c, "no such", buffer, s));
  ASK(TF_OperationGetAttrMetadata(a.c, "no such", s));
  ASK(TF_OperationGetAttrShape(a.c, "dtype", &i, 1, s));
  ASK(TF_OperationGetAttrString(a.c, "dtype", &i, 1, s));
  ASK(TF_OperationGetAttrTensorShapeProto(a.c, "dtype", buffer, s));
}
static void attr_name_index(void) {
  two_graphs();
  char name[64];
  ASK(TF_OperationGetAttrName(a.c, 99, name, s));
}
static void full_buffer(void) {
  two_graphs();
  TF_Buffer* full = TF_NewBufferFromString("abc", 3);
  ASK(TF_OperationToNodeDef(a.c, full, s));
  ASK(TF_GraphToGraphDef(a.graph, full, s));
  ASK(TF_GraphGetOpDef(a.graph, "Add", full, s));
  ASK(TF_GraphVersions(a.graph, full, s));
}
static void op_def_unknown(void) {
  two_graphs();
  TF_Buffer* buffer = TF_NewBuffer();
  ASK(TF_GraphGetOpDef(a.graph, "NoSuchOp", buffer, s));
}
static void next_operation(void) {
  two_graphs();
  size_t at = SIZE_MAX;
  TELL("%d", TF_GraphNextOperation(a.graph, &at) == NULL);
  at = 1000;
  TELL("%d", TF_GraphNextOperation(a.graph, &at) == NULL);
}

// ---- shapes ----

static void shape_of_other_graph(void) {
  two_graphs();
  int64_t dims[4] = {1, 1, 1, 1};
  TF_Output foreign = {b.x, 0};
  ASK(TF_GraphGetTensorNumDims(a.graph, foreign, s));
  ASK(TF_GraphGetTensorShape(a.graph, foreign, dims, 1, s));
  ASK(TF_GraphSetTensorShape(a.graph, foreign, dims, 1, s));
}
static void shape_index(void) {
  two_graphs();
  int64_t dims[4] = {1, 1, 1, 1};
  TF_Output out = {a.x, 3};
  ASK(TF_GraphGetTensorNumDims(a.graph, out, s));
  ASK(TF_GraphGetTensorShape(a.graph, out, dims, 1, s));
  ASK(TF_GraphSetTensorShape(a.graph, out, dims, 1, s));
}
static void shape_length(void) {
  two_graphs();
  int64_t dims[4] = {2, 3, 1, 1};
  TF_Output x = {a.x, 0}, c = {a.c, 0};
  ASK(TF_GraphGetTensorShape(a.graph, c, dims, 2, s));
  ASK(TF_GraphGetTensorShape(a.graph, c, dims, -3, s));
  ASK(TF_GraphSetTensorShape(a.graph, x, dims, 2, s));
  ASK(TF_GraphSetTensorShape(a.graph, x, dims, 3, s));
  ASK(TF_GraphSetTensorShape(a.graph, c, dims, 1, s));
  ASK(TF_GraphSetTensorShape(a.graph, x, NULL, -1, s));
}
static void evaluate_of_other_graph(void) {
  two_graphs();
  TF_Tensor* t = NULL;
  ASK(TF_TryEvaluateConstant(a.graph, (TF_Output){b.c, 0}, &t, s));
}

// ---- editing ----

static void edge_of_other_graph(void) {
  two_graphs();
  ASK(TF_UpdateEdge(a.graph, (TF_Output){b.x, 0}, (TF_Input){a.n, 0}, s));
}
static void edge_to_other_graph(void) {
  two_graphs();
  ASK(TF_UpdateEdge(a.graph, (TF_Output){a.x, 0}, (TF_Input){b.n, 0}, s));
}
static void edge_index(void) {
  two_graphs();
  ASK(TF_UpdateEdge(a.graph, (TF_Output){a.x, 4}, (TF_Input){a.n, 0}, s));
  ASK(TF_UpdateEdge(a.graph, (TF_Output){a.x, 0}, (TF_Input){a.n, 4}, s));
}
static void edge_cycle(void) {
  two_graphs();
  ASK(TF_UpdateEdge(a.graph, (TF_Output){a.n, 0}, (TF_Input){a.n, 0}, s));
  TF_Session* session = session_of(a.graph);
  TF_Output out = {a.n, 0};
  TF_Tensor* r = NULL;
  ASK(TF_SessionRun(session, NULL, NULL, NULL, 0, &out, &r, 1, NULL, 0, NULL, s));
}

// ---- functions ----

static TF_Function* to_function(int n, TF_Operation** body, int nin, TF_Output* in, int nout, TF_Output* out, const char* const* names) {
  return TF_GraphToFunction(a.graph, "f", 0, n, (const TF_Operation* const*)body, nin, in, nout, out, names, NULL, NULL, s);
}
static void function_body_of_other_graph(void) {
  two_graphs();
  TF_Operation* body[] = {b.n};
  TF_Output in = {a.x, 0}, out = {a.n, 0};
  ASK(to_function(1, body, 1, &in, 1, &out, NULL));
}
static void function_input_of_other_graph(void) {
  two_graphs();
  TF_Operation* body[] = {a.n};
  TF_Output in = {b.x, 0}, out = {a.n, 0};
  ASK(to_function(1, body, 1, &in, 1, &out, NULL));
}
static void function_output_of_other_graph(void) {
  two_graphs();
  TF_Operation* body[] = {a.n};
  TF_Output in = {a.x, 0}, out = {b.n, 0};
  ASK(to_function(1, body, 1, &in, 1, &out, NULL));
}
static void function_control_of_other_graph(void) {
  two_graphs();
  const TF_Operation *body[] = {a.n}, *control[] = {b.n};
  TF_Output in = {a.x, 0}, out = {a.n, 0};
  ASK(TF_GraphToFunctionWithControlOutputs(a.graph, "f", 0, 1, body, 1, &in, 1, &out, NULL, 1, control, NULL, NULL, NULL, s));
}
static void function_index(void) {
  two_graphs();
  TF_Operation* body[] = {a.n};
  TF_Output in = {a.x, 2}, out = {a.n, 0};
  ASK(to_function(1, body, 1, &in, 1, &out, NULL));
  in.index = 0;
  out.index = 2;
  ASK(to_function(1, body, 1, &in, 1, &out, NULL));
}
static void function_without_source(void) {
  two_graphs();
  TF_Operation* body[] = {a.n};
  TF_Output out = {a.n, 0};
  ASK(to_function(1, body, 0, NULL, 1, &out, NULL));
}
static void function_same_input_twice(void) {
  two_graphs();
  TF_Operation* body[] = {a.n};
  TF_Output in[] = {{a.x, 0}, {a.x, 0}}, out = {a.n, 0};
  ASK(to_function(1, body, 2, in, 1, &out, NULL));
}
static void function_same_name_twice(void) {
  two_graphs();
  TF_Operation* body[] = {a.n, a.p};
  const char* names[] = {"y", "y"};
  TF_Output in[] = {{a.x, 0}, {a.c, 0}}, out[] = {{a.n, 0}, {a.p, 0}};
  ASK(to_function(2, body, 2, in, 2, out, names));
}
static void function_node_twice(void) {
  two_graphs();
  TF_Operation* body[] = {a.n, a.n};
  TF_Output in[] = {{a.x, 0}}, out[] = {{a.n, 0}};
  ASK(to_function(2, body, 1, in, 1, out, NULL));
}
static void function_null_node(void) {
  two_graphs();
  TF_Operation* body[] = {NULL};
  TF_Output in[] = {{a.x, 0}}, out[] = {{a.n, 0}};
  ASK(to_function(1, body, 1, in, 1, out, NULL));
}
static void function_null_arrays(void) {
  two_graphs();
  ASK(to_function(2, NULL, 1, NULL, 1, NULL, NULL));
}
static void function_negative_counts(void) {
  two_graphs();
  TF_Output out = {a.c, 0};
  ASK(to_function(-5, NULL, -1, NULL, 1, &out, NULL));
  ASK(to_function(-1, NULL, 0, NULL, -2, &out, NULL));
}
static void function_copied_twice(void) {
  two_graphs();
  TF_Function *f = square_function("f"), *g = square_function("f");
  ASK(TF_GraphCopyFunction(a.graph, f, NULL, s));
  ASK(TF_GraphCopyFunction(a.graph, g, NULL, s));
  ASK(TF_GraphCopyFunction(a.graph, NULL, NULL, s));
  ASK(TF_GraphCopyFunction(a.graph, f, f, s));
  ASK(TF_GraphRemoveFunction(a.graph, "no such", s));
}
static void function_list_too_small(void) {
  two_graphs();
  TF_Function* f = square_function("f");
  NEED(TF_GraphCopyFunction(a.graph, f, NULL, s));
  TF_Function* list[1] = {NULL};
  TELL("%d", TF_GraphGetFunctions(a.graph, list, 0, s));
  TELL("%d", list[0] == NULL);
}
static void function_def_junk(void) {
  ASK(TF_FunctionImportFunctionDef("\xff\xff", 2, s));
  TF_Function* f = square_function("f");
  TF_Buffer *full = TF_NewBufferFromString("a", 1), *empty = TF_NewBuffer();
  ASK(TF_FunctionToFunctionDef(f, full, s));
  ASK(TF_FunctionSetAttrValueProto(f, "k", "\xff", 1, s));
  ASK(TF_FunctionGetAttrValueProto(f, "no such", empty, s));
}

// ---- gradients ----

static void gradient_y_of_other_graph(void) {
  two_graphs();
  TF_Output y = {b.n, 0}, x = {a.x, 0}, dy[1];
  ASK(TF_AddGradients(a.graph, &y, 1, &x, 1, NULL, s, dy));
}
static void gradient_x_of_other_graph(void) {
  two_graphs();
  TF_Output y = {a.n, 0}, x = {b.x, 0}, dy[1];
  ASK(TF_AddGradients(a.graph, &y, 1, &x, 1, NULL, s, dy));
}
static void gradient_dx_of_other_graph(void) {
  two_graphs();
  TF_Output y = {a.n, 0}, x = {a.x, 0}, dx = {b.c, 0}, dy[1];
  ASK(TF_AddGradients(a.graph, &y, 1, &x, 1, &dx, s, dy));
}
static void gradient_index(void) {
  two_graphs();
  TF_Output y = {a.n, 3}, x = {a.x, 0}, dy[1];
  ASK(TF_AddGradients(a.graph, &y, 1, &x, 1, NULL, s, dy));
}
static void gradient_x_index(void) {
  two_graphs();
  TF_Output y = {a.n, 0}, x = {a.x, 3}, dy[1];
  ASK(TF_AddGradients(a.graph, &y, 1, &x, 1, NULL, s, dy));
}
static void gradient_of_nothing(void) {
  two_graphs();
  TF_Output y = {a.n, 0}, x = {a.x, 0}, dy[1];
  ASK(TF_AddGradients(a.graph, &y, 0, &x, 1, NULL, s, dy));
  ASK(TF_AddGradients(a.graph, &y, 1, &x, 0, NULL, s, dy));
}
static void gradient_prefix_taken(void) {
  two_graphs();
  TF_Output y = {a.n, 0}, x = {a.x, 0}, dy[1];
  ASK(TF_AddGradientsWithPrefix(a.graph, "c", &y, 1, &x, 1, NULL, s, dy));
}

// ---- imports ----

static TF_Buffer* def_of(TF_Graph* graph) {
  TF_Buffer* def = TF_NewBuffer();
  NEED(TF_GraphToGraphDef(graph, def, s));
  return def;
}
static void import_mapped_to_other_graph(void) {
  two_graphs();
  Small c = small_graph(7, 30);
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddInputMapping(o, "x", 0, (TF_Output){c.x, 0});
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}
static void import_mapped_index(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddInputMapping(o, "x", 0, (TF_Output){a.x, 6});
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}
static void import_mapped_null(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddInputMapping(o, "x", 0, (TF_Output){NULL, 0});
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}
static void import_control_of_other_graph(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddControlDependency(o, b.x);
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}
static void import_remapped_control_of_other_graph(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsRemapControlDependency(o, "x", b.x);
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}
static void import_twice(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}
static void import_junk(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_Buffer* junk = TF_NewBufferFromString("\xff\xff\xff", 3);
  ASK(TF_GraphImportGraphDef(a.graph, junk, o, s));
}
static void import_return_counts(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddReturnOutput(o, "x", 0);
  TF_Output out[2];
  ASK(TF_GraphImportGraphDefWithReturnOutputs(a.graph, def_of(b.graph), o, out, 2, s));
  ASK(TF_GraphImportGraphDefWithReturnOutputs(a.graph, def_of(b.graph), o, NULL, 1, s));
  ASK(TF_GraphImportGraphDefWithReturnOutputs(a.graph, def_of(b.graph), o, out, -1, s));
}
static void import_return_missing(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddReturnOutput(o, "x", 4);
  TF_Output out[1];
  ASK(TF_GraphImportGraphDefWithReturnOutputs(a.graph, def_of(b.graph), o, out, 1, s));
  o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "in");
  TF_ImportGraphDefOptionsAddReturnOperation(o, "no such");
  ASK(TF_GraphImportGraphDefWithResults(a.graph, def_of(b.graph), o, s));
}
static void import_prefix_wrong(void) {
  two_graphs();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "a b");
  ASK(TF_GraphImportGraphDef(a.graph, def_of(b.graph), o, s));
}

// ---- loops ----

static TF_WhileParams new_while(void) {
  two_graphs();
  TF_Output in = {a.c, 0};
  TF_WhileParams p = TF_NewWhile(a.graph, &in, 1, s);
  p.name = "loop";
  TF_OperationDescription* d = TF_NewOperation(p.cond_graph, "Less", "less");
  TF_AddInput(d, p.cond_inputs[0]);
  TF_AddInput(d, (TF_Output){constant(p.cond_graph, "ten", 10), 0});
  TF_Operation* less;
  NEED(less = TF_FinishOperation(d, s));
  p.cond_output = (TF_Output){less, 0};
  d = TF_NewOperation(p.body_graph, "AddV2", "add");
  TF_AddInput(d, p.body_inputs[0]);
  TF_AddInput(d, (TF_Output){constant(p.body_graph, "one", 1), 0});
  TF_Operation* add;
  NEED(add = TF_FinishOperation(d, s));
  p.body_outputs[0] = (TF_Output){add, 0};
  return p;
}
static void while_of_other_graph(void) {
  two_graphs();
  TF_Output in = {b.c, 0};
  ASK(TF_NewWhile(a.graph, &in, 1, s));
}
static void while_of_nothing(void) {
  two_graphs();
  TF_Output in = {a.c, 0};
  ASK(TF_NewWhile(a.graph, &in, 0, s));
}
static void while_negative(void) {
  two_graphs();
  TF_Output in = {a.c, 0};
  ASK(TF_NewWhile(a.graph, &in, -1, s));
}
static void while_index(void) {
  two_graphs();
  TF_Output in = {a.c, 9};
  ASK(TF_NewWhile(a.graph, &in, 1, s));
}
static void while_not_set(void) {
  two_graphs();
  TF_Output in = {a.c, 0}, out;
  TF_WhileParams p = TF_NewWhile(a.graph, &in, 1, s);
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_name_null(void) {
  TF_WhileParams p = new_while();
  p.name = NULL;
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_cond_of_parent(void) {
  TF_WhileParams p = new_while();
  p.cond_output = (TF_Output){a.c, 0};
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_cond_of_body(void) {
  TF_WhileParams p = new_while();
  p.cond_output = p.body_outputs[0];
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_body_of_cond(void) {
  TF_WhileParams p = new_while();
  p.body_outputs[0] = p.cond_output;
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_cond_not_bool(void) {
  TF_WhileParams p = new_while();
  p.cond_output = p.cond_inputs[0];
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_output_index(void) {
  TF_WhileParams p = new_while();
  p.cond_output.index = 3;
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_body_index(void) {
  TF_WhileParams p = new_while();
  p.body_outputs[0].index = -3;
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_input_index(void) {
  TF_WhileParams p = new_while();
  p.body_outputs[0] = (TF_Output){p.body_inputs[0].oper, 5};
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_finished_twice(void) {
  TF_WhileParams p = new_while();
  TF_Output out;
  ASK(TF_FinishWhile(&p, s, &out));
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_aborted_twice(void) {
  TF_WhileParams p = new_while();
  TF_AbortWhile(&p);
  TF_AbortWhile(&p);
  TELL("%d", 1);
}
static void while_finished_after_abort(void) {
  TF_WhileParams p = new_while();
  TF_Output out;
  TF_AbortWhile(&p);
  ASK(TF_FinishWhile(&p, s, &out));
}
static void while_counts_changed(void) {
  TF_WhileParams p = new_while();
  TF_Output out[2];
  *(int*)&p.ninputs = 2;
  ASK(TF_FinishWhile(&p, s, out));
}
static void while_graphs_swapped(void) {
  TF_WhileParams p = new_while();
  TF_Output out;
  TF_WhileParams q = {p.ninputs, p.body_graph, p.body_inputs, p.cond_output, p.cond_graph, p.cond_inputs, p.body_outputs, "loop"};
  ASK(TF_FinishWhile(&q, s, &out));
}
static void while_mixed_with_another(void) {
  TF_WhileParams p = new_while(), q = new_while();
  TF_WhileParams mixed = {p.ninputs, p.cond_graph, p.cond_inputs, p.cond_output, q.body_graph, q.body_inputs, q.body_outputs, "loop"};
  TF_Output out;
  ASK(TF_FinishWhile(&mixed, s, &out));
}

#define CASE(name) {"graph_" #name, name}
const Case graph_cases[] = {CASE(input_of_other_graph),
                            CASE(input_index),
                            CASE(input_null),
                            CASE(input_list_of_other_graph),
                            CASE(input_list_negative),
                            CASE(input_list_null),
                            CASE(control_of_other_graph),
                            CASE(control_null),
                            CASE(colocate_with_other_graph),
                            CASE(finish_twice),
                            CASE(set_after_finish),
                            CASE(too_many_inputs),
                            CASE(too_few_inputs),
                            CASE(unknown_op),
                            CASE(bad_name),
                            CASE(name_twice),
                            CASE(attr_type_unknown),
                            CASE(attr_type_list_unknown),
                            CASE(attr_of_other_kind),
                            CASE(attr_shape_wrong),
                            CASE(attr_shape_rank),
                            CASE(attr_value_junk),
                            CASE(const_without_value),
                            CASE(const_of_other_type),
                            CASE(device_wrong),
                            CASE(output_type_index),
                            CASE(output_type_index_out),
                            CASE(input_type_index_out),
                            CASE(input_index_out),
                            CASE(list_lengths),
                            CASE(small_buffers),
                            CASE(attr_wrong),
                            CASE(attr_name_index),
                            CASE(full_buffer),
                            CASE(op_def_unknown),
                            CASE(next_operation),
                            CASE(shape_of_other_graph),
                            CASE(shape_index),
                            CASE(shape_length),
                            CASE(evaluate_of_other_graph),
                            CASE(edge_of_other_graph),
                            CASE(edge_to_other_graph),
                            CASE(edge_index),
                            CASE(edge_cycle),
                            CASE(function_body_of_other_graph),
                            CASE(function_input_of_other_graph),
                            CASE(function_output_of_other_graph),
                            CASE(function_control_of_other_graph),
                            CASE(function_index),
                            CASE(function_without_source),
                            CASE(function_same_input_twice),
                            CASE(function_same_name_twice),
                            CASE(function_node_twice),
                            CASE(function_null_node),
                            CASE(function_null_arrays),
                            CASE(function_negative_counts),
                            CASE(function_copied_twice),
                            CASE(function_list_too_small),
                            CASE(function_def_junk),
                            CASE(gradient_y_of_other_graph),
                            CASE(gradient_x_of_other_graph),
                            CASE(gradient_dx_of_other_graph),
                            CASE(gradient_index),
                            CASE(gradient_x_index),
                            CASE(gradient_of_nothing),
                            CASE(gradient_prefix_taken),
                            CASE(import_mapped_to_other_graph),
                            CASE(import_mapped_index),
                            CASE(import_mapped_null),
                            CASE(import_control_of_other_graph),
                            CASE(import_remapped_control_of_other_graph),
                            CASE(import_twice),
                            CASE(import_junk),
                            CASE(import_return_counts),
                            CASE(import_return_missing),
                            CASE(import_prefix_wrong),
                            CASE(while_of_other_graph),
                            CASE(while_of_nothing),
                            CASE(while_negative),
                            CASE(while_index),
                            CASE(while_not_set),
                            CASE(while_name_null),
                            CASE(while_cond_of_parent),
                            CASE(while_cond_of_body),
                            CASE(while_body_of_cond),
                            CASE(while_cond_not_bool),
                            CASE(while_output_index),
                            CASE(while_body_index),
                            CASE(while_input_index),
                            CASE(while_finished_twice),
                            CASE(while_aborted_twice),
                            CASE(while_finished_after_abort),
                            CASE(while_counts_changed),
                            CASE(while_graphs_swapped),
                            CASE(while_mixed_with_another),
                            {NULL, NULL}};
