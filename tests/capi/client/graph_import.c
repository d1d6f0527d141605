// Importing GraphDefs with every option, and loops.
#include "graph.h"

static const int64_t d23[] = {2, 3};

static bool node_is(TF_Graph* g, const char* name, const char* op, int inputs, const char* first, int controls) {
  TF_Operation* o = TF_GraphOperationByName(g, name);
  if (!o) return false;
  return strcmp(TF_OperationOpType(o), op) == 0 && TF_OperationNumInputs(o) == inputs && (!first || reads(o, 0, first, 0)) &&
         TF_OperationNumControlInputs(o) == controls;
}

// a, b -> sum = a + b -> neg, colocated with a, after b.
static TF_Buffer* small_graph(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* a = placeholder(g, "a", TF_FLOAT, 2, d23);
  TF_Operation* b = placeholder(g, "b", TF_FLOAT, 2, d23);
  TF_Operation* sum = binary_op(g, "Add", "sum", a, b);
  TF_OperationDescription* d = TF_NewOperation(g, "Neg", "neg");
  TF_AddInput(d, out(sum, 0));
  TF_AddControlInput(d, b);
  TF_ColocateWith(d, a);
  OK(TF_FinishOperation(d, s));
  TF_Buffer* buffer = TF_NewBuffer();
  OK(TF_GraphToGraphDef(g, buffer, s));
  TF_DeleteGraph(g);
  return buffer;
}

static bool colocated(TF_Graph* g, const char* name, const char* with) {
  TF_Operation* o = TF_GraphOperationByName(g, name);
  if (!o) return false;
  char text[64];
  void* values[1];
  size_t lengths[1] = {0};
  TF_OperationGetAttrStringList(o, "_class", values, lengths, 1, text, sizeof text, s);
  return TF_GetCode(s) == TF_OK && lengths[0] == strlen(with) && memcmp(values[0], with, lengths[0]) == 0;
}

