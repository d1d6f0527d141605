// Plays what record.py recorded of Keras' layers: outputs, gradients and changed weights, eagerly and inside weft::function
// with an open batch. On the shared library, through the public headers alone.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/cpp/layers/cases.h"
#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;
using weft::Variable;

namespace {

using Arrays = std::map<std::string, Tensor>;

struct File {
  std::string bytes;
  size_t at = 0;
  template <class T>
  T take() {
    T v;
    if (at + sizeof v > bytes.size()) throw weft::Error(weft::Code::kDataLoss, "the file of cases ends early");
    std::memcpy(&v, &bytes[at], sizeof v);
    at += sizeof v;
    return v;
  }
  std::string text() {
    const auto n = take<uint32_t>();
    at += n;
    return bytes.substr(at - n, n);
  }
};

std::vector<std::pair<std::string, Arrays>> read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  File f{std::string(std::istreambuf_iterator<char>(in), {})};
  std::vector<std::pair<std::string, Arrays>> out;
  while (f.at < f.bytes.size()) {
    std::string name = f.text();
    Arrays arrays;
    for (auto n = f.take<uint32_t>(); n > 0; --n) {
      std::string key = f.text();
      const auto dtype = weft::DType(f.take<uint32_t>());
      std::vector<int64_t> shape(f.take<uint32_t>());
      size_t count = 1;
      for (int64_t& d : shape) count *= size_t(d = f.take<int64_t>());
      const size_t width = dtype == weft::DType::boolean ? 1 : dtype == weft::DType::float64 || dtype == weft::DType::int64 ? 8 : 4;
      arrays.emplace(key, Tensor::from_bytes(dtype, shape, f.bytes.data() + f.at, count * width));
      f.at += count * width;
    }
    out.emplace_back(std::move(name), std::move(arrays));
  }
  return out;
}

std::vector<Tensor> list(const Arrays& a, const std::string& prefix) {
  std::vector<Tensor> out;
  for (int i = 0;; ++i) {
    auto it = a.find(prefix + std::to_string(i));
    if (it == a.end()) return out;
    out.push_back(it->second);
  }
}

int failures = 0;

void compare(const std::string& what, const Tensor& got, const Tensor& want) {
  auto complain = [&](const std::string& why) {
    std::cout << "  " << what << ": " << why << "\n";
    ++failures;
  };
  if (got.shape() != want.shape()) return complain("shapes differ: " + got.to_string() + " for " + want.to_string());
  if (want.dtype() != weft::DType::float32) return;
  const auto a = got.data<float>(), b = want.data<float>();
  double scale = 1, worst = 0;
  for (float v : b) scale = std::max(scale, double(std::fabs(v)));
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, double(std::fabs(a[i] - b[i])));
  if (!(worst <= 1e-5 * scale))
    complain("off by " + std::to_string(worst) + " of " + std::to_string(scale) + "\n    got " + got.to_string() + "\n    for " + want.to_string());
}

// Outputs, then gradients of the inputs and the weights; none where nothing flows.
struct Played {
  std::vector<Tensor> outputs, inputs, weights;
};

Played run(const layer_cases::Case& c, const nn::Layer& layer, const std::vector<Tensor>& inputs, const nn::CallOptions& o,
           const std::vector<Tensor>& cots) {
  weft::GradientTape tape;
  std::vector<Tensor> watched;
  for (const Tensor& t : inputs)
    if (t.dtype() == weft::DType::float32) watched.push_back(t);
  for (const Tensor& t : watched) tape.watch(t);
  Played p;
  p.outputs = c.call ? c.call(layer, inputs, o) : layer.apply(inputs, o);
  Tensor loss = 0.f;
  for (size_t i = 0; i < cots.size(); ++i) loss = loss + weft::reduce_sum(p.outputs[i] * cots[i]);
  for (const Tensor& l : layer.losses()) loss = loss + l;
  auto [din, dw] = tape.gradient(loss, std::pair(watched, layer.trainable_variables()));
  for (const auto& g : din) p.inputs.push_back(g ? g.dense() : Tensor());
  for (const auto& g : dw) p.weights.push_back(g ? g.dense() : Tensor());
  return p;
}

