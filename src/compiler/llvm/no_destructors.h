// Whether LLVM's static objects are destroyed at the end of the process.
#pragma once

namespace weft_engine::compiler {

bool destroyed_at_exit();

}  // namespace weft_engine::compiler
