#include "weft/nn/attention.h"

#include <cmath>

#include "api/nn/support.h"
#include "weft/raw/array.h"

namespace weft::nn {

using namespace detail;

namespace {

// [1, queries, values]: true where the value is not later than the query.
Tensor causal(const Tensor& query, const Tensor& value) {
  const Tensor zero(int32_t(0)), one(int32_t(1));
  const Tensor rows = range(zero, size_along(query, 1), one), columns = range(zero, size_along(value, 1), one);
  return expand_dims(expand_dims(rows, 1) >= expand_dims(columns, 0), 0);
}

Tensor both(const Tensor& a, const Tensor& b) { return !a.has_value() ? b : !b.has_value() ? a : logical_and(a, b); }
Tensor as_bool(const Tensor& m) { return !m.has_value() || m.dtype() == DType::boolean ? m : cast(m, DType::boolean); }

}  // namespace

// A product from [..., in...] to [..., out...], whose kernel keeps the axes of the heads apart (Keras' EinsumDense).
class MultiHeadAttention::Heads : public LayerOf<Heads> {
 public:
  Heads(const std::string& name, std::vector<int64_t> in, std::vector<int64_t> out, const MultiHeadAttentionOptions& o)
      : LayerOf("EinsumDense", name), in_(std::move(in)), out_(std::move(out)), o_(o) {}
  void build(const PartialShape&) override {
    std::vector<int64_t> shape = in_;
    shape.insert(shape.end(), out_.begin(), out_.end());
    kernel_ = add_weight("kernel", shape, o_.kernel_initializer,
                         {.regularizer = o_.kernel_regularizer, .constraint = o_.kernel_constraint, .attribute = "_kernel"});
    if (o_.use_bias) bias_ = add_weight("bias", out_, o_.bias_initializer, {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
  }
  Tensor call(const Tensor& x, const CallOptions&) const override {
    int64_t in = 1, out = 1;
    for (int64_t d : in_) in *= d;
    for (int64_t d : out_) out *= d;
    Tensor y = matmul(reshape(x, {-1, in}), reshape(kernel_, {in, out}));
    if (o_.use_bias) y = bias_add(y, reshape(bias_, {out}));
    std::vector<int64_t> dims{like_dim(0), like_dim(1)};
    dims.insert(dims.end(), out_.begin(), out_.end());
    return reshape_like(y, dims, x);
  }

 private:
  std::vector<int64_t> in_, out_;
  MultiHeadAttentionOptions o_;
  Variable kernel_, bias_;
};

// Made when the sizes are known, for all copies.
struct MultiHeadAttention::Parts {
  std::shared_ptr<Heads> query, key, value, output;
  std::shared_ptr<Dropout> dropout;
};

MultiHeadAttention::MultiHeadAttention(int64_t num_heads, int64_t key_dim, MultiHeadAttentionOptions o)
    : LayerOf("MultiHeadAttention", o.name), heads_(num_heads), key_dim_(key_dim), o_(std::move(o)), parts_(std::make_shared<Parts>()) {
  if (num_heads <= 0 || key_dim <= 0) fail(Code::kInvalidArgument, "MultiHeadAttention needs a positive number of heads and a positive key_dim");
  if (o_.value_dim == 0) o_.value_dim = key_dim;
  if (o_.dropout > 0) parts_->dropout = std::make_shared<Dropout>(o_.dropout, DropoutOptions{.seed = o_.seed});
}

void MultiHeadAttention::build_many(const std::vector<PartialShape>& inputs) {
  const PartialShape& q = inputs[0];
  const PartialShape& v = inputs.size() > 1 && inputs[1].known_rank ? inputs[1] : q;
  const PartialShape& k = inputs.size() > 2 && inputs[2].known_rank ? inputs[2] : v;
  for (const PartialShape* s : {&q, &v, &k})
    if (!s->known_rank || s->dims.size() != 3)
      fail(Code::kUnimplemented, "MultiHeadAttention works on inputs [batch, positions, features]; it was given " + text(*s));
  const int64_t dq = known_dim(q, -1, name()), dv = known_dim(v, -1, name()), dk = known_dim(k, -1, name());
  Parts& p = *parts_;
  if (p.query) return;
  p.query = std::make_shared<Heads>("query", std::vector{dq}, std::vector{heads_, key_dim_}, o_);
  p.key = std::make_shared<Heads>("key", std::vector{dk}, std::vector{heads_, key_dim_}, o_);
  p.value = std::make_shared<Heads>("value", std::vector{dv}, std::vector{heads_, o_.value_dim}, o_);
  p.output = std::make_shared<Heads>("attention_output", std::vector{heads_, o_.value_dim}, std::vector{o_.output_shape ? o_.output_shape : dq}, o_);
  track("_query_dense", p.query);
  track("_key_dense", p.key);
  track("_value_dense", p.value);
  if (p.dropout) track("_dropout_layer", p.dropout);
  track("_output_dense", p.output);
}

Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& value, const Tensor& key, const AttentionCallOptions& o) const {
  return with_scores(query, value, key, o)[0];
}

std::vector<Tensor> MultiHeadAttention::with_scores(const Tensor& query, const Tensor& value, const Tensor& key,
                                                    const AttentionCallOptions& o) const {
  return as_call({query, value, key}, {.training = o.training}, [&] { return attend(query, value, key, o); });
}

Tensor MultiHeadAttention::call(const Tensor& x, const CallOptions& o) const {
  return attend(x, x, {}, {.query_mask = o.mask, .training = o.training})[0];
}

std::vector<Tensor> MultiHeadAttention::call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  auto input = [&](size_t i) { return i < inputs.size() ? inputs[i] : Tensor(); };
  const Tensor value = input(1).has_value() ? input(1) : inputs[0];
  return {attend(inputs[0], value, input(2), {.query_mask = o.mask, .attention_mask = input(3), .training = o.training})[0]};
}

std::vector<Tensor> MultiHeadAttention::attend(const Tensor& query, const Tensor& value, const Tensor& given_key,
                                               const AttentionCallOptions& o) const {
  const Tensor key = given_key.has_value() ? given_key : value;
  Tensor mask = as_bool(o.attention_mask);
  if (o.query_mask.has_value()) mask = both(mask, expand_dims(as_bool(o.query_mask), -1));
  if (o.value_mask.has_value()) mask = both(mask, expand_dims(as_bool(o.value_mask), -2));
  if (o.key_mask.has_value()) mask = both(mask, expand_dims(as_bool(o.key_mask), -2));
  if (o.use_causal_mask) mask = both(mask, causal(query, value));

  // [batch, heads, positions, features], so that the products are over the last two.
  const std::vector<int64_t> perm{0, 2, 1, 3};
  const Tensor q = transpose((*parts_->query)(query)*number(1 / std::sqrt(double(key_dim_)), query), perm);
  const Tensor k = transpose((*parts_->key)(key), perm), v = transpose((*parts_->value)(value), perm);
  Tensor scores = matmul(q, k, {.transpose_b = true});
  if (mask.has_value()) {
    if (rank_of(mask, name()) == 3) mask = expand_dims(mask, 1);
    scores = where(mask, scores, number(scores.dtype() == DType::float16 ? -3e4 : -1e9, scores));
  }
  scores = softmax(scores);
  const Tensor used = parts_->dropout ? (*parts_->dropout)(scores, {.training = o.training}) : scores;
  return {(*parts_->output)(transpose(matmul(used, v), perm)), scores};
}

Attention::Attention(AttentionOptions o) : Attention("Attention", std::move(o)) {}
Attention::Attention(const std::string& type, AttentionOptions o) : LayerOf(type, o.name), o_(std::move(o)) {
  if (o_.score_mode != "dot" && o_.score_mode != "concat" && o_.score_mode != "additive")
    fail(Code::kInvalidArgument, "Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. Received: score_mode=" + o_.score_mode);
}

void Attention::build_many(const std::vector<PartialShape>& inputs) {
  if (inputs.size() < 2 || inputs.size() > 3)
    fail(Code::kInvalidArgument, type() + " layer must be called on a list of inputs, namely [query, value] or [query, value, key]");
  if (o_.score_mode == "additive") {
    if (o_.use_scale) scale_ = add_weight("scale", {known_dim(inputs[0], -1, name())}, "glorot_uniform");
  } else if (o_.use_scale) {
    scale_ = add_weight("scale", {}, "ones");
  }
  if (o_.score_mode == "concat") concat_weight_ = add_weight("concat_score_weight", {}, "ones");
  if (o_.dropout > 0) seed_ = add_seed(o_.seed);
}

Tensor Attention::operator()(const Tensor& query, const Tensor& value, const Tensor& key, const AttentionCallOptions& o) const {
  std::vector<Tensor> inputs{query, value};
  if (key.has_value()) inputs.push_back(key);
  return as_call(inputs, {.training = o.training}, [&] { return attend(inputs, o); })[0];
}

std::vector<Tensor> Attention::call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  return {attend(inputs, {.training = o.training})[0]};
}

