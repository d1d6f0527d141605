// SPDX-License-Identifier: Apache-2.0
//
// What the classes of tensorflow/cc/ops/*_ops.h (written by opgen) are made of.
#ifndef TENSORFLOW_CC_FRAMEWORK_OP_WRAPPER_H_
#define TENSORFLOW_CC_FRAMEWORK_OP_WRAPPER_H_

#include <vector>

#include "tensorflow/cc/framework/ops.h"
#include "tensorflow/cc/framework/scope.h"

namespace tensorflow {
namespace internal {

// Values of attributes that are lists, as they are when nothing else is said.
template <class T, T... values>
struct DefaultList {
  static constexpr T kValues[] = {values...};
};

// One node: inputs, then attributes, then outputs in their order. After an error nothing is made and all outputs are empty.
class OpWrapper {
 public:
  OpWrapper(const Scope& scope, const char* op) : scope_(scope), name_(op) {}
  ~OpWrapper() {
    if (op_) Finish();  // where something was thrown: a description has no other end
  }
  OpWrapper(const OpWrapper&) = delete;
  void operator=(const OpWrapper&) = delete;

  OpWrapper& In(const Input& in) {
    Add(in);
    lists_.push_back(-1);
    return *this;
  }
  OpWrapper& In(const InputList& in) {
    const size_t before = inputs_.size();
    for (const Input& one : in) Add(one);
    lists_.push_back(static_cast<int>(inputs_.size() - before));
    return *this;
  }
  void Attr(const char* name, bool v) {
    if (Open()) TF_SetAttrBool(op_, name, v);
  }
  void Attr(const char* name, int64 v) {
    if (Open()) TF_SetAttrInt(op_, name, v);
  }
  void Attr(const char* name, float v) {
    if (Open()) TF_SetAttrFloat(op_, name, v);
  }
  void Attr(const char* name, DataType v) {
    if (Open()) TF_SetAttrType(op_, name, static_cast<TF_DataType>(v));
  }
  void Attr(const char* name, StringPiece v) {
    if (Open()) TF_SetAttrString(op_, name, v.data(), v.size());
  }
  void Attr(const char* name, const PartialTensorShape& v) {
    const weft_dims dims = v.c_dims();
    if (Open()) TF_SetAttrShape(op_, name, dims.dims, dims.rank);
  }
  void Attr(const char* name, const Tensor& v) {
    const CStatus s;
    if (Open()) TF_SetAttrTensor(op_, name, (v.c_tensor() ? v : Tensor(v.dtype(), v.shape())).c_tensor(), s);
    scope_.UpdateStatus(s.status());
  }
  void Attr(const char* name, gtl::ArraySlice<int> v) {
    const std::vector<int64_t> wide(v.begin(), v.end());
    if (Open()) TF_SetAttrIntList(op_, name, wide.data(), static_cast<int>(wide.size()));
  }
  void Attr(const char* name, gtl::ArraySlice<float> v) {
    if (Open()) TF_SetAttrFloatList(op_, name, v.data(), static_cast<int>(v.size()));
  }
  void Attr(const char* name, gtl::ArraySlice<bool> v) {
    const std::vector<unsigned char> bytes(v.begin(), v.end());
    if (Open()) TF_SetAttrBoolList(op_, name, bytes.data(), static_cast<int>(bytes.size()));
  }
  void Attr(const char* name, gtl::ArraySlice<DataType> v) {
    if (Open()) TF_SetAttrTypeList(op_, name, reinterpret_cast<const TF_DataType*>(v.data()), static_cast<int>(v.size()));
  }
  void Attr(const char* name, gtl::ArraySlice<tstring> v) {
    std::vector<const void*> texts;
    std::vector<size_t> sizes;
    for (const tstring& text : v) texts.push_back(text.data()), sizes.push_back(text.size());
    if (Open()) TF_SetAttrStringList(op_, name, texts.data(), sizes.data(), static_cast<int>(v.size()));
  }
  void Attr(const char* name, gtl::ArraySlice<PartialTensorShape> v) {
    std::vector<const int64_t*> dims;
    std::vector<int> ranks;
    for (const PartialTensorShape& shape : v) dims.push_back(shape.c_dims().dims), ranks.push_back(shape.c_dims().rank);
    if (Open()) TF_SetAttrShapeList(op_, name, dims.data(), ranks.data(), static_cast<int>(v.size()));
  }
  // Messages, and lists of them: as an AttrValue, whose fields they are.
  template <class Message, class = decltype(std::declval<const Message&>().SerializeAsString())>
  void Attr(const char* name, const Message& v) {
    std::string bytes;
    Field(kHasDtype<Message> ? 8 : 10, v.SerializeAsString(), &bytes);
    Proto(name, bytes);
  }
  template <class Message, class = decltype(std::declval<const Message&>().SerializeAsString())>
  void Attr(const char* name, gtl::ArraySlice<Message> v) {
    std::string list, bytes;
    for (const Message& one : v) Field(kHasDtype<Message> ? 8 : 9, one.SerializeAsString(), &list);
    Field(1, list, &bytes);
    Proto(name, bytes);
  }
  Operation Finish() {
    if (!Open()) return Operation();
    const CStatus s;
    TF_Operation* made = TF_FinishOperation(op_, s);
    op_ = nullptr;
    done_ = true;
    scope_.UpdateStatus(s.status());
    if (scope_.ok()) node_ = Node::Of(made);
    return Operation(node_);
  }
  Output Out() { return node_ ? Output(node_, next_++) : Output(); }
  OutputList OutList(const char* name) {
    OutputList out;
    if (!node_) return out;
    const CStatus s;
    for (int n = TF_OperationOutputListLength(node_->c(), name, s); n > 0; --n) out.push_back(Out());
    return out;
  }
  static Output Constant(const Scope& scope, const Tensor& value) {
    OpWrapper op(scope, "Const");
    op.Attr("value", value);
    op.Attr("dtype", value.dtype());
    op.Finish();
    return op.Out();
  }

