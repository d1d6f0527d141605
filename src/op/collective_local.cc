// Groups whose members are devices of this process: who joined, which instances are under way, messages between them.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "core/device_name.h"
#include "op/collective.h"

namespace weft_engine::op {

namespace {

// Devices in the order of their names, numbers by their size.
bool before(const std::string& a, const std::string& b) {
  const auto x = core::DeviceName::parse(a), y = core::DeviceName::parse(b);
  if (!x.ok() || !y.ok()) return a < b;
  return std::tie(x->job, x->replica, x->task, x->type, x->id) < std::tie(y->job, y->replica, y->task, y->type, y->id);
}

Status check_ranks(const std::vector<CollectiveGroup>& joined) {
  std::set<int32_t> ranks;
  std::string text;
  for (const CollectiveGroup& m : joined) {
    if (m.rank >= 0) ranks.insert(m.rank);
    text += cat(text.empty() ? "" : ",", m.rank);
  }
  if (ranks.empty() || ranks.size() == joined.size()) return {};
  return invalid_argument("Duplicate ranks specified for group members. Received ranks: ", text);
}

}  // namespace

Result<std::shared_ptr<const CollectiveMembers>> group_members(std::vector<CollectiveGroup> joined) {
  WEFT_RETURN_IF_ERROR(check_ranks(joined));
  std::sort(joined.begin(), joined.end(), [](const auto& a, const auto& b) { return before(a.device, b.device); });
  auto members = std::make_shared<CollectiveMembers>();
  for (const CollectiveGroup& m : joined) {
    members->ranks.push_back(m.rank >= 0 ? m.rank : int(members->devices.size()));
    members->devices.push_back(m.device);
    members->attributes.push_back(m.attributes);
  }
  return std::shared_ptr<const CollectiveMembers>(std::move(members));
}

Status check_instance(const CollectiveParams& p, CollectiveType type, DType dtype, const Shape& shape) {
  if (type != p.type || dtype != p.dtype)
    return internal_error("Collective instance ", p.instance_key, " expected type ", int(type), " and data_type ", int(dtype), " but got type ",
                          int(p.type), " and data_type ", int(p.dtype));
  if (shape != p.shape)
    return invalid_argument("Shape mismatch in the collective instance ", p.instance_key, ". Op at device ", p.group.device, " expected shape ",
                            p.shape, " but another member in the group expected shape ", shape,
                            ". This is likely due to different input shapes at different members of the collective op.");
  return {};
}

namespace {

class LocalResolver final : public CollectiveParamResolver {
 public:
  void complete_group_async(const CollectiveGroup& joining, CancellationManager* cancellation, GroupDone done) override {
    // The callback must not outlive the wait.
    if (cancellation) {
      const auto token = cancellation->get_token();
      if (!cancellation->register_callback(token, [this, key = joining.key] { cancel_group(key); }))
        return done(cancelled("CompleteGroup is cancelled before it starts"), nullptr);
      done = [cancellation, token, done = std::move(done)](Status s, std::shared_ptr<const CollectiveMembers> members) {
        cancellation->try_deregister_callback(token);
        done(std::move(s), std::move(members));
      };
    }
    std::vector<GroupDone> ready;
    Status status;
    std::shared_ptr<const CollectiveMembers> members;
    {
      std::lock_guard lock(mutex_);
      status = aborted_;
      if (status.ok()) {
        Group& g = groups_.try_emplace(joining.key, Group{joining.size}).first->second;
        join(g, joining);
        if (g.status.ok() && !g.members) {
          g.waiting.push_back(std::move(done));
          return;
        }
        ready.swap(g.waiting);
        status = g.status;
        members = g.members;
      }
    }
    done(status, members);  // the one that completes the group goes first, as in TensorFlow: its instance is what the others are held against
    for (GroupDone& d : ready) d(status, members);
  }

