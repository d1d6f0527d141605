// Lines of the files in tests/cpp/training/recorded: tensors as text, options as words.
#pragma once

#include <doctest/doctest.h>
#include <weft/weft.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace golden {

// "f32 2 3 : 1.0 2.0 ..."; stops at the end of the line or at "|".
inline weft::Tensor tensor(std::istream& in) {
  std::string type, word;
  in >> type;
  std::vector<int64_t> shape;
  while (in >> word && word != ":") shape.push_back(std::stoll(word));
  std::vector<double> values;
  while (in >> word && word != "|") values.push_back(word == "True" ? 1 : word == "False" ? 0 : std::stod(word));
  auto as = [&]<class T>(T) { return weft::Tensor::of<T>(shape, std::span<const T>(std::vector<T>(values.begin(), values.end()))); };
  if (type == "f32") return as(float());
  if (type == "f64") return as(double());
  if (type == "i64") return as(int64_t());
  if (type == "i32") return as(int32_t());
  if (type == "bool") {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return weft::Tensor::from_bytes(weft::DType::boolean, shape, bytes.data(), bytes.size());
  }
  throw std::runtime_error("unknown type " + type);
}

inline std::vector<double> numbers(const weft::Tensor& t) {
  auto d = weft::cast(t, weft::DType::float64).to_vector<double>();
  return d;
}

// The largest difference, relative to the number or to `scale` times the largest number of the tensor.
inline bool close(const weft::Tensor& got, const weft::Tensor& want, double tolerance = 1e-6) {
  if (got.shape() != want.shape() || got.dtype() != want.dtype()) {
    MESSAGE("got " << got.to_string() << " want " << want.to_string());
    return false;
  }
  const auto a = numbers(got), b = numbers(want);
  double largest = 0;
  for (double x : b) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : 0);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= tolerance * std::max(std::abs(b[i]), largest))) {
      MESSAGE("element " << i << ": got " << a[i] << " want " << b[i] << ", off by " << (a[i] - b[i]) / std::max(std::abs(b[i]), largest));
      return false;
    }
  }
  return true;
}

struct Options : std::map<std::string, std::string> {
  explicit Options(std::istream& in) {
    for (std::string word; in >> word;) {
      const size_t at = word.find('=');
      (*this)[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  double number(const std::string& name, double otherwise) const {
    auto it = find(name);
    return it == end() || it->second == "None" ? otherwise : std::stod(it->second);
  }
  std::optional<double> maybe(const std::string& name) const {
    auto it = find(name);
    if (it == end() || it->second == "None") return {};
    return std::stod(it->second);
  }
  bool flag(const std::string& name) const {
    auto it = find(name);
    return it != end() && it->second == "True";
  }
  std::string text(const std::string& name, const std::string& otherwise = "") const {
    auto it = find(name);
    return it == end() ? otherwise : it->second;
  }
  std::vector<double> list(const std::string& name) const {
    std::vector<double> out;
    std::istringstream in(text(name));
    for (std::string part; std::getline(in, part, ',');) out.push_back(std::stod(part));
    return out;
  }
};

inline std::vector<std::string> lines(const std::string& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace golden
