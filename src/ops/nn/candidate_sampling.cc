// Candidate samplers: classes to train on beside the true ones, with the counts to be expected of them.
#include <cfloat>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/random/random_common.h"
#include "wire/byte_stream.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::PhiloxStream;

namespace {

// A distribution over [0, range).
class RangeSampler {
 public:
  explicit RangeSampler(int64_t range) : range_(range) {}
  virtual ~RangeSampler() = default;
  int64_t range() const { return range_; }
  virtual int64_t sample(PhiloxStream& random) const = 0;
  virtual float probability(int64_t value) const = 0;
  // Told of the true classes of each run.
  virtual void learn(std::span<const int64_t>) {}
  virtual bool takes_all() const { return false; }

 private:
  int64_t range_;
};

class AllSampler final : public RangeSampler {
 public:
  using RangeSampler::RangeSampler;
  int64_t sample(PhiloxStream&) const override { return 0; }
  float probability(int64_t) const override { return 1; }
  bool takes_all() const override { return true; }
};

class UniformSampler final : public RangeSampler {
 public:
  using RangeSampler::RangeSampler;
  int64_t sample(PhiloxStream& random) const override { return int64_t(random.below64(uint64_t(range()))); }
  float probability(int64_t) const override { return float(1.0 / double(range())); }
};

// P(k) ~ log((k + 2) / (k + 1)): classes sorted by falling frequency, as Zipf has it.
class LogUniformSampler final : public RangeSampler {
 public:
  explicit LogUniformSampler(int64_t range) : RangeSampler(range), log_range_(std::log1p(double(range))) {}
  int64_t sample(PhiloxStream& random) const override {
    const double x = std::exp(random.uniform_wide() * log_range_);
    return x < 9.2e18 ? (int64_t(x) - 1) % range() : range() - 1;
  }
  float probability(int64_t k) const override { return float(std::log((double(k) + 2.0) / (double(k) + 1.0)) / log_range_); }

 private:
  double log_range_;
};

// Frequencies counted from the true classes seen so far, each class once to begin with. A Fenwick tree
// holds the counts.
class UnigramSampler final : public RangeSampler {
 public:
  static Result<std::unique_ptr<RangeSampler>> make(int64_t range) {
    if (range >= std::numeric_limits<int32_t>::max())
      return invalid_argument("range_max must be less than ", std::numeric_limits<int32_t>::max(), " for unigram samplers, got ", range);
    auto s = std::make_unique<UnigramSampler>(range);
    WEFT_ASSIGN(s->tree_, Tensor::allocate(DType::kInt32, Shape({range + 1})));
    WEFT_ASSIGN(s->weights_, Tensor::allocate(DType::kInt32, Shape({range})));
    for (int64_t i = 1; i <= range; ++i) s->tree_.data<int32_t>()[i] = int32_t(i & -i);
    std::fill_n(s->weights_.data<int32_t>(), range, 1);
    s->total_ = int32_t(range);
    return std::unique_ptr<RangeSampler>(std::move(s));
  }
  explicit UnigramSampler(int64_t range) : RangeSampler(range) {}
  int64_t sample(PhiloxStream& random) const override {
    int32_t left = int32_t(random.below(uint32_t(total_)));
    int64_t at = 0;
    for (int64_t step = int64_t(1) << 31; step > 0; step >>= 1) {
      if (at + step <= range() && tree_.data<int32_t>()[at + step] <= left) {
        at += step;
        left -= tree_.data<int32_t>()[at];
      }
    }
    return std::min(at, range() - 1);
  }
  float probability(int64_t value) const override { return float(weights_.data<int32_t>()[value]) / float(total_); }
  void learn(std::span<const int64_t> values) override {
    for (int64_t value : values) {
      if (total_ == std::numeric_limits<int32_t>::max()) return;
      ++total_;
      ++weights_.data<int32_t>()[value];
      for (int64_t i = value + 1; i <= range(); i += i & -i) ++tree_.data<int32_t>()[i];
    }
  }

