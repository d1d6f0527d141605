// A graph optimizer that a plug-in brings (graph_plugin.c): graphs of sessions and functions go through it. In a process of its own, since it changes what
// later graphs compute.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdlib.h>

#include "graph.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

static void* plugin_library;
static int seen(const char* what) {
  int (*f)(void) = NULL;
  *(void**)&f = dlsym(plugin_library, what);
  return f ? f() : -1;
}

static void test_faults(const char* plugin) {
  static const struct {
    const char* fault;
    TF_Code code;
    const char* text;
  } wrong[] = {
      {"init_fails", TF_UNAVAILABLE, "no optimizer"},
      {"size", TF_FAILED_PRECONDITION, "struct_size field in TP_Optimizer must be set to TP_OPTIMIZER_STRUCT_SIZE."},
      {"no_type", TF_FAILED_PRECONDITION, "'device_type' field in TP_OptimizerRegistrationParams must be set."},
      {"no_create", TF_FAILED_PRECONDITION, "'create_func' field in TP_Optimizer must be set."},
      {"no_optimize", TF_FAILED_PRECONDITION, "'optimize_func' field in TP_Optimizer must be set."},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    setenv("WEFT_GRAPH_FAULT", wrong[i].fault, 1);
    EXPECT(wrong[i].code, wrong[i].text, TF_LoadPluggableDeviceLibrary(plugin, s));
  }
  unsetenv("WEFT_GRAPH_FAULT");
}

// x - y, or what the optimizer made of it, of 6 and 2, computed by a session of its own.
static float in_session(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 0, NULL);
  TF_Operation* y = placeholder(g, "y", TF_FLOAT, 0, NULL);
  TF_Operation* less = binary_op(g, "Sub", "less", x, y);
  TF_Operation* end = unary(g, "Neg", "end", less);
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  const float six = 6, two = 2;
  const TF_Output feeds[] = {out(x, 0), out(y, 0)}, fetch = out(end, 0);
  TF_Tensor* values[] = {new_tensor(TF_FLOAT, 0, NULL, &six, 4), new_tensor(TF_FLOAT, 0, NULL, &two, 4)};
  TF_Tensor* result = NULL;
  OK(TF_SessionRun(session, NULL, feeds, values, 2, &fetch, &result, 1, NULL, 0, NULL, s));
  const float answer = result ? -*(const float*)TF_TensorData(result) : -1;
  TF_DeleteTensor(values[0]);
  TF_DeleteTensor(values[1]);
  TF_DeleteTensor(result);
  OK(TF_CloseSession(session, s));
  OK(TF_DeleteSession(session, s));
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(g);
  return answer;
}

static float in_function(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 0, NULL);
  TF_Operation* y = placeholder(g, "y", TF_FLOAT, 0, NULL);
  TF_Operation* end = unary(g, "Neg", "end", binary_op(g, "Sub", "less", x, y));
  const TF_Output in[] = {out(x, 0), out(y, 0)}, ret = out(end, 0);
  TF_Function* f = NULL;
  OK(f = TF_GraphToFunction(g, "less_of", 0, -1, NULL, 2, in, 1, &ret, NULL, NULL, NULL, s));
  TFE_Context* c = new_context(NULL, 0, false);
  OK(TFE_ContextAddFunction(c, f, s));
  TFE_TensorHandle* args[] = {scalar_f(6), scalar_f(2)};
  TFE_TensorHandle* h = run1(new_op(c, "less_of", 2, args), TF_OK, "");
  TF_Tensor* t = NULL;
  OK(t = TFE_TensorHandleResolve(h, s));
  const float answer = t ? -*(const float*)TF_TensorData(t) : -1;
  TF_DeleteTensor(t);
  TFE_DeleteTensorHandle(h);
  TFE_DeleteTensorHandle(args[0]);
  TFE_DeleteTensorHandle(args[1]);
  TFE_DeleteContext(c);
  TF_DeleteFunction(f);
  TF_DeleteGraph(g);
  return answer;
}

void test_graph_optimizer(const char* plugin) {
  if (!on_tensorflow) test_faults(plugin);  // TensorFlow keeps what a failed attempt registered
  CHECK(in_session() == 4);
  TF_Library* handle = NULL;
  OK(handle = TF_LoadPluggableDeviceLibrary(plugin, s));
  TF_DeletePluggableDeviceLibraryHandle(handle);
  plugin_library = dlopen(plugin, RTLD_NOW | RTLD_NOLOAD);
  CHECK(plugin_library != NULL);
  CHECK(in_session() == 12);
  CHECK(seen("seen_calls") >= 1 && seen("seen_fetched") == 1 && seen("seen_preserved") >= 1);
  CHECK(seen("seen_inputs") == 2 && seen("seen_outputs") == 1 && seen("seen_sub") == 1);
  if (!on_tensorflow) CHECK(in_function() == 12);  // which leaves small functions alone
  static const char* const kFaults[] = {"fails", "empty", "garbage", "cut", "unknown_op"};
  for (size_t i = 0; i < sizeof kFaults / sizeof kFaults[0] && !on_tensorflow; ++i) {
    setenv("WEFT_GRAPH_FAULT", kFaults[i], 1);
    capture_stderr();
    const float a = in_session(), b = in_function();
    const char* log = captured_stderr();
    if (!CHECK(a == 4 && b == 4)) printf("    %s: %f %f\n", kFaults[i], (double)a, (double)b);
    CHECK(strstr(log, "The graph optimizer for CPU failed on ") != NULL);
  }
  unsetenv("WEFT_GRAPH_FAULT");
  CHECK(in_session() == 12);
  NULLS {
    int n = 0;
    size_t size = 0;
    INVALID(TF_GetNodesToPreserveListSize(NULL, &n, &size, s));
    INVALID(TF_GetFetchNodesListSize(NULL, &n, &size, s));
    INVALID(TF_GetNodesToPreserveList(NULL, NULL, NULL, 0, NULL, 0, s));
    INVALID(TF_GetFetchNodesList(NULL, NULL, NULL, 0, NULL, 0, s));
    CHECK(TF_NewGraphProperties(NULL) == NULL);
    INVALID(TF_InferStatically(NULL, 0, 0, 0, 0, s));
    INVALID(TF_GetInputPropertiesListSize(NULL, "x", &n, s));
    INVALID(TF_GetOutputPropertiesListSize(NULL, "x", &n, s));
    INVALID(TF_GetInputPropertiesList(NULL, "x", NULL, 0, s));
    INVALID(TF_GetOutputPropertiesList(NULL, "x", NULL, 0, s));
    TF_DeleteGraphProperties(NULL);
  }
}