void test_graph_import(void) {
  TF_Buffer* def = small_graph();
  TF_Graph* g = TF_NewGraph();
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  OK(TF_GraphImportGraphDef(g, def, o, s));
  CHECK(count_nodes(g) == 4 && node_is(g, "sum", "Add", 2, "a", 0) && node_is(g, "neg", "Neg", 1, "sum", 1) && colocated(g, "neg", "loc:@a"));
  CHECK(has_shape(g, TF_GraphOperationByName(g, "neg"), 0, 2, d23));
  EXPECT(TF_INVALID_ARGUMENT, "Node name 'a' already exists in the Graph", TF_GraphImportGraphDef(g, def, o, s));
  TF_ImportGraphDefOptionsSetPrefix(o, "p");
  OK(TF_GraphImportGraphDef(g, def, o, s));
  CHECK(node_is(g, "p/sum", "Add", 2, "p/a", 0) && colocated(g, "p/neg", "loc:@p/a"));
  TF_ImportGraphDefOptionsSetUniquifyPrefix(o, 1);
  OK(TF_GraphImportGraphDef(g, def, o, s));
  CHECK(node_is(g, "p_1/sum", "Add", 2, "p_1/a", 0) && colocated(g, "p_1/neg", "loc:@p_1/a"));
  TF_ImportGraphDefOptionsSetUniquifyPrefix(o, 0);
  TF_ImportGraphDefOptionsSetUniquifyNames(o, 1);
  OK(TF_GraphImportGraphDef(g, def, o, s));
  CHECK(node_is(g, "p/sum_1", "Add", 2, "p/a_1", 0) && colocated(g, "p/neg_1", "loc:@p/a_1"));
  TF_DeleteImportGraphDefOptions(o);

  o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "bad prefix");
  EXPECT(TF_INVALID_ARGUMENT, "Imported node name prefix 'bad prefix/' would lead to invalid node names", TF_GraphImportGraphDef(g, def, o, s));
  TF_Operation* a = TF_GraphOperationByName(g, "a");
  TF_Operation* sum = TF_GraphOperationByName(g, "sum");
  TF_ImportGraphDefOptionsSetPrefix(o, "q");
  TF_ImportGraphDefOptionsSetDefaultDevice(o, "/device:CPU:1");
  TF_ImportGraphDefOptionsAddInputMapping(o, "a", 0, out(sum, 0));
  TF_ImportGraphDefOptionsAddInputMapping(o, "zz", 4, out(sum, 0));
  TF_ImportGraphDefOptionsRemapControlDependency(o, "b", sum);
  TF_ImportGraphDefOptionsAddControlDependency(o, a);
  TF_ImportGraphDefOptionsAddReturnOutput(o, "neg", 0);
  TF_ImportGraphDefOptionsAddReturnOutput(o, "a", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(o, "b");
  CHECK(TF_ImportGraphDefOptionsNumReturnOutputs(o) == 2 && TF_ImportGraphDefOptionsNumReturnOperations(o) == 1);
  TF_ImportGraphDefResults* r = NULL;
  OK(r = TF_GraphImportGraphDefWithResults(g, def, o, s));
  if (CHECK(r != NULL)) {
    int n = 0;
    TF_Output* outputs = NULL;
    TF_Operation** opers = NULL;
    const char** names = NULL;
    int* indexes = NULL;
    TF_ImportGraphDefResultsReturnOutputs(r, &n, &outputs);
    CHECK(n == 2 && named(outputs[0].oper, "q/neg") && outputs[1].oper == sum && outputs[1].index == 0);
    TF_ImportGraphDefResultsReturnOperations(r, &n, &opers);
    CHECK(n == 1 && named(opers[0], "q/b"));
    TF_ImportGraphDefResultsMissingUnusedInputMappings(r, &n, &names, &indexes);
    CHECK(n == 1 && strcmp(names[0], "zz") == 0 && indexes[0] == 4);
    TF_DeleteImportGraphDefResults(r);
  }
  CHECK(node_is(g, "q/sum", "Add", 2, "sum", 0) && node_is(g, "q/b", "Placeholder", 0, NULL, 1));
  TF_Operation* neg = TF_GraphOperationByName(g, "q/neg");
  TF_Operation* controls[2] = {NULL, NULL};
  CHECK(neg && TF_OperationGetControlInputs(neg, controls, 2) == 1 && controls[0] == sum);
  CHECK(neg && strcmp(TF_OperationDevice(neg), "/device:CPU:1") == 0);
  TF_ImportGraphDefOptionsSetPrefix(o, "r");
  TF_Output returned[2];
  OK(TF_GraphImportGraphDefWithReturnOutputs(g, def, o, returned, 2, s));
  CHECK(named(returned[0].oper, "r/neg") && returned[1].oper == sum);
  EXPECT(TF_INVALID_ARGUMENT, "Expected 'num_return_outputs' to be 2, got 1", TF_GraphImportGraphDefWithReturnOutputs(g, def, o, returned, 1, s));
  TF_DeleteImportGraphDefOptions(o);

  const int before = count_nodes(g);
#define FAILS(set, text)                                                                  \
  o = TF_NewImportGraphDefOptions();                                                      \
  TF_ImportGraphDefOptionsSetPrefix(o, "x");                                              \
  set;                                                                                    \
  EXPECT(TF_INVALID_ARGUMENT, text, r = TF_GraphImportGraphDefWithResults(g, def, o, s)); \
  CHECK(r == NULL && count_nodes(g) == before);                                           \
  TF_DeleteImportGraphDefOptions(o)
  FAILS(TF_ImportGraphDefOptionsAddReturnOutput(o, "nope", 0), "Requested return tensor 'nope:0' not found in graph def");
  FAILS(TF_ImportGraphDefOptionsAddReturnOutput(o, "a", 3), "Invalid return output 3 of node 'a', which has 1 output(s)");
  FAILS(TF_ImportGraphDefOptionsAddReturnOperation(o, "nope"), "Requested return node 'nope' not found in graph def");
  FAILS(TF_ImportGraphDefOptionsAddInputMapping(o, "a", 0, out(a, 5)),
        "Node 'sum': Connecting to invalid output 5 of source node a which has 1 outputs.");

  TF_Buffer* junk = TF_NewBufferFromString("\xff\xff", 2);
  o = TF_NewImportGraphDefOptions();
  EXPECT(TF_INVALID_ARGUMENT, "Invalid GraphDef", TF_GraphImportGraphDef(g, junk, o, s));
  NULLS {
    INVALID(TF_GraphImportGraphDef(NULL, def, o, s));
    INVALID(TF_GraphImportGraphDef(g, NULL, o, s));
    INVALID(TF_GraphImportGraphDef(g, def, NULL, s));
    TF_ImportGraphDefOptionsSetPrefix(NULL, "x");
    TF_ImportGraphDefOptionsSetPrefix(o, NULL);
    TF_ImportGraphDefOptionsAddInputMapping(o, NULL, 0, out(a, 0));
    TF_ImportGraphDefOptionsAddReturnOutput(NULL, "a", 0);
    TF_DeleteImportGraphDefResults(NULL);
    TF_DeleteImportGraphDefOptions(NULL);
    TF_DeleteImportGraphDefOptions(o);
    TF_Graph* other = TF_NewGraph();
    FAILS(TF_ImportGraphDefOptionsAddInputMapping(o, "a", 0, out(placeholder(other, "f", TF_FLOAT, 2, d23), 0)), "");
    FAILS(TF_ImportGraphDefOptionsAddInputMapping(o, "a", 0, out(NULL, 0)), "");
    FAILS(TF_ImportGraphDefOptionsAddControlDependency(o, NULL), "");
    TF_DeleteGraph(other);
    o = TF_NewImportGraphDefOptions();
  }
  TF_DeleteImportGraphDefOptions(o);
  TF_DeleteBuffer(junk);
  TF_DeleteBuffer(def);
  TF_DeleteGraph(g);
}