Tensor Attention::scores(const Tensor& query, const Tensor& key) const {
  if (o_.score_mode == "dot") {
    const Tensor s = matmul(query, key, {.transpose_b = true});
    return o_.use_scale ? s * scale_ : s;
  }
  Tensor sum = expand_dims(query, -2) + expand_dims(key, -3);
  if (o_.score_mode == "additive") {
    const Tensor t = weft::tanh(sum);
    return reduce_sum(o_.use_scale ? t * scale_ : t, {.axis = {-1}});
  }
  if (o_.use_scale) sum = sum * scale_;
  return concat_weight_ * reduce_sum(weft::tanh(sum), {.axis = {-1}});
}

std::vector<Tensor> Attention::attend(const std::vector<Tensor>& inputs, const AttentionCallOptions& o) const {
  const Tensor &query = inputs[0], &value = inputs[1], &key = inputs.size() > 2 ? inputs[2] : inputs[1];
  Tensor s = scores(query, key), mask = as_bool(o.attention_mask);
  if (o.value_mask.has_value()) mask = both(mask, expand_dims(as_bool(o.value_mask), -2));
  if (o.use_causal_mask) mask = both(mask, causal(query, value));
  if (mask.has_value()) s = where(mask, s, s - number(s.dtype() == DType::float16 ? 65504. : 1e9, s));
  const Tensor weights = softmax(s);
  Tensor used = weights;
  if (o.training && o_.dropout > 0) {
    const Tensor keep = random_uniform(raw::Shape(weights), next_seed(seed_), weights.dtype()) >= number(o_.dropout, weights);
    used = where(keep, weights * number(1 / (1 - o_.dropout), weights), number(0, weights));
  }
  Tensor y = matmul(used, value);
  if (o.query_mask.has_value()) y = where(expand_dims(as_bool(o.query_mask), -1), y, number(0, y));
  return {y, weights};
}

AdditiveAttention::AdditiveAttention(AdditiveAttentionOptions o)
    : LayerOf("AdditiveAttention", AttentionOptions{.use_scale = o.use_scale, .score_mode = "additive", .dropout = o.dropout, .name = o.name}) {}

}  // namespace weft::nn
