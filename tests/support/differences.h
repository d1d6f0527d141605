// Derivatives by differences: what a graph computes along a direction of its feeds, against the gradients it was given.
#pragma once

#include <complex>

#include "tests/support/grad_graph.h"

namespace weft_engine::testing {

// The elements of a tensor of floating point numbers.
using Numbers = std::vector<std::complex<double>>;
Numbers numbers_of(const Tensor& t);
Result<Tensor> tensor_of(const Numbers& n, DType type, const Shape& shape);
// Random numbers as many as t has, between -1 and 1 or in proportion to what is there.
Numbers random_like(const Tensor& t, bool in_proportion);
void seed_random(uint64_t seed);
// The mean with the adjoint, for each matrix.
void make_hermitian(Numbers& n, const Shape& shape);
bool moves(DType t);  // is it made of numbers that can be moved a little?

enum class Outcome { kAgrees, kDiffers, kNotHere, kNoGradient };
struct Verdict {
  Outcome outcome = Outcome::kAgrees;
  std::string why;
};

struct DifferenceOptions {
  bool hermitian = false;  // the inputs stay equal to their adjoints
  bool single = false;     // the graph computes in single precision, whatever its types
};

size_t feed_of(const GradGraph& g, const graph::Endpoint& e);
// `outputs` weighted by `weights` and differentiated by the feeds `by` must give `grads` (null where nothing flows).
Verdict check_differences(GradGraph& g, const std::vector<graph::Endpoint>& outputs, std::vector<Numbers> weights,
                          const std::vector<graph::Endpoint>& by, const std::vector<graph::Endpoint>& grads, const DifferenceOptions& options = {});

}  // namespace weft_engine::testing
