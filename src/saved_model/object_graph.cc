#include "saved_model/object_graph.h"

#include <deque>

#include "core/cat.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {
namespace {

using wire::ProtoReader;
using wire::ProtoWriter;
using Kind = SavedObject::Kind;

Status malformed(std::string_view what) { return data_loss("the SavedModel is damaged: malformed ", what); }

// ObjectReference: node 1, name 2.
bool read_reference(ProtoReader r, std::vector<std::pair<std::string, int>>& out) {
  std::pair<std::string, int> child("", 0);
  while (r.next()) {
    if (r.field() == 1) child.second = r.int32();
    if (r.field() == 2) child.first = r.string();
  }
  out.push_back(std::move(child));
  return r.ok();
}

Status decode_function_spec(ProtoReader r, FunctionSpec& spec) {
  while (r.next()) {
    if (r.field() == 1) {
      WEFT_ASSIGN(spec.arg_spec, decode_structured_value(r.bytes()));
    }
    if (r.field() == 2) spec.is_method = r.boolean();
    if (r.field() == 5) {
      WEFT_ASSIGN(spec.input_signature, decode_structured_value(r.bytes()));
    }
    if (r.field() == 6) spec.jit_compile = r.int32();
  }
  return r.ok() ? Status() : malformed("FunctionSpec");
}

// SlotVariableReference: variable 1, name 2, slot variable 3.
bool read_slot(ProtoReader r, std::vector<SavedTrackable::Slot>& out) {
  SavedTrackable::Slot slot;
  while (r.next()) {
    if (r.field() == 1) slot.original = r.int32();
    if (r.field() == 2) slot.name = r.string();
    if (r.field() == 3) slot.variable = r.int32();
  }
  out.push_back(std::move(slot));
  return r.ok();
}

// An entry of saveable_objects: name 1, SaveableObject 2 (save 2, restore 3).
bool read_saveable(ProtoReader r, std::map<std::string, std::pair<int, int>>& out) {
  std::string name;
  std::pair<int, int> functions(0, 0);
  while (r.next()) {
    if (r.field() == 1) name = r.string();
    if (r.field() != 2) continue;
    ProtoReader m = r.message();
    while (m.next()) {
      if (m.field() == 2) functions.first = m.int32();
      if (m.field() == 3) functions.second = m.int32();
    }
    if (!m.ok()) return false;
  }
  out[std::move(name)] = functions;
  return r.ok();
}

Status decode_variable(ProtoReader r, SavedObject& o) {
  while (r.next()) {
    switch (r.field()) {
      case 1: o.dtype = static_cast<DType>(r.int32()); break;
      case 2: {
        WEFT_ASSIGN(o.shape, wire::decode_shape(r.bytes()));
        break;
      }
      case 3: o.trainable = r.boolean(); break;
      case 4: o.synchronization = r.int32(); break;
      case 5: o.aggregation = r.int32(); break;
      case 6: o.name = r.string(); break;
      default: break;
    }
  }
  return r.ok() ? Status() : malformed("SavedVariable");
}

Result<SavedObject> decode_object(ProtoReader r) {
  SavedObject o;
  while (r.next()) {
    ProtoReader m = r.message();
    switch (r.field()) {
      case 1:
        if (!read_reference(m, o.children)) return malformed("ObjectReference");
        continue;
      case 4:
        o.kind = Kind::kUser;
        while (m.next()) {
          if (m.field() == 1) o.name = m.string();
          if (m.field() == 3) o.metadata = m.string();
        }
        break;
      case 5:
        o.kind = Kind::kAsset;
        o.asset = 0;
        while (m.next()) {
          if (m.field() == 1) o.asset = m.int32();
        }
        break;
      case 6:
        o.kind = Kind::kFunction;
        while (m.next()) {
          if (m.field() == 1) o.concrete_functions.push_back(m.string());
          if (m.field() == 2) WEFT_RETURN_IF_ERROR(decode_function_spec(m.message(), o.spec));
        }
        break;
      case 7:
        o.kind = Kind::kVariable;
        WEFT_RETURN_IF_ERROR(decode_variable(m, o));
        continue;
      case 8:
        o.kind = Kind::kBareFunction;
        while (m.next()) {
          if (m.field() == 1) o.concrete_functions.push_back(m.string());
          if (m.field() == 2) o.keywords.push_back(m.string());
          if (m.field() == 3) o.positional = m.int64();
          if (m.field() == 4) WEFT_RETURN_IF_ERROR(decode_function_spec(m.message(), o.spec));
        }
        break;
      case 9:
        o.kind = Kind::kConstant;
        while (m.next()) {
          if (m.field() == 1) o.name = m.string();
        }
        break;
      case 10: o.kind = Kind::kResource; continue;
      case 3:
        if (!read_slot(m, o.slots)) return malformed("SlotVariableReference");
        continue;
      case 11:
        if (!read_saveable(m, o.saveables)) return malformed("SaveableObject");
        continue;
      case 12:
        o.kind = Kind::kCapturedTensor;
        while (m.next()) {
          if (m.field() == 1) o.name = m.string();
          if (m.field() == 2) o.concrete_functions.push_back(m.string());
        }
        break;
      case 13: o.registered_name = r.string(); continue;
      default: continue;
    }
    if (!m.ok()) return malformed("SavedObject");
  }
  if (!r.ok()) return malformed("SavedObject");
  return o;
}

Result<SavedConcreteFunction> decode_concrete_function(std::string_view bytes) {
  SavedConcreteFunction f;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 2 && !r.append_varints(f.bound_inputs)) return malformed("SavedConcreteFunction");
    if (r.field() == 3) {
      WEFT_ASSIGN(f.inputs, decode_structured_value(r.bytes()));
    }
    if (r.field() == 4) {
      WEFT_ASSIGN(f.outputs, decode_structured_value(r.bytes()));
    }
  }
  if (!r.ok()) return malformed("SavedConcreteFunction");
  return f;
}

}  // namespace

