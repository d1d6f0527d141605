#pragma once

#include "core/tensor.h"

namespace weft_engine::ops {

// What If and While take a tensor for, as Python does: a number that is not zero, a text that is not
// empty; of anything but a scalar, that there is something in it. (control_flow.cc)
core::Result<bool> condition_value(const core::Tensor& t);

}  // namespace weft_engine::ops
