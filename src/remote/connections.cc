#include "remote/connections.h"

#include <random>

#include "core/device_name.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {

std::string task_name(std::string_view job, int task) { return cat("/job:", job, "/replica:0/task:", task); }

std::string task_of(std::string_view device) {
  auto name = DeviceName::parse(device);
  if (!name.ok() || !name->job || !name->task) return {};
  return task_name(*name->job, *name->task);
}

Result<std::shared_ptr<Channel>> Connections::to(const std::string& task) {
  std::lock_guard lock(mutex_);
  for (const auto& [job, tasks] : cluster_) {
    for (const auto& [index, address] : tasks) {
      if (task_name(job, index) != task) continue;
      auto& [known, channel] = channels_[task];
      if (!channel || known != address) {
        known = address;
        channel = transport_.connect(address);
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
  channels_.erase(task);
}

static int64_t next_request_id() {
  static std::mutex mutex;
  static std::mt19937_64 numbers{std::random_device()()};
  std::lock_guard lock(mutex);
  return int64_t(numbers() >> 1) + 1;
}

std::shared_ptr<ClientCall> Connections::recv_tensor(const std::string& task, int64_t step_id, std::string_view key, op::Rendezvous::Done done) {
  auto channel = to(task);
  if (!channel.ok()) {
    done(channel.status(), {}, false);
    return nullptr;
  }
  Message request(encode_recv_tensor({step_id, std::string(key), next_request_id()}));
  return (*channel)->call("/tensorflow.WorkerService/RecvTensor", std::move(request), 0, false,
                          [done = std::move(done), task](Status s, Message response) {
                            if (s.code() == Code::kUnavailable)
                              s = Status(s.code(), cat(s.message(), "\nAdditional GRPC error information from remote target ", task));
                            if (!s.ok()) return done(std::move(s), {}, false);
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
  if (source.empty() || source == task_) return local_->recv_async(key, std::move(done));
  auto asked = std::make_shared<Asked>();
  asked->done = std::move(done);
  std::shared_ptr<Connections> connections;
  {
    std::unique_lock lock(mutex_);
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
