// Stochastic dual coordinate ascent for linear models: SdcaOptimizer and its companions. Losses are in sdca_loss.h.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "kernels/cpu/hash.h"
#include "op/registry.h"
#include "op/variable.h"
#include "ops/all.h"
#include "ops/random/random_common.h"
#include "ops/training/sdca_loss.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Regularization {
  double l2, shrinkage;  // l1 / l2
  static Regularization of(const NodeInfo& node) {
    const float l1 = node.attr<float>("l1"), l2 = node.attr<float>("l2");
    return {l2, double(l1 / l2)};
  }
  double shrink(double w) const {
    const double rest = std::max(std::abs(w) - shrinkage, 0.0);
    return rest > 0 ? std::copysign(rest, w) : 0.0;
  }
  // The same in single precision, for dense weights.
  float shrink_float(float w) const {
    const float sign = w > 0 ? 1.0f : w < 0 ? -1.0f : w;
    return sign * std::max(std::abs(w) - float(shrinkage), 0.0f);
  }
};

// One column of sparse features with its weights.
struct SparseColumn {
  std::span<const int64_t> features;
  const float* values = nullptr;          // null: all are 1
  std::vector<int64_t> begin;             // of each example, and the end
  std::unordered_map<int64_t, int64_t> ids;  // where the weight of a feature is
  std::span<const float> weights;
  float* deltas = nullptr;
  double value(int64_t k) const { return values ? double(values[k]) : 1.0; }
};

struct DenseColumn {
  const float* features = nullptr;
  int64_t width = 0;
  std::span<const float> weights;
  float* deltas = nullptr;
};

struct Problem {
  int64_t num_examples = 0, partitions = 1;
  std::span<const float> example_weights, labels;
  std::vector<SparseColumn> sparse;
  std::vector<DenseColumn> dense;
  std::vector<double> squared_norms;
  Regularization regularization;

  Status read(KernelContext& c);
  Status read_sparse(KernelContext& c);
  Status read_dense(KernelContext& c);
  Status read_norms();
  struct Predictions {
    double previous = 0, now = 0;
  };
  Predictions predict(int64_t example) const;
  void update(int64_t example, double delta);
};

Status Problem::read_sparse(KernelContext& c) {
  const auto examples = c.input_list("sparse_example_indices"), features = c.input_list("sparse_feature_indices"),
             values = c.input_list("sparse_feature_values");
  const auto indices = c.input_list("sparse_indices"), weights = c.input_list("sparse_weights");
  const int out = c.output_range("out_delta_sparse_weights").begin;
  if (values.size() > examples.size())
    return invalid_argument("more tensors of sparse feature values than of features: ", values.size(), " vs. ", examples.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    SparseColumn column;
    const auto rows = examples[i]->span<int64_t>();
    column.features = features[i]->span<int64_t>();
    if (rows.size() != column.features.size())
      return invalid_argument("Found mismatched example_indices and feature_indices [", join(std::vector<int64_t>(rows.begin(), rows.end()), " "),
                              "] vs [", join(std::vector<int64_t>(column.features.begin(), column.features.end()), " "), "]");
    if (i < values.size()) {
      if (values[i]->num_elements() < int64_t(rows.size()))
        return invalid_argument("column ", i, " has ", rows.size(), " sparse features but ", values[i]->num_elements(), " values");
      column.values = values[i]->data<float>();
    }
    if (indices[i]->num_elements() > weights[i]->num_elements())
      return invalid_argument("column ", i, " has ", indices[i]->num_elements(), " sparse indices but ", weights[i]->num_elements(), " weights");
    for (int64_t j = 0; j < indices[i]->num_elements(); ++j) column.ids[indices[i]->data<int64_t>()[j]] = j;
    column.weights = weights[i]->span<float>();
    WEFT_ASSIGN(Tensor* deltas, c.allocate(out + int(i), weights[i]->shape()));
    column.deltas = deltas->data<float>();
    std::fill_n(column.deltas, deltas->num_elements(), 0.0f);
    // Rows are in order; what is out of order belongs to no example.
    size_t at = 0;
    for (int64_t e = 0; e < num_examples; ++e) {
      column.begin.push_back(int64_t(at));
      while (at < rows.size() && rows[at] == e) {
        if (!column.ids.contains(column.features[at]))
          return invalid_argument("Found sparse feature indices out of valid range: ", column.features[at]);
        ++at;
      }
    }
    column.begin.push_back(int64_t(at));
    sparse.push_back(std::move(column));
  }
  return {};
}

