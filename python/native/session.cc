// Sessions over graphs of version 1.
#include "runtime/session.h"

#include <nanobind/stl/string.h>

#include "bridge.h"

namespace weft::python {
namespace {

struct NativeSession {
  std::shared_ptr<trace::FuncGraph> graph;
  std::shared_ptr<std::mutex> mutex;
  std::unique_ptr<runtime::Session> session;
};

graph::Endpoint endpoint(trace::FuncGraph& g, nb::handle t) {
  Value v = value_of(t);
  if (v.rep()->owner() != &g.emitter()) raise(invalid_argument("a tensor of another graph was given to a session"));
  return graph::GraphEmitter::unwrap(v);
}

// feeds: [(tensor, value)], fetches: [tensor], targets: [node id]
nb::list run(NativeSession& s, nb::handle feeds, nb::handle fetches, nb::handle targets) {
  std::vector<graph::Endpoint> in, out;
  std::vector<Tensor> values;
  std::vector<graph::Node*> nodes;
  for (nb::handle pair : feeds) {
    nb::tuple p = nb::borrow<nb::tuple>(pair);
    in.push_back(endpoint(*s.graph, p[0]));
    values.push_back(data_of(nb::object(p[1]).ptr()));
  }
  for (nb::handle t : fetches) out.push_back(endpoint(*s.graph, t));
  for (nb::handle id : targets) nodes.push_back(s.graph->graph().node(nb::cast<int>(id)));
  std::vector<Tensor> results(out.size());
  Status status;
  {
    Released released(true);
    status = s.session->run(in, values, out, results, nodes, {});
  }
  check(status);
  nb::list made;
  for (Tensor& t : results) made.append(nb::steal(wrap(eager::TensorHandle::make(std::move(t), nullptr))));
  return made;
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<NativeSession>(m, "NativeSession")
      .def("__init__",
           [](NativeSession* self, nb::handle graph, int cpus, int threads, bool soft, bool log) {
             runtime::SessionOptions o;
             o.cpu_devices = cpus;
             o.intra_threads = threads;
             o.allow_soft_placement = soft;
             o.log_device_placement = log;
             auto g = func_graph_of(graph).shared_from_this();
             auto mutex = std::make_shared<std::mutex>();
             auto session = std::make_unique<runtime::Session>(g->graph(), *mutex, o);
             new (self) NativeSession{std::move(g), std::move(mutex), std::move(session)};
           },
           nb::arg("graph"), nb::arg("cpu_devices") = 1, nb::arg("threads") = 0, nb::arg("soft_placement") = true, nb::arg("log_device_placement") = false)
      .def("run", run, nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"))
      .def("close", [](NativeSession& s) { check(s.session->close()); })
      .def("devices", [](NativeSession& s) {
        nb::list out;
        for (const auto& d : s.session->devices().all()) out.append(nb::make_tuple(d->name(), d->type(), d->memory_limit()));
        return out;
      });
}

}  // namespace weft::python
