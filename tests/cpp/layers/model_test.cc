// Names, lists of weights, copies, tracking, summaries and functional models, on the shared library. The tables are what Keras
// prints.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>

#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;
using weft::Variable;

namespace {

int failures = 0;
void expect(bool good, const std::string& what) {
  if (good) return;
  std::cout << "failed: " << what << "\n";
  ++failures;
}
template <class A, class B>
void expect_equal(const A& got, const B& want, const std::string& what) {
  if (got == want) return;
  std::cout << "failed: " << what << "\n  got\n" << got << "\n  for\n" << want << "\n";
  ++failures;
}
template <class F>
void expect_error(F f, const std::string& part, const std::string& what) {
  try {
    f();
    expect(false, what + ": no error");
  } catch (const weft::Error& e) {
    expect(std::string(e.what()).find(part) != std::string::npos, what + ": " + e.what());
  }
}
std::string names(const std::vector<Variable>& list) {
  std::string out;
  for (const Variable& v : list) out += (out.empty() ? "" : " ") + v.name();
  return out;
}

struct Scale : nn::LayerOf<Scale> {
  Variable factor;
  Scale() : LayerOf("Scale") {}
  void build(const weft::PartialShape& in) override { factor = add_weight("factor", {in.dims.back()}, "ones", {.regularizer = "l2"}); }
  Tensor call(const Tensor& x, const nn::CallOptions& o) const override {
    if (o.training) add_loss(weft::reduce_sum(x));
    return x * factor;
  }
};

struct Block : nn::Layer {
  nn::Dense inner{3};
  nn::Dropout dropout{0.5};
  std::vector<nn::Dense> more{nn::Dense(2), nn::Dense(1)};
  Block() : Layer("Block") {
    track("inner", inner);
    track("dropout", dropout);
    track("more", more);
  }
  Tensor call(const Tensor& x, const nn::CallOptions&) const override {
    Tensor y = dropout(inner(x));
    for (const nn::Dense& d : more) y = d(y);
    return y;
  }
};

void names_and_weights() {
  nn::clear_session();
  nn::Dense a(2), b(2);
  nn::BatchNormalization bn;
  nn::PReLU p;
  expect_equal(a.name() + " " + b.name() + " " + bn.name() + " " + p.name(), "dense dense_1 batch_normalization p_re_lu", "names");
  nn::Sequential m{a, bn, b};
  m(weft::ones({4, 3}));
  expect_equal(
      names(m.weights()),
      "sequential/dense/kernel sequential/dense/bias sequential/batch_normalization/gamma sequential/batch_normalization/beta "
      "sequential/batch_normalization/moving_mean sequential/batch_normalization/moving_variance sequential/dense_1/kernel sequential/dense_1/bias",
      "weights");
  expect_equal(m.trainable_variables().size(), 6u, "trainable");
  expect_equal(m.non_trainable_variables().size(), 2u, "not trainable");
  expect_equal(m.count_params(), 3 * 2 + 2 + 8 + 2 * 2 + 2, "count");
  // A copy that was made before the weights is the same layer.
  expect(a.weights().size() == 2 && a.weights()[0].same(m.weights()[0]), "the layer outside knows the weights");
  const Tensor x = weft::ones({1, 3});
  expect(a(x).to_vector<float>() == (*m[0])(x).to_vector<float>(), "the copy computes the same");
  expect(a.kernel().has_value() && a.kernel().same(m.weights()[0]), "the copy has the same kernel");
  a.set_trainable(false);
  expect_equal(m.trainable_variables().size(), 4u, "frozen");
  {
    weft::GradientTape tape;
    auto g = tape.gradient(weft::reduce_sum(m(x)), m.weights());
    expect(!g[0].has_value() && g[6].has_value(), "a frozen weight is not watched");
  }
  a.set_trainable(true);
  expect_equal(m.trainable_variables().size(), 6u, "not frozen any more");
  expect_error([&] { m.set_weights({x}); }, "with a weight list of length 1, but the layer was expecting 8 weights", "set_weights");
  expect_error([&] { a(weft::ones({1, 4})); },
               "Input 0 of layer \"dense\" is incompatible with the layer: expected axis -1 of input shape to have value 3, but received input with "
               "shape (1, 4)",
               "another width");
  expect_error([] { nn::Conv2D(2, 3)(weft::ones({1, 4, 4})); }, "expected ndim=4, found ndim=3. Full shape received: (1, 4, 4)", "another rank");
  expect_error([] { nn::LSTM(2)(weft::ones({1, 4})); }, "expected ndim=3", "a sequence without features");
  {
    nn::Dense wide(2);
    wide.set_dtype(weft::DType::float64);
    expect(wide(weft::ones({1, 3}, weft::DType::float64)).dtype() == weft::DType::float64, "a layer of doubles");
  }
  expect_error([&] { m.add(nn::Dense(1, {.name = "dense"})); }, "unique names", "names of layers");
  expect_error([] { nn::Dense(2, "sigmoidal"); }, "sigmoidal", "an activation that is not there");
}

void custom_layers() {
  nn::clear_session();
  Block block;
  block(weft::ones({2, 4}), {.training = true});
  expect_equal(names(block.weights()),
               "block/dense/kernel block/dense/bias block/dense_1/kernel block/dense_1/bias block/dense_2/kernel block/dense_2/bias",
               "weights of a block");
  expect_equal(block.variables().size(), 7u, "with the state of the dropout");
  const Tensor x = weft::ones({2, 4});
  expect(block(x).to_vector<float>() == block(x).to_vector<float>(), "no dropout outside of training");
  Scale s;
  s(weft::ones({2, 3}), {.training = true});
  auto losses = s.losses();
  expect_equal(losses.size(), 2u, "losses");
  expect_equal(losses[0].item<float>(), 6.f, "an added loss");
  expect(std::abs(losses[1].item<float>() - 0.03f) < 1e-6, "a regularizer");
  s(weft::ones({2, 3}), {.training = true});
  expect_equal(s.losses().size(), 2u, "those of the last call alone");
  // The same in a graph, made in its first trace.
  Block fresh;
  auto f = weft::function([&](const Tensor& in) { return fresh(in); });
  f(x);
  expect(fresh.weights().size() == 6 && f(x).shape() == std::vector<int64_t>({2, 1}), "built inside a function");
}

void summaries() {
  nn::clear_session();
  nn::Sequential m({nn::Conv2D(32, 3, {.activation = "relu"}), nn::MaxPooling2D(2), nn::BatchNormalization(), nn::Flatten(), nn::Dense(1000)},
                   {.name = "sequential_1"});
  expect(m.summary().find("0 (unbuilt)") != std::string::npos, "a summary before building");
  m.build({-1, 8, 8, 1});
  m[0]->set_trainable(false);
  expect_equal(m.summary(), R"(Model: "sequential_1"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ conv2d (Conv2D)                 │ (None, 6, 6, 32)       │           320 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ max_pooling2d (MaxPooling2D)    │ (None, 3, 3, 32)       │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ batch_normalization             │ (None, 3, 3, 32)       │           128 │
│ (BatchNormalization)            │                        │               │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ flatten (Flatten)               │ (None, 288)            │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ dense (Dense)                   │ (None, 1000)           │       289,000 │
└─────────────────────────────────┴────────────────────────┴───────────────┘
 Total params: 289,448 (1.10 MB)
 Trainable params: 289,064 (1.10 MB)
 Non-trainable params: 384 (1.50 KB)
)",
               "the summary of a sequential model");
}