 private:
  Tensor tree_, weights_;
  int32_t total_ = 0;
};

// Given frequencies, drawn with Walker's alias method.
class FixedUnigramSampler final : public RangeSampler {
 public:
  FixedUnigramSampler(int64_t range, std::vector<float> weights, float total) : RangeSampler(range), weights_(std::move(weights)), total_(total) {
    const int n = int(weights_.size());
    std::vector<double> p(static_cast<size_t>(n));
    buckets_.assign(size_t(n), {1.0f, -1});
    double sum = 0;
    for (float w : weights_) sum += w;
    std::vector<int> high, low;
    for (int i = 0; i < n; ++i) {
      p[size_t(i)] = double(weights_[size_t(i)] * float(n)) / sum;
      (p[size_t(i)] < 1.0 ? low : high).push_back(i);
    }
    while (!high.empty() && !low.empty()) {
      const int l = low.back(), h = high.back();
      low.pop_back();
      high.pop_back();
      buckets_[size_t(l)].other = h;
      p[size_t(h)] -= 1.0 - p[size_t(l)];
      (p[size_t(h)] < 1.0 ? low : high).push_back(h);
    }
    for (int i = 0; i < n; ++i) buckets_[size_t(i)].own = float(p[size_t(i)]);
    for (const auto* rest : {&high, &low}) {
      for (int i : *rest) buckets_[size_t(i)] = {1.0f, i};
    }
  }
  int64_t sample(PhiloxStream& random) const override {
    const float r = random.uniform();
    const int64_t i = random.below(uint32_t(buckets_.size()));
    const Bucket& b = buckets_[size_t(i)];
    return r < b.own || b.other < 0 ? i : b.other;
  }
  float probability(int64_t value) const override { return value < 0 || size_t(value) >= weights_.size() ? 0.0f : weights_[size_t(value)] / total_; }

 private:
  struct Bucket {
    float own;
    int other;
  };
  std::vector<float> weights_;
  float total_;
  std::vector<Bucket> buckets_;
};

// Weights of a vocabulary file: the last field of each line.
Result<std::vector<float>> read_vocabulary(const std::string& path) {
  WEFT_ASSIGN(std::unique_ptr<wire::ByteStream> file, wire::ByteStream::open(path, ""));
  std::vector<float> out;
  for (std::string line;;) {
    WEFT_ASSIGN(bool found, file->read_line(line));
    if (!found) break;
    const std::string last = line.substr(line.rfind(',') + 1);
    char* end = nullptr;
    const float w = std::strtof(last.c_str(), &end);
    if (last.empty() || *end) return invalid_argument("Wrong vocabulary format at line: ", line);
    out.push_back(w);
  }
  return out;
}

Result<std::unique_ptr<RangeSampler>> make_fixed_unigram(const NodeInfo& node) {
  const int64_t range = node.attr<int64_t>("range_max"), reserved = node.attr<int64_t>("num_reserved_ids");
  const int64_t shards = node.attr<int64_t>("num_shards"), shard = node.attr<int64_t>("shard");
  const auto& path = node.attr<std::string>("vocab_file");
  std::vector<float> unigrams = node.attr<std::vector<float>>("unigrams");
  if (path.empty() && unigrams.empty()) return invalid_argument("Must provide either vocab_file or unigrams.");
  if (!path.empty() && !unigrams.empty()) return invalid_argument("Must only provide one of vocab_file and unigrams.");
  if (!path.empty()) {
    WEFT_ASSIGN(unigrams, read_vocabulary(path));
  }
  if (reserved > range && shards == 1)
    return invalid_argument("range is ", range, " must be equal to weights size  ", reserved + int64_t(unigrams.size()));
  if (reserved > (int64_t(1) << 31)) return invalid_argument("num_reserved_ids is too large: ", reserved);
  std::vector<float> weights;
  for (int64_t id = 0; id < reserved; ++id) {
    if (id % shards == shard) weights.push_back(0);
  }
  float total = 0;
  int64_t id = int64_t(weights.size());
  for (float w : unigrams) {
    if (id++ % shards != shard) continue;
    weights.push_back(std::pow(w, node.attr<float>("distortion")));
    total += weights.back();
  }
  if (int64_t(weights.size()) != range) return invalid_argument("range is ", range, " must be equal to weights size  ", weights.size());
  return std::unique_ptr<RangeSampler>(new FixedUnigramSampler(range, std::move(weights), total));
}

enum class SamplerKind { kAll, kUniform, kLogUniform, kUnigram, kFixedUnigram };

Result<std::unique_ptr<RangeSampler>> make_sampler(SamplerKind kind, const NodeInfo& node) {
  switch (kind) {
    case SamplerKind::kAll: return std::unique_ptr<RangeSampler>(new AllSampler(node.attr<int64_t>("num_sampled")));
    case SamplerKind::kUniform: return std::unique_ptr<RangeSampler>(new UniformSampler(node.attr<int64_t>("range_max")));
    case SamplerKind::kLogUniform: return std::unique_ptr<RangeSampler>(new LogUniformSampler(node.attr<int64_t>("range_max")));
    case SamplerKind::kUnigram: return UnigramSampler::make(node.attr<int64_t>("range_max"));
    default: return make_fixed_unigram(node);
  }
}

// How often a class of probability p is to be expected among n draws that took `tries` tries to be distinct.
float expected_count(float p, int64_t n, int64_t tries) {
  if (tries == n) return p * float(n);
  return -std::expm1(float(tries) * std::log1p(-p));
}

template <SamplerKind kKind>
struct CandidateSampler {
  static Result<CandidateSampler> make(const NodeInfo& node) {
    CandidateSampler k;
    k.num_true = node.attr<int64_t>("num_true");
    k.num_sampled = node.attr<int64_t>("num_sampled");
    k.unique = node.attr<bool>("unique");
    k.generator = SeededGenerator::of(node);
    WEFT_ASSIGN(std::unique_ptr<RangeSampler> sampler, make_sampler(kKind, node));
    k.sampler = std::move(sampler);
    k.mutex = std::make_shared<std::mutex>();
    return k;
  }

