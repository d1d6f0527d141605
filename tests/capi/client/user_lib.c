// A library of one op and its kernel, as users write them: registered as the library is loaded.
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

static void same_shape(TF_ShapeInferenceContext* c, TF_Status* status) {
  TF_ShapeHandle* h = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(c, 0, h, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(c, 0, h, status);
  TF_DeleteShapeHandle(h);
}

static void negate(void* kernel, TF_OpKernelContext* c) {
  (void)kernel;
  TF_Status* status = TF_NewStatus();
  TF_Tensor *in = NULL, *out = NULL;
  int64_t dims[8];
  TF_GetInput(c, 0, &in, status);
  if (TF_GetCode(status) == TF_OK && TF_NumDims(in) > 8) TF_SetStatus(status, TF_INVALID_ARGUMENT, "at most 8 dimensions");
  if (TF_GetCode(status) == TF_OK) {
    for (int i = 0; i < TF_NumDims(in); ++i) dims[i] = TF_Dim(in, i);
    out = TF_AllocateOutput(c, 0, TF_FLOAT, dims, TF_NumDims(in), TF_TensorByteSize(in), status);
  }
  if (out) {
    const float* from = TF_TensorData(in);
    float* to = TF_TensorData(out);
    for (int64_t i = 0; i < TF_TensorElementCount(in); ++i) to[i] = -from[i];
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(c, status);
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

__attribute__((constructor)) static void load(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ClientLibraryNegate");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, same_shape);
  TF_RegisterOpDefinition(op, status);
  TF_KernelBuilder* kernel = TF_NewKernelBuilder("ClientLibraryNegate", "CPU", NULL, negate, NULL);
  TF_RegisterKernelBuilder("ClientLibraryNegate", kernel, status);
  TF_DeleteStatus(status);
}