void functional() {
  nn::clear_session();
  nn::KerasTensor x = nn::Input({4}, {.name = "x"}), e = nn::Input({3}, {.name = "extra"});
  nn::Dense shared(3, {.name = "dense_3"});
  nn::KerasTensor y = shared(x), z = shared(x);
  nn::KerasTensor o = nn::Concatenate()({y, z, e});
  auto lstm = nn::LSTM(2, {.return_state = true}).apply(std::vector{nn::Reshape({3, 3})(o)});
  nn::KerasTensor o2 = nn::Dense(1, {.name = "dense_4"})(lstm[0]);
  nn::Model m({x, e}, {o2, lstm[1]}, "two");
  expect_equal(m.summary(), R"(Model: "two"
┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┓
┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃
┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━┩
│ x (InputLayer)      │ (None, 4)         │          0 │ -                 │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ dense_3 (Dense)     │ (None, 3)         │         15 │ x[0][0], x[0][0]  │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ extra (InputLayer)  │ (None, 3)         │          0 │ -                 │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ concatenate         │ (None, 9)         │          0 │ dense_3[0][0],    │
│ (Concatenate)       │                   │            │ dense_3[1][0],    │
│                     │                   │            │ extra[0][0]       │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ reshape (Reshape)   │ (None, 3, 3)      │          0 │ concatenate[0][0] │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ lstm (LSTM)         │ [(None, 2),       │         48 │ reshape[0][0]     │
│                     │ (None, 2), (None, │            │                   │
│                     │ 2)]               │            │                   │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ dense_4 (Dense)     │ (None, 1)         │          3 │ lstm[0][0]        │
└─────────────────────┴───────────────────┴────────────┴───────────────────┘
 Total params: 66 (264.00 B)
 Trainable params: 66 (264.00 B)
 Non-trainable params: 0 (0.00 B)
)",
               "the summary of a functional model");
  expect_equal(names(m.weights()),
               "dense_3/kernel dense_3/bias lstm/lstm_cell/kernel lstm/lstm_cell/recurrent_kernel lstm/lstm_cell/bias dense_4/kernel dense_4/bias",
               "its weights");
  const std::vector<Tensor> both = m.apply({weft::ones({5, 4}), weft::ones({5, 3})});
  expect(both.size() == 2 && both[0].shape() == std::vector<int64_t>({5, 1}) && both[1].shape() == std::vector<int64_t>({5, 2}), "its outputs");
  auto f = weft::function([&](const Tensor& a, const Tensor& b) { return m.apply({a, b}); });
  // A graph fuses the cell, which sums in another order.
  const auto in_graph = f(weft::ones({5, 4}), weft::ones({5, 3}))[1].to_vector<float>(), at_once = both[1].to_vector<float>();
  expect(std::equal(in_graph.begin(), in_graph.end(), at_once.begin(), at_once.end(), [](float a, float b) { return std::abs(a - b) < 1e-6f; }),
         "the same in a graph");
  expect_error([&] { m(weft::ones({5, 4})); }, "expects 2 input(s)", "an input is missing");
  expect_error([&] { nn::Model({x}, {o}); }, "'extra', which is not among its inputs", "an input that was not named");
  // A model is a layer.
  nn::KerasTensor in = nn::Input({4});
  nn::Model outer(in, nn::Dense(1)(nn::Sequential({nn::Dense(3), nn::Dense(2)})(in)));
  expect_equal(outer(weft::ones({2, 4})).shape().back(), 1, "a model in a model");
  expect_equal(outer.weights().size(), 6u, "with all weights");
}

}  // namespace

int main() {
  try {
    names_and_weights();
    custom_layers();
    summaries();
    functional();
  } catch (const std::exception& e) {
    std::cout << "error: " << e.what() << "\n";
    return 1;
  }
  std::cout << (failures ? "layers fail\n" : "layers are good\n");
  return failures != 0;
}
