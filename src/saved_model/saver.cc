#include "saved_model/saver.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/cat.h"
#include "graph/import.h"
#include "graph/to_function.h"
#include "io/graph_def.h"
#include "io/op_def.h"
#include "kernels/cpu/hash.h"
#include "saved_model/checkpoint.h"
#include "saved_model/export_graph.h"
#include "saved_model/fingerprint.h"
#include "saved_model/model_folder.h"
#include "trace/resource_state.h"
#include "trace/variable.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft::saved_model {
namespace {

using graph::Endpoint;
using graph::Graph;
using graph::Node;
using op::AttrMap;
using op::FunctionAttr;
using trace::ConcreteFunction;
using trace::FunctionState;
using trace::TrackableState;
using trace::VariableState;
using wire::ProtoWriter;
using Kind = StructuredValue::Kind;

// The version of TensorFlow whose files these are like.
constexpr const char* kTensorFlowVersion = "2.21.0";

class Saver {
 public:
  Saver(const op::Registry& registry, std::shared_ptr<TrackableState> root, const SaveOptions& options)
      : registry_(registry), root_(std::move(root)), options_(options) {}

  Status save(const std::string& dir) {
    WEFT_RETURN_IF_ERROR(collect());
    WEFT_RETURN_IF_ERROR(collect_functions());
    WEFT_RETURN_IF_ERROR(build_graph());
    WEFT_ASSIGN(std::string bytes, encode());
    return write(dir, bytes);
  }

 private:
  struct Object {
    TrackableState* state = nullptr;  // null: made here
    std::vector<std::pair<std::string, int>> children;
    std::string kind;  // the encoded member of the oneof, with its tag
  };

  int add(Object o) {
    objects_.push_back(std::move(o));
    return int(objects_.size()) - 1;
  }

  // Everything that the root holds, in the checkpoint's order.
  Status collect() {
    WEFT_ASSIGN(tracked_, list_tracked(root_));
    for (const auto& n : tracked_.nodes) {
      Object o;
      o.state = n.state.get();
      o.children = n.children;
      add(std::move(o));
    }
    for (const auto& [name, id] : objects_[0].children) {
      if (name == "signatures") return invalid_argument("an object called 'signatures' cannot be saved: the name is that of the model's signatures");
    }
    std::set<std::string> names;
    for (size_t i = 0; i < objects_.size(); ++i) {
      if (auto* c = dynamic_cast<trace::CapturedState*>(objects_[i].state)) by_handle_[c->handle().get()] = int(i);
      VariableState* v = objects_[i].state->as_variable();
      if (!v) continue;
      variables_.push_back({v, int(i), unique(names, v->spec().name)});
      by_handle_[v->eager_handle().get()] = int(i);
    }
    for (size_t i = 0; i < objects_.size(); ++i) encode_kind(objects_[i]);
    return {};
  }

  static std::string unique(std::set<std::string>& names, const std::string& wanted) {
    std::string base = valid_node_name(wanted.empty() ? "Variable" : wanted), name = base;
    for (int i = 1; !names.insert(name).second; ++i) name = cat(base, "_", i);
    return name;
  }

  static std::string unique_file(std::set<std::string>& names, const std::string& path) {
    const std::string base = std::filesystem::path(path).filename().string();
    std::string name = base;
    for (int i = 1; !names.insert(name).second; ++i) name = cat(base, "_", i);
    return name;
  }

  static void user_object(ProtoWriter& w, std::string_view identifier) {
    ProtoWriter user, version;
    version.varint(1, 1);
    version.varint(2, 1);
    user.bytes(1, identifier);
    user.message(2, version);
    w.message(4, user);
  }

  void encode_kind(Object& o) {
    ProtoWriter w;
    if (VariableState* v = o.state->as_variable()) {
      const trace::VariableSpec& spec = v->spec();
      ProtoWriter m;
      m.varint(1, uint64_t(spec.dtype));
      m.bytes(2, wire::encode_shape(spec.shape));
      if (spec.trainable) m.boolean(3, true);
      if (int(spec.synchronization)) m.varint(4, uint64_t(spec.synchronization));
      if (int(spec.aggregation)) m.varint(5, uint64_t(spec.aggregation));
      m.bytes(6, spec.name);
      w.message(7, m);
    } else if (o.state->kind() == "trackable_list_wrapper" || o.state->kind() == "trackable_dict_wrapper") {
      user_object(w, o.state->kind());
    } else if (auto* asset = dynamic_cast<trace::AssetState*>(o.state)) {
      ProtoWriter m;
      if (!assets_.empty()) m.varint(1, assets_.size());
      w.message(5, m);
      assets_.push_back({asset, int(&o - objects_.data()), ""});
    } else if (auto* table = dynamic_cast<trace::TableState*>(o.state)) {
      w.message(10, ProtoWriter());
      tables_.push_back({table, int(&o - objects_.data())});
    } else if (o.state->kind() != "function") {
      user_object(w, "_generic_user_object");
    }
    o.kind = w.take();
  }

