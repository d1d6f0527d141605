// A function with a gradient of its own. log(1 + e^x) overflows for large x, and its derivative by the chain rule is
// inf / inf = nan there; written down by hand it is fine.
#include <cstdio>

#include "weft/weft.h"

weft::Tensor softplus_plain(const weft::Tensor& x) { return weft::log(weft::exp(x) + 1.f); }

weft::Tensor softplus_careful(const weft::Tensor& x) {
  return weft::custom_gradient(
      [](const std::vector<weft::Tensor>& in) -> weft::CustomGradient {
        const weft::Tensor e = weft::exp(in[0]);
        return {{weft::log(e + 1.f)}, [e](const std::vector<weft::Tensor>& dy) -> std::vector<weft::Tensor> {
                  return {dy[0] * (weft::Tensor(1.f) - weft::Tensor(1.f) / (e + 1.f))};
                }};
      },
      {x})[0];
}

int main() {
  const weft::Tensor x(100.f);
  for (auto [name, f] : {std::pair("plain", &softplus_plain), std::pair("careful", &softplus_careful)}) {
    weft::GradientTape tape;
    tape.watch(x);
    const weft::Tensor y = f(x);
    std::printf("%s: gradient %f\n", name, weft::Tensor(tape.gradient(y, x)).item<float>());
  }
}
