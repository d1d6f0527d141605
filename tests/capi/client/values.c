// Statuses, tensors, strings, buffers.
#include <errno.h>
#include <stdlib.h>

#include "check.h"

static void count_payload(const char* key, const char* value, void* capture) {
  if (strcmp(key, "type.example/a") == 0 && strcmp(value, "one") == 0) ++*(int*)capture;
}

void test_statuses(void) {
  TF_Status* mine = TF_NewStatus();
  CHECK(TF_GetCode(mine) == TF_OK);
  CHECK(strcmp(TF_Message(mine), "") == 0);
  TF_SetStatus(mine, TF_DATA_LOSS, "lost");
  CHECK(TF_GetCode(mine) == TF_DATA_LOSS);
  CHECK(strcmp(TF_Message(mine), "lost") == 0);
  TF_SetPayload(mine, "type.example/a", "one");
  TF_SetPayload(mine, "type.example/b", "two");
  int seen = 0;
  TF_ForEachPayload(mine, count_payload, &seen);
  CHECK(seen == 1);
  TF_SetStatus(mine, TF_OK, "ignored");  // success has no message and no payload
  CHECK(TF_GetCode(mine) == TF_OK && strcmp(TF_Message(mine), "") == 0);
  TF_SetPayload(mine, "type.example/a", "one");
  seen = 0;
  TF_ForEachPayload(mine, count_payload, &seen);
  CHECK(seen == 0);
  TF_SetStatusFromIOError(mine, ENOENT, "a/file");
  CHECK(TF_GetCode(mine) == TF_NOT_FOUND);
  CHECK(strcmp(TF_Message(mine), "a/file; No such file or directory") == 0);
  TF_SetStatusFromIOError(mine, EACCES, "x");
  CHECK(TF_GetCode(mine) == TF_PERMISSION_DENIED);
  for (int code = TF_CANCELLED; code <= TF_UNAUTHENTICATED; ++code) {
    TF_SetStatus(mine, (TF_Code)code, "m");
    CHECK((int)TF_GetCode(mine) == code);
  }
  NULLS {
    TF_SetStatus(NULL, TF_INTERNAL, "x");
    TF_SetStatus(mine, TF_INTERNAL, NULL);
    CHECK(TF_GetCode(mine) == TF_INTERNAL);
    TF_SetPayload(NULL, "a", "b");
    TF_SetPayload(mine, NULL, "b");
    TF_SetPayload(mine, "a", NULL);
    TF_ForEachPayload(NULL, count_payload, NULL);
    TF_ForEachPayload(mine, NULL, NULL);
    TF_SetStatusFromIOError(NULL, ENOENT, "x");
    TF_SetStatusFromIOError(mine, ENOENT, NULL);
    CHECK(TF_GetCode(NULL) == TF_OK);
    CHECK(TF_Message(NULL) != NULL);
  }
  TF_DeleteStatus(mine);
  TF_DeleteStatus(NULL);
}

static void count_free(void* data, size_t length, void* arg) {
  (void)length;
  free(data);
  ++*(int*)arg;
}

static void keep(void* data, size_t length, void* arg) { (void)data, (void)length, (void)arg; }

static void* aligned_floats(size_t n) {
  float* p = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
  for (size_t i = 0; i < n; ++i) p[i] = (float)i;
  return p;
}

static void test_zero_copy(void) {
  const int64_t dims[] = {2, 8};
  int freed = 0;
  void* memory = aligned_floats(16);
  TF_Tensor* t = TF_NewTensor(TF_FLOAT, dims, 2, memory, 64, count_free, &freed);
  CHECK(t != NULL && TF_TensorData(t) == memory && freed == 0);
  // The value lives as long as anything uses it.
  TFE_Context* c = new_context(NULL, 0, false);
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  CHECK(freed == 0);
  TFE_TensorHandle* inputs[] = {h};
  TFE_TensorHandle* same = run1(new_op(c, "Identity", 1, inputs), TF_OK, "");
  TFE_DeleteTensorHandle(h);
  CHECK(freed == 0);
  TF_Tensor* back = NULL;
  OK(back = TFE_TensorHandleResolve(same, s));
  CHECK(back && TF_TensorData(back) == memory);
  TFE_DeleteTensorHandle(same);
  CHECK(freed == 0);
  TF_DeleteTensor(back);
  CHECK(freed == 1);
  TFE_DeleteContext(c);
  // Memory that is too small, or a wrong shape: no tensor, and the memory is given back all the same.
  freed = 0;
  CHECK(TF_NewTensor(TF_FLOAT, dims, 2, aligned_floats(4), 16, count_free, &freed) == NULL);
  CHECK(freed == 1);
  NULLS {
    const int64_t negative[] = {-3};
    freed = 0;
    CHECK(TF_NewTensor(TF_FLOAT, negative, 1, aligned_floats(4), 16, count_free, &freed) == NULL);
    CHECK(freed == 1);
    CHECK(TF_NewTensor((TF_DataType)99, dims, 2, aligned_floats(16), 64, count_free, &freed) == NULL);
    CHECK(freed == 2);
    CHECK(TF_NewTensor(TF_FLOAT, NULL, 2, aligned_floats(16), 64, count_free, &freed) == NULL);
    CHECK(freed == 3);
    CHECK(TF_NewTensor(TF_FLOAT, dims, 2, NULL, 64, NULL, NULL) == NULL);
    const int64_t huge[] = {INT64_MAX, INT64_MAX};
    CHECK(TF_NewTensor(TF_FLOAT, huge, 2, aligned_floats(16), 64, count_free, &freed) == NULL);
    CHECK(freed == 4);
  }
  // Memory that is not aligned works too, copied or not.
  freed = 0;
  static char raw[40];
  const float one = 1.5f;
  memcpy(raw + 1, &one, sizeof one);
  const int64_t single[] = {1};
  t = TF_NewTensor(TF_FLOAT, single, 1, raw + 1, 4, keep, NULL);
  float got = 0;
  if (CHECK(t != NULL)) memcpy(&got, TF_TensorData(t), 4);
  CHECK(got == 1.5f);
  TF_DeleteTensor(t);
  // No elements at all.
  const int64_t none[] = {0, 3};
  t = TF_NewTensor(TF_FLOAT, none, 2, NULL, 0, keep, NULL);
  if (!on_tensorflow || t) CHECK(t && TF_TensorElementCount(t) == 0 && TF_TensorByteSize(t) == 0);
  TF_DeleteTensor(t);
}

