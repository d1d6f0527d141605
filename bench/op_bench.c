// Times single ops of one library with TensorFlow's C API, on command, so that a driver can take several libraries in turn.
//
//   cc -O2 -w -I <headers> op_bench.c -ldl -o op_bench;  ./op_bench <libtensorflow.so> <threads>
//
// Commands on stdin, one a line:
//   add OP WORD...   a case; answered by its number, or "error TEXT". A word is an input or an attribute:
//                      f32[2,3]      normal numbers; also f64, i32 and i64 (0 to 9), bool; pos[2,3]: above 0.5
//                      i32=[2,1]:7,8 these values          var[2,3]  the handle of a float variable
//                      @name=K:V     an attribute of kind K: b, i, f, s, t (type, a number), li, lt, ls
//   time N US        runs case N for about US microseconds; answered by the microseconds of one call
//   quit
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

extern void TFE_OpReset(TFE_Op*, const char* op_or_function_name, const char* device, TF_Status*);  // its header is C++ only

#define API(X)                   \
  X(TF_NewStatus)                \
  X(TF_GetCode)                  \
  X(TF_Message)                  \
  X(TF_AllocateTensor)           \
  X(TF_TensorData)               \
  X(TF_DeleteTensor)             \
  X(TFE_NewContextOptions)       \
  X(TFE_ContextOptionsSetConfig) \
  X(TFE_NewContext)              \
  X(TFE_NewOp)                   \
  X(TFE_OpReset)                 \
  X(TFE_OpAddInput)              \
  X(TFE_OpAddInputList)          \
  X(TFE_OpSetAttrType)           \
  X(TFE_OpSetAttrInt)            \
  X(TFE_OpSetAttrFloat)          \
  X(TFE_OpSetAttrBool)           \
  X(TFE_OpSetAttrString)         \
  X(TFE_OpSetAttrIntList)        \
  X(TFE_OpSetAttrTypeList) X(TFE_OpSetAttrStringList) X(TFE_OpSetAttrShape) X(TFE_Execute) X(TFE_NewTensorHandle) X(TFE_DeleteTensorHandle)
#define DECLARE(f) static __typeof__(&f) p_##f;
API(DECLARE)

enum { kCases = 4096, kInputs = 40, kAttrs = 24, kList = 64 };
struct attr {
  char name[48];
  char kind[4];
  char text[256];
};
struct op_case {
  char op[64];
  TFE_TensorHandle* in[kInputs];
  int inputs;
  struct attr attrs[kAttrs];
  int n_attrs;
};
static struct op_case* cases[kCases];
static int n_cases;
static TFE_Context* ctx;
static TFE_Op* op;
static TF_Status* st;
static char problem[1024];

static int failed(void) {
  if (p_TF_GetCode(st) == TF_OK) return 0;
  snprintf(problem, sizeof problem, "%s", p_TF_Message(st));
  for (char* c = problem; *c; ++c)
    if (*c == '\n') *c = ' ';
  return 1;
}
static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static TF_DataType type_of(const char* name) {
  if (!strncmp(name, "f32", 3) || !strncmp(name, "var", 3) || !strncmp(name, "pos", 3)) return TF_FLOAT;
  if (!strncmp(name, "f64", 3)) return TF_DOUBLE;
  if (!strncmp(name, "i64", 3)) return TF_INT64;
  return name[0] == 'b' ? TF_BOOL : TF_INT32;
}

// "f32[2,3]", "i32=[2]:7,8": the tensor, or null.
static TF_Tensor* tensor(const char* word) {
  TF_DataType t = type_of(word);
  const char* at = strchr(word, '[');
  if (!at) return NULL;
  int64_t dims[16], n = 1;
  int rank = 0;
  for (++at; *at && *at != ']' && rank < 16;) {
    char* end;
    dims[rank] = strtoll(at, &end, 10);
    n *= dims[rank++];
    at = *end == ',' ? end + 1 : end;
  }
  const char* values = strchr(at, ':');
  size_t size = t == TF_DOUBLE || t == TF_INT64 ? 8 : t == TF_BOOL ? 1 : 4;
  TF_Tensor* x = p_TF_AllocateTensor(t, dims, rank, n * size);
  void* data = p_TF_TensorData(x);
  uint32_t s = 12345;
  for (int64_t i = 0; i < n; i++) {
    double v = -2;  // four uniform numbers make nearly a normal one
    for (int k = 0; k < 4; k++) s = s * 1664525u + 1013904223u, v += (s >> 8) / (double)(1 << 24);
    v *= 1.7320508;
    if (t == TF_INT32 || t == TF_INT64) v = (s >> 8) % 10;
    if (word[0] == 'p') v = (v < 0 ? -v : v) + 0.5;
    if (values && i == 0) values++;
    if (values) {
      char* end;
      v = strtod(values, &end);
      values = *end == ',' ? end + 1 : end;
    }
    if (t == TF_FLOAT) ((float*)data)[i] = v;
    else if (t == TF_DOUBLE) ((double*)data)[i] = v;
    else if (t == TF_INT32) ((int32_t*)data)[i] = v;
    else if (t == TF_INT64) ((int64_t*)data)[i] = v;
    else ((uint8_t*)data)[i] = values ? v != 0 : (s >> 20) & 1;
  }
  return x;
}

