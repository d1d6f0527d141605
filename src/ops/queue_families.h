// The parts of the queue family, each in a file of its own.
#pragma once

#include "op/registry.h"

namespace weft::ops {

void staging(op::Registry& r);
void conditional_accumulators(op::Registry& r);
void mutexes(op::Registry& r);
void barriers(op::Registry& r);

}  // namespace weft::ops
