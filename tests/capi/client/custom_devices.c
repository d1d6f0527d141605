// Devices that the program registers: a logging device that keeps tensors of the CPU in a box; packed handles; graphs that a context collects.
// The record of callbacks is what TensorFlow makes of the same calls.
#include <stdlib.h>

#include "check.h"

#define CUSTOM "/job:localhost/replica:0/task:0/device:CUSTOM:"
#define CPU "/job:localhost/replica:0/task:0/device:CPU:0"

static TFE_Context* c;
static char record[4096];  // what the callbacks were called for

static void note(const char* what) {
  if (strlen(record) + strlen(what) + 2 < sizeof record) strcat(strcat(record, what), ";");
}
static bool noted(const char* want) {
  const bool same = strcmp(record, want) == 0;
  if (!same) printf("    wanted \"%s\", got \"%s\"\n", want, record);
  record[0] = 0;
  return same;
}

typedef struct {
  TFE_TensorHandle* inside;
} Box;

static int num_dims(void* data, TF_Status* status) {
  note("num_dims");
  return TFE_TensorHandleNumDims(((Box*)data)->inside, status);
}
static int64_t dim(void* data, int i, TF_Status* status) {
  note("dim");
  return TFE_TensorHandleDim(((Box*)data)->inside, i, status);
}
static void deallocate(void* data) {
  note("deallocate");
  TFE_DeleteTensorHandle(((Box*)data)->inside);
  free(data);
}
static Box* box_of(TFE_TensorHandle* h) {
  TF_Status* status = TF_NewStatus();
  Box* b = TFE_TensorHandleDevicePointer(h, status);
  CHECK(TF_GetCode(status) == TF_OK && b);
  TF_DeleteStatus(status);
  return b;
}
// Takes `inside` over.
static TFE_TensorHandle* boxed(const char* device, TFE_TensorHandle* inside, TF_Status* status) {
  Box* b = malloc(sizeof *b);
  b->inside = inside;
  const TFE_CustomDeviceTensorHandle methods = {TFE_CUSTOM_DEVICE_VERSION, num_dims, dim, deallocate, NULL};
  return TFE_NewCustomDeviceTensorHandle(c, device, TFE_TensorHandleDataType(inside), b, methods, status);
}

static TFE_TensorHandle* copy_to(TFE_Context* context, TFE_TensorHandle* h, TF_Status* status, void* info) {
  (void)context;
  note("to");
  TFE_TensorHandle* inside = strstr(TFE_TensorHandleDeviceName(h, status), "CUSTOM") ? box_of(h)->inside : h;
  return boxed(info, TFE_TensorHandleCopySharingTensor(inside, status), status);
}
static TFE_TensorHandle* copy_from(TFE_Context* context, TFE_TensorHandle* h, const char* target, TF_Status* status, void* info) {
  (void)context, (void)info;
  note("from");
  note(target);
  return TFE_TensorHandleCopySharingTensor(box_of(h)->inside, status);
}
static void execute(const TFE_Op* op, int* num_outputs, TFE_TensorHandle** outputs, TF_Status* status, void* info) {
  note(TFE_OpGetName(op, status));
  note(TFE_OpGetDevice(op, status));
  TFE_Op* again = TFE_NewOp(TFE_OpGetContext(op, status), TFE_OpGetName(op, status), status);
  TFE_OpAddAttrs(again, TFE_OpGetAttrs(op));
  TFE_OpSetDevice(again, CPU, status);
  for (int i = 0; i < TFE_OpGetFlatInputCount(op, status); ++i) {
    TFE_TensorHandle* h = TFE_OpGetFlatInput(op, i, status);
    TFE_OpAddInput(again, strcmp(TFE_TensorHandleDeviceName(h, status), info) == 0 ? box_of(h)->inside : h, status);
  }
  TFE_TensorHandle* results[4];
  TFE_Execute(again, results, num_outputs, status);
  TFE_DeleteOp(again);
  for (int i = 0; TF_GetCode(status) == TF_OK && i < *num_outputs; ++i) outputs[i] = boxed(info, results[i], status);
}
static void delete_device(void* info) {
  note("delete");
  note(info);
}
static TFE_TensorHandle* pack(TFE_Context* context, TFE_TensorHandle** handles, int n, TF_Status* status, void* info) {
  (void)context, (void)n;
  note("pack");
  return boxed(info, TFE_TensorHandleCopySharingTensor(box_of(handles[0])->inside, status), status);
}

