#include "saved_model/describe.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/cat.h"
#include "saved_model/checkpoint.h"
#include "saved_model/export_graph.h"
#include "trace/resource_state.h"
#include "trace/variable.h"

namespace weft_engine::saved_model {
namespace {

using trace::ConcreteFunction;
using trace::FunctionState;
using trace::VariableState;
using Kind = SavedObject::Kind;
using Value = StructuredValue::Kind;

StructuredValue dict(std::vector<std::pair<std::string, StructuredValue>> items = {}) {
  StructuredValue v;
  v.kind = Value::kDict;
  v.items = std::move(items);
  return v;
}

// Python's FullArgSpec of a function with these parameters.
StructuredValue arg_spec(const std::vector<std::string>& args, const std::vector<std::string>& keywords) {
  const auto texts = [](const std::vector<std::string>& list) {
    std::vector<StructuredValue> out;
    for (const auto& s : list) out.push_back(text_value(s));
    return list_value(Value::kList, std::move(out));
  };
  StructuredValue spec;
  spec.kind = Value::kNamedTuple;
  spec.text = "FullArgSpec";
  spec.items = {{"args", texts(args)},           {"varargs", none_value()},        {"varkw", none_value()}, {"defaults", none_value()},
                {"kwonlyargs", texts(keywords)}, {"kwonlydefaults", none_value()}, {"annotations", dict()}};
  return spec;
}

std::vector<StructuredValue> results_of(const ConcreteFunction& f, std::span<const std::string> names = {}) {
  std::vector<StructuredValue> out;
  for (size_t k = 0; k < f.ret_types().size(); ++k)
    out.push_back(tensor_value(names.empty() ? cat("output_", k) : names[k], f.ret_types()[k], f.ret_shapes()[k]));
  return out;
}

// The order of names that dictionaries are flattened in; InvalidArgument where one is there twice.
Result<std::vector<size_t>> sorted(const std::vector<std::string>& names) {
  std::vector<size_t> order(names.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
  for (size_t i = 1; i < order.size(); ++i) {
    if (names[order[i]] == names[order[i - 1]]) return invalid_argument("a signature has two tensors called '", names[order[i]], "'");
  }
  return order;
}

class Describer {
 public:
  Result<ModelDescription> describe(const std::shared_ptr<TrackableState>& root, std::span<const SaveSignature> signatures) {
    trace::Entered untraced(nullptr);
    WEFT_RETURN_IF_ERROR(collect(root));
    WEFT_RETURN_IF_ERROR(collect_functions());
    WEFT_RETURN_IF_ERROR(collect_signatures(signatures));
    WEFT_RETURN_IF_ERROR(collect_library());
    return std::move(model_);
  }

 private:
  SavedObject& node(int id) { return model_.objects.nodes[size_t(id)]; }
  int add(SavedObject o) {
    model_.objects.nodes.push_back(std::move(o));
    return int(model_.objects.nodes.size()) - 1;
  }

  // Everything that the root holds, in the checkpoint's order.
  Status collect(const std::shared_ptr<TrackableState>& root) {
    WEFT_ASSIGN(tracked_, list_tracked(root));
    for (const auto& [name, id] : tracked_.nodes[0].children) {
      if (name == "signatures") return invalid_argument("an object called 'signatures' cannot be saved: the name is that of the model's signatures");
    }
    for (size_t i = 0; i < tracked_.nodes.size(); ++i) {
      SavedObject o;
      o.children = tracked_.nodes[i].children;
      o.slots = tracked_.nodes[i].slots;
      WEFT_RETURN_IF_ERROR(fill(o, int(i), *tracked_.nodes[i].state));
      add(std::move(o));
    }
    return {};
  }

  Status fill(SavedObject& o, int id, TrackableState& state) {
    o.kind = Kind::kUser;
    if (auto* captured = dynamic_cast<trace::CapturedState*>(&state)) by_handle_[captured->handle().get()] = id;
    if (VariableState* v = state.as_variable()) {
      const trace::VariableSpec& spec = v->spec();
      o.kind = Kind::kVariable;
      o.name = spec.name;
      o.dtype = spec.dtype;
      o.shape = spec.shape;
      o.trainable = spec.trainable;
      o.synchronization = int(spec.synchronization);
      o.aggregation = int(spec.aggregation);
      by_handle_[v->eager_handle().get()] = id;
      WEFT_ASSIGN(Tensor value, variable_value(*v));
      model_.values[id].push_back({std::string(kVariableValue), std::move(value)});
    } else if (auto* asset = dynamic_cast<trace::AssetState*>(&state)) {
      o.kind = Kind::kAsset;
      model_.assets[id] = asset->path();
    } else if (dynamic_cast<trace::TableState*>(&state)) {
      o.kind = Kind::kResource;
    } else if (dynamic_cast<FunctionState*>(&state)) {
      o.kind = Kind::kFunction;
    } else {
      const bool container = state.kind() == "trackable_list_wrapper" || state.kind() == "trackable_dict_wrapper";
      o.name = container ? state.kind() : "_generic_user_object";
    }
    return {};
  }

  // The object that a captured value is: a variable, or a constant that is made here.
  Result<int> object_of(const op::Value& v, const std::string& function) {
    const eager::TensorHandle* h = trace::eager_handle(v);
    if (!h) return failed_precondition("the function ", function, " uses tensors of a function around it and cannot be saved");
    if (auto it = by_handle_.find(h); it != by_handle_.end()) return it->second;
    WEFT_RETURN_IF_ERROR(h->wait());
    if (h->dtype() == DType::kResource || h->dtype() == DType::kVariant)
      return failed_precondition(
          "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. tf.Variable) captured by functions must be "
          "'tracked' by assigning them to an attribute of a tracked object or assigned to an attribute of the main object directly: ",
          function, " uses one that was not passed to track().");
    SavedObject o;
    o.kind = Kind::kConstant;
    const int id = add(std::move(o));
    model_.constants[id] = h->tensor();
    by_handle_[h] = id;
    kept_.push_back(v);
    return id;
  }

  // Describes one graph of a function.
  Status add_trace(const ConcreteFunction& f, StructuredValue inputs, StructuredValue outputs) {
    SavedConcreteFunction described;
    for (const op::Value& v : f.captures()) {
      WEFT_ASSIGN(int id, object_of(v, f.name()));
      described.bound_inputs.push_back(id);
    }
    described.inputs = std::move(inputs);
    described.outputs = std::move(outputs);
    model_.objects.concrete_functions[f.name()] = std::move(described);
    traces_.insert(f.name());
    library_of_ = f.context().runtime().library();
    return {};
  }

  // A function of an object that loaders call by itself, without arguments.
  Status add_own_function(int object, const std::string& name, const ConcreteFunction& f) {
    WEFT_RETURN_IF_ERROR(add_trace(f, list_value(Value::kTuple, {list_value(Value::kTuple, {}), dict()}), results_of(f)[0]));
    SavedObject o;
    o.kind = Kind::kFunction;
    o.concrete_functions = {f.name()};
    o.spec.arg_spec = arg_spec({}, {});
    const int id = add(std::move(o));
    node(object).children.emplace_back(name, id);
    return {};
  }

  Status collect_functions() {
    for (size_t i = 0; i < tracked_.nodes.size(); ++i) {
      auto* table = dynamic_cast<trace::TableState*>(tracked_.nodes[i].state.get());
      if (!table) continue;
      WEFT_RETURN_IF_ERROR(add_own_function(int(i), "_create_resource", *table->creator()));
      WEFT_RETURN_IF_ERROR(add_own_function(int(i), "_initialize", *table->initializer()));
      WEFT_RETURN_IF_ERROR(add_own_function(int(i), "_destroy_resource", *table->destroyer()));
    }
    for (size_t i = 0; i < tracked_.nodes.size(); ++i) {
      auto* f = dynamic_cast<FunctionState*>(tracked_.nodes[i].state.get());
      if (!f) continue;
      std::vector<std::string> names;
      for (const FunctionState::Form& form : f->forms()) {
        std::vector<StructuredValue> tensors;
        for (int k = 0; k < form.function->num_arguments(); ++k)
          tensors.push_back(tensor_value(form.input_names[size_t(k)], form.function->arg_types()[size_t(k)], form.input_shapes[size_t(k)]));
        WEFT_ASSIGN(StructuredValue args, parse_structure(form.inputs, tensors, false));
        WEFT_ASSIGN(StructuredValue out, parse_structure(form.outputs, results_of(*form.function), true));
        std::vector<std::string> these;
        for (size_t k = 0; k < args.items.size(); ++k) {
          const auto& item = args.items[k].second;
          these.push_back(item.kind == Value::kTensor ? item.text : cat("args_", k));
        }
        if (these.size() > names.size()) names = these;
        WEFT_RETURN_IF_ERROR(add_trace(*form.function, list_value(Value::kTuple, {args, dict()}), out));
        node(int(i)).concrete_functions.push_back(form.function->name());
      }
      node(int(i)).spec.arg_spec = arg_spec(names, {});
    }
    return {};
  }

  // A function that takes and gives tensors by the signature's names, in the order of the names.
  Result<std::shared_ptr<ConcreteFunction>> wrapper_of(const SaveSignature& s, const std::vector<size_t>& inputs,
                                                       const std::vector<size_t>& outputs) {
    auto g = trace::FuncGraph::make(s.function->context(), cat("signature_wrapper_", valid_node_name(s.name)), nullptr);
    trace::Entered inside(g.get());
    std::vector<op::Value> args(s.inputs.size()), results;
    for (size_t k : inputs) {
      WEFT_ASSIGN(args[k], g->add_argument(g->unique_name(valid_node_name(s.inputs[k])), s.function->arg_types()[k], s.input_shapes[k]));
    }
    WEFT_ASSIGN(std::vector<op::Value> given, s.function->call(args));
    for (size_t k : outputs) results.push_back(given[k]);
    return ConcreteFunction::make(g, results);
  }

  Status collect_signatures(std::span<const SaveSignature> signatures) {
    SavedObject map;
    map.kind = Kind::kUser;
    map.name = "signature_map";
    for (const SaveSignature& s : signatures) {
      const size_t arguments = size_t(s.function->num_arguments());
      if (s.inputs.size() != arguments || s.outputs.size() != s.function->ret_types().size())
        return invalid_argument("the signature '", s.name, "' names ", s.inputs.size(), " inputs and ", s.outputs.size(),
                                " outputs of a function that has ", arguments, " and ", s.function->ret_types().size());
      WEFT_ASSIGN(const std::vector<size_t> inputs, sorted(s.inputs));
      WEFT_ASSIGN(const std::vector<size_t> outputs, sorted(s.outputs));
      WEFT_ASSIGN(auto wrapper, wrapper_of(s, inputs, outputs));
      kept_functions_.push_back(wrapper);
      ModelDescription::Signature out{s.name, wrapper->name(), {}, wrapper->ret_shapes()};
      StructuredValue keywords = dict(), results = dict();
      SavedObject o;
      o.kind = Kind::kBareFunction;
      o.concrete_functions = {wrapper->name()};
      for (size_t k : inputs) {
        out.inputs.push_back(tensor_value(s.inputs[k], s.function->arg_types()[k], s.input_shapes[k]));
        keywords.items.emplace_back(s.inputs[k], out.inputs.back());
        o.keywords.push_back(s.inputs[k]);
      }
      for (size_t k : outputs)
        results.items.emplace_back(s.outputs[k], tensor_value(s.outputs[k], s.function->ret_types()[k], s.function->ret_shapes()[k]));
      WEFT_RETURN_IF_ERROR(add_trace(*wrapper, list_value(Value::kTuple, {list_value(Value::kTuple, {}), keywords}), results));
      o.positional = int64_t(o.keywords.size());
      o.spec.arg_spec = arg_spec({}, o.keywords);
      model_.argument_names[wrapper->name()] = o.keywords;
      model_.signatures.push_back(std::move(out));
      const int id = add(std::move(o));
      map.children.emplace_back(s.name, id);
    }
    const int id = add(std::move(map));
    node(0).children.emplace_back("signatures", id);
    return {};
  }

  Status collect_library() {
    model_.library = std::make_shared<graph::FunctionLibrary>();
    if (traces_.empty()) return {};
    graph::NodeDef calls;  // names them all
    std::vector<op::FunctionAttr> names;
    for (const std::string& f : traces_) names.push_back({f, nullptr});
    calls.attrs["f"] = std::move(names);
    WEFT_ASSIGN(model_.library, needed_functions({calls}, *library_of_));
    return {};
  }

  ModelDescription model_;
  TrackedObjects tracked_;
  std::map<const eager::TensorHandle*, int> by_handle_;
  std::vector<op::Value> kept_;
  std::vector<std::shared_ptr<ConcreteFunction>> kept_functions_;
  std::set<std::string> traces_;
  std::shared_ptr<graph::FunctionLibrary> library_of_;
};

}  // namespace

Result<ModelDescription> describe(const std::shared_ptr<TrackableState>& root, std::span<const SaveSignature> signatures) {
  return Describer().describe(root, signatures);
}

}  // namespace weft_engine::saved_model
