// What tests of the C++ API share.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "weft/weft.h"

using Floats = std::vector<float>;

inline std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const weft::Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
// Says the text where the part is not in it.
inline bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}
inline Floats values(const weft::Tensor& t) { return t.to_vector<float>(); }
// Whether the tensor has this shape and these numbers, to 2e-6 and 1e-5 of the number, or `times` that; says what it has where it has not.
inline bool close_to(const weft::Tensor& t, const std::vector<int64_t>& shape, const std::vector<double>& want, double times = 1) {
  const Floats got = values(t.dtype() == weft::DType::float32 ? t : weft::cast(t, weft::DType::float32));
  bool good = t.shape() == shape && got.size() == want.size();
  for (size_t i = 0; good && i < want.size(); ++i) {
    const double a = double(got[i]), b = want[i];
    good = (std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) <= times * (2e-6 + 1e-5 * std::fabs(b));
  }
  if (!good) MESSAGE(to_string(weft::PartialShape(t.shape())), " ", t.to_string());
  return good;
}
