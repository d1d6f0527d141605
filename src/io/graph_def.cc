#include "io/graph_def.h"

#include "io/attr_codec.h"
#include "wire/proto.h"

namespace weft_engine::io {
namespace {

using namespace weft_engine::core;
using graph::ArgDef;
using graph::FunctionDef;
using graph::GraphDef;
using graph::NodeDef;
using op::AttrMap;
using op::AttrSpec;
using op::AttrValue;
using wire::ProtoReader;
using wire::ProtoWriter;

Status malformed(std::string_view what) { return invalid_argument("Could not parse ", what, ": malformed message"); }

// One entry of a map field: key 1, value 2.
struct Entry {
  std::string_view key, value;
  int64_t key_int = 0, value_int = 0;
};
bool read_entry(ProtoReader r, Entry& e) {
  while (r.next()) {
    if (r.field() == 1) e.key = r.bytes(), e.key_int = r.int64();
    if (r.field() == 2) e.value = r.bytes(), e.value_int = r.int64();
  }
  return r.ok();
}

Status read_attr(const ProtoReader& r, AttrMap& attrs, std::string_view where) {
  Entry e;
  if (!read_entry(r.message(), e)) return malformed(where);
  auto v = decode_attr(e.value);
  if (!v.ok()) return v.status().with_suffix(cat("; in attribute ", e.key));
  attrs.insert_or_assign(std::string(e.key), std::move(v).value());
  return {};
}

Status write_attrs(ProtoWriter& w, int field, const AttrMap& attrs) {
  for (const auto& [key, value] : attrs) {
    WEFT_ASSIGN(std::string bytes, encode_attr(value));
    ProtoWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, bytes);
    w.message(field, entry);
  }
  return {};
}

Result<ArgDef> decode_arg(std::string_view bytes) {
  ArgDef a;
  ProtoWriter rest;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: a.name = r.string(); break;
      case 3: a.type = static_cast<DType>(r.int32()); break;
      case 4: a.type_attr = r.string(); break;
      case 5: a.number_attr = r.string(); break;
      case 6: a.type_list_attr = r.string(); break;
      case 16: a.is_ref = r.boolean(); break;
      case 2:
      case 7:
      case 17: rest.bytes(r.field(), r.bytes()); break;
      default: break;
    }
  }
  if (!r.ok()) return malformed("OpDef.ArgDef");
  if (a.type != DType::kInvalid && !is_valid_dtype(int(a.type))) return invalid_argument("argument ", a.name, " has an unknown type ", int(a.type));
  a.unread = rest.take();
  return a;
}

void encode_arg(ProtoWriter& w, int field, const ArgDef& a) {
  ProtoWriter m;
  m.bytes(1, a.name);
  if (a.type != DType::kInvalid) m.int64(3, int64_t(a.type));
  if (!a.type_attr.empty()) m.bytes(4, a.type_attr);
  if (!a.number_attr.empty()) m.bytes(5, a.number_attr);
  if (!a.type_list_attr.empty()) m.bytes(6, a.type_list_attr);
  if (a.is_ref) m.boolean(16, true);
  w.bytes(field, m.str() + a.unread);
}

Result<AttrSpec> decode_attr_spec(std::string_view bytes) {
  AttrSpec a;
  ProtoReader r(bytes);
  int64_t minimum = 0;
  bool has_minimum = false;
  while (r.next()) {
    switch (r.field()) {
      case 1: a.name = r.string(); break;
      case 2: a.type = r.string(); break;
      case 3: {
        WEFT_ASSIGN(AttrValue v, decode_attr(r.bytes()));
        a.default_value = std::move(v);
        break;
      }
      case 5: has_minimum = r.boolean(); break;
      case 6: minimum = r.int64(); break;
      case 7: {
        WEFT_ASSIGN(AttrValue v, decode_attr(r.bytes()));
        if (const auto* t = v.get<std::vector<DType>>()) a.allowed_types = *t;
        if (const auto* s = v.get<std::vector<std::string>>()) a.allowed_strings = *s;
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed("OpDef.AttrDef");
  if (has_minimum) a.minimum = minimum;
  return a;
}

Status decode_signature(std::string_view bytes, FunctionDef& f) {
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: f.name = r.string(); break;
      case 2:
      case 3: {
        WEFT_ASSIGN(ArgDef a, decode_arg(r.bytes()));
        (r.field() == 2 ? f.inputs : f.outputs).push_back(std::move(a));
        break;
      }
      case 4: {
        WEFT_ASSIGN(AttrSpec a, decode_attr_spec(r.bytes()));
        f.signature_attrs.push_back(std::move(a));
        break;
      }
      case 6: f.description = r.string(); break;
      case 17: f.stateful = r.boolean(); break;
      case 20: f.control_outputs.push_back(r.string()); break;
      default: break;
    }
  }
  return r.ok() ? Status() : malformed("OpDef");
}

Result<std::string> encode_signature(const FunctionDef& f) {
  ProtoWriter w;
  w.bytes(1, f.name);
  for (const auto& a : f.inputs) encode_arg(w, 2, a);
  for (const auto& a : f.outputs) encode_arg(w, 3, a);
  for (const auto& a : f.signature_attrs) {
    ProtoWriter m;
    m.bytes(1, a.name);
    m.bytes(2, a.type);
    if (a.default_value) {
      WEFT_ASSIGN(std::string v, encode_attr(*a.default_value));
      m.bytes(3, v);
    }
    if (a.minimum) {
      m.boolean(5, true);
      m.int64(6, *a.minimum);
    }
    if (!a.allowed_types.empty() || !a.allowed_strings.empty()) {
      AttrValue allowed = a.allowed_types.empty() ? AttrValue(a.allowed_strings) : AttrValue(a.allowed_types);
      WEFT_ASSIGN(std::string v, encode_attr(allowed));
      m.bytes(7, v);
    }
    w.message(4, m);
  }
  if (!f.description.empty()) w.bytes(6, f.description);
  if (f.stateful) w.boolean(17, true);
  for (const auto& c : f.control_outputs) w.bytes(20, c);
  return w.take();
}

// Only the name, without decoding the rest.
std::string function_name(std::string_view bytes) {
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() != 1) continue;
    ProtoReader s = r.message();
    while (s.next()) {
      if (s.field() == 1) return s.string();
    }
  }
  return {};
}

