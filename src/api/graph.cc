#include "engine/engine.h"
#include "graph/function_body.h"
#include "graph/import.h"
#include "graph/node_traits.h"
#include "graph/passes/passes.h"
#include "graph/shape_inference.h"
#include "io/graph_def.h"
#include "saved_model/export_graph.h"
#include "saved_model/freeze.h"
#include "saved_model/loader.h"
#include "saved_model/optimize.h"
#include "wire/file.h"
#include "wire/text_format.h"

#include "api/graph_internal.h"
#include "api/model_internal.h"

#include <algorithm>

namespace weft {
namespace {

std::string text_of(const op::AttrValue& v) {
  if (const auto* t = v.get<core::Tensor>()) return core::cat(core::dtype_name(t->dtype()), " ", t->shape().to_string(), " ", t->summary(6));
  return v.to_string();
}

void shapes_of(const graph::Node& n, NodeInfo& info) {
  info.shapes.resize(size_t(n.num_outputs()));
  if (n.shapes.size() == info.shapes.size()) {
    for (size_t i = 0; i < n.shapes.size(); ++i) info.shapes[i] = api::outer_shape(n.shapes[i]);
    return;
  }
  if (const auto* a = n.find_attr("_output_shapes")) {
    if (const auto* list = a->get<std::vector<core::PartialShape>>(); list && list->size() == info.shapes.size()) {
      for (size_t i = 0; i < list->size(); ++i) info.shapes[i] = api::outer_shape((*list)[i]);
    }
  } else if (is_const(n)) {
    info.shapes[0] = PartialShape(n.attr<core::Tensor>("value").shape().vec());
  } else if (role_of(n) == graph::Role::kPlaceholder) {
    info.shapes[0] = api::outer_shape(n.attr<core::PartialShape>("shape"));
  }
}

NodeKind kind_of(const graph::Node& n) {
  switch (role_of(n)) {
    case graph::Role::kArg: return NodeKind::argument;
    case graph::Role::kRetval: return NodeKind::result;
    case graph::Role::kPlaceholder: return NodeKind::placeholder;
    case graph::Role::kConst: return NodeKind::constant;
    case graph::Role::kVarHandle:
    case graph::Role::kRefVariable: return NodeKind::variable;
    default: return NodeKind::operation;
  }
}

NodeInfo info_of(const graph::Node& n, const graph::FunctionLibrary& library) {
  graph::NodeDef d = io::to_node_def(n);
  NodeInfo info;
  info.name = d.name;
  info.op = d.op;
  info.device = n.assigned_device.empty() ? n.device : n.assigned_device;
  info.inputs = d.inputs;
  for (int i = 0; i < n.num_outputs(); ++i) info.types.push_back(static_cast<DType>(core::base_type(n.output_type(i))));
  shapes_of(n, info);
  for (const auto& [key, value] : d.attrs) info.attrs.emplace_back(key, text_of(value));
  info.functions = saved_model::functions_of(d, library);
  info.kind = kind_of(n);
  return info;
}

std::vector<NodeInfo> infos_of(const graph::Graph& g) {
  std::vector<NodeInfo> out;
  for (const graph::Node* n : g.nodes()) out.push_back(info_of(*n, *g.library()));
  return out;
}

Graph make(std::shared_ptr<graph::Graph> g, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  (void)graph::ShapeInference(*g).all();  // what cannot be inferred stays unknown
  return Graph::adopt(std::make_shared<const Graph::Impl>(Graph::Impl{std::move(g), std::move(inputs), std::move(outputs)}));
}

Graph make(std::shared_ptr<graph::Graph> g) {
  const saved_model::BoundSignature s = saved_model::signature_of_graph(*g);
  std::vector<std::string> in, out;
  for (const auto& p : s.inputs) in.push_back(p.name);
  for (const auto& p : s.outputs) out.push_back(p.name);
  return make(std::move(g), std::move(in), std::move(out));
}

bool is_directory_of_model(const std::string& path) {
  return wire::file_exists(path + "/saved_model.pb") || wire::file_exists(path + "/saved_model.pbtxt");
}

std::vector<saved_model::BoundSignature::Port> ports(saved_model::Model& model, const std::vector<std::string>& tensors) {
  std::vector<saved_model::BoundSignature::Port> out;
  for (const auto& name : tensors) {
    saved_model::BoundSignature::Port p;
    p.tensor = api::unwrap(saved_model::find_tensor(model.graph(), name));
    p.name = p.tensor.node->name();
    if (const auto* a = p.tensor.node->find_attr("shape"); a && a->get<core::PartialShape>()) p.shape = *a->get<core::PartialShape>();
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace

const Graph::Impl& Graph::impl() const {
  if (!impl_) throw Error(Code::kFailedPrecondition, "a Graph without a graph was used");
  return *impl_;
}

Graph Graph::adopt(std::shared_ptr<const Impl> impl) {
  Graph g;
  g.impl_ = std::move(impl);
  return g;
}

std::vector<NodeInfo> Graph::nodes() const { return infos_of(*impl().graph); }
const std::vector<std::string>& Graph::inputs() const { return impl().inputs; }
const std::vector<std::string>& Graph::outputs() const { return impl().outputs; }
int Graph::producer() const { return impl().graph->versions.producer; }

std::vector<std::string> Graph::functions() const {
  auto names = impl().graph->library()->names();
  std::sort(names.begin(), names.end());
  return names;
}

FunctionBody Graph::function(std::string_view name) const {
  const auto& library = impl().graph->library();
  auto def = api::unwrap(library->find(name));
  auto body = api::unwrap(graph::instantiate_function(*def, {}, impl().graph->registry(), library));
  graph::ArgShapes shapes;
  for (const auto* n : body.args) {
    const auto* a = n->find_attr("_output_shapes");
    const auto* list = a ? a->get<std::vector<core::PartialShape>>() : nullptr;
    shapes.shapes.push_back(list && list->size() == 1 ? (*list)[0] : core::PartialShape::unknown());
  }
  (void)graph::ShapeInference(*body.graph).all(shapes);
  FunctionBody out{body.name, {}, {}, infos_of(*body.graph)};
  for (const auto* n : body.args) out.inputs.push_back({n->name(), static_cast<DType>(n->output_type(0)), {}, {}});
  for (size_t i = 0; i < body.rets.size(); ++i)
    out.outputs.push_back({i < def->outputs.size() ? def->outputs[i].name : body.rets[i]->name(), static_cast<DType>(body.ret_types[i]), {}, {}});
  return out;
}

std::string Graph::to_bytes() const { return api::unwrap(io::encode_graph_def(*impl().graph)); }

void Graph::write(const std::string& path) const {
  std::string bytes = to_bytes();
  if (path.ends_with(".pbtxt")) bytes = api::unwrap(wire::binary_to_text("tensorflow.GraphDef", bytes));
  api::check(wire::write_file(path, bytes));
}

Graph read_graph(const std::string& path, const std::vector<std::string>& tags) {
  auto g = std::make_shared<graph::Graph>(engine::Engine::get().registry(), std::make_shared<graph::FunctionLibrary>());
  graph::GraphDef def;
  if (is_directory_of_model(path)) {
    auto meta = api::unwrap(saved_model::read_meta_graph(path, tags));
    def = api::unwrap(io::decode_graph_def(meta.file, meta.graph_def));
  } else {
    def = api::unwrap(saved_model::read_graph_file(path));
  }
  api::unwrap(graph::import_graph_def(*g, std::move(def)));
  return make(std::move(g));
}

Graph plan(const Model& model, const PlanOptions& options) {
  auto& m = api::model_of(model);
  const auto* s = api::unwrap(m.signature(options.signature));
  graph::FunctionBody body;
  if (options.optimized) body = api::unwrap(api::unwrap(m.session().prepare(s->feeds, s->fetches, {}))->optimized({}));
  else body = api::unwrap(m.session().body(s->feeds, s->fetches, {}));
  std::vector<std::string> in, out;
  for (const auto* n : body.args) in.push_back(n->name());
  for (const auto* n : body.rets) out.push_back(n->name());
  return make(std::shared_ptr<graph::Graph>(std::move(body.graph)), std::move(in), std::move(out));
}

Graph freeze(const Model& model, const FreezeOptions& options) {
  auto& m = api::model_of(model);
  saved_model::FrozenGraph f;
  if (!options.outputs.empty()) {
    f = api::unwrap(saved_model::freeze(m, ports(m, options.inputs), ports(m, options.outputs)));
  } else {
    const auto* s = api::unwrap(m.signature(options.signature));
    f = api::unwrap(saved_model::freeze(m, s->inputs, s->outputs));
  }
  return make(std::shared_ptr<graph::Graph>(std::move(f.graph)), std::move(f.inputs), std::move(f.outputs));
}

std::vector<PassInfo> passes() {
  std::vector<PassInfo> out;
  for (const auto& p : graph::all_passes()) out.push_back({std::string(p.name), std::string(p.does)});
  return out;
}

Graph optimize(const Graph& g, const OptimizeOptions& options, std::vector<PassReport>* reports) {
  std::vector<std::string> disabled = options.disabled;
  const auto all = graph::all_passes();
  const auto known = [&](const std::string& name) {
    if (std::none_of(all.begin(), all.end(), [&](const auto& p) { return p.name == name; }))
      throw Error(Code::kInvalidArgument, core::cat("there is no pass '", name, "'; `weft optimize --list` names them"));
  };
  for (const auto& name : options.passes) known(name);
  for (const auto& name : options.disabled) known(name);
  if (!options.passes.empty()) {
    for (const auto& p : all) {
      if (std::find(options.passes.begin(), options.passes.end(), p.name) == options.passes.end()) disabled.emplace_back(p.name);
    }
  }
  auto o = api::unwrap(saved_model::optimize_graph(*g.impl().graph, disabled, [&](std::string_view pass, int before, int after) {
    if (reports) reports->push_back({std::string(pass), before, after});
  }));
  return make(std::shared_ptr<graph::Graph>(std::move(o.graph)), std::move(o.inputs), std::move(o.outputs));
}

}  // namespace weft
