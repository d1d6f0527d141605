// What tests of the C++ API share.
#pragma once

#include <doctest/doctest.h>

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
