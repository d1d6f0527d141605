// SPDX-License-Identifier: Apache-2.0
//
// Session: a graph and its runs, by names of tensors. Over TensorFlow's C API.
#ifndef TENSORFLOW_CORE_PUBLIC_SESSION_H_
#define TENSORFLOW_CORE_PUBLIC_SESSION_H_

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/public/session_options.h"

namespace tensorflow {

class DeviceAttributes {
 public:
  DeviceAttributes(std::string name, std::string type, int64 memory) : name_(std::move(name)), type_(std::move(type)), memory_(memory) {}
  const std::string& name() const { return name_; }
  const std::string& device_type() const { return type_; }
  int64 memory_limit() const { return memory_; }

 private:
  std::string name_, type_;
  int64 memory_;
};

namespace internal {

struct Deleter {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
  void operator()(TF_Buffer* b) const { TF_DeleteBuffer(b); }
  void operator()(TF_Graph* g) const { TF_DeleteGraph(g); }
  void operator()(TF_SessionOptions* o) const { TF_DeleteSessionOptions(o); }
  void operator()(TF_ImportGraphDefOptions* o) const { TF_DeleteImportGraphDefOptions(o); }
  void operator()(TF_DeviceList* l) const { TF_DeleteDeviceList(l); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

// The status of one call of the C API.
class CStatus {
 public:
  CStatus() : s_(TF_NewStatus()) {}
  operator TF_Status*() const { return s_.get(); }  // NOLINT
  Status status() const { return Status(static_cast<error::Code>(TF_GetCode(s_.get())), TF_Message(s_.get())); }

 private:
  Owned<TF_Status> s_;
};

inline Owned<TF_Buffer> Bytes(const protobuf::MessageLite& m) {
  const std::string bytes = m.SerializeAsString();
  return Owned<TF_Buffer>(TF_NewBufferFromString(bytes.data(), bytes.size()));
}
inline Status COptions(const SessionOptions& options, Owned<TF_SessionOptions>* out) {
  out->reset(TF_NewSessionOptions());
  const std::string config = options.config.SerializeAsString();
  TF_SetTarget(out->get(), options.target.c_str());
  const CStatus s;
  TF_SetConfig(out->get(), config.data(), config.size(), s);
  return s.status();
}

}  // namespace internal

class Session {
 public:
  explicit Session(const SessionOptions& options) : options_(options) {}
  virtual ~Session() {
    if (session_) TF_DeleteSession(session_, internal::CStatus());
  }
  Session(const Session&) = delete;
  void operator=(const Session&) = delete;

