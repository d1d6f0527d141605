#include "graph/evaluate.h"

#include "graph/node_traits.h"

namespace weft_engine::graph {
namespace {

// One thread, and resources that nothing can name: what is evaluated has no state.
struct Surroundings {
  CpuDevice device{0};
  ThreadPool pool{1};
  ResourceManager resources, step_resources;
};

bool plain(DType t) { return !is_ref_type(t) && t != DType::kResource && t != DType::kVariant; }

}  // namespace

bool can_evaluate(const Node& node) {
  if (node.spec().stateful || node.spec().distributed_communication || node.is_function_call() || node.num_outputs() == 0) return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!plain(node.output_type(i))) return false;
  }
  for (DType t : node.info().input_types()) {
    if (!plain(t)) return false;
  }
  for (const AttrSpec& a : node.spec().signature().attrs) {
    if (a.type == "func" || a.type == "list(func)") return false;
  }
  return !is_v1_control_flow(node) && role_of(node) != Role::kPlaceholderWithDefault;  // which may be fed
}

Result<std::vector<Tensor>> evaluate_node(const Registry& registry, const NodeInfo& node, std::span<const Tensor* const> inputs) {
  static auto& around = *new Surroundings;
  try {
    WEFT_ASSIGN(std::unique_ptr<Kernel> kernel, make_kernel(registry, node, "CPU"));
    if (kernel->is_async()) return unimplemented("evaluating ", node.op(), ", which may wait");
    KernelEnv env;
    env.device = &around.device;
    env.pool = &around.pool;
    env.resources = &around.resources;
    env.step_resources = &around.step_resources;
    std::vector<Tensor> outputs(size_t(node.num_outputs()));
    KernelContext c(node, env, inputs, outputs);
    WEFT_RETURN_IF_ERROR(kernel->run(c));
    for (const Tensor& t : outputs) {
      if (!t.valid()) return internal_error(node.op(), " did not set all of its outputs");
    }
    return outputs;
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory in ", node.op());
  } catch (const std::exception& e) {
    return internal_error("unexpected exception in ", node.op(), ": ", e.what());
  }
}

}  // namespace weft_engine::graph
