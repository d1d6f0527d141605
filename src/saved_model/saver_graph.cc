#include "saved_model/saver_graph.h"

#include <filesystem>
#include <set>

#include "core/cat.h"
#include "graph/import.h"
#include "graph/node_traits.h"
#include "saved_model/export_graph.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {

using graph::Endpoint;
using graph::Graph;
using graph::Node;
using op::AttrMap;
using op::FunctionAttr;
using op::op_of;
using op::Role;
using wire::ProtoWriter;
using Kind = SavedObject::Kind;

namespace {

class Builder {
 public:
  Builder(ModelDescription& model, SavedGraph& out) : model_(model), out_(out), graph_(*out.graph) {}

  Status build(std::span<const SavedTrackable> trackables) {
    auto& nodes = model_.objects.nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind == Kind::kVariable) WEFT_RETURN_IF_ERROR(add_variable(int(i)));
      if (nodes[i].kind == Kind::kConstant) WEFT_RETURN_IF_ERROR(add_constant(int(i)));
      if (nodes[i].kind == Kind::kAsset) WEFT_RETURN_IF_ERROR(add_asset(int(i)));
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind == Kind::kResource) WEFT_RETURN_IF_ERROR(add_resource(int(i)));
    }
    for (const auto& s : model_.signatures) WEFT_RETURN_IF_ERROR(add_signature(s));
    WEFT_ASSIGN(Node* init, add(op_of(Role::kNoOp), op_of(Role::kNoOp), {}, {}, init_));
    out_.init_op = init->name();
    return model_.saver ? add_saver(trackables) : Status();
  }

 private:
  struct Variable {
    int object;
    Node *handle, *read;
  };

  Result<Node*> add(std::string_view name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, std::vector<Node*> controls = {}) {
    return graph_.add(graph_.unique_name(name), op, std::move(attrs), std::move(inputs), controls);
  }
  Result<Node*> add_placeholder(std::string_view name, DType dtype, const PartialShape& shape) {
    return add(name, op_of(Role::kPlaceholder), {{"dtype", dtype}, {"shape", shape}}, {});
  }
  // A variable's handle, under a name that is its own as a resource as well.
  Result<Node*> add_handle(std::string_view wanted, DType dtype, const PartialShape& shape) {
    const std::string name = graph_.unique_name(wanted);
    return graph_.add(name, op_of(Role::kVarHandle), {{"dtype", dtype}, {"shape", shape}, {"shared_name", name}}, {});
  }
  Result<Node*> add_read(std::string_view name, Node* handle, DType dtype, std::vector<Node*> controls = {}) {
    return add(name, op_of(Role::kReadVariable), {{"dtype", dtype}}, {Endpoint{handle, 0}}, std::move(controls));
  }

  Status add_variable(int object) {
    const SavedObject& o = model_.objects.nodes[size_t(object)];
    WEFT_ASSIGN(Node* handle, add_handle(valid_node_name(o.name.empty() ? "Variable" : o.name), o.dtype, o.shape));
    WEFT_ASSIGN(Node* read, add_read(handle->name() + "/Read/ReadVariableOp", handle, o.dtype));
    tensors_[object] = {handle, 0};
    variables_.push_back({object, handle, read});
    return {};
  }

  Status add_constant(int object) {
    WEFT_ASSIGN(Node* n, graph_.add_const(graph_.unique_name("constant"), model_.constants.at(object)));
    model_.objects.nodes[size_t(object)].name = n->name();
    tensors_[object] = {n, 0};
    return {};
  }

  // A variable keeps the path: loaders give it once, when they initialise.
  Status add_asset(int object) {
    WEFT_ASSIGN(Node* path, add_placeholder("asset_path_initializer", DType::kString, PartialShape::scalar()));
    WEFT_ASSIGN(Node* handle, add_handle("asset_path", DType::kString, PartialShape::scalar()));
    WEFT_ASSIGN(Node* assign, add(op_of(Role::kAssignVariable), op_of(Role::kAssignVariable), {{"dtype", DType::kString}},
                                  {Endpoint{handle, 0}, Endpoint{path, 0}}));
    model_.objects.nodes[size_t(object)].asset = int(out_.assets.size());
    out_.assets.emplace_back(path->name() + ":0", file_name(model_.assets.at(object)));
    init_.push_back(assign);
    assets_[object] = {handle, assign};
    return {};
  }

  // Of a file that the model gets: its own name, or one beside it where another file has that.
  std::string file_name(const std::string& path) {
    const std::string base = std::filesystem::path(path).filename().string();
    std::string name = base;
    for (int i = 1;; ++i) {
      auto [it, fresh] = files_.emplace(name, path);
      if (fresh || it->second == path) return name;
      name = cat(base, "_", i);
    }
  }

  // The resource as the function that makes it has it; the one that fills it runs at the start.
  Status add_resource(int object) {
    const std::string create = model_.objects.own_trace(object, "_create_resource"), fill = model_.objects.own_trace(object, "_initialize");
    if (create.empty()) return {};
    WEFT_ASSIGN(Node* made, call(create, {}, false));
    tensors_[object] = {made, 0};
    if (fill.empty()) return {};
    WEFT_ASSIGN(Node* filled, call(fill, {}, true));
    init_.push_back(filled);
    return {};
  }

  // What stands for an object in the graph. A call that runs at the start reads paths when they are there.
  Result<Endpoint> tensor_of(int object, bool at_start) {
    if (auto it = assets_.find(object); it != assets_.end()) {
      std::vector<Node*> after;
      if (at_start) after.push_back(it->second.second);
      WEFT_ASSIGN(Node* read, add_read(op_of(Role::kReadVariable), it->second.first, DType::kString, std::move(after)));
      return Endpoint{read, 0};
    }
    auto it = tensors_.find(object);
    if (it == tensors_.end()) return internal_error("object ", object, " of the model has no tensor");
    return it->second;
  }

  Result<Node*> call(const std::string& function, std::vector<Endpoint> args, bool at_start) {
    WEFT_ASSIGN(auto def, graph_.library()->find(function));
    auto described = model_.objects.concrete_functions.find(function);
    if (described == model_.objects.concrete_functions.end()) return internal_error("the function ", function, " is not described");
    for (int object : described->second.bound_inputs) {
      WEFT_ASSIGN(Endpoint e, tensor_of(object, at_start));
      args.push_back(e);
    }
    std::vector<DType> in, out;
    for (const auto& a : def->inputs) in.push_back(a.type);
    for (const auto& a : def->outputs) out.push_back(a.type);
    const std::string_view op = op_of(Role::kCall, def->stateful);
    return add(op, op, {{"f", FunctionAttr{function, nullptr}}, {"Tin", std::move(in)}, {"Tout", std::move(out)}}, std::move(args));
  }

  static ProtoWriter tensor_info(const Node* node, int output, DType dtype, const PartialShape& shape) {
    ProtoWriter w;
    w.bytes(1, cat(node->name(), ":", output));
    w.varint(2, uint64_t(dtype));
    w.bytes(3, wire::encode_shape(shape));
    return w;
  }

  // TensorInfo of one result, which may be of several tensors.
  static Result<ProtoWriter> result_info(const Node* call, int& at, const StructuredValue& v, const std::vector<PartialShape>& shapes) {
    using Value = StructuredValue::Kind;
    const auto next = [&] { return cat(call->name(), ":", at++); };
    if (v.kind == Value::kTensor) {
      const int output = at++;
      return tensor_info(call, output, v.dtype, v.shape);
    }
    if (v.kind != Value::kComposite || at + v.components > call->num_outputs())
      return invalid_argument("a signature gives something that is no tensor: ", v.to_string());
    ProtoWriter w, parts;
    if (v.text == "SparseTensorSpec" && v.components == 3) {  // indices, values, dense shape; its state is shape, dtype
      const std::string indices = next(), values = next(), shape = next();
      parts.bytes(1, values);
      parts.bytes(2, indices);
      parts.bytes(3, shape);
      const DType dtype = call->output_type(at - 2);
      w.varint(2, uint64_t(dtype));
      const auto& state = v.items.empty() ? v.items : v.items[0].second.items;
      w.bytes(3, wire::encode_shape(state.empty() ? PartialShape::unknown() : state[0].second.shape));
      w.message(4, parts);
      return w;
    }
    parts.bytes(1, encode_type_spec(v));
    for (int i = 0; i < v.components; ++i, ++at)
      parts.message(2, tensor_info(call, at, call->output_type(at), size_t(at) < shapes.size() ? shapes[size_t(at)] : PartialShape::unknown()));
    w.message(5, parts);
    return w;
  }

  Status add_signature(const ModelDescription::Signature& s) {
    ProtoWriter signature;
    const auto entry = [&](int field, const std::string& key, const ProtoWriter& value) {
      ProtoWriter e;
      e.bytes(1, key);
      e.message(2, value);
      signature.message(field, e);
    };
    std::vector<Endpoint> args;
    for (const StructuredValue& in : s.inputs) {
      WEFT_ASSIGN(Node* p, add_placeholder(valid_node_name(cat(s.key, "_", in.text)), in.dtype, in.shape));
      args.push_back({p, 0});
      entry(1, in.text, tensor_info(p, 0, in.dtype, in.shape));
    }
    WEFT_ASSIGN(Node* made, call(s.function, std::move(args), false));
    std::map<std::string, const StructuredValue*> results;  // in the order in which dictionaries are flattened
    for (const auto& [key, value] : model_.objects.concrete_functions.at(s.function).outputs.items) results[key] = &value;
    int at = 0;
    for (const auto& [key, value] : results) {
      WEFT_ASSIGN(ProtoWriter info, result_info(made, at, *value, s.result_shapes));
      entry(2, key, info);
    }
    signature.bytes(3, "tensorflow/serving/predict");
    out_.signatures[s.key] = signature.take();
    return {};
  }

  Status add_saver(std::span<const SavedTrackable> trackables) {
    WEFT_ASSIGN(Node* file, add_placeholder("saver_filename", DType::kString, PartialShape::scalar()));
    std::vector<tstring> keys;
    std::vector<DType> types;
    std::vector<Variable> saved;
    for (const Variable& v : variables_) {
      const auto& values = trackables[size_t(v.object)].values;
      if (values.empty()) continue;
      keys.push_back(tstring(values[0].key));
      types.push_back(model_.objects.nodes[size_t(v.object)].dtype);
      saved.push_back(v);
    }
    const auto strings = [&](const std::vector<tstring>& list) -> Result<Endpoint> {
      WEFT_ASSIGN(Node* n, graph_.add_const(graph_.unique_name("saver/Const"), Tensor::vector(list)));
      return Endpoint{n, 0};
    };
    std::vector<Node*> assigned;
    if (!saved.empty()) {
      WEFT_ASSIGN(Endpoint names, strings(keys));
      WEFT_ASSIGN(Endpoint slices, strings(std::vector<tstring>(keys.size())));
      WEFT_ASSIGN(Node* restore, add("saver/RestoreV2", op_of(Role::kRestore), {{"dtypes", types}}, {Endpoint{file, 0}, names, slices}));
      for (size_t i = 0; i < saved.size(); ++i) {
        WEFT_ASSIGN(Node* a, add("saver/AssignVariableOp", op_of(Role::kAssignVariable), {{"dtype", types[i]}},
                                 {Endpoint{saved[i].handle, 0}, Endpoint{restore, int(i)}}));
        assigned.push_back(a);
      }
    }
    WEFT_ASSIGN(Node* all, add("saver_restore", op_of(Role::kNoOp), {}, {}, std::move(assigned)));
    // The object graph is saved along, so that what these ops write restores as objects.
    WEFT_ASSIGN(Node* objects, graph_.add_const(graph_.unique_name("saver/Const"), Tensor::scalar(tstring(encode_trackables(trackables)))));
    keys.push_back(tstring(std::string(kObjectGraphKey)));
    types.push_back(DType::kString);
    WEFT_ASSIGN(Endpoint names, strings(keys));
    WEFT_ASSIGN(Endpoint slices, strings(std::vector<tstring>(keys.size())));
    std::vector<Endpoint> inputs{{file, 0}, names, slices};
    for (const Variable& v : saved) inputs.push_back({v.read, 0});
    inputs.push_back({objects, 0});
    WEFT_ASSIGN(Node* save, add("saver/SaveV2", op_of(Role::kSave), {{"dtypes", std::move(types)}}, std::move(inputs)));
    WEFT_ASSIGN(Node* done, add("saver_saved", op_of(Role::kIdentity), {}, {Endpoint{file, 0}}, {save}));
    out_.filename = file->name() + ":0";
    out_.save_tensor = done->name() + ":0";
    out_.restore_op = all->name();
    return {};
  }

  ModelDescription& model_;
  SavedGraph& out_;
  Graph& graph_;
  std::map<int, Endpoint> tensors_;                  // by object
  std::map<int, std::pair<Node*, Node*>> assets_;    // by object: the variable of the path, and what gives it its value
  std::map<std::string, std::string> files_;         // name in the model -> file
  std::vector<Variable> variables_;
  std::vector<Node*> init_;
};

}  // namespace

Result<SavedGraph> build_saved_graph(const op::Registry& registry, std::shared_ptr<graph::FunctionLibrary> library, ModelDescription& model,
                                     std::span<const SavedTrackable> trackables) {
  SavedGraph out;
  out.graph = std::make_unique<Graph>(registry, std::move(library));
  out.graph->versions.producer = graph::kGraphDefVersion;
  out.graph->versions.min_consumer = 12;
  WEFT_RETURN_IF_ERROR(Builder(model, out).build(trackables));
  return out;
}

}  // namespace weft_engine::saved_model
