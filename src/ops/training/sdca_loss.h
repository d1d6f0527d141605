// The losses of stochastic dual coordinate ascent (Shalev-Shwartz, Zhang: arxiv.org/abs/1209.1873, with the
// partitions of arxiv.org/abs/1502.03508): what an example's dual variable becomes, and primal and dual loss.
#pragma once

#include <memory>
#include <string_view>

#include "core/status.h"

namespace weft_engine::ops {

class SdcaLoss {
 public:
  virtual ~SdcaLoss() = default;
  // Null for a name that is not known.
  static std::unique_ptr<SdcaLoss> make(std::string_view name);

  // `curvature`: the number of partitions times the example's weight and normalised squared norm.
  virtual double updated_dual(double label, double dual, double wx, double curvature) const = 0;
  virtual double dual_loss(double dual, double label) const = 0;
  virtual double primal_loss(double wx, double label) const = 0;
  virtual double primal_derivative(double wx, double label) const = 0;
  virtual double smoothness() const = 0;
  // Labels of classifiers are 0 and 1 outside, -1 and 1 inside.
  virtual core::Status convert_label(float& label) const;
};

}  // namespace weft_engine::ops
