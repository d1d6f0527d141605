// SPDX-License-Identifier: Apache-2.0
//
// How sources write the state of an iterator, and a dataset as a graph. The engine asks neither: it restores an iterator by walking again, and writes
// graphs from the calls of the ops that made a dataset. Included by dataset.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_STATE_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_STATE_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

class FunctionLibraryRuntime;
class Node;

namespace data {

class DatasetBase;
class IteratorContext;

class IteratorStateReader {
 public:
  virtual ~IteratorStateReader() = default;
  virtual bool Contains(StringPiece key) const = 0;
  virtual Status ReadScalar(StringPiece key, int64* value) const = 0;
  virtual Status ReadScalar(StringPiece key, tstring* value) const = 0;
  virtual Status ReadTensor(StringPiece key, Tensor* value) const = 0;
  virtual bool Contains(StringPiece name, StringPiece key) const = 0;
  virtual Status ReadScalar(StringPiece name, StringPiece key, int64* value) const = 0;
  virtual Status ReadScalar(StringPiece name, StringPiece key, tstring* value) const = 0;
  virtual Status ReadTensor(StringPiece name, StringPiece key, Tensor* value) const = 0;
};

class IteratorStateWriter {
 public:
  virtual ~IteratorStateWriter() = default;
  virtual Status WriteScalar(StringPiece key, int64 value) = 0;
  virtual Status WriteScalar(StringPiece key, const tstring& value) = 0;
  virtual Status WriteTensor(StringPiece key, const Tensor& value) = 0;
  virtual Status WriteScalar(StringPiece name, StringPiece key, int64 value) = 0;
  virtual Status WriteScalar(StringPiece name, StringPiece key, const tstring& value) = 0;
  virtual Status WriteTensor(StringPiece name, StringPiece key, const Tensor& value) = 0;
};

class SerializationContext {
 public:
  enum class ExternalStatePolicy : int64 { kWarn = 0, kIgnore = 1, kFail = 2 };
  struct Params {
    std::vector<std::pair<std::string, Tensor>>* input_list = nullptr;
    ExternalStatePolicy external_state_policy = ExternalStatePolicy::kWarn;
    bool symbolic_checkpoint = false;
  };
  SerializationContext() = default;
  explicit SerializationContext(Params params) : params_(params) {}
  ExternalStatePolicy external_state_policy() const { return params_.external_state_policy; }
  bool symbolic_checkpoint() const { return params_.symbolic_checkpoint; }

 private:
  Params params_;
};

// Takes what sources give it, and says that nobody asked.
class GraphDefBuilderWrapper {
 public:
  template <class T>
  Status AddScalar(const T&, Node**) {
    return NotAsked();
  }
  template <class T>
  Status AddVector(const std::vector<T>&, Node**) {
    return NotAsked();
  }
  Status AddTensor(const Tensor&, Node**) { return NotAsked(); }
  Status AddPlaceholder(const Tensor&, Node**) { return NotAsked(); }
  Status AddDataset(const DatasetBase*, const std::vector<Node*>&, Node**) { return NotAsked(); }
  Status AddDataset(const DatasetBase*, const std::vector<Node*>&, const std::vector<std::pair<StringPiece, AttrValue>>&, Node**) {
    return NotAsked();
  }
  Status AddDataset(const DatasetBase*, const std::vector<std::pair<size_t, Node*>>&, const std::vector<std::pair<size_t, gtl::ArraySlice<Node*>>>&,
                    const std::vector<std::pair<StringPiece, AttrValue>>&, Node**) {
    return NotAsked();
  }
  template <class T>
  void BuildAttrValue(const T& value, AttrValue* attr) {
    SetAttrValue(value, attr);
  }

 protected:
  static Status NotAsked() { return errors::Unimplemented("graphs of datasets are written from the calls of their ops, not by AsGraphDefInternal"); }
};

}  // namespace data
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_DATASET_STATE_H_
