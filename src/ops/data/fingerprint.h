// A number that is the same for datasets made in the same way, also in another run of a program: by it a
// snapshot is found again. Seeds do not count, nor do the names of functions.
#pragma once

#include "ops/data/dataset.h"

namespace weft_engine::op {
class FunctionCaller;
}

namespace weft_engine::ops::data {

Result<uint64_t> fingerprint_of(const Dataset& dataset, FunctionCaller* functions);

}  // namespace weft_engine::ops::data
