#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// Named here so that the folder always has one object, whatever else it is built with.
const char* isa_name() { return core::cpu_level_name(core::cpu_level()); }

}  // namespace weft_engine::kernels
