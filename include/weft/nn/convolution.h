// Convolutions and pooling, over one, two or three dimensions; channels are last.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

// A size in each spatial dimension: 3, or {3, 5}.
class Extent {
 public:
  Extent(int64_t all) : dims_{all} {}                            // NOLINT: implicit on purpose
  Extent(int all) : dims_{all} {}                                // NOLINT
  Extent(std::initializer_list<int64_t> dims) : dims_(dims) {}   // NOLINT
  Extent(std::vector<int64_t> dims) : dims_(std::move(dims)) {}  // NOLINT
  // The sizes as given.
  const std::vector<int64_t>& dims() const { return dims_; }

 private:
  std::vector<int64_t> dims_;
};

struct ConvOptions {
  Extent strides = 1;
  std::string padding = "valid";  // "same"; Conv1D also "causal"
  Extent dilation_rate = 1;
  int64_t groups = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};
// What the three have in common.
class WEFT_API Conv : public Layer {
 public:
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 protected:
  Conv(const std::string& type, int rank, int64_t filters, const Extent& kernel_size, ConvOptions o);

 private:
  int rank_;
  int64_t filters_, in_ = 0;
  std::vector<int64_t> size_, strides_, dilations_;
  ConvOptions o_;
  Variable kernel_, bias_;
};
class WEFT_API Conv1D : public LayerOf<Conv1D, Conv> {
 public:
  Conv1D(int64_t filters, const Extent& kernel_size, ConvOptions o = {});
};
class WEFT_API Conv2D : public LayerOf<Conv2D, Conv> {
 public:
  Conv2D(int64_t filters, const Extent& kernel_size, ConvOptions o = {});
};
class WEFT_API Conv3D : public LayerOf<Conv3D, Conv> {
 public:
  Conv3D(int64_t filters, const Extent& kernel_size, ConvOptions o = {});
};

struct ConvTransposeOptions {
  Extent strides = 1;
  std::string padding = "valid";    // or "same"
  Extent output_padding = std::vector<int64_t>{};  // empty: the size is inferred
  Extent dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};
class WEFT_API ConvTranspose : public Layer {
 public:
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  ConvTranspose(const std::string& type, int rank, int64_t filters, const Extent& kernel_size, ConvTransposeOptions o);

 private:
  int64_t output_size(int64_t in, size_t axis) const;
  int rank_;
  int64_t filters_;
  std::vector<int64_t> size_, strides_, dilations_, output_padding_;
  ConvTransposeOptions o_;
  Variable kernel_, bias_;
};
class WEFT_API Conv1DTranspose : public LayerOf<Conv1DTranspose, ConvTranspose> {
 public:
  Conv1DTranspose(int64_t filters, const Extent& kernel_size, ConvTransposeOptions o = {});
};
class WEFT_API Conv2DTranspose : public LayerOf<Conv2DTranspose, ConvTranspose> {
 public:
  Conv2DTranspose(int64_t filters, const Extent& kernel_size, ConvTransposeOptions o = {});
};
class WEFT_API Conv3DTranspose : public LayerOf<Conv3DTranspose, ConvTranspose> {
 public:
  Conv3DTranspose(int64_t filters, const Extent& kernel_size, ConvTransposeOptions o = {});
};

struct DepthwiseConvOptions {
  Extent strides = 1;
  std::string padding = "valid";  // or "same"
  int64_t depth_multiplier = 1;
  Extent dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, bias_constraint = {};
  std::string name = {};
};
class WEFT_API DepthwiseConv : public Layer {
 public:
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  DepthwiseConv(const std::string& type, int rank, const Extent& kernel_size, DepthwiseConvOptions o);

 private:
  int rank_;
  std::vector<int64_t> size_, strides_, dilations_;
  DepthwiseConvOptions o_;
  Variable kernel_, bias_;
};
class WEFT_API DepthwiseConv1D : public LayerOf<DepthwiseConv1D, DepthwiseConv> {
 public:
  explicit DepthwiseConv1D(const Extent& kernel_size, DepthwiseConvOptions o = {});
};
class WEFT_API DepthwiseConv2D : public LayerOf<DepthwiseConv2D, DepthwiseConv> {
 public:
  explicit DepthwiseConv2D(const Extent& kernel_size, DepthwiseConvOptions o = {});
};

struct SeparableConvOptions {
  Extent strides = 1;
  std::string padding = "valid";  // or "same"
  Extent dilation_rate = 1;
  int64_t depth_multiplier = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", pointwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  std::string name = {};
};
class WEFT_API SeparableConv : public Layer {
 public:
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  SeparableConv(const std::string& type, int rank, int64_t filters, const Extent& kernel_size, SeparableConvOptions o);