Result<ObjectGraph> decode_object_graph(std::string_view bytes) {
  ObjectGraph g;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) {
      WEFT_ASSIGN(SavedObject o, decode_object(r.message()));
      g.nodes.push_back(std::move(o));
    } else if (r.field() == 2) {
      std::string name;
      SavedConcreteFunction f;
      ProtoReader e = r.message();
      while (e.next()) {
        if (e.field() == 1) name = e.string();
        if (e.field() == 2) {
          WEFT_ASSIGN(f, decode_concrete_function(e.bytes()));
        }
      }
      if (!e.ok()) return malformed("SavedObjectGraph");
      g.concrete_functions.insert_or_assign(std::move(name), std::move(f));
    }
  }
  if (!r.ok()) return malformed("SavedObjectGraph");
  const auto valid = [&](int node) { return node >= 0 && size_t(node) < g.nodes.size(); };
  for (const auto& o : g.nodes) {
    for (const auto& [name, node] : o.children) {
      if (!valid(node)) return data_loss("the SavedModel is damaged: its object '", name, "' does not exist");
    }
    for (const auto& [name, functions] : o.saveables) {
      if (!valid(functions.first) || !valid(functions.second))
        return data_loss("the SavedModel is damaged: the functions that save '", name, "' do not exist");
    }
  }
  for (const auto& [name, f] : g.concrete_functions) {
    for (int node : f.bound_inputs) {
      if (!valid(node)) return data_loss("the SavedModel is damaged: function ", name, " is bound to an object that does not exist");
    }
  }
  return g;
}

int ObjectGraph::find(std::string_view path) const {
  if (nodes.empty()) return -1;
  int at = 0;
  while (!path.empty()) {
    // Names may hold dots themselves: the longest child that fits goes first.
    int next = -1;
    size_t used = 0;
    for (const auto& [name, node] : nodes[size_t(at)].children) {
      if (name.empty() || name.size() <= used || !path.starts_with(name) || (path.size() > name.size() && path[name.size()] != '.')) continue;
      next = node;
      used = name.size();
    }
    if (next < 0) return -1;
    at = next;
    path.remove_prefix(std::min(path.size(), used + 1));
  }
  return at;
}

std::string ObjectGraph::own_trace(int object, std::string_view name) const {
  for (const auto& [child, node] : nodes[size_t(object)].children) {
    const auto& traces = nodes[size_t(node)].concrete_functions;
    if (child == name && !traces.empty() && concrete_functions.count(traces[0])) return traces[0];
  }
  return {};
}

std::vector<std::string> ObjectGraph::paths() const {
  std::vector<std::string> out(nodes.size());
  std::vector<char> seen(nodes.size(), 0);
  std::deque<int> todo;
  if (!nodes.empty()) todo.push_back(0), seen[0] = 1;
  while (!todo.empty()) {
    const int at = todo.front();
    todo.pop_front();
    for (const auto& [name, node] : nodes[size_t(at)].children) {
      if (seen[size_t(node)]) continue;
      seen[size_t(node)] = 1;
      out[size_t(node)] = out[size_t(at)].empty() ? name : cat(out[size_t(at)], ".", name);
      todo.push_back(node);
    }
  }
  return out;
}