void check(const std::string& name, const Arrays& want, const Played& p, const nn::Layer& layer) {
  const auto outputs = list(want, "out");
  if (outputs.size() != p.outputs.size()) {
    std::cout << "  " << name << ": " << p.outputs.size() << " outputs for " << outputs.size() << "\n";
    ++failures;
    return;
  }
  for (size_t i = 0; i < outputs.size(); ++i) compare(name + " out" + std::to_string(i), p.outputs[i], outputs[i]);
  auto gradients = [&](const char* prefix, const std::vector<Tensor>& got) {
    for (size_t i = 0; i < got.size(); ++i) {
      const std::string key = prefix + std::to_string(i);
      auto it = want.find(key);
      if ((it != want.end()) != got[i].has_value()) {
        std::cout << "  " << name << " " << key << (got[i].has_value() ? ": a gradient where there is none\n" : ": no gradient\n");
        ++failures;
      } else if (got[i].has_value()) {
        compare(name + " " + key, got[i], it->second);
      }
    }
  };
  gradients("din", p.inputs);
  gradients("dw", p.weights);
  const auto after = list(want, "after");
  const auto weights = layer.get_weights();
  for (size_t i = 0; i < after.size() && i < weights.size(); ++i) compare(name + " after" + std::to_string(i), weights[i], after[i]);
}

// `open_time`: the graph does not know how many steps there are either.
void play_traced(const std::string& name, const Arrays& a, const layer_cases::Case& c, const nn::Layer& layer, const nn::CallOptions& o,
                 bool open_time);

void play(const std::string& name, const Arrays& a, const layer_cases::Case& c) {
  const nn::AnyLayer any = c.make();
  const nn::Layer& layer = *any;
  const std::vector<Tensor> inputs = list(a, "in"), cots = list(a, "cot");
  nn::CallOptions o{.training = c.training};
  if (a.count("mask")) o.mask = a.at("mask");
  if (c.call) c.call(layer, inputs, o);  // builds, and draws as often as the recording did
  else layer.apply(inputs, o);
  layer.set_weights(list(a, "w"));
  std::vector<Tensor> before;
  for (const Variable& v : layer.variables()) before.push_back(v.value());
  check(name, a, run(c, layer, inputs, o, cots), layer);
  auto again = [&] {
    for (size_t i = 0; i < before.size(); ++i) layer.variables()[i].assign(before[i]);
  };
  again();
  play_traced(name + " (function)", a, c, layer, o, false);
  if (!c.open_time) return;
  again();
  play_traced(name + " (function, any time)", a, c, layer, o, true);
}

// In a graph that does not know how large the batch is. What is none is left out.
void play_traced(const std::string& name, const Arrays& a, const layer_cases::Case& c, const nn::Layer& layer, const nn::CallOptions& o,
                 bool open_time) {
  const std::vector<Tensor> inputs = list(a, "in"), cots = list(a, "cot");
  std::vector<weft::TensorSpec> signature;
  auto open = [&](const std::vector<Tensor>& list) {
    for (const Tensor& t : list) {
      std::vector<int64_t> shape = t.shape();
      if (!shape.empty()) shape[0] = -1;
      if (open_time && shape.size() > 1) shape[1] = -1;
      signature.push_back({"", t.dtype(), shape, ""});
    }
  };
  open(inputs);
  open(cots);
  if (o.mask.has_value()) open({o.mask});
  Played traced;
  auto f = weft::function(
      [&](const std::vector<Tensor>& in, const std::vector<Tensor>& cot, const std::vector<Tensor>& mask) {
        nn::CallOptions inside{.training = c.training};
        if (!mask.empty()) inside.mask = mask[0];
        traced = run(c, layer, in, inside, cot);
        std::vector<Tensor> all;
        for (const auto* part : {&traced.outputs, &traced.inputs, &traced.weights})
          for (const Tensor& t : *part)
            if (t.has_value()) all.push_back(t);
        return all;
      },
      {.input_signature = signature});
  const std::vector<Tensor> results = f(inputs, cots, o.mask.has_value() ? std::vector<Tensor>{o.mask} : std::vector<Tensor>{});
  size_t at = 0;
  for (auto* part : {&traced.outputs, &traced.inputs, &traced.weights})
    for (Tensor& t : *part)
      if (t.has_value()) t = results.at(at++);
  check(name, a, traced, layer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto cases = read(argv[1]);
  const std::string only = argc > 2 ? argv[2] : "";
  int played = 0, missing = 0;
  for (const auto& [name, arrays] : cases) {
    if (name.rfind(only, 0) != 0) continue;
    try {
      const auto c = layer_cases::find(name);
      const auto value = layer_cases::value(name, arrays.count("in0") ? arrays.at("in0") : Tensor());
      if (c.make) {
        play(name, arrays, c);
      } else if (value.has_value()) {
        compare(name, value, arrays.at("out0"));
      } else {
        std::cout << "  " << name << ": no such case in cases.cc\n";
        ++missing;
      }
      ++played;
    } catch (const std::exception& e) {
      std::cout << "  " << name << ": " << e.what() << "\n";
      ++failures;
    }
  }
  std::cout << played << " cases, " << failures << " differences, " << missing << " unknown\n";
  return failures || missing || played == 0;
}
