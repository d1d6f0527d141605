// The examples of docs/api: that they compile is the test. They read files that do not exist, so they are not run.
#include <doctest/doctest.h>
#include <weft/compile.h>
#include <weft/weft.h>

#include <iostream>

using namespace weft;  // NOLINT

#pragma GCC diagnostic ignored "-Wunused-variable"  // examples name results

namespace {
#include "docs/api_examples.inc"
}  // namespace

TEST_CASE("the examples of the API pages compile") { CHECK(kExamples > 20); }