Status Problem::read_dense(KernelContext& c) {
  const auto features = c.input_list("dense_features"), weights = c.input_list("dense_weights");
  const int out = c.output_range("out_delta_dense_weights").begin;
  for (size_t i = 0; i < features.size(); ++i) {
    DenseColumn column;
    column.features = features[i]->data<float>();
    column.width = features[i]->dim(1);
    if (features[i]->dim(0) < num_examples)
      return invalid_argument("Dense features at index ", i, " have ", features[i]->dim(0), " rows for ", num_examples, " examples");
    column.weights = weights[i]->span<float>();
    if (column.width < 1 || column.width > weights[i]->num_elements())
      return invalid_argument("More dense features than we have parameters for: ", column.width);
    WEFT_ASSIGN(Tensor* deltas, c.allocate(out + int(i), weights[i]->shape()));
    column.deltas = deltas->data<float>();
    std::fill_n(column.deltas, deltas->num_elements(), 0.0f);
    dense.push_back(column);
  }
  return {};
}

Status Problem::read_norms() {
  for (int64_t e = 0; e < num_examples; ++e) {
    double norm = 0;
    for (const SparseColumn& s : sparse) {
      std::unordered_set<int64_t> seen;
      for (int64_t k = s.begin[size_t(e)]; k < s.begin[size_t(e) + 1]; ++k) {
        if (!seen.insert(s.features[size_t(k)]).second) return invalid_argument("Duplicate index in sparse vector.");
        norm += s.value(k) * s.value(k);
      }
    }
    for (const DenseColumn& d : dense) {
      const float* x = d.features + e * d.width;
      norm += double(std::inner_product(x, x + d.width, x, 0.0f));
    }
    squared_norms.push_back(norm);
  }
  return {};
}

Status Problem::read(KernelContext& c) {
  regularization = Regularization::of(c.node());
  partitions = c.attr<int64_t>("num_loss_partitions");
  if (c.attr<int64_t>("num_sparse_features") + c.attr<int64_t>("num_dense_features") <= 0)
    return invalid_argument("Requires at least one feature to train.");
  example_weights = c.input("example_weights").span<float>();
  labels = c.input("example_labels").span<float>();
  num_examples = int64_t(example_weights.size());
  if (int64_t(labels.size()) != num_examples) return invalid_argument("Expected ", num_examples, " example labels but got ", labels.size());
  const auto features = c.input_list("dense_features");
  for (size_t i = 0; i < features.size(); ++i) {
    if (features[i]->rank() != 2) return invalid_argument("Dense features at index ", i, " must be rank 2 but is rank ", features[i]->rank());
  }
  WEFT_RETURN_IF_ERROR(read_sparse(c));
  WEFT_RETURN_IF_ERROR(read_dense(c));
  return read_norms();
}

// With the weights as they came, and with what was added to them since.
Problem::Predictions Problem::predict(int64_t e) const {
  Predictions p;
  for (const SparseColumn& s : sparse) {
    for (int64_t k = s.begin[size_t(e)]; k < s.begin[size_t(e) + 1]; ++k) {
      const int64_t id = s.ids.at(s.features[size_t(k)]);
      const float w = s.weights[size_t(id)];
      p.previous += s.value(k) * regularization.shrink(w);
      p.now += s.value(k) * regularization.shrink(double(w + s.deltas[id] * float(partitions)));
    }
  }
  for (const DenseColumn& d : dense) {
    const float* x = d.features + e * d.width;
    float previous = 0, now = 0;
    for (int64_t j = 0; j < d.width; ++j) {
      previous += x[j] * regularization.shrink_float(d.weights[size_t(j)]);
      now += x[j] * regularization.shrink_float(d.weights[size_t(j)] + d.deltas[j] * float(partitions));
    }
    p.previous += double(previous);
    p.now += double(now);
  }
  return p;
}

