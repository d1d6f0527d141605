// The same code on several devices, each with its own copies of the variables:
//
//   weft::distribute::MirroredStrategy strategy({"CPU:0", "CPU:1"});
//   weft::Variable w;
//   {
//     auto scope = strategy.scope();
//     w = weft::Variable(weft::zeros({4}), {.aggregation = weft::VariableAggregation::mean});
//   }
//   auto losses = strategy.run([&](int replica) { weft::Tensor loss = weft::reduce_sum(w * float(replica)); w.assign_sub(w * 0.1f); return loss; });
//   weft::Tensor loss = strategy.reduce(weft::distribute::ReduceOp::mean, losses);
//
// A variable that is synchronised on write (the default) is alike everywhere: what replicas write to it is put together first, as
// its aggregation says, and written to every copy. One that is synchronised on read is each replica's own, and put together when it
// is read outside of them.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/cluster.h"
#include "weft/tape.h"
#include "weft/variable.h"

namespace weft::distribute {

enum class ReduceOp { sum, mean };

class WEFT_API MirroredStrategy {
 public:
  // One replica a device; empty: all devices of the process. Two names of one device are an error.
  explicit MirroredStrategy(std::vector<std::string> devices = {});

  // How many replicas there are, and their devices.
  int num_replicas_in_sync() const { return int(devices_.size()); }
  const std::vector<std::string>& devices() const { return devices_; }
  // Variables that are made on this thread while it lives have a copy on every device.
  VariableCreatorScope scope() const;

  // f(replica) for every replica, each on a thread and device of its own; what they give, by replica. The first error of one is thrown
  // when all have ended. Inside a traced function they run one after the other and cannot write variables together.
  template <class F>
  auto run(F f) const {
    using R = std::invoke_result_t<F&, int>;
    if constexpr (std::is_void_v<R>) {
      run_all([&](int i) { f(i); });
    } else {
      std::vector<R> out(devices_.size());
      run_all([&](int i) { out[size_t(i)] = f(i); });
      return out;
    }
  }
  // The values of all replicas as one, on the first device.
  Tensor reduce(ReduceOp op, const std::vector<Tensor>& values) const;
  // The value of each copy of a variable; of one that has no copies, the only one.
  static std::vector<Tensor> local_values(const Variable& v);

 private:
  void run_all(const std::function<void(int)>& f) const;
  std::vector<std::string> devices_;
};

struct MultiWorkerOptions {
  double timeout_seconds = 0;  // for the others to take part in an operation; 0: as long as it takes
};

// One of several processes that train together, each on its own part of the data (TensorFlow's MultiWorkerMirroredStrategy):
//
//   weft::distribute::MultiWorkerStrategy workers;  // by TF_CONFIG, as `weft launch -n 4 PROGRAM` sets it
//   std::vector<weft::Variable> weights = {weft::Variable(weft::zeros({2}))};
//   workers.broadcast(weights);  // all begin as the chief does
//   weft::GradientTape tape;
//   weft::Tensor loss = weft::reduce_sum((weights[0] - 1.f) * (weights[0] - 1.f));
//   auto gradients = workers.all_reduce(weft::distribute::ReduceOp::mean, tape.gradient(loss, weights));  // of all workers
//
// Every worker makes the same calls in the same order. What runs in a traced function runs there in every call of it. A worker that ends is an error for the others
// that names its task.
class WEFT_API MultiWorkerStrategy {
 public:
  // This process becomes the task that the cluster names (Cluster::job, Cluster::task), and serves there: before the first op. A cluster of one task, or of none, is this
  // process alone.
  explicit MultiWorkerStrategy(const Cluster& cluster, const MultiWorkerOptions& options = {});
  // By the environment (Cluster::from_environment); where that describes no cluster, this process alone.
  explicit MultiWorkerStrategy(const MultiWorkerOptions& options = {});

  // How many workers there are, and which of them this is: 0 is the chief, who saves.
  int num_replicas_in_sync() const { return size_; }
  int id() const { return id_; }
  bool is_chief() const { return id_ == 0; }

  // The values of all workers as one, the same bits for all of them.
  Tensor all_reduce(ReduceOp op, const Tensor& value) const;
  std::vector<Tensor> all_reduce(ReduceOp op, const std::vector<Tensor>& values) const;
  // Gradients; those that are none stay so, slices are gathered. Dense ones travel together.
  std::vector<Gradient> all_reduce(ReduceOp op, const std::vector<Gradient>& gradients) const;
  // The values of all workers one after the other along the first dimension, which may differ.
  Tensor all_gather(const Tensor& value) const;
  // The chief's value, of the same shape and type everywhere.
  Tensor broadcast(const Tensor& value) const;
  // All variables take the chief's values.
  void broadcast(const std::vector<Variable>& variables) const;
  // Waits until all workers are here.
  void barrier() const;

 private:
  Tensor reduce(bool mean, const Tensor& value) const;
  int size_ = 1, id_ = 0;
  float timeout_ = 0;
};

// Of the code that runs now; -1 outside of replicas.
WEFT_API int replica_id();

}  // namespace weft::distribute
