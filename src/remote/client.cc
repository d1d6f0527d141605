#include "remote/client.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <random>
#include <set>
#include <thread>

#include "core/interrupt.h"
#include "core/threads.h"
#include "eager/op.h"
#include "eager/remote.h"
#include "io/graph_def.h"
#include "remote/worker.h"
#include "runtime/shared_devices.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kEager = "/tensorflow.eager.EagerService/";

// One request on its way: its answer or its error.
struct Sent {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool seen = false;  // somebody was told of the error
  Status status;
  QueueResponse response;

  void finish(Status s, QueueResponse r) {
    std::lock_guard lock(mutex);
    status = std::move(s);
    response = std::move(r);
    done = true;
    changed.notify_all();
  }
  Status wait() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kLookEvery, [&] { return done; })) {
      if (process_ending.load(std::memory_order_relaxed)) return cancelled("the process ends");
      Interrupt* const call = Interrupt::current();
      if (!call) continue;
      lock.unlock();
      if (call->look()) return interrupted_call();
      lock.lock();
    }
    seen = true;
    return status;
  }
};

// One task: its channel and the stream of requests to it.
class Task : public std::enable_shared_from_this<Task> {
 public:
  Task(std::string name, std::shared_ptr<Channel> channel, uint64_t context_id)
      : name(std::move(name)), context_id(context_id), channel_(std::move(channel)) {}

  // Sends the item behind all earlier ones. Its answer, or the error that ended the stream before it came, goes into what is returned.
  std::shared_ptr<Sent> enqueue(const QueueItem& item) {
    auto sent = std::make_shared<Sent>();
    auto message = encode_enqueue(context_id, item);
    if (!message.ok()) {
      sent->finish(message.status(), {});
      return sent;
    }
    std::lock_guard lock(mutex_);
    if (closed_) {
      sent->finish(failed_precondition("the connection to ", name, " was closed: the context is part of another cluster now"), {});
      return sent;
    }
    if (!stream_) open();
    pending_->push_back(sent);
    stream_->write(std::move(message).value());
    return sent;
  }

  Result<Message> call(std::string_view method, std::string request, double seconds, bool wait) {
    auto state = std::make_shared<Sent>();
    auto response = std::make_shared<Message>();
    auto running = channel_->call(cat(kEager, method), Message(std::move(request)), seconds, wait, [state, response](Status s, Message m) {
      *response = std::move(m);
      state->finish(std::move(s), {});
    });
    Status s = state->wait();
    if (!s.ok()) {
      running->cancel();
      return s;
    }
    return std::move(*response);
  }

  // The task was started again: it has none of what was sent before.
  void start_again(const std::vector<DeviceAttributes>& devices) {
    {
      std::lock_guard lock(functions_mutex);
      functions.clear();
    }
    std::lock_guard lock(mutex_);
    ++epoch_;
    incarnations_.clear();
    for (const DeviceAttributes& d : devices) incarnations_[d.name] = d.incarnation;
  }
  int epoch() {
    std::lock_guard lock(mutex_);
    return epoch_;
  }
  uint64_t incarnation(const std::string& device) {
    std::lock_guard lock(mutex_);
    return incarnations_[device];
  }

  // The first error that nobody was told of, of what was sent so far.
  Status sync() {
    std::vector<std::shared_ptr<Sent>> all;
    {
      std::lock_guard lock(mutex_);
      all.assign(pending_->begin(), pending_->end());
      for (auto& s : failed_) all.push_back(std::move(s));
      failed_.clear();
    }
    Status first;
    for (auto& s : all) {
      bool seen;
      {
        std::lock_guard lock(s->mutex);
        seen = s->seen;
      }
      Status status = s->wait();
      if (!seen && first.ok()) first = std::move(status);
    }
    std::lock_guard lock(mutex_);
    failed_.clear();
    return first;
  }