 private:
  int rank_;
  int64_t filters_;
  std::vector<int64_t> size_, strides_, dilations_;
  SeparableConvOptions o_;
  Variable depthwise_, pointwise_, bias_;
};
class WEFT_API SeparableConv1D : public LayerOf<SeparableConv1D, SeparableConv> {
 public:
  SeparableConv1D(int64_t filters, const Extent& kernel_size, SeparableConvOptions o = {});
};
class WEFT_API SeparableConv2D : public LayerOf<SeparableConv2D, SeparableConv> {
 public:
  SeparableConv2D(int64_t filters, const Extent& kernel_size, SeparableConvOptions o = {});
};

struct PoolingOptions {
  Extent strides = std::vector<int64_t>{};  // empty: the size of the window
  std::string padding = "valid";            // or "same"
  std::string name = {};
};
class WEFT_API Pooling : public Layer {
 public:
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  Pooling(const std::string& type, int rank, bool max, const Extent& pool_size, PoolingOptions o);

 private:
  int rank_;
  bool max_;
  std::vector<int64_t> size_, strides_;
  std::string padding_;
};
// Over all positions.
struct GlobalPoolingOptions {
  bool keepdims = false;
  std::string name = {};
};
class WEFT_API GlobalPooling : public Layer {
 public:
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  GlobalPooling(const std::string& type, int rank, bool max, GlobalPoolingOptions o);

 private:
  int rank_;
  bool max_, keepdims_;
};
#define WEFT_POOLING(Name)                                                    \
  class WEFT_API Name : public LayerOf<Name, Pooling> {                       \
   public:                                                                    \
    explicit Name(const Extent& pool_size = 2, PoolingOptions o = {});        \
  };                                                                          \
  class WEFT_API Global##Name : public LayerOf<Global##Name, GlobalPooling> { \
   public:                                                                    \
    explicit Global##Name(GlobalPoolingOptions o = {});                       \
  };
WEFT_POOLING(MaxPooling1D)
WEFT_POOLING(MaxPooling2D)
WEFT_POOLING(MaxPooling3D)
WEFT_POOLING(AveragePooling1D)
WEFT_POOLING(AveragePooling2D)
WEFT_POOLING(AveragePooling3D)
#undef WEFT_POOLING

// {1, 2}: a margin in each dimension; of two, {{1, 2}, {3, 4}}: before and after.
class WEFT_API Margins {
 public:
  Margins(int64_t all) : all_{all} {}                                                  // NOLINT: implicit on purpose
  Margins(int all) : all_{all} {}                                                      // NOLINT
  Margins(std::initializer_list<int64_t> dims) : all_(dims) {}                         // NOLINT
  Margins(std::initializer_list<std::pair<int64_t, int64_t>> pairs) : pairs_(pairs) {}  // NOLINT
  std::vector<std::pair<int64_t, int64_t>> of(int rank) const;

 private:
  std::vector<int64_t> all_;
  std::vector<std::pair<int64_t, int64_t>> pairs_;
};
struct MarginOptions {
  std::string name = {};
};
class WEFT_API ZeroPadding : public Layer {
 public:
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  ZeroPadding(const std::string& type, int rank, const Margins& padding, const std::string& name);

 private:
  std::vector<std::pair<int64_t, int64_t>> padding_;
};
class WEFT_API Cropping : public Layer {
 public:
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  Cropping(const std::string& type, int rank, const Margins& cropping, const std::string& name);

 private:
  std::vector<std::pair<int64_t, int64_t>> cropping_;
};
class WEFT_API UpSampling : public Layer {
 public:
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 protected:
  UpSampling(const std::string& type, int rank, const Extent& size, const std::string& interpolation, const std::string& name);

 private:
  int rank_;
  std::vector<int64_t> size_;
  std::string interpolation_;
};
#define WEFT_MARGINS(rank)                                                                  \
  class WEFT_API ZeroPadding##rank##D : public LayerOf<ZeroPadding##rank##D, ZeroPadding> { \
   public:                                                                                  \
    explicit ZeroPadding##rank##D(const Margins& padding = 1, MarginOptions o = {});        \
  };                                                                                        \
  class WEFT_API Cropping##rank##D : public LayerOf<Cropping##rank##D, Cropping> {          \
   public:                                                                                  \
    explicit Cropping##rank##D(const Margins& cropping = 1, MarginOptions o = {});          \
  };
WEFT_MARGINS(1)
WEFT_MARGINS(2)
WEFT_MARGINS(3)
#undef WEFT_MARGINS
class WEFT_API UpSampling1D : public LayerOf<UpSampling1D, UpSampling> {
 public:
  explicit UpSampling1D(const Extent& size = 2, const std::string& name = {});
};
class WEFT_API UpSampling2D : public LayerOf<UpSampling2D, UpSampling> {
 public:
  // interpolation: "nearest", "bilinear", "bicubic".
  explicit UpSampling2D(const Extent& size = 2, const std::string& interpolation = "nearest", const std::string& name = {});
};
class WEFT_API UpSampling3D : public LayerOf<UpSampling3D, UpSampling> {
 public:
  explicit UpSampling3D(const Extent& size = 2, const std::string& name = {});
};

}  // namespace weft::nn
