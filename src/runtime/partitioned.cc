// Running the parts of a body side by side.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/remote_device.h"
#include "core/remote_tensor.h"
#include "core/threads.h"
#include "op/cancellation.h"
#include "op/rendezvous.h"
#include "runtime/blocking_threads.h"
#include "runtime/partition.h"

namespace weft_engine::runtime {
namespace {

struct Planned {
  std::unique_ptr<Executable> plan;
  std::vector<int> args, rets;
  bool remote = false;
};

constexpr std::string_view kEdges = "part";

// Messages between the parts of one call. Those of the step around it (sent by other tasks, or by the parts of a session's step) pass through.
class CallRendezvous final : public Rendezvous {
 public:
  explicit CallRendezvous(Rendezvous* outer) : outer_(outer), own_(make_local_rendezvous()) {}
  Status send(std::string_view key, Tensor value, bool dead) override { return of(key).send(key, std::move(value), dead); }
  void recv_async(std::string_view key, Done done) override {
    Rendezvous& from = of(key);
    if (&from == outer_) waits_outside_ = true;
    from.recv_async(key, std::move(done));
  }
  // Whoever waits here must get it, wherever the value was to come from.
  void abort(Status status) override {
    own_->abort(status);
    if (waits_outside_) outer_->abort(status);
  }

 private:
  Rendezvous& of(std::string_view key) const {
    if (!outer_) return *own_;
    std::string_view name = key;  // behind source, incarnation and destination
    for (int i = 0; i < 3; ++i) name.remove_prefix(std::min(name.find(';'), name.size() - 1) + 1);
    return name.starts_with(kEdges) ? *own_ : *outer_;
  }
  Rendezvous* const outer_;
  const std::shared_ptr<Rendezvous> own_;
  std::atomic<bool> waits_outside_{false};
};

// One call: what its parts share, alive until the last of them has ended.
struct Call : std::enable_shared_from_this<Call> {
  Call(const KernelEnv& e, size_t parts, std::shared_ptr<Rendezvous> shared)
      : env(e), parent(e.cancellation), rendezvous(std::move(shared)), left(parts) {
    env.rendezvous = rendezvous.get();
    env.cancellation = &cancellation;
  }

  // False: cancelled already.
  bool watch() {
    if (!parent) return true;
    token = parent->get_token();
    return parent->register_callback(token, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->fail(cancelled("Step was cancelled"));
    });
  }

  void fail(const Status& s) {
    {
      std::lock_guard lock(mutex);
      if (!status.ok() || left == 0) return;
      status = s;
    }
    rendezvous->abort(s);
    cancellation.start_cancel();
  }

  // A part has ended; true for the last.
  bool end_of_part(const Status& s) {
    if (!s.ok()) fail(s);
    std::lock_guard lock(mutex);
    if (--left > 0) return false;
    if (parent) parent->try_deregister_callback(token);
    changed.notify_all();
    return true;
  }

  KernelEnv env;
  CancellationManager* const parent;
  CancellationManager::Token token = 0;
  CancellationManager cancellation;
  std::shared_ptr<Rendezvous> rendezvous;
  std::vector<Tensor> rets;  // of an asynchronous call
  FunctionHandle::Done done;
  std::mutex mutex;
  std::condition_variable changed;
  size_t left;
  Status status;
};

class Partitioned final : public Executable {
 public:
  Partitioned(std::vector<Planned> parts, RemoteTarget* remote, std::string name, size_t args, size_t rets)
      : parts_(std::move(parts)), remote_(remote), name_(std::move(name)), num_args_(args), num_rets_(rets) {
    readers_.resize(args, 0);
    for (const Planned& p : parts_) {
      for (int a : p.args) ++readers_[size_t(a)];
    }
  }

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override {
    if (args.size() != num_args_ || rets.size() != num_rets_)
      return invalid_argument("function ", name_, " of ", num_args_, " arguments and ", num_rets_, " results was called with ", args.size(), " and ",
                              rets.size());
    WEFT_ASSIGN(std::shared_ptr<Rendezvous> shared, step_rendezvous(env));
    auto call = std::make_shared<Call>(env, parts_.size(), std::move(shared));
    if (!call->watch()) return before();
    // The first part, the largest of those here, runs on this thread.
    const size_t first = parts_[0].remote ? 0 : 1;
    for (size_t i = first; i < parts_.size(); ++i) start(call, i, args, rets);
    if (first == 1) {
      const Status s = core::without_exceptions([&]() -> Status {
        std::vector<Tensor> mine = take_args(0, args), out(parts_[0].rets.size());
        for (Tensor& t : args) t = Tensor();
        WEFT_RETURN_IF_ERROR(fetch_all(mine));
        WEFT_RETURN_IF_ERROR(parts_[0].plan->run(call->env, mine, out));
        put(parts_[0], out, rets);
        return {};
      });
      call->end_of_part(s);
    }
    if (remote_) {
      remote_->before_waiting([&call] {
        std::lock_guard lock(call->mutex);
        return call->left == 0;
      });
    }
    std::unique_lock lock(call->mutex);
    CancellationManager::wait(lock, call->changed, call->parent, [&] { return call->left == 0; });
    return call->status;
  }