  void close() {
    std::shared_ptr<ClientStream> stream;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      stream = std::move(stream_);
    }
    if (stream) stream->close();
    channel_->call(cat(kEager, "CloseContext"), Message(encode_ids(1, context_id)), 2, false, [](Status, Message) {});
  }

  // An error of the connection, or of a task that was started again, names the task.
  Status told(Status s) const {
    if (s.code() != Code::kUnavailable && s.code() != Code::kAborted) return s;
    return Status(s.code(), cat(s.message(), "\nAdditional GRPC error information from remote target ", name));
  }

  const std::string name;
  const uint64_t context_id;
  std::shared_ptr<Channel> channel() const { return channel_; }
  // Functions that the task knows, by definition.
  std::mutex functions_mutex;
  std::map<std::string, std::shared_ptr<const graph::FunctionDef>> functions;

 private:
  using Queue = std::deque<std::shared_ptr<Sent>>;

  // With the lock held. Answers come in the order of the requests.
  void open() {
    auto queue = std::make_shared<Queue>();
    pending_ = queue;
    std::weak_ptr<Task> weak = weak_from_this();
    ClientStream::Events events;
    events.message = [weak, queue](Message m) {
      std::shared_ptr<Sent> sent;
      if (auto task = weak.lock()) {
        std::lock_guard lock(task->mutex_);
        if (queue->empty()) return;
        sent = std::move(queue->front());
        queue->pop_front();
      }
      if (!sent) return;
      auto responses = decode_enqueue_response(m.flatten());
      if (!responses.ok()) return sent->finish(responses.status(), {});
      sent->finish({}, responses->empty() ? QueueResponse() : std::move(responses->front()));
    };
    events.end = [weak, queue](Status s) {
      if (s.ok()) s = cancelled("the stream ended");
      auto task = weak.lock();
      if (!task) {
        for (auto& p : *queue) p->finish(s, {});
        return;
      }
      s = task->told(std::move(s));
      std::lock_guard lock(task->mutex_);
      if (task->pending_ == queue) task->stream_ = nullptr;  // the next request opens another
      for (auto& p : *queue) {
        if (task->failed_.size() < kMostFailed) task->failed_.push_back(p);
        p->finish(s, {});  // before another stream is opened: who lets go of an output must know that it is not there
      }
      queue->clear();
    };
    stream_ = channel_->stream(cat(kEager, "StreamingEnqueue"), std::move(events));
  }

  static constexpr size_t kMostFailed = 1024;
  const std::shared_ptr<Channel> channel_;
  std::mutex mutex_;
  std::shared_ptr<ClientStream> stream_;
  std::shared_ptr<Queue> pending_ = std::make_shared<Queue>();
  std::vector<std::shared_ptr<Sent>> failed_;
  std::map<std::string, uint64_t> incarnations_;  // of the devices there
  int epoch_ = 0;                                 // how often the task was started again
  bool closed_ = false;
};

// Connections of one context.
class Cluster final : public eager::RemoteTasks, public std::enable_shared_from_this<Cluster> {
 public:
  Cluster(uint64_t id, std::unique_ptr<Worker> worker, std::unique_ptr<Listener> listener, int64_t keep_alive)
      : id(id), worker_(std::move(worker)), listener_(std::move(listener)), keep_alive_(keep_alive) {}
  ~Cluster() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    if (keeper_.joinable()) keeper_.join();
    for (auto& t : tasks_) t->close();
  }

  void add(std::shared_ptr<Task> task, CreateContext request) {
    tasks_.push_back(std::move(task));
    requests_.push_back(std::move(request));
  }
  const std::vector<std::shared_ptr<Task>>& tasks() const { return tasks_; }

  Status sync() override {
    Status first;
    for (auto& t : tasks_) {
      Status s = t->sync();
      if (first.ok()) first = std::move(s);
    }
    return first;
  }

  Status reconnect(double seconds);

  // Every half of the time after which tasks forget a client.
  void keep_alive() {
    keeper_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, std::chrono::seconds(std::max<int64_t>(1, keep_alive_ / 2)), [&] { return stop_; })) {
        for (auto& t : tasks_) t->channel()->call(cat(kEager, "KeepAlive"), Message(encode_ids(1, id)), 10, false, [](Status, Message) {});
      }
    });
  }

  int64_t next_op() { return next_op_.fetch_add(1); }
  std::string next_transfer() { return cat("fetch ", id, " ", next_transfer_.fetch_add(1)); }

  const uint64_t id;

 private:
  const std::unique_ptr<Worker> worker_;
  const std::unique_ptr<Listener> listener_;
  const int64_t keep_alive_;
  std::vector<std::shared_ptr<Task>> tasks_;
  std::mutex reconnect_mutex_;
  std::vector<CreateContext> requests_;  // what each task was asked for; its devices are those of the whole cluster
  std::atomic<int64_t> next_op_{1}, next_transfer_{1};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread keeper_;
};