  Status run(KernelContext& c) const {
    const Tensor& truth = c.input(0);
    if (truth.rank() != 2) return invalid_argument("true_classes must be a matrix");
    if (truth.dim(1) != num_true) return invalid_argument("true_classes must have num_true columns, expected: ", truth.dim(1), " was: ", num_true);
    if (unique && num_sampled > sampler->range()) return invalid_argument("Sampler's range is too small.");
    WEFT_ASSIGN(Tensor* candidates, c.allocate(0, Shape({num_sampled})));
    WEFT_ASSIGN(Tensor* true_count, c.allocate(1, truth.shape()));
    WEFT_ASSIGN(Tensor* sampled_count, c.allocate(2, Shape({num_sampled})));
    for (int64_t v : truth.span<int64_t>()) {
      if (v < 0 || v >= sampler->range()) return invalid_argument("`true_candidate` out of range [0, ", sampler->range(), "), received ", v);
    }
    PhiloxStream random(generator.reserve_blocks(uint64_t(num_sampled) * 2048 / 4));
    std::lock_guard lock(*mutex);  // a sampler that learns must not change under another run's hands
    WEFT_ASSIGN(int64_t tries, draw(random, candidates->span<int64_t>()));
    auto count = [&](int64_t v) { return sampler->takes_all() ? 1.0f : expected_count(sampler->probability(v), num_sampled, tries); };
    std::transform(candidates->span<int64_t>().begin(), candidates->span<int64_t>().end(), sampled_count->data<float>(), count);
    std::transform(truth.span<int64_t>().begin(), truth.span<int64_t>().end(), true_count->data<float>(), count);
    sampler->learn(truth.span<int64_t>());
    return {};
  }

  // Fills `out` and gives the number of tries.
  Result<int64_t> draw(PhiloxStream& random, std::span<int64_t> out) const {
    if (sampler->takes_all()) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = int64_t(i);
      return int64_t(out.size());
    }
    if (!unique) {
      for (int64_t& v : out) v = sampler->sample(random);
      return int64_t(out.size());
    }
    std::unordered_set<int64_t> used;
    const int64_t enough = 1000000 + 1000 * int64_t(out.size());  // classes of weight 0 may leave too few to choose from
    int64_t tries = 0;
    for (size_t filled = 0; filled < out.size(); ++tries) {
      if (tries >= enough) return invalid_argument("Sampler's range is too small.");
      const int64_t v = sampler->sample(random);
      if (used.insert(v).second) out[filled++] = v;
    }
    return tries;
  }

