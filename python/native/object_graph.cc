// The graph of objects of a checkpoint: Python walks its objects, the engine names, writes and reads what they are in the file.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "saved_model.h"
#include "saved_model/restore_graph.h"

namespace weft_engine::python {
namespace {

using saved_model::RestoreGraph;
using saved_model::SavedTrackable;
using Children = std::vector<std::vector<std::pair<std::string, int>>>;           // by node: name, node
using Slots = std::vector<std::tuple<int, int, std::string, int>>;                // optimizer, variable, name, slot variable
using Values = std::vector<std::vector<std::tuple<std::string, std::string, std::string>>>;  // by node: name, full name, key

std::vector<SavedTrackable> nodes_of(Children children, const Slots& slots) {
  std::vector<SavedTrackable> nodes(children.size());
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].children = std::move(children[i]);
  for (const auto& [optimizer, variable, name, slot] : slots) nodes.at(size_t(optimizer)).slots.push_back({name, variable, slot});
  return nodes;
}

nb::bytes encode(Children children, const Slots& slots, Values values) {
  std::vector<SavedTrackable> nodes = nodes_of(std::move(children), slots);
  for (size_t i = 0; i < nodes.size() && i < values.size(); ++i) {
    for (auto& [name, full_name, key] : values[i]) nodes[i].values.push_back({std::move(name), std::move(full_name), std::move(key)});
  }
  const std::string bytes = saved_model::encode_trackables(nodes);
  return nb::bytes(bytes.data(), bytes.size());
}

// A node of a checkpoint that is restored, which Python names.
int checked(const RestoreGraph& g, int node) {
  if (node < 0 || node >= g.size()) throw nb::index_error("the checkpoint has no such object");
  return node;
}

void make_graph(RestoreGraph* self, nb::bytes message, bool skip_slots) {
  new (self) RestoreGraph(unwrap(saved_model::decode_trackables({message.c_str(), message.size()})), skip_slots);
}

// [(name, key)]
nb::list values(const RestoreGraph& g, int node) {
  nb::list out;
  for (const auto& v : g.node(checked(g, node)).values) out.append(nb::make_tuple(v.name, v.key));
  return out;
}

// [(optimizer, variable, name, slot variable)]
nb::list take_ready_slots(RestoreGraph& g, int node) {
  nb::list out;
  for (const auto& s : g.take_ready_slots(checked(g, node)))
    out.append(nb::make_tuple(s.optimizer, s.slot->original, s.slot->name, s.slot->variable));
  return out;
}

}  // namespace

void bind_object_graph(nb::module_& m) {
  nb::class_<RestoreGraph>(m, "RestoreGraph", "The nodes of a checkpoint while it is restored: which have found their object.")
      .def("__init__", make_graph, nb::arg("message"), nb::arg("skip_slots"))
      .def(
          "children", [](const RestoreGraph& g, int node) { return g.node(checked(g, node)).children; }, "[(name, node)]")
      .def("values", values)
      .def(
          "has_values", [](const RestoreGraph& g, int node) { return g.node(checked(g, node)).has_values; },
          "Whether the node or one below it has any.")
      .def(
          "name", [](const RestoreGraph& g, int node) { return g.names()[size_t(checked(g, node))]; }, "Its names from the root, for messages.")
      .def("set_matched", [](RestoreGraph& g, int node) { g.set_matched(checked(g, node)); })
      .def("take_ready_slots", take_ready_slots, "Slots whose optimizer and variable have objects, of which this node is one; each once.")
      .def("open_optimizers", [](const RestoreGraph& g) { return g.open_optimizers(); })
      .def("unresolved", [](const RestoreGraph& g) { return g.unresolved(); }, "Nodes with values and without an object.");
  m.def(
      "object_paths", [](Children children, const Slots& slots) { return saved_model::trackable_paths(nodes_of(std::move(children), slots)); },
      nb::arg("children"), nb::arg("slots"), "By object: what the keys of its values in a checkpoint begin with.");
  m.def(
      "checkpoint_key", [](const std::string& path, const std::string& name) { return saved_model::value_key(path, name); }, nb::arg("path"),
      nb::arg("name"));
  m.def("encode_object_graph", encode, nb::arg("children"), nb::arg("slots"), nb::arg("values"), "The TrackableObjectGraph of a checkpoint.");
}

}  // namespace weft_engine::python
