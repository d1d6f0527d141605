// Sums and zeros of what variants hold: lists, maps, optionals, and these inside each other. Gradients
// of loops add such values up.
#pragma once

#include "op/kernel.h"

namespace weft_engine::ops {

op::Status run_add_variants(op::KernelContext& c);         // AddN
op::Status run_zeros_like_variant(op::KernelContext& c);   // ZerosLike

}  // namespace weft_engine::ops