  // Once; Extend adds to the graph.
  virtual Status Create(const GraphDef& graph) {
    const mutex_lock lock(mu_);
    if (graph.node_size() > 0 && created_) return errors::AlreadyExists("A Graph has already been created for this session.");
    return Add(graph);
  }
  virtual Status Extend(const GraphDef& graph) {
    const mutex_lock lock(mu_);
    return Add(graph);
  }
  virtual Status Run(const std::vector<std::pair<std::string, Tensor>>& inputs, const std::vector<std::string>& output_names,
                     const std::vector<std::string>& target_names, std::vector<Tensor>* outputs) {
    return Run(RunOptions(), inputs, output_names, target_names, outputs, nullptr);
  }
  virtual Status Run(const RunOptions& options, const std::vector<std::pair<std::string, Tensor>>& inputs,
                     const std::vector<std::string>& output_names, const std::vector<std::string>& target_names, std::vector<Tensor>* outputs,
                     RunMetadata* metadata) {
    std::vector<TF_Output> feeds, fetches;
    std::vector<TF_Tensor*> values, results(output_names.size());
    std::vector<const TF_Operation*> targets;
    {
      const mutex_lock lock(mu_);
      if (!session_) return errors::InvalidArgument("Session was not created with a graph before Run()!");
      for (const auto& [name, tensor] : inputs) {
        TF_RETURN_IF_ERROR(Find(name, &feeds));
        if (!tensor.c_tensor()) return errors::InvalidArgument("the tensor that is fed for ", name, " has no value");
        values.push_back(tensor.c_tensor());
      }
      for (const std::string& name : output_names) TF_RETURN_IF_ERROR(Find(name, &fetches));
      for (const std::string& name : target_names) {
        const TF_Operation* op = TF_GraphOperationByName(graph_.get(), name.c_str());
        if (!op) return errors::NotFound("PruneForTargets: Some target nodes not found: ", name);
        targets.push_back(op);
      }
    }
    if (!output_names.empty() && !outputs) return errors::InvalidArgument("Run fetches tensors, but has no place for them");
    const internal::CStatus s;
    const auto run_options = internal::Bytes(options);
    const internal::Owned<TF_Buffer> told(metadata ? TF_NewBuffer() : nullptr);
    TF_SessionRun(session_, run_options.get(), feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(), results.data(),
                  static_cast<int>(fetches.size()), targets.data(), static_cast<int>(targets.size()), told.get(), s);
    TF_RETURN_IF_ERROR(s.status());
    if (outputs) {
      outputs->clear();
      for (TF_Tensor* t : results) outputs->push_back(Tensor::Owning(t));
    }
    if (metadata) metadata->ParseFromArray(told->data, static_cast<int>(told->length));
    return OkStatus();
  }
  virtual Status ListDevices(std::vector<DeviceAttributes>* response) {
    if (!session_) TF_RETURN_IF_ERROR(Extend(GraphDef()));
    const internal::CStatus s;
    const internal::Owned<TF_DeviceList> list(TF_SessionListDevices(session_, s));
    TF_RETURN_IF_ERROR(s.status());
    response->clear();
    for (int i = 0; i < TF_DeviceListCount(list.get()); ++i) {
      response->emplace_back(TF_DeviceListName(list.get(), i, s), TF_DeviceListType(list.get(), i, s), TF_DeviceListMemoryBytes(list.get(), i, s));
    }
    return OkStatus();
  }
  virtual Status Close() {
    const internal::CStatus s;
    if (session_) TF_CloseSession(session_, s);
    return s.status();
  }

  // For these headers: a session that was made with its graph.
  void Adopt(internal::Owned<TF_Graph> graph, TF_Session* session) {
    graph_ = std::move(graph);
    session_ = session;
    created_ = true;
  }

 private:
  Status Add(const GraphDef& graph) {
    const internal::CStatus s;
    if (!session_) {
      internal::Owned<TF_SessionOptions> options;
      TF_RETURN_IF_ERROR(internal::COptions(options_, &options));
      graph_.reset(TF_NewGraph());
      session_ = TF_NewSession(graph_.get(), options.get(), s);
      TF_RETURN_IF_ERROR(s.status());
    }
    const auto bytes = internal::Bytes(graph);
    const internal::Owned<TF_ImportGraphDefOptions> options(TF_NewImportGraphDefOptions());
    TF_GraphImportGraphDef(graph_.get(), bytes.get(), options.get(), s);
    if (s.status().ok() && graph.node_size() > 0) created_ = true;
    return s.status();
  }
  // "name:2", or "name" for its first output.
  Status Find(const std::string& name, std::vector<TF_Output>* out) const {
    const size_t colon = name.rfind(':');
    const std::string op_name = name.substr(0, colon);
    TF_Operation* op = TF_GraphOperationByName(graph_.get(), op_name.c_str());
    const int index = colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
    if (!op || index < 0 || index >= TF_OperationNumOutputs(op))
      return errors::InvalidArgument("Tensor ", colon == std::string::npos ? name + ":0" : name,
                                     ", specified in either feed_devices or fetch_devices was not found in the Graph");
    out->push_back({op, index});
    return OkStatus();
  }

  const SessionOptions options_;
  mutex mu_;
  internal::Owned<TF_Graph> graph_;
  TF_Session* session_ = nullptr;
  bool created_ = false;
};

inline Status NewSession(const SessionOptions& options, Session** session) {
  internal::Owned<TF_SessionOptions> checked;
  *session = nullptr;
  TF_RETURN_IF_ERROR(internal::COptions(options, &checked));
  *session = new Session(options);
  return OkStatus();
}
// Null on failure.
inline Session* NewSession(const SessionOptions& options) {
  Session* session = nullptr;
  NewSession(options, &session).IgnoreError();
  return session;
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PUBLIC_SESSION_H_
