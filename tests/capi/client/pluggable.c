// A device that a plug-in brings (device_plugin.c): its memory cannot be read by the host, so that every value here went through the plug-in's copies.
// These tests run in a process of their own: ops go to such a device by themselves, as far as it has kernels.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdlib.h>

#include "graph.h"

#define CPU0 "/job:localhost/replica:0/task:0/device:CPU:0"
#define MINE(n) "/job:localhost/replica:0/task:0/device:MY_DEVICE:" #n

static bool lives_on(TFE_TensorHandle* h, const char* device) {
  const char* name = h ? TFE_TensorHandleDeviceName(h, s) : NULL;
  const bool holds = name && strcmp(name, device) == 0;
  if (!holds) printf("    lives on %s\n", name ? name : "(null)");
  return holds;
}
static TFE_TensorHandle* op_on(TFE_Context* c, const char* op, const char* device, int n, TFE_TensorHandle** in, TF_Code code, const char* text) {
  TFE_Op* o = new_op(c, op, n, in);
  if (device) OK(TFE_OpSetDevice(o, device, s));
  return run1(o, code, text);
}

static void test_faults(const char* plugin) {
  static const struct {
    const char* fault;
    TF_Code code;
    const char* text;
    bool later;  // in TensorFlow when a device is first wanted
  } wrong[] = {
      {"init_fails", TF_UNAVAILABLE, "init says no", false},
      {"platform_size", TF_FAILED_PRECONDITION, "struct_size field in SP_Platform must be set to SP_PLATFORM_STRUCT_SIZE.", false},
      {"no_name", TF_FAILED_PRECONDITION, "'name' field in SP_Platform must be set.", false},
      {"no_type", TF_FAILED_PRECONDITION, "'type' field in SP_Platform must be set.", false},
      {"lower_case", TF_FAILED_PRECONDITION, "Device name/type 'my_device' must match [A-Z][A-Z_]*.", false},
      {"fns_size", TF_FAILED_PRECONDITION, "struct_size field in SP_PlatformFns must be set to SP_PLATFORM_FNS_STRUCT_SIZE.", false},
      {"no_create_device", TF_FAILED_PRECONDITION, "'create_device' field in SP_PlatformFns must be set.", false},
      {"no_destroy", TF_FAILED_PRECONDITION, "'destroy_platform' field in SE_PlatformRegistrationParams must be set.", false},
      {"executor_fails", TF_INTERNAL, "no executor", false},
      {"executor_size", TF_FAILED_PRECONDITION, "struct_size field in SP_StreamExecutor must be set to SP_STREAM_EXECUTOR_STRUCT_SIZE.", false},
      {"no_allocate", TF_FAILED_PRECONDITION, "'allocate' field in SP_StreamExecutor must be set.", false},
      {"no_dtoh", TF_FAILED_PRECONDITION, "'memcpy_dtoh' field in SP_StreamExecutor must be set.", false},
      {"no_nanoseconds", TF_FAILED_PRECONDITION, "'nanoseconds' field in SP_TimerFns must be set.", false},
      {"count_fails", TF_UNAVAILABLE, "nobody counts devices here", true},
      {"negative_count", TF_FAILED_PRECONDITION, "reports -3 devices", true},
      {"device_fails", TF_INTERNAL, "the second device is broken", true},
      {"device_size", TF_FAILED_PRECONDITION, "struct_size field in SP_Device must be set to SP_DEVICE_STRUCT_SIZE.", true},
      {"no_stream", TF_INTERNAL, "no stream to be had", true},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    if (on_tensorflow) continue;  // keeps what a failed attempt registered
    setenv("WEFT_DEVICE_FAULT", wrong[i].fault, 1);
    TF_Library* library = NULL;
    EXPECT(wrong[i].code, wrong[i].text, library = TF_LoadPluggableDeviceLibrary(plugin, s));
    CHECK(library == NULL);
    void* loaded = dlopen(plugin, RTLD_NOW | RTLD_NOLOAD);
    CHECK(loaded != NULL);
    int64_t (*live)(void) = NULL;
    *(void**)&live = dlsym(loaded, "seen_live");
    CHECK(live && live() == 0);  // what it made before the fault was given back
  }
  unsetenv("WEFT_DEVICE_FAULT");
}