  // The object that a captured value is: a variable, or a constant that is made here.
  Result<int> object_of(const op::Value& v, const std::string& function) {
    const eager::TensorHandle* h = trace::eager_handle(v);
    if (!h) return failed_precondition("the function ", function, " uses tensors of a function around it and cannot be saved");
    if (auto it = by_handle_.find(h); it != by_handle_.end()) return it->second;
    WEFT_RETURN_IF_ERROR(h->wait());
    if (h->dtype() == DType::kResource || h->dtype() == DType::kVariant)
      return failed_precondition("Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. tf.Variable) captured by functions must be "
                                 "'tracked' by assigning them to an attribute of a tracked object or assigned to an attribute of the main object directly: ",
                                 function, " uses one that track() was not told of.");
    Object o;
    ProtoWriter w, constant;
    const std::string name = cat("Const_", constants_.size());
    constant.bytes(1, name);
    w.message(9, constant);
    o.kind = w.take();
    const int id = add(std::move(o));
    constants_.push_back({name, h->tensor(), id});
    by_handle_[h] = id;
    kept_.push_back(v);
    return id;
  }

  static StructuredValue arg_spec(const std::vector<std::string>& args, const std::vector<std::string>& keywords) {
    StructuredValue spec;
    spec.kind = Kind::kNamedTuple;
    spec.text = "FullArgSpec";
    auto texts = [](const std::vector<std::string>& list) {
      std::vector<StructuredValue> out;
      for (const auto& s : list) out.push_back(text_value(s));
      return list_value(Kind::kList, std::move(out));
    };
    StructuredValue dict;
    dict.kind = Kind::kDict;
    spec.items = {{"args", texts(args)}, {"varargs", none_value()}, {"varkw", none_value()}, {"defaults", none_value()}, {"kwonlyargs", texts(keywords)},
                  {"kwonlydefaults", none_value()}, {"annotations", dict}};
    return spec;
  }

  static ProtoWriter function_spec(const StructuredValue& spec) {
    ProtoWriter w;
    w.bytes(1, encode_structured_value(spec));
    w.bytes(5, encode_structured_value(none_value()));
    return w;
  }

  // Adds the description of one graph of a function.
  Status add_concrete(const ConcreteFunction& f, const std::string& name, const StructuredValue& inputs, const StructuredValue& outputs) {
    ProtoWriter w;
    std::vector<int64_t> bound;
    for (const op::Value& v : f.captures()) {
      WEFT_ASSIGN(int id, object_of(v, f.name()));
      bound.push_back(id);
    }
    if (!bound.empty()) w.packed_varints(2, bound);
    w.bytes(3, encode_structured_value(inputs));
    w.bytes(4, encode_structured_value(outputs));
    concrete_[name] = w.take();
    return {};
  }

  // A function of an object that loaders call by itself, without arguments.
  Status add_own_function(int object, const std::string& name, const ConcreteFunction& f) {
    StructuredValue none;
    none.kind = Kind::kDict;
    std::vector<StructuredValue> results;
    for (size_t k = 0; k < f.ret_types().size(); ++k) results.push_back(tensor_value(cat("output_", k), f.ret_types()[k], f.ret_shapes()[k]));
    WEFT_RETURN_IF_ERROR(add_concrete(f, f.name(), list_value(Kind::kTuple, {list_value(Kind::kTuple, {}), none}), results[0]));
    roots_.insert(f.name());
    library_of_ = f.context().runtime().library();
    ProtoWriter m, w;
    m.bytes(1, f.name());
    m.message(2, function_spec(arg_spec({}, {})));
    w.message(6, m);
    Object o;
    o.kind = w.take();
    const int id = add(std::move(o));
    objects_[size_t(object)].children.emplace_back(name, id);
    return {};
  }

