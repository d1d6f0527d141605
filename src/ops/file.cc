#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void file(Registry& r) {
  r.add("MatchingFiles")
      .in("pattern: string")
      .out("filenames: string");

  r.add("ReadFile")
      .in("filename: string")
      .out("contents: string");

  r.add("WriteFile")
      .in("filename: string")
      .in("contents: string")
      .stateful();
}

}  // namespace weft::ops
