#include "remote/connections.h"

#include <random>

#include "core/device_name.h"
#include "remote/error_text.h"
#include "remote/local_channel.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {

uint64_t random_id() {
  static thread_local std::random_device entropy;
  const uint64_t id = uint64_t(entropy()) << 32 | entropy();
  return id ? id : 1;
}

std::string task_name(std::string_view job, int task) { return cat("/job:", job, "/replica:0/task:", task); }

bool rename_device(DeviceAttributes& device, const std::string& task) {
  auto name = core::DeviceName::parse(device.name), as = core::DeviceName::parse(task);
  if (!name.ok() || !as.ok() || !name->complete()) return false;
  device.name = cat(task, "/device:", *name->type, ":", *name->id);
  return true;
}

std::string task_of(std::string_view device) {
  auto name = DeviceName::parse(device);
  if (!name.ok() || !name->job || !name->task) return {};
  return task_name(*name->job, *name->task);
}

namespace {

struct OpenPorts {
  std::mutex mutex;
  std::map<std::pair<ClusterMap, std::string>, int> ports;
};
OpenPorts& open_ports() {
  static auto* p = new OpenPorts;
  return *p;
}

// Where the task listens.
Result<std::string> address_of(const ClusterMap& cluster, const std::string& task, const std::string& given) {
  if (!given.ends_with(":0")) return given;
  OpenPorts& open = open_ports();
  std::lock_guard lock(open.mutex);
  const auto it = open.ports.find({cluster, task});
  if (it == open.ports.end()) return unavailable(task, " (", given, ") is not a running server of this process, and its address has no port");
  return cat(given.substr(0, given.size() - 1), it->second);
}

// Channels of the process by address: the contexts of a server's clients, which it keeps for a while after they are gone, do not have one each.
struct SharedChannels {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Channel>> by_address;
};
SharedChannels& shared_channels() {
  static auto* c = new SharedChannels;
  return *c;
}

std::shared_ptr<Channel> channel_to(const TransportApi& transport, const std::string& address) {
  SharedChannels& all = shared_channels();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.by_address, [&](const auto& c) { return c.second.expired() && c.first != address; });
  auto& known = all.by_address[address];
  auto channel = known.lock();
  if (!channel) known = channel = with_link(transport.connect(address));
  return channel;
}

// Nobody else gets it from now on.
void forget_channel(const std::string& address, const std::shared_ptr<Channel>& channel) {
  SharedChannels& all = shared_channels();
  std::lock_guard lock(all.mutex);
  const auto it = all.by_address.find(address);
  if (it != all.by_address.end() && it->second.lock() == channel) all.by_address.erase(it);
}

}  // namespace

void publish_task(const ClusterMap& cluster, const std::string& task, int port) {
  OpenPorts& open = open_ports();
  std::lock_guard lock(open.mutex);
  if (port) open.ports[{cluster, task}] = port;
  else open.ports.erase({cluster, task});
}

Result<std::shared_ptr<Channel>> Connections::to(const std::string& task) {
  std::lock_guard lock(mutex_);
  for (const auto& [job, tasks] : cluster_) {
    for (const auto& [index, address] : tasks) {
      if (task_name(job, index) != task) continue;
      WEFT_ASSIGN(const std::string where, address_of(cluster_, task, address));
      auto& [known, channel] = channels_[task];
      if (!channel || known != where) {
        known = where;
        channel = channel_to(transport_, where);
      }
      return channel;
    }
  }
  return not_found("No worker known as ", task);
}

void Connections::update(ClusterMap cluster) {
  std::lock_guard lock(mutex_);
  cluster_ = std::move(cluster);
}

void Connections::forget(const std::string& task) {
  std::lock_guard lock(mutex_);
  const auto it = channels_.find(task);
  if (it == channels_.end()) return;
  forget_channel(it->second.first, it->second.second);
  channels_.erase(it);
}

std::shared_ptr<ClientCall> Connections::recv_tensor(const std::string& task, int64_t step_id, std::string_view key, op::Rendezvous::Done done) {
  auto channel = to(task);
  if (!channel.ok()) {
    done(channel.status(), {}, false);
    return nullptr;
  }
  Message request(encode_recv_tensor({step_id, std::string(key), int64_t(random_id() >> 1 | 1)}));
  return (*channel)->call(
      "/tensorflow.WorkerService/RecvTensor", std::move(request), 0, false, [done = std::move(done), task](Status s, Message response) {
        // Masters tell an error from one that follows from it; TensorFlow's by these words.
        if (!s.ok())
          return done(
              error_of_target(s, task).with_suffix(" while calling /tensorflow.WorkerService/RecvTensor").with_payload(core::kNoteDerived, ""), {},
              false);
        auto value = decode_recv_tensor_response(std::move(response));
        if (!value.ok()) return done(value.status(), {}, false);
        done({}, std::move(value->first), value->second);
      });
}

void TaskRendezvous::Asked::end(Status s, Tensor value, bool dead) {
  Done tell;
  {
    std::lock_guard lock(mutex);
    tell = std::exchange(done, nullptr);
  }
  if (tell) tell(std::move(s), std::move(value), dead);
}

void TaskRendezvous::recv_async(std::string_view key, Done done) {
  const std::string source = task_of(key.substr(0, key.find(';')));
  auto asked = std::make_shared<Asked>();
  std::shared_ptr<Connections> connections;
  {
    std::unique_lock lock(mutex_);
    if (source.empty() || source == task_) {
      lock.unlock();
      return local_->recv_async(key, std::move(done));
    }
    asked->done = std::move(done);
    connections = connections_;
    if (!aborted_.ok()) {
      const Status s = aborted_;
      lock.unlock();
      return asked->end(s, {}, false);
    }
    asked_.insert(asked);
  }
  // The step may be gone before the answer comes.
  auto forget = [weak = weak_from_this(), asked] {
    if (auto self = weak.lock()) {
      std::lock_guard lock(self->mutex_);
      self->asked_.erase(asked);
    }
  };
  auto call = connections->recv_tensor(source, step_id_, key, [asked, forget](Status s, Tensor value, bool dead) {
    forget();
    // What waits for it runs on: not on a thread of the transport.
    runtime::run_on_blocking_thread([asked, s = std::move(s), value = std::move(value), dead] { asked->end(s, value, dead); });
  });
  std::lock_guard lock(asked->mutex);
  asked->call = std::move(call);
  if (!asked->done && asked->call) asked->call->cancel();
}

void TaskRendezvous::end() {
  std::vector<std::function<void()>> then;
  {
    std::lock_guard lock(mutex_);
    then.swap(at_end_);
  }
  for (auto& f : then) f();
}

void TaskRendezvous::abort(Status status) {
  std::set<std::shared_ptr<Asked>> asked;
  {
    std::lock_guard lock(mutex_);
    if (aborted_.ok()) aborted_ = status;
    asked.swap(asked_);
  }
  local_->abort(status);
  for (const auto& a : asked) {
    std::shared_ptr<ClientCall> call;
    {
      std::lock_guard lock(a->mutex);
      call = a->call;
    }
    if (call) call->cancel();
    a->end(status, {}, false);
  }
  cancellation_.start_cancel();
}

}  // namespace weft_engine::remote
