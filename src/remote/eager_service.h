// EagerService: contexts that clients in other processes made here, and what their queues ask for.
#pragma once

#include <chrono>
#include <set>
#include <unordered_map>

#include "eager/op.h"
#include "remote/connections.h"
#include "remote/method_table.h"
#include "remote/packed_handles.h"
#include "remote/step_table.h"

namespace weft_engine::remote {

class Peers;

// One context of a client: an eager context on this task's devices, and the tensors that the client holds by number.
class ServerContext {
 public:
  // `renamed`: the devices, where they are not the server's own.
  ServerContext(op::Registry& registry, const DeviceSet* devices, std::unique_ptr<DeviceSet> renamed, const CreateContext& request, std::string task,
                std::shared_ptr<Connections> connections, std::shared_ptr<TaskRendezvous> rendezvous, std::shared_ptr<StepTable> steps);
  // The client's own, of this process: other tasks run parts of functions by it that use what this process has.
  ServerContext(eager::Context& own, uint64_t id, std::string task, std::shared_ptr<Connections> connections,
                std::shared_ptr<TaskRendezvous> rendezvous, std::shared_ptr<StepTable> steps);
  ~ServerContext();
  // `caller` is cancelled when whoever sent the item has gone.
  Result<QueueResponse> run(const QueueItem& item, op::CancellationManager& caller);
  Result<QueueResponse> run_component(const RunComponentFunction& request);

  void touch() { last_use_.store(now(), std::memory_order_relaxed); }
  bool expired() const { return keep_alive_ > 0 && now() - last_use_.load(std::memory_order_relaxed) > keep_alive_; }
  // Parts of functions that run here end with the status, and so do those who wait for what they send.
  void end_steps(const Status& status);
  // The step is over, as its client says.
  void end_step(int64_t step, const Status& status);
  // The client's next view of the cluster; InvalidArgument for one out of order.
  Status update(const CreateContext& request);
  uint64_t view_id() const { return view_id_.load(); }
  op::ResourceManager& resources() { return context_.resources(); }
  void set_trace(op::StepTrace* trace) {
    if (made_) made_->trace.store(trace);
  }
  int num_functions() { return context_.functions().size(); }

 private:
  static int64_t now() { return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
  using Handle = RefPtr<eager::TensorHandle>;
  Result<QueueResponse> run_operation(const Operation& o, op::CancellationManager& caller);
  // With single tensors in place of packed handles.
  Result<Operation> unpacked(const Operation& o) { return packed_.unpack(o, context_.functions(), context_.host()->name()); }
  Status register_function(const RegisterFunction& f);
  Status remove_function(const std::string& name);
  // A function, or an op that calls one, that uses resources of other tasks or names their devices: they run their parts of it.
  bool is_over_tasks(const Operation& o);
  // Whether the function, or one that it calls, has a node on a device of another task.
  bool names_other_tasks(const std::string& function);
  Result<std::optional<Tensor>> resource_elsewhere(const std::variant<RemoteTensorHandle, Tensor>& in);
  Result<std::vector<Handle>> run_over_tasks(const Operation& o, op::CancellationManager& cancellation);
  Result<std::shared_ptr<Peers>> peers();
  bool is_elsewhere(const RemoteTensorHandle& h) const;
  Result<Handle> input(const std::variant<RemoteTensorHandle, Tensor>& in);
  Result<Handle> find(const RemoteTensorHandle& h);
  // A tensor of another task: that task is told to send it here.
  Result<Handle> fetch(const RemoteTensorHandle& h);
  void store(int64_t op_id, int output, Handle handle);

  const uint64_t id_;
  const std::string task_;
  const int64_t keep_alive_;  // seconds; 0: for ever
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<TaskRendezvous> rendezvous_;
  const std::shared_ptr<StepTable> steps_;
  const std::unique_ptr<DeviceSet> renamed_;
  const std::unique_ptr<eager::Context> made_;  // null: the client's own
  eager::Context& context_;
  std::mutex mutex_;
  std::unordered_map<int64_t, std::vector<Handle>> handles_;  // by op, then by output
  PackedHandles packed_;
  std::map<std::string, uint64_t> incarnations_;  // of devices of the cluster
  std::set<int64_t> part_steps_;  // steps that parts of functions ran in
  std::map<std::string, std::vector<std::string>> parts_;  // parts of functions: what came with them
  std::map<std::string, int> callers_;  // by function: the parts that it came with
  std::set<std::string> own_functions_;  // those that the client registered by themselves, and removes
  std::atomic<int64_t> last_use_;
  std::atomic<uint64_t> view_id_;
  std::atomic<int64_t> transfers_{0};
  std::mutex peers_mutex_;
  std::shared_ptr<Peers> peers_;  // null: nobody needed them since the cluster changed
  std::vector<std::shared_ptr<Peers>> former_peers_;  // of earlier views, by which datasets call their functions
};

class EagerService {
 public:
  EagerService(op::Registry& registry, const DeviceSet* devices, std::string task, const TransportApi& transport, std::shared_ptr<StepTable> steps)
      : registry_(registry), devices_(devices), task_(std::move(task)), transport_(transport), steps_(std::move(steps)) {}

  // The service's methods. They may wait.
  Result<Message> enqueue(const Unpacked& request, op::CancellationManager& caller);
  Result<Message> create(const CreateContext& request);
  // For a client's own server, which it ends before the context.
  void serve(eager::Context& own, uint64_t id, std::shared_ptr<Connections> connections);
  Result<Message> update(std::string_view request);
  Result<Message> run_component(std::string_view request, op::CancellationManager& caller);
  Result<Message> keep_alive(uint64_t id);
  Result<std::shared_ptr<ServerContext>> find(uint64_t id);
  // Contexts note what runs, also those to come; null ends it. The trace lives for ever.
  void set_trace(op::StepTrace* trace);
  // Unless the client has it of a later view: TensorFlow's closes the context of a task that came back after it has made it anew.
  void close(uint64_t id, uint64_t view = UINT64_MAX);
  void close_all();
  // What each new context is given; set before the service serves.
  std::function<Status(op::ResourceManager&)> prepare;

 private:
  void drop_expired();
  Message own_devices(int field) const;
  std::unique_ptr<DeviceSet> renamed(const ServerDef& def) const;

  op::Registry& registry_;
  const DeviceSet* const devices_;
  const std::string task_;
  const TransportApi& transport_;
  const std::shared_ptr<StepTable> steps_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<ServerContext>> contexts_;
  op::StepTrace* trace_ = nullptr;
};

void add_eager_methods(MethodTable& methods, std::shared_ptr<EagerService> service);

}  // namespace weft_engine::remote
