// Driver and helpers of the cases in capi_misuse_*.c; see capi_misuse.h.
//   capi_misuse [CASE ...]     all cases, or these
#define _GNU_SOURCE
#include "capi_misuse.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TF_Status* s;
enum { kSeconds = 20 };

void asked(const char* call) {
  printf("  %s -> ", call);
  fflush(stdout);
}
void answered(void) {
  char text[4096];
  snprintf(text, sizeof text, "%s", TF_Message(s));
  for (char* c = text; *c; ++c) {
    if (*c == '\n') *c = '|';
  }
  printf("%d %s\n", (int)TF_GetCode(s), text);
  fflush(stdout);
}
void told(const char* format, ...) {
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
  fflush(stdout);
}

TF_Tensor* scalar(float value) {
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof value);
  memcpy(TF_TensorData(t), &value, sizeof value);
  return t;
}

TF_Operation* constant(TF_Graph* graph, const char* name, float value) {
  TF_Tensor* t = scalar(value);
  TF_OperationDescription* d = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  NEED(TF_SetAttrTensor(d, "value", t, s));
  TF_Operation* op;
  NEED(op = TF_FinishOperation(d, s));
  TF_DeleteTensor(t);
  return op;
}

static TF_Operation* unary(TF_Graph* graph, const char* type, const char* name, TF_Operation* in) {
  TF_OperationDescription* d = TF_NewOperation(graph, type, name);
  TF_AddInput(d, (TF_Output){in, 0});
  TF_Operation* op;
  NEED(op = TF_FinishOperation(d, s));
  return op;
}

Small small_graph(float value, int more) {
  Small g;
  g.graph = TF_NewGraph();
  for (int i = 0; i < more; ++i) {
    char name[16];
    snprintf(name, sizeof name, "more%d", i);
    constant(g.graph, name, (float)i);
  }
  TF_OperationDescription* d = TF_NewOperation(g.graph, "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  NEED(g.x = TF_FinishOperation(d, s));
  g.c = constant(g.graph, "c", value);
  g.n = unary(g.graph, "Neg", "n", g.x);
  g.p = unary(g.graph, "Neg", "p", g.c);
  d = TF_NewOperation(g.graph, "Unpack", "split");
  TF_AddInput(d, (TF_Output){g.x, 0});
  TF_SetAttrInt(d, "num", 2);
  TF_SetAttrInt(d, "axis", 0);
  NEED(g.split = TF_FinishOperation(d, s));
  return g;
}

TF_Session* session_of(TF_Graph* graph) {
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_Session* session;
  NEED(session = TF_NewSession(graph, o, s));
  TF_DeleteSessionOptions(o);
  return session;
}

TFE_Context* context(void) {
  TFE_ContextOptions* o = TFE_NewContextOptions();
  TFE_Context* c;
  NEED(c = TFE_NewContext(o, s));
  TFE_DeleteContextOptions(o);
  return c;
}

TFE_TensorHandle* handle(float value) {
  TF_Tensor* t = scalar(value);
  TFE_TensorHandle* h;
  NEED(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  return h;
}

TFE_TensorHandle* run_eager(TFE_Context* c, const char* name, TFE_TensorHandle* a, TFE_TensorHandle* b) {
  TFE_Op* op;
  NEED(op = TFE_NewOp(c, name, s));
  NEED(TFE_OpAddInput(op, a, s));
  if (b) NEED(TFE_OpAddInput(op, b, s));
  TFE_TensorHandle* out = NULL;
  int n = 1;
  NEED(TFE_Execute(op, &out, &n, s));
  TFE_DeleteOp(op);
  return out;
}

float value_of(TFE_TensorHandle* h) {
  TF_Tensor* t;
  NEED(t = TFE_TensorHandleResolve(h, s));
  float value;
  memcpy(&value, TF_TensorData(t), sizeof value);
  TF_DeleteTensor(t);
  return value;
}

TF_Function* square_function(const char* name) {
  Small g = small_graph(1, 0);
  TF_OperationDescription* d = TF_NewOperation(g.graph, "Mul", "mul");
  TF_AddInput(d, (TF_Output){g.x, 0});
  TF_AddInput(d, (TF_Output){g.x, 0});
  TF_Operation* mul;
  NEED(mul = TF_FinishOperation(d, s));
  const TF_Operation* body[] = {mul};
  TF_Output in = {g.x, 0}, out = {mul, 0};
  TF_Function* f;
  NEED(f = TF_GraphToFunction(g.graph, name, 0, 1, body, 1, &in, 1, &out, NULL, NULL, NULL, s));
  TF_DeleteGraph(g.graph);
  return f;
}

// Runs a case in a child; the deadline kills one that hangs.
static bool run(const Case* c) {
  printf("%s\n", c->name);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(kSeconds);
    s = TF_NewStatus();
    c->run();
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) printf("HUNG\n");
  else if (WIFSIGNALED(status)) printf("DIED\n");
  else printf("EXIT %d\n", WEXITSTATUS(status));
  return false;
}

int main(int argc, char** argv) {
  const Case* lists[] = {graph_cases, session_cases, eager_cases, value_cases};
  int ran = 0;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
    for (const Case* c = lists[i]; c->name; ++c) {
      bool wanted = argc < 2;
      for (int a = 1; a < argc; ++a) wanted |= strcmp(argv[a], c->name) == 0;
      if (!wanted) continue;
      ++ran;
      run(c);
    }
  }
  return ran == 0;
}
