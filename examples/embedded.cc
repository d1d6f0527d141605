// The network that examples/digits.cc trained, inside a program that links no weft: `weft compile` made net.h and net.o, which needs libc and libm, of the
// SavedModel. It reads the test's digits, judges itself, and continues learning.
//
//   weft compile build/digits/model -o build/digits/net --class demo::Digits -s serving_default -s train
//   g++ -std=c++17 -O2 -Ibuild/digits examples/embedded.cc build/digits/net.o -lm -o embedded && ./embedded build/digits
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "net.h"

template <class T>
static std::vector<T> read(const std::string& path) {
  std::vector<T> values;
  if (FILE* f = std::fopen(path.c_str(), "rb")) {
    T v;
    while (std::fread(&v, sizeof v, 1, f) == 1) values.push_back(v);
    std::fclose(f);
  }
  return values;
}

int main(int argc, char** argv) {
  const std::string dir = argc > 1 ? argv[1] : "build/digits";
  const auto images = read<float>(dir + "/images.f32");
  const auto labels = read<int32_t>(dir + "/labels.i32");
  const int64_t n = int64_t(labels.size());
  if (n == 0 || images.size() != labels.size() * 64) return std::puts("run examples/digits first: it writes the pictures"), 2;

  auto net = std::make_unique<demo::Digits>();
  auto& predict = net->serving_default;
  auto accuracy = [&] {
    if (!predict.resize(n)) return -1.0;
    predict.set_images(images.data());
    if (!predict.run()) return std::puts(predict.error()), -1.0;
    int64_t right = 0;
    for (int64_t i = 0; i < n; ++i) {
      const float* p = predict.probabilities() + i * 10;
      right += std::max_element(p, p + 10) - p == labels[size_t(i)];
    }
    return 100.0 * double(right) / double(n);
  };
  const double before = accuracy();
  std::printf("without weft: %.2f %% of %lld digits\n", before, static_cast<long long>(n));

  auto& train = net->train;
  constexpr int64_t kRows = 32;
  float first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    const int64_t row = step * kRows % (n - kRows);
    if (!train.resize(kRows)) return 3;
    train.set_images(images.data() + row * 64);
    train.set_labels(labels.data() + row);
    if (!train.run()) return std::puts(train.error()), 3;
    last = *train.loss();
    if (step == 0) first = last;
  }
  std::printf("twenty more steps of training: loss %.4f, then %.4f; %.2f %%\n", double(first), double(last), accuracy());
  return before >= 97 ? 0 : 1;  // 98.9 here; another processor rounds otherwise while it trains
}
