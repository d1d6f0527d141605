// SPDX-License-Identifier: Apache-2.0
//
// Session: a graph and its runs, by names of tensors. Over TensorFlow's C API.
#ifndef TENSORFLOW_CORE_PUBLIC_SESSION_H_
#define TENSORFLOW_CORE_PUBLIC_SESSION_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/framework/device_attributes.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/c_handles.h"
#include "tensorflow/core/graph/session_calls.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/public/session_options.h"

namespace tensorflow {

namespace internal {

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
    internal::SessionCall call;
    {
      const mutex_lock lock(mu_);
      if (!session_) return errors::InvalidArgument("Session was not created with a graph before Run()!");
      TF_RETURN_IF_ERROR(FindFeeds(inputs, &call));
      TF_RETURN_IF_ERROR(call.FindAll(graph_.get(), output_names, &call.fetches));
      TF_RETURN_IF_ERROR(call.FindTargets(graph_.get(), target_names));
    }
    if (!output_names.empty() && !outputs) return errors::InvalidArgument("Run fetches tensors, but has no place for them");
    call.run_options = internal::Bytes(options);
    return call.RunAndTell(session_, call.values, outputs, metadata);
  }
  virtual Status ListDevices(std::vector<DeviceAttributes>* response) {
    if (!session_) TF_RETURN_IF_ERROR(Extend(GraphDef()));
    const internal::CStatus s;
    const internal::Owned<TF_DeviceList> list(TF_SessionListDevices(session_, s));
    TF_RETURN_IF_ERROR(s.status());
    response->clear();
    for (int i = 0; i < TF_DeviceListCount(list.get()); ++i) {
      DeviceAttributes& device = response->emplace_back();
      device.set_name(TF_DeviceListName(list.get(), i, s));
      device.set_device_type(TF_DeviceListType(list.get(), i, s));
      device.set_memory_limit(TF_DeviceListMemoryBytes(list.get(), i, s));
      device.set_incarnation(TF_DeviceListIncarnation(list.get(), i, s));
    }
    return OkStatus();
  }
  // Runs the parts of a graph one after the other: what is fed later is not asked for yet. `handle` names the run.
  virtual Status PRunSetup(const std::vector<std::string>& input_names, const std::vector<std::string>& output_names,
                           const std::vector<std::string>& target_nodes, std::string* handle) {
    internal::SessionCall call;
    const mutex_lock lock(mu_);
    if (!session_) return errors::InvalidArgument("Session was not created with a graph before PRunSetup()!");
    TF_RETURN_IF_ERROR(call.FindAll(graph_.get(), input_names, &call.feeds));
    TF_RETURN_IF_ERROR(call.FindAll(graph_.get(), output_names, &call.fetches));
    TF_RETURN_IF_ERROR(call.FindTargets(graph_.get(), target_nodes));
    const internal::CStatus s;
    const char* name = nullptr;
    TF_SessionPRunSetup(session_, call.feeds.data(), static_cast<int>(call.feeds.size()), call.fetches.data(), static_cast<int>(call.fetches.size()),
                        call.targets.data(), static_cast<int>(call.targets.size()), &name, s);
    TF_RETURN_IF_ERROR(s.status());
    *handle = name;
    partial_runs_[*handle].reset(name);
    return OkStatus();
  }
  virtual Status PRun(const std::string& handle, const std::vector<std::pair<std::string, Tensor>>& inputs,
                      const std::vector<std::string>& output_names, std::vector<Tensor>* outputs) {
    internal::SessionCall call;
    std::vector<TF_Tensor*> results(output_names.size());
    const char* run = nullptr;
    {
      const mutex_lock lock(mu_);
      const auto found = partial_runs_.find(handle);
      if (found == partial_runs_.end()) return errors::InvalidArgument("Must run 'setup' before performing partial runs!");
      run = found->second.get();
      TF_RETURN_IF_ERROR(FindFeeds(inputs, &call));
      TF_RETURN_IF_ERROR(call.FindAll(graph_.get(), output_names, &call.fetches));
    }
    const internal::CStatus s;
    TF_SessionPRun(session_, run, call.feeds.data(), call.values.data(), static_cast<int>(call.feeds.size()), call.fetches.data(), results.data(),
                   static_cast<int>(call.fetches.size()), nullptr, 0, s);
    TF_RETURN_IF_ERROR(s.status());
    call.Take(results, outputs);
    return OkStatus();
  }

  // A run whose feeds, fetches and targets are looked up once.
  using CallableHandle = int64_t;
  virtual Status MakeCallable(const CallableOptions& options, CallableHandle* handle) {
    const mutex_lock lock(mu_);
    if (!session_) return errors::InvalidArgument("Session was not created with a graph before MakeCallable()!");
    return callables_.Make(graph_.get(), session_, options, handle);
  }
  virtual Status RunCallable(CallableHandle handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors,
                             RunMetadata* metadata) {
    return callables_.Run(session_, handle, feed_tensors, fetch_tensors, metadata);
  }
  virtual Status ReleaseCallable(CallableHandle handle) { return callables_.Release(session_, handle); }
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
  Status FindFeeds(const std::vector<std::pair<std::string, Tensor>>& inputs, internal::SessionCall* call) const {
    for (const auto& [name, tensor] : inputs) {
      TF_RETURN_IF_ERROR(call->Find(graph_.get(), name, &call->feeds));
      TF_RETURN_IF_ERROR(call->Value(tensor, name, &call->values));
    }
    return OkStatus();
  }

  struct HandleDeleter {
    void operator()(const char* handle) const { TF_DeletePRunHandle(handle); }
  };
  std::map<std::string, std::unique_ptr<const char, HandleDeleter>> partial_runs_;
  internal::Callables callables_;

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
// Forgets the resources of containers (all of them, if none is named) at the target.
inline Status Reset(const SessionOptions& options, const std::vector<std::string>& containers) {
  internal::Owned<TF_SessionOptions> c_options;
  TF_RETURN_IF_ERROR(internal::COptions(options, &c_options));
  std::vector<const char*> names;
  for (const std::string& name : containers) names.push_back(name.c_str());
  const internal::CStatus s;
  TF_Reset(c_options.get(), names.data(), static_cast<int>(names.size()), s);
  return s.status();
}
// Null on failure.
inline Session* NewSession(const SessionOptions& options) {
  Session* session = nullptr;
  NewSession(options, &session).IgnoreError();
  return session;
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PUBLIC_SESSION_H_
