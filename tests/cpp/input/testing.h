// What the tests of files share: scratch folders, errors as text, and bent bytes.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>

#include "weft/error.h"

namespace weft::testing {

// A folder for this test, gone with the object.
struct Scratch {
  Scratch() {
    static int count = 0;
    folder = (std::filesystem::temp_directory_path() / ("weft_input_" + std::to_string(getpid()) + "_" + std::to_string(count++))).string();
    std::filesystem::create_directories(folder);
  }
  ~Scratch() { std::filesystem::remove_all(folder); }
  std::string operator()(const std::string& name) const { return folder + "/" + name; }
  std::string folder;
};

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE("'" << text << "' has no '" << part << "'");
  return false;
}

// Calls read(bytes) with every shortened form and with `rounds` forms that have bytes changed. It may throw weft::Error, nothing else.
// The shortened forms must: where `cuts_must_fail`.
template <class F>
void bend(const std::string& whole, int rounds, bool cuts_must_fail, F read) {
  const auto fails = [&](const std::string& bytes) {
    try {
      read(bytes);
    } catch (const Error& e) {
      return std::string(e.what()) != "";
    }
    return false;
  };
  const size_t step = whole.size() / std::min<size_t>(3000, size_t(rounds)) + 1;
  for (size_t n = 0; n < whole.size(); n += step) {
    const bool failed = fails(whole.substr(0, n));
    if (cuts_must_fail && !failed) FAIL_CHECK("no error when cut to " << n << " of " << whole.size() << " bytes");
  }
  std::mt19937 random(3);
  for (int i = 0; i < rounds; ++i) {
    std::string bent = whole;
    for (unsigned k = 0; k < 1 + random() % 3; ++k) {
      const size_t at = random() % (random() % 2 ? std::min<size_t>(bent.size(), 64) : bent.size());
      switch (random() % 4) {
        case 0: bent[at] = char(random()); break;
        case 1: bent[at] = char(bent[at] ^ (1 << random() % 8)); break;
        case 2: bent[at] = char(random() % 2 ? 0xFF : 0x7F); break;
        default: bent[at] = 0; break;
      }
    }
    fails(bent);
  }
}

}  // namespace weft::testing
