#include "ir/ir.h"

namespace weft::ir {

core::Status verify(const Module&) { return {}; }

}  // namespace weft::ir
