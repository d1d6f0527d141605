#include "cuda/attention.h"

#include <cmath>
#include <limits>
#include <map>

#include "core/cat.h"
#include "core/log.h"

namespace weft_engine::cuda {

using core::cat;
using core::Result;
using core::Status;

namespace {

constexpr size_t kMostMeasured = 4;
constexpr size_t kOldest = 91000;  // versions: -infinity for scores that do not count, sums that are cleared by cuDNN
constexpr int64_t kBlock = 128;    // of keys: others need a mask of their own in versions that are about
constexpr int64_t kMostHeadSize = 128;

using Storage = DnnGraph::Storage;
using T = DnnGraph::Tensor;

struct Shapes {
  int64_t b, h, q, k, d;
  std::vector<int64_t> scores() const { return {b, h, q, k}; }
  std::vector<int64_t> score_strides() const { return {h * q * k, q * k, k, 1}; }
  std::vector<int64_t> row() const { return {b, h, q, 1}; }
  std::vector<int64_t> row_strides() const { return {h * q, q, 1, 1}; }
};

// Writes the graph; the instruction's operands are [b, h, s, d] in strides of their own.
class Writer {
 public:
  Writer(const Cudnn& dnn, const ir::Attention& a, DnnType type) : g_(dnn), a_(a), type_(type), s_{a.batch, a.heads, a.queries, a.keys, a.size} {}

  Result<AttentionGraph> run(const DnnTarget& target) {
    scale_ = by_value(float(a_.scale));
    a_.gradient ? backward() : forward();
    WEFT_ASSIGN(out_.graph, g_.graph(target));
    return std::move(out_);
  }

 private:
  int64_t by_value(float v) {
    const int64_t n = g_.tensor({DnnType::kFloat, {1, 1, 1, 1}, {1, 1, 1, 1}, Storage::kByValue});
    out_.values.push_back(v);
    out_.value_numbers.push_back(n);
    return n;
  }
  // An operand or a result: [b, h, rows, d], or with the last two transposed.
  int64_t given(int64_t rows, const ir::Attention::View& view, bool transposed = false) {
    std::vector<int64_t> sizes{s_.b, s_.h, rows, s_.d}, own(view.strides.begin(), view.strides.end());
    if (transposed) {
      std::swap(sizes[2], sizes[3]);
      std::swap(own[2], own[3]);
    }
    out_.numbers.push_back(g_.tensor({type_, sizes, own, Storage::kMemory}));
    return out_.numbers.back();
  }
  int64_t stats() {
    out_.numbers.push_back(g_.tensor({DnnType::kFloat, s_.row(), s_.row_strides(), Storage::kMemory}));
    return out_.numbers.back();
  }
  int64_t scores(DnnType type = DnnType::kFloat) { return g_.tensor({type, s_.scores(), s_.score_strides(), Storage::kVirtual}); }
  int64_t rows() { return g_.tensor({DnnType::kFloat, s_.row(), s_.row_strides(), Storage::kVirtual}); }
  int64_t with(DnnPointwise mode, int64_t x, int64_t y) {
    const int64_t to = scores();
    g_.pointwise(mode, {x, y}, to);
    return to;
  }
  // Scores of keys behind the query do not count.
  int64_t masked(int64_t x) {
    if (!a_.causal) return x;
    const int64_t row = scores(DnnType::kInt32), column = scores(DnnType::kInt32), good = scores(DnnType::kBool), to = scores();
    g_.pointwise(DnnPointwise::kIndex, {x}, row, DnnType::kFloat, 2);
    g_.pointwise(DnnPointwise::kIndex, {x}, column, DnnType::kFloat, 3);
    g_.pointwise(DnnPointwise::kGreaterEqual, {row, column}, good, DnnType::kBool);
    g_.pointwise(DnnPointwise::kSelect, {x, by_value(-std::numeric_limits<float>::infinity()), good}, to);
    return to;
  }