  void complete_instance_async(const CollectiveParams& p, const CollectiveMembers& members, InstanceDone done) override {
    std::vector<InstanceDone> ready;
    Status status;
    int source = -1;
    {
      std::lock_guard lock(mutex_);
      status = aborted_;
      if (status.ok()) {
        auto [it, created] = instances_.try_emplace({p.group.key, p.instance_key}, Instance{p.type, p.dtype, p.shape});
        Instance& i = it->second;
        status = check_instance(p, i.type, i.dtype, i.shape);
        if (status.ok() && p.type == CollectiveType::kBroadcast) {
          i.known.insert(members.rank_of(p.group.device));
          claim_source(p, members, i);
          if (i.status.ok() && int(i.known.size()) < p.group.size) {
            i.waiting.push_back(std::move(done));
            return;
          }
          ready.swap(i.waiting);
          status = i.status;
          source = i.source;
        }
      }
    }
    done(status, source);
    for (InstanceDone& d : ready) d(status, source);
  }

  void start_abort(const Status& status) override {
    std::vector<GroupDone> groups;
    std::vector<InstanceDone> instances;
    {
      std::lock_guard lock(mutex_);
      if (!aborted_.ok()) return;
      aborted_ = status;
      for (auto& [key, g] : groups_) std::move(g.waiting.begin(), g.waiting.end(), std::back_inserter(groups)), g.waiting.clear();
      for (auto& [key, i] : instances_) std::move(i.waiting.begin(), i.waiting.end(), std::back_inserter(instances)), i.waiting.clear();
    }
    for (GroupDone& done : groups) done(status, nullptr);
    for (InstanceDone& done : instances) done(status, -1);
  }

 private:
  struct Group {
    int32_t size;
    std::vector<CollectiveGroup> joined{};                  // devices with the ranks they ask for
    std::shared_ptr<const CollectiveMembers> members{};     // set when all are there
    Status status{};
    std::vector<GroupDone> waiting{};
  };
  struct Instance {
    CollectiveType type;
    DType dtype;
    Shape shape;
    std::set<int> known{};  // ranks that came; of broadcasts
    int source = -1;
    Status status{};
    std::vector<InstanceDone> waiting{};
  };

  static void join(Group& g, const CollectiveGroup& j) {
    if (!g.status.ok()) return;
    if (j.size != g.size) {
      g.status = internal_error("Device ", j.device, " is joining a group with size", j.size, ", but that group has size ", g.size,
                                " (group_key=", j.key, ")");
      return;
    }
    const auto known = std::find_if(g.joined.begin(), g.joined.end(), [&](const CollectiveGroup& m) { return m.device == j.device; });
    if (known != g.joined.end()) {
      if (known->attributes != j.attributes)
        g.status =
            failed_precondition("Device ", j.device,
                                " current incarnation doesn't match with one in the group. This usually means this worker has restarted but the "
                                "collective leader hasn't, or this worker connects to a wrong cluster.");
      return;
    }
    if (int(g.joined.size()) == g.size) {
      g.status = internal_error("Device ", j.device, " is joining a group that is already full (group_key=", j.key, ")");
      return;
    }
    g.joined.push_back(j);
    if (int(g.joined.size()) < g.size) return;
    auto members = group_members(g.joined);
    if (members.ok()) g.members = std::move(members).value();
    else g.status = members.status();
  }
  static void claim_source(const CollectiveParams& p, const CollectiveMembers& members, Instance& i) {
    const int rank = members.rank_of(p.group.device);
    if (p.is_source) {
      if (i.source >= 0 && i.source != rank)
        i.status = internal_error("Instance ", p.instance_key, " already has source ", i.source, ", received second claim from ", rank);
      else i.source = rank;
    }
    if (i.status.ok() && int(i.known.size()) == p.group.size && i.source < 0)
      i.status =
          internal_error("Instance ", p.instance_key, " found no source for broadcast.  This could mean that there were group_size=", p.group.size,
                         " BcastRecvs but no BcastSend.");
  }