Status decode_library(const std::shared_ptr<const void>& owner, std::string_view bytes, GraphDef& g) {
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) {
      std::string_view part = r.bytes();
      std::string name = function_name(part);
      if (name.empty()) return invalid_argument("the library holds a function without a name");
      g.functions.emplace_back(std::move(name), [owner, part] { return decode_function_def(part); });
    } else if (r.field() == 2) {
      ProtoReader m = r.message();
      graph::GradientDef d;
      while (m.next()) {
        if (m.field() == 1) d.function = m.string();
        if (m.field() == 2) d.gradient = m.string();
      }
      if (!m.ok()) return malformed("GradientDef");
      g.gradients.push_back(std::move(d));
    }
  }
  return r.ok() ? Status() : malformed("FunctionDefLibrary");
}

}  // namespace

Result<NodeDef> decode_node_def(std::string_view bytes) {
  NodeDef n;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: n.name = r.string(); break;
      case 2: n.op = r.string(); break;
      case 3: n.inputs.push_back(r.string()); break;
      case 4: n.device = r.string(); break;
      case 5:
        if (Status s = read_attr(r, n.attrs, "NodeDef"); !s.ok()) return s.with_suffix(cat(" of node '", n.name, "'"));
        break;
      case 6: n.debug_info = r.string(); break;
      case 7: n.full_type = r.string(); break;
      default: break;
    }
  }
  if (!r.ok()) return malformed(cat("NodeDef '", n.name, "'"));
  return n;
}

