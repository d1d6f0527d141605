#include "remote/collective_group.h"

#include "runtime/blocking_threads.h"
#include "wire/proto.h"

namespace weft_engine::remote {

bool KnownDevices::is_own(const std::string& device) const { return own(device).ok(); }

Result<DeviceAttributes> KnownDevices::own(const std::string& device) const {
  for (const auto& d : own_->all()) {
    if (d->name() == device) return attributes_of(*d);
  }
  return not_found(device, " is no device of this task");
}

void KnownDevices::add(const std::string& attributes) {
  const auto d = decode_device(attributes);
  if (!d.ok()) return;
  std::lock_guard lock(mutex_);
  incarnations_[d->name] = d->incarnation;
}

uint64_t KnownDevices::incarnation(const std::string& device) const {
  std::lock_guard lock(mutex_);
  const auto it = incarnations_.find(device);
  return it == incarnations_.end() ? 0 : it->second;
}

Status KnownDevices::check(const std::vector<DeviceAttributes>& devices) const {
  std::lock_guard lock(mutex_);
  for (const DeviceAttributes& d : devices) {
    const auto it = incarnations_.find(d.name);
    if (it != incarnations_.end() && it->second != d.incarnation)
      return failed_precondition("Device ", d.name,
                                 " current incarnation doesn't match with one in the group. This usually means this worker has restarted ",
                                 "but the collective leader hasn't, or this worker connects to a wrong cluster.");
  }
  return {};
}

void OpenCalls::call(Channel& channel, std::string_view method, Message request, bool wait, int64_t run, Reply reply) {
  const auto begin = [&](Reply r) { return channel.call(method, std::move(request), 0, wait, std::move(r)); };
  start(run, begin, [reply = std::move(reply)](Status s, Message m) {
    runtime::run_on_blocking_thread([reply, s = std::move(s), m = std::move(m)]() mutable { reply(std::move(s), std::move(m)); });
  });
}

bool OpenCalls::start(int64_t run, const Begin& begin, Reply reply) {
  int64_t id;
  Status stopped;
  {
    std::lock_guard lock(mutex_);
    id = next_++;
    stopped = stopped_;
    if (stopped.ok()) open_[id] = {run, nullptr};
  }
  if (!stopped.ok()) {
    reply(std::move(stopped), {});
    return true;
  }
  auto running = begin([self = shared_from_this(), id, reply = std::move(reply)](Status s, Message m) {
    {
      std::lock_guard lock(self->mutex_);
      self->open_.erase(id);
    }
    reply(std::move(s), std::move(m));
  });
  bool cancelled = false;
  {
    std::lock_guard lock(mutex_);
    const auto it = open_.find(id);
    if (it == open_.end()) return true;
    if (!running) {
      open_.erase(it);
      return false;
    }
    cancelled = it->second.cancelled;
    it->second.call = running;
  }
  if (cancelled) running->cancel();
  return true;
}

void OpenCalls::cancel(int64_t run) {
  std::vector<std::shared_ptr<ClientCall>> calls;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, open] : open_) {
      if (open.run != run) continue;
      open.cancelled = true;
      if (open.call) calls.push_back(open.call);
    }
  }
  for (const auto& c : calls) c->cancel();
}

void OpenCalls::stop(const Status& status) {
  std::vector<std::shared_ptr<ClientCall>> calls;
  {
    std::lock_guard lock(mutex_);
    if (!stopped_.ok()) return;
    stopped_ = status;
    for (auto& [id, open] : open_) {
      open.cancelled = true;
      if (open.call) calls.push_back(open.call);
    }
  }
  for (const auto& c : calls) c->cancel();
}

}  // namespace weft_engine::remote