  void run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) override {
    if (args.size() != num_args_)
      return done(invalid_argument("function ", name_, " of ", num_args_, " arguments was called with ", args.size()), {});
    auto shared = step_rendezvous(env);
    if (!shared.ok()) return done(shared.status(), {});
    auto call = std::make_shared<Call>(env, parts_.size(), std::move(shared).value());
    if (!call->watch()) return done(before(), {});
    call->rets.resize(num_rets_);
    call->done = std::move(done);
    for (size_t i = parts_.size(); i-- > 0;) start(call, i, args, call->rets);
  }

  bool distributed() const { return remote_ != nullptr; }

 private:
  Result<std::shared_ptr<Rendezvous>> step_rendezvous(const KernelEnv& env) const {
    if (remote_) return remote_->start_step();
    return std::shared_ptr<Rendezvous>(std::make_shared<CallRendezvous>(env.rendezvous));
  }
  static Status before() { return cancelled("Function was cancelled before it was started"); }

  // An argument that only one part reads is given away to it.
  std::vector<Tensor> take_args(size_t part, std::span<Tensor> args) const {
    std::vector<Tensor> taken;
    for (int a : parts_[part].args) {
      Tensor& t = args[size_t(a)];
      if (readers_[size_t(a)] == 1) taken.push_back(std::move(t));
      else taken.push_back(t);
    }
    return taken;
  }

  static void put(const Planned& p, std::span<Tensor> from, std::span<Tensor> to) {
    for (size_t i = 0; i < p.rets.size(); ++i) to[size_t(p.rets[i])] = std::move(from[i]);
  }

  // With its arguments out of `args`; what throws here is the error of the part.
  void start(const std::shared_ptr<Call>& call, size_t part, std::span<Tensor> args, std::span<Tensor> rets) const {
    const Planned& p = parts_[part];
    auto end = [call, &p, rets, distributed = distributed()](const Status& s, std::span<Tensor> out) {
      if (s.ok()) put(p, out, rets);
      if (!call->end_of_part(s) || !call->done) return;
      if (!distributed) return call->done(call->status, std::move(call->rets));
      run_on_blocking_thread([call] { call->done(call->status, std::move(call->rets)); });  // not on a thread of the transport
    };
    const Status started = core::without_exceptions([&]() -> Status {
      std::vector<Tensor> mine = take_args(part, args);
      if (p.remote || !has_references(mine)) {
        p.plan->run_async(call->env, std::move(mine), [end](Status s, std::vector<Tensor> out) { end(s, out); });
        return {};
      }
      fetch_all(std::move(mine), [call, &p, end](Status s, std::vector<Tensor> values) {
        if (!s.ok()) return end(s, {});
        p.plan->run_async(call->env, std::move(values), [end](Status s, std::vector<Tensor> out) { end(s, out); });
      });
      return {};
    });
    if (!started.ok()) end(started, {});
  }

  const std::vector<Planned> parts_;
  RemoteTarget* const remote_;  // one of them; null: all parts are here
  const std::string name_;
  const size_t num_args_, num_rets_;
  std::vector<int> readers_;  // by argument: how many parts read it
};

}  // namespace

bool is_distributed(const Executable& plan) {
  const auto* parts = dynamic_cast<const Partitioned*>(&plan);
  return parts && parts->distributed();
}

