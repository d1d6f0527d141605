#include "tests/support/differences.h"

#include <cmath>
#include <random>

namespace weft_engine::testing {

using graph::Endpoint;

namespace {

std::mt19937_64 random_bits(20);

double draw() { return std::uniform_real_distribution<double>(-1, 1)(random_bits); }
bool is_exact(DType t) { return t == DType::kDouble || t == DType::kComplex128; }

// What is asked of one graph: sums of w * output, along directions of some feeds.
struct Check {
  GradGraph& g;
  std::vector<Endpoint> outputs;
  std::vector<Numbers> weights;
  std::vector<size_t> moved;  // feeds
  std::vector<Numbers> directions;

  Result<double> sum() {
    WEFT_ASSIGN(std::vector<Tensor> results, g.run(outputs));
    double total = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const Numbers n = numbers_of(results[i]);
      if (n.size() != weights[i].size()) return internal_error("the size of a result changed");
      for (size_t k = 0; k < n.size(); ++k) total += (std::conj(weights[i][k]) * n[k]).real();
    }
    return total;
  }

  // By a stencil of four points, whose error is the fourth power of the step.
  Result<double> difference(double step) {
    const std::vector<Tensor> kept = g.values;
    double derivative = 0;
    for (const auto& [place, factor] : {std::pair(1, 8.0), {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
      for (size_t i = 0; i < moved.size(); ++i) {
        const Tensor& from = kept[moved[i]];
        Numbers n = numbers_of(from);
        for (size_t k = 0; k < n.size(); ++k) n[k] += step * place * directions[i][k];
        WEFT_ASSIGN(g.values[moved[i]], tensor_of(n, from.dtype(), from.shape()));
      }
      auto s = sum();
      if (!s.ok()) {
        g.values = kept;
        return s.status();
      }
      derivative += factor * *s / (12 * step);
    }
    g.values = kept;
    return derivative;
  }
};

}  // namespace

void seed_random(uint64_t seed) { random_bits.seed(seed); }

Numbers numbers_of(const Tensor& t) {
  Numbers out(size_t(t.num_elements()));
  for (size_t i = 0; i < out.size(); ++i) {
    switch (t.dtype()) {
      case DType::kFloat: out[i] = double(t.data<float>()[i]); break;
      case DType::kDouble: out[i] = t.data<double>()[i]; break;
      case DType::kHalf: out[i] = double(float(t.data<half>()[i])); break;
      case DType::kBfloat16: out[i] = double(float(t.data<bfloat16>()[i])); break;
      case DType::kComplex64: out[i] = std::complex<double>(t.data<complex64>()[i]); break;
      case DType::kComplex128: out[i] = t.data<complex128>()[i]; break;
      default: break;
    }
  }
  return out;
}

Result<Tensor> tensor_of(const Numbers& n, DType type, const Shape& shape) {
  WEFT_ASSIGN(Tensor t, Tensor::zeros(type, shape));
  for (size_t i = 0; i < n.size(); ++i) {
    switch (type) {
      case DType::kFloat: t.data<float>()[i] = float(n[i].real()); break;
      case DType::kDouble: t.data<double>()[i] = n[i].real(); break;
      case DType::kComplex64: t.data<complex64>()[i] = complex64(n[i]); break;
      case DType::kComplex128: t.data<complex128>()[i] = n[i]; break;
      default: return invalid_argument("not a type to differ in: ", dtype_name(type));
    }
  }
  return t;
}

bool moves(DType t) { return t == DType::kHalf || t == DType::kBfloat16 || t == DType::kFloat || t == DType::kDouble || is_complex_type(t); }

Numbers random_like(const Tensor& t, bool in_proportion) {
  Numbers out = numbers_of(t);
  for (auto& n : out) {
    const double size = !in_proportion ? 1 : n == 0.0 ? 0.05 : std::min(std::abs(n), 1e3);
    n = is_complex_type(t.dtype()) ? std::complex<double>(size * draw(), size * draw()) : std::complex<double>(size * draw());
  }
  return out;
}

void make_hermitian(Numbers& n, const Shape& shape) {
  if (shape.rank() < 2 || shape.dim(shape.rank() - 1) != shape.dim(shape.rank() - 2)) return;
  const size_t size = size_t(shape.dim(shape.rank() - 1));
  for (size_t start = 0; start < n.size(); start += size * size) {
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        auto &a = n[start + i * size + j], &b = n[start + j * size + i];
        const auto mean = 0.5 * (a + std::conj(b));
        a = mean;
        b = std::conj(mean);
      }
    }
  }
}

