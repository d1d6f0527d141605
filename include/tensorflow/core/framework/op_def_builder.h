// SPDX-License-Identifier: Apache-2.0
//
// OpDefBuilder: what REGISTER_OP collects.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_DEF_BUILDER_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_DEF_BUILDER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

class OpDefBuilder {
 public:
  explicit OpDefBuilder(std::string name) : name_(std::move(name)) {}
  // As in op definitions: "T: {float, int32} = DT_FLOAT", "x: N * T".
  OpDefBuilder& Attr(std::string spec) { return attrs_.push_back(std::move(spec)), *this; }
  OpDefBuilder& Input(std::string spec) { return inputs_.push_back(std::move(spec)), *this; }
  OpDefBuilder& Output(std::string spec) { return outputs_.push_back(std::move(spec)), *this; }
  OpDefBuilder& SetIsCommutative() { return commutative_ = true, *this; }
  OpDefBuilder& SetIsAggregate() { return aggregate_ = true, *this; }
  OpDefBuilder& SetIsStateful() { return stateful_ = true, *this; }
  // There is no other mark for it: what has state is left as it is.
  OpDefBuilder& SetDoNotOptimize() { return SetIsStateful(); }
  // Full types are not inferred.
  template <class F>
  OpDefBuilder& SetTypeConstructor(const F&) {
    return *this;
  }
  template <class F>
  OpDefBuilder& SetForwardTypeFn(const F&) {
    return *this;
  }
  template <class F>
  OpDefBuilder& SetReverseTypeFn(int, const F&) {
    return *this;
  }
  OpDefBuilder& AllowAttrTypeAny() { return *this; }
  OpDefBuilder& SetAllowsUninitializedInput() { return uninitialized_ = true, *this; }
  OpDefBuilder& SetIsDistributedCommunication() { return distributed_ = true, *this; }
  OpDefBuilder& Deprecated(int version, std::string explanation) { return deprecated_ = version, deprecation_ = std::move(explanation), *this; }
  OpDefBuilder& Doc(std::string text) { return doc_ = std::move(text), *this; }
  // A function, or an object of any kind that can be called.
  OpDefBuilder& SetShapeFn(OpShapeInferenceFn f) { return shape_ = std::move(f), *this; }

  // Once.
  void Register() const {
    const Description described(*this);
    weft_op_def def = described.def;
    if (shape_) {
      def.data = new OpShapeInferenceFn(shape_);
      def.shape = [](void* data, weft_shapes* shapes) -> TF_Status* {
        shape_inference::InferenceContext context(shapes);
        Status s = (*static_cast<OpShapeInferenceFn*>(data))(&context);
        if (s.ok() && internal::look_at_shapes) s = (*internal::look_at_shapes)(&context);
        if (s.ok()) s = context.Finish();
        return internal::ToC(s);
      };
    }
    weft_register_op(&def);
  }

  // The op as a message: Data is OpRegistrationData.
  template <class Data>
  Status Finalize(Data* data) const {
    const Description described(*this);
    TF_Buffer* bytes = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_op_def_bytes(&described.def, &bytes)));
    const bool read = data->op_def.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    TF_DeleteBuffer(bytes);
    return read ? OkStatus() : errors::Internal("the OpDef of ", name_, " cannot be read");
  }

 private:
  // For the C function, valid as long as the builder.
  struct Description {
    explicit Description(const OpDefBuilder& b) : inputs(Texts(b.inputs_)), outputs(Texts(b.outputs_)), attrs(Texts(b.attrs_)) {
      def.name = internal::Text(b.name_);
      def.doc = internal::Text(b.doc_);
      def.inputs = inputs.data(), def.num_inputs = inputs.size();
      def.outputs = outputs.data(), def.num_outputs = outputs.size();
      def.attrs = attrs.data(), def.num_attrs = attrs.size();
      def.stateful = b.stateful_;
      def.commutative = b.commutative_;
      def.aggregate = b.aggregate_;
      def.allows_uninitialized_input = b.uninitialized_;
      def.distributed_communication = b.distributed_;
      def.deprecated_since = b.deprecated_;
      def.deprecation = internal::Text(b.deprecation_);
    }
    const std::vector<weft_text> inputs, outputs, attrs;
    weft_op_def def{};
  };
  static std::vector<weft_text> Texts(const std::vector<std::string>& list) {
    std::vector<weft_text> out;
    for (const std::string& s : list) out.push_back(internal::Text(s));
    return out;
  }
  std::string name_, doc_, deprecation_;
  std::vector<std::string> attrs_, inputs_, outputs_;
  bool commutative_ = false, aggregate_ = false, stateful_ = false, uninitialized_ = false, distributed_ = false;
  int deprecated_ = 0;
  OpShapeInferenceFn shape_;
};

namespace internal {
struct RegisteredOp {
  RegisteredOp(const OpDefBuilder& builder) { builder.Register(); }  // NOLINT: the end of a chain of calls
};
}  // namespace internal

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_OP_DEF_BUILDER_H_