void Problem::update(int64_t e, double delta) {
  for (SparseColumn& s : sparse) {
    for (int64_t k = s.begin[size_t(e)]; k < s.begin[size_t(e) + 1]; ++k) {
      float& d = s.deltas[s.ids.at(s.features[size_t(k)])];
      d = float(double(d) + s.value(k) * delta);
    }
  }
  for (DenseColumn& d : dense) {
    for (int64_t j = 0; j < d.width; ++j) d.deltas[j] += d.features[e * d.width + j] * float(delta);
  }
}

// The order of the examples. Adaptive: drawn by how far each is from its optimum, a tenth as likely after each draw; TensorFlow's
// draws are not reproducible either.
std::vector<int64_t> order(const Problem& p, const SdcaLoss& loss, const float* state, bool adaptive) {
  std::mt19937_64 random(entropy());
  std::vector<int64_t> out(size_t(p.num_examples));
  std::iota(out.begin(), out.end(), 0);
  if (!adaptive) {
    std::shuffle(out.begin(), out.end(), random);
    return out;
  }
  std::vector<double> likely(out.size());
  for (int64_t e = 0; e < p.num_examples; ++e) {
    float label = p.labels[size_t(e)];
    (void)loss.convert_label(label);
    const double kappa = double(state[4 * e]) + loss.primal_derivative(p.predict(e).now, label);
    likely[size_t(e)] =
        p.example_weights[size_t(e)] * std::sqrt(p.squared_norms[size_t(e)] + p.regularization.l2 * loss.smoothness()) * std::abs(kappa);
  }
  double sum = 0;
  for (double v : likely) sum += v;
  if (!(sum > 0) || !std::isfinite(sum)) {
    std::shuffle(out.begin(), out.end(), random);
    return out;
  }
  std::discrete_distribution<int64_t> draw(likely.begin(), likely.end());
  std::uniform_real_distribution<> uniform(0, 1);
  std::vector<int> count(out.size());
  size_t n = 0;
  for (size_t retries = 0; n < out.size() && retries < out.size();) {
    const int64_t e = draw(random);
    if (uniform(random) > std::pow(0.1, count[size_t(e)])) {
      ++retries;
      continue;
    }
    ++count[size_t(e)];
    out[n++] = e;
  }
  std::vector<int64_t> rest;
  for (int64_t e = 0; e < p.num_examples; ++e) {
    if (!count[size_t(e)]) rest.push_back(e);
  }
  std::stable_sort(rest.begin(), rest.end(), [&](int64_t a, int64_t b) { return likely[size_t(a)] > likely[size_t(b)]; });
  for (size_t i = 0; n < out.size() && i < rest.size(); ++i) out[n++] = rest[i];
  out.resize(n);
  return out;
}

Status run_optimizer(KernelContext& c) {
  const auto loss = SdcaLoss::make(c.attr<std::string>("loss_type"));
  if (!loss) return invalid_argument("Unsupported loss type: ", c.attr<std::string>("loss_type"));
  Problem p;
  WEFT_RETURN_IF_ERROR(p.read(c));
  const Tensor& given = c.input("example_state_data");
  if (given.rank() != 2) return invalid_argument("example_state_data must be rank 2 but is rank ", given.rank());
  if (given.shape() != Shape({p.num_examples, 4}))
    return invalid_argument("Expected shape ", Shape({p.num_examples, 4}), " for example_state_data, got ", given.shape());
  WEFT_ASSIGN(Tensor data, given.copy());
  float* state = data.data<float>();
  const bool adaptive = c.attr<bool>(c.node().find_attr("adaptive") ? "adaptive" : "adaptative");
  for (int64_t e : order(p, *loss, state, adaptive)) {
    const float dual = state[4 * e], weight = p.example_weights[size_t(e)];
    float label = p.labels[size_t(e)];
    WEFT_RETURN_IF_ERROR(loss->convert_label(label));
    const Problem::Predictions wx = p.predict(e);
    const double norm = p.squared_norms[size_t(e)] / p.regularization.l2;
    const double fresh = loss->updated_dual(label, dual, wx.now, double(p.partitions) * weight * norm);
    p.update(e, (fresh - dual) * weight / p.regularization.l2);
    const double dual_loss = loss->dual_loss(dual, label);
    state[4 * e] = float(fresh);
    state[4 * e + 1] = float(loss->primal_loss(wx.previous, label) * weight);
    state[4 * e + 2] = float(dual_loss == std::numeric_limits<double>::max() ? dual_loss : dual_loss * weight);
    state[4 * e + 3] = weight;
  }
  c.set_output(0, std::move(data));
  return {};
}