void test_tensors(void) {
  const int64_t dims[] = {2, 3};
  const float values[] = {1, 2, 3, 4, 5, 6};
  TF_Tensor* t = new_tensor(TF_FLOAT, 2, dims, values, sizeof values);
  CHECK(TF_TensorType(t) == TF_FLOAT);
  CHECK(TF_NumDims(t) == 2 && TF_Dim(t, 0) == 2 && TF_Dim(t, 1) == 3);
  CHECK(TF_TensorByteSize(t) == sizeof values);
  CHECK(TF_TensorElementCount(t) == 6);
  CHECK(TF_TensorIsAligned(t));
  CHECK(TF_TensorMaybeMove(t) == t || on_tensorflow);
  CHECK(TF_TensorDefaultAlignment() >= 32);
  const int64_t flat[] = {6};
  TF_SetShape(t, flat, 1);
  CHECK(TF_NumDims(t) == 1 && TF_Dim(t, 0) == 6);

  TF_Tensor* bits = TF_AllocateTensor(TF_INT32, NULL, 0, 4);
  OK(TF_TensorBitcastFrom(t, TF_INT32, bits, dims, 2, s));
  CHECK(TF_TensorType(bits) == TF_INT32 && TF_Dim(bits, 1) == 3);
  CHECK(((const int32_t*)TF_TensorData(bits))[0] == 0x3f800000);
  const int64_t wrong[] = {5};
  INVALID(TF_TensorBitcastFrom(t, TF_INT32, bits, wrong, 1, s));
  INVALID(TF_TensorBitcastFrom(t, TF_DOUBLE, bits, dims, 2, s));
  TF_DeleteTensor(bits);

  // Each type has TensorFlow's size.
  const struct {
    TF_DataType type;
    size_t size;
  } sizes[] = {{TF_FLOAT, 4},       {TF_DOUBLE, 8}, {TF_INT32, 4},  {TF_UINT8, 1},  {TF_INT16, 2},  {TF_INT8, 1},     {TF_COMPLEX64, 8},
               {TF_INT64, 8},       {TF_BOOL, 1},   {TF_QINT8, 1},  {TF_QUINT8, 1}, {TF_QINT32, 4}, {TF_BFLOAT16, 2}, {TF_UINT16, 2},
               {TF_COMPLEX128, 16}, {TF_HALF, 2},   {TF_UINT32, 4}, {TF_UINT64, 8}, {TF_STRING, 0}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    if (!CHECK(TF_DataTypeSize(sizes[i].type) == sizes[i].size))
      printf("    type %d has size %zu\n", (int)sizes[i].type, TF_DataTypeSize(sizes[i].type));
  }
  CHECK(TF_DataTypeSize((TF_DataType)99) == 0);
  CHECK(TF_DataTypeSize((TF_DataType)0) == 0);

  NULLS {
    CHECK(TF_AllocateTensor(TF_FLOAT, NULL, 2, 24) == NULL);
    CHECK(TF_AllocateTensor((TF_DataType)-1, dims, 2, 24) == NULL);
    const int64_t negative[] = {-1};
    const int64_t huge[] = {INT64_MAX / 8, 2};
    CHECK(TF_AllocateTensor(TF_FLOAT, negative, 1, 4) == NULL);
    CHECK(TF_AllocateTensor(TF_FLOAT, huge, 2, 4) == NULL);
    CHECK(TF_AllocateTensor(TF_FLOAT, dims, -1, 24) == NULL);
    CHECK(TF_NumDims(NULL) == -1);
    CHECK(TF_Dim(NULL, 0) == -1 && TF_Dim(t, 7) == -1 && TF_Dim(t, -1) == -1);
    CHECK(TF_TensorByteSize(NULL) == 0 && TF_TensorElementCount(NULL) == 0 && TF_TensorData(NULL) == NULL);
    CHECK(!TF_TensorIsAligned(NULL));
    CHECK(TF_TensorMaybeMove(NULL) == NULL);
    (void)TF_TensorType(NULL);
    TF_SetShape(NULL, flat, 1);
    TF_SetShape(t, NULL, 1);
    TF_SetShape(t, wrong, 1);  // another number of elements: kept as it was
    CHECK(TF_Dim(t, 0) == 6);
    INVALID(TF_TensorBitcastFrom(NULL, TF_INT32, t, dims, 2, s));
    INVALID(TF_TensorBitcastFrom(t, TF_INT32, NULL, dims, 2, s));
    INVALID(TF_TensorBitcastFrom(t, TF_INT32, t, NULL, 2, s));
    TF_TensorBitcastFrom(t, TF_INT32, t, wrong, 1, NULL);
  }
  TF_DeleteTensor(t);
  TF_DeleteTensor(NULL);
  test_zero_copy();
}