  void cancel_group(int32_t key) {
    std::vector<GroupDone> waiting;
    {
      std::lock_guard lock(mutex_);
      auto it = groups_.find(key);
      if (it == groups_.end() || it->second.members) return;
      waiting.swap(it->second.waiting);
      groups_.erase(it);  // it may be built again
    }
    for (GroupDone& done : waiting) done(cancelled("group is cancelled"), nullptr);
  }

  std::mutex mutex_;
  std::map<int32_t, Group> groups_;
  std::map<std::pair<int32_t, int32_t>, Instance> instances_;  // by keys of group and instance
  Status aborted_;
};

class LocalAccess final : public CollectiveRemoteAccess {
 public:
  // A key names its sender and its place in the exchange; of one process nothing more is needed to bring a message to its receiver.
  void send(const std::string&, const std::string& key, Tensor value, int64_t run, Taken taken) override {
    Done done;
    Status status;
    {
      std::lock_guard lock(mutex_);
      status = aborted_;
      if (status.ok()) {
        ItemQueue& m = queues_[key];
        if (m.waiting.empty()) {
          m.sent.push_back({run, std::move(value), std::move(taken)});
          return;
        }
        done = std::move(m.waiting.front().done);
        m.waiting.pop_front();
        if (m.waiting.empty()) queues_.erase(key);
      }
    }
    if (done) done({}, std::move(value));
    taken(std::move(status));
  }

  void recv_async(const std::string&, const std::string& key, DType, const Shape&, int64_t run, Done done) override {
    Tensor value;
    Taken taken;
    Status status;
    {
      std::lock_guard lock(mutex_);
      status = aborted_;
      if (status.ok()) {
        ItemQueue& m = queues_[key];
        if (m.sent.empty()) {
          m.waiting.push_back({run, std::move(done)});
          return;
        }
        value = std::move(m.sent.front().value);
        taken = std::move(m.sent.front().taken);
        m.sent.pop_front();
        if (m.sent.empty()) queues_.erase(key);
      }
    }
    done(std::move(status), std::move(value));
    if (taken) taken({});
  }

  void retract(int64_t run) override {
    std::vector<Done> dropped;  // destroyed without the lock
    std::vector<Taken> dropped_too;
    std::lock_guard lock(mutex_);
    for (auto it = queues_.begin(); it != queues_.end();) {
      ItemQueue& m = it->second;
      for (Sent& s : m.sent) {
        if (s.run == run) dropped_too.push_back(std::move(s.taken));
      }
      std::erase_if(m.sent, [&](const Sent& s) { return s.run == run; });
      for (Waiting& w : m.waiting) {
        if (w.run == run) dropped.push_back(std::move(w.done));
      }
      std::erase_if(m.waiting, [&](const Waiting& w) { return w.run == run; });
      it = m.sent.empty() && m.waiting.empty() ? queues_.erase(it) : std::next(it);
    }
  }

  void start_abort(const Status& status) override {
    std::map<std::string, ItemQueue> queues;
    {
      std::lock_guard lock(mutex_);
      if (!aborted_.ok()) return;
      aborted_ = status;
      queues.swap(queues_);
    }
    for (auto& [key, m] : queues) {
      for (Waiting& w : m.waiting) w.done(status, {});
      for (Sent& s : m.sent) s.taken(status);
    }
  }

 private:
  struct Sent {
    int64_t run;
    Tensor value;
    Taken taken;
  };
  struct Waiting {
    int64_t run;
    Done done;
  };
  struct ItemQueue {
    std::deque<Sent> sent;  // at most one of the two holds something
    std::deque<Waiting> waiting;
  };
  std::mutex mutex_;
  std::map<std::string, ItemQueue> queues_;
  Status aborted_;
};

}  // namespace

std::unique_ptr<CollectiveParamResolver> make_local_resolver() { return std::make_unique<LocalResolver>(); }
std::unique_ptr<CollectiveRemoteAccess> make_local_access() { return std::make_unique<LocalAccess>(); }
std::shared_ptr<CollectiveExecutor> make_local_collectives() {
  return std::make_shared<CollectiveExecutor>(make_local_resolver(), make_local_access());
}

}  // namespace weft_engine::op
