// Checkpoints laid over Python's objects: the engine's restorer asks, the objects' own methods and weft/_src/trackable/restore.py answer.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "saved_model.h"
#include "saved_model/restorer.h"

namespace weft_engine::python {
namespace {

using saved_model::NameRestorer;
using saved_model::Restorer;
using Object = saved_model::RestoreTargets::Object;

const saved_model::RestoreWords kWords{"Python ", "tf.train.Checkpoint",
                                       " See https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restorefor details about the status "
                                       "object returned by the restore function."};

Object shared(nb::handle object) {
  return {object.inc_ref().ptr(), [](void* p) { Py_DECREF(static_cast<PyObject*>(p)); }};
}
nb::handle python(const Object& object) { return static_cast<PyObject*>(object.get()); }

// f(), whose exceptions become statuses; the exception comes out again where `check` meets the status.
template <class F>
auto answered(F f) -> decltype(f()) {
  try {
    return f();
  } catch (nb::python_error& e) {
    e.restore();
    return status_of_python_error();
  }
}

// A failed check is an AssertionError.
void assert_ok(const Status& status) {
  if (status.code() == Code::kFailedPrecondition && !status.origin().exception) {
    PyErr_SetString(PyExc_AssertionError, status.message().c_str());
    throw nb::python_error();
  }
  check(status);
}

std::vector<Object> shared_all(nb::handle list) {
  std::vector<Object> out;
  for (nb::handle h : nb::object(nb::borrow(list))) out.push_back(shared(h));
  return out;
}

// `self_`: the restoration of restore.py, for the time of a call.
template <class Targets>
class PythonTargets : public Targets {
 public:
  explicit PythonTargets(nb::handle restoration) : self_(nb::borrow(restoration)) {}
  Result<int64_t> restored_by(const Object& object) override {
    return answered([&]() -> Result<int64_t> { return nb::cast<int64_t>(python(object).attr("_update_uid")); });
  }
  Status set_restored_by(const Object& object, int64_t restoration) override {
    return answered([&]() -> Status {
      python(object).attr("_update_uid") = restoration;
      return {};
    });
  }
  Object root() override { return shared(self_.attr("view").attr("root")); }
  Result<std::vector<Object>> objects() override {
    return answered([&]() -> Result<std::vector<Object>> { return shared_all(self_.attr("all_objects")()); });
  }
  Result<bool> has_values(const Object& object) override {
    return answered([&]() -> Result<bool> { return nb::cast<bool>(self_.attr("has_values")(python(object))); });
  }
  Result<std::string> describe(const Object& object, bool listed) override {
    return answered([&]() -> Result<std::string> { return nb::cast<std::string>(listed ? nb::repr(python(object)) : nb::str(python(object))); });
  }
  const saved_model::RestoreWords& words() const override { return kWords; }

 protected:
  const nb::object self_;
};

class GraphObjects final : public PythonTargets<saved_model::GraphTargets> {
 public:
  explicit GraphObjects(nb::handle restoration) : PythonTargets(restoration), bound_(nb::cast<nb::dict>(self_.attr("objects"))) {}

  Object bound(int node) override {
    PyObject* found = PyDict_GetItem(bound_.ptr(), nb::int_(node).ptr());
    return found ? shared(found) : nullptr;
  }
  Status bind(int node, const Object& object) override {
    return answered([&]() -> Status {
      python(object).attr("_maybe_initialize_trackable")();
      bound_[nb::int_(node)] = python(object);
      return {};
    });
  }
  Result<std::vector<Object>> children(int node, const Object& object, std::span<const Name> names) override {
    return answered([&]() -> Result<std::vector<Object>> {
      std::vector<Object> out;
      const nb::object known = python(object).attr("_trackable_children")();
      const nb::object look_up = python(object).attr("_lookup_dependency");
      for (const auto& [name, child] : names) {
        nb::object there = look_up(name, known);
        if (there.is_none() && node == 0) there = self_.attr("attached").attr("get")(name);
        out.push_back(there.is_none() ? nullptr : shared(there));
      }
      return out;
    });
  }
  Status wait(int, const Object& object, std::span<const Name> missing) override {
    return answered([&]() -> Status {
      for (const auto& [name, child] : missing) self_.attr("defer")(python(object), name, child);
      return {};
    });
  }
  Status restore_slot(const Object& optimizer, const Object& variable, std::string_view name, int node) override {
    return answered([&]() -> Status {
      self_.attr("restore_slot")(python(optimizer), python(variable), std::string(name), node);
      return {};
    });
  }
  Status give(std::span<const NodeObject> list) override {
    return answered([&]() -> Status {
      nb::list all;
      for (const auto& [node, object] : list) all.append(nb::make_tuple(node, python(object)));
      self_.attr("give")(all);
      return {};
    });
  }
  void warn(const std::string& text) override { self_.attr("warn")(text); }

