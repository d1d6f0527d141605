// Tensors, buffers, strings, statuses and the registry: sizes, types and indices that cannot be.
#include "capi_misuse.h"

#include "tensorflow/c/tf_tstring.h"

static void release(void* data, size_t length, void* arg) {
  (void)length;
  (void)arg;
  free(data);
}

static void tensor_too_short(void) {
  const int64_t dims[] = {100};
  TELL("%d", TF_NewTensor(TF_FLOAT, dims, 1, malloc(8), 8, release, NULL) == NULL);
}
static void tensor_type_unknown(void) {
  const int64_t dims[] = {1};
  TF_Tensor* t = TF_NewTensor((TF_DataType)9999, dims, 1, malloc(8), 8, release, NULL);
  TELL("%d", t == NULL || TF_TensorByteSize(t) <= 8);
}
static void tensor_negative_dim(void) {
  const int64_t dims[] = {-5};
  TELL("%d", TF_NewTensor(TF_FLOAT, dims, 1, malloc(8), 8, release, NULL) == NULL);
}
static void tensor_dims_overflow(void) {
  const int64_t dims[] = {INT64_MAX, INT64_MAX, 16};
  TELL("%d", TF_NewTensor(TF_FLOAT, dims, 3, malloc(8), 8, release, NULL) == NULL);
}
static void tensor_dims_null(void) { TELL("%d", TF_NewTensor(TF_FLOAT, NULL, 2, malloc(8), 8, release, NULL) == NULL); }
static void tensor_rank_negative(void) { TELL("%d", TF_NewTensor(TF_FLOAT, NULL, -2, malloc(8), 8, release, NULL) != NULL || 1); }
static void tensor_data_null(void) {
  const int64_t dims[] = {2};
  TELL("%d", TF_NewTensor(TF_FLOAT, dims, 1, NULL, 8, release, NULL) != NULL || 1);
}
static void allocate_overflow(void) {
  const int64_t dims[] = {INT64_MAX, 2};
  TELL("%d", TF_AllocateTensor(TF_FLOAT, dims, 2, 8) == NULL);
}
static void allocate_negative(void) {
  const int64_t dims[] = {-1};
  TELL("%d", TF_AllocateTensor(TF_FLOAT, dims, 1, 8) == NULL);
}
static void allocate_type_unknown(void) {
  const int64_t dims[] = {1};
  TELL("%d", TF_AllocateTensor((TF_DataType)9999, dims, 1, 8) == NULL || 1);
}
static void dim_index(void) {
  TF_Tensor* t = scalar(1);
  TELL("%d", TF_Dim(t, 3) <= 0 || 1);
}
static void bitcast_wrong(void) {
  TF_Tensor *from = scalar(1), *to = scalar(2);
  const int64_t dims[] = {7};
  TF_SetStatus(s, TF_OK, "");
  TF_TensorBitcastFrom(from, TF_DOUBLE, to, dims, 1, s);
  TELL("%d", TF_GetCode(s) != TF_OK);
  TELL("%g", (double)*(float*)TF_TensorData(to));
}
static void set_shape_larger(void) {
  TF_Tensor* t = scalar(1);
  const int64_t dims[] = {1000};
  TF_SetShape(t, dims, 1);
  TELL("%d", TF_TensorByteSize(t) <= 4000);
}
static void data_type_size_unknown(void) {
  TELL("%d", (int)TF_DataTypeSize((TF_DataType)9999));
  TELL("%d", (int)TF_DataTypeSize((TF_DataType)-1));
  TELL("%d", (int)TF_DataTypeSize(TF_FLOAT));
}
static void tensor_from_junk(void) {
  TF_Buffer* junk = TF_NewBufferFromString("\xff\xff", 2);
  TF_Tensor* to = scalar(1);
  TF_SetStatus(s, TF_OK, "");
  TF_TensorFromProto(junk, to, s);
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void tensor_from_no_data(void) {
  TF_Buffer empty = {NULL, 100, NULL};
  TF_Tensor* to = scalar(1);
  ASK(TF_TensorFromProto(&empty, to, s));
}
static void status_code_unknown(void) {
  TF_SetStatus(s, (TF_Code)99, "strange");
  TELL("%s", TF_Message(s));
  TF_SetStatus(s, (TF_Code)-1, "strange");
  TELL("%s", TF_Message(s));
}
static void io_error_unknown(void) {
  TF_SetStatusFromIOError(s, 123456, "there");
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void buffer_empty(void) {
  TF_Buffer* b = TF_NewBufferFromString("", 0);
  TELL("%d", (int)b->length);
  TF_DeleteBuffer(b);
}
static void api_defs_junk(void) {
  TF_Buffer* junk = TF_NewBufferFromString("\xff\xff", 2);
  TF_ApiDefMap* map = NULL;
  TF_SetStatus(s, TF_OK, "");
  map = TF_NewApiDefMap(junk, s);
  TELL("%d", TF_GetCode(s) != TF_OK || map != NULL);
}
static void api_defs_no_data(void) {
  TF_Buffer empty = {NULL, 100, NULL};
  ASK(TF_NewApiDefMap(&empty, s));
}
static void api_defs_text(void) {
  TF_Buffer* ops = TF_GetAllOpList();
  TF_ApiDefMap* map;
  NEED(map = TF_NewApiDefMap(ops, s));
  TF_SetStatus(s, TF_OK, "");
  TF_ApiDefMapPut(map, "not { a message", 15, s);
  TELL("%d", TF_GetCode(s) != TF_OK);
  TELL("%d", TF_ApiDefMapGet(map, "NoSuchOp", 8, s) == NULL);
}
static void library_missing(void) {
  TF_Library* l = NULL;
  TF_SetStatus(s, TF_OK, "");
  l = TF_LoadLibrary("no_such_library.so", s);
  TELL("%d", (int)TF_GetCode(s));
  TELL("%d", l == NULL);
}
static void kernels_of_unknown_op(void) {
  TF_Buffer* b;
  ASK(b = TF_GetRegisteredKernelsForOp("NoSuchOp", s));
  TELL("%d", b ? (int)b->length : -1);
}
static void op_stateful_unknown(void) {
  TF_SetStatus(s, TF_OK, "");
  (void)TF_OpIsStateful("NoSuchOp", s);
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void number_attr_index(void) {
  TF_SetStatus(s, TF_OK, "");
  (void)TF_GetNumberAttrForOpListInput("AddN", 7, s);
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void shape_list_index(void) {
  TF_ShapeAndTypeList* list = TF_NewShapeAndTypeList(2);
  const int64_t dims[] = {2, 3};
  TF_ShapeAndTypeListSetShape(list, 1, dims, 2);
  TF_ShapeAndTypeListSetDtype(list, 0, (TF_DataType)9999);
  TELL("%d", list->items[1].num_dims);
  TF_DeleteShapeAndTypeList(list);
}
static void infer_type_unknown(void) {
  TFE_Context* c = context();
  TFE_Op* op;
  NEED(op = TFE_NewOp(c, "Neg", s));
  TF_ShapeAndTypeList *in = TF_NewShapeAndTypeList(1), *out = NULL;
  TF_ShapeAndTypeListSetDtype(in, 0, (TF_DataType)9999);
  TF_SetStatus(s, TF_OK, "");
  TFE_InferShapes(op, in, NULL, NULL, NULL, &out, NULL, s);
  TELL("%d", TF_GetCode(s) != TF_OK || out != NULL);
}
static void attr_builder(void) {
  TF_AttrBuilder* b = TF_NewAttrBuilder("NoSuchOp");
  TF_AttrBuilderSetType(b, "T", (TF_DataType)9999);
  TF_SetStatus(s, TF_OK, "");
  TF_AttrBuilderCheckCanRunOnDevice(b, "CPU", s);
  TELL("%d", TF_GetCode(s) != TF_OK);
}
static void server_junk(void) {
  TF_Server* server = NULL;
  TF_SetStatus(s, TF_OK, "");
  server = TF_NewServer("\xff\xff", 2, s);
  TELL("%d", (int)TF_GetCode(s));
  TELL("%d", server == NULL);
}
static void string_views(void) {
  TF_TString t;
  TF_StringInit(&t);
  TF_StringCopy(&t, "", 0);
  TELL("%d", (int)TF_StringGetSize(&t));
  TF_StringAssignView(&t, "abc", 0);
  TELL("%d", (int)TF_StringGetSize(&t));
  TF_StringDealloc(&t);
}

#define CASE(name) {"value_" #name, name}
const Case value_cases[] = {CASE(tensor_too_short),    CASE(tensor_type_unknown),
                            CASE(tensor_negative_dim), CASE(tensor_dims_overflow),
                            CASE(tensor_dims_null),    CASE(tensor_rank_negative),
                            CASE(tensor_data_null),    CASE(allocate_overflow),
                            CASE(allocate_negative),   CASE(allocate_type_unknown),
                            CASE(dim_index),           CASE(bitcast_wrong),
                            CASE(set_shape_larger),    CASE(data_type_size_unknown),
                            CASE(tensor_from_junk),    CASE(tensor_from_no_data),
                            CASE(status_code_unknown), CASE(io_error_unknown),
                            CASE(buffer_empty),        CASE(api_defs_junk),
                            CASE(api_defs_no_data),    CASE(api_defs_text),
                            CASE(library_missing),     CASE(kernels_of_unknown_op),
                            CASE(op_stateful_unknown), CASE(number_attr_index),
                            CASE(shape_list_index),    CASE(infer_type_unknown),
                            CASE(attr_builder),        CASE(server_junk),
                            CASE(string_views),        {NULL, NULL}};
