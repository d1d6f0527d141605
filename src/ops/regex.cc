#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void regex(Registry& r) {
  r.add("RegexFullMatch")
      .in("input: string")
      .in("pattern: string")
      .out("output: bool");

  r.add("RegexReplace")
      .in("input: string")
      .in("pattern: string")
      .in("rewrite: string")
      .out("output: string")
      .attr("replace_global: bool = true");

  r.add("StaticRegexFullMatch")
      .in("input: string")
      .out("output: bool")
      .attr("pattern: string");

  r.add("StaticRegexReplace")
      .in("input: string")
      .out("output: string")
      .attr("pattern: string")
      .attr("rewrite: string")
      .attr("replace_global: bool = true");
}

}  // namespace weft::ops
