// A plain C program that uses TensorFlow's C API as its clients do: rightly, with nulls, and wrongly.
//   c_client LIBRARY PLUGIN [--tensorflow]
//   c_client --device PLUGIN [--tensorflow]
//   c_client --optimizer PLUGIN [--tensorflow]
// LIBRARY and PLUGIN are the shared libraries built from user_lib.c and fs_plugin.c.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

bool on_tensorflow = false;
TF_Status* s = NULL;
static int passed = 0, failed = 0;

bool check(bool holds, const char* what, const char* file, int line) {
  if (holds) {
    ++passed;
  } else {
    ++failed;
    printf("%s:%d: failed: %s\n", file, line, what);
  }
  return holds;
}

bool expect(TF_Code code, const char* text, const char* call, const char* file, int line) {
  const bool holds = TF_GetCode(s) == code && strstr(TF_Message(s), text) != NULL;
  check(holds, call, file, line);
  if (!holds) printf("    wanted %d with \"%s\", got %d with \"%s\"\n", (int)code, text, (int)TF_GetCode(s), TF_Message(s));
  return holds;
}

TF_Tensor* new_tensor(TF_DataType type, int rank, const int64_t* dims, const void* data, size_t size) {
  TF_Tensor* t = TF_AllocateTensor(type, dims, rank, size);
  if (CHECK(t != NULL) && size) memcpy(TF_TensorData(t), data, size);
  return t;
}

static TFE_TensorHandle* handle_of(TF_Tensor* t) {
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  return h;
}
TFE_TensorHandle* floats(int n, const float* values) {
  const int64_t dims[] = {n};
  return handle_of(new_tensor(TF_FLOAT, 1, dims, values, (size_t)n * sizeof(float)));
}
TFE_TensorHandle* scalar_f(float value) { return handle_of(new_tensor(TF_FLOAT, 0, NULL, &value, sizeof value)); }
TFE_TensorHandle* scalar_i(int32_t value) { return handle_of(new_tensor(TF_INT32, 0, NULL, &value, sizeof value)); }

bool handle_is(TFE_TensorHandle* h, int n, const float* want) {
  if (!h) return false;
  TF_Tensor* t = TFE_TensorHandleResolve(h, s);
  if (!t) return false;
  const bool same = TF_TensorType(t) == TF_FLOAT && TF_TensorElementCount(t) == n && memcmp(TF_TensorData(t), want, (size_t)n * sizeof(float)) == 0;
  TF_DeleteTensor(t);
  return same;
}

TFE_Context* new_context(const void* config, size_t size, bool async) {
  TFE_ContextOptions* o = TFE_NewContextOptions();
  if (config) OK(TFE_ContextOptionsSetConfig(o, config, size, s));
  TFE_ContextOptionsSetAsync(o, async);
  TFE_Context* c = NULL;
  OK(c = TFE_NewContext(o, s));
  TFE_DeleteContextOptions(o);
  return c;
}

TFE_Op* new_op(TFE_Context* c, const char* name, int n, TFE_TensorHandle** inputs) {
  TFE_Op* op = NULL;
  OK(op = TFE_NewOp(c, name, s));
  for (int i = 0; op && i < n; ++i) OK(TFE_OpAddInput(op, inputs[i], s));
  return op;
}

TFE_TensorHandle* run1(TFE_Op* op, TF_Code code, const char* text) {
  TFE_TensorHandle* out = NULL;
  int n = 1;
  if (!op) return NULL;
  EXPECT(code, text, TFE_Execute(op, &out, &n, s));
  TFE_DeleteOp(op);
  return TF_GetCode(s) == TF_OK ? out : NULL;
}

TFE_TensorHandle* binary(TFE_Context* c, const char* name, TFE_TensorHandle* a, TFE_TensorHandle* b) {
  TFE_TensorHandle* inputs[] = {a, b};
  return run1(new_op(c, name, 2, inputs), TF_OK, "");
}

static const unsigned char* varint(const unsigned char* p, const unsigned char* end, uint64_t* value) {
  *value = 0;
  for (int shift = 0; p < end && shift < 64; shift += 7) {
    *value |= (uint64_t)(*p & 127) << shift;
    if (!(*p++ & 128)) return p;
  }
  return NULL;
}

int count_field_1(const void* data, size_t length) {
  const unsigned char *p = data, *end = p + length;
  int count = 0;
  while (p < end) {
    uint64_t key, size;
    if (!(p = varint(p, end, &key)) || key != (1 << 3 | 2)) return -1;
    if (!(p = varint(p, end, &size)) || size > (uint64_t)(end - p)) return -1;
    p += size;
    ++count;
  }
  return count;
}

bool holds_bytes(const void* data, size_t length, const char* text) {
  const size_t n = strlen(text);
  for (size_t i = 0; i + n <= length; ++i) {
    if (memcmp((const char*)data + i, text, n) == 0) return true;
  }
  return false;
}

static int saved_stderr = -1;
static FILE* captured = NULL;

void capture_stderr(void) {
  fflush(stderr);
  captured = tmpfile();
  saved_stderr = dup(2);
  dup2(fileno(captured), 2);
}
const char* captured_stderr(void) {
  static char text[65536];
  fflush(stderr);
  dup2(saved_stderr, 2);
  close(saved_stderr);
  rewind(captured);
  text[fread(text, 1, sizeof text - 1, captured)] = 0;
  fclose(captured);
  return text;
}

static int report(void) {
  TF_DeleteStatus(s);
  if (failed) printf("%d checks failed\n", failed);
  printf("%d checks passed\n", passed);
  return failed != 0;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    printf(
        "usage: c_client LIBRARY PLUGIN [--tensorflow]\n       c_client --device PLUGIN [--tensorflow]\n       c_client --optimizer PLUGIN "
        "[--tensorflow]\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  on_tensorflow = argc > 3 && strcmp(argv[3], "--tensorflow") == 0;
  s = TF_NewStatus();
  if (strcmp(argv[1], "--device") == 0) {
    test_pluggable_device(argv[2]);
    return report();
  }
  if (strcmp(argv[1], "--optimizer") == 0) {
    test_graph_optimizer(argv[2]);
    return report();
  }
  test_statuses();
  test_tensors();
  test_strings_and_buffers();
  test_contexts();
  test_ops();
  test_attrs();
  test_handles();
  test_devices();
  test_async();
  test_user_ops();
  test_user_kernels();
  test_registry(argv[1]);
  test_environment();
  test_checkpoint_reader();
  test_servers();
  test_plugins(argv[2], argv[1]);
  test_monitoring();
  test_experimental();
  test_graph_mistakes();
  test_graph_shapes();
  test_graph_attrs();
  test_graph_edges();
  test_graph_import();
  test_graph_while();
  test_functions();
  test_graph_runs();
  test_eager_functions();
  test_unified();
  test_function_library();
  test_compiler_switches();
  test_deprecated_sessions();
  test_attr_orders();
  test_device_names();
  test_no_kernel();
  test_no_cluster();
  test_custom_devices();
  test_packed_handles();
  test_run_metadata();
  test_kernel_context();
  test_cancellation();
  test_fed_and_fetched();
  return report();
}
