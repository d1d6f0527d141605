// The graph of objects of a checkpoint: Python walks its objects, the engine names, writes and reads what they are in the file.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "saved_model.h"
#include "saved_model/trackable_graph.h"

namespace weft_engine::python {
namespace {

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

}  // namespace

void bind_object_graph(nb::module_& m) {
  m.def(
      "object_paths", [](Children children, const Slots& slots) { return saved_model::trackable_paths(nodes_of(std::move(children), slots)); },
      nb::arg("children"), nb::arg("slots"), "By object: what the keys of its values in a checkpoint begin with.");
  m.def(
      "checkpoint_key", [](const std::string& path, const std::string& name) { return saved_model::value_key(path, name); }, nb::arg("path"),
      nb::arg("name"));
  m.def("encode_object_graph", encode, nb::arg("children"), nb::arg("slots"), nb::arg("values"), "The TrackableObjectGraph of a checkpoint.");
}

}  // namespace weft_engine::python
