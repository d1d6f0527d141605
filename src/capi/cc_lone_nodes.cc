// Nodes of no graph, for test bases of TensorFlow's C++ sources: a kernel that the caller makes and runs, and the shape rule of an op by itself.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "capi/cc_kernels.h"
#include "capi/cc_resources.h"
#include "core/device.h"
#include "engine/engine.h"
#include "io/graph_def.h"
#include "op/registry.h"
#include "op/shape_context.h"
#include "op/variable.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::core::DeviceSet;
using weft_engine::op::AttrMap;
using weft_engine::op::AttrValue;
using weft_engine::op::Kernel;
using weft_engine::op::KernelContext;
using weft_engine::op::KernelEnv;
using weft_engine::op::NodeInfo;
using weft_engine::op::OpSpec;
using weft_engine::op::RefVariable;
using weft_engine::op::ShapeContext;

struct weft_lone_node {
  NodeInfo node;
  std::string device;
  int graph_version;
  std::unique_ptr<Kernel> kernel;
  std::optional<weft_construction> construction;
};

namespace {

// What the node's attributes say of its inputs; nothing for those that are missing or of another kind, which NodeInfo::make reports.
std::vector<DType> input_types(const OpSpec& spec, const AttrMap& attrs) {
  const auto& sig = spec.signature();
  const auto value = [&](int attr) -> const AttrValue* {
    const auto& a = sig.attrs[size_t(attr)];
    const auto given = attrs.find(a.name);
    if (given != attrs.end()) return &given->second;
    return a.default_value ? &*a.default_value : nullptr;
  };
  std::vector<DType> types;
  for (const auto& arg : sig.inputs) {
    if (arg.type_list_attr >= 0) {
      const AttrValue* list = value(arg.type_list_attr);
      if (const auto* all = list ? list->get<std::vector<DType>>() : nullptr) types.insert(types.end(), all->begin(), all->end());
      continue;
    }
    const AttrValue* count = arg.number_attr >= 0 ? value(arg.number_attr) : nullptr;
    const int64_t* number = count ? count->get<int64_t>() : nullptr;
    const AttrValue* type = arg.type_attr >= 0 ? value(arg.type_attr) : nullptr;
    const DType* of_attr = type ? type->get<DType>() : nullptr;
    const int64_t n = arg.number_attr < 0 ? 1 : number ? std::clamp<int64_t>(*number, 0, 1 << 24) : 0;
    types.insert(types.end(), size_t(n), arg.type_attr < 0 ? arg.type : of_attr ? *of_attr : DType::kInvalid);
  }
  return types;
}

weft_engine::core::Result<std::unique_ptr<weft_lone_node>> make_node(std::string_view bytes, std::string device, int version) {
  WEFT_ASSIGN(weft_engine::graph::NodeDef def, weft_engine::io::decode_node_def(bytes));
  const auto& registry = weft_engine::engine::Engine::get().registry();
  WEFT_ASSIGN(const OpSpec* spec, registry.get(def.op));
  WEFT_RETURN_IF_ERROR(spec->check());
  const std::vector<DType> types = input_types(*spec, def.attrs);
  WEFT_ASSIGN(NodeInfo info, NodeInfo::make(*spec, def.name, std::move(def.attrs), types));
  std::unique_ptr<weft_lone_node> node(new weft_lone_node{std::move(info), std::move(device), version, nullptr, {}});
  node->construction.emplace(weft_construction{node->node, node->device, {}});
  if (node->device.empty()) return node;
  const weft_engine::op::GraphVersion scope(version);
  WEFT_ASSIGN(node->kernel, weft_engine::op::make_kernel(registry, node->node, node->device));
  return node;
}

// Threads and a device for all such runs.
struct Surroundings {
  Surroundings() : pool(int(std::max(1u, std::thread::hardware_concurrency()))), devices(DeviceSet::cpus(1)) {}
  static Surroundings& get() {
    static auto* const all = new Surroundings;
    return *all;
  }
  ThreadPool pool;
  const std::unique_ptr<DeviceSet> devices;
};

// A context with what it only refers to.
struct RunParts {
  RunParts(const NodeInfo& node, std::vector<Tensor> in, weft_engine::op::ResourceManager& resources,
           weft_engine::op::CancellationManager* cancellation)
      : inputs(std::move(in)), outputs(size_t(node.num_outputs())), refs(inputs.size()), in_refs(inputs.size()), out_refs(outputs.size()) {
    env.device = Surroundings::get().devices->host();
    env.pool = &Surroundings::get().pool;
    env.resources = env.step_resources = &resources;
    env.cancellation = cancellation;
    for (size_t i = 0; i < inputs.size(); ++i) {
      given.push_back(&inputs[i]);
      if (!is_ref_type(node.input_types()[i])) continue;
      refs[i] = std::make_unique<RefVariable>();
      refs[i]->tensor() = inputs[i];
      in_refs[i] = refs[i].get();
    }
  }
  std::vector<Tensor> inputs, outputs;
  std::vector<const Tensor*> given;
  std::vector<std::unique_ptr<RefVariable>> refs;
  std::vector<RefVariable*> in_refs, out_refs;
  KernelEnv env;
};
struct LoneRun : RunParts, KernelContext {
  LoneRun(const NodeInfo& node, std::vector<Tensor> in, weft_engine::op::ResourceManager& resources,
          weft_engine::op::CancellationManager* cancellation)
      : RunParts(node, std::move(in), resources, cancellation), KernelContext(node, RunParts::env, given, outputs) {
    set_refs(in_refs, out_refs);
  }
};
KernelContext& context_of(weft_run* run) { return *reinterpret_cast<KernelContext*>(run); }

Status compute(Kernel& kernel, KernelContext& c) {
  if (!kernel.is_async()) return caught([&] { return kernel.run(c); });
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Status> result;
  kernel.run_async(c, [&](Status s) {
    const std::lock_guard lock(mutex);
    result = std::move(s);
    ended.notify_one();
  });
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return result.has_value(); });
  return *result;
}

