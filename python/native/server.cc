// Servers of a cluster in this process (runtime/server.h).
#include "runtime/server.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "bridge.h"

namespace weft_engine::python {

void bind_server(nb::module_& m) {
  using runtime::Server;
  nb::class_<Server>(m, "Server", "One task of a cluster.")
      .def_static(
          "make",
          [](std::map<std::string, std::map<int, std::string>> cluster, std::string job, int task, int port, int cpus) {
            runtime::ServerSpec spec;
            spec.cluster = std::move(cluster);
            spec.job = std::move(job);
            spec.task = task;
            spec.port = port;
            spec.cpu_devices = cpus;
            return unwrap(Server::make(std::move(spec)));
          },
          nb::arg("cluster"), nb::arg("job"), nb::arg("task"), nb::arg("port") = 0, nb::arg("cpu_devices") = 1)
      .def("start", [](Server& s) { check(s.start()); })
      .def("stop", [](Server& s) { check(s.stop()); })
      .def("join", [](Server& s) { check(run_released(true, [&] { return s.join(); })); })
      .def_prop_ro("target", [](Server& s) { return s.target(); });
}

}  // namespace weft_engine::python
