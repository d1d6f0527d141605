// The kernel of a node of a graph. op/registry.h has the one of an eager call: TensorFlow's two runtimes say it in different words where there is none.
#pragma once

#include <memory>

#include "op/op_spec.h"

namespace weft_engine::op {

class Registry;

// The first that fits; InvalidArgument in the words of TensorFlow's placer.
Result<std::unique_ptr<Kernel>> make_graph_kernel(const Registry& registry, const NodeInfo& node, std::string_view device_type);

}  // namespace weft_engine::op
