// Sessions: nodes of other graphs, indices, counts, handles of partial runs.
#include "capi_misuse.h"

static Small a, b;
static TF_Session *sa, *sb;

static void two_sessions(void) {
  a = small_graph(3, 0);
  b = small_graph(5, 20);
  sa = session_of(a.graph);
  sb = session_of(b.graph);
}

static void run(TF_Session* session, TF_Output* in, TF_Tensor** values, int nin, TF_Output* out, TF_Tensor** results, int nout,
                TF_Operation** targets, int ntargets) {
  TF_SessionRun(session, NULL, in, values, nin, out, results, nout, (const TF_Operation* const*)targets, ntargets, NULL, s);
}

static void fetch_of_other_graph(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output foreign = {b.c, 0};
  ASK(run(sa, NULL, NULL, 0, &foreign, &r, 1, NULL, 0));
  foreign.oper = b.p;
  ASK(run(sa, NULL, NULL, 0, &foreign, &r, 1, NULL, 0));
}
static void fetch_of_other_graph_with_same_id(void) {
  a = small_graph(3, 0);
  b = small_graph(5, 0);
  sa = session_of(a.graph);
  TF_Tensor* r = NULL;
  TF_Output foreign = {b.c, 0};
  ASK(run(sa, NULL, NULL, 0, &foreign, &r, 1, NULL, 0));
}
static void fetch_of_other_graph_after_own(void) {
  two_sessions();
  TF_Tensor* r[2] = {NULL, NULL};
  TF_Output own = {a.c, 0}, both[] = {{a.c, 0}, {b.p, 0}};
  ASK(run(sa, NULL, NULL, 0, &own, r, 1, NULL, 0));
  ASK(run(sa, NULL, NULL, 0, both, r, 2, NULL, 0));
}
static void fetch_name_that_other_graph_has(void) {
  a = small_graph(3, 0);
  b = small_graph(5, 0);
  TF_Operation* only = constant(b.graph, "only", 7);
  sa = session_of(a.graph);
  TF_Tensor* r = NULL;
  TF_Output foreign = {only, 0};
  ASK(run(sa, NULL, NULL, 0, &foreign, &r, 1, NULL, 0));
}
static void feed_of_other_graph(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(2);
  TF_Output foreign = {b.x, 0}, own = {a.n, 0};
  ASK(run(sa, &foreign, &v, 1, &own, &r, 1, NULL, 0));
}
static void feed_of_other_graph_beside_own(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v[] = {scalar(2), scalar(3)};
  TF_Output feeds[] = {{a.x, 0}, {b.c, 0}}, own = {a.n, 0};
  ASK(run(sa, feeds, v, 2, &own, &r, 1, NULL, 0));
}
static void target_of_other_graph(void) {
  two_sessions();
  TF_Operation* foreign = b.p;
  ASK(run(sa, NULL, NULL, 0, NULL, NULL, 0, &foreign, 1));
}
static void output_index(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output out = {a.c, 1};
  ASK(run(sa, NULL, NULL, 0, &out, &r, 1, NULL, 0));
  TF_Output feed = {a.x, 7}, n = {a.n, 0};
  ASK(run(sa, &feed, &v, 1, &n, &r, 1, NULL, 0));
}
static void output_index_negative(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output out = {a.c, -1};
  ASK(run(sa, NULL, NULL, 0, &out, &r, 1, NULL, 0));
}
static void feed_index_huge(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output feed = {a.x, 2147483647}, n = {a.n, 0};
  ASK(run(sa, &feed, &v, 1, &n, &r, 1, NULL, 0));
}
static void fetch_null_node(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output out = {NULL, 0};
  ASK(run(sa, NULL, NULL, 0, &out, &r, 1, NULL, 0));
}
static void feed_null_node(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output feed = {NULL, 0}, n = {a.n, 0};
  ASK(run(sa, &feed, &v, 1, &n, &r, 1, NULL, 0));
}
static void target_null(void) {
  two_sessions();
  TF_Operation* target = NULL;
  ASK(run(sa, NULL, NULL, 0, NULL, NULL, 0, &target, 1));
}
static void feed_null_tensor(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = NULL;
  TF_Output feed = {a.x, 0}, n = {a.n, 0};
  ASK(run(sa, &feed, &v, 1, &n, &r, 1, NULL, 0));
}
static void null_outputs_with_count(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  ASK(run(sa, NULL, NULL, 0, NULL, &r, 1, NULL, 0));
}
static void null_results_with_count(void) {
  two_sessions();
  TF_Output out = {a.c, 0};
  ASK(run(sa, NULL, NULL, 0, &out, NULL, 1, NULL, 0));
}
static void null_inputs_with_count(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output n = {a.n, 0};
  ASK(run(sa, NULL, &v, 1, &n, &r, 1, NULL, 0));
}
static void null_values_with_count(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(run(sa, &x, NULL, 1, &n, &r, 1, NULL, 0));
}
static void null_targets_with_count(void) {
  two_sessions();
  ASK(run(sa, NULL, NULL, 0, NULL, NULL, 0, NULL, 1));
}
static void negative_counts(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {a.x, 0}, c = {a.c, 0};
  ASK(run(sa, &x, &v, -1, &c, &r, 1, NULL, 0));
}
static void negative_outputs(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output c = {a.c, 0};
  ASK(run(sa, NULL, NULL, 0, &c, &r, -1, NULL, 0));
}
static void nothing_asked(void) {
  two_sessions();
  ASK(run(sa, NULL, NULL, 0, NULL, NULL, 0, NULL, 0));
}
static void null_session(void) { ASK(run(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0)); }
static void fed_twice(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v[] = {scalar(1), scalar(2)};
  TF_Output feeds[] = {{a.x, 0}, {a.x, 0}}, n = {a.n, 0};
  ASK(run(sa, feeds, v, 2, &n, &r, 1, NULL, 0));
}
static void fed_and_fetched(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {a.x, 0};
  ASK(run(sa, &x, &v, 1, &x, &r, 1, NULL, 0));
}
static void not_fed(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output n = {a.n, 0};
  ASK(run(sa, NULL, NULL, 0, &n, &r, 1, NULL, 0));
}
static void fed_with_other_type(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = TF_AllocateTensor(TF_INT32, NULL, 0, 4);
  memset(TF_TensorData(v), 0, 4);
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(run(sa, &x, &v, 1, &n, &r, 1, NULL, 0));
}
static void closed_session(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output c = {a.c, 0};
  ASK(TF_CloseSession(sa, s));
  ASK(TF_CloseSession(sa, s));
  ASK(run(sa, NULL, NULL, 0, &c, &r, 1, NULL, 0));
}
static void graph_deleted_before_session(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output c = {a.c, 0};
  TF_DeleteGraph(a.graph);
  ASK(run(sa, NULL, NULL, 0, &c, &r, 1, NULL, 0));
  ASK(TF_DeleteSession(sa, s));
}
static void run_options_junk(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output c = {a.c, 0};
  TF_Buffer* junk = TF_NewBufferFromString("\xff\xff\xff", 3);
  ASK(TF_SessionRun(sa, junk, NULL, NULL, 0, &c, &r, 1, NULL, 0, NULL, s));
}
static void run_options_without_data(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output c = {a.c, 0};
  TF_Buffer empty = {NULL, 100, NULL};
  ASK(TF_SessionRun(sa, &empty, NULL, NULL, 0, &c, &r, 1, NULL, 0, NULL, s));
}
static void metadata_not_empty(void) {
  two_sessions();
  TF_Tensor* r = NULL;
  TF_Output c = {a.c, 0};
  TF_Buffer* full = TF_NewBufferFromString("abc", 3);
  ASK(TF_SessionRun(sa, NULL, NULL, NULL, 0, &c, &r, 1, NULL, 0, full, s));
}

