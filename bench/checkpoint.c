// Saves and restores variables through the ops of a library with TensorFlow's C API, and prints the seconds that a call took, and the seconds of processor time.
//
//   checkpoint LIBRARY PREFIX COUNT FLOATS ROUNDS save|restore
//
// COUNT tensors of FLOATS floats; the least of ROUNDS is printed. bench/checkpoint.py runs it for weft and for TensorFlow in turn.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/tf_tstring.h"

static void* library;
#define CALL(f) ((__typeof__(&f))dlsym(library, #f))

static TF_Status* status;
static TFE_Context* context;

static void check(const char* what) {
  if (CALL(TF_GetCode)(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, CALL(TF_Message)(status));
  exit(1);
}

static TFE_TensorHandle* strings(int count, const char* format, int vector) {
  int64_t dims[] = {count};
  TF_Tensor* t = CALL(TF_AllocateTensor)(TF_STRING, dims, vector, sizeof(TF_TString) * (size_t)count);
  TF_TString* s = CALL(TF_TensorData)(t);
  for (int i = 0; i < count; ++i) {
    char text[512];
    snprintf(text, sizeof text, format, i);
    CALL(TF_StringInit)(s + i);
    CALL(TF_StringCopy)(s + i, text, strlen(text));
  }
  TFE_TensorHandle* h = CALL(TFE_NewTensorHandle)(t, status);
  CALL(TF_DeleteTensor)(t);
  return h;
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 7 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)))
    return fprintf(stderr, "usage: checkpoint LIBRARY PREFIX COUNT FLOATS ROUNDS save|restore\n"), 2;
  const int count = atoi(argv[3]), floats = atoi(argv[4]), rounds = atoi(argv[5]), save = !strcmp(argv[6], "save");
  status = CALL(TF_NewStatus)();
  context = CALL(TFE_NewContext)(CALL(TFE_NewContextOptions)(), status);
  check("context");
  TF_DataType* types = malloc(sizeof *types * (size_t)count);
  TFE_TensorHandle **values = malloc(sizeof *values * (size_t)count), **outputs = malloc(sizeof *outputs * (size_t)count);
  for (int i = 0; i < count; ++i) {
    types[i] = TF_FLOAT;
    if (!save) continue;
    int64_t dims[] = {floats};
    TF_Tensor* t = CALL(TF_AllocateTensor)(TF_FLOAT, dims, 1, sizeof(float) * (size_t)floats);
    float* data = CALL(TF_TensorData)(t);
    for (int k = 0; k < floats; ++k) data[k] = (float)(i * 31 + k);
    values[i] = CALL(TFE_NewTensorHandle)(t, status);
    CALL(TF_DeleteTensor)(t);
  }
  TFE_TensorHandle* inputs[] = {strings(1, argv[2], 0), strings(count, "model/layer_%04d/kernel/.ATTRIBUTES/VARIABLE_VALUE", 1),
                                strings(count, "", 1)};
  double best = 1e9, best_cpu = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = now(CLOCK_MONOTONIC), start_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    TFE_Op* op = CALL(TFE_NewOp)(context, save ? "SaveV2" : "RestoreV2", status);
    CALL(TFE_OpSetAttrTypeList)(op, "dtypes", types, count);
    for (int i = 0; i < 3; ++i) CALL(TFE_OpAddInput)(op, inputs[i], status);
    for (int i = 0; save && i < count; ++i) CALL(TFE_OpAddInput)(op, values[i], status);
    int n = save ? 0 : count;
    CALL(TFE_Execute)(op, outputs, &n, status);
    const double took = now(CLOCK_MONOTONIC) - start, took_cpu = now(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
    check(argv[6]);
    if (took < best) best = took;
    if (took_cpu < best_cpu) best_cpu = took_cpu;
    CALL(TFE_DeleteOp)(op);
    if (!save) {  // the last float of the last tensor tells whether it was read
      TF_Tensor* t = CALL(TFE_TensorHandleResolve)(outputs[count - 1], status);
      check("resolve");
      if (((float*)CALL(TF_TensorData)(t))[floats - 1] != (float)((count - 1) * 31 + floats - 1)) return fprintf(stderr, "wrong value\n"), 1;
      CALL(TF_DeleteTensor)(t);
      for (int i = 0; i < count; ++i) CALL(TFE_DeleteTensorHandle)(outputs[i]);
    }
  }
  printf("%.9f %.9f\n", best, best_cpu);
  return 0;
}
