#include "remote/remote_session.h"

#include <algorithm>

#include "core/remote_device.h"
#include "remote/blocking_call.h"
#include "remote/graph_codec.h"
#include "remote/graph_messages.h"
#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

constexpr double kCloseSeconds = 10;

// Devices that a master listed. Kept for ever, as those of the process are: who asked holds pointers to them.
const DeviceSet* listed_devices(const std::vector<DeviceAttributes>& attributes, Status& status) {
  class ListedDevice final : public core::RemoteDevice {
   public:
    using core::RemoteDevice::RemoteDevice;
  };
  std::string key;
  std::vector<std::unique_ptr<Device>> list;
  for (const DeviceAttributes& d : attributes) {
    auto name = core::DeviceName::parse(d.name);
    if (!name.ok() || !name->complete()) {
      status = invalid_argument("the master lists a device with the name '", d.name, "'");
      return nullptr;
    }
    key += cat(d.name, " ", d.memory_limit, "\n");
    list.push_back(std::make_unique<ListedDevice>(std::move(name).value(), d.memory_limit, ""));
  }
  if (list.empty()) {
    status = invalid_argument("the master lists no devices");
    return nullptr;
  }
  static std::mutex mutex;
  static auto* sets = new std::map<std::string, std::unique_ptr<DeviceSet>>;
  std::lock_guard lock(mutex);
  auto& set = (*sets)[key];
  if (!set) set = std::make_unique<DeviceSet>(std::move(list));
  return set.get();
}

int64_t new_request_id() {
  static std::atomic<int64_t> next{int64_t(std::chrono::steady_clock::now().time_since_epoch().count())};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::string method(std::string_view name) { return cat("/tensorflow.MasterService/", name); }

// Sessions with one master share the connection, which stays: making one takes longer than a step.
Result<std::shared_ptr<Channel>> connect_to(const std::string& target) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  static std::mutex mutex;
  static auto* channels = new std::map<std::string, std::shared_ptr<Channel>>;
  std::lock_guard lock(mutex);
  auto& channel = (*channels)[target];
  if (!channel) channel = api->connect(target.substr(std::string_view("grpc://").size()));
  return channel;
}

class GrpcSession final : public runtime::RemoteSession {
 public:
  GrpcSession(std::string target, const graph::Graph& graph, std::mutex& mutex, std::string config)
      : target_(std::move(target)), config_(std::move(config)), graph_(graph), graph_mutex_(mutex) {
    if (auto c = decode_cluster_config(config_); c.ok()) timeout_ms_ = c->operation_timeout_ms;
  }

