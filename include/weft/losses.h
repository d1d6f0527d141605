// Losses with Keras' formulas: how far predictions are from what is true.
//
//   weft::nn::losses::SparseCategoricalCrossentropy loss({.from_logits = true});
//   weft::Tensor value = loss(labels, logits);             // one number
//   weft::Tensor weighted = loss(labels, logits, weights); // one weight for each sample
//
// Each loss is also a function of its own (sparse_categorical_crossentropy), which gives one number for each sample. They
// compute in float32, and in float64 where the predictions are float64.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "weft/tensor.h"

namespace weft::nn::losses {

enum class Reduction { sum_over_batch_size, sum, none, mean, mean_with_sample_weight };

class WEFT_API Loss {
 public:
  using Function = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  // One's own: f gives a number for each sample.
  Loss(Function f, std::string name = "loss", Reduction reduction = Reduction::sum_over_batch_size);

  // Reduced; with Reduction::none one number for each sample. What a mask leaves out counts for nothing, and the mean is taken over the rest.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}, const Tensor& mask = {}) const;
  // What it is called, and how losses of samples become one.
  const std::string& name() const { return name_; }
  Reduction reduction() const { return reduction_; }

 protected:
  // What f needs to know of its arguments before they are given to it.
  enum class Labels { like_predictions, kept };  // `kept`: class numbers stay integers
  struct Values {
    Tensor values, mask;  // the mask may have no value
  };
  using Masked = std::function<Values(const Tensor& y_true, const Tensor& y_pred)>;
  Loss(Masked f, std::string name, Reduction reduction, Labels labels);

 private:
  Masked function_;
  std::string name_;
  Reduction reduction_;
  Labels labels_;
};

struct LossOptions {
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};  // empty: that of the loss
};

// Regression. All take the mean over the last dimension.
WEFT_API Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta = 1);
WEFT_API Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int axis = -1);  // -1: alike
// Probabilities.
WEFT_API Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor poisson(const Tensor& y_true, const Tensor& y_pred);
// Two classes; labels 0 and 1 are taken for -1 and 1 by the hinges.
WEFT_API Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);

struct CrossentropyOptions {
  bool from_logits = false;    // predictions are not probabilities yet
  double label_smoothing = 0;
  int axis = -1;
};
// Crossentropy of two classes, of several one-hot, or of several by number.
WEFT_API Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyOptions& options = {});
WEFT_API Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyOptions& options = {});  // labels one-hot
struct SparseCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};  // samples of this class count for nothing
};
WEFT_API Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                const SparseCrossentropyOptions& options = {});  // labels are numbers
struct FocalOptions {
  double alpha = 0.25, gamma = 2;
  bool apply_class_balancing = false;  // of two classes
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
// Crossentropy with less weight on what is easy.
WEFT_API Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred, const FocalOptions& options = {});
WEFT_API Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred, const FocalOptions& options = {});
// Overlap of sets: over all elements, one number.
WEFT_API Tensor dice(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor tversky(const Tensor& y_true, const Tensor& y_pred, double alpha = 0.5, double beta = 0.5);
// Sequences: labels [batch, length] of int, padded with 0; logits [batch, time, classes], where class 0 is the blank.
WEFT_API Tensor ctc(const Tensor& y_true, const Tensor& y_pred);

#define WEFT_PLAIN_LOSS(Class)                       \
  class WEFT_API Class : public Loss {               \
   public:                                           \
    explicit Class(const LossOptions& options = {}); \
  };
WEFT_PLAIN_LOSS(MeanSquaredError)
WEFT_PLAIN_LOSS(MeanAbsoluteError)
WEFT_PLAIN_LOSS(MeanAbsolutePercentageError)
WEFT_PLAIN_LOSS(MeanSquaredLogarithmicError)
WEFT_PLAIN_LOSS(LogCosh)
WEFT_PLAIN_LOSS(KLDivergence)
WEFT_PLAIN_LOSS(Poisson)
WEFT_PLAIN_LOSS(Hinge)
WEFT_PLAIN_LOSS(SquaredHinge)
WEFT_PLAIN_LOSS(CategoricalHinge)
WEFT_PLAIN_LOSS(Dice)
WEFT_PLAIN_LOSS(CTC)
#undef WEFT_PLAIN_LOSS

struct HuberOptions {
  double delta = 1;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
class WEFT_API Huber : public Loss {
 public:
  explicit Huber(const HuberOptions& options = {});
};

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
class WEFT_API CosineSimilarity : public Loss {
 public:
  explicit CosineSimilarity(const CosineSimilarityOptions& options = {});
};

struct CrossentropyLossOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
class WEFT_API BinaryCrossentropy : public Loss {
 public:
  explicit BinaryCrossentropy(const CrossentropyLossOptions& options = {});
};
class WEFT_API CategoricalCrossentropy : public Loss {
 public:
  explicit CategoricalCrossentropy(const CrossentropyLossOptions& options = {});
};

struct SparseCrossentropyLossOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
class WEFT_API SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(const SparseCrossentropyLossOptions& options = {});
};

struct FocalLossOptions {
  double alpha = 0.25, gamma = 2;
  bool apply_class_balancing = false;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
class WEFT_API BinaryFocalCrossentropy : public Loss {
 public:
  explicit BinaryFocalCrossentropy(const FocalLossOptions& options = {});
};
class WEFT_API CategoricalFocalCrossentropy : public Loss {
 public:
  explicit CategoricalFocalCrossentropy(const FocalLossOptions& options = {});
};

struct TverskyOptions {
  double alpha = 0.5, beta = 0.5;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
class WEFT_API Tversky : public Loss {
 public:
  explicit Tversky(const TverskyOptions& options = {});
};

}  // namespace weft::nn::losses
