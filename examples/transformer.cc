// A small transformer that learns to turn rows of tokens round: attention finds the place to read from. The block is a layer of
// one's own that holds others.
#include <cstdio>
#include <random>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;

constexpr int64_t kTokens = 10, kLength = 8, kWidth = 32;

// Attention and a network for each position, each added to what came in.
struct Block : nn::LayerOf<Block> {
  nn::LayerNormalization norm1, norm2;
  nn::MultiHeadAttention attention{4, kWidth / 4};
  nn::Dense wide{4 * kWidth, "gelu"}, narrow{kWidth};
  Block() : LayerOf("Block") {
    track("norm1", norm1);
    track("norm2", norm2);
    track("attention", attention);
    track("wide", wide);
    track("narrow", narrow);
  }
  Tensor call(const Tensor& x, const nn::CallOptions&) const override {
    const Tensor h = norm1(x), y = x + attention(h, h);
    return y + narrow(wide(norm2(y)));
  }
};

// What a token is, and where it is.
struct Places : nn::LayerOf<Places> {
  nn::Embedding tokens{kTokens, kWidth}, places{kLength, kWidth};
  Places() : LayerOf("Places") {
    track("tokens", tokens);
    track("places", places);
  }
  Tensor call(const Tensor& x, const nn::CallOptions&) const override {
    return tokens(x) + places(weft::range(Tensor(0), Tensor(int32_t(kLength)), Tensor(1)));
  }
};

int main() {
  nn::set_random_seed(1);
  std::mt19937 random(1);
  nn::KerasTensor in = nn::Input({kLength}, {.dtype = weft::DType::int32}), x = Places()(in);
  for (int i = 0; i < 2; ++i) x = Block()(x);
  nn::Model net(in, nn::Dense(kTokens)(nn::LayerNormalization()(x)));
  std::printf("%s\n", net.summary().c_str());

  nn::Adam adam({.learning_rate = 3e-3});
  nn::losses::SparseCategoricalCrossentropy loss_of({.from_logits = true});
  auto step = weft::function(
      [&](const Tensor& row) { return adam.minimize([&] { return loss_of(weft::reverse(row, {1}), net(row, {.training = true})); }); });
  auto batch = [&] {
    std::vector<int32_t> v(32 * kLength);
    for (int32_t& t : v) t = int32_t(random() % kTokens);
    return Tensor::of<int32_t>({32, kLength}, std::span<const int32_t>(v));
  };
  for (int i = 0; i <= 300; ++i) {
    const float loss = step(batch()).item<float>();
    if (i % 100 == 0) std::printf("step %3d: loss %.4f\n", i, loss);
  }
  const Tensor rows = batch(), read = weft::cast(weft::argmax(net(rows), -1), weft::DType::int32);
  const Tensor right = weft::reduce_mean(weft::cast(read == weft::reverse(rows, {1}), weft::DType::float32));
  std::printf("%.1f %% of new tokens in the right place\n", 100 * right.item<float>());
}