class TaskDevice final : public eager::RemoteDevice {
 public:
  TaskDevice(DeviceName name, int64_t memory_limit, std::shared_ptr<Task> task, std::weak_ptr<Cluster> cluster, std::string client_device)
      : eager::RemoteDevice(std::move(name), memory_limit, ""),
        task(std::move(task)),
        cluster_(std::move(cluster)),
        client_device_(std::move(client_device)) {}

  Status execute(eager::Op& op, const op::NodeInfo& node, eager::TensorHandle** outputs) override;
  void fetch(const RemoteTensorHandle& handle, std::function<void(Result<Tensor>)> done);

  const std::shared_ptr<Task> task;

 private:
  Status register_functions(eager::Context& context, const std::string& name);
  const std::weak_ptr<Cluster> cluster_;
  const std::string client_device_;
};

// Output `index` of an op that was sent.
class Output final : public eager::RemoteValue {
 public:
  Output(TaskDevice& device, int64_t op, int index, DType dtype, std::shared_ptr<Sent> sent)
      : device_(device), op_(op), index_(index), dtype_(dtype), epoch_(device.task->epoch()), sent_(std::move(sent)) {}
  // The task frees it after all that was sent before. An output of an op that failed is not there.
  ~Output() override {
    std::unique_lock lock(sent_->mutex);
    const bool there = !sent_->done || sent_->status.ok();
    lock.unlock();
    if (there && !lost()) device_.task->enqueue(QueueItem(DecRef{handle()}));
  }
  Result<PartialShape> shape() override {
    WEFT_RETURN_IF_ERROR(sent_->wait());
    return size_t(index_) < sent_->response.shapes.size() ? sent_->response.shapes[size_t(index_)] : PartialShape::unknown();
  }
  void fetch(std::function<void(Result<Tensor>)> done) override {
    if (Status s = sent_->wait(); !s.ok()) return done(std::move(s));
    if (lost()) return done(lost_error());
    device_.fetch(handle(), std::move(done));
  }
  RemoteTensorHandle handle() const { return {op_, index_, device_.name(), device_.name(), dtype_}; }
  const Task& task() const { return *device_.task; }
  // The task was started again since.
  bool lost() const { return device_.task->epoch() != epoch_; }
  Status lost_error() const {
    return device_.task->told(Status(Code::kAborted, cat("Unable to find the relevant tensor remote_handle: Op ID: ", op_, ", Output num: ", index_,
                                                         ": ", device_.task->name, " was started again since it was made")));
  }

 private:
  TaskDevice& device_;  // kept for ever
  const int64_t op_;
  const int index_;
  const DType dtype_;
  const int epoch_;
  const std::shared_ptr<Sent> sent_;
};

// A function with all that it calls, as far as the task does not know them.
Status TaskDevice::register_functions(eager::Context& context, const std::string& name) {
  std::vector<std::string> todo = {name};
  std::set<std::string> seen = {name};
  std::lock_guard lock(task->functions_mutex);
  while (!todo.empty()) {
    const std::string next = std::move(todo.back());
    todo.pop_back();
    if (!context.functions().contains(next)) continue;
    WEFT_ASSIGN(std::shared_ptr<const graph::FunctionDef> def, context.functions().find(next));
    const auto want = [&](const std::string& f) {
      if (seen.insert(f).second) todo.push_back(f);
    };
    for (const auto& n : def->nodes) {
      want(n.op);
      graph::for_functions(n.attrs, want);
    }
    auto& known = task->functions[next];
    if (known == def) continue;
    if (known) task->enqueue(QueueItem(RemoveFunction{next}));
    WEFT_ASSIGN(std::string bytes, io::encode_function_def(*def));
    task->enqueue(QueueItem(RegisterFunction{std::move(bytes), false, {}}));
    known = std::move(def);
  }
  return {};
}

