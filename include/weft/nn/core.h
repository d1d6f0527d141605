// Layers without a kind of their own: Dense, Embedding, dropout and noise, activations, reshaping, and what brings inputs
// into range.
#pragma once

#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

struct DenseOptions {
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};
class WEFT_API Dense : public LayerOf<Dense> {
 public:
  explicit Dense(int64_t units, DenseOptions o = {});
  Dense(int64_t units, Activation activation);
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 private:
  int64_t units_, in_ = 0;
  DenseOptions o_;
  Variable kernel_, bias_;
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;  // 0 is no word, but the filling of short rows
  std::string name = {};
};
// Rows of a table by number; its gradient is sparse.
class WEFT_API Embedding : public LayerOf<Embedding> {
 public:
  Embedding(int64_t input_dim, int64_t output_dim, EmbeddingOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor& x, const Tensor& mask) const override;
  const Variable& embeddings() const { return embeddings_; }

 private:
  int64_t input_dim_, output_dim_;
  EmbeddingOptions o_;
  Variable embeddings_;
};

// Sets a share of the inputs to zero, and scales the others up, in training.
struct DropoutOptions {
  std::vector<int64_t> noise_shape = {};  // -1: that of the input; a 1 drops along the whole axis
  int64_t seed = -1;
  std::string name = {};
};
class WEFT_API Dropout : public LayerOf<Dropout> {
 public:
  explicit Dropout(double rate, DropoutOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 protected:
  Dropout(const std::string& type, double rate, DropoutOptions o);

 private:
  double rate_;
  DropoutOptions o_;
  Variable seed_;
};
struct NoiseOptions {
  int64_t seed = -1;
  std::string name = {};
};
// Whole channels at once.
class WEFT_API SpatialDropout1D : public LayerOf<SpatialDropout1D, Dropout> {
 public:
  explicit SpatialDropout1D(double rate, NoiseOptions o = {});
};
class WEFT_API SpatialDropout2D : public LayerOf<SpatialDropout2D, Dropout> {
 public:
  explicit SpatialDropout2D(double rate, NoiseOptions o = {});
};
class WEFT_API SpatialDropout3D : public LayerOf<SpatialDropout3D, Dropout> {
 public:
  explicit SpatialDropout3D(double rate, NoiseOptions o = {});
};
class WEFT_API GaussianNoise : public LayerOf<GaussianNoise> {
 public:
  explicit GaussianNoise(double stddev, NoiseOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  double stddev_;
  NoiseOptions o_;
  Variable seed_;
};

// Any function of a tensor as a layer; activations among them.
class WEFT_API Lambda : public LayerOf<Lambda> {
 public:
  explicit Lambda(std::function<Tensor(const Tensor&)> f, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 protected:
  Lambda(const std::string& type, std::function<Tensor(const Tensor&)> f, const std::string& name);

 private:
  std::function<Tensor(const Tensor&)> f_;
};
class WEFT_API ActivationLayer : public LayerOf<ActivationLayer, Lambda> {  // Keras' layers.Activation
 public:
  explicit ActivationLayer(Activation activation, const std::string& name = {});
};
class WEFT_API ReLU : public LayerOf<ReLU, Lambda> {
 public:
  explicit ReLU(ReluOptions o = {}, const std::string& name = {});
};
class WEFT_API LeakyReLU : public LayerOf<LeakyReLU, Lambda> {
 public:
  explicit LeakyReLU(double negative_slope = 0.3, const std::string& name = {});
};
class WEFT_API ELU : public LayerOf<ELU, Lambda> {
 public:
  explicit ELU(double alpha = 1, const std::string& name = {});
};
class WEFT_API Softmax : public LayerOf<Softmax> {
 public:
  explicit Softmax(int64_t axis = -1, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;  // with a mask of x's shape: over what it keeps
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  int64_t axis_;
};
struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  std::vector<int64_t> shared_axes = {};  // one slope along these
  std::string name = {};
};
class WEFT_API PReLU : public LayerOf<PReLU> {
 public:
  explicit PReLU(PReLUOptions o = {});
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  PReLUOptions o_;
  Variable alpha_;
};

class WEFT_API Flatten : public LayerOf<Flatten> {
 public:
  explicit Flatten(const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
};
class WEFT_API Reshape : public LayerOf<Reshape> {
 public:
  explicit Reshape(std::vector<int64_t> target_shape, const std::string& name = {});  // without the batch; one may be -1
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 private:
  std::vector<int64_t> target_;
};
class WEFT_API Permute : public LayerOf<Permute> {
 public:
  explicit Permute(std::vector<int64_t> dims, const std::string& name = {});  // counted from 1, without the batch
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 private:
  std::vector<int64_t> perm_;
};
class WEFT_API RepeatVector : public LayerOf<RepeatVector> {
 public:
  explicit RepeatVector(int64_t n, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 private:
  int64_t n_;
};

// Steps whose features all have this value do not count for the layers behind it.
class WEFT_API Masking : public LayerOf<Masking> {
 public:
  explicit Masking(double mask_value = 0, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor& x, const Tensor& mask) const override;

 private:
  double mask_value_;
};

class WEFT_API Rescaling : public LayerOf<Rescaling> {
 public:
  explicit Rescaling(double scale, double offset = 0, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  double scale_, offset_;
};

}  // namespace weft::nn
