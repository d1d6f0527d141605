// The signatures of TensorFlow's ops that no family registers (declared/declared.txt).
#pragma once

#include "op/declarations.h"

namespace weft_engine::ops {

op::Declarations declared();

}  // namespace weft_engine::ops
