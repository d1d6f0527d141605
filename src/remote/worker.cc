#include "remote/worker.h"

#include <condition_variable>
#include <deque>

#include "core/log.h"
#include "core/threads.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kWorkerService = "/tensorflow.WorkerService/";
constexpr std::string_view kEagerService = "/tensorflow.eager.EagerService/";

// The requests of one StreamingEnqueue, one after the other on a thread of its own. A failed one ends the stream with its status, as TensorFlow does.
class EnqueueStream final : public StreamHandler {
 public:
  EnqueueStream(std::shared_ptr<EagerService> service, std::shared_ptr<ServerStream> stream) : state_(std::make_shared<State>()) {
    const Status started = start_thread([state = state_, service = std::move(service), stream] { work(*state, *service, *stream); });
    if (started.ok()) return;
    stream->finish(started);
    state_->ended = true;
  }
  void message(Message m) override {
    std::lock_guard lock(state_->mutex);
    state_->queue.push_back(std::move(m));
    state_->changed.notify_one();
  }
  void ended() override {
    std::lock_guard lock(state_->mutex);
    state_->ended = true;
    state_->changed.notify_one();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Message> queue;
    bool ended = false;
  };
  static void work(State& state, EagerService& service, ServerStream& stream) {
    for (;;) {
      Message request;
      {
        std::unique_lock lock(state.mutex);
        state.changed.wait(lock, [&] { return state.ended || !state.queue.empty(); });
        if (state.queue.empty()) break;
        request = std::move(state.queue.front());
        state.queue.pop_front();
      }
      Message response;
      const Status s = without_exceptions([&]() -> Status {
        WEFT_ASSIGN(response, service.enqueue(request.flatten()));
        return {};
      });
      if (!s.ok()) {
        stream.finish(s);
        break;
      }
      stream.write(std::move(response));
      stream.next();
    }
    stream.finish({});
  }
  const std::shared_ptr<State> state_;
};

}  // namespace

const DeviceSet* task_devices(const std::string& job, int task, int cpus) {
  static std::mutex mutex;
  static auto* sets = new std::vector<std::unique_ptr<DeviceSet>>;  // a restarted task has other incarnations
  std::vector<std::unique_ptr<Device>> list;
  for (int i = 0; i < cpus; ++i) list.push_back(runtime::make_task_cpu(job, task, i));
  std::lock_guard lock(mutex);
  sets->push_back(std::make_unique<DeviceSet>(std::move(list)));
  return sets->back().get();
}

Worker::Worker(op::Registry& registry, const TransportApi& transport, const DeviceSet* devices, std::string task, ClusterMap cluster)
    : devices_(devices),
      connections_(std::make_shared<Connections>(transport, std::move(cluster))),
      steps_(std::make_shared<StepTable>(task, connections_)),
      eager_(std::make_shared<EagerService>(registry, devices, task, transport, steps_)) {}

Worker::~Worker() { eager_->close_all(); }

bool Worker::is_stream(std::string_view method) const {
  return method.starts_with(kEagerService) && method.substr(kEagerService.size()) == "StreamingEnqueue";
}

std::unique_ptr<StreamHandler> Worker::stream(std::string_view, std::shared_ptr<ServerStream> stream) {
  return std::make_unique<EnqueueStream>(eager_, std::move(stream));
}

void Worker::call(std::string_view method, Message request, Reply reply) {
  if (method.starts_with(kWorkerService)) return worker_call(method.substr(kWorkerService.size()), std::move(request), std::move(reply));
  if (!method.starts_with(kEagerService)) return reply(unimplemented(method), {});
  runtime::run_on_blocking_thread(
      [eager = eager_, name = std::string(method.substr(kEagerService.size())), request = std::move(request), reply = std::move(reply)]() mutable {
        Message response;
        Status s = without_exceptions([&]() -> Status {
          WEFT_ASSIGN(response, eager->call(name, request.flatten()));
          return {};
        });
        reply(std::move(s), std::move(response));
      });
}

void Worker::worker_call(std::string_view method, Message request, Reply reply) {
  if (method == "GetStatus") {
    std::vector<DeviceAttributes> list;
    for (const auto& d : devices_->all()) list.push_back(attributes_of(*d));
    return reply({}, Message(encode_device_list(1, list)));
  }
  if (method == "RecvTensor") return recv_tensor(request.flatten(), std::move(reply));
  reply(unimplemented("tensorflow.WorkerService/", method, " is not there yet"), {});
}

void Worker::recv_tensor(std::string_view bytes, Reply reply) {
  auto request = decode_recv_tensor(bytes);
  if (!request.ok()) return reply(request.status(), {});
  steps_->find_or_create(request->step_id)->recv_local(request->key, [reply = std::move(reply)](Status s, Tensor value, bool dead) {
    if (!s.ok()) return reply(std::move(s), {});
    auto response = encode_recv_tensor_response(value, dead);
    if (!response.ok()) return reply(response.status(), {});
    reply({}, std::move(response).value());
  });
}

namespace {

// A task whose own address is this machine's loopback listens there alone; one with another address listens on all of them, and says so.
bool is_loopback(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.empty() || host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

class Network final : public runtime::ServerNetwork {
 public:
  Network(std::unique_ptr<Worker> worker, std::unique_ptr<Listener> listener) : worker_(std::move(worker)), listener_(std::move(listener)) {}
  ~Network() override { stop(); }
  int port() const override { return listener_->port(); }
  void stop() override {
    worker_->steps().stop(cancelled("the server has stopped"));
    listener_->stop();
  }

 private:
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<runtime::ServerNetwork>> serve(op::Registry& registry, const runtime::ServerSpec& spec, int port) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  auto worker =
      std::make_unique<Worker>(registry, *api, task_devices(spec.job, spec.task, spec.cpu_devices), task_name(spec.job, spec.task), spec.cluster);
  const bool local = is_loopback(spec.cluster.at(spec.job).at(spec.task));
  if (!local)
    log(LogLevel::kWarning, cat("the server of ", task_name(spec.job, spec.task),
                                " listens on all addresses of this machine, without encryption: whoever reaches it can run ops here"));
  WEFT_ASSIGN(std::unique_ptr<Listener> listener, api->listen(local ? "127.0.0.1" : "0.0.0.0", port, *worker));
  return std::unique_ptr<runtime::ServerNetwork>(std::make_unique<Network>(std::move(worker), std::move(listener)));
}

}  // namespace weft_engine::remote