  void forward() {
    const int64_t q = given(s_.q, a_.views[0]), k = given(s_.k, a_.views[1], true), v = given(s_.k, a_.views[2]);
    const int64_t o = given(s_.q, a_.views[3]), logs = stats();
    int64_t x = scores();
    g_.product(q, k, x);
    x = masked(with(DnnPointwise::kMul, x, scale_));
    const int64_t most = rows(), sum = rows(), log = rows(), e = scores(), p = scores(type_);
    g_.reduce(DnnReduction::kMax, x, most);
    g_.pointwise(DnnPointwise::kExp, {with(DnnPointwise::kSub, x, most)}, e);
    g_.reduce(DnnReduction::kSum, e, sum);
    g_.pointwise(DnnPointwise::kLog, {sum}, log);
    g_.pointwise(DnnPointwise::kAdd, {most, log}, logs);
    g_.pointwise(DnnPointwise::kDiv, {e, sum}, p);
    g_.product(p, v, o);
  }

  // From dO: dP = dO v', dS = P (dP - sum(dO o)) scale, and dQ = dS k, dK = dS' q, dV = P' dO.
  void backward() {
    const int64_t q = given(s_.q, a_.views[0]), k = given(s_.k, a_.views[1], true), v = given(s_.k, a_.views[2], true);
    const int64_t o = given(s_.q, a_.views[3]), d_o = given(s_.q, a_.views[4]), logs = stats();
    const int64_t dq = given(s_.q, a_.views[5]), dk = given(s_.k, a_.views[6]), dv = given(s_.k, a_.views[7]);
    const int64_t one = by_value(1);
    const int64_t both = g_.tensor({DnnType::kFloat, {s_.b, s_.h, s_.q, s_.d}, {s_.h * s_.q * s_.d, s_.q * s_.d, s_.h * s_.d, 1}, Storage::kVirtual});
    const int64_t all = rows(), sums = memory(s_.row(), s_.row_strides());
    g_.pointwise(DnnPointwise::kMul, {d_o, o}, both);
    g_.reduce(DnnReduction::kSum, both, all);
    g_.pointwise(DnnPointwise::kMul, {all, one}, sums);
    int64_t x = scores();
    g_.product(q, k, x);
    x = masked(with(DnnPointwise::kSub, with(DnnPointwise::kMul, x, scale_), logs));
    const int64_t e = scores();
    g_.pointwise(DnnPointwise::kExp, {x}, e);
    g_.product(transposed(e), d_o, dv);
    int64_t ds = scores();
    g_.product(d_o, v, ds);
    ds = with(DnnPointwise::kMul, with(DnnPointwise::kMul, with(DnnPointwise::kSub, ds, sums), e), scale_);
    g_.product(transposed(ds), q, dk);
    const T& turned_k = g_.of(k);
    const std::vector<int64_t> sizes = turned_k.sizes, strides = turned_k.strides;
    const int64_t plain_k =
        g_.tensor({type_, {sizes[0], sizes[1], sizes[3], sizes[2]}, {strides[0], strides[1], strides[3], strides[2]}, Storage::kVirtual});
    g_.reshape(k, plain_k);
    const int64_t sum = memory({s_.b, s_.h, s_.q, s_.d}, {s_.h * s_.q * s_.d, s_.q * s_.d, s_.d, 1});
    g_.product(ds, plain_k, sum);
    g_.pointwise(DnnPointwise::kIdentity, {sum}, dq);
  }
  int64_t transposed(int64_t x) {
    const std::vector<int64_t> strides = s_.score_strides();
    const int64_t to = g_.tensor({type_, {s_.b, s_.h, s_.k, s_.q}, {strides[0], strides[1], strides[3], strides[2]}, Storage::kVirtual});
    g_.reshape(x, to);
    return to;
  }
  // Of floats, beside the operands.
  int64_t memory(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    int64_t bytes = sizeof(float);
    for (int64_t n : sizes) bytes *= n;
    const int64_t number = g_.tensor({DnnType::kFloat, std::move(sizes), std::move(strides), Storage::kMemory});
    out_.memory_numbers.push_back(number);
    out_.memory_bytes.push_back((bytes + 255) / 256 * 256);
    return number;
  }