Status run_shrink(KernelContext& c) {
  const Regularization r = Regularization::of(c.node());
  for (int i = 0; i < c.num_inputs(); ++i) {
    RefVariable* ref = c.input_ref(i);
    if (!ref) return invalid_argument("weights must be references to variables");
    std::unique_lock lock(ref->mutex());
    WEFT_RETURN_IF_ERROR(ref->make_writable());
    for (float& w : std::span(ref->tensor().data<float>(), size_t(ref->tensor().num_elements()))) w = r.shrink_float(w);
  }
  return {};
}

Status run_fingerprint(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 1) return invalid_argument("Input must be a vector, got shape ", in.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({in.dim(0), 2})));
  for (int64_t i = 0; i < in.dim(0); ++i) {
    auto [low, high] = kernels::fingerprint128(in.data<tstring>()[i].view());
    if (low < 2) low += ~uint64_t(1);  // 0 and 1 stay free, as marks
    out->data<int64_t>()[2 * i] = int64_t(low);
    out->data<int64_t>()[2 * i + 1] = int64_t(high);
  }
  return {};
}

Status fingerprint_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 1));
  c.output(0, {in.dim(0), 2});
  return {};
}

// The deltas have the shapes of the weights.
Status optimizer_shape(ShapeContext& c) {
  const auto copy = [&](const char* out, const char* in) {
    const auto o = c.node().output_range(out), i = c.node().input_range(in);
    for (int k = 0; k < o.size() && k < i.size(); ++k) c.output(o.begin + k, c.input(i.begin + k));
  };
  copy("out_delta_sparse_weights", "sparse_weights");
  copy("out_delta_dense_weights", "dense_weights");
  c.output(0, {kUnknownDim, 4});
  return {};
}

void optimizer(OpBuilder b, std::string_view adaptive) {
  b.doc("One pass of stochastic dual coordinate ascent over the examples of a batch.")
      .in("sparse_example_indices: num_sparse_features * int64")
      .in("sparse_feature_indices: num_sparse_features * int64")
      .in("sparse_feature_values: num_sparse_features_with_values * float")
      .in("dense_features: num_dense_features * float")
      .in("example_weights: float")
      .in("example_labels: float")
      .in("sparse_indices: num_sparse_features * int64")
      .in("sparse_weights: num_sparse_features * float")
      .in("dense_weights: num_dense_features * float")
      .in("example_state_data: float")
      .out("out_example_state_data: float")
      .out("out_delta_sparse_weights: num_sparse_features * float")
      .out("out_delta_dense_weights: num_dense_features * float")
      .attr("loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'}")
      .attr(adaptive)
      .attr("num_sparse_features: int >= 0")
      .attr("num_sparse_features_with_values: int >= 0")
      .attr("num_dense_features: int >= 0")
      .attr("l1: float")
      .attr("l2: float")
      .attr("num_loss_partitions: int >= 1")
      .attr("num_inner_iterations: int >= 1")
      .shape(optimizer_shape)
      .no_grad()
      .cpu(run_optimizer);
}

}  // namespace

void sdca(Registry& r) {
  optimizer(r.add("SdcaOptimizer"), "adaptative: bool = false");
  optimizer(r.add("SdcaOptimizerV2"), "adaptive: bool = false");

  r.add("SdcaFprint")
      .doc("128-bit fingerprints of strings, as pairs of numbers.")
      .in("input: string")
      .out("output: int64")
      .shape(fingerprint_shape)
      .no_grad()
      .cpu(run_fingerprint);

  r.add("SdcaShrinkL1")
      .doc("Takes the L1 shrinkage off weights, in place.")
      .in("weights: Ref(num_features * float)")
      .attr("num_features: int >= 0")
      .attr("l1: float")
      .attr("l2: float")
      .shape(shapes::unknown)
      .no_grad()
      .cpu(run_shrink);
}

}  // namespace weft_engine::ops
