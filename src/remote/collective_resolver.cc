// Who belongs to a group and what an instance is. The leader's own table (op/collective_local.cc) decides; a task that is not the leader asks it.
#include <algorithm>

#include "remote/collective_group.h"
#include "remote/error_text.h"
#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kCompleteGroup = "/tensorflow.WorkerService/CompleteGroup",
                           kCompleteInstance = "/tensorflow.WorkerService/CompleteInstance";

Result<std::shared_ptr<const op::CollectiveMembers>> read_members(Message& message, int32_t size) {
  WEFT_ASSIGN(CompleteGroupResponse r, decode_complete_group_response(message.flatten()));
  if (r.devices.empty())
    return internal_error(
        "CompleteGroupResponse device_attributes is empty. Make sure you're running the same version of Tensorflow on all workers.");
  if (int(r.devices.size()) != size) return internal_error("CompleteGroupResponse group_size doesn't match device_name list");
  // The leader sends them in any order.
  std::vector<op::CollectiveGroup> joined;
  for (size_t i = 0; i < r.devices.size(); ++i) {
    WEFT_ASSIGN(DeviceAttributes d, decode_device(r.devices[i]));
    const int rank = r.ranks.size() == r.devices.size() ? int(r.ranks[i]) : -1;
    joined.push_back({r.key, size, rank, std::move(d.name), std::move(r.devices[i])});
  }
  return op::group_members(std::move(joined));
}

// DeviceAttributes.physical_device_desc of members that know how to exchange directly; tasks of other programs pass it on.
constexpr std::string_view kDirect = "weft, direct exchange 1";

std::string own_attributes(const DeviceAttributes& d) {
  wire::ProtoWriter w;
  w.bytes(7, kDirect);
  return encode_device(d) + w.take();
}

bool exchanges_directly(std::string_view attributes) {
  std::string_view text;
  wire::ProtoReader r(attributes);
  while (r.next()) {
    if (r.field() == 7) text = r.bytes();
  }
  return r.ok() && text == kDirect;
}

}  // namespace

ClusterResolver::ClusterResolver(std::string leader, std::shared_ptr<Connections> connections, std::shared_ptr<KnownDevices> devices)
    : leader_(std::move(leader)), connections_(std::move(connections)), devices_(std::move(devices)), local_(op::make_local_resolver()) {}

std::shared_ptr<const op::CollectiveMembers> ClusterResolver::known_group(int32_t key) const {
  std::lock_guard lock(state_->mutex);
  const auto it = state_->groups.find(key);
  return it == state_->groups.end() ? nullptr : it->second;
}

void ClusterResolver::complete_group_async(const op::CollectiveGroup& given, op::CancellationManager* cancellation, GroupDone done) {
  op::CollectiveGroup group = given;
  if (group.attributes.empty()) {
    // Of a member of this task that has been in a call before. The leader asks its own table, which knows of members that came back as others.
    if (auto known = leader_.empty() ? nullptr : known_group(group.key);
        known && int(known->devices.size()) == group.size && known->rank_of(group.device) < group.size) {
      Status aborted;
      {
        std::lock_guard lock(state_->mutex);
        aborted = state_->aborted;
      }
      return done(aborted, aborted.ok() ? known : nullptr);
    }
    auto own = devices_->own(group.device);
    if (!own.ok()) return done(own.status(), nullptr);
    group.attributes = own_attributes(*own);
  }
  GroupDone remember = [state = state_, devices = devices_, key = group.key, done = std::move(done)](Status s,
                                                                                                     std::shared_ptr<const op::CollectiveMembers> m) {
    if (s.ok()) {
      for (const std::string& d : m->attributes) devices->add(d);
      auto known = std::make_shared<op::CollectiveMembers>(*m);
      known->direct = std::all_of(m->attributes.begin(), m->attributes.end(), exchanges_directly);
      m = std::move(known);
      std::lock_guard lock(state->mutex);
      state->groups[key] = m;
    }
    done(std::move(s), std::move(m));
  };
  if (leader_.empty()) return local_->complete_group_async(group, cancellation, std::move(remember));

  if (auto known = known_group(group.key)) {
    Status s;
    if (int(known->devices.size()) != group.size)
      s = internal_error("Device ", group.device, " is joining a group with size", group.size, ", but that group has size ", known->devices.size(),
                         " (group_key=", group.key, ")");
    else if (known->rank_of(group.device) == group.size)
      s = internal_error("Device ", group.device, " is joining a group that is already full (group_key=", group.key, ")");
    {
      std::lock_guard lock(state_->mutex);
      if (!state_->aborted.ok()) s = state_->aborted;
    }
    return remember(s, s.ok() ? known : nullptr);
  }
  auto channel = connections_->to(leader_);
  if (!channel.ok()) return remember(channel.status(), nullptr);
  CompleteGroup request{.key = group.key, .size = group.size, .device_type = "CPU", .device_bytes = group.attributes, .rank = group.rank};
  static std::atomic<int64_t> next_wait{0};
  const int64_t wait = next_wait.fetch_add(1);
  if (cancellation) {
    const auto token = cancellation->get_token();
    if (!cancellation->register_callback(token, [calls = calls_, wait] { calls->cancel(wait); }))
      return remember(cancelled("CompleteGroup is cancelled before it starts"), nullptr);
    remember = [cancellation, token, then = std::move(remember)](Status s, std::shared_ptr<const op::CollectiveMembers> m) {
      cancellation->try_deregister_callback(token);
      then(std::move(s), std::move(m));
    };
  }
  calls_->call(**channel, kCompleteGroup, Message(encode_complete_group(request)), /*wait=*/true, wait,
               [leader = leader_, size = group.size, then = std::move(remember)](Status s, Message response) {
                 if (!s.ok()) return then(error_of_task(leader, kCompleteGroup, s), nullptr);
                 auto members = read_members(response, size);
                 if (!members.ok()) return then(members.status(), nullptr);
                 then({}, std::move(members).value());
               });
}

void ClusterResolver::complete_instance_async(const op::CollectiveParams& p, const op::CollectiveMembers& members, InstanceDone done) {
  if (leader_.empty()) return local_->complete_instance_async(p, members, std::move(done));
  {
    std::unique_lock lock(state_->mutex);
    Status aborted = state_->aborted;
    const auto it = state_->instances.find({p.group.key, p.instance_key});
    if (!aborted.ok() || it != state_->instances.end()) {
      const Instance known = aborted.ok() ? it->second : Instance{};
      lock.unlock();
      if (!aborted.ok()) return done(std::move(aborted), -1);
      return done(op::check_instance(p, known.type, known.dtype, known.shape), known.source);
    }
  }
  auto channel = connections_->to(leader_);
  if (!channel.ok()) return done(channel.status(), -1);
  calls_->call(**channel, kCompleteInstance, Message(encode_complete_instance(p)), /*wait=*/false, -1,
               [state = state_, leader = leader_, group = p.group.key, instance = p.instance_key, type = p.type, dtype = p.dtype, shape = p.shape,
                done = std::move(done)](Status s, Message response) {
                 if (!s.ok()) return done(error_of_task(leader, kCompleteInstance, s), -1);
                 auto source = decode_complete_instance_response(response.flatten());
                 if (!source.ok()) return done(source.status(), -1);
                 {
                   std::lock_guard lock(state->mutex);
                   state->instances[{group, instance}] = {type, dtype, shape, *source};
                 }
                 done({}, *source);
               });
}

void ClusterResolver::start_abort(const Status& status) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->aborted.ok()) state_->aborted = status;
  }
  local_->start_abort(status);
  calls_->stop(status);
}

}  // namespace weft_engine::remote
