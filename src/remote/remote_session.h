// Sessions of this process that a master elsewhere runs ("grpc://host:port").
#pragma once

#include "runtime/remote_session.h"

namespace weft_engine::remote {

const runtime::RemoteSessions& sessions_by_masters();

}  // namespace weft_engine::remote
