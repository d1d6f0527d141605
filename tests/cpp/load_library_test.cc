// weft::load_library: ops of a library, called by name. The argument is the library of tests/capi/client/user_lib.c.
#include <cstdio>
#include <string>
#include <vector>

#include "weft/call.h"
#include "weft/context.h"
#include "weft/error.h"

int main(int, char** argv) {
  const std::vector<std::string> names = weft::load_library(argv[1]);
  if (names.size() != 1 || names[0] != "ClientLibraryNegate") return std::printf("%zu names\n", names.size()), 1;
  const weft::Tensor y = weft::Call(names[0]).in(weft::Tensor(2.5f)).one();
  if (y.item<float>() != -2.5f) return std::printf("another value\n"), 1;
  try {
    weft::load_library("/nowhere/nothing.so");
  } catch (const weft::Error& e) {
    return e.code() == weft::Code::kNotFound ? 0 : 1;
  }
  return std::printf("no error\n"), 1;
}
