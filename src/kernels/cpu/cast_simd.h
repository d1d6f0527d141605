#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cpu/cast.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// One step between the plain number types; null where cast.cc has to go another way.
WEFT_DECLARE_ISA(CastLoop cast_loop(core::DType from, core::DType to))

}  // namespace weft_engine::kernels
