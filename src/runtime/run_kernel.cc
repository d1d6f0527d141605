#include "core/error_notes.h"
#include "core/interrupt.h"
#include "core/threads.h"
#include "graph/node_traits.h"
#include "op/make_kernel.h"
#include "op/registry.h"
#include "runtime/executable.h"
#include "runtime/kernel_cache.h"

namespace weft_engine::runtime {

using op::Role;

Status with_node(Status s, const NodeInfo& node) {
  if (s.ok() || !s.origin().node.empty() || core::find_note(s, core::kNoteNamesNode)) return s;
  return core::at_node(s, node.name());
}

Result<std::shared_ptr<Kernel>> PlanContext::kernel(const NodeInfo& node, const std::string& device_type) const {
  if (kernels) return kernels->get(*registry, node, device_type);
  WEFT_ASSIGN(std::unique_ptr<Kernel> k, make_graph_kernel(*registry, node, device_type));
  return std::shared_ptr<Kernel>(std::move(k));
}

Status run_kernel(Kernel& kernel, KernelContext& c) {
  try {
    return kernel.run(c);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory in ", c.node().op());
  } catch (const core::Interrupted&) {
    return core::interrupted_call();
  } catch (const std::exception& e) {
    return internal_error("unexpected exception in ", c.node().op(), ": ", e.what());
  }
}

bool needs_dataflow(const graph::FunctionBody& body) {
  for (const graph::Node* n : body.graph->nodes()) {
    switch (role_of(*n)) {
      case Role::kMerge:
      case Role::kSwitch:
      case Role::kSwitchN:
      case Role::kEnter:
      case Role::kRecv: return true;
      default: break;
    }
  }
  return false;
}

}  // namespace weft_engine::runtime
