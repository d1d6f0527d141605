#include <algorithm>
#include <iostream>
#include <map>

#include "cli/commands.h"
#include "cli/text.h"
#include "weft/data.h"
#include "weft/graph.h"
#include "weft/inspect.h"

namespace weft::cli {
namespace {

using data::file_exists;

int64_t bytes_of(DType t) {
  switch (t) {
    case DType::float64:
    case DType::int64:
    case DType::uint64:
    case DType::complex64: return 8;
    case DType::complex128: return 16;
    case DType::float32:
    case DType::int32:
    case DType::uint32:
    case DType::qint32: return 4;
    case DType::float16:
    case DType::bfloat16:
    case DType::int16:
    case DType::uint16: return 2;
    default: return 1;
  }
}

std::string size_text(const std::vector<VariableInfo>& variables) {
  double bytes = 0;
  for (const auto& v : variables) {
    double n = double(bytes_of(v.dtype));
    for (const int64_t d : v.shape.dims) n *= double(std::max<int64_t>(d, 0));
    bytes += n;
  }
  return human_bytes(bytes);
}

std::string joined(const std::vector<std::string>& list, const char* between = ", ") {
  std::string out;
  for (const auto& s : list) out += (out.empty() ? "" : between) + s;
  return out;
}

// The ops by how often they occur, as many as fit on each line.
void print_ops(const std::map<std::string, int>& ops) {
  std::vector<std::pair<int, std::string>> by_count;
  int total = 0;
  for (const auto& [op, n] : ops) by_count.emplace_back(-n, op), total += n;
  std::sort(by_count.begin(), by_count.end());
  std::cout << "\nOps (" << ops.size() << " kinds, " << total << " nodes with those of functions)\n";
  std::string line = " ";
  for (const auto& [n, op] : by_count) {
    const std::string item = " " + op + " x" + std::to_string(-n);
    if (line.size() + item.size() > 110) {
      std::cout << line << "\n";
      line = " ";
    }
    line += " " + item.substr(1);
  }
  std::cout << line << "\n";
}

// ---- SavedModels --------------------------------------------------------------------------------------------

void print_signature(const SignatureInfo& s) {
  std::cout << "\n  " << s.name << (s.method_name.empty() ? "" : "   (" + s.method_name + ")") << "\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& t : s.inputs) rows.push_back({"in", t.name, to_string(t.dtype), to_string(t.shape), t.tensor});
  for (const auto& t : s.outputs) rows.push_back({"out", t.name, t.dtype == DType::invalid ? "-" : to_string(t.dtype), to_string(t.shape), t.tensor});
  std::cout << table({"", "", "", "", ""}, rows, "    ");
}

void print_meta_graph(const MetaGraphInfo& g) {
  std::cout << "\nGraph {" << joined(g.tags) << "}: " << g.nodes << " nodes, " << g.library_functions << " functions"
            << (g.tensorflow_version.empty() ? "" : ", saved by TensorFlow " + g.tensorflow_version) << "\n";
  std::cout << "\nSignatures (" << g.signatures.size() << ")";
  for (const auto& s : g.signatures) print_signature(s);
  if (!g.functions.empty()) {
    std::cout << "\nFunctions (" << g.functions.size() << ")\n";
    for (const auto& f : g.functions) {
      std::string text = to_string(f);
      for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.replace(at, 1, "\n  ");
      std::cout << "  " << text << "\n";
    }
  }
  if (!g.variables.empty()) {
    std::cout << "\nVariables (" << g.variables.size() << ", " << size_text(g.variables) << ")\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& v : g.variables) rows.push_back({v.name, to_string(v.dtype), to_string(v.shape), v.trainable ? "trainable" : "", v.path});
    std::cout << table({"", "", "", "", ""}, rows, "  ");
  }
  if (!g.assets.empty()) std::cout << "\nAssets: " << joined(g.assets) << "\n";
  if (!g.init_op.empty()) std::cout << "\nRuns after loading: " << g.init_op << "\n";
  print_ops(g.ops);
}

void json_specs(Json& j, const std::vector<TensorSpec>& specs) {
  j.begin_object();
  for (const auto& s : specs) {
    j.key(s.name).begin_object().key("dtype").value(s.dtype == DType::invalid ? "invalid" : to_string(s.dtype)).key("shape").shape(s.shape);
    if (!s.tensor.empty()) j.key("tensor").value(s.tensor);
    j.end_object();
  }
  j.end_object();
}

void json_variables(Json& j, const std::vector<VariableInfo>& variables) {
  j.key("variables").begin_array();
  for (const auto& v : variables) {
    j.begin_object().key("name").value(v.name).key("dtype").value(to_string(v.dtype)).key("shape").shape(v.shape).key("trainable").value(v.trainable);
    if (!v.path.empty()) j.key("path").value(v.path);
    if (!v.checkpoint_key.empty()) j.key("checkpoint_key").value(v.checkpoint_key);
    j.end_object();
  }
  j.end_array();
}

void json_ops(Json& j, const std::map<std::string, int>& ops) {
  j.key("ops").begin_object();
  for (const auto& [op, n] : ops) j.key(op).value(n);
  j.end_object();
}

void json_meta_graph(Json& j, const MetaGraphInfo& g) {
  j.begin_object().key("tags").begin_array();
  for (const auto& t : g.tags) j.value(t);
  j.end_array().key("tensorflow_version").value(g.tensorflow_version).key("nodes").value(g.nodes).key("library_functions").value(g.library_functions);
  j.key("signatures").begin_object();
  for (const auto& s : g.signatures) {
    j.key(s.name).begin_object().key("method").value(s.method_name).key("inputs");
    json_specs(j, s.inputs);
    j.key("outputs");
    json_specs(j, s.outputs);
    j.end_object();
  }
  j.end_object().key("functions").begin_array();
  for (const auto& f : g.functions) {
    j.begin_object().key("name").value(f.name).key("forms").begin_array();
    for (const auto& form : f.forms) {
      j.begin_object().key("function").value(form.name).key("inputs");
      json_specs(j, form.inputs);
      j.key("values").begin_object();
      for (const auto& [k, v] : form.values) j.key(k).value(v);
      j.end_object().key("outputs");
      json_specs(j, form.outputs);
      j.end_object();
    }
    j.end_array().end_object();
  }
  j.end_array();
  json_variables(j, g.variables);
  j.key("assets").begin_array();
  for (const auto& a : g.assets) j.value(a);
  j.end_array().key("init_op").value(g.init_op);
  json_ops(j, g.ops);
  j.end_object();
}

int show_saved_model(const ShowArgs& args) {
  if (args.verify) verify_saved_model(args.path);
  const SavedModelInfo info = describe_saved_model(args.path);
  if (args.json) {
    Json j;
    j.begin_object().key("kind").value("saved_model").key("path").value(args.path).key("graphs").begin_array();
    for (const auto& g : info.graphs) json_meta_graph(j, g);
    j.end_array();
    if (const auto& f = info.fingerprint) {
      j.key("fingerprint").begin_object();
      j.key("saved_model_checksum").value(f->saved_model_checksum).key("graph_def_program_hash").value(f->graph_def_program_hash);
      j.key("signature_def_hash").value(f->signature_def_hash).key("saved_object_graph_hash").value(f->saved_object_graph_hash);
      j.key("checkpoint_hash").value(f->checkpoint_hash).key("uuid").value(f->uuid).end_object();
    }
    j.end_object();
    std::cout << j.str();
    return 0;
  }
  std::cout << args.path << ": SavedModel with " << info.graphs.size() << (info.graphs.size() == 1 ? " graph" : " graphs");
  if (info.fingerprint) std::cout << ", fingerprint " << std::hex << info.fingerprint->saved_model_checksum << std::dec;
  std::cout << "\n";
  for (const auto& g : info.graphs) print_meta_graph(g);
  return 0;
}

// ---- graphs -------------------------------------------------------------------------------------------------

int show_graph(const ShowArgs& args) {
  if (args.verify) throw Error(Code::kUnimplemented, "--verify: a GraphDef has no checksums; a SavedModel and a checkpoint do");
  const Graph g = read_graph(args.path);
  const auto nodes = g.nodes();
  std::map<std::string, int> ops;
  for (const auto& n : nodes) ++ops[n.op];
  const auto functions = g.functions();
  std::map<std::string, FunctionBody> bodies;
  for (const auto& f : functions) {
    try {
      bodies[f] = g.function(f);
    } catch (const Error&) {
      continue;  // a function whose types come with the call
    }
    for (const auto& n : bodies[f].nodes) {
      if (n.kind != NodeKind::argument && n.kind != NodeKind::result) ++ops[n.op];
    }
  }
  if (args.json) {
    Json j;
    j.begin_object()
        .key("kind")
        .value("graph")
        .key("path")
        .value(args.path)
        .key("producer")
        .value(g.producer())
        .key("node_count")
        .value(int64_t(nodes.size()));
    j.key("inputs").begin_array();
    for (const auto& s : g.inputs()) j.value(s);
    j.end_array().key("outputs").begin_array();
    for (const auto& s : g.outputs()) j.value(s);
    j.end_array().key("functions").begin_object();
    for (const auto& [name, body] : bodies) {
      j.key(name).begin_object().key("inputs");
      json_specs(j, body.inputs);
      j.key("outputs");
      json_specs(j, body.outputs);
      j.key("node_count").value(int64_t(body.nodes.size())).end_object();
    }
    j.end_object();
    json_ops(j, ops);
    if (args.nodes) {
      j.key("nodes").begin_array();
      for (const auto& n : nodes) {
        j.begin_object().key("name").value(n.name).key("op").value(n.op).key("device").value(n.device).key("inputs").begin_array();
        for (const auto& i : n.inputs) j.value(i);
        j.end_array().key("attrs").begin_object();
        for (const auto& [k, v] : n.attrs) j.key(k).value(v);
        j.end_object().end_object();
      }
      j.end_array();
    }
    j.end_object();
    std::cout << j.str();
    return 0;
  }
  std::cout << args.path << ": GraphDef with " << nodes.size() << " nodes and " << functions.size() << " functions, version " << g.producer() << "\n";
  std::map<std::string, const NodeInfo*> by_name;
  for (const auto& n : nodes) by_name[n.name] = &n;
  const auto ports = [&](const char* title, const std::vector<std::string>& names) {
    std::cout << "\n" << title << " (" << names.size() << ")\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& name : names) {
      const auto it = by_name.find(name.substr(0, name.find(':')));
      if (it == by_name.end() || it->second->types.empty()) continue;
      rows.push_back({name, to_string(it->second->types[0]), to_string(it->second->shapes[0]), it->second->op});
    }
    std::cout << table({"", "", "", ""}, rows, "  ");
  };
  ports("Inputs", g.inputs());
  ports("Outputs, what no other node reads", g.outputs());
  if (!functions.empty()) {
    std::cout << "\nFunctions (" << functions.size() << ")\n";
    for (const auto& f : functions) {
      const auto it = bodies.find(f);
      if (it == bodies.end()) {
        std::cout << "  " << f << "   types depend on the call\n";
        continue;
      }
      std::cout << "  " << f << "(";
      for (size_t i = 0; i < it->second.inputs.size(); ++i)
        std::cout << (i ? ", " : "") << it->second.inputs[i].name << ": " << to_string(it->second.inputs[i].dtype);
      std::cout << ") -> (";
      for (size_t i = 0; i < it->second.outputs.size(); ++i)
        std::cout << (i ? ", " : "") << it->second.outputs[i].name << ": " << to_string(it->second.outputs[i].dtype);
      std::cout << ")   " << it->second.nodes.size() << " nodes\n";
    }
  }
  print_ops(ops);
  if (args.nodes) {
    std::cout << "\nNodes\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& n : nodes) rows.push_back({n.name, n.op, joined(n.inputs)});
    std::cout << table({"", "", ""}, rows, "  ");
  }
  return 0;
}

// ---- checkpoints --------------------------------------------------------------------------------------------

int show_checkpoint(const ShowArgs& args, const std::string& prefix) {
  if (args.verify) verify_checkpoint(prefix);
  const auto entries = describe_checkpoint(prefix);
  if (args.json) {
    Json j;
    j.begin_object().key("kind").value("checkpoint").key("path").value(prefix).key("tensors").begin_object();
    for (const auto& e : entries)
      j.key(e.key)
          .begin_object()
          .key("dtype")
          .value(to_string(e.dtype))
          .key("shape")
          .shape(PartialShape(e.shape))
          .key("bytes")
          .value(e.bytes)
          .key("shard")
          .value(e.shard)
          .end_object();
    j.end_object().end_object();
    std::cout << j.str();
    return 0;
  }
  double bytes = 0;
  std::vector<std::vector<std::string>> rows;
  for (const auto& e : entries) {
    bytes += double(e.bytes);
    rows.push_back({e.key, to_string(e.dtype), to_string(PartialShape(e.shape)), human_bytes(double(e.bytes))});
  }
  std::cout << prefix << ": checkpoint with " << entries.size() << " tensors, " << human_bytes(bytes) << "\n\n"
            << table({"", "", "", ">"}, rows, "  ");
  return 0;
}

}  // namespace

int show(const ShowArgs& given) {
  ShowArgs args = given;
  while (args.path.size() > 1 && args.path.back() == '/') args.path.pop_back();
  if (file_exists(args.path + "/saved_model.pb") || file_exists(args.path + "/saved_model.pbtxt")) return show_saved_model(args);
  std::string prefix = args.path;
  if (prefix.ends_with(".index")) prefix.resize(prefix.size() - 6);
  if (file_exists(prefix + ".index")) return show_checkpoint(args, prefix);
  if (!file_exists(args.path))
    throw Error(Code::kNotFound, args.path + " does not exist; give a SavedModel's folder, a GraphDef (.pb, .pbtxt) or a checkpoint's prefix");
  if (file_exists(args.path + "/.")) throw Error(Code::kNotFound, args.path + " is a folder without saved_model.pb");
  if (args.path.ends_with("saved_model.pb")) {
    args.path.resize(args.path.size() - std::string("saved_model.pb").size());
    if (args.path.empty()) args.path = ".";
    return show(args);
  }
  return show_graph(args);
}

}  // namespace weft::cli
