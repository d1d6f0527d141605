// The checkpoint reader, on a checkpoint that SaveV2 wrote.
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static TFE_TensorHandle* strings(int rank, int n, const char** values) {
  const int64_t dims[] = {n};
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, dims, rank, (size_t)n * sizeof(TF_TString));
  TF_TString* to = TF_TensorData(t);
  for (int i = 0; i < n; ++i) {
    TF_StringInit(to + i);
    TF_StringCopy(to + i, values[i], strlen(values[i]));
  }
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  return h;
}

static void save(TFE_Context* c, const char* prefix) {
  const char *names[] = {"weights", "a/bias"}, *slices[] = {"", ""};
  const float values[] = {1, 2, 3};
  TFE_TensorHandle* inputs[] = {strings(0, 1, &prefix), strings(1, 2, names), strings(1, 2, slices), floats(3, values), scalar_i(7)};
  const TF_DataType types[] = {TF_FLOAT, TF_INT32};
  TFE_Op* op = new_op(c, "SaveV2", 5, inputs);
  TFE_OpSetAttrTypeList(op, "dtypes", types, 2);
  int outputs = 0;
  OK(TFE_Execute(op, NULL, &outputs, s));
  TFE_DeleteOp(op);
  for (int i = 0; i < 5; ++i) TFE_DeleteTensorHandle(inputs[i]);
}

void test_checkpoint_reader(void) {
  char folder[] = "weft_c_client_XXXXXX", prefix[64], file[128];
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  snprintf(prefix, sizeof prefix, "%s/model", folder);
  TFE_Context* c = new_context(NULL, 0, false);
  TF_CheckpointReader* r = NULL;
  EXPECT(TF_NOT_FOUND, "Failed to find any matching files for", r = TF_NewCheckpointReader(prefix, s));
  NULLS CHECK(r == NULL);
  save(c, prefix);
  OK(r = TF_NewCheckpointReader(prefix, s));
  if (!CHECK(r != NULL)) return;
  CHECK(TF_CheckpointReaderSize(r) == 2);
  CHECK(!strcmp(TF_CheckpointReaderGetVariable(r, 0), "a/bias"));
  CHECK(!strcmp(TF_CheckpointReaderGetVariable(r, 1), "weights"));
  CHECK(TF_CheckpointReaderHasTensor(r, "weights") == 1);
  CHECK(TF_CheckpointReaderHasTensor(r, "weight") == 0);
  CHECK(TF_CheckpointReaderGetVariableDataType(r, "a/bias") == TF_INT32);
  CHECK(TF_CheckpointReaderGetVariableNumDims(r, "weights") == 1);
  CHECK(TF_CheckpointReaderGetVariableNumDims(r, "a/bias") == 0);
  int64_t dims[1] = {0};
  OK(TF_CheckpointReaderGetVariableShape(r, "weights", dims, 1, s));
  CHECK(dims[0] == 3);
  EXPECT(TF_INVALID_ARGUMENT, "Expected rank is 1 but actual rank is 0", TF_CheckpointReaderGetVariableShape(r, "a/bias", dims, 1, s));
  TF_Tensor* t = NULL;
  OK(t = TF_CheckpointReaderGetTensor(r, "weights", s));
  if (CHECK(t != NULL)) CHECK(((float*)TF_TensorData(t))[2] == 3);
  TF_DeleteTensor(t);
  NULLS {
    EXPECT(TF_NOT_FOUND, "Key none not found in checkpoint", t = TF_CheckpointReaderGetTensor(r, "none", s));
    CHECK(t == NULL);
    EXPECT(TF_NOT_FOUND, "", TF_CheckpointReaderGetVariableShape(r, "none", dims, 1, s));
    CHECK(TF_CheckpointReaderGetVariable(r, 2) == NULL);
    CHECK(TF_CheckpointReaderGetVariable(r, -1) == NULL);
    CHECK(TF_CheckpointReaderGetVariableNumDims(r, "none") == -1);
    CHECK(TF_CheckpointReaderGetVariableDataType(r, NULL) == 0);
    INVALID(TF_NewCheckpointReader(NULL, s));
    INVALID(TF_CheckpointReaderGetTensor(NULL, "x", s));
    INVALID(TF_CheckpointReaderGetTensor(r, NULL, s));
    INVALID(TF_CheckpointReaderGetVariableShape(r, "weights", NULL, 1, s));
    CHECK(TF_CheckpointReaderSize(NULL) == 0);
    TF_DeleteCheckpointReader(NULL);
  }
  TF_DeleteCheckpointReader(r);
  TFE_DeleteContext(c);
  static const char* tails[] = {".index", ".data-00000-of-00001", ""};
  for (int i = 0; i < 3; ++i) {
    snprintf(file, sizeof file, "%s%s", i < 2 ? prefix : folder, tails[i]);
    CHECK(i < 2 ? unlink(file) == 0 : rmdir(file) == 0);
  }
}