  Status collect_functions() {
    const size_t n = objects_.size();
    for (const auto& t : tables_) {
      WEFT_RETURN_IF_ERROR(add_own_function(t.object, "_create_resource", *t.state->creator()));
      WEFT_RETURN_IF_ERROR(add_own_function(t.object, "_initialize", *t.state->initializer()));
      WEFT_RETURN_IF_ERROR(add_own_function(t.object, "_destroy_resource", *t.state->destroyer()));
    }
    for (size_t i = 0; i < n; ++i) {
      auto* f = dynamic_cast<FunctionState*>(objects_[i].state);
      if (!f) continue;
      ProtoWriter m;
      std::vector<std::string> names;
      for (const FunctionState::Form& form : f->forms()) {
        std::vector<StructuredValue> tensors, results;
        for (int k = 0; k < form.function->num_arguments(); ++k)
          tensors.push_back(tensor_value(form.input_names[size_t(k)], form.function->arg_types()[size_t(k)], form.input_shapes[size_t(k)]));
        for (size_t k = 0; k < form.function->ret_types().size(); ++k)
          results.push_back(tensor_value(cat("output_", k), form.function->ret_types()[k], form.function->ret_shapes()[k]));
        WEFT_ASSIGN(StructuredValue args, parse_structure(form.inputs, tensors, false));
        WEFT_ASSIGN(StructuredValue out, parse_structure(form.outputs, results, true));
        std::vector<std::string> these;
        for (size_t k = 0; k < args.items.size(); ++k) {
          const auto& item = args.items[k].second;
          these.push_back(item.kind == Kind::kTensor ? item.text : cat("args_", k));
        }
        if (these.size() > names.size()) names = these;
        StructuredValue none;
        none.kind = Kind::kDict;
        WEFT_RETURN_IF_ERROR(add_concrete(*form.function, form.function->name(), list_value(Kind::kTuple, {args, none}), out));
        roots_.insert(form.function->name());
        library_of_ = form.function->context().runtime().library();
        m.bytes(1, form.function->name());
      }
      m.message(2, function_spec(arg_spec(names, {})));
      ProtoWriter w;
      w.message(6, m);
      objects_[i].kind = w.take();
    }
    return {};
  }

  Result<Node*> node(std::string name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, std::vector<Node*> controls = {}) {
    return graph_->add(graph_->unique_name(name), op, std::move(attrs), std::move(inputs), controls);
  }

  Result<Endpoint> tensor_of(int object) {
    auto it = tensors_.find(object);
    if (it == tensors_.end()) return internal_error("object ", object, " has no tensor");
    return Endpoint{it->second, 0};
  }

