// Groups over several processes. Their leader, one task of the cluster, knows who joined and what each instance is; the others ask it once and remember. Values are
// asked for where they are made (RecvBuf). The executor that kernels use is op/collective.h's; this is what it is built from here.
#pragma once

#include <map>
#include <set>

#include "op/collective.h"
#include "remote/collective_messages.h"
#include "remote/connections.h"
#include "remote/local_link.h"
#include "remote/method_table.h"

namespace weft_engine::remote {

// Devices of the groups, as their tasks told them: the incarnation must be the one that a value is asked from.
class KnownDevices {
 public:
  explicit KnownDevices(const DeviceSet* own) : own_(own) {}
  bool is_own(const std::string& device) const;
  const std::string& host() const { return own_->host()->name(); }
  // Attributes of a device of this task; NotFound if there is none.
  Result<DeviceAttributes> own(const std::string& device) const;
  void add(const std::string& attributes);
  uint64_t incarnation(const std::string& device) const;
  // FailedPrecondition where a task that was known has other incarnations now: it was restarted.
  Status check(const std::vector<DeviceAttributes>& devices) const;

 private:
  const DeviceSet* const own_;
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> incarnations_;
};

// Calls that end when collectives are aborted.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  // Not started after stop(): the reply gets its status. Replies come on threads that may wait. `wait`: as of Channel::call.
  void call(Channel& channel, std::string_view method, Message request, bool wait, int64_t run, Reply reply);
  // The same for any call: `begin` starts it; null: it could not. Replies come on its threads.
  using Begin = std::function<std::shared_ptr<ClientCall>(Reply)>;
  bool start(int64_t run, const Begin& begin, Reply reply);
  void cancel(int64_t run);
  void stop(const Status& status);

 private:
  struct Open {
    int64_t run;
    std::shared_ptr<ClientCall> call;  // null: it is being started
    bool cancelled = false;
  };
  std::mutex mutex_;
  Status stopped_;
  int64_t next_ = 0;
  std::map<int64_t, Open> open_;
};

class ClusterResolver final : public op::CollectiveParamResolver {
 public:
  // `leader`: empty where this task is it.
  ClusterResolver(std::string leader, std::shared_ptr<Connections> connections, std::shared_ptr<KnownDevices> devices);
  void complete_group_async(const op::CollectiveGroup& group, op::CancellationManager* cancellation, GroupDone done) override;
  void complete_instance_async(const op::CollectiveParams& params, const op::CollectiveMembers& members, InstanceDone done) override;
  void start_abort(const Status& status) override;

  // The group as far as it is known here; null: it is not complete.
  std::shared_ptr<const op::CollectiveMembers> known_group(int32_t key) const;

 private:
  struct Instance {
    op::CollectiveType type;
    DType dtype;
    Shape shape;
    int source;
  };
  const std::string leader_;
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<KnownDevices> devices_;
  const std::shared_ptr<op::CollectiveParamResolver> local_;  // shared with callbacks of calls
  const std::shared_ptr<OpenCalls> calls_ = std::make_shared<OpenCalls>();
  struct State {
    std::mutex mutex;
    std::map<int32_t, std::shared_ptr<const op::CollectiveMembers>> groups;
    std::map<std::pair<int32_t, int32_t>, Instance> instances;
    Status aborted;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Links to the tasks of this machine that are weft, made when first asked for. A task that has none is asked once.
class LocalLinks : public std::enable_shared_from_this<LocalLinks> {
 public:
  explicit LocalLinks(std::shared_ptr<OpenCalls> calls) : calls_(std::move(calls)) {}
  // Null: there is none, or not yet.
  std::shared_ptr<LocalLink> find(const std::string& task, Channel& channel);
  // All that are there, of both directions.
  std::vector<std::shared_ptr<LocalLink>> all();
  void stop();
  // What this task answers to one that asks for a link: the address of its listener, which is there from then on.
  Result<Message> offer(LocalLink::Handler handler);

 private:
  const std::shared_ptr<OpenCalls> calls_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::string, std::shared_ptr<LocalLink>> links_;  // null: there is none
  std::shared_ptr<LocalListener> listener_;
};

class ClusterAccess final : public op::CollectiveRemoteAccess {
 public:
  ClusterAccess(std::shared_ptr<Connections> connections, std::shared_ptr<KnownDevices> devices);
  ~ClusterAccess() override;
  void send(const std::string& to_device, const std::string& key, Tensor value, int64_t run, Taken taken) override;
  void recv_async(const std::string& from_device, const std::string& key, DType dtype, const Shape& shape, int64_t run, Done done) override;
  void retract(int64_t run) override;
  void start_abort(const Status& status) override;
  void resume(int64_t run, std::function<void()> then) override;
  void help(int64_t run, const std::atomic<bool>& over, const std::atomic<int>& under_way) override;

  // For another task that asks for what a device here sends. It may be gone before that is there.
  void serve(const RecvBuf& request, LocalLink::Answer answer, const OnAbandoned& on_abandoned);
  LocalLinks& links() { return *links_; }

 private:
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<KnownDevices> devices_;
  const std::unique_ptr<op::CollectiveRemoteAccess> local_;
  const std::shared_ptr<OpenCalls> calls_ = std::make_shared<OpenCalls>();
  const std::shared_ptr<LocalLinks> links_ = std::make_shared<LocalLinks>(calls_);
  // Tasks that wait for a key. A second question for one means that the first was given up.
  struct Asker {
    int64_t run;
    std::shared_ptr<LocalLink::Answer> answer;
  };
  // Help that was in vain, the others came too late, is not given for some calls.
  std::atomic<bool> helped_{false};
  std::atomic<int> without_help_{0}, in_vain_{0};
  std::mutex mutex_;
  int64_t next_run_ = -2;  // those of this task count up from 0
  std::map<std::string, Asker> askers_;
};

// The collectives of one task.
class Collectives {
 public:
  // `leader`: "/job:worker/replica:0/task:0"; empty: this task.
  Collectives(std::string task, std::string leader, std::shared_ptr<Connections> connections, const DeviceSet* devices);
  ~Collectives();
  const std::string& task() const { return task_; }
  const std::shared_ptr<op::CollectiveExecutor>& executor() const { return executor_; }
  // Kernels that use these resources find the executor from now on.
  Status install(op::ResourceManager& resources) const;
  // Asks the task whether it is there, and still the one that it was.
  Status check_peer(const std::string& task, double seconds);

  // Server side; handlers share this object with the table.
  void complete_group(std::string_view request, Reply reply, op::CancellationManager* caller);
  void complete_instance(std::string_view request, Reply reply);
  static void recv_buf(const std::shared_ptr<Collectives>& self, std::string_view request, LocalLink::Answer answer, const OnAbandoned& on_abandoned);
  Result<Message> open_link(std::weak_ptr<Collectives> self);
  Result<Message> step_sequence(std::string_view request);

 private:
  const std::string task_;
  const bool is_leader_;
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<KnownDevices> devices_;
  ClusterResolver* resolver_;  // of the executor
  ClusterAccess* access_;
  std::shared_ptr<op::CollectiveExecutor> executor_;
  std::mutex mutex_;
  std::map<int64_t, int64_t> steps_;  // by key of a graph
};

// The task that leads groups: ConfigProto.experimental.collective_group_leader, else the first chief, worker, or task of this job.
Result<std::string> collective_leader(std::string_view config, const ClusterMap& cluster, const std::string& job);

void add_collective_methods(MethodTable& methods, std::shared_ptr<Collectives> collectives);

}  // namespace weft_engine::remote
