// MultiWorkerStrategy: collective ops of one group with a member in each task.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>

#include "api/unwrap.h"
#include "engine/clusters.h"
#include "weft/array.h"
#include "weft/distribute.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/function.h"

namespace weft::distribute {

namespace {

constexpr int kGroup = 1;
constexpr int64_t kPacked = 8 << 20;  // dense gradients travel in tensors of about so many elements

// Operations meet by number: every worker counts in the same order.
Tensor next_instance() {
  static std::atomic<int32_t> next{1};
  return Tensor(next.fetch_add(1));
}

// As far as its shape is known.
int64_t elements(const Tensor& t) {
  int64_t n = 1;
  for (int64_t d : t.partial_shape().dims) n *= std::max<int64_t>(d, 1);
  return n;
}

Tensor number(int n) { return Tensor(int32_t(n)); }

}  // namespace

static Cluster cluster_around() {
  const bool described = std::getenv("TF_CONFIG") || std::getenv("SLURM_STEP_NODELIST") || std::getenv("OMPI_COMM_WORLD_SIZE");
  return described ? Cluster::from_environment() : Cluster();
}

MultiWorkerStrategy::MultiWorkerStrategy(const MultiWorkerOptions& options) : MultiWorkerStrategy(cluster_around(), options) {}

MultiWorkerStrategy::MultiWorkerStrategy(const Cluster& cluster, const MultiWorkerOptions& options) : timeout_(float(options.timeout_seconds)) {
  if (!(options.timeout_seconds >= 0)) throw Error(Code::kInvalidArgument, "timeout_seconds must not be negative");
  // The tasks that train, in the order of their numbers: the chief before the workers.
  std::vector<std::pair<std::string, int>> members;
  for (const char* job : {"chief", "worker"}) {
    const auto tasks = cluster.jobs().find(job);
    if (tasks == cluster.jobs().end()) continue;
    for (const auto& [task, address] : tasks->second) members.emplace_back(job, task);
  }
  if (members.size() < 2) return;
  const auto own = std::find(members.begin(), members.end(), std::pair(cluster.job, cluster.task));
  if (own == members.end())
    throw Error(Code::kInvalidArgument,
                "the cluster does not say which of its chief and workers this process is: TF_CONFIG's \"task\", or Cluster::job and Cluster::task");
  size_ = int(members.size());
  id_ = int(own - members.begin());
  weft_engine::remote::ServerDef def;
  def.cluster = cluster.jobs();
  def.job = cluster.job;
  def.task = cluster.task;
  api::check(api::unwrap(engine::clusters())->enable_collective_ops(api::context(), def));
}

Tensor MultiWorkerStrategy::reduce(bool mean, const Tensor& value) const {
  if (size_ == 1) return value;
  return raw::CollectiveReduceV2(value, number(size_), number(kGroup), next_instance(), {}, "Add", mean ? "Div" : "Id",
                                 {.timeout_seconds = timeout_});
}

Tensor MultiWorkerStrategy::all_reduce(ReduceOp op, const Tensor& value) const { return reduce(op == ReduceOp::mean, value); }

// Small tensors of one type are laid end to end: one operation instead of many.
std::vector<Tensor> MultiWorkerStrategy::all_reduce(ReduceOp op, const std::vector<Tensor>& values) const {
  if (size_ == 1) return values;
  std::vector<Tensor> out(values.size());
  std::map<DType, std::vector<size_t>> packs;
  std::map<DType, int64_t> sizes;
  const auto send = [&](DType type) {
    const std::vector<size_t> pack = std::move(packs[type]);
    packs.erase(type);
    sizes.erase(type);
    if (pack.size() == 1) {
      out[pack[0]] = all_reduce(op, values[pack[0]]);
      return;
    }
    std::vector<Tensor> flat, lengths;
    for (size_t i : pack) {
      flat.push_back(raw::Reshape(values[i], Tensor{-1}));
      lengths.push_back(raw::Size(values[i]));
    }
    const std::vector<Tensor> parts =
        raw::SplitV(all_reduce(op, raw::ConcatV2(flat, number(0))), raw::Pack(lengths), number(0), int64_t(pack.size()));
    for (size_t k = 0; k < pack.size(); ++k) out[pack[k]] = raw::Reshape(parts[k], raw::Shape(values[pack[k]]));
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const DType type = values[i].dtype();
    packs[type].push_back(i);
    sizes[type] += elements(values[i]);
    if (sizes[type] >= kPacked) send(type);
  }
  while (!packs.empty()) send(packs.begin()->first);
  return out;
}

std::vector<Gradient> MultiWorkerStrategy::all_reduce(ReduceOp op, const std::vector<Gradient>& gradients) const {
  if (size_ == 1) return gradients;
  std::vector<Gradient> out(gradients.size());
  std::vector<Tensor> dense;
  std::vector<size_t> where;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    if (!gradients[i].is_slices()) {
      dense.push_back(gradients[i]);
      where.push_back(i);
      continue;
    }
    IndexedSlices s = gradients[i].slices();
    s.values = all_gather(s.values);
    if (op == ReduceOp::mean) s.values = s.values / cast(number(size_), s.values.dtype());
    s.indices = all_gather(s.indices);
    out[i] = s;
  }
  const std::vector<Tensor> reduced = all_reduce(op, dense);
  for (size_t k = 0; k < where.size(); ++k) out[where[k]] = reduced[k];
  return out;
}

// The op joins tensors of one shape: all are filled up to the longest, and cut after it.
Tensor MultiWorkerStrategy::all_gather(const Tensor& value) const {
  if (size_ == 1) return value;
  const auto gather = [&](const Tensor& t) {
    return raw::CollectiveGatherV2(t, number(size_), number(kGroup), next_instance(), {}, {.timeout_seconds = timeout_});
  };
  const Tensor rows = gather(raw::StridedSlice(raw::Shape(value), Tensor{0}, Tensor{1}, Tensor{1}));
  const Tensor most = reduce_max(rows);
  const Tensor rank = raw::Rank(value);
  const Tensor paddings = raw::Pad(raw::Reshape(most - raw::GatherV2(raw::Shape(value), number(0), number(0)), Tensor{1, 1}),
                                   raw::Pack({raw::Pack({number(0), rank - 1}), raw::Pack({number(1), number(0)})}));
  const Tensor all = gather(raw::Pad(value, paddings));
  std::vector<Tensor> parts;
  for (int i = 0; i < size_; ++i) {
    const Tensor begin = raw::Reshape(most * i, Tensor{1});
    parts.push_back(raw::StridedSlice(all, begin, begin + raw::StridedSlice(rows, Tensor{i}, Tensor{i + 1}, Tensor{1}), Tensor{1}));
  }
  return raw::ConcatV2(parts, number(0));
}

Tensor MultiWorkerStrategy::broadcast(const Tensor& value) const {
  if (size_ == 1) return value;
  const Tensor group = number(size_), key = number(kGroup), instance = next_instance();
  if (is_chief()) return raw::CollectiveBcastSendV2(value, group, key, instance, {.timeout_seconds = timeout_});
  return raw::CollectiveBcastRecvV2(group, key, instance, raw::Shape(value), value.dtype(), {.timeout_seconds = timeout_});
}

void MultiWorkerStrategy::broadcast(const std::vector<Variable>& variables) const {
  if (size_ == 1) return;
  for (Variable v : variables) v.assign(broadcast(v.value()));
}

void MultiWorkerStrategy::barrier() const { reduce(false, number(0)); }

}  // namespace weft::distribute
