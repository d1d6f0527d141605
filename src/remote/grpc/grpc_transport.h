// Calls and streams over gRPC.
#pragma once

#include "remote/transport.h"

namespace weft_engine::remote {

const TransportApi& grpc_transport();

}  // namespace weft_engine::remote
