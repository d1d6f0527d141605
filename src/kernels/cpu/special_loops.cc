#include "kernels/cpu/binary_loops.h"
#include "kernels/cpu/unary_loops.h"

namespace weft::kernels {

BinaryLoop special_binary_loop(Binary, core::DType) { return nullptr; }
UnaryLoop special_unary_loop(Unary, core::DType) { return nullptr; }

}  // namespace weft::kernels