  int64_t num_true = 0, num_sampled = 0;
  bool unique = false;
  SeededGenerator generator;
  std::shared_ptr<RangeSampler> sampler;
  std::shared_ptr<std::mutex> mutex;
};

Status run_accidental_hits(KernelContext& c) {
  const Tensor &truth = c.input(0), &sampled = c.input(1);
  if (truth.rank() != 2 || truth.dim(1) != c.attr<int64_t>("num_true"))
    return invalid_argument("true_candidates must be a batch_size * num_true matrix");
  if (sampled.rank() != 1) return invalid_argument("sampled_candidates must be a vector, which is typically an output from CandidateSampler");
  std::unordered_map<int64_t, int64_t> place;
  for (int64_t i = 0; i < sampled.dim(0); ++i) place[sampled.data<int64_t>()[i]] = i;
  std::vector<int32_t> rows;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < truth.num_elements(); ++i) {
    const auto found = place.find(truth.data<int64_t>()[i]);
    if (found == place.end()) continue;
    rows.push_back(int32_t(i / truth.dim(1)));
    ids.push_back(found->second);
  }
  c.set_output(0, Tensor::vector(rows));
  c.set_output(1, Tensor::vector(ids));
  c.set_output(2, Tensor::vector(std::vector<float>(ids.size(), -FLT_MAX)));
  return {};
}

Status sampler_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape truth, c.with_rank(0, 2));
  const int64_t sampled = c.attr<int64_t>("num_sampled");
  c.output(0, PartialShape::vector(sampled));
  c.output(1, PartialShape::matrix(truth.dim(0), c.attr<int64_t>("num_true")));
  c.output(2, PartialShape::vector(sampled));
  return {};
}

Status accidental_hits_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape truth, c.with_rank(0, 2));
  WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(truth.dim(1), c.attr<int64_t>("num_true")).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  for (int i = 0; i < 3; ++i) c.output(i, PartialShape::vector(kUnknownDim));
  return {};
}

}  // namespace

void candidate_sampling(Registry& r) {
  r.add("AllCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .doc("Takes every class as a candidate.")
      .shape(sampler_shape)
      .cpu<CandidateSampler<SamplerKind::kAll>>();

  r.add("ComputeAccidentalHits")
      .in("true_classes: int64")
      .in("sampled_candidates: int64")
      .out("indices: int32")
      .out("ids: int64")
      .out("weights: float")
      .attr("num_true: int")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .doc("Finds sampled candidates that are true classes.")
      .shape(accidental_hits_shape)
      .cpu(run_accidental_hits);

  r.add("FixedUnigramCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("vocab_file: string = ''")
      .attr("distortion: float = 1")
      .attr("num_reserved_ids: int = 0")
      .attr("num_shards: int >= 1 = 1")
      .attr("shard: int >= 0 = 0")
      .attr("unigrams: list(float) = []")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .doc("Samples candidates by given frequencies.")
      .shape(sampler_shape)
      .cpu<CandidateSampler<SamplerKind::kFixedUnigram>>();

  r.add("LearnedUnigramCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .doc("Samples candidates by the frequencies of the true classes so far.")
      .shape(sampler_shape)
      .cpu<CandidateSampler<SamplerKind::kUnigram>>();

  r.add("LogUniformCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .doc("Samples candidates with probabilities that fall with their number.")
      .shape(sampler_shape)
      .cpu<CandidateSampler<SamplerKind::kLogUniform>>();

  r.add("ThreadUnsafeUnigramCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .doc("Samples candidates by the frequencies of the true classes so far.")
      .shape(sampler_shape)
      .cpu<CandidateSampler<SamplerKind::kUnigram>>();

  r.add("UniformCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .doc("Samples candidates with equal probability.")
      .shape(sampler_shape)
      .cpu<CandidateSampler<SamplerKind::kUniform>>();
}

}  // namespace weft_engine::ops