  Status build_graph() {
    // Signatures first: they may bring constants of their own.
    struct Ready {
      const SaveSignature* s;
      std::vector<int> bound;
      std::string wrapper;
      std::vector<size_t> inputs, outputs;  // sorted by name
    };
    std::vector<Ready> ready;
    for (const SaveSignature& s : options_.signatures) {
      Ready r{&s, {}, "", {}, {}};
      if (s.inputs.size() != size_t(s.function->num_arguments()) || s.outputs.size() != s.function->ret_types().size())
        return invalid_argument("the signature '", s.name, "' names ", s.inputs.size(), " inputs and ", s.outputs.size(), " outputs of a function that has ",
                                s.function->num_arguments(), " and ", s.function->ret_types().size());
      for (const op::Value& v : s.function->captures()) {
        WEFT_ASSIGN(int id, object_of(v, s.function->name()));
        r.bound.push_back(id);
      }
      auto sorted = [](const std::vector<std::string>& names, std::vector<size_t>& order) {
        for (size_t i = 0; i < names.size(); ++i) order.push_back(i);
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
        for (size_t i = 1; i < order.size(); ++i) {
          if (names[order[i]] == names[order[i - 1]]) return invalid_argument("a signature has two tensors called '", names[order[i]], "'");
        }
        return Status();
      };
      WEFT_RETURN_IF_ERROR(sorted(s.inputs, r.inputs));
      WEFT_RETURN_IF_ERROR(sorted(s.outputs, r.outputs));
      r.wrapper = cat("__inference_signature_wrapper_", valid_node_name(s.name), "_", ready.size());
      roots_.insert(s.function->name());
      library_of_ = s.function->context().runtime().library();
      ready.push_back(std::move(r));
    }
    auto library = std::make_shared<graph::FunctionLibrary>();
    if (!roots_.empty()) {
      std::vector<graph::NodeDef> calls;
      for (const std::string& f : roots_) {
        graph::NodeDef call;
        call.op = "PartitionedCall";
        call.attrs["f"] = FunctionAttr{f, nullptr};
        calls.push_back(std::move(call));
      }
      WEFT_ASSIGN(library, needed_functions(calls, *library_of_));
    }
    graph_ = std::make_unique<Graph>(registry_, library);
    graph_->versions.producer = graph::kGraphDefVersion;
    graph_->versions.min_consumer = 12;
    for (const auto& c : constants_) {
      WEFT_ASSIGN(tensors_[c.object], graph_->add_const(c.name, c.value));
    }
    for (const auto& v : variables_) {
      AttrMap attrs;
      attrs["dtype"] = v.state->spec().dtype;
      attrs["shape"] = v.state->spec().shape;
      attrs["shared_name"] = v.node;
      WEFT_ASSIGN(tensors_[v.object], node(v.node, "VarHandleOp", std::move(attrs), {}));
    }
    // Tables are made in the graph as well, and filled by the op that starts the model.
    std::set<std::string> files;
    for (auto& a : assets_) {
      WEFT_ASSIGN(Node * name, graph_->add_const(graph_->unique_name("asset_path"), Tensor::scalar(a.state->path().c_str())));
      tensors_[a.object] = name;
      a.file = unique_file(files, a.state->path());
    }
    for (const auto& t : tables_) {
      AttrMap attrs;
      attrs["key_dtype"] = t.state->spec().keys;
      attrs["value_dtype"] = t.state->spec().values;
      WEFT_ASSIGN(Node * made, node("hash_table", "HashTableV2", attrs, {}));
      tensors_[t.object] = made;
      graph_->set_attr(made, "shared_name", made->name());
    }
    std::vector<Node*> started;
    for (const auto& t : tables_) {
      const ConcreteFunction& f = *t.state->initializer();
      std::vector<Endpoint> args;
      for (const op::Value& v : f.captures()) {
        WEFT_ASSIGN(int id, object_of(v, f.name()));
        WEFT_ASSIGN(Endpoint e, tensor_of(id));
        args.push_back(e);
      }
      AttrMap attrs;
      attrs["f"] = FunctionAttr{f.name(), nullptr};
      attrs["Tin"] = f.arg_types();
      attrs["Tout"] = f.ret_types();
      WEFT_ASSIGN(Node * fill, node("StatefulPartitionedCall", "StatefulPartitionedCall", std::move(attrs), std::move(args)));
      started.push_back(fill);
    }
    Object map;
    ProtoWriter kind;
    user_object(kind, "signature_map");
    map.kind = kind.take();
    for (const Ready& r : ready) {
      WEFT_ASSIGN(int id, add_signature(*r.s, r.wrapper, r.bound, r.inputs, r.outputs, *library));
      map.children.emplace_back(r.s->name, id);
    }
    const int signatures = add(std::move(map));
    objects_[0].children.emplace_back("signatures", signatures);
    WEFT_ASSIGN(Node * init, node("NoOp", "NoOp", {}, {}, started));
    init_op_ = init->name();
    return add_saver();
  }

