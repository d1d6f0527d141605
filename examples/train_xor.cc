// Loads a SavedModel that TensorFlow wrote, looks at it, trains it, and asks it again. The model has never seen C++.
#include <iostream>
#include <weft/weft.h>

int main(int argc, char** argv) {
  weft::Model model = weft::load(argc > 1 ? argv[1] : "examples/data/xor");
  for (const auto& signature : model.signatures()) std::cout << to_string(signature) << '\n';

  const weft::Tensor x{{0.f, 0.f}, {0.f, 1.f}, {1.f, 0.f}, {1.f, 1.f}}, y{{0.f}, {1.f}, {1.f}, {0.f}};
  auto train = model["train"];
  for (int step = 0; step < 500; ++step) {
    const float loss = train({{"x", x}, {"y", y}})["loss"].item<float>();
    if (step % 100 == 0 || step == 499) std::cout << "step " << step << ", loss " << loss << '\n';
  }
  std::cout << "xor: " << model["serving_default"]({{"x", x}})["p"] << '\n';
}
