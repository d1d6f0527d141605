// SPDX-License-Identifier: Apache-2.0
//
// Bases of kernels with one and two inputs of one type, whose constructors check the types.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NUMERIC_OP_H_
#define TENSORFLOW_CORE_FRAMEWORK_NUMERIC_OP_H_

#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {

template <class T>
class UnaryOp : public OpKernel {
 public:
  explicit UnaryOp(OpKernelConstruction* context) : OpKernel(context) {
    const DataType type = DataTypeToEnum<T>::v();
    OP_REQUIRES_OK(context, context->MatchSignature({type}, {type}));
  }
};

template <class T>
class BinaryOp : public OpKernel {
 public:
  explicit BinaryOp(OpKernelConstruction* context) : OpKernel(context) {
    const DataType type = DataTypeToEnum<T>::v();
    OP_REQUIRES_OK(context, context->MatchSignature({type, type}, {type}));
  }
};

// CHILD has Operate(context, input, output), element by element: the output may be the input's memory.
template <class T, class CHILD>
class UnaryElementWiseOp : public UnaryOp<T> {
 public:
  using UnaryOp<T>::UnaryOp;
  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0}, 0, input.shape(), &output));
    static_cast<CHILD*>(this)->Operate(context, input, output);
  }
};

// CHILD has Operate<NDIMS>(context, a, b, output); the shapes are equal.
template <class T, class CHILD>
class BinaryElementWiseOp : public BinaryOp<T> {
 public:
  using BinaryOp<T>::BinaryOp;
  void Compute(OpKernelContext* context) override {
    const Tensor &a = context->input(0), &b = context->input(1);
    if (!context->ValidateInputsAreSameShape(this)) return;
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0, 1}, 0, a.shape(), &output));
    CHILD* child = static_cast<CHILD*>(this);
    switch (a.dims()) {
      case 0: return child->template Operate<0>(context, a, b, output);
      case 1: return child->template Operate<1>(context, a, b, output);
      case 2: return child->template Operate<2>(context, a, b, output);
      case 3: return child->template Operate<3>(context, a, b, output);
      case 4: return child->template Operate<4>(context, a, b, output);
      case 5: return child->template Operate<5>(context, a, b, output);
      case 6: return child->template Operate<6>(context, a, b, output);
      case 7: return child->template Operate<7>(context, a, b, output);
      case 8: return child->template Operate<8>(context, a, b, output);
      default: context->SetStatus(errors::InvalidArgument("We only handle up to Tensor::dims() up to 8, not ", a.dims()));
    }
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_NUMERIC_OP_H_
