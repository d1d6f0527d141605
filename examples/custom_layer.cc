// A layer of one's own: x -> x * scale + shift, with weights that are made when the first input comes, inside a Sequential.
#include <cstdio>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;

struct Affine : nn::LayerOf<Affine> {
  weft::Variable scale, shift;
  Affine() : LayerOf("Affine") {}
  void build(const weft::PartialShape& in) override {
    scale = add_weight("scale", {in.dims.back()}, "ones");
    shift = add_weight("shift", {in.dims.back()}, "zeros");
  }
  weft::Tensor call(const weft::Tensor& x, const nn::CallOptions&) const override { return x * scale + shift; }
};

int main() {
  nn::set_random_seed(1);
  nn::Sequential net{nn::Dense(4, "relu"), Affine(), nn::Dense(1)};
  const weft::Tensor x{{0.f, 1.f}, {1.f, 0.f}, {1.f, 1.f}, {0.f, 0.f}}, y{{1.f}, {1.f}, {2.f}, {0.f}};
  nn::SGD sgd({.learning_rate = 0.05, .momentum = 0.9});
  auto step = weft::function([&] { return sgd.minimize([&] { return weft::reduce_mean(weft::square(net(x) - y)); }); });
  for (int i = 0; i < 300; ++i) step();
  std::printf("%s", net.summary().c_str());
  std::printf("1 + 1 = %.1f\n", net(weft::Tensor{{1.f, 1.f}}).item<float>());
}