// ---- partial runs ----

static void partial_of_other_graph(void) {
  two_sessions();
  const char* handle = NULL;
  TF_Output x = {b.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRunSetup(sa, &x, 1, &n, 1, NULL, 0, &handle, s));
}
static void partial_fetch_of_other_graph(void) {
  two_sessions();
  const char* handle = NULL;
  TF_Output x = {a.x, 0}, n = {b.n, 0};
  ASK(TF_SessionPRunSetup(sa, &x, 1, &n, 1, NULL, 0, &handle, s));
}
static void partial_target_of_other_graph(void) {
  two_sessions();
  const char* handle = NULL;
  TF_Output x = {a.x, 0};
  const TF_Operation* foreign = b.n;
  ASK(TF_SessionPRunSetup(sa, &x, 1, NULL, 0, &foreign, 1, &handle, s));
}
static void partial_null_arrays(void) {
  two_sessions();
  const char* handle = NULL;
  ASK(TF_SessionPRunSetup(sa, NULL, 1, NULL, 1, NULL, 0, &handle, s));
}
static void partial_null_targets(void) {
  two_sessions();
  const char* handle = NULL;
  ASK(TF_SessionPRunSetup(sa, NULL, 0, NULL, 0, NULL, 2, &handle, s));
}
static void partial_negative_counts(void) {
  two_sessions();
  const char* handle = NULL;
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRunSetup(sa, &x, -1, &n, 1, NULL, 0, &handle, s));
}
static const char* set_up(void) {
  two_sessions();
  const char* handle = NULL;
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  NEED(TF_SessionPRunSetup(sa, &x, 1, &n, 1, NULL, 0, &handle, s));
  return handle;
}
static void partial_handle_of_other_session(void) {
  const char* handle = set_up();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {b.x, 0}, n = {b.n, 0};
  ASK(TF_SessionPRun(sb, handle, &x, &v, 1, &n, &r, 1, NULL, 0, s));
}
static void partial_nodes_of_other_graph(void) {
  const char* handle = set_up();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {b.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRun(sa, handle, &x, &v, 1, &n, &r, 1, NULL, 0, s));
}
static void partial_handle_unknown(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRun(sa, "no such run", &x, &v, 1, &n, &r, 1, NULL, 0, s));
}
static void partial_handle_null(void) {
  two_sessions();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRun(sa, NULL, &x, &v, 1, &n, &r, 1, NULL, 0, s));
}
static void partial_not_announced(void) {
  const char* handle = set_up();
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {a.x, 0}, p = {a.p, 0};
  ASK(TF_SessionPRun(sa, handle, &x, &v, 1, &p, &r, 1, NULL, 0, s));
}
static void partial_null_values(void) {
  const char* handle = set_up();
  TF_Tensor* r = NULL;
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRun(sa, handle, &x, NULL, 1, &n, &r, 1, NULL, 0, s));
}
static void partial_null_results(void) {
  const char* handle = set_up();
  TF_Tensor* v = scalar(1);
  TF_Output x = {a.x, 0}, n = {a.n, 0};
  ASK(TF_SessionPRun(sa, handle, &x, &v, 1, &n, NULL, 1, NULL, 0, s));
}
static void partial_handle_of_deleted_session(void) {
  const char* handle = set_up();
  NEED(TF_DeleteSession(sa, s));
  TF_Tensor *r = NULL, *v = scalar(1);
  TF_Output x = {b.x, 0}, n = {b.n, 0};
  ASK(TF_SessionPRun(sb, handle, &x, &v, 1, &n, &r, 1, NULL, 0, s));
  TF_DeletePRunHandle(handle);
}
static void new_session_null(void) {
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_Session* made = NULL;
  ASK(made = TF_NewSession(NULL, o, s));
  (void)made;
}
static void new_session_target(void) {
  two_sessions();
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_Session* made = NULL;
  TF_SetTarget(o, "nonsense://here");
  ASK(made = TF_NewSession(a.graph, o, s));
  TELL("%d", made != NULL);
}
static void config_junk(void) {
  TF_SessionOptions* o = TF_NewSessionOptions();
  ASK(TF_SetConfig(o, "\xff\xff", 2, s));
}
static void load_null_tags(void) {
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_Graph* g = TF_NewGraph();
  TF_Session* made = NULL;
  ASK(made = TF_LoadSessionFromSavedModel(o, NULL, "no such folder", NULL, 1, g, NULL, s));
  (void)made;
}
static void load_into_full_graph(void) {
  two_sessions();
  TF_SessionOptions* o = TF_NewSessionOptions();
  const char* tag = "serve";
  TF_Session* made = NULL;
  ASK(made = TF_LoadSessionFromSavedModel(o, NULL, "no such folder", &tag, 1, a.graph, NULL, s));
  (void)made;
}

