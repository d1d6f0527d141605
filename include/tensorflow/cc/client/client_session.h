// SPDX-License-Identifier: Apache-2.0
//
// ClientSession: runs outputs of a scope's graph, which may grow between runs.
#ifndef TENSORFLOW_CC_CLIENT_CLIENT_SESSION_H_
#define TENSORFLOW_CC_CLIENT_CLIENT_SESSION_H_

#include <map>
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
    std::vector<TF_Output> feeds, fetches;
    std::vector<TF_Tensor*> values;
    std::vector<const TF_Operation*> targets;
    for (const auto& [output, value] : inputs) {
      TF_RETURN_IF_ERROR(value.status);
      feeds.push_back({output.node()->c(), output.index()});
      if (!value.tensor.c_tensor()) return errors::InvalidArgument("the tensor that is fed for ", output.name(), " has no value");
      values.push_back(value.tensor.c_tensor());
    }
    for (const Output& output : fetch) {
      if (!output.node()) return errors::InvalidArgument("an output that is fetched belongs to no op");
      fetches.push_back({output.node()->c(), output.index()});
    }
    for (const Operation& op : run) targets.push_back(op.node()->c());
    return RunFound(internal::Bytes(options).get(), feeds, values, fetches, targets, outputs, metadata);
  }
  template <class ThreadPoolOptions>
  Status Run(const RunOptions& options, const FeedType& inputs, const std::vector<Output>& fetch, const std::vector<Operation>& run,
             std::vector<Tensor>* outputs, RunMetadata* metadata, const ThreadPoolOptions&) const {
    return Run(options, inputs, fetch, run, outputs, metadata);  // on the engine's threads
  }

  Status MakeCallable(const CallableOptions& options, CallableHandle* handle) {
    auto callable = std::make_shared<Callable>();
    for (const std::string& name : options.feed()) TF_RETURN_IF_ERROR(Find(name, &callable->feeds));
    for (const std::string& name : options.fetch()) TF_RETURN_IF_ERROR(Find(name, &callable->fetches));
    for (const std::string& name : options.target()) {
      const Node* node = graph_->FindNode(name);
      if (!node) return errors::NotFound("PruneForTargets: Some target nodes not found: ", name);
      callable->targets.push_back(node->c());
    }
    callable->run_options = internal::Bytes(options.run_options());
    const mutex_lock lock(mu_);
    *handle = ++last_callable_;
    callables_[*handle] = std::move(callable);
    return OkStatus();
  }
  Status RunCallable(CallableHandle handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors, RunMetadata* metadata) {
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
    for (const Tensor& t : feed_tensors) {
      if (!t.c_tensor()) return errors::InvalidArgument("a tensor that is fed has no value");
      values.push_back(t.c_tensor());
    }
    return RunFound(callable->run_options.get(), callable->feeds, values, callable->fetches, callable->targets, fetch_tensors, metadata);
  }
  Status ReleaseCallable(CallableHandle handle) {
    const mutex_lock lock(mu_);
    return callables_.erase(handle) ? OkStatus() : errors::InvalidArgument("No such callable handle: ", handle);
  }

 private:
  struct Callable {
    std::vector<TF_Output> feeds, fetches;
    std::vector<const TF_Operation*> targets;
    internal::Owned<TF_Buffer> run_options;
  };
  static SessionOptions WithTarget(const std::string& target) {
    SessionOptions options;
    options.target = target;
    return options;
  }
  Status Find(const std::string& name, std::vector<TF_Output>* out) const {
    const size_t colon = name.rfind(':');
    const Node* node = graph_->FindNode(name.substr(0, colon));
    const int index = colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
    if (!node || index < 0 || index >= node->num_outputs())
      return errors::InvalidArgument("Tensor ", name, ", specified in either feed_devices or fetch_devices was not found in the Graph");
    out->push_back({node->c(), index});
    return OkStatus();
  }
  Status RunFound(const TF_Buffer* options, const std::vector<TF_Output>& feeds, const std::vector<TF_Tensor*>& values,
                  const std::vector<TF_Output>& fetches, const std::vector<const TF_Operation*>& targets, std::vector<Tensor>* outputs,
                  RunMetadata* metadata) const {
    const internal::CStatus s;
    std::vector<TF_Tensor*> results(fetches.size());
    const internal::Owned<TF_Buffer> told(metadata ? TF_NewBuffer() : nullptr);
    TF_SessionRun(session_, options, feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(), results.data(),
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

  std::shared_ptr<Graph> graph_;
  TF_Session* session_ = nullptr;
  mutex mu_;
  std::map<CallableHandle, std::shared_ptr<Callable>> callables_;
  CallableHandle last_callable_ = 0;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_CLIENT_CLIENT_SESSION_H_