  // A function that takes and gives tensors by the signature's names, called once in the graph.
  Result<int> add_signature(const SaveSignature& s, const std::string& wrapper, const std::vector<int>& bound, const std::vector<size_t>& inputs,
                            const std::vector<size_t>& outputs, graph::FunctionLibrary& library) {
    const ConcreteFunction& f = *s.function;
    const char* call_op = f.stateful() ? "StatefulPartitionedCall" : "PartitionedCall";
    auto call_attrs = [&](const std::string& name, const std::vector<DType>& in, const std::vector<DType>& out) {
      AttrMap attrs;
      attrs["f"] = FunctionAttr{name, nullptr};
      attrs["Tin"] = in;
      attrs["Tout"] = out;
      return attrs;
    };
    std::vector<DType> out_types;
    for (size_t k : outputs) out_types.push_back(f.ret_types()[k]);
    {
      Graph g(registry_, graph_->library());
      graph::FunctionOptions options;
      options.name = wrapper;
      std::vector<Endpoint> args(f.arg_types().size());
      for (size_t k : inputs) {
        AttrMap attrs;
        attrs["dtype"] = f.arg_types()[k];
        attrs["shape"] = s.input_shapes[k];
        WEFT_ASSIGN(Node * p, g.add(g.unique_name(valid_node_name(s.inputs[k])), "Placeholder", std::move(attrs), {}));
        args[k] = {p, 0};
        options.inputs.push_back(args[k]);
      }
      for (size_t k = s.inputs.size(); k < args.size(); ++k) {
        AttrMap attrs;
        attrs["dtype"] = f.arg_types()[k];
        WEFT_ASSIGN(Node * p, g.add(g.unique_name("unknown"), "Placeholder", std::move(attrs), {}));
        args[k] = {p, 0};
        options.inputs.push_back(args[k]);
      }
      WEFT_ASSIGN(Node * call, g.add("call", call_op, call_attrs(f.name(), f.arg_types(), f.ret_types()), args));
      for (size_t k : outputs) {
        WEFT_ASSIGN(Node * id, g.add(g.unique_name("Identity"), "Identity", {}, {Endpoint{call, int(k)}}));
        options.outputs.push_back({id, 0});
        options.output_names.push_back(cat("output_", options.output_names.size()));
      }
      if (f.stateful()) options.control_outputs.push_back(call);
      WEFT_ASSIGN(graph::FunctionDef def, graph::to_function(g, options));
      WEFT_RETURN_IF_ERROR(library.add(std::move(def)));
    }
    // In the graph: placeholders and one call.
    std::vector<Endpoint> args;
    std::vector<DType> in_types;
    ProtoWriter signature;
    StructuredValue keywords, results;
    keywords.kind = results.kind = Kind::kDict;
    std::vector<std::string> names;
    auto info = [](const std::string& tensor, DType dtype, const PartialShape& shape) {
      ProtoWriter w;
      w.bytes(1, tensor);
      w.varint(2, uint64_t(dtype));
      w.bytes(3, wire::encode_shape(shape));
      return w;
    };
    auto entry = [&](int field, const std::string& key, const ProtoWriter& value) {
      ProtoWriter e;
      e.bytes(1, key);
      e.message(2, value);
      signature.message(field, e);
    };
    for (size_t k : inputs) {
      AttrMap attrs;
      attrs["dtype"] = f.arg_types()[k];
      attrs["shape"] = s.input_shapes[k];
      WEFT_ASSIGN(Node * p, node(cat(valid_node_name(s.name), "_", valid_node_name(s.inputs[k])), "Placeholder", std::move(attrs), {}));
      args.push_back({p, 0});
      in_types.push_back(f.arg_types()[k]);
      entry(1, s.inputs[k], info(p->name() + ":0", f.arg_types()[k], s.input_shapes[k]));
      keywords.items.emplace_back(s.inputs[k], tensor_value(s.inputs[k], f.arg_types()[k], s.input_shapes[k]));
      names.push_back(s.inputs[k]);
    }
    for (size_t k = 0; k < bound.size(); ++k) {
      WEFT_ASSIGN(Endpoint e, tensor_of(bound[k]));
      args.push_back(e);
      in_types.push_back(f.arg_types()[s.inputs.size() + k]);
    }
    WEFT_ASSIGN(Node * call, node(call_op, call_op, call_attrs(wrapper, in_types, out_types), args));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t k = outputs[i];
      entry(2, s.outputs[k], info(cat(call->name(), ":", i), f.ret_types()[k], f.ret_shapes()[k]));
      results.items.emplace_back(s.outputs[k], tensor_value(s.outputs[k], f.ret_types()[k], f.ret_shapes()[k]));
    }
    signature.bytes(3, "tensorflow/serving/predict");
    signatures_[s.name] = signature.take();
    // And among the objects.
    ProtoWriter concrete, bare, w;
    std::vector<int64_t> ids(bound.begin(), bound.end());
    if (!ids.empty()) concrete.packed_varints(2, ids);
    concrete.bytes(3, encode_structured_value(list_value(Kind::kTuple, {list_value(Kind::kTuple, {}), keywords})));
    concrete.bytes(4, encode_structured_value(results));
    concrete_[wrapper] = concrete.take();
    bare.bytes(1, wrapper);
    for (const auto& n : names) bare.bytes(2, n);
    bare.varint(3, names.size());
    bare.message(4, function_spec(arg_spec({}, names)));
    w.message(8, bare);
    Object o;
    o.kind = w.take();
    return add(std::move(o));
  }