Status TaskDevice::execute(eager::Op& call, const op::NodeInfo& node, eager::TensorHandle** outputs) {
  auto cluster = cluster_.lock();
  if (!cluster) return failed_precondition(name(), " belongs to a cluster that the context has left");
  Operation o;
  o.id = cluster->next_op();
  o.name = std::string(node.op());
  o.device = name();
  const auto& specs = node.spec().signature().attrs;
  for (size_t i = 0; i < specs.size(); ++i) o.attrs[specs[i].name] = node.attrs()[i];
  for (const auto& [attr, value] : node.extra_attrs()) o.attrs[attr] = value;
  o.is_function = call.context().functions().contains(o.name);
  if (o.is_function) WEFT_RETURN_IF_ERROR(register_functions(call.context(), o.name));
  Status failed;
  graph::for_functions(o.attrs, [&](const std::string& f) {
    if (failed.ok()) failed = register_functions(call.context(), f);
  });
  WEFT_RETURN_IF_ERROR(failed);
  for (const auto& in : call.inputs()) {
    const auto remote = in->remote_value();
    const auto* there = dynamic_cast<const Output*>(remote.get());
    if (there && &there->task() == task.get()) {
      if (there->lost()) return there->lost_error();
      o.inputs.emplace_back(there->handle());
      continue;
    }
    WEFT_RETURN_IF_ERROR(in->wait());
    o.inputs.emplace_back(in->tensor());
  }
  const int64_t id = o.id;
  const auto sent = task->enqueue(QueueItem(std::move(o)));
  for (size_t i = 0; i < node.output_types().size(); ++i) {
    const DType type = base_type(node.output_types()[i]);
    outputs[i] = eager::TensorHandle::remote(type, this, std::make_shared<Output>(*this, id, int(i), type, sent)).release();
  }
  return {};
}

void TaskDevice::fetch(const RemoteTensorHandle& handle, std::function<void(Result<Tensor>)> done) {
  auto cluster = cluster_.lock();
  if (!cluster) return done(failed_precondition(name(), " belongs to a cluster that the context has left"));
  const std::string key = cluster->next_transfer();
  const uint64_t incarnation = task->incarnation(name());
  Operation send = send_operation(cluster->next_op(), handle, incarnation, client_device_, key);
  task->enqueue(QueueItem(std::move(send)));
  RecvTensorRequest request{int64_t(cluster->id), op::rendezvous_key(name(), incarnation, client_device_, key),
                            int64_t(std::hash<std::string>()(key) >> 1)};
  task->channel()->call("/tensorflow.WorkerService/RecvTensor", Message(encode_recv_tensor(request)), 0, false,
                        [task = task, done = std::move(done)](Status s, Message response) {
                          if (!s.ok()) return done(task->told(std::move(s)));
                          auto value = decode_recv_tensor_response(response.flatten());
                          if (!value.ok()) return done(value.status());
                          done(std::move(value->first));
                        });
}

uint64_t random_id() {
  std::random_device entropy;
  return (uint64_t(entropy()) << 32 | entropy()) | 1;
}

// The answer of GetStatus: the task's devices.
Result<std::vector<DeviceAttributes>> devices_of(const std::string& task, Channel& channel, double seconds) {
  auto state = std::make_shared<Sent>();
  auto response = std::make_shared<Message>();
  auto running = channel.call("/tensorflow.WorkerService/GetStatus", Message(), seconds, true, [state, response](Status s, Message m) {
    *response = std::move(m);
    state->finish(std::move(s), {});
  });
  Status s = state->wait();
  if (!s.ok()) {
    running->cancel();
    return Status(s.code(), cat("task ", task, " of the cluster did not answer: ", s.message()));
  }
  return decode_device_list(1, response->flatten());
}

Status Cluster::reconnect(double seconds) {
  std::lock_guard lock(reconnect_mutex_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto left = [&] { return std::max(0.1, std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count()); };
  std::vector<size_t> fresh;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Status s = tasks_[i]->call("KeepAlive", encode_ids(1, id), left(), true).status();
    if (s.code() == Code::kAborted) fresh.push_back(i);
    else if (s.code() == Code::kDeadlineExceeded) return tasks_[i]->told(Status(Code::kUnavailable, s.message()));
    else if (!s.ok()) return tasks_[i]->told(std::move(s));
  }
  if (fresh.empty()) return {};
  std::vector<DeviceAttributes> devices = requests_.front().devices;
  for (size_t i : fresh) {
    WEFT_ASSIGN(std::vector<DeviceAttributes> found, devices_of(tasks_[i]->name, *tasks_[i]->channel(), left()));
    std::erase_if(devices, [&](const DeviceAttributes& d) { return task_of(d.name) == tasks_[i]->name; });
    devices.insert(devices.end(), found.begin(), found.end());
    tasks_[i]->start_again(found);
  }
  for (size_t i = 0; i < tasks_.size(); ++i) {
    CreateContext& request = requests_[i];
    const bool is_fresh = std::ranges::find(fresh, i) != fresh.end();
    request.devices = devices;
    ++request.view_id;
    Status s = tasks_[i]->call(is_fresh ? "CreateContext" : "UpdateContext", encode_create_context(request, !is_fresh), left(), true).status();
    if (!s.ok()) return tasks_[i]->told(std::move(s));
  }
  return {};
}

