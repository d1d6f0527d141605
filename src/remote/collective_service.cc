// Values between members of several processes, and what a task answers to the others.
#include <future>
#include <random>
#include <set>

#include "remote/collective_group.h"
#include "runtime/blocking_threads.h"
#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kRecvBuf = "/tensorflow.WorkerService/RecvBuf", kWorker = "tensorflow.WorkerService";

}  // namespace

ClusterAccess::ClusterAccess(std::shared_ptr<Connections> connections, std::shared_ptr<KnownDevices> devices)
    : connections_(std::move(connections)), devices_(std::move(devices)), local_(op::make_local_access()) {}

// What goes to another task waits here until it is asked for.
void ClusterAccess::send(const std::string& to_device, const std::string& key, Tensor value, int64_t run, Taken taken) {
  local_->send(to_device, key, std::move(value), run, std::move(taken));
}

void ClusterAccess::recv_async(const std::string& from, const std::string& key, DType dtype, const Shape& shape, int64_t run, Done done) {
  if (devices_->is_own(from)) return local_->recv_async(from, key, dtype, shape, run, std::move(done));
  const std::string task = task_of(from);
  auto channel = connections_->to(task);
  if (!channel.ok()) return done(channel.status(), {});
  auto value = Tensor::allocate(dtype, shape);
  if (!value.ok()) return done(value.status(), {});
  RecvBuf request{.key = key,
                  .source_device = from,
                  .target_device = devices_->host(),
                  .num_bytes = int64_t(value->byte_size()),
                  .source_incarnation = devices_->incarnation(from)};
  calls_->call(**channel, kRecvBuf, Message(encode_recv_buf(request)), /*wait=*/false, run,
               [task, value = std::move(value).value(), done = std::move(done)](Status s, Message response) mutable {
                 if (!s.ok()) return done(error_of_task(task, kRecvBuf, s), {});
                 s = decode_recv_buf_response(response, {static_cast<char*>(value.raw()), value.byte_size()});
                 done(s, s.ok() ? std::move(value) : Tensor());
               });
}

void ClusterAccess::retract(int64_t run) {
  local_->retract(run);
  calls_->cancel(run);
}

void ClusterAccess::start_abort(const Status& status) {
  local_->start_abort(status);
  calls_->stop(status);
}

void ClusterAccess::serve(const RecvBuf& q, Reply reply) {
  const auto own = devices_->own(q.source_device);
  if (!own.ok()) return reply(not_found("RecvBuf: ", own.status().message()), {});
  if (q.source_incarnation && q.source_incarnation != own->incarnation)
    return reply(failed_precondition("RecvBuf expects a different device incarnation: ", q.source_incarnation, " vs. ", own->incarnation,
                                     ". Your worker job (\"", task_of(q.source_device),
                                     "\") was probably restarted. Check your worker job for the reason why it was restarted."),
                 {});
  auto shared = std::make_shared<Reply>(std::move(reply));
  Asker before{0, nullptr}, now{0, shared};
  {
    std::lock_guard lock(mutex_);
    now.run = next_run_--;
    std::swap(before, askers_[q.key]);
    askers_[q.key] = now;
  }
  if (before.reply) {
    local_->retract(before.run);
    (*before.reply)(cancelled("another request for the same buffer came"), {});
  }
  local_->recv_async(
      q.source_device, q.key, DType::kInvalid, Shape(), now.run, [this, key = q.key, now, bytes = q.num_bytes](Status s, Tensor value) {
        {
          std::lock_guard lock(mutex_);
          const auto it = askers_.find(key);
          if (it == askers_.end() || it->second.run != now.run) return;  // it was answered
          askers_.erase(it);
        }
        if (!s.ok()) return (*now.reply)(std::move(s), {});
        if (int64_t(value.byte_size()) != bytes)
          return (*now.reply)(internal_error("Tensor Size Mismatch: RecvBufResponse returned ", value.byte_size(), " bytes, expected: ", bytes), {});
        (*now.reply)({}, encode_recv_buf_response(value));
      });
}

Collectives::Collectives(std::string task, std::string leader, std::shared_ptr<Connections> connections, const DeviceSet* devices)
    : task_(std::move(task)),
      is_leader_(leader.empty() || leader == task_),
      connections_(std::move(connections)),
      devices_(std::make_shared<KnownDevices>(devices)) {
  auto resolver = std::make_unique<ClusterResolver>(is_leader_ ? "" : std::move(leader), connections_, devices_);
  auto access = std::make_unique<ClusterAccess>(connections_, devices_);
  resolver_ = resolver.get();
  access_ = access.get();
  executor_ = std::make_shared<op::CollectiveExecutor>(std::move(resolver), std::move(access));
}

Collectives::~Collectives() = default;

Status Collectives::install(op::ResourceManager& resources) const {
  using op::CollectiveExecutor;
  (void)resources.remove(CollectiveExecutor::kContainer, CollectiveExecutor::kTypeName, CollectiveExecutor::kName);
  return resources.create(CollectiveExecutor::kContainer, CollectiveExecutor::kTypeName, CollectiveExecutor::kName, executor_);
}

