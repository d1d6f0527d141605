// The signatures of TensorFlow's ops that no family registers (declared/declared.txt).
#pragma once

#include "op/declarations.h"

namespace weft::ops {

op::Declarations declared();

}  // namespace weft::ops