static TFE_TensorHandle* variable(TFE_TensorHandle* value) {
  static int count;
  char name[32];
  snprintf(name, sizeof name, "v%d", count++);
  p_TFE_OpReset(op, "VarHandleOp", NULL, st);
  p_TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  p_TFE_OpSetAttrShape(op, "shape", NULL, -1, st);
  p_TFE_OpSetAttrString(op, "shared_name", name, strlen(name));
  TFE_TensorHandle* handle = NULL;
  int n = 1;
  p_TFE_Execute(op, &handle, &n, st);
  if (failed()) return NULL;
  p_TFE_OpReset(op, "AssignVariableOp", NULL, st);
  p_TFE_OpAddInput(op, handle, st);
  p_TFE_OpAddInput(op, value, st);
  p_TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  n = 0;
  p_TFE_Execute(op, &handle, &n, st);
  return failed() ? NULL : handle;
}

static int list_of(char* text, char** items) {
  int n = 0;
  for (char* p = strtok(text, ","); p && n < kList; p = strtok(NULL, ",")) items[n++] = p;
  return n;
}

static void set_attr(const struct attr* a) {
  char text[256], *items[kList];
  int64_t ints[kList];
  TF_DataType types[kList];
  size_t sizes[kList];
  strcpy(text, a->text);
  if (!strcmp(a->kind, "b")) p_TFE_OpSetAttrBool(op, a->name, atoi(text));
  else if (!strcmp(a->kind, "i")) p_TFE_OpSetAttrInt(op, a->name, atoll(text));
  else if (!strcmp(a->kind, "f")) p_TFE_OpSetAttrFloat(op, a->name, atof(text));
  else if (!strcmp(a->kind, "s")) p_TFE_OpSetAttrString(op, a->name, text, strlen(text));
  else if (!strcmp(a->kind, "t")) p_TFE_OpSetAttrType(op, a->name, atoi(text));
  else {
    int n = list_of(text, items);
    for (int i = 0; i < n; i++) ints[i] = atoll(items[i]), types[i] = atoi(items[i]), sizes[i] = strlen(items[i]);
    if (!strcmp(a->kind, "li")) p_TFE_OpSetAttrIntList(op, a->name, ints, n);
    if (!strcmp(a->kind, "lt")) p_TFE_OpSetAttrTypeList(op, a->name, types, n);
    if (!strcmp(a->kind, "ls")) p_TFE_OpSetAttrStringList(op, a->name, (const void* const*)items, sizes, n);
  }
}

static int run(const struct op_case* c) {
  p_TFE_OpReset(op, c->op, NULL, st);
  if (p_TF_GetCode(st) != TF_OK) return 0;
  for (int i = 0; i < c->inputs; i++) p_TFE_OpAddInput(op, c->in[i], st);
  for (int i = 0; i < c->n_attrs; i++) set_attr(&c->attrs[i]);
  TFE_TensorHandle* out[64];
  int n = 64;
  p_TFE_Execute(op, out, &n, st);
  if (p_TF_GetCode(st) != TF_OK) return 0;
  for (int i = 0; i < n; i++) p_TFE_DeleteTensorHandle(out[i]);
  return 1;
}

static void add(char* line) {
  struct op_case* c = calloc(1, sizeof *c);
  char* word = strtok(line, " ");
  char* words[128];
  int n = 0;
  snprintf(c->op, sizeof c->op, "%s", word ? word : "");
  while ((word = strtok(NULL, " ")) && n < 128) words[n++] = word;
  for (int i = 0; i < n; i++) {
    if (words[i][0] == '@') {
      struct attr* a = &c->attrs[c->n_attrs++];
      sscanf(words[i], "@%47[^=]=%3[^:]:%255s", a->name, a->kind, a->text);
      continue;
    }
    TF_Tensor* t = tensor(words[i]);
    if (!t) {
      printf("error bad input %s\n", words[i]);
      return;
    }
    TFE_TensorHandle* h = p_TFE_NewTensorHandle(t, st);
    p_TF_DeleteTensor(t);
    if (!strncmp(words[i], "var", 3)) h = variable(h);
    if (!h) {
      printf("error %s\n", problem);
      return;
    }
    c->in[c->inputs++] = h;
  }
  if (n_cases == kCases || !run(c)) {
    failed();
    printf("error %s\n", problem);
    p_TFE_OpReset(op, "NoOp", NULL, st);
    return;
  }
  cases[n_cases++] = c;
  printf("%d\n", n_cases - 1);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: op_bench LIB THREADS\n");
    return 2;
  }
  void* lib = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!lib) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
#define LOAD(f)                                     \
  if (!(p_##f = (__typeof__(&f))dlsym(lib, #f))) {  \
    fprintf(stderr, "the library has no %s\n", #f); \
    return 1;                                       \
  }
  API(LOAD)
  st = p_TF_NewStatus();
  // ConfigProto: intra_op_parallelism_threads (2) and inter_op_parallelism_threads (5).
  uint8_t config[4] = {0x10, (uint8_t)atoi(argv[2]), 0x28, (uint8_t)atoi(argv[2])};
  TFE_ContextOptions* co = p_TFE_NewContextOptions();
  p_TFE_ContextOptionsSetConfig(co, config, 4, st);
  ctx = p_TFE_NewContext(co, st);
  if (failed()) {
    fprintf(stderr, "%s\n", problem);
    return 1;
  }
  op = p_TFE_NewOp(ctx, "NoOp", st);
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    int n;
    double budget;
    if (!strncmp(line, "add ", 4)) {
      add(line + 4);
    } else if (sscanf(line, "time %d %lf", &n, &budget) == 2 && n >= 0 && n < n_cases) {
      run(cases[n]);
      const double start = now_us();
      double end;
      long calls = 0, step = 1;
      do {  // the clock is looked at rarely enough not to show
        for (long i = 0; i < step; i++) run(cases[n]);
        calls += step;
        end = now_us();
        if (end - start < budget / 8) step *= 2;
      } while (end - start < budget);
      printf("%.4f\n", (end - start) / calls);
    } else {
      break;
    }
    fflush(stdout);
  }
  return 0;
}
