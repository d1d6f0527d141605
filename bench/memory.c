// Resident memory after the first op of a library with TensorFlow's C API.
//
//   cc -O2 -I include bench/memory.c -ldl -o memory && ./memory build/install/lib/libtensorflow.so
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/eager/c_api.h"

#define GET(f) __typeof__(&f) p_##f = (__typeof__(&f))dlsym(library, #f)

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (!library) return fprintf(stderr, "usage: memory LIBRARY\n"), 2;
  GET(TF_NewStatus);
  GET(TF_GetCode);
  GET(TFE_NewContextOptions);
  GET(TFE_NewContext);
  GET(TF_AllocateTensor);
  GET(TF_TensorData);
  GET(TFE_NewTensorHandle);
  GET(TFE_NewOp);
  GET(TFE_OpAddInput);
  GET(TFE_Execute);
  TF_Status* s = p_TF_NewStatus();
  TFE_Context* context = p_TFE_NewContext(p_TFE_NewContextOptions(), s);
  TF_Tensor* t = p_TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float));
  *(float*)p_TF_TensorData(t) = 1;
  TFE_TensorHandle *x = p_TFE_NewTensorHandle(t, s), *sum;
  TFE_Op* op = p_TFE_NewOp(context, "AddV2", s);
  p_TFE_OpAddInput(op, x, s);
  p_TFE_OpAddInput(op, x, s);
  int outputs = 1;
  p_TFE_Execute(op, &sum, &outputs, s);
  if (p_TF_GetCode(s) != TF_OK) return 1;
  char line[256];
  FILE* f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (!strncmp(line, "VmRSS", 5)) fputs(line, stdout);
  }
  return 0;
}
