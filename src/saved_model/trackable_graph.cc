#include "saved_model/trackable_graph.h"

#include <deque>

#include "core/cat.h"
#include "wire/proto.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {

using wire::ProtoReader;
using wire::ProtoWriter;

std::string escape_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '.') out += "..";
    else if (c == '/') out += ".S";
    else out += c;
  }
  return out;
}

std::string value_key(std::string_view path, std::string_view attribute) { return cat(path, "/.ATTRIBUTES/", escape_name(attribute)); }

std::vector<std::string> trackable_paths(std::span<const SavedTrackable> nodes) {
  std::vector<std::string> out(nodes.size());
  std::vector<char> seen(nodes.size(), 0);
  std::deque<int> todo;
  if (!nodes.empty()) todo.push_back(0), seen[0] = 1;
  while (!todo.empty()) {
    const int at = todo.front();
    todo.pop_front();
    for (const auto& [name, child] : nodes[size_t(at)].children) {
      if (seen[size_t(child)]) continue;
      seen[size_t(child)] = 1;
      out[size_t(child)] = at == 0 ? escape_name(name) : cat(out[size_t(at)], "/", escape_name(name));
      todo.push_back(child);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& slot : nodes[i].slots)
      out[size_t(slot.variable)] = cat(out[size_t(slot.original)], "/.OPTIMIZER_SLOT/", out[i], "/", escape_name(slot.name));
  }
  return out;
}

namespace {

// Whether each node, or one below it, has a value.
std::vector<char> nodes_with_values(std::span<const SavedTrackable> nodes) {
  std::vector<std::vector<int>> parents(nodes.size());
  std::vector<char> has(nodes.size(), 0);
  std::vector<int> todo;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].values.empty()) {
      has[i] = 1;
      todo.push_back(int(i));
    }
    for (const auto& [name, child] : nodes[i].children) parents[size_t(child)].push_back(int(i));
    for (const auto& slot : nodes[i].slots) parents[size_t(slot.variable)].push_back(int(i));
  }
  while (!todo.empty()) {
    const int at = todo.back();
    todo.pop_back();
    for (int parent : parents[size_t(at)]) {
      if (has[size_t(parent)]) continue;
      has[size_t(parent)] = 1;
      todo.push_back(parent);
    }
  }
  return has;
}

void put_int(ProtoWriter& w, int field, int v) {
  if (v != 0) w.int64(field, v);
}
void put_text(ProtoWriter& w, int field, std::string_view v) {
  if (!v.empty()) w.bytes(field, v);
}

}  // namespace

std::string encode_trackables(std::span<const SavedTrackable> nodes) {
  const std::vector<char> has = nodes_with_values(nodes);
  ProtoWriter graph;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const SavedTrackable& n = nodes[i];
    ProtoWriter node;
    for (const auto& [name, child] : n.children) {
      ProtoWriter w;
      put_int(w, 1, child);
      put_text(w, 2, name);
      node.message(1, w);
    }
    for (const auto& value : n.values) {
      ProtoWriter w;
      put_text(w, 1, value.name);
      put_text(w, 2, value.full_name);
      put_text(w, 3, value.key);
      node.message(2, w);
    }
    for (const auto& slot : n.slots) {
      ProtoWriter w;
      put_int(w, 1, slot.original);
      put_text(w, 2, slot.name);
      put_int(w, 3, slot.variable);
      node.message(3, w);
    }
    ProtoWriter flag;
    if (has[i]) flag.boolean(1, true);
    node.message(5, flag);
    graph.message(1, node);
  }
  return graph.take();
}