// while (i < limit) i += 1
static void counting_loop(TF_WhileParams* p) {
  const int32_t one[] = {1};
  p->cond_output = out(binary_op(p->cond_graph, "Less", "less", p->cond_inputs[0].oper, p->cond_inputs[1].oper), 0);
  TF_Operation* step = const_i(p->body_graph, "one", 0, 1, one);
  p->body_outputs[0] = out(binary_op(p->body_graph, "Add", "add", p->body_inputs[0].oper, step), 0);
  p->body_outputs[1] = p->body_inputs[1];
}

void test_graph_while(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* i = placeholder(g, "i", TF_INT32, 0, NULL);
  TF_Operation* limit = placeholder(g, "limit", TF_INT32, -1, NULL);
  TF_Output inputs[] = {out(i, 0), out(limit, 0)}, outputs[2] = {{NULL, -1}, {NULL, -1}};
  TF_SetStatus(s, TF_OK, "");
  TF_WhileParams p = TF_NewWhile(g, inputs, 2, s);
  CHECK(TF_GetCode(s) == TF_OK && p.ninputs == 2 && p.name == NULL);
  CHECK(named(p.cond_inputs[1].oper, "cond_input1") && named(p.body_inputs[0].oper, "body_input0"));
  CHECK(has_shape(p.cond_graph, p.cond_inputs[0].oper, 0, -1, NULL));
  counting_loop(&p);
  p.name = "w";
  OK(TF_FinishWhile(&p, s, outputs));
  CHECK(named(outputs[0].oper, "w/Exit") && named(outputs[1].oper, "w/Exit_1") && outputs[0].index == 0);
  CHECK(count_nodes(g) == 16);
  CHECK(node_is(g, "w/Enter", "Enter", 1, "i", 0) && node_is(g, "w/Enter_1", "Enter", 1, "limit", 0));
  CHECK(node_is(g, "w/Merge", "Merge", 2, "w/Enter", 0) && reads(TF_GraphOperationByName(g, "w/Merge"), 1, "w/NextIteration", 0));
  CHECK(node_is(g, "w/Merge_1", "Merge", 2, "w/Enter_1", 0) && reads(TF_GraphOperationByName(g, "w/Merge_1"), 1, "w/NextIteration_1", 0));
  CHECK(node_is(g, "w/cond/less", "Less", 2, "w/Merge", 1) && node_is(g, "w/LoopCond", "LoopCond", 1, "w/cond/less", 0));
  CHECK(node_is(g, "w/Switch", "Switch", 2, "w/Merge", 0) && reads(TF_GraphOperationByName(g, "w/Switch"), 1, "w/LoopCond", 0));
  CHECK(node_is(g, "w/body/one", "Const", 0, NULL, 1) && node_is(g, "w/body/add", "Add", 2, NULL, 0));
  CHECK(reads(TF_GraphOperationByName(g, "w/body/add"), 0, "w/Switch", 1) &&
        reads(TF_GraphOperationByName(g, "w/NextIteration_1"), 0, "w/Switch_1", 1));
  CHECK(node_is(g, "w/Exit", "Exit", 1, "w/Switch", 0));
  char frame[8] = {0};
  OK(TF_OperationGetAttrString(TF_GraphOperationByName(g, "w/Enter"), "frame_name", frame, sizeof frame, s));
  CHECK(strcmp(frame, "w") == 0);
  CHECK(has_shape(g, TF_GraphOperationByName(g, "w/Exit"), 0, -1, NULL) && has_shape(g, TF_GraphOperationByName(g, "w/Enter"), 0, -1, NULL));

  const int before = count_nodes(g);
#define LOOP_FAILS(n, set, text)                                       \
  do {                                                                 \
    TF_WhileParams q = TF_NewWhile(g, inputs, n, s);                   \
    set;                                                               \
    EXPECT(TF_INVALID_ARGUMENT, text, TF_FinishWhile(&q, s, outputs)); \
    NULLS CHECK(count_nodes(g) == before);                             \
  } while (0)
  LOOP_FAILS(2, q.name = "a", "TF_WhileParams `cond_output` field isn't set");
  LOOP_FAILS(1, (q.name = "a", q.cond_output = q.cond_inputs[0]), "TF_WhileParams `body_outputs[0]` field isn't set");
  LOOP_FAILS(1, (q.cond_output = q.cond_inputs[0], q.body_outputs[0] = q.body_inputs[0]), "TF_WhileParams `name` field is null");
  LOOP_FAILS(1, (q.name = "b", q.cond_output = q.cond_inputs[0], q.body_outputs[0] = q.body_inputs[0]),
             "BuildWhileLoop: 'cond' argument must return a boolean output, got int32");
  LOOP_FAILS(1, (q.name = "c", q.cond_output = q.body_inputs[0], q.body_outputs[0] = q.body_inputs[0]),
             "Requested return tensor 'body_input0:0' not found in graph def");
  TF_WhileParams aborted = TF_NewWhile(g, inputs, 2, s);
  TF_AbortWhile(&aborted);
  EXPECT(TF_INVALID_ARGUMENT, "TF_NewWhile() must be passed at least one input", TF_NewWhile(g, inputs, 0, s));
  NULLS {
    EXPECT(TF_INVALID_ARGUMENT, "TF_WhileParams must be created by successful TF_NewWhile() call", TF_FinishWhile(&p, s, outputs));
    TF_AbortWhile(&p);
    TF_AbortWhile(NULL);
    INVALID(TF_FinishWhile(NULL, s, outputs));
    INVALID(TF_NewWhile(NULL, inputs, 1, s));
    INVALID(TF_NewWhile(g, NULL, 1, s));
    inputs[0].index = 5;
    INVALID(TF_NewWhile(g, inputs, 1, s));
    inputs[0].index = 0;
    LOOP_FAILS(1,
               (q.name = "d", q.cond_output = out(unary(q.cond_graph, "IsNan", "nan", placeholder(q.cond_graph, "f", TF_FLOAT, 0, NULL)), 0),
                q.body_outputs[0] = out(placeholder(q.body_graph, "f", TF_FLOAT, 0, NULL), 0)),
               "");
  }
  TF_DeleteGraph(g);
}
