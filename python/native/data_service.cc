// Servers of the tf.data service in this process (remote/data_service/server.h), and what Python asks of a dispatcher.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bridge.h"
#include "engine/clusters.h"
#include "engine/engine.h"

namespace weft_engine::python {

namespace {

namespace ds = remote::data_service;

template <class T>
T field(const nb::dict& config, const char* name, T otherwise) {
  if (!config.contains(name) || config[name].is_none()) return otherwise;
  return nb::cast<T>(config[name]);
}

ds::DispatcherConfig dispatcher_config(const nb::dict& c) {
  ds::DispatcherConfig out;
  out.host = field<std::string>(c, "host", out.host);
  out.port = field(c, "port", 0);
  out.work_dir = field<std::string>(c, "work_dir", "");
  out.fault_tolerant_mode = field(c, "fault_tolerant_mode", false);
  out.worker_addresses = field<std::vector<std::string>>(c, "worker_addresses", {});
  out.job_gc_check_interval_ms = field<int64_t>(c, "job_gc_check_interval_ms", 0);
  out.job_gc_timeout_ms = field<int64_t>(c, "job_gc_timeout_ms", 0);
  out.client_timeout_ms = field<int64_t>(c, "client_timeout_ms", 0);
  out.worker_timeout_ms = field<int64_t>(c, "worker_timeout_ms", 0);
  out.gc_dynamic_sharding_jobs = field(c, "gc_dynamic_sharding_jobs", false);
  out.worker_max_concurrent_snapshots = field<int64_t>(c, "worker_max_concurrent_snapshots", 0);
  return out;
}

ds::WorkerConfig worker_config(const nb::dict& c) {
  ds::WorkerConfig out;
  out.port = field(c, "port", 0);
  out.dispatcher_address = field<std::string>(c, "dispatcher_address", "");
  out.worker_address = field<std::string>(c, "worker_address", out.worker_address);
  out.heartbeat_interval_ms = field<int64_t>(c, "heartbeat_interval_ms", 0);
  out.dispatcher_timeout_ms = field<int64_t>(c, "dispatcher_timeout_ms", 0);
  out.data_transfer_protocol = field<std::string>(c, "data_transfer_protocol", "");
  out.worker_tags = field<std::vector<std::string>>(c, "worker_tags", {});
  out.cross_trainer_cache_size_bytes = field<int64_t>(c, "cross_trainer_cache_size_bytes", 0);
  out.snapshot_max_chunk_size_bytes = field<int64_t>(c, "snapshot_max_chunk_size_bytes", 0);
  return out;
}

// A server, as Python holds it: its class is in the library of clusters.
struct Dispatcher {
  std::unique_ptr<ds::DispatchServer> server;
};
struct Worker {
  std::unique_ptr<ds::WorkerServer> server;
};

template <class S>
void add_server_methods(nb::class_<S>& c) {
  c.def("start", [](S& s) { check(run_released(true, [&] { return s.server->start(); })); })
      .def("join", [](S& s) { check(run_released(true, [&] { return s.server->join(); })); })
      .def("stop",
           [](S& s) {
             check(run_released(true, [&] {
               s.server->stop();
               return Status();
             }));
           })
      .def("bound_port", [](S& s) { return s.server->port(); });
}

}  // namespace

void bind_data_service(nb::module_& m) {
  nb::class_<Dispatcher> dispatcher(m, "DataDispatchServer", "A dispatcher of the tf.data service.");
  dispatcher.def("__init__", [](Dispatcher* self, const nb::dict& config) {
    new (self) Dispatcher{unwrap(engine::clusters())->make_dispatcher(engine::Engine::get().registry(), dispatcher_config(config))};
  });
  add_server_methods(dispatcher);
  dispatcher.def("num_workers", [](Dispatcher& s) { return s.server->num_workers(); });
  dispatcher.def("snapshot_streams", [](Dispatcher& s, const std::string& path) { return unwrap(s.server->snapshot_streams(path)); });

  nb::class_<Worker> worker(m, "DataWorkerServer", "A worker of the tf.data service.");
  worker.def("__init__", [](Worker* self, const nb::dict& config) {
    new (self) Worker{unwrap(engine::clusters())->make_data_worker(engine::Engine::get().registry(), worker_config(config))};
  });
  add_server_methods(worker);
  worker.def("num_tasks", [](Worker& s) { return s.server->num_tasks(); });
  worker.def("snapshot_task_progresses", [](Worker& s) {
    std::vector<std::tuple<std::string, int64_t, bool>> out;
    for (const ds::SnapshotProgress& p : s.server->snapshot_progress()) out.emplace_back(p.task.base_path, p.task.stream_index, p.completed);
    return out;
  });

  m.def(
      "data_service_metadata",
      [](const std::string& address, const std::string& dataset_id) {
        op::DataServiceMetadata found;
        check(run_released(true, [&]() -> Status {
          const op::DataServiceClient* client = op::data_service_client.load();
          if (!client) return internal_error("the tf.data service is not there");
          WEFT_ASSIGN(found, client->metadata(address, dataset_id, nullptr));
          return {};
        }));
        return std::make_tuple(nb::bytes(found.element_spec.data(), found.element_spec.size()), found.compression, found.cardinality);
      },
      "(element_spec, compression, cardinality) of a dataset that a dispatcher knows.");
}

}  // namespace weft_engine::python
