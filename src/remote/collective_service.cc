// Values between members of several processes, and what a task answers to the others.
#include <poll.h>

#include <algorithm>
#include <set>

#include "core/threads.h"
#include "remote/blocking_call.h"
#include "remote/collective_group.h"
#include "remote/error_text.h"
#include "remote/read_message.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kRecvBuf = "/tensorflow.WorkerService/RecvBuf", kWorker = "tensorflow.WorkerService";
constexpr std::string_view kLinks = "weft.LinkService", kOpenLink = "Open";  // weft's own: TensorFlow's tasks say that they have no such method

// A call that this thread helps, and what its end leads to.
struct Help {
  int64_t run;
  std::function<void()> then;
};
thread_local Help* helping = nullptr;

}  // namespace

ClusterAccess::ClusterAccess(std::shared_ptr<Connections> connections, std::shared_ptr<KnownDevices> devices)
    : connections_(std::move(connections)), devices_(std::move(devices)), local_(op::make_local_access()) {}

// What goes to another task waits here until it is asked for.
void ClusterAccess::send(const std::string& to_device, const std::string& key, Tensor value, int64_t run, Taken taken) {
  local_->send(to_device, key, std::move(value), run, std::move(taken));
}

ClusterAccess::~ClusterAccess() { links_->stop(); }

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
  if (const auto link = links_->find(task, **channel)) {
    const auto begin = [&](Reply reply) { return link->ask(encode_recv_buf(request), *value, std::move(reply)); };
    if (calls_->start(run, begin, [task, value = *value, done](const Status& s, const Message&) {
          if (s.ok()) done({}, value);
          else done(error_of_task(task, kRecvBuf, s), {});
        }))
      return;
  }
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

// The threads of links are not held up by what runs behind a collective.
void ClusterAccess::resume(int64_t run, std::function<void()> then) {
  if (helping && helping->run == run) helping->then = std::move(then);
  else if (LocalLink::on_thread()) runtime::run_on_blocking_thread(std::move(then));
  else then();
}

// Where members of one machine come to a call at about the same time, the thread that began it reads what they send. Else each value would wake the link's thread, that one the thread
// behind the call, and that one the caller.
void ClusterAccess::help(int64_t run, const std::atomic<bool>& over, const std::atomic<int>& under_way) {
  constexpr auto kHelp = std::chrono::milliseconds(2), kNext = std::chrono::milliseconds(5);
  constexpr int kMostWithout = 256;
  std::vector<std::shared_ptr<LocalLink>> links;
  std::vector<pollfd> watched;
  // What may throw comes first: where memory is out the links' threads read, as without help.
  if (!without_exceptions([&] {
         links = links_->all();
         for (const auto& link : links) watched.push_back({link->descriptor(), POLLIN, 0});
         return Status();
       }).ok())
    return;
  if (links.empty()) return;
  const auto let_them_read = [&] {
    for (const auto& link : links) link->leave_reading({});
  };
  if (helping || helped_.exchange(true)) return let_them_read();
  if (without_help_.load(std::memory_order_relaxed) > 0) {
    without_help_.fetch_sub(1, std::memory_order_relaxed);
    helped_ = false;
    return let_them_read();
  }
  for (const auto& link : links) link->leave_reading(kHelp + kNext);
  Help mine{run, nullptr};
  helping = &mine;
  const auto end = std::chrono::steady_clock::now() + kHelp;
  while (!over.load()) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const timespec limit{0, long(left.count())};
    if (ppoll(watched.data(), watched.size(), &limit, nullptr) <= 0) continue;
    for (size_t i = 0; i < links.size(); ++i) {
      if (watched[i].revents) links[i]->read_here();
    }
  }
  helping = nullptr;
  const bool in_time = over.load();
  const int in_vain = in_time ? 0 : std::min(in_vain_.load(std::memory_order_relaxed) * 2 + 1, kMostWithout);
  in_vain_.store(in_vain, std::memory_order_relaxed);
  without_help_.store(in_vain, std::memory_order_relaxed);
  if (!in_time || under_way.load(std::memory_order_relaxed) > 0) let_them_read();
  helped_ = false;
  if (mine.then) mine.then();
}

