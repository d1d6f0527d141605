// Ends, or forks, while threads of the program are in the engine: busy_process exit|return|fork SEED
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <weft/raw.h>
#include <weft/weft.h>

namespace {

weft::Tensor kept;  // destroyed when the process ends
std::vector<weft::Tensor> many;

void use() {
  weft::Tensor a = weft::raw::RandomUniform(weft::Tensor{200, 200}, weft::DType::float32);
  weft::Tensor b = weft::matmul(a, a) + 1.f;
  auto sum = weft::function([](const weft::Tensor& x) { return weft::reduce_sum(x * 2.f); });
  if (sum(weft::ones({1000})).item<float>() != 2000.f) std::abort();
  if (b.shape().size() != 2) std::abort();
}

void busy(unsigned seed) {
  std::mt19937 random(seed);
  weft::Tensor a = weft::ones({100, 100});
  auto loop = weft::function([](const weft::Tensor& x) { return weft::matmul(x, x) * 0.01f; });
  const float factor = float(random() % 1000);
  auto hot = weft::function([factor](const weft::Tensor& x) { return weft::tanh(weft::exp(x * factor) + 1.f); });
  for (;;) {
    switch (random() % 5) {
      case 0: a = weft::matmul(a, a) * 0.01f; break;
      case 1: a = loop(a); break;
      case 3:  // one that is compiled in the background (WEFT_JIT=auto)
        for (int i = 0; i < 100; ++i) weft::reduce_sum(hot(a));
        break;
      case 2: weft::raw::TopKV2(a, weft::Tensor(2)); break;
      default: weft::reduce_sum(weft::ones({200000}));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "exit";
  std::mt19937 random(argc > 2 ? unsigned(std::atoi(argv[2])) : 1);
  kept = weft::ones({1000, 10});
  for (int i = 0; i < 100; ++i) many.push_back(weft::ones({i + 1}));
  use();
  const int threads = 1 + int(random() % 4);
  for (int i = 0; i < threads; ++i) std::thread(busy, unsigned(random())).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
  if (how == "fork") {
    for (int i = 0; i < 5; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        use();
        _exit(7);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
        std::cerr << "the child ended with " << status << std::endl;
        _exit(1);
      }
    }
    _exit(0);
  }
  if (how == "exit") std::exit(5);
  return 5;
}