 private:
  nb::dict bound_;
};

class NamedObjects final : public PythonTargets<saved_model::NamedTargets> {
 public:
  using PythonTargets::PythonTargets;
  Result<std::string> name(const Object& object) override {
    return answered([&]() -> Result<std::string> { return nb::cast<std::string>(self_.attr("name")(python(object))); });
  }
  bool in_checkpoint(const std::string& name) override { return nb::cast<bool>(self_.attr("in_checkpoint")(name)); }
  void add_unused(const Object& object, std::string name) override { self_.attr("add_unused")(python(object), name); }
  std::vector<std::pair<Object, std::string>> unused() override {
    std::vector<std::pair<Object, std::string>> out;
    for (nb::handle pair : nb::object(self_.attr("unused")())) out.emplace_back(shared(pair[0]), nb::cast<std::string>(pair[1]));
    return out;
  }
};

// A node of the checkpoint, which Python names.
const saved_model::SavedTrackable& node_of(const Restorer& r, int node) {
  if (node < 0 || node >= r.graph().size()) throw nb::index_error("the checkpoint has no such object");
  return r.graph().node(node);
}

void make(Restorer* self, nb::bytes message, bool skip_slots) {
  new (self) Restorer(unwrap(saved_model::decode_trackables({message.c_str(), message.size()})), skip_slots);
}

// [(name, key)]
nb::list values(const Restorer& r, int node) {
  nb::list out;
  for (const auto& v : node_of(r, node).values) out.append(nb::make_tuple(v.name, v.key));
  return out;
}

// Whether the node is a variable and nothing more.
bool is_variable_alone(const Restorer& r, int node) {
  const auto& n = node_of(r, node);
  return n.children.empty() && n.values.size() == 1 && n.values[0].name == saved_model::kVariableValue;
}

void restore(Restorer& r, nb::handle restoration, int node, nb::handle object) {
  node_of(r, node);
  GraphObjects targets(restoration);
  check(r.restore(targets, node, shared(object)));
}

template <Status (Restorer::*kCheck)(saved_model::GraphTargets&) const>
void asserted(const Restorer& r, nb::handle restoration) {
  GraphObjects targets(restoration);
  assert_ok((r.*kCheck)(targets));
}

}  // namespace

void bind_restore(nb::module_& m) {
  nb::class_<Restorer>(m, "Restorer",
                       "Lays the objects of a checkpoint over those of the program. `restoration` (weft/_src/trackable/restore.py) knows these.")
      .def("__init__", make, nb::arg("message"), nb::arg("skip_slots"))
      .def_prop_ro("id", &Restorer::id)
      .def("values", values, nb::arg("node"))
      .def("is_variable_alone", is_variable_alone, nb::arg("node"))
      .def(
          "add_unused", [](Restorer& r, int node, const std::string& value) { r.add_unused(node, value); }, nb::arg("node"), nb::arg("value"))
      .def("restore", restore, nb::arg("restoration"), nb::arg("node"), nb::arg("object"))
      .def("assert_consumed", asserted<&Restorer::assert_consumed>, nb::arg("restoration"))
      .def("assert_existing_objects_matched", asserted<&Restorer::assert_existing_objects_matched>, nb::arg("restoration"))
      .def("assert_nontrivial_match", asserted<&Restorer::assert_nontrivial_match>, nb::arg("restoration"))
      .def("leftovers", [](const Restorer& r) { return r.leftovers(kWords); }, "Warnings about values that found no object.");
  nb::class_<NameRestorer>(m, "NameRestorer", "Restores a checkpoint of version 1, which knows variables by name alone.")
      .def(nb::init<>())
      .def_prop_ro("id", &NameRestorer::id)
      .def(
          "take",
          [](NameRestorer& r, nb::handle restoration, nb::handle object) {
            NamedObjects targets(restoration);
            return unwrap(r.take(targets, shared(object)));
          },
          nb::arg("restoration"), nb::arg("object"), "The name of the value that the object is to get now, or \"\".")
      .def(
          "assert_consumed",
          [](const NameRestorer& r, nb::handle restoration) {
            NamedObjects targets(restoration);
            assert_ok(r.assert_consumed(targets));
          },
          nb::arg("restoration"));
  m.def("next_restoration", saved_model::next_restoration, "The number of a restoration that is made elsewhere.");
  m.def("nothing_restored", [] { assert_ok(saved_model::nothing_restored()); }, "Raises: there was no checkpoint.");
}

}  // namespace weft_engine::python