std::vector<int> match_objects(const ObjectGraph& graph, std::span<const SavedTrackable> checkpoint) {
  std::vector<int> out(graph.nodes.size(), -1);
  if (graph.nodes.empty() || checkpoint.empty()) return out;
  std::deque<int> todo{0};
  out[0] = 0;
  while (!todo.empty()) {
    const int mine = todo.front();
    todo.pop_front();
    std::map<std::string_view, int> by_name;
    for (const auto& [name, node] : checkpoint[size_t(out[size_t(mine)])].children) by_name.emplace(name, node);
    for (const auto& [name, node] : graph.nodes[size_t(mine)].children) {
      auto it = by_name.find(name);
      if (it == by_name.end() || out[size_t(node)] >= 0) continue;
      out[size_t(node)] = it->second;
      todo.push_back(node);
    }
  }
  return out;
}

std::string variable_key(const SavedTrackable& node) {
  for (const auto& value : node.values) {
    if (value.name == kVariableValue) return value.key;
  }
  return node.values.empty() ? std::string() : node.values[0].key;
}

// ---- writing

namespace {

void put_int(ProtoWriter& w, int field, int64_t v) {
  if (v) w.int64(field, v);
}
void put_text(ProtoWriter& w, int field, std::string_view v) {
  if (!v.empty()) w.bytes(field, v);
}

ProtoWriter reference(const std::pair<std::string, int>& child) {
  ProtoWriter w;
  put_int(w, 1, child.second);
  put_text(w, 2, child.first);
  return w;
}

ProtoWriter encode_function_spec(const FunctionSpec& spec) {
  ProtoWriter w;
  w.bytes(1, encode_structured_value(spec.arg_spec));
  if (spec.is_method) w.boolean(2, true);
  w.bytes(5, encode_structured_value(spec.input_signature));
  put_int(w, 6, spec.jit_compile);
  return w;
}

// The member of the oneof that the object is; its field.
int encode_kind(const SavedObject& o, ProtoWriter& m) {
  switch (o.kind) {
    case Kind::kNone: return 0;
    case Kind::kUser: {
      ProtoWriter version;
      version.varint(1, 1);
      version.varint(2, 1);
      put_text(m, 1, o.name);
      m.message(2, version);
      put_text(m, 3, o.metadata);
      return 4;
    }
    case Kind::kAsset: put_int(m, 1, o.asset); return 5;
    case Kind::kFunction:
      for (const auto& name : o.concrete_functions) m.bytes(1, name);
      m.message(2, encode_function_spec(o.spec));
      return 6;
    case Kind::kVariable:
      put_int(m, 1, int64_t(o.dtype));
      m.bytes(2, wire::encode_shape(o.shape));
      if (o.trainable) m.boolean(3, true);
      put_int(m, 4, o.synchronization);
      put_int(m, 5, o.aggregation);
      put_text(m, 6, o.name);
      return 7;
    case Kind::kBareFunction:
      for (const auto& name : o.concrete_functions) m.bytes(1, name);
      for (const auto& name : o.keywords) m.bytes(2, name);
      put_int(m, 3, o.positional);
      m.message(4, encode_function_spec(o.spec));
      return 8;
    case Kind::kConstant: put_text(m, 1, o.name); return 9;
    case Kind::kResource: return 10;
    case Kind::kCapturedTensor:
      put_text(m, 1, o.name);
      for (const auto& name : o.concrete_functions) m.bytes(2, name);
      return 12;
  }
  return 0;
}

ProtoWriter encode_object(const SavedObject& o) {
  ProtoWriter w, kind;
  for (const auto& child : o.children) w.message(1, reference(child));
  for (const auto& slot : o.slots) {
    ProtoWriter m;
    put_int(m, 1, slot.original);
    put_text(m, 2, slot.name);
    put_int(m, 3, slot.variable);
    w.message(3, m);
  }
  if (const int field = encode_kind(o, kind)) w.message(field, kind);
  for (const auto& [name, functions] : o.saveables) {
    ProtoWriter entry, m;
    put_int(m, 2, functions.first);
    put_int(m, 3, functions.second);
    entry.bytes(1, name);
    entry.message(2, m);
    w.message(11, entry);
  }
  put_text(w, 13, o.registered_name);
  // What a function captured is made before it.
  if (o.kind == Kind::kFunction || o.kind == Kind::kBareFunction) {
    for (const auto& child : o.children) w.message(15, reference(child));
  }
  return w;
}

}  // namespace

std::string encode_object_graph(const ObjectGraph& graph) {
  ProtoWriter w;
  for (const SavedObject& o : graph.nodes) w.message(1, encode_object(o));
  for (const auto& [name, f] : graph.concrete_functions) {
    ProtoWriter entry, m;
    if (!f.bound_inputs.empty()) m.packed_varints(2, std::vector<int64_t>(f.bound_inputs.begin(), f.bound_inputs.end()));
    m.bytes(3, encode_structured_value(f.inputs));
    m.bytes(4, encode_structured_value(f.outputs));
    entry.bytes(1, name);
    entry.message(2, m);
    w.message(2, entry);
  }
  return w.take();
}

}  // namespace weft_engine::saved_model
