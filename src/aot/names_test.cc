// Names of tensors as names of C++: what the grammar allows, no keyword, no two alike.
#include <doctest/doctest.h>

#include "aot/aot.h"

namespace weft_engine::aot {
namespace {

TEST_CASE("what is an identifier") {
  for (const char* name : {"x", "_x", "x1", "Dense_1"}) CHECK(is_identifier(name));
  for (const char* name : {"", "1x", "a-b", "a b", "a:0", "class", "co_await", "\xc3\xa9"}) CHECK_FALSE(is_identifier(name));
}

TEST_CASE("every name becomes an identifier of its own") {
  std::vector<std::string> taken;
  std::vector<std::string> made;
  for (const char* name : {"x:0", "x/0", "class", "2d/kernel:0", "", "/", "\xc3\xa9", "\xc3\xa8", "x_0"}) made.push_back(identifier(name, taken));
  for (const std::string& id : made) CHECK(is_identifier(id));
  for (size_t i = 0; i < made.size(); ++i) {
    for (size_t j = 0; j < i; ++j) CHECK(made[i] != made[j]);
  }
  CHECK(taken == made);
}

}  // namespace
}  // namespace weft_engine::aot