int port_of(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == address.npos ? 0 : std::atoi(address.c_str() + colon + 1);
}

}  // namespace

Status connect(eager::Context& context, const ServerDef& given, const ConnectOptions& options) {
  ServerDef def = given;
  if (def.protocol != "grpc") return invalid_argument("the cluster's protocol is '", def.protocol, "'; weft speaks grpc");
  const auto job = def.cluster.find(def.job);
  if (job == def.cluster.end() || !job->second.contains(def.task))
    return invalid_argument("task ", def.task, " of job '", def.job, "', this process, is not in the cluster");
  WEFT_ASSIGN(const TransportApi* api, transport());
  context.remote_tasks = nullptr;
  runtime::set_remote_devices(&context.devices(), {});

  const std::string self = task_name(def.job, def.task);
  std::string& address = def.cluster[def.job][def.task];
  auto worker = std::make_unique<Worker>(context.registry(), *api, &context.devices(), self, def.cluster);
  WEFT_ASSIGN(std::unique_ptr<Listener> listener, api->listen("127.0.0.1", port_of(address), worker->service()));
  if (port_of(address) == 0) address = cat("localhost:", listener->port());
  auto connections = std::make_shared<Connections>(*api, def.cluster);
  auto cluster = std::make_shared<Cluster>(random_id(), std::move(worker), std::move(listener), options.keep_alive_seconds);

  CreateContext request;
  request.context_id = cluster->id;
  request.keep_alive_secs = options.keep_alive_seconds;
  for (const auto& d : context.devices().all()) request.devices.push_back(attributes_of(*d));
  std::vector<std::pair<std::shared_ptr<Task>, std::vector<DeviceAttributes>>> found;
  std::vector<std::pair<std::string, int>> places;
  for (const auto& [name, tasks] : def.cluster) {
    for (const auto& [index, where] : tasks) {
      const std::string task = task_name(name, index);
      if (task == self) continue;
      WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections->to(task));
      WEFT_ASSIGN(std::vector<DeviceAttributes> devices, devices_of(task, *channel, options.timeout_seconds));
      for (const auto& d : devices) request.devices.push_back(d);
      found.emplace_back(std::make_shared<Task>(task, std::move(channel), cluster->id), std::move(devices));
      places.emplace_back(name, index);
    }
  }
  std::vector<std::unique_ptr<Device>> remote;
  for (size_t i = 0; i < found.size(); ++i) {
    auto& [task, devices] = found[i];
    request.server_def = def;
    request.server_def.job = places[i].first;
    request.server_def.task = places[i].second;
    WEFT_RETURN_IF_ERROR(task->call("CreateContext", encode_create_context(request), options.timeout_seconds, true).status());
    task->start_again(devices);
    cluster->add(task, request);
    for (const auto& d : devices) {
      WEFT_ASSIGN(DeviceName name, DeviceName::parse(d.name));
      if (!name.complete()) return invalid_argument("task ", task->name, " has a device of the name '", d.name, "'");
      remote.push_back(std::make_unique<TaskDevice>(std::move(name), d.memory_limit, task, cluster, context.host()->name()));
    }
  }
  cluster->keep_alive();
  runtime::set_remote_devices(&context.devices(), std::move(remote));
  context.remote_tasks = std::move(cluster);
  return {};
}

Status sync_task(eager::Context& context, std::string_view name) {
  const auto cluster = std::dynamic_pointer_cast<Cluster>(context.remote_tasks);
  if (cluster) {
    for (const auto& task : cluster->tasks()) {
      if (task->name == name) return task->sync();
    }
  }
  return invalid_argument("the context is not connected to a task ", name);
}

Status reconnect(eager::Context& context, double timeout_seconds) {
  const auto cluster = std::dynamic_pointer_cast<Cluster>(context.remote_tasks);
  if (!cluster) return failed_precondition("the context is not connected to a cluster");
  return cluster->reconnect(timeout_seconds);
}

}  // namespace weft_engine::remote
