// A line through noisy points, with a bare GradientTape: y = 3 x + 2 is found again.
#include <cstdio>

#include "weft/raw.h"
#include "weft/weft.h"

int main() {
  const weft::Tensor seed = weft::Tensor{7, 42};
  const weft::Tensor x = weft::raw::StatelessRandomNormal(weft::Tensor{200}, seed);
  const weft::Tensor noise = weft::raw::StatelessRandomNormal(weft::Tensor{200}, weft::Tensor{8, 42});
  const weft::Tensor y = x * 3.f + 2.f + noise * 0.1f;

  weft::Variable w(weft::Tensor(0.f), {.name = "w"}), b(weft::Tensor(0.f), {.name = "b"});
  for (int step = 0; step < 100; ++step) {
    weft::GradientTape tape;
    const weft::Tensor loss = weft::reduce_mean(weft::square(x * w + b - y));
    auto [dw, db] = tape.gradient(loss, std::pair(w, b));
    w.assign_sub(dw.dense() * 0.1f);
    b.assign_sub(db.dense() * 0.1f);
    if (step % 25 == 0) std::printf("step %d, loss %.4f\n", step, loss.item<float>());
  }
  std::printf("w = %.1f, b = %.1f\n", w.value().item<float>(), b.value().item<float>());
}
