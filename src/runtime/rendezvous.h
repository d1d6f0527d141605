// LocalRendezvous: the meeting place inside one process, one per step.
#pragma once

#include <memory>

#include "op/rendezvous.h"

namespace weft::runtime {

std::shared_ptr<op::Rendezvous> make_local_rendezvous();

}  // namespace weft::runtime