// Runs an op on one or two inputs and notes where the result is.
static void run(const char* name, TFE_TensorHandle* a, TFE_TensorHandle* b, const char* device, const char* where, TF_Code code, const char* text) {
  TFE_Op* op = NULL;
  OK(op = TFE_NewOp(c, name, s));
  if (device) OK(TFE_OpSetDevice(op, device, s));
  OK(TFE_OpAddInput(op, a, s));
  if (b) OK(TFE_OpAddInput(op, b, s));
  TFE_TensorHandle* out = NULL;
  int n = 1;
  EXPECT(code, text, TFE_Execute(op, &out, &n, s));
  TFE_DeleteOp(op);
  if (!out || code != TF_OK) return;
  CHECK(strcmp(TFE_TensorHandleDeviceName(out, s), where) == 0);
  CHECK(strcmp(TFE_TensorHandleBackingDeviceName(out, s), where) == 0);
  char before[sizeof record];
  strcpy(before, record);
  TFE_DeleteTensorHandle(out);
  strcpy(record, before);
}

static void registration(const TFE_CustomDevice* device) {
  static char first[] = CUSTOM "0";
  OK(TFE_RegisterCustomDevice(c, *device, first, first, s));
  CHECK(noted(""));
  static char lost[] = "lost";  // the device is freed where it is refused
  EXPECT(TF_ALREADY_EXISTS, CUSTOM "0 already registered as a custom device.", TFE_RegisterCustomDevice(c, *device, first, lost, s));
  EXPECT(TF_ALREADY_EXISTS, CPU " already registered as a physical device.", TFE_RegisterCustomDevice(c, *device, CPU, lost, s));
  const char* const bad[] = {"/device:CUSTOM:5", "bogus", "/device:CUSTOM:*"};
  for (int i = 0; i < 3; ++i)
    EXPECT(TF_INVALID_ARGUMENT,
           "could not be parsed as a device name. Use the full /job:<name>/replica:<replica>/task:<task>/device:<type>:<device_num> format.",
           TFE_RegisterCustomDevice(c, *device, bad[i], lost, s));
  CHECK(noted("delete;lost;delete;lost;delete;lost;delete;lost;delete;lost;"));
  CHECK(TFE_IsCustomDevice(c, first) && !TFE_IsCustomDevice(c, "/device:CUSTOM:0") && !TFE_IsCustomDevice(c, CPU));
  TF_DeviceList* list = NULL;
  OK(list = TFE_ContextListDevices(c, s));
  CHECK(TF_DeviceListCount(list) == 1);
  TF_DeleteDeviceList(list);
  NULLS {
    INVALID(TFE_RegisterCustomDevice(NULL, *device, first, lost, s));
    INVALID(TFE_RegisterCustomDevice(c, *device, NULL, lost, s));
    CHECK(noted("delete;lost;delete;lost;"));
    CHECK(!TFE_IsCustomDevice(NULL, first) && !TFE_IsCustomDevice(c, NULL));
  }
}

