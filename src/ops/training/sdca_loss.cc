#include "ops/training/sdca_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT

Status SdcaLoss::convert_label(float& label) const {
  if (label == 0.0f) label = -1;
  else if (label != 1.0f) return invalid_argument("Only labels of 0.0 or 1.0 are supported right now. Found example with label: ", label);
  return {};
}

namespace {

constexpr double kInfinite = std::numeric_limits<double>::max();
constexpr int kNewtonSteps = 10;  // it converges quadratically

// A dual variable must have the label's sign and be no larger than 1.
double clip_dual(double dual, double label) { return label * dual < 0 ? 0.0 : label * dual > 1 ? label : dual; }

struct Hinge final : SdcaLoss {
  double updated_dual(double label, double dual, double wx, double curvature) const override {
    return clip_dual(dual + (label - wx) / curvature, label);
  }
  double dual_loss(double dual, double label) const override {
    const double ya = dual * label;
    return ya < 0 || ya > 1 ? kInfinite : -ya;
  }
  double primal_loss(double wx, double label) const override { return std::max(0.0, 1 - label * wx); }
  double primal_derivative(double wx, double label) const override { return label * wx < 1 ? -label : 0; }
  double smoothness() const override { return 0; }
};

// Quadratic within kGamma of the corner.
struct SmoothHinge final : SdcaLoss {
  static constexpr double kGamma = 1;
  double updated_dual(double label, double dual, double wx, double curvature) const override {
    return clip_dual(dual + (label - wx - kGamma * dual) / (curvature + kGamma), label);
  }
  double dual_loss(double dual, double label) const override {
    const double ya = dual * label;
    return ya < 0 || ya > 1 ? kInfinite : -ya + 0.5 * kGamma * dual * dual;
  }
  double primal_loss(double wx, double label) const override {
    const double ywx = label * wx;
    if (ywx >= 1) return 0;
    if (ywx <= 1 - kGamma) return 1 - ywx - kGamma / 2;
    return (1 - ywx) * (1 - ywx) * 0.5 / kGamma;
  }
  double primal_derivative(double wx, double label) const override {
    if (label * wx >= 1) return 0;
    return label * wx <= 1 - kGamma ? -label : (wx - label) / kGamma;
  }
  double smoothness() const override { return kGamma; }
};

struct Logistic final : SdcaLoss {
  // The dual is (1 + tanh x) / 2 with the label's sign, x by Newton's method.
  double updated_dual(double label, double dual, double wx, double curvature) const override {
    double x = 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double t = std::tanh(x);
      const double f = -2 * label * x - wx - curvature * (0.5 * (1 + t) / label - dual);
      x -= f / (-2 * label - curvature * (1 - t * t) * 0.5 / label);
    }
    return 0.5 * (1 + std::tanh(x)) / label;
  }
  double dual_loss(double dual, double label) const override {
    const double ya = dual * label, rest = 1 - ya;
    return ya * (ya > 0 ? std::log(ya) : 0) + rest * (rest > 0 ? std::log(rest) : 0);
  }
  double primal_loss(double wx, double label) const override {
    const double ywx = label * wx;
    return ywx > 0 ? std::log1p(std::exp(-ywx)) : std::log1p(std::exp(ywx)) - ywx;
  }
  double primal_derivative(double wx, double label) const override {
    const double ywx = label * wx;
    return -label * (ywx > 0 ? std::exp(-ywx) / (1 + std::exp(-ywx)) : 1 / (1 + std::exp(ywx)));
  }
  double smoothness() const override { return 4; }
};

struct Squared final : SdcaLoss {
  double updated_dual(double label, double dual, double wx, double curvature) const override { return dual + (label - dual - wx) / (1 + curvature); }
  double dual_loss(double dual, double label) const override { return dual * (0.5 * dual - label); }
  double primal_loss(double wx, double label) const override { return (wx - label) * (wx - label) * 0.5; }
  double primal_derivative(double wx, double label) const override { return wx - label; }
  double smoothness() const override { return 1; }
  Status convert_label(float&) const override { return {}; }
};

struct Poisson final : SdcaLoss {
  // The dual is label - exp x, x by Newton's method.
  double updated_dual(double label, double dual, double wx, double curvature) const override {
    double x = label > dual ? std::log(label - dual) : 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double e = std::exp(x);
      x -= (x - wx - curvature * (label - dual - e)) / (1 + curvature * e);
    }
    return label - std::exp(x);
  }
  double dual_loss(double dual, double label) const override {
    const double rest = label - dual;
    return rest == 0 ? 0 : rest < 0 ? kInfinite : rest * (std::log(rest) - 1);
  }
  double primal_loss(double wx, double label) const override { return std::exp(wx) - wx * label; }
  double primal_derivative(double wx, double label) const override { return std::exp(wx) - label; }
  double smoothness() const override { return 1; }
  Status convert_label(float& label) const override {
    if (label < 0) return invalid_argument("Only non-negative labels can be used with the Poisson log loss. Found example with label: ", label);
    return {};
  }
};

}  // namespace

std::unique_ptr<SdcaLoss> SdcaLoss::make(std::string_view name) {
  if (name == "logistic_loss") return std::make_unique<Logistic>();
  if (name == "squared_loss") return std::make_unique<Squared>();
  if (name == "hinge_loss") return std::make_unique<Hinge>();
  if (name == "smooth_hinge_loss") return std::make_unique<SmoothHinge>();
  if (name == "poisson_loss") return std::make_unique<Poisson>();
  return nullptr;
}

}  // namespace weft_engine::ops
