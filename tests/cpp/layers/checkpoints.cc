// Checkpoints of layers, exchanged with Keras:
//   layer_checkpoints check DIR           reads what Keras wrote into DIR (interop_layers.py record) and compares the outputs
//   layer_checkpoints read NAME PREFIX    reads a checkpoint into a model that has no weights yet, and prints its outputs
//   layer_checkpoints write NAME PREFIX   writes one of a model with weights of its own, and prints its outputs
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;

namespace {

struct Net {
  std::shared_ptr<nn::Layer> model;
  std::vector<Tensor> inputs;
};

Tensor floats(std::vector<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(float(i % 13) / 8.f - float(i % 5) / 4.f);
  return Tensor::of<float>(std::move(shape), std::span<const float>(v));
}

Net text() {
  auto model = std::make_shared<nn::Sequential>(std::vector<nn::AnyLayer>{
      nn::Embedding(9, 4), nn::Bidirectional(nn::LSTM(3, {.return_sequences = true})), nn::LayerNormalization(),
      nn::TimeDistributed(nn::Dense(4, "relu")), nn::Dropout(0.2), nn::GRU(3, {.return_sequences = true}), nn::SimpleRNN(3), nn::Dense(2)});
  return {model, {Tensor{{1, 2, 3, 8}, {0, 4, 5, 7}}}};
}

Net vision() {
  nn::KerasTensor in = nn::Input({6, 6, 2}), other = nn::Input({5});
  nn::KerasTensor x = nn::Conv2D(4, 3, {.padding = "same"})(in);
  x = nn::BatchNormalization()(x);
  x = nn::PReLU({.shared_axes = {1, 2}})(x);
  x = nn::DepthwiseConv2D(3)(x);
  x = nn::GroupNormalization(2)(x);
  x = nn::SeparableConv2D(6, 2)(x);
  x = nn::Conv2DTranspose(4, 2, {.strides = 2})(x);
  nn::KerasTensor rows = nn::Reshape({9, 16})(x);
  rows = nn::MultiHeadAttention(2, 3)({rows, rows});
  nn::KerasTensor flat = nn::Flatten()(rows);
  nn::KerasTensor y = nn::Add()({nn::Dense(3)(flat), nn::Dense(3)(other)});
  return {std::make_shared<nn::Model>(std::vector{in, other}, std::vector{y, nn::Dense(1)(y)}), {floats({2, 6, 6, 2}), floats({2, 5})}};
}

Net make(const std::string& name) { return name == "text" ? text() : vision(); }

std::vector<float> outputs(const Net& net) {
  std::vector<float> out;
  for (const Tensor& t : net.model->apply(net.inputs))
    for (float v : t.data<float>()) out.push_back(v);
  return out;
}

// For text the layers have no weights yet: they get their values when they make them.
std::vector<float> read(const std::string& name, const std::string& prefix) {
  Net net = make(name);
  weft::Checkpoint checkpoint({{"model", *net.model}});
  auto status = checkpoint.read(prefix);
  std::vector<float> out = outputs(net);
  status.assert_consumed();
  return out;
}

int check(const std::string& dir) {
  int failures = 0;
  for (const std::string name : {"text", "vision"}) {
    std::ifstream file(dir + "/" + name + ".txt");
    std::vector<float> want;
    for (float v; file >> v;) want.push_back(v);
    const std::vector<float> got = read(name, dir + "/" + name);
    bool good = got.size() == want.size() && !want.empty();
    for (size_t i = 0; good && i < got.size(); ++i) good = std::fabs(got[i] - want[i]) <= 1e-5f * std::max(1.f, std::fabs(want[i]));
    std::cout << name << (good ? ": the outputs are Keras'\n" : ": the outputs differ\n");
    failures += !good;
  }
  return failures != 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && !std::strcmp(argv[1], "check")) return check(argv[2]);
    if (argc != 4) return 2;
    std::vector<float> out;
    if (!std::strcmp(argv[1], "read")) {
      out = read(argv[2], argv[3]);
    } else {
      Net net = make(argv[2]);
      out = outputs(net);
      weft::Checkpoint({{"model", *net.model}}).write(argv[3]);
    }
    for (float v : out) std::printf("%.9g\n", double(v));
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
