// Layers that bring values to a mean and a spread.
#pragma once

#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

struct BatchNormalizationOptions {
  int64_t axis = -1;
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones", moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
// Over the batch in training, which also moves the averages that are used otherwise.
class WEFT_API BatchNormalization : public LayerOf<BatchNormalization> {
 public:
  explicit BatchNormalization(BatchNormalizationOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }
  const Variable& moving_mean() const { return mean_; }
  const Variable& moving_variance() const { return variance_; }

 private:
  Tensor fused(const Tensor& x, bool training) const;
  Tensor composed(const Tensor& x, int64_t axis, const CallOptions& o) const;
  void move(const Tensor& mean, const Tensor& variance) const;
  BatchNormalizationOptions o_;
  Variable gamma_, beta_, mean_, variance_;
};

struct LayerNormalizationOptions {
  std::vector<int64_t> axis = {-1};
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
class WEFT_API LayerNormalization : public LayerOf<LayerNormalization> {
 public:
  explicit LayerNormalization(LayerNormalizationOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  LayerNormalizationOptions o_;
  Variable gamma_, beta_;
};

struct GroupNormalizationOptions {
  int64_t axis = -1;
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
class WEFT_API GroupNormalization : public LayerOf<GroupNormalization> {
 public:
  explicit GroupNormalization(int64_t groups = 32, GroupNormalizationOptions o = {});  // -1: each channel by itself
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  int64_t groups_;
  GroupNormalizationOptions o_;
  Variable gamma_, beta_;
};

// To length one.
class WEFT_API UnitNormalization : public LayerOf<UnitNormalization> {
 public:
  explicit UnitNormalization(std::vector<int64_t> axis = {-1}, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  std::vector<int64_t> axis_;
};

struct NormalizationOptions {
  std::vector<int64_t> axis = {-1};  // kept apart; empty: one number for all
  std::vector<float> mean = {}, variance = {};  // given, or learnt by adapt
  bool invert = false;
  std::string name = {};
};
// By the mean and variance of a data set, which adapt() looks at beforehand.
class WEFT_API Normalization : public LayerOf<Normalization> {
 public:
  explicit Normalization(NormalizationOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  void adapt(const Tensor& data);

 private:
  std::vector<int64_t> broadcast_shape(int rank, const std::vector<int64_t>& sizes) const;
  NormalizationOptions o_;
  Variable mean_, variance_, count_;
};

}  // namespace weft::nn
