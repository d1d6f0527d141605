// What the tests of checkpoints share: a folder that goes when the test ends, and a module with a bit of everything.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>
#include <weft/weft.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weft::testing {

namespace fs = std::filesystem;

struct Folder {
  std::string path;
  Folder() {
    static int next = 0;
    path = (fs::temp_directory_path() / ("weft_ckpt_" + std::to_string(getpid()) + "_" + std::to_string(next++))).string();
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& e : fs::directory_iterator(path)) out.push_back(e.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }
};

inline Tensor full(std::vector<int64_t> shape, float value) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return Tensor::of<float>(shape, std::span<const float>(std::vector<float>(size_t(n), value)));
}

struct Layer : Module {
  Variable w;
  explicit Layer(float value) : Module("layer"), w(full({2, 3}, value), {.name = "w"}) { track("w", w); }
};

struct Net : Module {
  Variable w;
  std::vector<std::shared_ptr<Layer>> layers;
  explicit Net(float value) : Module("net"), w(full({2, 3}, value), {.name = "w"}) {
    for (int i = 1; i < 3; ++i) layers.push_back(std::make_shared<Layer>(value + float(i)));
    track("w", w);
    track("layers", layers);
  }
};

inline std::string error_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace weft::testing

using namespace weft;           // NOLINT
using namespace weft::testing;  // NOLINT