static int buffers_freed = 0;
static void free_buffer(void* data, size_t length) {
  (void)length;
  free(data);
  ++buffers_freed;
}

void test_strings_and_buffers(void) {
  // Inside a tensor, both kinds of functions on the same bytes, short and long.
  char text[200];
  memset(text, 'x', sizeof text);
  const int64_t dims[] = {2};
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, dims, 1, 2 * sizeof(TF_TString));
  TF_TString* strings = TF_TensorData(t);
  TF_StringInit(&strings[0]);
  TF_TString_Init(&strings[1]);
  TF_StringCopy(&strings[0], "short", 5);
  TF_TString_Copy(&strings[1], text, sizeof text);
  CHECK(TF_TString_GetSize(&strings[0]) == 5 && memcmp(TF_TString_GetDataPointer(&strings[0]), "short", 5) == 0);
  CHECK(TF_StringGetSize(&strings[1]) == sizeof text && memcmp(TF_StringGetDataPointer(&strings[1]), text, sizeof text) == 0);
  CHECK(TF_StringGetType(&strings[0]) == TF_TSTR_SMALL && TF_StringGetType(&strings[1]) == TF_TSTR_LARGE);
  CHECK(TF_StringGetCapacity(&strings[1]) >= sizeof text);
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TFE_Context* c = new_context(NULL, 0, false);
  TFE_TensorHandle* joined = binary(c, "Add", h, h);
  TF_Tensor* out = NULL;
  OK(out = TFE_TensorHandleResolve(joined, s));
  const TF_TString* results = TF_TensorData(out);
  CHECK(TF_TString_GetSize(&results[0]) == 10 && memcmp(TF_TString_GetDataPointer(&results[0]), "shortshort", 10) == 0);
  CHECK(TF_TString_GetSize(&results[1]) == 2 * sizeof text);
  TF_DeleteTensor(out);
  TFE_DeleteTensorHandle(joined);
  TFE_DeleteTensorHandle(h);
  TFE_DeleteContext(c);
  TF_DeleteTensor(t);

  TF_TString view, other;
  TF_StringInit(&view);
  TF_StringInit(&other);
  TF_StringAssignView(&view, text, 30);
  CHECK(TF_StringGetType(&view) == TF_TSTR_VIEW && TF_StringGetDataPointer(&view) == text);
  TF_TString_Assign(&other, &view);
  CHECK(TF_StringGetSize(&other) == 30);
  TF_StringCopy(&view, "", 0);
  CHECK(TF_StringGetSize(&view) == 0);
  NULLS {
    TF_StringInit(NULL);
    TF_StringCopy(NULL, "a", 1);
    TF_StringCopy(&view, NULL, 1);
    TF_StringAssignView(NULL, "a", 1);
    TF_StringAssignView(&view, NULL, 1);
    CHECK(TF_StringGetDataPointer(NULL) == NULL && TF_StringGetSize(NULL) == 0 && TF_StringGetCapacity(NULL) == 0);
    (void)TF_StringGetType(NULL);
    TF_StringDealloc(NULL);
  }
  TF_StringDealloc(&view);
  TF_StringDealloc(&view);  // twice is once
  TF_TString_Dealloc(&other);

  TF_Buffer* b = TF_NewBufferFromString("abc", 3);
  CHECK(b->length == 3 && memcmp(b->data, "abc", 3) == 0 && b->data_deallocator != NULL);
  CHECK(TF_GetBuffer(b).length == 3);
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  CHECK(b->data == NULL && b->length == 0);
  b->data = malloc(10);
  b->length = 10;
  b->data_deallocator = free_buffer;
  TF_DeleteBuffer(b);
  CHECK(buffers_freed == 1);
  TF_DeleteBuffer(NULL);
  NULLS {
    b = TF_NewBufferFromString(NULL, 0);
    CHECK(b && b->length == 0);
    TF_DeleteBuffer(b);
    CHECK(TF_NewBufferFromString(NULL, 3) == NULL);
    CHECK(TF_GetBuffer(NULL).data == NULL);
  }
}
