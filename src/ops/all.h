// The op families. Each is one function in the file of the same name, its lowerings one function in <family>_lower.cc; the
// families of a folder are listed in its families.cmake, from which the build writes their declarations and calls.
// Each runs once, hence cold: small code, and all of it in one place.
#pragma once

namespace weft_engine::op {
class Registry;
}

#include "ops/families.h"

namespace weft_engine::ops {

void all(op::Registry& r);

}  // namespace weft_engine::ops