  Status run(const Step& step) override {
    WEFT_RETURN_IF_ERROR(bring_graph(step.cancellation));
    RunStep request;
    request.session = handle();
    request.fetches = step.names.fetches;
    request.targets = step.names.targets;
    request.options = step.options;
    request.partial_run = step.partial_run;
    request.errors_in_body = true;
    request.request_id = new_request_id();
    for (size_t i = 0; i < step.names.feeds.size(); ++i) request.feeds.push_back({step.names.feeds[i], step.values[i]});
    const int64_t timeout_ms = step.timeout_ms > 0 ? step.timeout_ms : timeout_ms_;
    if (timeout_ms > 0) {  // the master ends the step then; where it does not answer, the call ends a little later
      wire::ProtoWriter w;
      w.int64(2, timeout_ms);
      request.options += w.take();
    }
    WEFT_ASSIGN(Message message, encode_run_step(request));
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect());
    auto answer = call_and_wait(*channel, method("RunStep"), std::move(message),
                                {.seconds = timeout_ms > 0 ? double(timeout_ms) / 1000 + 1 : 0, .cancellation = step.cancellation});
    if (!answer.ok()) return named(answer.status());
    WEFT_ASSIGN(RunStepResult result, decode_run_step_result(answer->flatten()));
    WEFT_RETURN_IF_ERROR(result.status);
    for (size_t i = 0; i < step.names.fetches.size(); ++i) {
      const std::string& name = step.names.fetches[i];
      auto it = std::find_if(result.tensors.begin(), result.tensors.end(), [&](const NamedTensor& t) { return t.name == name; });
      if (it == result.tensors.end()) return internal_error("the answer of the master has no value for ", name);
      step.results[i] = it->tensor;
    }
    if (step.metadata) *step.metadata = std::move(result.metadata);
    return {};
  }

  Result<std::string> setup_partial_run(const Names& names) override {
    WEFT_RETURN_IF_ERROR(bring_graph(nullptr));
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect());
    auto answer = call_and_wait(*channel, method("PartialRunSetup"),
                                Message(encode_partial_run_setup({handle(), names.feeds, names.fetches, names.targets, new_request_id()})));
    if (!answer.ok()) return named(answer.status());
    return decode_text(1, answer->flatten());
  }

  Result<int64_t> make_callable(const std::string& options) override {
    WEFT_RETURN_IF_ERROR(bring_graph(nullptr));
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect());
    auto answer = call_and_wait(*channel, method("MakeCallable"), Message(encode_make_callable(handle(), options, new_request_id())));
    if (!answer.ok()) return named(answer.status());
    return decode_number(1, answer->flatten());
  }

  Status run_callable(int64_t callable, std::span<const Tensor> feeds, std::vector<Tensor>& results, std::string* metadata,
                      op::CancellationManager* cancellation) override {
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect());
    WEFT_ASSIGN(Message request, encode_run_callable(handle(), callable, feeds, new_request_id()));
    auto answer = call_and_wait(*channel, method("RunCallable"), std::move(request),
                                {.seconds = timeout_ms_ > 0 ? double(timeout_ms_) / 1000 + 1 : 0, .cancellation = cancellation});
    if (!answer.ok()) return named(answer.status());
    return decode_run_callable_result(answer->flatten(), results, metadata);
  }

  Status release_callable(int64_t callable) override {
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect());
    const std::string session = handle();
    if (session.empty()) return {};  // closed: the master has none of it any more
    return call_and_wait(*channel, method("ReleaseCallable"), Message(encode_release_callable(session, callable)), {.seconds = kCloseSeconds})
        .status();
  }

  Result<const DeviceSet*> devices() override {
    WEFT_RETURN_IF_ERROR(bring_graph(nullptr));
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect());
    auto answer = call_and_wait(*channel, method("ListDevices"), Message(encode_text(1, handle())));
    if (!answer.ok()) return named(answer.status());
    WEFT_ASSIGN(std::vector<DeviceAttributes> list, decode_device_list(1, answer->flatten()));
    WEFT_ASSIGN(std::vector<DeviceAttributes> more, decode_device_list(2, answer->flatten()));
    list.insert(list.end(), more.begin(), more.end());
    Status status;
    const DeviceSet* set = listed_devices(list, status);
    if (!set) return status;
    return set;
  }

  Status close() override {
    std::lock_guard lock(mutex_);
    if (handle_.empty()) return {};
    const std::string handle = std::exchange(handle_, {});
    const Status s = call_and_wait(*channel_, method("CloseSession"), Message(encode_text(1, handle)), {.seconds = kCloseSeconds}).status();
    // A master that is gone has no session any more.
    return s.code() == Code::kUnavailable ? Status() : s;
  }

 private:
  Result<std::shared_ptr<Channel>> connect() {
    std::lock_guard lock(mutex_);
    return connect_locked();
  }
  Result<std::shared_ptr<Channel>> connect_locked() {
    if (!channel_) {
      WEFT_ASSIGN(channel_, connect_to(target_));
    }
    return channel_;
  }
  std::string handle() {
    std::lock_guard lock(mutex_);
    return handle_;
  }
  Status named(const Status& s) const {
    if (s.code() != Code::kUnavailable) return s;
    return Status(s.code(), cat(s.message(), " (the master of the session, ", target_, ")"));
  }

  // The session at the master, with all of the graph. One that is not there yet is waited for.
  Status bring_graph(op::CancellationManager* cancellation) {
    std::lock_guard lock(mutex_);
    WEFT_RETURN_IF_ERROR(connect_locked().status());
    std::string growth;
    SentGraph sent = sent_;
    {
      std::lock_guard graph_lock(graph_mutex_);
      WEFT_ASSIGN(growth, encode_growth(graph_, sent));
    }
    const double seconds = double(timeout_ms_) / 1000;
    if (handle_.empty()) {
      auto answer = call_and_wait(*channel_, method("CreateSession"), Message(encode_create_session({growth, config_, target_})),
                                  {.seconds = seconds, .wait = true, .cancellation = cancellation});
      if (!answer.ok()) return named(answer.status());
      handle_ = decode_text(1, answer->flatten());
      version_ = decode_number(2, answer->flatten());
      if (handle_.empty()) return internal_error("the master at ", target_, " gave the session no handle");
    } else if (!growth.empty()) {
      auto answer = call_and_wait(*channel_, method("ExtendSession"), Message(encode_extend_session({handle_, growth, version_})),
                                  {.seconds = seconds, .cancellation = cancellation});
      if (!answer.ok()) return named(answer.status());
      version_ = decode_number(4, answer->flatten());
    }
    sent_ = std::move(sent);
    return {};
  }

  const std::string target_, config_;
  const graph::Graph& graph_;
  std::mutex& graph_mutex_;
  int64_t timeout_ms_ = 0;
  std::mutex mutex_;
  std::shared_ptr<Channel> channel_;
  std::string handle_;
  int64_t version_ = 0;
  SentGraph sent_;
};

}  // namespace

const runtime::RemoteSessions& sessions_by_masters() {
  static const runtime::RemoteSessions sessions{
      [](const std::string& target, const graph::Graph& graph, std::mutex& mutex, const std::string& config)
          -> std::unique_ptr<runtime::RemoteSession> { return std::make_unique<GrpcSession>(target, graph, mutex, config); },
      [](const std::string& target, const std::vector<std::string>& containers, const std::string& config) -> Status {
        WEFT_ASSIGN(const ClusterConfig read, decode_cluster_config(config));
        std::string request;
        for (const std::string& c : containers) request += encode_text(1, c);
        for (const std::string& f : read.device_filters) request += encode_text(2, f);
        WEFT_ASSIGN(std::shared_ptr<Channel> channel, connect_to(target));
        return call_and_wait(*channel, method("Reset"), Message(std::move(request)),
                             {.seconds = double(read.operation_timeout_ms) / 1000, .wait = true})
            .status();
      }};
  return sessions;
}

}  // namespace weft_engine::remote
