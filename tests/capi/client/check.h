// Checks for the C client: each says what failed and goes on. EXPECT clears the shared status, runs the
// call and compares the code, and the text that the message must hold. NULLS holds calls that TensorFlow
// answers with a crash; the program skips them when it runs against TensorFlow itself (--tensorflow).
#ifndef WEFT_TESTS_C_CLIENT_CHECK_H_
#define WEFT_TESTS_C_CLIENT_CHECK_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/tf_tstring.h"

extern bool on_tensorflow;
extern TF_Status* s;

bool check(bool holds, const char* what, const char* file, int line);
bool expect(TF_Code code, const char* text, const char* call, const char* file, int line);

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define EXPECT(code, text, call)                       \
  do {                                                 \
    TF_SetStatus(s, TF_OK, "");                        \
    call;                                              \
    expect((code), (text), #call, __FILE__, __LINE__); \
  } while (0)
#define OK(call) EXPECT(TF_OK, "", call)
#define INVALID(call) EXPECT(TF_INVALID_ARGUMENT, "", call)
#define NULLS if (!on_tensorflow)

// Small helpers over the API; they check what they call.
TF_Tensor* new_tensor(TF_DataType type, int rank, const int64_t* dims, const void* data, size_t size);
TFE_TensorHandle* floats(int n, const float* values);          // rank 1
TFE_TensorHandle* scalar_f(float value);
TFE_TensorHandle* scalar_i(int32_t value);
bool handle_is(TFE_TensorHandle* h, int n, const float* want);  // exact
TFE_Context* new_context(const void* config, size_t size, bool async);
TFE_Op* new_op(TFE_Context* c, const char* name, int n, TFE_TensorHandle** inputs);
TFE_TensorHandle* run1(TFE_Op* op, TF_Code code, const char* text);  // executes and deletes the op
TFE_TensorHandle* binary(TFE_Context* c, const char* name, TFE_TensorHandle* a, TFE_TensorHandle* b);

// Counts the entries of a repeated message field 1 at the top of a message; -1 if it does not parse.
int count_field_1(const void* data, size_t length);
bool holds_bytes(const void* data, size_t length, const char* text);

// Sends stderr to a file between the two; what was written comes back (valid until the next call).
void capture_stderr(void);
const char* captured_stderr(void);

void test_statuses(void);
void test_tensors(void);
void test_strings_and_buffers(void);
void test_registry(const char* library);
void test_contexts(void);
void test_ops(void);
void test_attrs(void);
void test_handles(void);
void test_devices(void);
void test_async(void);
void test_user_ops(void);
void test_user_kernels(void);
void test_environment(void);
void test_checkpoint_reader(void);
void test_servers(void);
void test_plugins(const char* plugin, const char* library);
void test_pluggable_device(const char* plugin);
void test_graph_optimizer(const char* plugin);
void test_monitoring(void);
void test_experimental(void);
void test_graph_mistakes(void);
void test_graph_shapes(void);
void test_graph_attrs(void);
void test_graph_edges(void);
void test_graph_import(void);
void test_graph_while(void);
void test_functions(void);
void test_graph_runs(void);
void test_eager_functions(void);
void test_unified(void);
void test_function_library(void);
void test_compiler_switches(void);
void test_deprecated_sessions(void);
void test_attr_orders(void);
void test_device_names(void);
void test_fed_and_fetched(void);
void test_no_kernel(void);
void test_no_cluster(void);
void test_custom_devices(void);
void test_packed_handles(void);
void test_run_metadata(void);
void test_kernel_context(void);
void test_cancellation(void);

#endif  // WEFT_TESTS_C_CLIENT_CHECK_H_
