// Attention: each position of a query gathers from the positions of a value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/nn/core.h"

namespace weft::nn {

// What goes with one call; masks are bool, [batch, positions] and [batch, query positions, value positions].
struct AttentionCallOptions {
  Tensor query_mask = {}, value_mask = {}, key_mask = {}, attention_mask = {};
  bool use_causal_mask = false;  // no position sees a later one
  bool training = in_training();
};

struct MultiHeadAttentionOptions {
  int64_t value_dim = 0;     // 0: key_dim
  int64_t output_shape = 0;  // 0: that of the query
  double dropout = 0;
  int64_t seed = -1;
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};

// mha(query, value), or mha(query, value, key, {.use_causal_mask = true}); in models mha({query, value, key}).
class WEFT_API MultiHeadAttention : public LayerOf<MultiHeadAttention> {
 public:
  MultiHeadAttention(int64_t num_heads, int64_t key_dim, MultiHeadAttentionOptions o = {});
  using Layer::operator();
  Tensor operator()(const Tensor& query, const Tensor& value, const Tensor& key = {}, const AttentionCallOptions& o = {}) const;
  // The output, and the scores [batch, heads, query positions, value positions].
  std::vector<Tensor> with_scores(const Tensor& query, const Tensor& value, const Tensor& key = {}, const AttentionCallOptions& o = {}) const;
  void build_many(const std::vector<PartialShape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;  // {query, value, key, attention_mask}
  Tensor call(const Tensor& x, const CallOptions& o) const override;                                      // of x to itself

 private:
  class Heads;
  struct Parts;
  std::vector<Tensor> attend(const Tensor& query, const Tensor& value, const Tensor& key, const AttentionCallOptions& o) const;
  int64_t heads_, key_dim_;
  MultiHeadAttentionOptions o_;
  std::shared_ptr<Parts> parts_;
};

struct AttentionOptions {
  bool use_scale = false;
  std::string score_mode = "dot";  // or "concat"
  double dropout = 0;
  int64_t seed = -1;
  std::string name = {};
};
// Of {query, value} or {query, value, key}, without weights of its own but a scale.
class WEFT_API Attention : public LayerOf<Attention> {
 public:
  explicit Attention(AttentionOptions o = {});
  using Layer::operator();
  Tensor operator()(const Tensor& query, const Tensor& value, const Tensor& key = {}, const AttentionCallOptions& o = {}) const;
  void build_many(const std::vector<PartialShape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;

 protected:
  Attention(const std::string& type, AttentionOptions o);
  AttentionOptions o_;
  Variable scale_;

 private:
  std::vector<Tensor> attend(const std::vector<Tensor>& inputs, const AttentionCallOptions& o) const;
  Tensor scores(const Tensor& query, const Tensor& key) const;
  Variable concat_weight_, seed_;
};
// Scores by a sum instead of a product (Bahdanau).
struct AdditiveAttentionOptions {
  bool use_scale = true;
  double dropout = 0;
  std::string name = {};
};
class WEFT_API AdditiveAttention : public LayerOf<AdditiveAttention, Attention> {
 public:
  explicit AdditiveAttention(AdditiveAttentionOptions o = {});
};

}  // namespace weft::nn