static void check_list(TF_DeviceList* list) {
  int mine = 0, cpus = 0;
  for (int i = 0; i < TF_DeviceListCount(list); ++i) {
    const char* type = TF_DeviceListType(list, i, s);
    cpus += strcmp(type, "CPU") == 0;
    if (strcmp(type, "MY_DEVICE") != 0) continue;
    CHECK(strcmp(TF_DeviceListName(list, i, s), mine == 0 ? MINE(0) : MINE(1)) == 0);
    CHECK(TF_DeviceListMemoryBytes(list, i, s) >= 0);
    ++mine;
  }
  CHECK(mine == 2 && cpus == 1);
  TF_DeleteDeviceList(list);
}

static void test_eager(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  TF_DeviceList* list = NULL;
  OK(list = TFE_ContextListDevices(c, s));
  check_list(list);
  const float a_values[] = {1, 2, 3}, b_values[] = {10, 20, 30}, sum[] = {11, 22, 33}, squares[] = {1, 4, 9};
  TFE_TensorHandle* in[] = {floats(3, a_values), floats(3, b_values)};

  // By name, and without one: the device has a kernel.
  TFE_TensorHandle* there = op_on(c, "AddV2", "/device:MY_DEVICE:1", 2, in, TF_OK, "");
  CHECK(lives_on(there, MINE(1)) && handle_is(there, 3, sum));
  TFE_TensorHandle* first = op_on(c, "AddV2", NULL, 2, in, TF_OK, "");
  CHECK(lives_on(first, MINE(0)) && handle_is(first, 3, sum));
  // From device to device, and to an op that the device has no kernel for.
  TFE_TensorHandle* square = op_on(c, "Square", "/device:MY_DEVICE:0", 1, in, TF_OK, "");
  CHECK(lives_on(square, MINE(0)) && handle_is(square, 3, squares));
  TFE_TensorHandle* both[] = {there, square};
  const float mixed[] = {12, 26, 42}, difference[] = {10, 18, 24};
  TFE_TensorHandle* more = op_on(c, "AddV2", "/device:MY_DEVICE:0", 2, both, TF_OK, "");
  CHECK(lives_on(more, MINE(0)) && handle_is(more, 3, mixed));
  TFE_TensorHandle* less = op_on(c, "Sub", NULL, 2, both, TF_OK, "");
  CHECK(lives_on(less, CPU0) && handle_is(less, 3, difference));
  TFE_DeleteTensorHandle(less);
  OK(TFE_ContextSetSoftDevicePlacement(c, 1, s));
  less = op_on(c, "Sub", "/device:MY_DEVICE:1", 2, both, TF_OK, "");  // given up for the CPU
  CHECK(lives_on(less, CPU0) && handle_is(less, 3, difference));
  OK(TFE_ContextSetSoftDevicePlacement(c, 0, s));
  op_on(c, "Sub", "/device:MY_DEVICE:1", 2, both, TF_INVALID_ARGUMENT,
        "Could not satisfy device specification '/device:MY_DEVICE:1'. enable_soft_placement=0. Supported device types [CPU].");
  OK(TFE_ContextSetSoftDevicePlacement(c, 1, s));

  // Sizes in host memory; ops that hand their input on serve every device.
  const int32_t sizes[] = {2};
  const int64_t one[] = {1};
  TF_Tensor* t = new_tensor(TF_INT32, 1, one, sizes, sizeof sizes);
  TFE_TensorHandle* fill[] = {TFE_NewTensorHandle(t, s), scalar_f(7)};
  TF_DeleteTensor(t);
  const float sevens[] = {7, 7};
  TFE_TensorHandle* filled = op_on(c, "Fill", "/device:MY_DEVICE:1", 2, fill, TF_OK, "");
  CHECK(lives_on(filled, MINE(1)) && handle_is(filled, 2, sevens));
  TFE_TensorHandle* same = op_on(c, "Identity", "/device:MY_DEVICE:0", 1, in, TF_OK, "");
  CHECK(lives_on(same, MINE(0)) && handle_is(same, 3, a_values));
  TFE_TensorHandle* shape = op_on(c, "Shape", "/device:MY_DEVICE:0", 1, &same, TF_OK, "");
  CHECK(lives_on(shape, MINE(0)) && strcmp(TFE_TensorHandleBackingDeviceName(shape, s), CPU0) == 0);
  TF_Tensor* dims = NULL;
  OK(dims = TFE_TensorHandleResolve(shape, s));
  CHECK(dims && *(int32_t*)TF_TensorData(dims) == 3);
  TF_DeleteTensor(dims);

  // Copies that are asked for.
  TFE_TensorHandle *up = NULL, *down = NULL, *across = NULL;
  OK(up = TFE_TensorHandleCopyToDevice(in[0], c, "/device:MY_DEVICE:0", s));
  OK(across = TFE_TensorHandleCopyToDevice(up, c, "/device:MY_DEVICE:1", s));
  OK(down = TFE_TensorHandleCopyToDevice(across, c, "/device:CPU:0", s));
  CHECK(lives_on(up, MINE(0)) && lives_on(across, MINE(1)) && lives_on(down, CPU0));
  CHECK(handle_is(up, 3, a_values) && handle_is(across, 3, a_values) && handle_is(down, 3, a_values));

  // What the plug-in cannot do is an error of the op.
  setenv("WEFT_DEVICE_FAULT", "no_memory", 1);
  op_on(c, "AddV2", "/device:MY_DEVICE:0", 2, both, TF_RESOURCE_EXHAUSTED, "");
  setenv("WEFT_DEVICE_FAULT", "dtoh_fails", 1);
  if (!on_tensorflow) EXPECT(TF_DATA_LOSS, "the way to the host is closed", TFE_TensorHandleResolve(more, s));
  setenv("WEFT_DEVICE_FAULT", "htod_fails", 1);
  if (!on_tensorflow) op_on(c, "Square", "/device:MY_DEVICE:0", 1, in, TF_DATA_LOSS, "the way to the device is closed");
  unsetenv("WEFT_DEVICE_FAULT");
  TFE_TensorHandle* odd[] = {first, filled};
  op_on(c, "AddV2", "/device:MY_DEVICE:0", 2, odd, TF_INVALID_ARGUMENT, "MY_DEVICE adds tensors of one shape");

  // A variable in the device's memory.
  TFE_Op* op = new_op(c, "VarHandleOp", 0, NULL);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  const int64_t three[] = {3};
  OK(TFE_OpSetAttrShape(op, "shape", three, 1, s));
  OK(TFE_OpSetDevice(op, "/device:MY_DEVICE:1", s));
  TFE_TensorHandle* variable = run1(op, TF_OK, "");
  CHECK(lives_on(variable, MINE(1)));
  TFE_TensorHandle* assign[] = {variable, in[1]};
  int n = 0;
  op = new_op(c, "AssignVariableOp", 2, assign);
  OK(TFE_Execute(op, NULL, &n, s));
  TFE_DeleteOp(op);
  op = new_op(c, "ReadVariableOp", 1, assign);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_TensorHandle* read = run1(op, TF_OK, "");
  CHECK(lives_on(read, MINE(1)) && handle_is(read, 3, b_values));

  TFE_TensorHandle* all[] = {in[0], in[1], there, first, square, more, less, fill[0], fill[1], filled, same, shape, up, down, across, variable, read};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) TFE_DeleteTensorHandle(all[i]);
  TFE_DeleteContext(c);
}