void ClusterAccess::serve(const RecvBuf& q, LocalLink::Answer answer, const OnAbandoned& on_abandoned) {
  const auto own = devices_->own(q.source_device);
  if (!own.ok()) return answer(not_found("RecvBuf: ", own.status().message()), {});
  if (q.source_incarnation && q.source_incarnation != own->incarnation)
    return answer(failed_precondition("RecvBuf expects a different device incarnation: ", q.source_incarnation, " vs. ", own->incarnation,
                                      ". Your worker job (\"", task_of(q.source_device),
                                      "\") was probably restarted. Check your worker job for the reason why it was restarted."),
                  {});
  auto shared = std::make_shared<LocalLink::Answer>(std::move(answer));
  Asker before{0, nullptr}, now{0, shared};
  {
    std::lock_guard lock(mutex_);
    now.run = next_run_--;
    std::swap(before, askers_[q.key]);
    askers_[q.key] = now;
  }
  if (before.answer) {
    local_->retract(before.run);
    (*before.answer)(cancelled("another request for the same buffer came"), {});
  }
  // Whether the asker still waits; then it does no longer.
  const auto take = [this, key = q.key, run = now.run] {
    std::lock_guard lock(mutex_);
    const auto it = askers_.find(key);
    if (it == askers_.end() || it->second.run != run) return false;
    askers_.erase(it);
    return true;
  };
  local_->recv_async(q.source_device, q.key, DType::kInvalid, Shape(), now.run,
                     [take, answer = now.answer, bytes = q.num_bytes](Status s, Tensor value) {
                       if (!take()) return;
                       if (s.ok() && int64_t(value.byte_size()) != bytes)
                         s = internal_error("Tensor Size Mismatch: RecvBufResponse returned ", value.byte_size(), " bytes, expected: ", bytes);
                       (*answer)(s, s.ok() ? std::move(value) : Tensor());
                     });
  on_abandoned([this, take, run = now.run] {
    if (take()) local_->retract(run);
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
  auto response = call_and_wait(**channel, kGetStatus, Message(), {.seconds = seconds});
  if (!response.ok()) return error_of_task(task, kGetStatus, response.status());
  WEFT_ASSIGN(std::vector<DeviceAttributes> devices, decode_device_list(1, response->flatten()));
  return devices_->check(devices);
}

void Collectives::complete_group(std::string_view bytes, Reply reply, op::CancellationManager* caller) {
  auto q = decode_complete_group(bytes);
  if (!q.ok()) return reply(q.status(), {});
  if (q->device_bytes.empty() || q->device.name.empty())
    return reply(
        internal_error("CompleteGroupRequest device_attributes is not set. Make sure you're running the same version of Tensorflow on all workers."),
        {});
  if (q->size <= 0) return reply(invalid_argument("group_size must be positive integer but got ", q->size), {});
  op::CollectiveGroup group{q->key, q->size, q->rank, q->device.name, q->device_bytes};
  resolver_->complete_group_async(group, caller,
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

void Collectives::recv_buf(const std::shared_ptr<Collectives>& self, std::string_view bytes, LocalLink::Answer answer,
                           const OnAbandoned& on_abandoned) {
  auto q = decode_recv_buf(bytes);
  if (!q.ok()) return answer(q.status(), {});
  // A link may tell so when its server has stopped.
  self->access_->serve(*q, std::move(answer),
                       [&](std::function<void()> abandoned) { on_abandoned([self, abandoned = std::move(abandoned)] { abandoned(); }); });
}

Result<Message> Collectives::open_link(std::weak_ptr<Collectives> self) {
  return access_->links().offer([self = std::move(self)](std::string_view bytes, LocalLink::Answer answer, const OnAbandoned& on_abandoned) {
    if (auto c = self.lock()) recv_buf(c, bytes, std::move(answer), on_abandoned);
    else answer(cancelled("the server has stopped"), {});
  });
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
      steps_[key] = int64_t(random_id() & kStepBits);
    }
    steps.emplace_back(key, steps_[key]);
  }
  return Message(encode_step_sequence(steps));
}

Result<std::string> collective_leader(std::string_view config, const ClusterMap& cluster, const std::string& job) {
  std::string leader;
  WEFT_RETURN_IF_ERROR(read_message("ConfigProto", config, [&](wire::ProtoReader& r) -> Status {
    if (r.field() != 16) return {};
    return read_message("ConfigProto", r.bytes(), [&](wire::ProtoReader& experimental) {
      if (experimental.field() == 1) leader = experimental.string();
    });
  }));
  if (!leader.empty()) return leader;
  for (const std::string& name : {std::string("chief"), std::string("worker"), job}) {
    const auto it = cluster.find(name);
    if (it != cluster.end() && !it->second.empty()) return task_name(name, it->second.begin()->first);
  }
  return leader;
}

void add_collective_methods(MethodTable& methods, std::shared_ptr<Collectives> c) {
  // The members of this task that wait for the last one go on in these calls.
  methods.add_waiting(kWorker, "CompleteGroup", [c](std::string_view q, Reply r, const OnAbandoned& on_abandoned) {
    auto caller = std::make_shared<op::CancellationManager>();
    on_abandoned([caller] { caller->start_cancel(); });
    runtime::run_on_blocking_thread([c, q = std::string(q), r = std::move(r), caller]() mutable {
      c->complete_group(q, [r = std::move(r), caller](Status s, Message m) { r(std::move(s), std::move(m)); }, caller.get());
    });
  });
  methods.add(kWorker, "CompleteInstance", [c](std::string_view q, Reply r) {
    runtime::run_on_blocking_thread([c, q = std::string(q), r = std::move(r)]() mutable { c->complete_instance(q, std::move(r)); });
  });
  methods.add_waiting(kWorker, "RecvBuf", [c](std::string_view q, Reply r, const OnAbandoned& on_abandoned) {
    const auto answer = [r = std::move(r)](Status s, const Tensor& value) { r(s, s.ok() ? encode_recv_buf_response(value) : Message()); };
    Collectives::recv_buf(c, q, answer, on_abandoned);
  });
  const auto reply = [](const Reply& r, Result<Message> response) {
    if (response.ok()) r({}, std::move(response).value());
    else r(response.status(), {});
  };
  methods.add(kWorker, "GetStepSequence", [c, reply](std::string_view q, const Reply& r) { reply(r, c->step_sequence(q)); });
  methods.add(kLinks, kOpenLink, [c, reply](std::string_view, const Reply& r) { reply(r, c->open_link(c)); });
}

}  // namespace weft_engine::remote
