// SPDX-License-Identifier: Apache-2.0
//
// What Session and ClientSession share, over TF_Session: names to outputs, runs, callables.
#ifndef TENSORFLOW_CORE_GRAPH_SESSION_CALLS_H_
#define TENSORFLOW_CORE_GRAPH_SESSION_CALLS_H_

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/c_handles.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace internal {

// Feeds, fetches and targets of a run, found in a graph.
struct SessionCall {
  std::vector<TF_Output> feeds, fetches;
  std::vector<const TF_Operation*> targets;
  std::vector<TF_Tensor*> values;  // of the feeds; the caller's
  Owned<TF_Buffer> run_options;

  // "name:2", or "name" for its first output.
  static Status Find(TF_Graph* graph, const std::string& name, std::vector<TF_Output>* out) {
    const size_t colon = name.rfind(':');
    const std::string op_name = name.substr(0, colon);
    TF_Operation* op = TF_GraphOperationByName(graph, op_name.c_str());
    const int index = colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
    if (!op || index < 0 || index >= TF_OperationNumOutputs(op))
      return errors::InvalidArgument("Tensor ", colon == std::string::npos ? name + ":0" : name,
                                     ", specified in either feed_devices or fetch_devices was not found in the Graph");
    out->push_back({op, index});
    return OkStatus();
  }
  template <class Names>
  static Status FindAll(TF_Graph* graph, const Names& names, std::vector<TF_Output>* out) {
    for (const std::string& name : names) TF_RETURN_IF_ERROR(Find(graph, name, out));
    return OkStatus();
  }
  template <class Names>
  Status FindTargets(TF_Graph* graph, const Names& names) {
    for (const std::string& name : names) {
      const TF_Operation* op = TF_GraphOperationByName(graph, name.c_str());
      if (!op) return errors::NotFound("PruneForTargets: Some target nodes not found: ", name);
      targets.push_back(op);
    }
    return OkStatus();
  }
  static Status Value(const Tensor& tensor, const std::string& name, std::vector<TF_Tensor*>* out) {
    if (!tensor.c_tensor()) return errors::InvalidArgument("the tensor that is fed for ", name, " has no value");
    out->push_back(tensor.c_tensor());
    return OkStatus();
  }
  // `told`: a serialized RunMetadata, where it is not null.
  Status Run(TF_Session* session, const std::vector<TF_Tensor*>& fed, std::vector<Tensor>* outputs, TF_Buffer* told) const {
    const CStatus s;
    std::vector<TF_Tensor*> results(fetches.size());
    TF_SessionRun(session, run_options.get(), feeds.data(), fed.data(), static_cast<int>(feeds.size()), fetches.data(), results.data(),
                  static_cast<int>(fetches.size()), targets.data(), static_cast<int>(targets.size()), told, s);
    TF_RETURN_IF_ERROR(s.status());
    Take(results, outputs);
    return OkStatus();
  }
  template <class Metadata>
  Status RunAndTell(TF_Session* session, const std::vector<TF_Tensor*>& fed, std::vector<Tensor>* outputs, Metadata* metadata) const {
    const Owned<TF_Buffer> told(metadata ? TF_NewBuffer() : nullptr);
    TF_RETURN_IF_ERROR(Run(session, fed, outputs, told.get()));
    if (metadata) metadata->ParseFromArray(told->data, static_cast<int>(told->length));
    return OkStatus();
  }
  static void Take(const std::vector<TF_Tensor*>& results, std::vector<Tensor>* outputs) {
    if (outputs) outputs->clear();
    for (TF_Tensor* t : results) {
      Tensor result = Tensor::Received(t);
      if (outputs) outputs->push_back(std::move(result));
    }
  }
};

// Runs that were looked up once, by number: here, or by the master of the session.
class Callables {
 public:
  template <class CallableOptions>
  Status Make(TF_Graph* graph, TF_Session* session, const CallableOptions& options, int64_t* handle) {
    auto call = std::make_shared<SessionCall>();
    if (weft_session_is_remote(session)) {
      const CStatus s;
      const std::string bytes = options.SerializeAsString();
      int64_t there = 0;
      weft_session_make_callable(session, {bytes.data(), bytes.size()}, &there, s);
      TF_RETURN_IF_ERROR(s.status());
      const mutex_lock lock(mu_);
      *handle = ++last_;
      masters_[*handle] = {there, static_cast<size_t>(options.feed().size()), static_cast<size_t>(options.fetch().size())};
      return OkStatus();
    }
    TF_RETURN_IF_ERROR(SessionCall::FindAll(graph, options.feed(), &call->feeds));
    TF_RETURN_IF_ERROR(SessionCall::FindAll(graph, options.fetch(), &call->fetches));
    TF_RETURN_IF_ERROR(call->FindTargets(graph, options.target()));
    call->run_options = Bytes(options.run_options());
    const mutex_lock lock(mu_);
    *handle = ++last_;
    calls_[*handle] = std::move(call);
    return OkStatus();
  }
  template <class Metadata>
  Status Run(TF_Session* session, int64_t handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors, Metadata* metadata) {
    std::shared_ptr<SessionCall> call;
    Remote there;
    {
      const mutex_lock lock(mu_);
      const auto found = calls_.find(handle);
      const auto remote = masters_.find(handle);
      if (found == calls_.end() && remote == masters_.end()) return errors::InvalidArgument("No such callable handle: ", handle);
      if (found != calls_.end()) call = found->second;
      else there = remote->second;
    }
    const size_t feeds = call ? call->feeds.size() : there.feeds;
    if (feed_tensors.size() != feeds) return errors::InvalidArgument("Expected ", feeds, " feed tensors, but got ", feed_tensors.size());
    std::vector<TF_Tensor*> values;
    for (const Tensor& t : feed_tensors) {
      if (!t.c_tensor()) return errors::InvalidArgument("a tensor that is fed has no value");
      values.push_back(t.c_tensor());
    }
    if (call) return call->RunAndTell(session, values, fetch_tensors, metadata);
    const CStatus s;
    std::vector<TF_Tensor*> results(there.fetches);
    const Owned<TF_Buffer> told(metadata ? TF_NewBuffer() : nullptr);
    weft_session_run_callable(session, there.callable, values.data(), static_cast<int>(values.size()), results.data(),
                              static_cast<int>(results.size()), told.get(), s);
    TF_RETURN_IF_ERROR(s.status());
    SessionCall::Take(results, fetch_tensors);
    if (metadata) metadata->ParseFromArray(told->data, static_cast<int>(told->length));
    return OkStatus();
  }
  Status Release(TF_Session* session, int64_t handle) {
    const mutex_lock lock(mu_);
    if (const auto remote = masters_.find(handle); remote != masters_.end()) {
      const CStatus s;
      weft_session_release_callable(session, remote->second.callable, s);
      masters_.erase(remote);
      return s.status();
    }
    return calls_.erase(handle) ? OkStatus() : errors::InvalidArgument("No such callable handle: ", handle);
  }

 private:
  mutex mu_;
  std::map<int64_t, std::shared_ptr<SessionCall>> calls_;
  struct Remote {
    int64_t callable = 0;
    size_t feeds = 0, fetches = 0;
  };
  std::map<int64_t, Remote> masters_;
  int64_t last_ = 0;
};

}  // namespace internal
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_SESSION_CALLS_H_
