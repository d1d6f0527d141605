#include "saved_model/tracked_objects.h"

#include <algorithm>
#include <deque>

#include "trace/variable.h"
#include "wire/proto.h"

namespace weft::saved_model {

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

std::string value_key(std::string_view path, std::string_view attribute) { return cat(path, "/.ATTRIBUTES/", attribute); }

namespace {

std::string join(const std::string& path, std::string_view name) {
  return path.empty() ? escape_name(name) : cat(path, "/", escape_name(name));
}

// Slot variables of all optimisers, behind the other nodes: by slot, then in the order of the variables that they belong to.
Status list_slots(TrackedObjects& out) {
  const size_t plain = out.nodes.size();
  for (size_t at = 0; at < plain; ++at) {
    const std::shared_ptr<TrackableState> optimizer = out.nodes[at].state;
    std::vector<std::string_view> names;
    for (const auto& slot : optimizer->slots()) {
      if (std::find(names.begin(), names.end(), slot.name) == names.end()) names.push_back(slot.name);
    }
    for (std::string_view name : names) {
      std::vector<std::pair<int, const TrackableState::Slot*>> found;  // of variables that are saved too
      for (const auto& slot : optimizer->slots()) {
        if (slot.name != name) continue;
        auto original = out.ids.find(slot.original.lock().get());
        if (original != out.ids.end()) found.emplace_back(original->second, &slot);
      }
      std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [original, slot] : found) {
        // TensorFlow allows no slot to be a child too. Optimisers hold theirs as children, as Keras 3 does: then that is how they
        // are written, and as slots they are only read, from older files.
        if (out.ids.count(slot->variable.get())) continue;
        const int id = int(out.nodes.size());
        TrackedObjects::Node node;
        node.state = slot->variable;
        node.path = cat(out.nodes[size_t(original)].path, "/.OPTIMIZER_SLOT/", out.nodes[at].path, "/", escape_name(name));
        out.nodes.push_back(std::move(node));
        out.ids.emplace(slot->variable.get(), id);
        out.nodes[at].slots.push_back({std::string(name), original, id});
      }
    }
  }
  return {};
}

}  // namespace

Result<TrackedObjects> list_tracked(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
  TrackedObjects out;
  out.nodes.push_back({root, "", {}, {}});
  out.ids.emplace(root.get(), 0);
  for (size_t at = 0; at < out.nodes.size(); ++at) {
    const std::shared_ptr<TrackableState> here = out.nodes[at].state;
    std::vector<TrackableState::Child> children = here->children();
    if (at == 0) children.insert(children.end(), attached.begin(), attached.end());
    for (const auto& child : children) {
      auto [it, fresh] = out.ids.emplace(child.state.get(), int(out.nodes.size()));
      if (fresh) out.nodes.push_back({child.state, join(out.nodes[at].path, child.name), {}, {}});
      out.nodes[at].children.emplace_back(child.name, it->second);
    }
  }
  WEFT_RETURN_IF_ERROR(list_slots(out));
  return out;
}

namespace {

// Whether each node, or one below it, has a value.
std::vector<char> nodes_with_values(const TrackedObjects& objects) {
  std::vector<std::vector<int>> parents(objects.nodes.size());
  std::vector<char> has(objects.nodes.size(), 0);
  std::vector<int> todo;
  for (size_t i = 0; i < objects.nodes.size(); ++i) {
    const auto& n = objects.nodes[i];
    if (n.state->as_variable() || !n.slots.empty()) {
      has[i] = 1;
      todo.push_back(int(i));
    }
    for (const auto& [name, child] : n.children) parents[size_t(child)].push_back(int(i));
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

std::string encode_tracked(const TrackedObjects& objects) {
  const std::vector<char> has = nodes_with_values(objects);
  ProtoWriter graph;
  for (size_t i = 0; i < objects.nodes.size(); ++i) {
    const auto& n = objects.nodes[i];
    ProtoWriter node;
    for (const auto& [name, child] : n.children) {
      ProtoWriter w;
      put_int(w, 1, child);
      put_text(w, 2, name);
      node.message(1, w);
    }
    if (trace::VariableState* v = n.state->as_variable()) {
      ProtoWriter w;
      w.bytes(1, kVariableValue);
      put_text(w, 2, v->spec().name);
      w.bytes(3, value_key(n.path));
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
        TrackedObjects::Slot slot;
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
      default:
        continue;
    }
    if (!m.ok()) return malformed();
  }
  if (!r.ok()) return malformed();
  if (!told) out.has_values = !out.children.empty() || !out.values.empty() || !out.slots.empty() || !out.registered_saver.empty();
  return out;
}

}  // namespace

Result<std::vector<SavedTrackable>> decode_tracked(std::string_view bytes) {
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
      if (!there(slot.original) || !there(slot.variable))
        return data_loss("the checkpoint is damaged: its slot '", slot.name, "' does not exist");
    }
  }
  return nodes;
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
    for (const auto& slot : nodes[i].slots)
      out[size_t(slot.variable)] = cat(out[i], "'s state '", slot.name, "' for ", out[size_t(slot.original)]);
  }
  return out;
}

}  // namespace weft::saved_model
