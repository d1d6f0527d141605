// SPDX-License-Identifier: Apache-2.0
//
// MetaGraphDef: the graph of a SavedModel and its signatures. What it holds beyond that is kept as it came.
#ifndef TENSORFLOW_CORE_PROTOBUF_META_GRAPH_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_META_GRAPH_PB_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/platform/protobuf.h"

namespace tensorflow {

class TensorShapeProto : public protobuf::MessageLite {
 public:
  class Dim {
   public:
    explicit Dim(int64 size) : size_(size) {}
    int64 size() const { return size_; }

   private:
    int64 size_;
  };
  int dim_size() const { return static_cast<int>(dims_.size()); }
  const Dim& dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  const std::vector<Dim>& dim() const { return dims_; }
  bool unknown_rank() const { return unknown_rank_; }
  void Clear() override { *this = TensorShapeProto(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.field() == 3 && r.type() == 0) unknown_rank_ = r.number() != 0;
      if (r.field() != 2 || r.type() != 2) continue;
      int64 size = 0;
      protobuf::WireReader d(r.bytes());
      while (d.Next()) {
        if (d.field() == 1 && d.type() == 0) size = static_cast<int64>(d.number());
      }
      if (!d.ok()) return false;
      dims_.emplace_back(size);
    }
    bytes_.append(bytes);
    return r.ok();
  }
  void AppendBytes(std::string* out) const override { out->append(bytes_); }

 private:
  std::string bytes_;
  std::vector<Dim> dims_;
  bool unknown_rank_ = false;
};

class TensorInfo : public protobuf::MessageLite {
 public:
  const std::string& name() const { return name_; }
  DataType dtype() const { return dtype_; }
  const TensorShapeProto& tensor_shape() const { return shape_; }
  void Clear() override { *this = TensorInfo(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.field() == 1 && r.type() == 2) name_ = r.bytes();
      if (r.field() == 2 && r.type() == 0) dtype_ = static_cast<DataType>(r.number());
      if (r.field() == 3 && r.type() == 2 && !protobuf::Wire::Parse(&shape_, r.bytes())) return false;
    }
    bytes_.append(bytes);
    return r.ok();
  }
  void AppendBytes(std::string* out) const override { out->append(bytes_); }

 private:
  std::string bytes_, name_;
  DataType dtype_ = DT_INVALID;
  TensorShapeProto shape_;
};

namespace internal {
// One entry of a map from names to messages.
template <class T>
bool ReadEntry(std::string_view bytes, protobuf::Map<std::string, T>* map) {
  std::string key;
  T value;
  protobuf::WireReader r(bytes);
  while (r.Next()) {
    if (r.field() == 1 && r.type() == 2) key = r.bytes();
    if (r.field() == 2 && r.type() == 2 && !protobuf::Wire::Parse(&value, r.bytes())) return false;
  }
  (*map)[key] = std::move(value);
  return r.ok();
}
}  // namespace internal

class SignatureDef : public protobuf::MessageLite {
 public:
  const protobuf::Map<std::string, TensorInfo>& inputs() const { return inputs_; }
  const protobuf::Map<std::string, TensorInfo>& outputs() const { return outputs_; }
  const std::string& method_name() const { return method_name_; }
  void Clear() override { *this = SignatureDef(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.type() != 2) continue;
      if (r.field() == 1 && !internal::ReadEntry(r.bytes(), &inputs_)) return false;
      if (r.field() == 2 && !internal::ReadEntry(r.bytes(), &outputs_)) return false;
      if (r.field() == 3) method_name_ = r.bytes();
    }
    bytes_.append(bytes);
    return r.ok();
  }
  void AppendBytes(std::string* out) const override { out->append(bytes_); }

 private:
  std::string bytes_, method_name_;
  protobuf::Map<std::string, TensorInfo> inputs_, outputs_;
};

class MetaGraphDef : public protobuf::MessageLite {
 public:
  const GraphDef& graph_def() const { return graph_; }
  const protobuf::Map<std::string, SignatureDef>& signature_def() const { return signatures_; }
  void Clear() override { *this = MetaGraphDef(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.type() != 2) continue;
      if (r.field() == 2 && !protobuf::Wire::Parse(&graph_, r.bytes())) return false;
      if (r.field() == 5 && !internal::ReadEntry(r.bytes(), &signatures_)) return false;
    }
    bytes_.append(bytes);
    return r.ok();
  }
  void AppendBytes(std::string* out) const override { out->append(bytes_); }

 private:
  std::string bytes_;
  GraphDef graph_;
  protobuf::Map<std::string, SignatureDef> signatures_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PROTOBUF_META_GRAPH_PB_H_