#define CASE(name) {"session_" #name, name}
const Case session_cases[] = {CASE(fetch_of_other_graph),
                              CASE(fetch_of_other_graph_with_same_id),
                              CASE(fetch_of_other_graph_after_own),
                              CASE(fetch_name_that_other_graph_has),
                              CASE(feed_of_other_graph),
                              CASE(feed_of_other_graph_beside_own),
                              CASE(target_of_other_graph),
                              CASE(output_index),
                              CASE(output_index_negative),
                              CASE(feed_index_huge),
                              CASE(fetch_null_node),
                              CASE(feed_null_node),
                              CASE(target_null),
                              CASE(feed_null_tensor),
                              CASE(null_outputs_with_count),
                              CASE(null_results_with_count),
                              CASE(null_inputs_with_count),
                              CASE(null_values_with_count),
                              CASE(null_targets_with_count),
                              CASE(negative_counts),
                              CASE(negative_outputs),
                              CASE(nothing_asked),
                              CASE(null_session),
                              CASE(fed_twice),
                              CASE(fed_and_fetched),
                              CASE(not_fed),
                              CASE(fed_with_other_type),
                              CASE(closed_session),
                              CASE(graph_deleted_before_session),
                              CASE(run_options_junk),
                              CASE(run_options_without_data),
                              CASE(metadata_not_empty),
                              CASE(partial_of_other_graph),
                              CASE(partial_fetch_of_other_graph),
                              CASE(partial_target_of_other_graph),
                              CASE(partial_null_arrays),
                              CASE(partial_null_targets),
                              CASE(partial_negative_counts),
                              CASE(partial_handle_of_other_session),
                              CASE(partial_nodes_of_other_graph),
                              CASE(partial_handle_unknown),
                              CASE(partial_handle_null),
                              CASE(partial_not_announced),
                              CASE(partial_null_values),
                              CASE(partial_null_results),
                              CASE(partial_handle_of_deleted_session),
                              CASE(new_session_null),
                              CASE(new_session_target),
                              CASE(config_junk),
                              CASE(load_null_tags),
                              CASE(load_into_full_graph),
                              {NULL, NULL}};
