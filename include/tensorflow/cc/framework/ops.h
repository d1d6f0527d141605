// SPDX-License-Identifier: Apache-2.0
//
// Operation, Output and Input: what op wrappers take and give. An Input is an output of another op or a constant.
#ifndef TENSORFLOW_CC_FRAMEWORK_OPS_H_
#define TENSORFLOW_CC_FRAMEWORK_OPS_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace tensorflow {

class NameAttrList;
class Output;
class TensorProto;

class Operation {
 public:
  Operation() = default;
  explicit Operation(Node* n) : node_(n) {}
  int32 num_inputs() const { return node_->num_inputs(); }
  DataType input_type(int32 i) const { return node_->input_type(i); }
  inline Output input(int32 i) const;
  int32 num_outputs() const { return node_->num_outputs(); }
  DataType output_type(int32 i) const { return node_->output_type(i); }
  inline Output output(int32 i) const;
  Node* node() const { return node_; }
  uint64 hash(int32 index) const { return std::hash<Node*>()(node_) * 31 + static_cast<uint64>(index); }
  bool operator==(const Operation& o) const { return node_ == o.node_; }
  bool operator!=(const Operation& o) const { return node_ != o.node_; }

 private:
  Node* node_ = nullptr;
};

class Output {
 public:
  Output() = default;
  explicit Output(Node* n) : op_(n) {}
  Output(Node* n, int32 index) : op_(n), index_(index) {}
  Output(const Operation& op, int32 index) : op_(op), index_(index) {}
  Operation op() const { return op_; }
  Node* node() const { return op_.node(); }
  int32 index() const { return index_; }
  DataType type() const { return op_.output_type(index_); }
  std::string name() const { return node()->name() + ":" + std::to_string(index_); }
  bool operator==(const Output& o) const { return op_ == o.op_ && index_ == o.index_; }
  uint64 hash() const { return op_.hash(index_); }

 private:
  Operation op_;
  int32 index_ = 0;
};

inline Output Operation::input(int32 i) const {
  const TF_Output from = TF_OperationInput({node_->c(), i});
  return Output(Node::Of(from.oper), from.index);
}
inline Output Operation::output(int32 i) const { return Output(*this, i); }

struct OutputHash {
  size_t operator()(const Output& o) const { return o.hash(); }
};

class Input {
 public:
  // A constant: a number, a text, a tensor, or (nested) lists of them.
  struct Initializer {
    template <class T, bool = std::is_convertible_v<T, std::string>>
    struct RealType {
      using type = tstring;
    };
    template <class T>
    struct RealType<T, false> {
      using type = T;
    };
    template <class T>
    using IfValue = std::enable_if_t<std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string>>;