bool has_remote_devices(const DeviceSet& devices) {
  return devices.all().size() > 1 && dynamic_cast<const core::RemoteDevice*>(devices.all().back().get());
}

bool has_references(std::span<const Tensor> tensors) {
  if (!core::references_exist.load(std::memory_order_relaxed)) return false;
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return core::referred(t) != nullptr; });
}

static void start_fetch(std::vector<Tensor> tensors, FunctionHandle::Done done) {
  struct Fetch {
    std::mutex mutex;
    std::vector<Tensor> tensors;
    Status status;
    size_t left = 1;
    FunctionHandle::Done done;
  };
  auto all = std::make_shared<Fetch>();
  all->tensors = std::move(tensors);
  all->done = std::move(done);
  auto end = [all] {
    {
      std::lock_guard lock(all->mutex);
      if (--all->left > 0) return;
    }
    all->done(all->status, std::move(all->tensors));
  };
  for (size_t i = 0; i < all->tensors.size(); ++i) {
    const auto value = core::referred(all->tensors[i]);
    if (!value || value->value_type() == DType::kResource) continue;
    {
      std::lock_guard lock(all->mutex);
      ++all->left;
    }
    value->bring([all, end, i](Result<Tensor> t) {
      {
        std::lock_guard lock(all->mutex);
        if (t.ok()) all->tensors[i] = std::move(t).value();
        else if (all->status.ok()) all->status = t.status();
      }
      end();
    });
  }
  end();
}

// Whoever goes on with them may take long: not on the thread that brought the last one.
void fetch_all(std::vector<Tensor> tensors, FunctionHandle::Done done) {
  if (!has_references(tensors)) return done({}, std::move(tensors));
  start_fetch(std::move(tensors), [done = std::move(done)](Status s, std::vector<Tensor> values) {
    run_on_blocking_thread([done, s = std::move(s), values = std::move(values)]() mutable { done(std::move(s), std::move(values)); });
  });
}

Status fetch_all(std::span<Tensor> tensors) {
  if (!has_references(tensors)) return {};
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    Status status;
    std::vector<Tensor> tensors;
  };
  auto waiting = std::make_shared<Waiting>();
  start_fetch(std::vector<Tensor>(tensors.begin(), tensors.end()), [waiting](Status s, std::vector<Tensor> values) {
    std::lock_guard lock(waiting->mutex);
    waiting->status = std::move(s);
    waiting->tensors = std::move(values);
    waiting->done = true;
    waiting->changed.notify_one();
  });
  std::unique_lock lock(waiting->mutex);
  if (!core::wait_for_others(lock, waiting->changed, [&] { return waiting->done; })) return cancelled("the process ends");
  WEFT_RETURN_IF_ERROR(waiting->status);
  std::move(waiting->tensors.begin(), waiting->tensors.end(), tensors.begin());
  return {};
}

Result<std::unique_ptr<Executable>> plan_partitioned(const graph::FunctionBody& body, const DeviceSet& devices, const PlanContext& c) {
  WEFT_ASSIGN(std::vector<Part> parts, partition(body, devices, {.edges = has_remote_devices(devices) ? "edge" : kEdges}));
  const auto remote_target = [](const Part& p) { return dynamic_cast<RemoteTarget*>(p.device); };
  // Those here before those in other processes, large ones first.
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
    const bool there = remote_target(a) != nullptr, other = remote_target(b) != nullptr;
    return there != other ? other : a.body.graph->num_nodes() > b.body.graph->num_nodes();
  });
  std::vector<Planned> planned;
  RemoteTarget* remote = nullptr;
  for (Part& p : parts) {
    PlanContext here = c;
    here.device = p.device;
    RemoteTarget* const target = remote_target(p);
    WEFT_ASSIGN(std::unique_ptr<Executable> plan, target ? target->plan_part(p) : plan_dataflow(p.body, here));
    planned.push_back({std::move(plan), std::move(p.args), std::move(p.rets), target != nullptr});
    if (target) remote = target;
  }
  if (planned.empty()) return plan_dataflow(body, c);
  return std::unique_ptr<Executable>(std::make_unique<Partitioned>(std::move(planned), remote, body.name, body.args.size(), body.rets.size()));
}

}  // namespace weft_engine::runtime