  // Ops that write and read a checkpoint, for loaders that run graphs (TF Serving, version 1).
  Status add_saver() {
    AttrMap attrs;
    attrs["dtype"] = DType::kString;
    attrs["shape"] = PartialShape::scalar();
    WEFT_ASSIGN(Node * file, node("saver_filename", "Placeholder", std::move(attrs), {}));
    filename_ = file->name() + ":0";
    std::vector<tstring> keys, slices;
    std::vector<DType> types;
    std::vector<const Variable*> saved;
    for (const auto& v : variables_) {
      keys.push_back(tstring(value_key(tracked_.nodes[size_t(v.object)].path)));
      slices.push_back(tstring(""));
      types.push_back(v.state->spec().dtype);
      saved.push_back(&v);
    }
    WEFT_ASSIGN(Node * names, graph_->add_const(graph_->unique_name("saver/names"), Tensor::vector(keys)));
    WEFT_ASSIGN(Node * shapes, graph_->add_const(graph_->unique_name("saver/slices"), Tensor::vector(slices)));
    if (saved.empty()) {
      WEFT_ASSIGN(Node * none, node("saver/restore_all", "NoOp", {}, {}));
      WEFT_ASSIGN(Node * same, node("saver/save", "Identity", {}, {Endpoint{file, 0}}));
      restore_op_ = none->name();
      save_tensor_ = same->name() + ":0";
      return {};
    }
    std::vector<Endpoint> write{{file, 0}, {names, 0}, {shapes, 0}};
    for (const Variable* v : saved) {
      AttrMap read;
      read["dtype"] = v->state->spec().dtype;
      WEFT_ASSIGN(Node * value, node(cat("saver/", v->node, "/Read"), "ReadVariableOp", std::move(read), {Endpoint{tensors_[v->object], 0}}));
      write.push_back({value, 0});
    }
    AttrMap dtypes;
    dtypes["dtypes"] = types;
    WEFT_ASSIGN(Node * save, node("saver/SaveV2", "SaveV2", dtypes, std::move(write)));
    WEFT_ASSIGN(Node * done, node("saver/save", "Identity", {}, {Endpoint{file, 0}}, {save}));
    save_tensor_ = done->name() + ":0";
    WEFT_ASSIGN(Node * restore, node("saver/RestoreV2", "RestoreV2", dtypes, {Endpoint{file, 0}, Endpoint{names, 0}, Endpoint{shapes, 0}}));
    std::vector<Node*> all;
    for (size_t i = 0; i < saved.size(); ++i) {
      AttrMap assign;
      assign["dtype"] = types[i];
      WEFT_ASSIGN(Node * a, node(cat("saver/", saved[i]->node, "/Assign"), "AssignVariableOp", std::move(assign),
                                 {Endpoint{tensors_[saved[i]->object], 0}, Endpoint{restore, int(i)}}));
      all.push_back(a);
    }
    WEFT_ASSIGN(Node * group, node("saver/restore_all", "NoOp", {}, {}, std::move(all)));
    restore_op_ = group->name();
    return {};
  }

  std::string encode_objects() const {
    ProtoWriter w;
    for (const Object& o : objects_) {
      ProtoWriter m;
      for (const auto& [name, id] : o.children) {
        ProtoWriter c;
        if (id) c.varint(1, uint64_t(id));
        c.bytes(2, name);
        m.message(1, c);
      }
      if (size_t(&o - objects_.data()) < tracked_.nodes.size()) {
        for (const auto& slot : tracked_.nodes[size_t(&o - objects_.data())].slots) {
          ProtoWriter ref;
          ref.varint(1, uint64_t(slot.original));
          ref.bytes(2, slot.name);
          ref.varint(3, uint64_t(slot.variable));
          m.message(3, ref);
        }
      }
      std::string bytes = m.take() + o.kind;
      w.bytes(1, bytes);
    }
    for (const auto& [name, bytes] : concrete_) {
      ProtoWriter e;
      e.bytes(1, name);
      e.bytes(2, bytes);
      w.message(2, e);
    }
    return w.take();
  }