    template <class T, class = IfValue<T>>
    Initializer(const T& v) : Initializer(v, TensorShape()) {}  // NOLINT
    Initializer(const Tensor& t) : tensor(t) {}                 // NOLINT
    template <class T, class = IfValue<T>>
    Initializer(const T& v, const TensorShape& shape) : tensor(DataTypeToEnum<typename RealType<T>::type>::value, shape) {
      auto* to = static_cast<typename RealType<T>::type*>(tensor.data());
      for (int64 i = 0; i < tensor.NumElements(); ++i) to[i] = typename RealType<T>::type(v);
    }
    template <class T, class = IfValue<T>>
    Initializer(const std::initializer_list<T>& v) : Initializer(v, TensorShape({static_cast<int64>(v.size())})) {}  // NOLINT
    template <class T, class = IfValue<T>>
    Initializer(const std::initializer_list<T>& v, const TensorShape& shape) {
      Tensor t(DataTypeToEnum<typename RealType<T>::type>::value, shape);
      if (t.NumElements() != static_cast<int64>(v.size())) {
        status =
            errors::InvalidArgument("Cannot construct a tensor with ", t.NumElements(), " from an initializer list with ", v.size(), " elements");
        return;
      }
      auto* to = static_cast<typename RealType<T>::type*>(t.data());
      for (const T& one : v) *to++ = typename RealType<T>::type(one);
      tensor = t;
    }
    // Tensors of one type and shape, one more dimension in front.
    Initializer(const std::initializer_list<Initializer>& v) {  // NOLINT
      if (v.size() < 1) {
        tensor = Tensor(DT_FLOAT, TensorShape({0}));
        return;
      }
      const Tensor& first = v.begin()->tensor;
      TensorShape shape{static_cast<int64>(v.size())};
      shape.AppendShape(first.shape());
      Tensor t(first.dtype(), shape);
      int64 at = 0;
      for (const Initializer& one : v) {
        if (!one.status.ok()) {
          status = one.status;
          return;
        }
        if (one.tensor.dtype() != first.dtype()) {
          status = errors::InvalidArgument("Initializer list components should all have the same type");
          return;
        }
        if (one.tensor.shape() != first.shape()) {
          status = errors::InvalidArgument("Initializer list components should all have the same shape");
          return;
        }
        Put(one.tensor, at++, &t);
      }
      tensor = t;
    }
    template <class Proto = TensorProto>
    Proto AsTensorProto() const {
      Proto proto;
      tensor.NumElements() > 1 ? tensor.AsProtoTensorContent(&proto) : tensor.AsProtoField(&proto);
      return proto;
    }
    Status status;
    Tensor tensor;

   private:
    static void Put(const Tensor& from, int64 row, Tensor* to) {
      const int64 n = from.NumElements();
      if (from.dtype() == DT_STRING) {
        for (int64 i = 0; i < n; ++i) static_cast<tstring*>(to->data())[row * n + i] = static_cast<tstring*>(from.data())[i];
      } else if (from.TotalBytes() > 0) {
        std::memcpy(static_cast<char*>(to->data()) + static_cast<size_t>(row) * from.TotalBytes(), from.data(), from.TotalBytes());
      }
    }
  };

  Input(const Output& o) : output_(o) {}  // NOLINT
  template <class T, class = Initializer::IfValue<T>>
  Input(const T& v) : Input(Initializer(v)) {}                                          // NOLINT
  Input(const Initializer& init) : status_(init.status), tensor_(init.tensor) {}        // NOLINT
  Input(const Tensor& t) : tensor_(t) {}                                                // NOLINT
  Input(const std::initializer_list<Initializer>& init) : Input(Initializer(init)) {}   // NOLINT
  Input(const std::string& name, int32 i, DataType type) : node_name_(name), index_(i), data_type_(type) {}

  Node* node() const { return output_.node(); }
  std::string node_name() const { return node_name_; }
  int32 index() const { return node_name_.empty() ? output_.index() : index_; }
  DataType data_type() const { return data_type_; }
  Status status() const { return status_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Status status_;
  Output output_;
  Tensor tensor_;
  std::string node_name_;
  int32 index_ = 0;
  DataType data_type_ = DT_INVALID;
};

using OutputList = std::vector<Output>;

class InputList {
 public:
  InputList(const OutputList& out) : inputs_(out.begin(), out.end()) {}                             // NOLINT
  InputList(const std::initializer_list<Input>& inputs) : inputs_(inputs.begin(), inputs.end()) {}  // NOLINT
  InputList(const gtl::ArraySlice<Input>& inputs) : inputs_(inputs.begin(), inputs.end()) {}        // NOLINT
  InputList(const std::initializer_list<Output>& out) : inputs_(out.begin(), out.end()) {}          // NOLINT
  std::vector<Input>::iterator begin() { return inputs_.begin(); }
  std::vector<Input>::iterator end() { return inputs_.end(); }
  std::vector<Input>::const_iterator begin() const { return inputs_.begin(); }
  std::vector<Input>::const_iterator end() const { return inputs_.end(); }

 private:
  std::vector<Input> inputs_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_FRAMEWORK_OPS_H_