void test_custom_devices(void) {
  c = new_context(NULL, 0, false);
  record[0] = 0;
  TFE_CustomDevice device = {TFE_CUSTOM_DEVICE_VERSION, copy_to, copy_from, execute, delete_device, pack, NULL};
  registration(&device);
  static char second[] = CUSTOM "1";
  device.pack = NULL;
  OK(TFE_RegisterCustomDevice(c, device, second, second, s));

  TFE_TensorHandle *two = scalar_f(2), *a = NULL, *b = NULL;
  OK(a = TFE_TensorHandleCopyToDevice(two, c, CUSTOM "0", s));
  OK(b = TFE_TensorHandleCopyToDevice(two, c, CUSTOM "1", s));
  CHECK(noted("to;to;"));
  EXPECT(TF_INVALID_ARGUMENT, "/device:CUSTOM:0 unknown device.", TFE_TensorHandleCopyToDevice(two, c, "/device:CUSTOM:0", s));
  TF_SetStatus(s, TF_OK, "");
  CHECK(strcmp(TFE_TensorHandleDeviceName(a, s), CUSTOM "0") == 0 && strcmp(TFE_TensorHandleDeviceType(a, s), "CUSTOM") == 0);
  CHECK(TFE_TensorHandleDeviceID(b, s) == 1 && TFE_TensorHandleDataType(a) == TF_FLOAT);
  CHECK(TFE_TensorHandleNumDims(a, s) == 0 && noted("num_dims;"));
  CHECK(TFE_TensorHandleNumElements(a, s) == 1 && noted("num_dims;"));
  EXPECT(TF_INVALID_ARGUMENT, "TFE_TensorHandleDeviceMemorySize may not be called on a REMOTE tensor handle.",
         TFE_TensorHandleDeviceMemorySize(a, s));
  TF_Tensor* value = NULL;
  OK(value = TFE_TensorHandleResolve(a, s));
  CHECK(value && *(float*)TF_TensorData(value) == 2 && noted("from;" CPU ";"));
  TF_DeleteTensor(value);

  run("Neg", two, NULL, CUSTOM "0", CUSTOM "0", TF_OK, "");
  CHECK(noted("Neg;" CUSTOM "0;"));
  run("Neg", a, NULL, NULL, CUSTOM "0", TF_OK, "");  // where the input lives
  CHECK(noted("Neg;;"));
  run("AddV2", a, two, NULL, CUSTOM "0", TF_OK, "");
  CHECK(noted("AddV2;;"));
  for (int i = 0; i < 2; ++i)
    run("AddV2", a, b, i ? CUSTOM "0" : NULL, "", TF_INVALID_ARGUMENT,
        "If an operation has one of its inputs in a custom device, then all inputs should be on that same custom device or another physical device. "
        "Operation AddV2 has one "
        "input in custom device " CUSTOM "0 and at least one input in a different custom device " CUSTOM "1");
  run("Neg", a, NULL, CPU, CPU, TF_OK, "");
  CHECK(noted("from;" CPU ";"));
  run("Neg", two, NULL, NULL, CPU, TF_OK, "");
  run("Neg", two, NULL, "/device:CUSTOM:0", "", TF_INVALID_ARGUMENT, "Could not satisfy device specification '/device:CUSTOM:0'");
  CHECK(noted(""));

  const char* const targets[] = {CPU, CUSTOM "1", CUSTOM "0"};
  const char* const calls[] = {"from;" CPU ";", "to;", "to;"};
  for (int i = 0; i < 3; ++i) {
    TFE_TensorHandle* copy = NULL;
    OK(copy = TFE_TensorHandleCopyToDevice(a, c, targets[i], s));
    CHECK(noted(calls[i]) && strcmp(TFE_TensorHandleDeviceName(copy, s), targets[i]) == 0);
    TFE_DeleteTensorHandle(copy);
    record[0] = 0;
  }
  TFE_TensorHandle *some[] = {a, a}, *others[] = {b, b}, *packed = NULL;
  int n = 2;
  OK(packed = TFE_CreatePackedTensorHandle(c, some, &n, s));
  CHECK(noted("pack;"));
  TFE_DeleteTensorHandle(packed);
  EXPECT(TF_UNIMPLEMENTED, "This custom device does not support packing tensors.", TFE_CreatePackedTensorHandle(c, others, &n, s));
  record[0] = 0;
  TFE_DeleteTensorHandle(a);
  CHECK(noted("deallocate;"));
  TFE_DeleteTensorHandle(two);
  TFE_DeleteContext(c);
  CHECK(strstr(record, "delete;" CUSTOM "0;") && strstr(record, "delete;" CUSTOM "1;"));
  NULLS {  // a handle outlives the device, whose callbacks are no longer called
    CHECK(strcmp(TFE_TensorHandleDeviceName(b, s), CUSTOM "1") == 0);
    EXPECT(TF_FAILED_PRECONDITION, "the context of the custom device " CUSTOM "1 was deleted", TFE_TensorHandleResolve(b, s));
  }
  record[0] = 0;
  TFE_DeleteTensorHandle(b);
  CHECK(noted("deallocate;"));
}