namespace {

Status malformed() { return data_loss("the checkpoint is damaged: malformed TrackableObjectGraph"); }

Result<SavedTrackable> decode_node(std::string_view bytes) {
  SavedTrackable out;
  out.bytes = bytes;
  bool told = false;
  ProtoReader r(bytes);
  while (r.next()) {
    ProtoReader m = r.message();
    switch (r.field()) {
      case 1: {
        std::pair<std::string, int> child("", 0);
        while (m.next()) {
          if (m.field() == 1) child.second = m.int32();
          if (m.field() == 2) child.first = m.string();
        }
        out.children.push_back(std::move(child));
        break;
      }
      case 2: {
        SavedTrackable::Value value;
        while (m.next()) {
          if (m.field() == 1) value.name = m.string();
          if (m.field() == 2) value.full_name = m.string();
          if (m.field() == 3) value.key = m.string();
        }
        out.values.push_back(std::move(value));
        break;
      }
      case 3: {
        SavedTrackable::Slot slot;
        while (m.next()) {
          if (m.field() == 1) slot.original = m.int32();
          if (m.field() == 2) slot.name = m.string();
          if (m.field() == 3) slot.variable = m.int32();
        }
        out.slots.push_back(std::move(slot));
        break;
      }
      case 4:
        while (m.next()) {
          if (m.field() == 1) out.registered_saver = m.string();
        }
        break;
      case 5:
        told = true;
        out.has_values = false;
        while (m.next()) {
          if (m.field() == 1) out.has_values = m.boolean();
        }
        break;
      default: continue;
    }
    if (!m.ok()) return malformed();
  }
  if (!r.ok()) return malformed();
  if (!told) out.has_values = !out.children.empty() || !out.values.empty() || !out.slots.empty() || !out.registered_saver.empty();
  return out;
}

}  // namespace

Result<std::vector<SavedTrackable>> decode_trackables(std::string_view bytes) {
  std::vector<SavedTrackable> nodes;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() != 1) continue;
    WEFT_ASSIGN(SavedTrackable node, decode_node(r.bytes()));
    nodes.push_back(std::move(node));
  }
  if (!r.ok()) return malformed();
  if (nodes.empty()) return data_loss("the checkpoint is damaged: its object graph has no objects");
  const auto there = [&](int node) { return node >= 0 && size_t(node) < nodes.size(); };
  for (const auto& n : nodes) {
    for (const auto& [name, child] : n.children) {
      if (!there(child)) return data_loss("the checkpoint is damaged: its object '", name, "' does not exist");
    }
    for (const auto& slot : n.slots) {
      if (!there(slot.original) || !there(slot.variable)) return data_loss("the checkpoint is damaged: its slot '", slot.name, "' does not exist");
    }
  }
  return nodes;
}

Result<std::vector<SavedTrackable>> read_trackables(const wire::BundleReader& bundle) {
  if (!bundle.contains(kObjectGraphKey)) return std::vector<SavedTrackable>();
  WEFT_ASSIGN(Tensor graph, bundle.lookup(kObjectGraphKey));
  if (graph.dtype() != DType::kString || graph.num_elements() != 1)
    return data_loss("the checkpoint is damaged: its object graph is a tensor of type ", graph.dtype(), " and shape ", graph.shape());
  return decode_trackables(graph.data<tstring>()[0].view());
}

std::vector<std::string> readable_names(std::span<const SavedTrackable> nodes) {
  std::vector<std::string> out(nodes.size());
  if (nodes.empty()) return out;
  out[0] = "(root)";
  std::deque<int> todo{0};
  while (!todo.empty()) {
    const int at = todo.front();
    todo.pop_front();
    for (const auto& [name, child] : nodes[size_t(at)].children) {
      if (!out[size_t(child)].empty()) continue;
      constexpr size_t kLongest = 1000;  // a hostile file could nest for ever
      out[size_t(child)] = out[size_t(at)].size() > kLongest ? out[size_t(at)] : cat(out[size_t(at)], ".", name);
      todo.push_back(child);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& slot : nodes[i].slots) out[size_t(slot.variable)] = cat(out[i], "'s state '", slot.name, "' for ", out[size_t(slot.original)]);
  }
  return out;
}

}  // namespace weft_engine::saved_model