static TF_Operation* node_on(TF_Graph* g, const char* op, const char* name, const char* device, TF_Operation* a, TF_Operation* b) {
  TF_OperationDescription* d = TF_NewOperation(g, op, name);
  TF_AddInput(d, out(a, 0));
  if (b) TF_AddInput(d, out(b, 0));
  if (device) TF_SetDevice(d, device);
  TF_Operation* made = NULL;
  OK(made = TF_FinishOperation(d, s));
  return made;
}

// sum = x + y on the device, less = sum - y on the CPU, square = less * less on the other device.
static void build(TF_Graph* g, TF_Operation* ops[5]) {
  ops[0] = placeholder(g, "x", TF_FLOAT, -1, NULL);
  ops[1] = placeholder(g, "y", TF_FLOAT, -1, NULL);
  ops[2] = node_on(g, "AddV2", "sum", "/device:MY_DEVICE:0", ops[0], ops[1]);
  ops[3] = node_on(g, "Sub", "less", "/device:CPU:0", ops[2], ops[1]);
  ops[4] = node_on(g, "Square", "square", "/device:MY_DEVICE:1", ops[3], NULL);
}

static bool tensor_is(const TF_Tensor* t, int n, const float* want) {
  if (!t || TF_TensorElementCount(t) != n) return false;
  for (int i = 0; i < n; ++i)
    if (((const float*)TF_TensorData(t))[i] != want[i]) return false;
  return true;
}