Result<FunctionDef> decode_function_def(std::string_view bytes) {
  FunctionDef f;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: WEFT_RETURN_IF_ERROR(decode_signature(r.bytes(), f)); break;
      case 3: {
        auto n = decode_node_def(r.bytes());
        if (!n.ok()) return n.status().with_suffix(cat(", in function ", f.name));
        f.nodes.push_back(std::move(n).value());
        break;
      }
      case 4:
      case 6: {
        Entry e;
        if (!read_entry(r.message(), e)) return malformed("FunctionDef");
        (r.field() == 4 ? f.ret : f.control_ret)[std::string(e.key)] = std::string(e.value);
        break;
      }
      case 5: WEFT_RETURN_IF_ERROR(read_attr(r, f.attrs, "FunctionDef")); break;
      case 7: {
        Entry e;
        if (!read_entry(r.message(), e)) return malformed("FunctionDef");
        ProtoReader m(e.value);
        AttrMap& attrs = f.arg_attrs[int(e.key_int)];
        while (m.next()) {
          if (m.field() == 1) WEFT_RETURN_IF_ERROR(read_attr(m, attrs, "FunctionDef.ArgAttrs"));
        }
        if (!m.ok()) return malformed("FunctionDef.ArgAttrs");
        break;
      }
      case 8: {
        Entry e;
        if (!read_entry(r.message(), e)) return malformed("FunctionDef");
        f.resource_arg_unique_id[int(e.key_int)] = int(e.value_int);
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed(cat("FunctionDef '", f.name, "'"));
  if (f.name.empty()) return invalid_argument("Could not parse FunctionDef: it has no name");
  return f;
}

Result<GraphDef> decode_graph_def(std::shared_ptr<const std::string> bytes) {
  std::string_view all = *bytes;
  return decode_graph_def(std::shared_ptr<const void>(std::move(bytes)), all);
}

Result<GraphDef> decode_graph_def(std::shared_ptr<const void> owner, std::string_view part) {
  GraphDef g;
  ProtoReader r(part);
  while (r.next()) {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(NodeDef n, decode_node_def(r.bytes()));
        g.nodes.push_back(std::move(n));
        break;
      }
      case 2: WEFT_RETURN_IF_ERROR(decode_library(owner, r.bytes(), g)); break;
      case 3: g.versions.producer = r.int32(); break;  // the old place of the version
      case 4: {
        ProtoReader v = r.message();
        while (v.next()) {
          if (v.field() == 1) g.versions.producer = v.int32();
          if (v.field() == 2) g.versions.min_consumer = v.int32();
          if (v.field() == 3) v.append_varints(g.versions.bad_consumers);
        }
        if (!v.ok()) return malformed("VersionDef");
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed("GraphDef");
  return g;
}

Result<std::string> encode_node_def(const NodeDef& n) {
  ProtoWriter w;
  w.bytes(1, n.name);
  w.bytes(2, n.op);
  for (const auto& i : n.inputs) w.bytes(3, i);
  if (!n.device.empty()) w.bytes(4, n.device);
  WEFT_RETURN_IF_ERROR(write_attrs(w, 5, n.attrs));
  if (!n.debug_info.empty()) w.bytes(6, n.debug_info);
  if (!n.full_type.empty()) w.bytes(7, n.full_type);
  return w.take();
}

Result<std::string> encode_function_def(const FunctionDef& f) {
  ProtoWriter w;
  WEFT_ASSIGN(std::string signature, encode_signature(f));
  w.bytes(1, signature);
  for (const auto& n : f.nodes) {
    WEFT_ASSIGN(std::string bytes, encode_node_def(n));
    w.bytes(3, bytes);
  }
  auto text_map = [&](int field, const std::map<std::string, std::string>& map) {
    for (const auto& [k, v] : map) {
      ProtoWriter e;
      e.bytes(1, k);
      e.bytes(2, v);
      w.message(field, e);
    }
  };
  text_map(4, f.ret);
  WEFT_RETURN_IF_ERROR(write_attrs(w, 5, f.attrs));
  text_map(6, f.control_ret);
  for (const auto& [index, attrs] : f.arg_attrs) {
    ProtoWriter args, e;
    WEFT_RETURN_IF_ERROR(write_attrs(args, 1, attrs));
    e.int64(1, index);
    e.message(2, args);
    w.message(7, e);
  }
  for (const auto& [index, id] : f.resource_arg_unique_id) {
    ProtoWriter e;
    e.int64(1, index);
    e.int64(2, id);
    w.message(8, e);
  }
  return w.take();
}

NodeDef to_node_def(const graph::Node& node) {
  NodeDef n;
  n.name = node.name();
  n.op = std::string(node.op());
  n.device = node.device;
  for (const auto& in : node.inputs()) {
    if (!in.node) n.inputs.emplace_back();
    else n.inputs.push_back(in.index == 0 ? in.node->name() : cat(in.node->name(), ":", in.index));
  }
  for (const auto* c : node.control_inputs()) n.inputs.push_back(cat("^", c->name()));
  n.attrs = graph::attrs_of(node);
  n.debug_info = node.debug_info;
  n.full_type = node.full_type;
  return n;
}

std::string encode_versions(const graph::Versions& v) {
  ProtoWriter w;
  if (v.producer) w.int64(1, v.producer);
  if (v.min_consumer) w.int64(2, v.min_consumer);
  if (!v.bad_consumers.empty()) w.packed_varints(3, std::vector<int64_t>(v.bad_consumers.begin(), v.bad_consumers.end()));
  return w.take();
}

Result<std::string> encode_function_library(const graph::FunctionLibrary& library) {
  ProtoWriter w;
  for (const auto& name : library.names()) {
    WEFT_ASSIGN(auto def, library.find(name));
    WEFT_ASSIGN(std::string bytes, encode_function_def(*def));
    w.bytes(1, bytes);
  }
  for (const auto& g : library.gradients()) {
    ProtoWriter m;
    m.bytes(1, g.function);
    m.bytes(2, g.gradient);
    w.message(2, m);
  }
  return w.take();
}

Result<std::string> encode_graph_def(const graph::Graph& graph, bool with_library) {
  ProtoWriter w;
  for (const auto* n : graph.nodes()) {
    WEFT_ASSIGN(std::string bytes, encode_node_def(to_node_def(*n)));
    w.bytes(1, bytes);
  }
  w.bytes(4, encode_versions(graph.versions));
  if (with_library) {
    WEFT_ASSIGN(std::string library, encode_function_library(*graph.library()));
    w.bytes(2, library);
  }
  return w.take();
}

}  // namespace weft_engine::io
