// Calls of ops that have no attributes to set: what most of the generated wrappers are (src/opgen). One function for all of them keeps the library small.
#pragma once

#include <initializer_list>
#include <vector>

#include "weft/tensor.h"

namespace weft::api {

Tensor call_for_one(const char* op, std::initializer_list<const Tensor*> inputs);
std::vector<Tensor> call_for_all(const char* op, std::initializer_list<const Tensor*> inputs);

}  // namespace weft::api