 private:
  template <class Message>
  static constexpr bool kHasDtype = std::is_same_v<Message, TensorProto>;
  static void Field(int number, const std::string& value, std::string* out) {
    out->push_back(static_cast<char>(number << 3 | 2));
    size_t n = value.size();
    for (; n >= 128; n >>= 7) out->push_back(static_cast<char>(n | 128));
    out->push_back(static_cast<char>(n));
    out->append(value);
  }
  void Proto(const char* name, const std::string& bytes) {
    const CStatus s;
    if (Open()) TF_SetAttrValueProto(op_, name, bytes.data(), bytes.size(), s);
    scope_.UpdateStatus(s.status());
  }
  void Add(const Input& in) {
    if (!scope_.ok()) return;
    if (!in.status().ok()) return scope_.UpdateStatus(in.status());
    Output from(in.node(), in.index());
    if (!in.node() && !in.node_name().empty()) return scope_.UpdateStatus(errors::Unimplemented("an input by the name of a later node"));
    if (!in.node()) from = Constant(scope_.NewSubScope("Const"), in.tensor());
    if (!scope_.ok()) return;
    if (from.index() < 0 || from.index() >= from.node()->num_outputs())
      return scope_.UpdateStatus(errors::InvalidArgument("Attempt to add output ", from.index(), " of ", from.node()->name(), " not in range [0, ",
                                                         from.node()->num_outputs(), ") to node with type ", name_, ". Node: {{node ",
                                                         from.node()->name(), "}}"));
    inputs_.push_back({from.node()->c(), from.index()});
  }
  // Inputs are complete: the node gets its name, after the constants among them.
  bool Open() {
    if (op_) return true;
    if (done_ || !scope_.ok()) return false;
    const std::string name = scope_.GetUniqueNameForOp(name_);
    if (!scope_.ok()) return false;
    op_ = TF_NewOperation(scope_.graph()->c(), name_, name.c_str());
    size_t at = 0;
    for (const int n : lists_) {
      if (n < 0) TF_AddInput(op_, inputs_[at++]);
      else TF_AddInputList(op_, inputs_.data() + at, n), at += static_cast<size_t>(n);
    }
    scope_.Describe(op_);
    return true;
  }
  const Scope& scope_;
  const char* name_;
  TF_OperationDescription* op_ = nullptr;
  std::vector<TF_Output> inputs_;
  std::vector<int> lists_;  // of each argument: how many inputs, -1 for what is no list
  Node* node_ = nullptr;
  int next_ = 0;
  bool done_ = false;
};

}  // namespace internal
}  // namespace tensorflow

#endif  // TENSORFLOW_CC_FRAMEWORK_OP_WRAPPER_H_
