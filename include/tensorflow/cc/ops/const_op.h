// SPDX-License-Identifier: Apache-2.0
//
// Const.
#ifndef TENSORFLOW_CC_OPS_CONST_OP_H_
#define TENSORFLOW_CC_OPS_CONST_OP_H_

#include "tensorflow/cc/framework/op_wrapper.h"

namespace tensorflow {
namespace ops {

inline Output Const(const Scope& scope, const Input::Initializer& val) {
  if (!scope.ok()) return Output();
  scope.UpdateStatus(val.status);
  return scope.ok() ? ::tensorflow::internal::OpWrapper::Constant(scope, val.tensor) : Output();
}
template <class Proto>
Output ConstFromProto(const Scope& scope, const Proto& proto) {
  ::tensorflow::internal::OpWrapper op(scope, "Const");
  op.Attr("value", proto);
  op.Attr("dtype", proto.dtype());
  op.Finish();
  return op.Out();
}

// Of elements of type T.
template <class T>
Output Const(const Scope& scope, const Input::Initializer& val) {
  using Real = typename Input::Initializer::RealType<T>::type;
  const Output constant = Const(scope, val);
  if (!scope.ok()) return Output();
  if (val.tensor.dtype() == DataTypeToEnum<Real>::value) return constant;
  if (val.tensor.NumElements() == 0) return Const(scope, Input::Initializer(Tensor(DataTypeToEnum<Real>::value, val.tensor.shape())));
  ::tensorflow::internal::OpWrapper op(scope, "Cast");
  op.In(constant).Attr("DstT", DataTypeToEnum<Real>::value);
  op.Finish();
  return op.Out();
}
template <class T>
Output Const(const Scope& scope, const T& v, const TensorShape shape) {
  return Const(scope, Input::Initializer(v, shape));
}
template <class T>
Output Const(const Scope& scope, const std::initializer_list<T>& v, const TensorShape shape) {
  return Const(scope, Input::Initializer(v, shape));
}

}  // namespace ops
}  // namespace tensorflow

#endif  // TENSORFLOW_CC_OPS_CONST_OP_H_
