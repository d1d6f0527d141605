// Graphs that were built by hand, run in a session: nodes, loops, functions, growth and changes between runs.
#include "graph.h"

static const int64_t d2[] = {2};

static TF_Session* session_on(TF_Graph* g) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  TF_DeleteSessionOptions(options);
  return session;
}

// Runs one output on int32 scalars or float vectors of two; the status is the caller's to check.
static TF_Tensor* run(TF_Session* session, int n, const TF_Output* inputs, TF_Tensor* const* values, TF_Output output) {
  TF_Tensor* result = NULL;
  TF_SetStatus(s, TF_OK, "");
  TF_SessionRun(session, NULL, inputs, values, n, &output, &result, 1, NULL, 0, NULL, s);
  return result;
}

static bool is_int(TF_Tensor* t, int32_t want) {
  const bool same = t && TF_TensorType(t) == TF_INT32 && TF_TensorElementCount(t) == 1 && *(int32_t*)TF_TensorData(t) == want;
  if (t) TF_DeleteTensor(t);
  return same;
}

static bool is_pair(TF_Tensor* t, float a, float b) {
  const float want[] = {a, b};
  const bool same = t && TF_TensorType(t) == TF_FLOAT && TF_TensorElementCount(t) == 2 && memcmp(TF_TensorData(t), want, sizeof want) == 0;
  if (t) TF_DeleteTensor(t);
  return same;
}

static TF_Tensor* scalar_int(int32_t v) { return new_tensor(TF_INT32, 0, NULL, &v, sizeof v); }
static TF_Tensor* pair(float a, float b) {
  const float v[] = {a, b};
  return new_tensor(TF_FLOAT, 1, d2, v, sizeof v);
}

static void close_session(TF_Session* session) {
  OK(TF_CloseSession(session, s));
  OK(TF_DeleteSession(session, s));
}

static void run_loop(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* i = placeholder(g, "i", TF_INT32, 0, NULL);
  TF_Operation* limit = placeholder(g, "limit", TF_INT32, 0, NULL);
  TF_Output inputs[] = {out(i, 0), out(limit, 0)}, outputs[2] = {{NULL, -1}, {NULL, -1}};
  TF_WhileParams p = TF_NewWhile(g, inputs, 2, s);
  const int32_t three[] = {3};
  p.cond_output = out(binary_op(p.cond_graph, "Less", "less", p.cond_inputs[0].oper, p.cond_inputs[1].oper), 0);
  p.body_outputs[0] = out(binary_op(p.body_graph, "Add", "add", p.body_inputs[0].oper, const_i(p.body_graph, "three", 0, 1, three)), 0);
  p.body_outputs[1] = p.body_inputs[1];
  p.name = "loop";
  OK(TF_FinishWhile(&p, s, outputs));
  TF_Session* session = session_on(g);
  TF_Tensor* values[] = {scalar_int(1), scalar_int(100)};
  CHECK(is_int(run(session, 2, inputs, values, outputs[0]), 100));
  CHECK(is_int(run(session, 2, inputs, values, outputs[1]), 100));
  TF_DeleteTensor(values[1]);
  values[1] = scalar_int(0);
  CHECK(is_int(run(session, 2, inputs, values, outputs[0]), 1));
  TF_DeleteTensor(values[0]);
  TF_DeleteTensor(values[1]);
  TF_DeleteGraph(g);  // before its session
  close_session(session);
}

static void run_function(void) {
  TF_Graph* body = TF_NewGraph();
  TF_Operation* a = placeholder(body, "a", TF_FLOAT, 1, d2);
  TF_Operation* b = placeholder(body, "b", TF_FLOAT, 1, d2);
  TF_Output args[] = {out(a, 0), out(b, 0)}, results[] = {out(binary_op(body, "Sub", "sub", a, b), 0)};
  TF_Function* f = NULL;
  OK(f = TF_GraphToFunction(body, "difference", 0, -1, NULL, 2, args, 1, results, NULL, NULL, NULL, s));
  TF_Graph* g = TF_NewGraph();
  OK(TF_GraphCopyFunction(g, f, NULL, s));
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 1, d2);
  TF_Operation* y = placeholder(g, "y", TF_FLOAT, 1, d2);
  TF_Operation* call = binary_op(g, "difference", "call", x, y);
  TF_Session* session = session_on(g);
  TF_Output inputs[] = {out(x, 0), out(y, 0)};
  TF_Tensor* values[] = {pair(5, 7), pair(1, 10)};
  CHECK(is_pair(run(session, 2, inputs, values, out(call, 0)), 4, -3));

  // The graph grows: nodes, and a function that the session has not seen.
  TF_Operation* neg = unary(g, "Neg", "neg", call);
  CHECK(is_pair(run(session, 2, inputs, values, out(neg, 0)), -4, 3));
  TF_Function* twice = NULL;
  TF_Output sum[] = {out(binary_op(body, "Add", "sum", a, a), 0)};
  TF_Operation* opers[] = {sum[0].oper};
  OK(twice = TF_GraphToFunction(body, "twice", 0, 1, (const TF_Operation* const*)opers, 1, args, 1, sum, NULL, NULL, NULL, s));
  OK(TF_GraphCopyFunction(g, twice, NULL, s));
  const TF_DataType floats_[] = {TF_FLOAT};
  TF_OperationDescription* d = TF_NewOperation(g, "PartitionedCall", "call2");
  TF_Output one[] = {out(neg, 0)};
  TF_AddInputList(d, one, 1);
  TF_SetAttrTypeList(d, "Tout", floats_, 1);
  TF_SetAttrFuncName(d, "f", "twice", 5);
  TF_Operation* call2 = NULL;
  OK(call2 = TF_FinishOperation(d, s));
  CHECK(is_pair(run(session, 2, inputs, values, out(call2, 0)), -8, 6));

  // A mistake.
  TF_Tensor* none = run(session, 1, inputs, values, out(call2, 0));
  CHECK(none == NULL && TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK(strstr(TF_Message(s), "You must feed a value for placeholder tensor 'y' with dtype float") != NULL);
  for (int i = 0; i < 2; ++i) TF_DeleteTensor(values[i]);
  close_session(session);
  TF_DeleteFunction(f);
  TF_DeleteFunction(twice);
  TF_DeleteGraph(body);
  TF_DeleteGraph(g);
}

// An edge that is changed before the first run.
static void run_changed(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 1, d2);
  TF_Operation* square = unary(g, "Square", "square", x);
  TF_Operation* neg = unary(g, "Neg", "neg", x);
  TF_Input in = {neg, 0};
  OK(TF_UpdateEdge(g, out(square, 0), in, s));
  TF_Session* session = session_on(g);
  TF_Output inputs[] = {out(x, 0)};
  TF_Tensor* values[] = {pair(3, -2)};
  CHECK(is_pair(run(session, 1, inputs, values, out(neg, 0)), -9, -4));
  TF_Output inner[] = {out(square, 0)};  // fed in place of being computed
  CHECK(is_pair(run(session, 1, inner, values, out(neg, 0)), -3, 2));
  TF_DeleteTensor(values[0]);
  close_session(session);
  TF_DeleteGraph(g);
}

void test_graph_runs(void) {
  run_loop();
  run_function();
  run_changed();
}
