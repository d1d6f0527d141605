// Clusters: loads libweft_grpc.so, in which all of remote/ is, when one is first used, and gives it to the layers below that know of clusters by a seam alone.
#pragma once

#include "remote/library.h"

namespace weft_engine::engine {

// NotFound says what to install.
core::Result<const remote::Library*> clusters();

// Servers (runtime/server.h), sessions elsewhere (runtime/remote_session.h) and the tf.data service (op/data_service.h) by that library. Once, when the engine is made.
void set_cluster_seams();

}  // namespace weft_engine::engine
