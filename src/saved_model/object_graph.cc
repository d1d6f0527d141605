#include "saved_model/object_graph.h"

#include <deque>

#include "core/cat.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft::saved_model {
namespace {

using wire::ProtoReader;
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

Status decode_function_spec(ProtoReader r, SavedObject& o) {
  while (r.next()) {
    if (r.field() == 1) o.arg_spec = r.string();
    if (r.field() == 2) o.is_method = r.boolean();
  }
  return r.ok() ? Status() : malformed("FunctionSpec");
}

Status decode_variable(ProtoReader r, SavedObject& o) {
  while (r.next()) {
    switch (r.field()) {
      case 1:
        o.dtype = static_cast<DType>(r.int32());
        break;
      case 2: {
        WEFT_ASSIGN(o.shape, wire::decode_shape(r.bytes()));
        break;
      }
      case 3:
        o.trainable = r.boolean();
        break;
      case 4:
        o.synchronization = r.int32();
        break;
      case 5:
        o.aggregation = r.int32();
        break;
      case 6:
        o.name = r.string();
        break;
      default:
        break;
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
          if (m.field() == 2) WEFT_RETURN_IF_ERROR(decode_function_spec(m.message(), o));
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
        }
        break;
      case 9:
        o.kind = Kind::kConstant;
        while (m.next()) {
          if (m.field() == 1) o.name = m.string();
        }
        break;
      case 10:
        o.kind = Kind::kResource;
        continue;
      case 12:
        o.kind = Kind::kCapturedTensor;
        continue;
      default:
        continue;
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
      if (name.empty() || name.size() <= used || !path.starts_with(name) || (path.size() > name.size() && path[name.size()] != '.'))
        continue;
      next = node;
      used = name.size();
    }
    if (next < 0) return -1;
    at = next;
    path.remove_prefix(std::min(path.size(), used + 1));
  }
  return at;
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

Result<std::vector<std::string>> checkpoint_keys(const ObjectGraph& graph, std::string_view bytes) {
  struct Trackable {
    std::vector<std::pair<std::string, int>> children;
    std::string key;
  };
  std::vector<Trackable> there;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() != 1) continue;
    Trackable t;
    ProtoReader o = r.message();
    while (o.next()) {
      if (o.field() == 1 && !read_reference(o.message(), t.children)) return malformed("TrackableObjectGraph");
      if (o.field() != 2) continue;
      std::string name, key;
      ProtoReader a = o.message();
      while (a.next()) {
        if (a.field() == 1) name = a.string();
        if (a.field() == 3) key = a.string();
      }
      if (!a.ok()) return malformed("TrackableObjectGraph");
      if (name == "VARIABLE_VALUE" || t.key.empty()) t.key = std::move(key);
    }
    if (!o.ok()) return malformed("TrackableObjectGraph");
    there.push_back(std::move(t));
  }
  if (!r.ok()) return malformed("TrackableObjectGraph");
  std::vector<std::string> keys(graph.nodes.size());
  if (graph.nodes.empty() || there.empty()) return keys;
  std::vector<char> seen(graph.nodes.size(), 0);
  std::deque<std::pair<int, int>> todo{{0, 0}};
  seen[0] = 1;
  while (!todo.empty()) {
    auto [mine, its] = todo.front();
    todo.pop_front();
    keys[size_t(mine)] = there[size_t(its)].key;
    std::map<std::string_view, int> by_name;
    for (const auto& [name, node] : there[size_t(its)].children) {
      if (node >= 0 && size_t(node) < there.size()) by_name.emplace(name, node);
    }
    for (const auto& [name, node] : graph.nodes[size_t(mine)].children) {
      auto it = by_name.find(name);
      if (it == by_name.end() || seen[size_t(node)]) continue;
      seen[size_t(node)] = 1;
      todo.emplace_back(node, it->second);
    }
  }
  return keys;
}

}  // namespace weft::saved_model
