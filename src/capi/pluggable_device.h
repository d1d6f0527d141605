// What a plug-in library (TF_LoadPluggableDeviceLibrary) brings beside kernels: each part stands behind a function of the library and is optional.
#pragma once

#include "core/status.h"

namespace weft_engine::capi {

core::Status load_devices(void* library);          // SE_InitPlugin
core::Status load_graph_optimizer(void* library);  // TF_InitGraph
core::Status load_profiler(void* library);         // TF_InitProfiler

}  // namespace weft_engine::capi
