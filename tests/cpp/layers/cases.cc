#include "tests/cpp/layers/cases.h"

#include <map>

namespace layer_cases {

using namespace weft::nn;
using weft::Tensor;

namespace {

using Table = std::map<std::string, Case>;

void core(Table& t) {
  for (const char* a : {"relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "sigmoid", "hard_sigmoid", "hard_silu", "log_sigmoid", "tanh",
                        "softmax", "log_softmax", "softplus", "softsign", "silu", "mish", "exponential", "linear"})
    t["activation/" + std::string(a)] = {[a] { return ActivationLayer(a); }};
  t["gelu_approximate"] = {[] { return Lambda([](const Tensor& x) { return activations::gelu(x, true); }); }};
  t["dense"] = {[] { return Dense(4); }};
  t["dense_rank3"] = {[] { return Dense(4, {.activation = "relu", .use_bias = false}); }};
  t["dense_regularized"] = {[] { return Dense(4, {.kernel_regularizer = "l2", .bias_regularizer = "l1", .activity_regularizer = "l2"}); }};
  t["embedding"] = {[] { return Embedding(6, 3); }};
  t["flatten"] = {[] { return Flatten(); }};
  t["reshape"] = {[] { return Reshape({-1, 2}); }};
  t["permute"] = {[] { return Permute({2, 1, 3}); }};
  t["repeat_vector"] = {[] { return RepeatVector(3); }};
  t["relu_layer"] = {[] { return ReLU({.negative_slope = 0.1, .max_value = 1.5, .threshold = 0.2}); }};
  t["leaky_relu_layer"] = {[] { return LeakyReLU(); }};
  t["elu_layer"] = {[] { return ELU(0.7); }};
  t["softmax_axis"] = {[] { return Softmax(1); }};
  t["softmax_mask"] = {[] { return Softmax(); }};
  t["prelu"] = {[] { return PReLU({.shared_axes = {1}}); }};
  t["rescaling"] = {[] { return Rescaling(0.5, -1); }};
  t["dropout"] = {[] { return Dropout(0.4, {.seed = 11}); }, true};
  t["dropout_off"] = {[] { return Dropout(0.4, {.seed = 11}); }};
  t["spatial_dropout_1d"] = {[] { return SpatialDropout1D(0.4, {.seed = 12}); }, true};
  t["spatial_dropout_2d"] = {[] { return SpatialDropout2D(0.4, {.seed = 12}); }, true};
  t["gaussian_noise"] = {[] { return GaussianNoise(0.3, {.seed = 13}); }, true};
}

void convolutions(Table& t) {
  t["conv1d"] = {[] { return Conv1D(4, 3); }};
  t["conv1d_causal"] = {[] { return Conv1D(4, 3, {.padding = "causal", .dilation_rate = 2, .activation = "tanh"}); }};
  t["conv2d"] = {[] { return Conv2D(4, 3, {.activation = "relu"}); }};
  t["conv2d_same_strided"] = {[] { return Conv2D(4, {3, 2}, {.strides = 2, .padding = "same"}); }};
  t["conv2d_dilated"] = {[] { return Conv2D(4, 3, {.dilation_rate = 2, .use_bias = false}); }};
  t["conv2d_groups"] = {[] { return Conv2D(4, 3, {.groups = 2}); }};
  t["conv3d"] = {[] { return Conv3D(2, 2, {.strides = {1, 2, 1}, .padding = "same"}); }};
  t["conv1d_transpose"] = {[] { return Conv1DTranspose(3, 3, {.strides = 2, .padding = "same"}); }};
  t["conv2d_transpose"] = {[] { return Conv2DTranspose(3, 3, {.strides = 2}); }};
  t["conv2d_transpose_small"] = {[] { return Conv2DTranspose(3, 2, {.strides = 3}); }};
  t["conv2d_transpose_same"] = {[] { return Conv2DTranspose(3, {3, 4}, {.strides = 2, .padding = "same", .activation = "elu"}); }};
  t["conv2d_transpose_padded"] = {[] { return Conv2DTranspose(3, 3, {.strides = 2, .padding = "same", .output_padding = 1}); }};
  t["conv3d_transpose"] = {[] { return Conv3DTranspose(2, 2, {.strides = 2}); }};
  t["depthwise_conv1d"] = {[] { return DepthwiseConv1D(3, {.strides = 2, .depth_multiplier = 2}); }};
  t["depthwise_conv2d"] = {[] { return DepthwiseConv2D(3, {.padding = "same", .depth_multiplier = 2}); }};
  t["separable_conv1d"] = {[] { return SeparableConv1D(4, 3, {.depth_multiplier = 2}); }};
  t["separable_conv2d"] = {[] { return SeparableConv2D(4, 3, {.strides = 2, .padding = "same"}); }};
}

template <class Max, class Average, class GlobalMax, class GlobalAverage, class Pad, class Crop, class Up>
void pooling(Table& t, const std::string& d) {
  t["max_pooling" + d] = {[] { return Max(2); }};
  t["max_pooling" + d + "_same"] = {[] { return Max(3, {.strides = 2, .padding = "same"}); }};
  t["average_pooling" + d] = {[] { return Average(2); }};
  t["average_pooling" + d + "_same"] = {[] { return Average(3, {.strides = 2, .padding = "same"}); }};
  t["global_max_pooling" + d] = {[] { return GlobalMax(); }};
  t["global_average_pooling" + d] = {[] { return GlobalAverage({.keepdims = true}); }};
  t["zero_padding" + d] = {[] { return Pad(2); }};
  t["cropping" + d] = {[] { return Crop(1); }};
  t["up_sampling" + d] = {[] { return Up(2); }};
}

void spatial(Table& t) {
  pooling<MaxPooling1D, AveragePooling1D, GlobalMaxPooling1D, GlobalAveragePooling1D, ZeroPadding1D, Cropping1D, UpSampling1D>(t, "1d");
  pooling<MaxPooling2D, AveragePooling2D, GlobalMaxPooling2D, GlobalAveragePooling2D, ZeroPadding2D, Cropping2D, UpSampling2D>(t, "2d");
  pooling<MaxPooling3D, AveragePooling3D, GlobalMaxPooling3D, GlobalAveragePooling3D, ZeroPadding3D, Cropping3D, UpSampling3D>(t, "3d");
  t["global_average_pooling1d_mask"] = {[] { return GlobalAveragePooling1D(); }};
  t["zero_padding2d_pairs"] = {[] { return ZeroPadding2D({{1, 2}, {0, 3}}); }};
  t["cropping2d_pairs"] = {[] { return Cropping2D({{1, 0}, {0, 2}}); }};
  t["up_sampling2d_bilinear"] = {[] { return UpSampling2D({2, 3}, "bilinear"); }};
}

void normalization(Table& t) {
  for (bool training : {false, true}) {
    const std::string tag = training ? "_training" : "";
    t["batch_normalization" + tag] = {[] { return BatchNormalization(); }, training};
    t["batch_normalization_4d" + tag] = {[] { return BatchNormalization({.momentum = 0.8, .epsilon = 1e-4}); }, training};
    t["batch_normalization_3d" + tag] = {[] { return BatchNormalization({.scale = false}); }, training};
    t["batch_normalization_axis" + tag] = {[] { return BatchNormalization({.axis = 1, .center = false}); }, training};
  }
  t["batch_normalization_mask"] = {[] { return BatchNormalization(); }, true};
  t["layer_normalization"] = {[] { return LayerNormalization(); }};
  t["layer_normalization_axes"] = {[] { return LayerNormalization({.axis = {1, 2}, .epsilon = 1e-5}); }};
  t["group_normalization"] = {[] { return GroupNormalization(2); }};
  t["group_normalization_instance"] = {[] { return GroupNormalization(-1, {.axis = 1}); }};
  t["unit_normalization"] = {[] { return UnitNormalization(); }};
  t["normalization_adapted"] = {[] { return Normalization(); }};
  t["normalization_given"] = {[] { return Normalization({.mean = {1.5f}, .variance = {4.f}}); }};
}

template <class L>
void one_rnn(Table& t, const std::string& n) {
  t[n] = {[] { return L(5); }};
  t[n + "_sequences"] = {[] { return L(5, {.return_sequences = true, .return_state = true}); }};
  t[n + "_backwards"] = {[] { return L(5, {.return_sequences = true, .go_backwards = true}); }};
  t[n + "_mask"] = {[] { return L(5, {.return_sequences = true, .return_state = true}); }};
  t[n + "_mask_last"] = {[] { return L(5); }};
  t[n + "_mask_zero_backwards"] = {[] { return L(3, {.return_sequences = true, .go_backwards = true, .zero_output_for_mask = true}); }};
  t["bidirectional_" + n] = {[] { return Bidirectional(L(3, {.return_sequences = true})); }};
  t["bidirectional_sum_" + n] = {[] { return Bidirectional(L(3), {.merge_mode = "sum"}); }};
}

void recurrent(Table& t) {
  one_rnn<SimpleRNN>(t, "simple_rnn");
  one_rnn<LSTM>(t, "lstm");
  one_rnn<GRU>(t, "gru");
  t["lstm_no_bias"] = {[] { return LSTM(3, {.activation = "relu", .recurrent_activation = "hard_sigmoid", .use_bias = false}); }};
  t["lstm_initial_state"] = {[] { return LSTM(3, {.return_state = true}); }};
  t["gru_initial_state"] = {[] { return GRU(3); }};
  t["gru_reset_before"] = {[] { return GRU(3, {.reset_after = false}); }};
  t["bidirectional_state_lstm"] = {[] { return Bidirectional(LSTM(3, {.return_state = true})); }};
  for (auto& [name, c] : t) {
    const bool has_state = name.find("initial_state") != std::string::npos;  // whose second dimension is another
    c.open_time =
        !has_state && (name.find("rnn") != std::string::npos || name.find("lstm") != std::string::npos || name.find("gru") != std::string::npos);
  }
  t["time_distributed"] = {[] { return TimeDistributed(Dense(3)); }};
  t["time_distributed_conv"] = {[] { return TimeDistributed(Conv2D(3, 2)); }};
}

using Inputs = std::vector<Tensor>;

void attention(Table& t) {
  auto mha = [](const Layer& l) -> const MultiHeadAttention& { return dynamic_cast<const MultiHeadAttention&>(l); };
  t["multi_head_attention"] = {[] { return MultiHeadAttention(2, 3); }};
  t["multi_head_attention_key"] = {[] { return MultiHeadAttention(2, 3, {.value_dim = 4, .output_shape = 7, .use_bias = false}); }};
  t["multi_head_attention_causal"] = {
      [] { return MultiHeadAttention(2, 3); }, false, false,
      [=](const Layer& l, const Inputs& in, const CallOptions&) { return Inputs{mha(l)(in[0], in[0], {}, {.use_causal_mask = true})}; }};
  t["multi_head_attention_scores"] = {[] { return MultiHeadAttention(2, 3); }, false, false,
                                      [=](const Layer& l, const Inputs& in, const CallOptions&) { return mha(l).with_scores(in[0], in[1]); }};
  t["multi_head_attention_mask"] = {
      [] { return MultiHeadAttention(2, 3); }, false, false,
      [=](const Layer& l, const Inputs& in, const CallOptions&) { return Inputs{mha(l)(in[0], in[1], {}, {.attention_mask = in[2]})}; }};
  t["attention"] = {[] { return Attention(); }};
  t["attention_scaled"] = {[] { return Attention({.use_scale = true}); }};
  t["attention_concat"] = {[] { return Attention({.score_mode = "concat"}); }};
  t["additive_attention"] = {[] { return AdditiveAttention(); }};
}

void merging(Table& t) {
  t["add"] = t["add_three"] = t["add_broadcast"] = {[] { return Add(); }};
  t["subtract"] = {[] { return Subtract(); }};
  t["multiply"] = {[] { return Multiply(); }};
  t["average"] = {[] { return Average(); }};
  t["maximum"] = {[] { return Maximum(); }};
  t["minimum"] = {[] { return Minimum(); }};
  t["concatenate"] = {[] { return Concatenate(); }};
  t["concatenate_axis"] = {[] { return Concatenate(1); }};
  t["dot"] = {[] { return Dot(1); }};
  t["dot_matrices"] = {[] { return Dot({2, 1}, {.normalize = true}); }};
}

void models(Table& t) {
  t["nested_masked"] = {[] { return Sequential({Sequential({Masking(), LSTM(4, {.return_sequences = true})}), GRU(3)}); }};
  t["functional_masked"] = {[] {
    KerasTensor i = Input({4}, {.dtype = weft::DType::int32}), j = Input({4}, {.dtype = weft::DType::int32});
    Model inner(i, Dense(3)(Embedding(7, 4, {.mask_zero = true})(i)));
    return Model(j, LSTM(5)(inner(j)));
  }};
  t["sequential_masked"] = {[] { return Sequential({Embedding(7, 4, {.mask_zero = true}), LSTM(5), Dense(3, "softmax")}); }};
  t["sequential"] = {
      [] { return Sequential({Conv2D(3, 3, {.activation = "relu"}), MaxPooling2D(2), BatchNormalization(), Flatten(), Dense(6, "tanh"), Dense(3)}); },
      true};
}

}  // namespace

Case find(const std::string& name) {
  static const Table* table = [] {
    auto* t = new Table;
    core(*t);
    convolutions(*t);
    spatial(*t);
    normalization(*t);
    recurrent(*t);
    attention(*t);
    merging(*t);
    models(*t);
    return t;
  }();
  auto it = table->find(name);
  return it == table->end() ? Case{} : it->second;
}

Tensor value(const std::string& name, const Tensor& x) {
  namespace i = initializers;
  static const auto* made = new std::map<std::string, std::function<Tensor()>>{
      {"init/glorot_uniform", [] { return i::glorot_uniform({.seed = 42})({7, 5}); }},
      {"init/glorot_normal", [] { return i::glorot_normal({.seed = 42})({7, 5}); }},
      {"init/he_uniform", [] { return i::he_uniform({.seed = 1})({3, 3, 4, 8}); }},
      {"init/he_normal", [] { return i::he_normal({.seed = 1})({3, 3, 4, 8}); }},
      {"init/lecun_uniform", [] { return i::lecun_uniform({.seed = 3})({6}); }},
      {"init/lecun_normal", [] { return i::lecun_normal({.seed = 3})({6, 2}); }},
      {"init/random_normal", [] { return i::random_normal({.seed = 5})({4, 3}); }},
      {"init/random_uniform", [] { return i::random_uniform({.seed = 5})({4, 3}); }},
      {"init/truncated_normal", [] { return i::truncated_normal({.seed = 5})({4, 3}); }},
      {"init/variance_scaling",
       [] { return i::variance_scaling({.scale = 0.3, .mode = "fan_out", .distribution = "untruncated_normal", .seed = 9})({4, 3}); }},
      {"init/orthogonal", [] { return i::orthogonal({.seed = 2})({6, 4}); }},
      {"init/orthogonal_wide", [] { return i::orthogonal({.gain = 2, .seed = 2})({2, 2, 7}); }},
      {"init/identity", [] { return i::identity(1.5)({3, 5}); }},
      {"init/constant", [] { return i::constant(0.25)({3}); }},
  };
  static const auto* applied = new std::map<std::string, std::function<Tensor(const Tensor&)>>{
      {"regularizer/l1", [](const Tensor& t) { return regularizers::l1(0.02)(t); }},
      {"regularizer/l2", [](const Tensor& t) { return regularizers::l2(0.03)(t); }},
      {"regularizer/l1_l2", [](const Tensor& t) { return regularizers::l1_l2(0.1, 0.2)(t); }},
      {"regularizer/orthogonal_rows", [](const Tensor& t) { return regularizers::orthogonal(0.3, "rows")(t); }},
      {"regularizer/orthogonal_columns", [](const Tensor& t) { return regularizers::orthogonal(0.3, "columns")(t); }},
      {"constraint/max_norm", [](const Tensor& t) { return constraints::max_norm(0.7)(t); }},
      {"constraint/min_max_norm", [](const Tensor& t) { return constraints::min_max_norm(0.5, 0.9, 0.4)(t); }},
      {"constraint/unit_norm", [](const Tensor& t) { return constraints::unit_norm()(t); }},
      {"constraint/non_neg", [](const Tensor& t) { return constraints::non_neg()(t); }},
  };
  if (auto it = made->find(name); it != made->end()) return it->second();
  if (auto it = applied->find(name); it != applied->end()) return it->second(x);
  return {};
}

}  // namespace layer_cases
