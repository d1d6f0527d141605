// The code of the pages in docs/, compiled and run as it is printed. What it writes goes to a scratch folder: paths are kept by links.
#include <doctest/doctest.h>
#include <unistd.h>
#include <weft/nn.h>
#include <weft/weft.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace weft;  // NOLINT

#include "docs/checkpoints.inc"
#include "docs/data.inc"
#include "docs/functions.inc"
#include "docs/graphs.inc"
#include "docs/layers.inc"
#include "docs/tensors.inc"
#include "docs/training.inc"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const fs::path root = fs::current_path(), scratch = fs::temp_directory_path() / ("weft_docs_" + std::to_string(getpid()));
  fs::create_directories(scratch);
  for (const char* folder : {"examples", "tests"}) fs::create_directory_symlink(root / folder, scratch / folder);
  fs::current_path(scratch);
  doctest::Context context(argc, argv);
  const int code = context.run();
  fs::current_path(root);
  fs::remove_all(scratch);
  return code;
}