size_t feed_of(const GradGraph& g, const Endpoint& e) {
  for (size_t i = 0; i < g.feeds.size(); ++i) {
    if (g.feeds[i] == e) return i;
  }
  return size_t(-1);
}

Verdict check_differences(GradGraph& g, const std::vector<Endpoint>& outputs, std::vector<Numbers> weights, const std::vector<Endpoint>& by,
                          const std::vector<Endpoint>& grads, const DifferenceOptions& options) {
  Check check{g, outputs, std::move(weights), {}, {}};
  std::vector<Endpoint> there;
  for (const Endpoint& e : grads) {
    if (e.node) there.push_back(e);
  }
  Result<std::vector<Tensor>> got = std::vector<Tensor>();
  if (!there.empty()) got = g.run(there);
  if (!got.ok()) return {Outcome::kNotHere, got.status().to_string()};
  auto base = check.sum();
  if (!base.ok()) return {Outcome::kNotHere, base.status().to_string()};
  double told = 0, size = 0;
  size_t at = 0;
  bool exact = !options.single;
  for (size_t i = 0; i < by.size(); ++i) {
    const size_t feed = feed_of(g, by[i]);
    const Tensor& value = g.values[feed];
    if (!moves(value.dtype())) {
      at += grads[i].node != nullptr;
      continue;
    }
    exact &= is_exact(value.dtype());
    check.moved.push_back(feed);
    check.directions.push_back(random_like(value, true));
    if (options.hermitian && feed < g.inputs.size()) make_hermitian(check.directions.back(), value.shape());
    if (!grads[i].node) continue;
    const Numbers n = numbers_of((*got)[at++]);
    if (n.size() != check.directions.back().size())
      return {Outcome::kDiffers, cat("a gradient of ", n.size(), " elements for ", value.num_elements())};
    for (size_t k = 0; k < n.size(); ++k) {
      const double part = (std::conj(n[k]) * check.directions.back()[k]).real();
      told += part;
      size += std::abs(part);
    }
  }
  for (const Endpoint& e : outputs) exact &= is_exact(e.node->output_type(e.index)) || !moves(e.node->output_type(e.index));
  if (!std::isfinite(told) || !std::isfinite(*base)) return {Outcome::kNotHere, "not finite"};
  // Several steps, since a function may be stiff or nearly constant: one must agree.
  Verdict verdict;
  for (double step : exact ? std::vector<double>{1e-3, 1e-4, 1e-5, 1e-7} : std::vector<double>{2e-2, 5e-3, 1e-1}) {
    auto d = check.difference(step);
    if (!d.ok()) return {Outcome::kNotHere, d.status().to_string()};
    if (!std::isfinite(*d)) {
      verdict = {Outcome::kNotHere, "not finite"};
      continue;
    }
    const double allowed =
        exact ? 1e-6 * (size + std::abs(*d)) + 1e-9 * (1 + std::abs(*base)) : 1e-2 * (size + std::abs(*d)) + 1e-3 * (1 + std::abs(*base));
    if (std::abs(*d - told) <= allowed) return {};
    verdict = {Outcome::kDiffers, cat("the rule says ", told, ", differences say ", *d, exact ? "" : " (float)")};
  }
  return verdict;
}

}  // namespace weft_engine::testing