  Result<std::string> encode() const {
    ProtoWriter meta, info;
    std::set<std::string> ops;
    for (const Node* n : graph_->nodes()) ops.emplace(n->op());
    for (const std::string& f : graph_->library()->names()) {
      WEFT_ASSIGN(auto def, graph_->library()->find(f));
      for (const auto& n : def->nodes) ops.insert(n.op);
    }
    std::vector<const op::OpSpec*> specs;
    for (const std::string& name : ops) {
      if (const op::OpSpec* spec = registry_.find(name)) specs.push_back(spec);
    }
    info.bytes(2, io::encode_op_list(specs));
    for (const auto& t : options_.tags) info.bytes(4, t);
    info.bytes(5, kTensorFlowVersion);
    meta.message(1, info);
    WEFT_ASSIGN(std::string graph, io::encode_graph_def(*graph_));
    meta.bytes(2, graph);
    ProtoWriter saver;
    saver.bytes(1, filename_);
    saver.bytes(2, save_tensor_);
    saver.bytes(3, restore_op_);
    saver.varint(7, 2);
    meta.message(3, saver);
    ProtoWriter list, collection, entry;
    list.bytes(1, init_op_);
    collection.message(1, list);
    entry.bytes(1, "saved_model_main_op");
    entry.message(2, collection);
    meta.message(4, entry);
    for (const auto& [name, bytes] : signatures_) {
      ProtoWriter e;
      e.bytes(1, name);
      e.bytes(2, bytes);
      meta.message(5, e);
    }
    {
      ProtoWriter tensor, out, signature, e, unknown;
      unknown.boolean(3, true);
      tensor.bytes(1, init_op_);
      tensor.message(3, unknown);
      out.bytes(1, "__saved_model_init_op");
      out.message(2, tensor);
      signature.message(2, out);
      e.bytes(1, "__saved_model_init_op");
      e.message(2, signature);
      meta.message(5, e);
    }
    for (const auto& a : assets_) {
      ProtoWriter file, tensor;
      tensor.bytes(1, tensors_.at(a.object)->name() + ":0");
      file.message(1, tensor);
      file.bytes(2, a.file);
      meta.message(6, file);
    }
    meta.bytes(7, encode_objects());
    ProtoWriter model;
    model.varint(1, 1);
    model.message(2, meta);
    return model.take();
  }

  Status write(const std::string& dir, const std::string& bytes) const {
    WEFT_ASSIGN(ModelFolder folder, ModelFolder::create(dir));
    const std::string& to = folder.path();
    WEFT_RETURN_IF_ERROR(wire::create_folders(to + "/variables"));
    WEFT_RETURN_IF_ERROR(wire::create_folders(to + "/assets"));
    for (const auto& a : assets_) {
      std::string contents;
      WEFT_RETURN_IF_ERROR(check_asset_name(a.file));
      WEFT_RETURN_IF_ERROR(wire::read_file(a.state->path(), contents));
      WEFT_RETURN_IF_ERROR(wire::write_file(cat(to, "/assets/", a.file), contents));
    }
    WEFT_RETURN_IF_ERROR(write_checkpoint(to + "/variables/variables", root_).status());
    WEFT_RETURN_IF_ERROR(wire::write_file(to + "/saved_model.pb", bytes));
    WEFT_RETURN_IF_ERROR(write_fingerprint(to));
    return folder.publish();
  }

  struct Variable {
    VariableState* state;
    int object;
    std::string node;
  };
  struct AssetFile {
    trace::AssetState* state;
    int object;
    std::string file;
  };
  struct Table {
    trace::TableState* state;
    int object;
  };
  struct Constant {
    std::string name;
    Tensor value;
    int object;
  };

  const op::Registry& registry_;
  std::shared_ptr<TrackableState> root_;
  const SaveOptions& options_;
  TrackedObjects tracked_;
  std::vector<Object> objects_;  // those, and behind them what is made here
  std::vector<Variable> variables_;
  std::vector<Constant> constants_;
  std::vector<AssetFile> assets_;
  std::vector<Table> tables_;
  std::map<const eager::TensorHandle*, int> by_handle_;
  std::vector<op::Value> kept_;
  std::map<std::string, std::string> concrete_, signatures_;  // name -> message
  std::set<std::string> roots_;                               // functions that must be in the file
  std::shared_ptr<graph::FunctionLibrary> library_of_;
  std::unique_ptr<Graph> graph_;
  std::map<int, Node*> tensors_;  // by object
  std::string filename_, save_tensor_, restore_op_, init_op_;
};

}  // namespace

Status save(const op::Registry& registry, const std::shared_ptr<trace::TrackableState>& root, const std::string& dir, const SaveOptions& options) {
  return Saver(registry, root, options).save(dir);
}

}  // namespace weft::saved_model