void test_packed_handles(void) {
  c = new_context(NULL, 0, false);
  TFE_TensorHandle *two = scalar_f(2), *parts[] = {two, two}, *packed = NULL;
  int n = 2, none = 0;
  OK(packed = TFE_CreatePackedTensorHandle(c, parts, &n, s));
  CHECK(strcmp(TFE_TensorHandleDeviceName(packed, s), "/job:localhost/replica:0/task:0/device:COMPOSITE:0") == 0);
  CHECK(TFE_TensorHandleDataType(packed) == TF_FLOAT && TFE_TensorHandleNumDims(packed, s) == 0);
  EXPECT(TF_INVALID_ARGUMENT, "Resolve() is not supported on packed TensorHandles.", TFE_TensorHandleResolve(packed, s));
  EXPECT(TF_INTERNAL, "Invalid Tensor call on a PACKED handle", TFE_TensorHandleCopyToDevice(packed, c, CPU, s));
  run("Neg", packed, NULL, NULL, CPU, TF_OK, "");
  EXPECT(TF_INVALID_ARGUMENT, "Handles should not be empty.", TFE_CreatePackedTensorHandle(c, parts, &none, s));
  NULLS {
    INVALID(TFE_CreatePackedTensorHandle(NULL, parts, &n, s));
    INVALID(TFE_CreatePackedTensorHandle(c, NULL, &n, s));
    INVALID(TFE_CreatePackedTensorHandle(c, parts, NULL, s));
  }
  TFE_DeleteTensorHandle(packed);
  TFE_DeleteTensorHandle(two);
  TFE_DeleteContext(c);
}

static void call(const char* function, TFE_TensorHandle* h) {
  TFE_TensorHandle* out = run1(new_op(c, function, 1, &h), TF_OK, "");
  TFE_DeleteTensorHandle(out);
}

// The metadata of a context: graphs of functions that ran first while it was on, and no times.
void test_run_metadata(void) {
  c = new_context(NULL, 0, false);
  TF_Graph* g = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(g, "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_Operation *x = NULL, *y = NULL;
  OK(x = TF_FinishOperation(d, s));
  d = TF_NewOperation(g, "Neg", "y");
  TF_AddInput(d, (TF_Output){x, 0});
  OK(y = TF_FinishOperation(d, s));
  const TF_Output in = {x, 0}, out = {y, 0};
  const char* const names[] = {"first_function", "second_function", "third_function"};
  for (int i = 0; i < 3; ++i) {
    TF_Function* f = NULL;
    OK(f = TF_GraphToFunction(g, names[i], 0, -1, NULL, 1, &in, 1, &out, NULL, NULL, "", s));
    OK(TFE_ContextAddFunction(c, f, s));
    TF_DeleteFunction(f);
  }
  TF_DeleteGraph(g);
  TFE_TensorHandle* two = scalar_f(2);
  TF_Buffer* metadata = NULL;
  for (int step = 0; step < 6; ++step) {
    if (step == 1) call("Neg", two);  // before, and ops: nothing
    if (step == 2) TFE_ContextEnableRunMetadata(c);
    if (step == 2) call("first_function", two);
    if (step == 3) call("first_function", two);  // not for the first time
    if (step == 4) TFE_ContextDisableRunMetadata(c);
    if (step == 4) call("second_function", two);
    if (step == 5) TFE_ContextEnableGraphCollection(c);
    if (step == 5) call("third_function", two);
    metadata = TF_NewBuffer();
    OK(TFE_ContextExportRunMetadata(c, metadata, s));
    if (step == 2 || step == 5) {  // partition_graphs are field 3, function_graphs field 4
      CHECK(metadata->length > 2 && ((const char*)metadata->data)[0] == (3 << 3 | 2));
      CHECK(holds_bytes(metadata->data, metadata->length, "\x12\x04_Arg") && holds_bytes(metadata->data, metadata->length, "\x12\x03Neg"));
      CHECK(holds_bytes(metadata->data, metadata->length, CPU));
    } else {
      CHECK(metadata->length == 0);
    }
    TF_DeleteBuffer(metadata);
  }
  TFE_ContextDisableGraphCollection(c);
  NULLS {
    TFE_ContextEnableRunMetadata(NULL);
    TFE_ContextDisableGraphCollection(NULL);
    INVALID(TFE_ContextExportRunMetadata(NULL, NULL, s));
    INVALID(TFE_ContextExportRunMetadata(c, NULL, s));
  }
  TFE_DeleteTensorHandle(two);
  TFE_DeleteContext(c);
}
