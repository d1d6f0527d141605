// SPDX-License-Identifier: Apache-2.0
//
// Session: a graph and its runs, by names of tensors. Over TensorFlow's C API.
#ifndef TENSORFLOW_CORE_PUBLIC_SESSION_H_
#define TENSORFLOW_CORE_PUBLIC_SESSION_H_

#include <cstdlib>
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
    std::vector<TF_Output> feeds, fetches;
    std::vector<TF_Tensor*> values;
    std::vector<const TF_Operation*> targets;
    {
      const mutex_lock lock(mu_);
      if (!session_) return errors::InvalidArgument("Session was not created with a graph before Run()!");
      for (const auto& [name, tensor] : inputs) {
        TF_RETURN_IF_ERROR(Find(name, &feeds));
        if (!tensor.c_tensor()) return errors::InvalidArgument("the tensor that is fed for ", name, " has no value");
        values.push_back(tensor.c_tensor());
      }
      TF_RETURN_IF_ERROR(FindAll(output_names, &fetches));
      TF_RETURN_IF_ERROR(FindTargets(target_names, &targets));
    }
    if (!output_names.empty() && !outputs) return errors::InvalidArgument("Run fetches tensors, but has no place for them");
    return RunFound(internal::Bytes(options).get(), feeds, values, fetches, targets, outputs, metadata);
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
    std::vector<TF_Output> feeds, fetches;
    std::vector<const TF_Operation*> targets;
    const mutex_lock lock(mu_);
    TF_RETURN_IF_ERROR(FindAll(input_names, &feeds));
    TF_RETURN_IF_ERROR(FindAll(output_names, &fetches));
    TF_RETURN_IF_ERROR(FindTargets(target_nodes, &targets));
    const internal::CStatus s;
    const char* name = nullptr;
    TF_SessionPRunSetup(session_, feeds.data(), static_cast<int>(feeds.size()), fetches.data(), static_cast<int>(fetches.size()), targets.data(),
                        static_cast<int>(targets.size()), &name, s);
    TF_RETURN_IF_ERROR(s.status());
    *handle = name;
    partial_runs_[*handle].reset(name);
    return OkStatus();
  }
  virtual Status PRun(const std::string& handle, const std::vector<std::pair<std::string, Tensor>>& inputs,
                      const std::vector<std::string>& output_names, std::vector<Tensor>* outputs) {
    std::vector<TF_Output> feeds, fetches;
    std::vector<TF_Tensor*> values, results(output_names.size());
    const char* run = nullptr;
    {
      const mutex_lock lock(mu_);
      const auto found = partial_runs_.find(handle);
      if (found == partial_runs_.end()) return errors::InvalidArgument("Must run 'setup' before performing partial runs!");
      run = found->second.get();
      for (const auto& [name, tensor] : inputs) {
        TF_RETURN_IF_ERROR(Find(name, &feeds));
        if (!tensor.c_tensor()) return errors::InvalidArgument("the tensor that is fed for ", name, " has no value");
        values.push_back(tensor.c_tensor());
      }
      TF_RETURN_IF_ERROR(FindAll(output_names, &fetches));
    }
    const internal::CStatus s;
    TF_SessionPRun(session_, run, feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(), results.data(),
                   static_cast<int>(fetches.size()), nullptr, 0, s);
    TF_RETURN_IF_ERROR(s.status());
    outputs->clear();
    for (TF_Tensor* t : results) outputs->push_back(Tensor::Owning(t));
    return OkStatus();
  }

  // A run whose feeds, fetches and targets are looked up once.
  using CallableHandle = int64_t;
  virtual Status MakeCallable(const CallableOptions& options, CallableHandle* handle) {
    auto callable = std::make_shared<Callable>();
    const mutex_lock lock(mu_);
    if (!session_) return errors::InvalidArgument("Session was not created with a graph before MakeCallable()!");
    TF_RETURN_IF_ERROR(FindAll({options.feed().begin(), options.feed().end()}, &callable->feeds));
    TF_RETURN_IF_ERROR(FindAll({options.fetch().begin(), options.fetch().end()}, &callable->fetches));
    TF_RETURN_IF_ERROR(FindTargets({options.target().begin(), options.target().end()}, &callable->targets));
    callable->run_options = internal::Bytes(options.run_options());
    *handle = ++last_callable_;
    callables_[*handle] = std::move(callable);
    return OkStatus();
  }
  virtual Status RunCallable(CallableHandle handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors,
                             RunMetadata* metadata) {
    std::shared_ptr<Callable> callable;
    {
      const mutex_lock lock(mu_);
      const auto found = callables_.find(handle);
      if (found == callables_.end()) return errors::InvalidArgument("No such callable handle: ", handle);
      callable = found->second;
    }
    if (feed_tensors.size() != callable->feeds.size())
      return errors::InvalidArgument("Expected ", callable->feeds.size(), " feed tensors, but got ", feed_tensors.size());
    std::vector<TF_Tensor*> values;
    for (const Tensor& tensor : feed_tensors) {
      if (!tensor.c_tensor()) return errors::InvalidArgument("a tensor that is fed has no value");
      values.push_back(tensor.c_tensor());
    }
    return RunFound(callable->run_options.get(), callable->feeds, values, callable->fetches, callable->targets, fetch_tensors, metadata);
  }
  virtual Status ReleaseCallable(CallableHandle handle) {
    const mutex_lock lock(mu_);
    return callables_.erase(handle) ? OkStatus() : errors::InvalidArgument("No such callable handle: ", handle);
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

  Status FindAll(const std::vector<std::string>& names, std::vector<TF_Output>* out) const {
    for (const std::string& name : names) TF_RETURN_IF_ERROR(Find(name, out));
    return OkStatus();
  }
  Status FindTargets(const std::vector<std::string>& names, std::vector<const TF_Operation*>* out) const {
    for (const std::string& name : names) {
      const TF_Operation* op = TF_GraphOperationByName(graph_.get(), name.c_str());
      if (!op) return errors::NotFound("PruneForTargets: Some target nodes not found: ", name);
      out->push_back(op);
    }
    return OkStatus();
  }
  Status RunFound(const TF_Buffer* run_options, const std::vector<TF_Output>& feeds, const std::vector<TF_Tensor*>& values,
                  const std::vector<TF_Output>& fetches, const std::vector<const TF_Operation*>& targets, std::vector<Tensor>* outputs,
                  RunMetadata* metadata) {
    const internal::CStatus s;
    std::vector<TF_Tensor*> results(fetches.size());
    const internal::Owned<TF_Buffer> told(metadata ? TF_NewBuffer() : nullptr);
    TF_SessionRun(session_, run_options, feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(), results.data(),
                  static_cast<int>(fetches.size()), targets.data(), static_cast<int>(targets.size()), told.get(), s);
    TF_RETURN_IF_ERROR(s.status());
    if (outputs) outputs->clear();
    for (TF_Tensor* t : results) {
      Tensor result = Tensor::Owning(t);
      if (outputs) outputs->push_back(std::move(result));
    }
    if (metadata) metadata->ParseFromArray(told->data, static_cast<int>(told->length));
    return OkStatus();
  }

  struct Callable {
    std::vector<TF_Output> feeds, fetches;
    std::vector<const TF_Operation*> targets;
    internal::Owned<TF_Buffer> run_options;
  };
  struct HandleDeleter {
    void operator()(const char* handle) const { TF_DeletePRunHandle(handle); }
  };
  std::map<std::string, std::unique_ptr<const char, HandleDeleter>> partial_runs_;
  std::map<CallableHandle, std::shared_ptr<Callable>> callables_;
  CallableHandle last_callable_ = 0;

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
