// Optimisers of graphs that somebody brings (plug-ins: capi/graph_optimizer.cc). They see a body before the engine's own passes do.
#pragma once

#include <functional>
#include <string>

#include "core/device.h"
#include "graph/function_body.h"

namespace weft_engine::graph {

// Gives a better body, or an error, which leaves the body as it was.
using Rewriter = std::function<Result<FunctionBody>(const FunctionBody& body)>;

// For graphs of programs that have devices of this type.
void add_rewriter(std::string name, std::string device_type, Rewriter rewriter);
// Runs them, one after the other. What fails is logged and changes nothing.
void run_rewriters(FunctionBody& body, const core::DeviceSet& devices);

}  // namespace weft_engine::graph