struct ShapeParts {
  std::vector<PartialShape> inputs;
  std::vector<const Tensor*> values;
  std::vector<std::optional<ShapeContext::HandleData>> held;
};
struct LoneShapes : ShapeContext {
  LoneShapes(const weft_lone_node& n, ShapeParts parts)
      : ShapeContext(n.node, std::move(parts.inputs), std::move(parts.values), std::move(parts.held)), version(n.graph_version) {}
  const int version;
};
LoneShapes& shapes_of(weft_shapes* s) { return static_cast<LoneShapes&>(*reinterpret_cast<ShapeContext*>(s)); }

Status check_count(const NodeInfo& node, size_t given) {
  if (given == node.input_types().size()) return {};
  return invalid_argument("node ", node.name(), " of op ", node.op(), " has ", node.input_types().size(), " inputs, not ", given);
}

}  // namespace

TF_Status* weft_lone_node_new(weft_text node_def, weft_text device, int graph_version, weft_lone_node** out) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(std::unique_ptr<weft_lone_node> made, make_node(view_of(node_def), string_of(device), graph_version));
    *out = made.release();
    return {};
  }));
}
void weft_lone_node_delete(weft_lone_node* n) { delete n; }
weft_construction* weft_lone_node_construction(weft_lone_node* n) { return &*n->construction; }
void* weft_lone_node_take_object(weft_lone_node* n) {
  void* object = n->kernel ? take_object(*n->kernel) : nullptr;
  if (object) n->kernel = nullptr;
  return object;
}
TF_Status* weft_run_begin(weft_lone_node* n, const TF_Tensor* const* inputs, size_t num_inputs, weft_resources* resources,
                          weft_cancellation* cancellation, weft_run** out) {
  return returned(caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_count(n->node, num_inputs));
    std::vector<Tensor> in;
    for (size_t i = 0; i < num_inputs; ++i) {
      const DType type = base_type(n->node.input_types()[i]);
      in.push_back(inputs[i] ? inputs[i]->tensor : Tensor());
      if (in.back().valid() && in.back().dtype() != type)
        return invalid_argument("input ", i, " of op ", n->node.op(), " is ", dtype_name(in.back().dtype()), ", not ", dtype_name(type));
    }
    auto* manager = reinterpret_cast<weft_engine::op::CancellationManager*>(cancellation);
    KernelContext* run = new LoneRun(n->node, std::move(in), manager_of(resources), manager);
    *out = reinterpret_cast<weft_run*>(run);
    return {};
  }));
}
void weft_run_end(weft_run* run) { delete static_cast<LoneRun*>(&context_of(run)); }
TF_Status* weft_lone_node_compute(weft_lone_node* n, weft_run* run) {
  return returned(n->kernel ? compute(*n->kernel, context_of(run)) : internal_error("the node of ", n->node.op(), " has no kernel of the engine"));
}

TF_Status* weft_shapes_begin(weft_lone_node* n, const weft_dims* inputs, const TF_Tensor* const* values, const weft_held* held, size_t num_inputs,
                             weft_shapes** out) {
  return returned(caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_count(n->node, num_inputs));
    ShapeParts parts;
    for (size_t i = 0; i < num_inputs; ++i) {
      parts.inputs.push_back(partial_of(inputs[i]));
      parts.values.push_back(values[i] ? &values[i]->tensor : nullptr);
      auto& handle = parts.held.emplace_back();
      if (held[i].dtype) handle = ShapeContext::HandleData{static_cast<DType>(held[i].dtype), partial_of(held[i].shape)};
    }
    ShapeContext* made = new LoneShapes(*n, std::move(parts));
    *out = reinterpret_cast<weft_shapes*>(made);
    return {};
  }));
}
void weft_shapes_end(weft_shapes* s) { delete &shapes_of(s); }
TF_Status* weft_shapes_infer(weft_shapes* s) {
  return returned(caught([&]() -> Status {
    LoneShapes& shapes = shapes_of(s);
    const weft_engine::op::GraphVersion scope(shapes.version);
    return shapes.node().spec().infer_shapes(shapes);
  }));
}
