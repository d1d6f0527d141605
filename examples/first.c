#include <stdio.h>
#include <tensorflow/c/eager/c_api.h>

int main(void) {
  TF_Status* s = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, s);
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float));
  *(float*)TF_TensorData(t) = 20.5f;
  TFE_TensorHandle *x = TFE_NewTensorHandle(t, s), *y;
  TFE_Op* op = TFE_NewOp(context, "AddV2", s);
  TFE_OpAddInput(op, x, s);
  TFE_OpAddInput(op, x, s);
  int outputs = 1;
  TFE_Execute(op, &y, &outputs, s);
  if (TF_GetCode(s) != TF_OK) return fprintf(stderr, "%s\n", TF_Message(s)), 1;
  TF_Tensor* sum = TFE_TensorHandleResolve(y, s);
  printf("%g\n", *(float*)TF_TensorData(sum));  // 41
  TF_DeleteTensor(sum);
  TF_DeleteTensor(t);
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(x);
  TFE_DeleteTensorHandle(y);
  TFE_DeleteContext(context);
  TFE_DeleteContextOptions(options);
  TF_DeleteStatus(s);
  return 0;
}
