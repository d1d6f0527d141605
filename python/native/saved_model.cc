// SavedModels between Python and the engine. Saving: what Python says of its objects and their traces, as the description that the engine's saver
// writes. Loading: what the engine says of a model's objects, of which Python makes its own, and the functions with what they captured. Freezing.
#include "saved_model.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/own_memory.h"
#include "custom_gradient.h"
#include "engine/engine.h"
#include "io/graph_def.h"
#include "saved_model/export_graph.h"
#include "saved_model/fingerprint.h"
#include "saved_model/freeze.h"
#include "saved_model/objects.h"
#include "saved_model/saver.h"
#include "structured.h"
#include "variable.h"

namespace weft_engine::python {
namespace {

using saved_model::LoadedLibrary;
using saved_model::ModelDescription;
using saved_model::Objects;
using saved_model::SavedModelFiles;
using saved_model::SavedObject;
using trace::ConcreteFunction;
using Kind = SavedObject::Kind;

template <class T>
T get(const nb::dict& d, const char* key, T otherwise = {}) {
  return d.contains(key) ? nb::cast<T>(d[key]) : std::move(otherwise);
}

// Of a tensor, or of an array where there is no eager code around.
Tensor host_value(nb::handle value) {
  if (is_tensor(value.ptr())) return unwrap(core::to_host(data_of(value.ptr())));
  Tensor out;
  if (!convert_native(value.ptr(), DType::kInvalid, out)) throw nb::type_error("a value that is saved is no tensor");
  return out;
}

// What Python calls the kinds of objects.
constexpr std::pair<const char*, Kind> kKinds[] = {
    {"none", Kind::kNone},         {"user", Kind::kUser},         {"asset", Kind::kAsset},
    {"function", Kind::kFunction}, {"variable", Kind::kVariable}, {"trace", Kind::kBareFunction},
    {"constant", Kind::kConstant}, {"resource", Kind::kResource}, {"captured tensor", Kind::kCapturedTensor}};

Kind kind_of(const std::string& name) {
  for (const auto& [known, kind] : kKinds) {
    if (name == known) return kind;
  }
  throw nb::value_error("not a kind of objects of a SavedModel");
}
const char* name_of(Kind kind) {
  for (const auto& [name, known] : kKinds) {
    if (kind == known) return name;
  }
  return "none";
}

// ---- saving

// A node: {"kind", "children", and what its kind has}.
void add_node(ModelDescription& model, const nb::dict& d) {
  SavedObject o;
  const int id = int(model.objects.nodes.size());
  o.kind = kind_of(get<std::string>(d, "kind"));
  o.children = get<std::vector<std::pair<std::string, int>>>(d, "children");
  o.saveables = get<std::map<std::string, std::pair<int, int>>>(d, "saveables");
  o.registered_name = get<std::string>(d, "registered_name");
  o.name = get<std::string>(d, "name");
  o.metadata = get<std::string>(d, "metadata");
  o.concrete_functions = get<std::vector<std::string>>(d, "traces");
  o.keywords = get<std::vector<std::string>>(d, "keywords");
  o.positional = get<int64_t>(d, "positional");
  if (d.contains("spec")) {
    nb::object spec = d["spec"];
    o.spec.arg_spec = structured_of(spec[0]);
    o.spec.input_signature = structured_of(spec[1]);
    o.spec.jit_compile = nb::cast<int>(spec[2]);
  }
  if (o.kind == Kind::kVariable) {
    o.dtype = dtype_of(d["dtype"].ptr());
    o.shape = shape_of(d["shape"].ptr());
    o.trainable = get<bool>(d, "trainable");
    o.synchronization = get<int>(d, "synchronization");
    o.aggregation = get<int>(d, "aggregation");
  }
  if (o.kind == Kind::kConstant) model.constants[id] = host_value(d["value"]);
  if (o.kind == Kind::kAsset) model.assets[id] = get<std::string>(d, "path");
  if (d.contains("values")) {
    for (nb::handle pair : nb::object(d["values"])) model.values[id].push_back({nb::cast<std::string>(pair[0]), host_value(pair[1])});
  }
  model.objects.nodes.push_back(std::move(o));
}

// The functions that traces call, and themselves.
void add_functions(ModelDescription& model, const ConcreteFunction& f) {
  const auto& from = *f.context().runtime().library();
  auto def = unwrap(from.find(f.name()));
  auto needed = unwrap(saved_model::needed_functions(def->nodes, from));
  if (!needed->contains(f.name())) check(needed->add(graph::FunctionDef(*def)));
  check(model.library->add_all(*needed));
}

// A trace: (function, numbers of the objects that it captured, (args, kwargs), results, names of its arguments), the structures as trees.
void add_trace(ModelDescription& model, nb::handle trace) {
  const auto& f = nb::cast<const ConcreteFunction&>(trace[0]);
  saved_model::SavedConcreteFunction described;
  described.bound_inputs = nb::cast<std::vector<int>>(trace[1]);
  described.inputs = structured_of(trace[2]);
  described.outputs = structured_of(trace[3]);
  model.argument_names[f.name()] = nb::cast<std::vector<std::string>>(trace[4]);
  model.objects.concrete_functions[f.name()] = std::move(described);
  add_functions(model, f);
}

// A signature: (key, function, inputs as trees of tensors).
void add_signature(ModelDescription& model, nb::handle signature) {
  const auto& f = nb::cast<const ConcreteFunction&>(signature[1]);
  ModelDescription::Signature s{nb::cast<std::string>(signature[0]), f.name(), {}, f.ret_shapes()};
  for (nb::handle input : nb::object(signature[2])) s.inputs.push_back(structured_of(input));
  model.signatures.push_back(std::move(s));
}

// Python's way to write the bundle: (prefix, [(key, tensor)]).
std::function<Status(const std::string&, const ModelDescription::Values&)> writer_of(nb::object call) {
  return [call](const std::string& prefix, const ModelDescription::Values& values) -> Status {
    const Locked locked;
    if (!locked) return interpreter_finalized();
    nb::list list;
    for (const auto& [key, tensor] : values) list.append(nb::make_tuple(key, nb::steal(wrap(eager::TensorHandle::make(tensor, nullptr)))));
    nb::object path = nb::cast(prefix);
    nb::object done = nb::steal(call_python(PyObject_CallFunctionObjArgs, call.ptr(), path.ptr(), list.ptr(), nullptr));
    return done.is_valid() ? Status() : status_of_python_error();
  };
}

void make_files(SavedModelFiles* self, nb::list nodes, nb::list traces, nb::list signatures, const nb::dict& options) {
  ModelDescription model;
  model.library = std::make_shared<graph::FunctionLibrary>();
  for (nb::handle node : nodes) add_node(model, nb::cast<nb::dict>(node));
  for (nb::handle trace : traces) add_trace(model, trace);
  for (nb::handle signature : signatures) add_signature(model, signature);
  model.custom_gradients = get<bool>(options, "custom_gradients", true);
  if (model.custom_gradients) trace_custom_gradients(*model.library);
  model.tags = get<std::vector<std::string>>(options, "tags", {"serve"});
  model.tensorflow_version = get<std::string>(options, "version");
  model.git_version = get<std::string>(options, "git_version");
  model.aliases = get<std::map<std::string, std::string>>(options, "aliases");
  model.saver = get<bool>(options, "saver", true);
  model.debug_info = get<bool>(options, "debug_info");
  if (nb::object write = options["write_values"]; !write.is_none()) model.write_values = writer_of(std::move(write));
  new (self) SavedModelFiles(unwrap(SavedModelFiles::make(engine::Engine::get().registry(), std::move(model))));
}

// ---- loading

// Runs f without the interpreter's lock; gives its result.
template <class F>
auto released(F f) {
  decltype(f()) result = internal_error("not run");
  check(run_released(true, [&] {
    result = f();
    return Status();
  }));
  return unwrap(std::move(result));
}

// The graphs of a SavedModel's file: the message of each, and what it says of itself that a loader needs.
// [(name, tensor, dtype, shape)], by name; the tensor of a composite value is "", the type of what is none is None.
nb::list tensors_of(const std::map<std::string, saved_model::TensorInfo>& infos) {
  nb::list out;
  for (const auto& [name, info] : infos)
    out.append(
        nb::make_tuple(name, info.name, info.dtype == DType::kInvalid ? nb::none() : checked_dtype(info.dtype), nb::steal(shape_tuple(info.shape))));
  return out;
}

nb::list read_meta_graphs(const std::string& dir) {
  nb::list out;
  for (const saved_model::MetaGraph& m : released([&] { return saved_model::read_saved_model(dir); })) {
    nb::dict d, signatures;
    d["message"] = nb::bytes(m.bytes.data(), m.bytes.size());
    d["graph_def"] = nb::bytes(m.graph_def.data(), m.graph_def.size());
    d["tags"] = nb::cast(m.tags);
    d["version"] = m.tensorflow_version;
    d["git_version"] = m.git_version;
    d["assets"] = nb::cast(m.assets);
    d["filename_tensor"] = m.filename_tensor;
    d["restore_op"] = m.restore_op;
    d["init_op"] = m.init_op;
    d["trainable"] = nb::cast(m.trainable_variables);
    for (const auto& [key, s] : m.signatures) signatures[key.c_str()] = nb::make_tuple(tensors_of(s.inputs), tensors_of(s.outputs));
    d["signatures"] = signatures;
    out.append(d);
  }
  return out;
}

// None: the file has several graphs, or no objects.
nb::object open_objects(const std::string& dir, bool verify) {
  using Opened = std::shared_ptr<Objects>;
  eager::Context& context = used_context();
  const Opened opened = released([&]() -> Result<Opened> {
    if (verify) WEFT_RETURN_IF_ERROR(saved_model::verify_saved_model(dir));
    WEFT_ASSIGN(std::vector<saved_model::MetaGraph> graphs, saved_model::read_saved_model(dir));
    if (graphs.size() != 1 || graphs[0].object_graph.empty()) return Opened();
    return Objects::open(context, dir, std::move(graphs[0]));
  });
  return opened ? nb::cast(opened) : nb::none();
}

nb::dict describe(const Objects& objects, const SavedObject& o) {
  nb::dict d;
  d["kind"] = name_of(o.kind);
  d["children"] = nb::cast(o.children);
  d["name"] = o.name;
  if (!o.saveables.empty()) d["saveables"] = nb::cast(o.saveables);
  if (o.kind == Kind::kFunction || o.kind == Kind::kBareFunction) {
    d["traces"] = nb::cast(o.concrete_functions);
    d["keywords"] = nb::cast(o.keywords);
    d["positional"] = o.positional;
    d["spec"] = nb::make_tuple(structured_tree(o.spec.arg_spec), structured_tree(o.spec.input_signature), o.spec.is_method, o.spec.jit_compile);
  }
  if (o.kind == Kind::kVariable) {
    d["dtype"] = checked_dtype(o.dtype);
    d["shape"] = nb::steal(shape_tuple(o.shape));
    d["trainable"] = o.trainable;
    d["synchronization"] = o.synchronization;
    d["aggregation"] = o.aggregation;
  }
  if (o.kind == Kind::kAsset) d["path"] = objects.file_of(o);
  return d;
}

nb::list describe_all(const Objects& objects) {
  nb::list out;
  for (const SavedObject& o : objects.objects().nodes) out.append(describe(objects, o));
  return out;
}

// (what it takes, what it gives, the numbers of the objects that it captured) of a trace.
nb::object describe_trace(const Objects& objects, const std::string& name) {
  const auto& traces = objects.objects().concrete_functions;
  auto it = traces.find(name);
  if (it == traces.end()) raise(data_loss("the SavedModel is damaged: it does not describe the function ", name));
  return nb::make_tuple(structured_tree(it->second.inputs), structured_tree(it->second.outputs), nb::cast(it->second.bound_inputs));
}

void set_variable(Objects& objects, int node, nb::list copies) {
  std::vector<std::shared_ptr<trace::VariableState>> states;
  for (nb::handle v : copies) {
    states.push_back(variable_state(v.ptr()));
    if (!states.back()) raise(failed_precondition("a variable of a graph of version 1 cannot be one of a SavedModel's objects"));
  }
  objects.set_variable(node, std::move(states));
}

nb::dict read_values(Objects& objects) {
  auto values = released([&] { return objects.read_values(); });
  nb::dict out;
  for (auto& [node, tensor] : values) out[nb::int_(node)] = nb::steal(wrap(eager::TensorHandle::make(std::move(tensor), nullptr)));
  return out;
}

LoadedLibrary load_functions(nb::bytes graph_def) {
  auto bytes = std::make_shared<const std::string>(graph_def.c_str(), graph_def.size());
  return unwrap(saved_model::load_functions(api::context(), unwrap(io::decode_graph_def(std::move(bytes)))));
}

// ---- freezing

nb::bytes freeze_graph_def(nb::bytes graph_def, const nb::dict& values) {
  std::map<std::string, Tensor> tensors;
  for (auto [name, value] : values) tensors[nb::cast<std::string>(name)] = host_value(value);
  auto bytes = std::make_shared<const std::string>(graph_def.c_str(), graph_def.size());
  const std::string frozen = unwrap(saved_model::freeze_graph_def(std::move(bytes), tensors, engine::Engine::get().registry()));
  return nb::bytes(frozen.data(), frozen.size());
}

}  // namespace

void bind_saved_model(nb::module_& m) {
  nb::class_<Objects>(m, "SavedObjects", "The objects of a SavedModel, with its functions.")
      .def_static("open", open_objects, nb::arg("dir"), nb::arg("verify"))
      .def_prop_ro("tags", [](const Objects& o) { return o.meta().tags; })
      .def_prop_ro("version", [](const Objects& o) { return o.meta().tensorflow_version; })
      .def_prop_ro("git_version", [](const Objects& o) { return o.meta().git_version; })
      .def_prop_ro("aliases", [](const Objects& o) { return o.meta().aliases; })
      .def("nodes", describe_all)
      .def("trace", describe_trace, nb::arg("name"))
      .def("has_function", [](const Objects& o, const std::string& name) { return o.has_function(name); })
      .def("set_variable", set_variable, nb::arg("node"), nb::arg("copies"))
      .def("set_captured", [](Objects& o, int node, nb::handle tensor) { o.set_captured(node, value_of(tensor)); })
      .def(
          "captured", [](Objects& o, int node) { return nb::steal(wrap(released([&] { return o.captured(node); }))); },
          "What functions get for an object.")
      .def("replicas", [](const Objects& o, const std::string& name) { return o.replicas(name); })
      .def("concrete", [](Objects& o, const std::string& name, int replica) { return released([&] { return o.concrete(name, replica); }); })
      .def("read_values", read_values, "The values of variables in the checkpoint, by node.")
      .def("restore_saveables", [](Objects& o) { check(run_released(true, [&] { return o.restore_saveables(); })); });
  m.def(
      "read_meta_graphs", read_meta_graphs, nb::arg("dir"),
      "The message of each graph of a SavedModel, and what it says: tags, signatures, assets, trainable variables, how it is restored and started.");
  nb::class_<LoadedLibrary>(m, "LoadedLibrary", "Functions of a file in the engine's library: there as long as this or anything made of them lives.")
      .def_ro("names", &LoadedLibrary::names);
  m.def("load_functions", load_functions, nb::arg("graph_def"), "Puts the functions of a graph among the engine's, under names of their own.");
  m.def("freeze_graph_def", freeze_graph_def, nb::arg("graph_def"), nb::arg("values"),
        "A graph with variables, and other nodes, as constants: values by node.");
  nb::class_<SavedModelFiles>(m, "SavedModelFiles", "A SavedModel that is ready to be written.")
      .def("__init__", make_files, nb::arg("nodes"), nb::arg("traces"), nb::arg("signatures"), nb::arg("options"))
      .def_prop_ro(
          "ops", [](const SavedModelFiles& f) { return f.ops(); }, "The names of the ops that it uses.")
      .def("write", [](SavedModelFiles& f, const std::string& dir) { check(run_released(true, [&] { return f.write(dir); })); }, nb::arg("dir"));
}

}  // namespace weft_engine::python
