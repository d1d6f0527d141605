// weft's side of the exchange with TensorFlow (interop.py is the other):
//   weft_side write DIR     a SavedModel of a small network with predict and train functions
//   weft_side train DIR     loads TensorFlow's SavedModel as objects and trains on it by its own function
//   weft_side tape DIR      the same with a GradientTape over the model's predict function
// Numbers go to stdout, one to a line, with enough digits to be compared.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "weft/weft.h"

using weft::Tensor;

namespace {

Tensor grid(std::vector<int64_t> shape, float step, float start) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(start + step * float(i % 11) - 0.02f * float(i % 7));
  return Tensor::of<float>(std::move(shape), std::span<const float>(v));
}

struct Net : weft::Module {
  weft::Variable w1{grid({4, 8}, 0.05f, -0.2f), {.name = "w1"}}, b1{grid({8}, 0.01f, 0.f), {.name = "b1"}};
  weft::Variable w2{grid({8, 2}, 0.04f, -0.1f), {.name = "w2"}}, b2{grid({2}, 0.f, 0.f), {.name = "b2"}};
  std::vector<weft::Variable> extra{weft::Variable(Tensor(int64_t(0)), {.name = "steps", .trainable = false})};
  Tensor scale = grid({300}, 0.f, 1.f);  // too large to be written into a graph: captured

  weft::StaticHashTable words{Tensor::of_strings({2}, {"cat", "dog"}), Tensor{int64_t(10), int64_t(20)}, Tensor(int64_t(-1))};
  weft::StaticHashTable lines{weft::Asset(vocabulary()), Tensor(int64_t(-1))};

  static std::string vocabulary() {
    const std::string path = (std::filesystem::temp_directory_path() / "weft_interop_vocabulary.txt").string();
    FILE* f = std::fopen(path.c_str(), "w");
    std::fputs("emu\ncat\n", f);
    std::fclose(f);
    return path;
  }

  std::vector<weft::Variable> trained() const { return {w1, b1, w2, b2}; }
  Tensor forward(const Tensor& x) const { return weft::matmul(weft::tanh(weft::matmul(x, w1) + b1), w2) + b2 * weft::reduce_mean(scale); }

  weft::TracedFunction<std::map<std::string, Tensor>(Tensor)> predict =
      weft::function([this](Tensor x) { return std::map<std::string, Tensor>{{"y", forward(x)}}; }, {.name = "predict"});
  weft::TracedFunction<Tensor(Tensor, Tensor)> train = weft::function(
      [this](Tensor x, Tensor y) {
        weft::GradientTape tape;
        Tensor loss = weft::reduce_mean(weft::square(forward(x) - y));
        auto grads = tape.gradient(loss, trained());
        for (size_t i = 0; i < grads.size(); ++i) trained()[i].assign_sub(grads[i].dense() * 0.1f);
        extra[0].assign_add(Tensor(int64_t(1)));
        return loss;
      },
      {.name = "train"});

  weft::TracedFunction<std::pair<Tensor, Tensor>(Tensor)> ids =
      weft::function([this](Tensor x) { return std::pair(words.lookup(x), lines.lookup(x)); }, {.name = "ids"});

  Net() : Module("net") {
    track("words", words), track("lines", lines), track("ids", ids);
    track("w1", w1), track("b1", b1), track("w2", w2), track("b2", b2), track("extra", extra);
    track("predict", predict), track("train", train);
  }
};

void print(const char* what, const Tensor& t) {
  std::printf("%s", what);
  for (float v : t.data<float>()) std::printf(" %.9g", double(v));
  std::printf("\n");
}

const Tensor kX = grid({16, 4}, 0.1f, -0.5f), kY = grid({16, 2}, 0.07f, -0.3f);

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::puts("usage: weft_side write|train|tape DIR"), 2;
  const std::string dir = argv[2];
  try {
    if (!std::strcmp(argv[1], "write")) {
      Net net;
      const weft::TensorSpec x{"x", weft::DType::float32, {-1, 4}, ""}, y{"y", weft::DType::float32, {-1, 2}, ""};
      auto predict = net.predict.concrete_function({x});
      auto train = net.train.concrete_function({x, y});
      auto ids = net.ids.concrete_function({{"x", weft::DType::string, {-1}, ""}});
      weft::save(net, dir, {{"serving_default", predict}, {"train", train, {"loss"}}, {"ids", ids, {"word", "line"}}});
      // And back, without the code.
      auto back = weft::load_module(dir);
      for (const Tensor& t : back.call("ids", {Tensor::of_strings({3}, {"cat", "dog", "emu"})})) print("ids", weft::cast(t, weft::DType::float32));
      auto model = weft::load(dir);
      print("ids", weft::cast(model["ids"]({{"x", Tensor::of_strings({3}, {"cat", "dog", "emu"})}})["line"], weft::DType::float32));
      print("predict", net.predict(kX).at("y"));
      for (int i = 0; i < 20; ++i) print("loss", net.train(kX, kY));
      print("after", net.predict(kX).at("y"));
    } else {
      auto m = weft::load_module(dir);
      const bool tape = !std::strcmp(argv[1], "tape");
      print("predict", m.call("predict", {kX})[0]);
      auto variables = m.trainable_variables();
      for (int i = 0; i < 20; ++i) {
        if (!tape) {
          print("loss", m.call("train", {kX, kY})[0]);
          continue;
        }
        weft::GradientTape t;
        Tensor loss = weft::reduce_mean(weft::square(m.call("predict", {kX})[0] - kY));
        auto grads = t.gradient(loss, variables);
        for (size_t k = 0; k < grads.size(); ++k) variables[k].assign_sub(grads[k].dense() * 0.1f);
        print("loss", loss);
      }
      print("after", m.call("predict", {kX})[0]);
    }
  } catch (const weft::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
