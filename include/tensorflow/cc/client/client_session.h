// SPDX-License-Identifier: Apache-2.0
//
// ClientSession: runs outputs of a scope's graph, which may grow between runs.
#ifndef TENSORFLOW_CC_CLIENT_CLIENT_SESSION_H_
#define TENSORFLOW_CC_CLIENT_CLIENT_SESSION_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensorflow/cc/framework/scope.h"
#include "tensorflow/core/public/session.h"

namespace tensorflow {

namespace thread {
struct ThreadPoolOptions;
}

class ClientSession {
 public:
  using FeedType = std::unordered_map<Output, Input::Initializer, OutputHash>;
  using CallableHandle = int64_t;

  explicit ClientSession(const Scope& scope) : ClientSession(scope, SessionOptions()) {}
  ClientSession(const Scope& scope, const std::string& target) : ClientSession(scope, WithTarget(target)) {}
  ClientSession(const Scope& scope, const SessionOptions& options) : graph_(scope.graph_as_shared_ptr()) {
    internal::Owned<TF_SessionOptions> c_options;
    TF_CHECK_OK(internal::COptions(options, &c_options));
    const internal::CStatus s;
    session_ = TF_NewSession(graph_->c(), c_options.get(), s);
    TF_CHECK_OK(s.status());
  }
  ~ClientSession() { TF_DeleteSession(session_, internal::CStatus()); }
  ClientSession(const ClientSession&) = delete;
  void operator=(const ClientSession&) = delete;

  Status Run(const std::vector<Output>& fetch, std::vector<Tensor>* outputs) const { return Run(FeedType{}, fetch, {}, outputs); }
  Status Run(const FeedType& inputs, const std::vector<Output>& fetch, std::vector<Tensor>* outputs) const { return Run(inputs, fetch, {}, outputs); }
  Status Run(const FeedType& inputs, const std::vector<Output>& fetch, const std::vector<Operation>& run, std::vector<Tensor>* outputs) const {
    return Run(RunOptions(), inputs, fetch, run, outputs, nullptr);
  }
  Status Run(const RunOptions& options, const FeedType& inputs, const std::vector<Output>& fetch, const std::vector<Operation>& run,
             std::vector<Tensor>* outputs, RunMetadata* metadata) const {
    internal::SessionCall call;
    for (const auto& [output, value] : inputs) {
      TF_RETURN_IF_ERROR(value.status);
      call.feeds.push_back({output.node()->c(), output.index()});
      TF_RETURN_IF_ERROR(call.Value(value.tensor, output.name(), &call.values));
    }
    for (const Output& output : fetch) {
      if (!output.node()) return errors::InvalidArgument("an output that is fetched belongs to no op");
      call.fetches.push_back({output.node()->c(), output.index()});
    }
    for (const Operation& op : run) call.targets.push_back(op.node()->c());
    call.run_options = internal::Bytes(options);
    return call.RunAndTell(session_, call.values, outputs, metadata);
  }
  template <class ThreadPoolOptions>
  Status Run(const RunOptions& options, const FeedType& inputs, const std::vector<Output>& fetch, const std::vector<Operation>& run,
             std::vector<Tensor>* outputs, RunMetadata* metadata, const ThreadPoolOptions&) const {
    return Run(options, inputs, fetch, run, outputs, metadata);  // on the engine's threads
  }

  Status MakeCallable(const CallableOptions& options, CallableHandle* handle) { return callables_.Make(graph_->c(), session_, options, handle); }
  Status RunCallable(CallableHandle handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors, RunMetadata* metadata) {
    return callables_.Run(session_, handle, feed_tensors, fetch_tensors, metadata);
  }
  Status ReleaseCallable(CallableHandle handle) { return callables_.Release(session_, handle); }

 private:
  static SessionOptions WithTarget(const std::string& target) {
    SessionOptions options;
    options.target = target;
    return options;
  }

  std::shared_ptr<Graph> graph_;
  TF_Session* session_ = nullptr;
  internal::Callables callables_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_CLIENT_CLIENT_SESSION_H_
