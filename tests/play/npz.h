// Arrays of a NumPy archive by name; those of types that compiled code does not take are left out.
#pragma once

#include <map>
#include <string>

#include "core/status.h"
#include "core/tensor.h"

namespace weft_engine::testing {

core::Result<std::map<std::string, core::Tensor>> read_npz(const std::string& path);

}  // namespace weft_engine::testing