Status Collectives::check_peer(const std::string& task, double seconds) {
  if (task == task_) return {};
  auto channel = connections_->to(task);
  if (!channel.ok()) return invalid_argument(task, " not found. It's probably invalid. The valid form is /job:xxx/replica:0/task:N");
  constexpr std::string_view kGetStatus = "/tensorflow.WorkerService/GetStatus";
  std::promise<std::pair<Status, Message>> answered;
  (*channel)->call(kGetStatus, Message(), seconds, false, [&](Status s, Message m) { answered.set_value({std::move(s), std::move(m)}); });
  auto [s, response] = answered.get_future().get();
  if (!s.ok()) return error_of_task(task, kGetStatus, s);
  WEFT_ASSIGN(std::vector<DeviceAttributes> devices, decode_device_list(1, response.flatten()));
  return devices_->check(devices);
}

void Collectives::complete_group(std::string_view bytes, Reply reply) {
  auto q = decode_complete_group(bytes);
  if (!q.ok()) return reply(q.status(), {});
  if (q->device_bytes.empty() || q->device.name.empty())
    return reply(
        internal_error("CompleteGroupRequest device_attributes is not set. Make sure you're running the same version of Tensorflow on all workers."),
        {});
  if (q->size <= 0) return reply(invalid_argument("group_size must be positive integer but got ", q->size), {});
  op::CollectiveGroup group{q->key, q->size, q->rank, q->device.name, q->device_bytes};
  resolver_->complete_group_async(group, nullptr,
                                  [type = q->device_type, group, reply = std::move(reply)](Status s, std::shared_ptr<const op::CollectiveMembers> m) {
                                    if (!s.ok()) return reply(std::move(s), {});
                                    CompleteGroupResponse r{.key = group.key, .size = group.size, .device_type = type, .devices = m->attributes};
                                    std::set<std::string> tasks;
                                    for (const std::string& d : m->devices) tasks.insert(task_of(d));
                                    r.num_tasks = int(tasks.size());
                                    if (group.rank >= 0) r.ranks.assign(m->ranks.begin(), m->ranks.end());
                                    reply({}, Message(encode_complete_group_response(r)));
                                  });
}

void Collectives::complete_instance(std::string_view bytes, Reply reply) {
  auto p = decode_complete_instance(bytes);
  if (!p.ok()) return reply(p.status(), {});
  const auto members = resolver_->known_group(p->group.key);
  if (!members) return reply(failed_precondition("group ", p->group.key, " not found. This normally means the server has restarted"), {});
  if (members->rank_of(p->group.device) == int(members->devices.size()))
    return reply(failed_precondition("group ", p->group.key, " failed to resolve. This normally means the server has restarted"), {});
  resolver_->complete_instance_async(*p, *members, [key = p->instance_key, reply = std::move(reply)](Status s, int source) {
    if (!s.ok()) return reply(std::move(s), {});
    reply({}, Message(encode_complete_instance_response(key, source)));
  });
}

void Collectives::recv_buf(std::string_view bytes, Reply reply) {
  auto q = decode_recv_buf(bytes);
  if (!q.ok()) return reply(q.status(), {});
  access_->serve(*q, std::move(reply));
}

// Steps of graphs with collectives count up from a random one, on all tasks alike.
Result<Message> Collectives::step_sequence(std::string_view bytes) {
  WEFT_ASSIGN(std::vector<int64_t> keys, decode_step_sequence(bytes));
  if (!is_leader_) return internal_error("GetStepSequenceAsync called at non-group-leader");
  std::vector<std::pair<int64_t, int64_t>> steps;
  std::lock_guard lock(mutex_);
  for (int64_t key : keys) {
    if (!steps_.contains(key)) {
      constexpr uint64_t kStepBits = (uint64_t(1) << 56) - 1;
      std::random_device entropy;
      steps_[key] = int64_t((uint64_t(entropy()) << 32 | entropy()) & kStepBits);
    }
    steps.emplace_back(key, steps_[key]);
  }
  return Message(encode_step_sequence(steps));
}

Result<std::string> collective_leader(std::string_view config, const ClusterMap& cluster, const std::string& job) {
  std::string leader;
  wire::ProtoReader r(config);
  while (r.next()) {
    if (r.field() != 16) continue;
    wire::ProtoReader experimental = r.message();
    while (experimental.next()) {
      if (experimental.field() == 1) leader = experimental.string();
    }
    if (!experimental.ok()) return invalid_argument("a malformed ConfigProto message");
  }
  if (!r.ok()) return invalid_argument("a malformed ConfigProto message");
  if (!leader.empty()) return leader;
  for (const std::string& name : {std::string("chief"), std::string("worker"), job}) {
    const auto it = cluster.find(name);
    if (it != cluster.end() && !it->second.empty()) return task_name(name, it->second.begin()->first);
  }
  return leader;
}

void add_collective_methods(MethodTable& methods, std::shared_ptr<Collectives> c) {
  // The members of this task that wait for the last one go on in these calls.
  using Method = void (Collectives::*)(std::string_view, Reply);
  const auto on_own_thread = [&](std::string_view name, Method method) {
    methods.add(kWorker, name, [c, method](std::string_view q, Reply r) {
      runtime::run_on_blocking_thread([c, method, q = std::string(q), r = std::move(r)]() mutable { (*c.*method)(q, std::move(r)); });
    });
  };
  on_own_thread("CompleteGroup", &Collectives::complete_group);
  on_own_thread("CompleteInstance", &Collectives::complete_instance);
  methods.add(kWorker, "RecvBuf", [c](std::string_view q, Reply r) { c->recv_buf(q, std::move(r)); });
  methods.add(kWorker, "GetStepSequence", [c](std::string_view q, Reply r) {
    auto response = c->step_sequence(q);
    if (response.ok()) r({}, std::move(response).value());
    else r(response.status(), {});
  });
}

}  // namespace weft_engine::remote