  DnnGraph g_;
  const ir::Attention& a_;
  const DnnType type_;
  const Shapes s_;
  int64_t scale_ = 0;
  AttentionGraph out_;
};

struct Ready {
  AttentionGraph graph;
  std::unique_ptr<DnnPlan> plan;  // null: there is none
  std::vector<DnnPlan> proposed;  // until one was chosen
};
// Under the lock of the GPU's Dnn.
std::map<ir::Attention, Ready>& ready_of(const Dnn* d) {
  static std::mutex mutex;
  static auto* all = new std::map<const Dnn*, std::map<ir::Attention, Ready>>();
  const std::lock_guard lock(mutex);
  return (*all)[d];
}

Result<Ready*> prepare(const Cudnn& dnn, Dnn& d, const ir::Attention& a) {
  auto& all = ready_of(&d);
  if (const auto it = all.find(a); it != all.end()) return &it->second;
  const DnnTarget target{d.handle, nullptr};
  Ready r;
  WEFT_ASSIGN(r.graph, graph_of(dnn, target, a));
  WEFT_RETURN_IF_ERROR(propose(dnn, target, r.graph.graph, DnnHeuristic::kA, {}, kMostMeasured, r.proposed));
  if (r.proposed.empty()) WEFT_RETURN_IF_ERROR(propose(dnn, target, r.graph.graph, DnnHeuristic::kFallback, {}, kMostMeasured, r.proposed));
  return &all.emplace(a, std::move(r)).first->second;
}

}  // namespace

Result<AttentionGraph> graph_of(const Cudnn& dnn, const DnnTarget& target, const ir::Attention& a) {
  const auto type = dnn_type_of(a.dtype);
  if (!type) return core::unimplemented("attention of ", core::dtype_name(a.dtype));
  return Writer(dnn, a, *type).run(target);
}

bool attends(Gpu& gpu, const ir::Attention& a) {
  if (a.dtype != core::DType::kHalf && a.dtype != core::DType::kBfloat16) return false;
  if (a.size > kMostHeadSize || a.size % 8 || a.keys % kBlock || a.queries % kBlock || gpu.major() < 8) return false;
  auto dnn = cudnn();
  if (!dnn.ok() || !(*dnn)->version || (*dnn)->version() < kOldest) return false;
  auto started = dnn_of(**dnn, gpu);
  if (!started.ok()) return false;
  const std::lock_guard lock((*started)->mutex);
  auto made = prepare(**dnn, **started, a);
  if (made.ok() && ((*made)->plan || !(*made)->proposed.empty())) return true;
  core::log(core::LogLevel::kInfo, cat("attention without cuDNN: ", made.ok() ? "it has nothing for such sizes" : made.status().message()));
  return false;
}

Status attend(Gpu& gpu, const Queue& queue, const ir::Attention& a, std::span<const DevicePtr> at) {
  WEFT_ASSIGN(const Cudnn* dnn, cudnn());
  WEFT_ASSIGN(Dnn* const d, dnn_of(*dnn, gpu));
  const std::lock_guard lock(d->mutex);  // one workspace, one stream
  WEFT_CUDNN_RETURN(*dnn, set_stream(d->handle, queue.stream), "choosing a stream");
  WEFT_ASSIGN(Ready* const r, prepare(*dnn, *d, a));
  if (at.size() != r->graph.numbers.size()) return core::internal_error("attention with ", at.size(), " operands and results");
  std::vector<int64_t> numbers = r->graph.numbers;
  std::vector<DevicePtr> pointers(at.begin(), at.end());
  // Numbers by value are read when the plan is queued.
  for (size_t i = 0; i < r->graph.values.size(); ++i) {
    numbers.push_back(r->graph.value_numbers[i]);
    pointers.push_back(reinterpret_cast<DevicePtr>(&r->graph.values[i]));
  }
  const size_t first = pointers.size();
  int64_t beside = 0;
  for (size_t i = 0; i < r->graph.memory_numbers.size(); ++i) {
    numbers.push_back(r->graph.memory_numbers[i]);
    pointers.push_back(0);
    beside += r->graph.memory_bytes[i];
  }
  const auto run = [&](const DnnPlan& p) -> Result<int> {
    WEFT_RETURN_IF_ERROR(reserve(gpu, *d, beside + p.workspace));
    DevicePtr next = d->workspace;
    for (size_t i = 0; i < r->graph.memory_bytes.size(); ++i) {
      pointers[first + i] = next;
      next += DevicePtr(r->graph.memory_bytes[i]);
    }
    return execute(*dnn, d->handle, p, numbers, pointers, next);
  };
  if (!r->plan && !r->proposed.empty()) {
    WEFT_ASSIGN(r->plan, fastest(*dnn, gpu, queue, std::move(r->proposed), run));
    r->proposed.clear();
  }
  if (!r->plan) return core::internal_error("cuDNN has nothing for an attention that it had kernels for");
  WEFT_ASSIGN(const int error, run(*r->plan));
  return dnn->status(error, "attention");
}

}  // namespace weft_engine::cuda
