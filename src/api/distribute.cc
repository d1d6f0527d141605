#include "trace/replica.h"
#include "trace/variable.h"

#include "api/unwrap.h"
#include "weft/raw/math.h"
#include "weft/context.h"
#include "weft/distribute.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace weft::distribute {

using api::check;

namespace {

// Code runs for this replica while it lives.
class AsReplica {
 public:
  explicit AsReplica(trace::Replica* replica) : previous_(std::exchange(trace::current_replica(), replica)) {}
  ~AsReplica() { trace::current_replica() = previous_; }
  AsReplica(const AsReplica&) = delete;

 private:
  trace::Replica* previous_;
};

}  // namespace

MirroredStrategy::MirroredStrategy(std::vector<std::string> devices) {
  if (devices.empty()) {
    for (const DeviceInfo& d : weft::devices()) devices.push_back(d.name);
  }
  for (const std::string& d : devices) {
    const std::string full = api::unwrap(api::context().devices().resolve(d, false))->name();
    if (std::find(devices_.begin(), devices_.end(), full) != devices_.end()) check(core::invalid_argument("Duplicates in devices argument: ", full));
    devices_.push_back(full);
  }
}

VariableCreatorScope MirroredStrategy::scope() const {
  return VariableCreatorScope(
      [devices = devices_](const VariableCreatorScope::Next& next, const std::function<Tensor()>& initial, const VariableOptions& options) {
        VariableOptions o = options;
        if (o.synchronization == VariableSynchronization::none)
          check(core::invalid_argument("a strategy cannot make the variable '", o.name,
                                       "' with VariableSynchronization::none: choose another synchronization"));
        std::vector<Variable> copies;
        for (size_t i = 0; i < devices.size(); ++i) {
          o.device = devices[i];
          if (i > 0) o.name = options.name + "/replica_" + std::to_string(i);
      // The others start as the first one does, however it came by its value.
          copies.push_back(i == 0 ? next(initial, o) : next([&] { return copies[0].value(); }, o));
        }
        std::vector<std::shared_ptr<trace::VariableState>> others;
        for (size_t i = 1; i < copies.size(); ++i) others.push_back(copies[i].state());
        copies[0].state()->set_copies(std::move(others));
        return copies[0];
      });
}

void MirroredStrategy::run_all(const std::function<void(int)>& f) const {
  const int n = num_replicas_in_sync();
  if (trace::current_replica()) check(core::failed_precondition("`run` was called inside a replica: strategies do not nest"));
  if (trace::FuncGraph::current()) {
    for (int i = 0; i < n; ++i) {
      trace::Replica replica{i, n, nullptr};
      AsReplica as(&replica);
      DeviceScope device(devices_[size_t(i)]);
      f(i);
    }
    return;
  }
  trace::ReplicaBarrier barrier(n);
  std::vector<std::exception_ptr> errors{size_t(n)};
  std::vector<char> left_waiting(size_t(n), 0);
  auto one = [&](int i) {
    trace::Replica replica{i, n, &barrier};
    try {
      AsReplica as(&replica);
      DeviceScope device(devices_[size_t(i)]);
      f(i);
    } catch (...) {
      errors[size_t(i)] = std::current_exception();
    }
    left_waiting[size_t(i)] = replica.left_waiting;
    barrier.leave();
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < n; ++i) {
    try {
      threads.emplace_back(one, i);
    } catch (...) {  // no thread to be had
      errors[size_t(i)] = std::current_exception();
      barrier.leave();
    }
  }
  one(0);
  for (auto& t : threads) t.join();
  // One that failed leaves the others waiting in vain: its error is the one to tell, not theirs.
  std::exception_ptr first;
  for (const bool waited : {false, true}) {
    for (size_t i = 0; i < size_t(n) && !first; ++i) {
      if (bool(left_waiting[i]) == waited) first = errors[i];
    }
  }
  if (first) std::rethrow_exception(first);
}

Tensor MirroredStrategy::reduce(ReduceOp op, const std::vector<Tensor>& values) const {
  if (values.empty()) check(core::invalid_argument("there is nothing to reduce"));
  DeviceScope device(devices_[0]);
  Tensor sum = values.size() == 1 ? values[0] : raw::AddN(values);
  if (op == ReduceOp::sum) return sum;
  return raw::RealDiv(sum, raw::Cast(Tensor(float(values.size())), sum.dtype()));
}

std::vector<Tensor> MirroredStrategy::local_values(const Variable& v) {
  if (!v.has_value()) check(core::invalid_argument("a variable that was not made was used"));
  const auto& copies = v.state()->copies();
  if (copies.empty()) return {v.value()};
  std::vector<Tensor> out;
  for (size_t i = 0; i < copies.size(); ++i) {
    trace::Replica replica{int(i), int(copies.size()), nullptr};
    AsReplica as(&replica);
    out.push_back(v.value());
  }
  return out;
}

int replica_id() { return trace::current_replica() ? trace::current_replica()->id : -1; }

}  // namespace weft::distribute
