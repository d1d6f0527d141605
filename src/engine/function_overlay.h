// Functions beside those of the program: a runtime of their own, so that they do not stay among the program's, whatever their names.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "runtime/function_runtime.h"

namespace weft_engine::engine {

// InternalError where functions are run by somebody else.
core::Result<runtime::FunctionLibraryRuntime*> runtime_of(op::FunctionCaller& functions);
// Adds the functions of another library whose names are not there yet, but not those in `without`; they are decoded when they are asked for.
core::Status add_behind(graph::FunctionLibrary& library, const std::shared_ptr<graph::FunctionLibrary>& outer,
                        const std::set<std::string, std::less<>>& without = {});
// Values that functions made may hold the one who runs these (op/held.h): he lives as long.
void keep_while_held(std::unique_ptr<runtime::FunctionLibraryRuntime> runtime);

}  // namespace weft_engine::engine
