#include "core/interrupt.h"
#include "core/threads.h"
#include "op/make_kernel.h"
#include "op/registry.h"
#include "runtime/executable.h"
#include "runtime/kernel_cache.h"

namespace weft::runtime {

Status with_node(Status s, const NodeInfo& node) {
  if (s.ok() || s.message().find("{{node ") != std::string_view::npos) return s;
  return s.with_suffix(cat("\n\t [[{{node ", node.name(), "}}]]"));
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
    const std::string_view op = n->op();
    if (op == "Merge" || op == "RefMerge" || op == "Switch" || op == "RefSwitch" || op == "_SwitchN" || op == "Enter" || op == "RefEnter" || op == "_Recv" ||
        op == "_HostRecv")
      return true;
  }
  return false;
}

}  // namespace weft::runtime