static void test_graphs(void) {
  const float x[] = {1, 2, 3}, y[] = {10, 20, 30}, sum[] = {11, 22, 33}, squares[] = {1, 4, 9};
  const int64_t three[] = {3};
  TF_Graph* g = TF_NewGraph();
  TF_Operation* ops[5];
  build(g, ops);
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  TF_DeviceList* list = NULL;
  OK(list = TF_SessionListDevices(session, s));
  check_list(list);
  const TF_Output feeds[] = {out(ops[0], 0), out(ops[1], 0)}, fetches[] = {out(ops[2], 0), out(ops[3], 0), out(ops[4], 0)};
  for (int run = 0; run < 4; ++run) {
    TF_Tensor* values[] = {new_tensor(TF_FLOAT, 1, three, x, sizeof x), new_tensor(TF_FLOAT, 1, three, y, sizeof y)};
    TF_Tensor* results[3] = {NULL, NULL, NULL};
    OK(TF_SessionRun(session, NULL, feeds, values, 2, fetches, results, 3, NULL, 0, NULL, s));
    CHECK(tensor_is(results[0], 3, sum) && tensor_is(results[1], 3, x) && tensor_is(results[2], 3, squares));
    for (int i = 0; i < 2; ++i) TF_DeleteTensor(values[i]);
    for (int i = 0; i < 3; ++i) TF_DeleteTensor(results[i]);
  }
  // Without a kernel on the device that it names: an error here, where soft placement is off.
  TF_Operation* bad = node_on(g, "Mul", "bad", "/device:MY_DEVICE:0", ops[0], ops[1]);
  TF_Output fetch = out(bad, 0);
  TF_Tensor* values[] = {new_tensor(TF_FLOAT, 1, three, x, sizeof x), new_tensor(TF_FLOAT, 1, three, y, sizeof y)};
  TF_Tensor* result = NULL;
  EXPECT(TF_INVALID_ARGUMENT, "because no supported kernel for MY_DEVICE devices is available.",
         TF_SessionRun(session, NULL, feeds, values, 2, &fetch, &result, 1, NULL, 0, NULL, s));
  for (int i = 0; i < 2; ++i) TF_DeleteTensor(values[i]);
  OK(TF_CloseSession(session, s));
  OK(TF_DeleteSession(session, s));
  TF_DeleteSessionOptions(options);

  // The same as a function, called eagerly.
  TF_Graph* body = TF_NewGraph();
  build(body, ops);
  const TF_Output in[] = {out(ops[0], 0), out(ops[1], 0)}, outs[] = {out(ops[2], 0), out(ops[3], 0), out(ops[4], 0)};
  TF_Function* f = NULL;
  OK(f = TF_GraphToFunction(body, "over_devices", 0, -1, NULL, 2, in, 3, outs, NULL, NULL, NULL, s));
  TFE_Context* c = new_context(NULL, 0, false);
  OK(TFE_ContextAddFunction(c, f, s));
  TFE_TensorHandle* args[] = {floats(3, x), floats(3, y)};
  for (int run = 0; run < 4; ++run) {
    TFE_Op* call = new_op(c, "over_devices", 2, args);
    TFE_TensorHandle* rets[3] = {NULL, NULL, NULL};
    int n = 3;
    OK(TFE_Execute(call, rets, &n, s));
    CHECK(n == 3 && handle_is(rets[0], 3, sum) && handle_is(rets[1], 3, x) && handle_is(rets[2], 3, squares));
    CHECK(lives_on(rets[0], MINE(0)));
    if (!on_tensorflow) CHECK(lives_on(rets[1], CPU0) && lives_on(rets[2], MINE(1)));  // which may bring results to its first device
    // What a function gave goes into the next call as it is.
    if (run == 2) {
      TFE_TensorHandle* chained[] = {rets[2], rets[0]};
      TFE_Op* again = new_op(c, "over_devices", 2, chained);
      TFE_TensorHandle* more[3] = {NULL, NULL, NULL};
      const float fourth[] = {1, 16, 81};
      OK(TFE_Execute(again, more, &n, s));
      CHECK(handle_is(more[2], 3, fourth));
      TFE_DeleteOp(again);
      for (int i = 0; i < 3; ++i) TFE_DeleteTensorHandle(more[i]);
    }
    TFE_DeleteOp(call);
    for (int i = 0; i < 3; ++i) TFE_DeleteTensorHandle(rets[i]);
  }
  for (int i = 0; i < 2; ++i) TFE_DeleteTensorHandle(args[i]);
  TFE_DeleteContext(c);
  TF_DeleteFunction(f);
  TF_DeleteGraph(body);
  TF_DeleteGraph(g);
}

void test_pluggable_device(const char* plugin) {
  test_faults(plugin);
  TF_Library* library = NULL;
  OK(library = TF_LoadPluggableDeviceLibrary(plugin, s));
  TF_DeletePluggableDeviceLibraryHandle(library);
  if (!on_tensorflow) {  // which ends the process
    OK(library = TF_LoadPluggableDeviceLibrary(plugin, s));  // a second time there is nothing to do
    TF_DeletePluggableDeviceLibraryHandle(library);
  }
  test_eager();
  test_graphs();
}
