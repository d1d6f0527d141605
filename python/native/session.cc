// Sessions over graphs of version 1.
#include "op/session_state.h"
#include "runtime/partial_run.h"
#include "runtime/server.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bridge.h"
#include "io/rewriter_config.h"
#include "io/run_metadata.h"

namespace weft_engine::python {
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

std::vector<graph::Endpoint> endpoints(trace::FuncGraph& g, nb::handle tensors) {
  std::vector<graph::Endpoint> out;
  for (nb::handle t : tensors) out.push_back(endpoint(g, t));
  return out;
}

std::vector<graph::Node*> nodes_of(trace::FuncGraph& g, nb::handle ids) {
  std::vector<graph::Node*> out;
  for (nb::handle id : ids) out.push_back(g.graph().node(nb::cast<int>(id)));
  return out;
}

runtime::RemoteSession* master_of(NativeSession& s) {
  if (!s.session->remote()) raise(failed_precondition("the session runs in this process: no master keeps callables of it"));
  return s.session->remote();
}

// One step in several calls.
struct NativePartialRun {
  std::shared_ptr<trace::FuncGraph> graph;
  std::unique_ptr<runtime::PartialRun> run;
};

// feeds: [(tensor, value)], fetches: [tensor], targets: [node id]
template <class Runs>
nb::list run(trace::FuncGraph& g, nb::handle feeds, nb::handle fetches, nb::handle targets, const Runs& runs) {
  std::vector<graph::Endpoint> in, out = endpoints(g, fetches);
  std::vector<Tensor> values;
  for (nb::handle pair : feeds) {
    nb::tuple p = nb::borrow<nb::tuple>(pair);
    in.push_back(endpoint(g, p[0]));
    values.push_back(data_of(nb::object(p[1]).ptr()));
  }
  const std::vector<graph::Node*> nodes = nodes_of(g, targets);
  std::vector<Tensor> results(out.size());
  check(run_released(true, [&] { return runs(in, values, out, results, nodes); }));
  nb::list made;
  for (Tensor& t : results) made.append(nb::steal(wrap(eager::TensorHandle::make(std::move(t), nullptr))));
  return made;
}

}  // namespace

void bind_session(nb::module_& m) {
  m.def(
      "reset_sessions",
      [](const std::string& target, const std::vector<std::string>& containers, nb::bytes config) {
        const std::string where = unwrap(runtime::session_target(target)), proto(config.c_str(), config.size());
        const runtime::RemoteSessions* there = runtime::remote_sessions();
        if (!where.empty() && there) check(run_released(true, [&] { return there->reset(where, containers, proto); }));
      },
      nb::arg("target"), nb::arg("containers"), nb::arg("config") = nb::bytes(""),
      "A master forgets its sessions and clears these containers in its cluster.");
  m.def(
      "session_tensor",
      [](const std::string& handle, const std::string& device) {
        Tensor t = make_handle(device, SessionState::kContainer, handle, SessionState::kTensorType);
        return nb::steal(wrap(eager::TensorHandle::make(std::move(t), nullptr)));
      },
      "The handle of a tensor that a session keeps, to be fed.");
  nb::class_<NativePartialRun>(m, "NativePartialRun")
      .def(
          "run",
          [](NativePartialRun& p, nb::handle feeds, nb::handle fetches, nb::handle targets) {
            return run(*p.graph, feeds, fetches, targets,
                       [&](auto& in, auto& values, auto& out, auto& results, auto& nodes) { return p.run->run(in, values, out, results, nodes); });
          },
          nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"));
  nb::class_<NativeSession>(m, "NativeSession")
      .def(
          "__init__",
          [](NativeSession* self, nb::handle graph, int cpus, int threads, int inter_threads, bool soft, bool log, nb::bytes config,
             const std::string& target) {
            runtime::SessionOptions o;
            o.target = unwrap(runtime::session_target(target));
            o.cpu_devices = cpus;
            o.intra_threads = threads;
            o.inter_threads = inter_threads;
            const std::string_view bytes(config.c_str(), config.size());
            o.disabled_passes = unwrap(io::disabled_passes(bytes));
            o.auto_compile = io::wants_jit(bytes);
            o.config = bytes;
            o.allow_soft_placement = soft;
            o.log_device_placement = log;
            auto g = func_graph_of(graph).shared_from_this();
            auto mutex = std::make_shared<std::mutex>();
            auto session = std::make_unique<runtime::Session>(g->graph(), *mutex, o);
            new (self) NativeSession{std::move(g), std::move(mutex), std::move(session)};
          },
          nb::arg("graph"), nb::arg("cpu_devices") = 1, nb::arg("threads") = 0, nb::arg("inter_threads") = 0, nb::arg("soft_placement") = true,
          nb::arg("log_device_placement") = false, nb::arg("config") = nb::bytes(""), nb::arg("target") = "")
      .def(
          "run",
          [](NativeSession& s, nb::handle feeds, nb::handle fetches, nb::handle targets, bool traced, int64_t timeout_ms, nb::bytes proto) {
            StepTrace trace;
            std::string metadata;  // of a session elsewhere
            runtime::Session::RunOptions options;
            options.timeout_ms = timeout_ms;
            options.proto = {proto.c_str(), proto.size()};
            options.metadata = &metadata;
            if (traced) options.trace = &trace;
            std::vector<std::string> graphs;
            nb::list made = run(*s.graph, feeds, fetches, targets, [&](auto& in, auto& values, auto& out, auto& results, auto& nodes) -> Status {
              WEFT_RETURN_IF_ERROR(s.session->run(in, values, out, results, nodes, options));
              if (s.session->remote() || !io::wants_partition_graphs(options.proto)) return {};
              WEFT_ASSIGN(auto instance, s.session->prepare(in, out, nodes));
              WEFT_ASSIGN(auto placed, instance->optimized({}));
              WEFT_ASSIGN(std::string def, io::encode_placed_graph(*placed.graph));
              graphs.push_back(std::move(def));
              return {};
            });
            if (traced) {
              if (!s.session->remote()) metadata = io::encode_run_metadata(trace.take(), graphs);
              made.append(nb::bytes(metadata.data(), metadata.size()));
            }
            return made;
          },
          nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"), nb::arg("traced") = false, nb::arg("timeout_ms") = 0,
          nb::arg("options") = nb::bytes(""), "When traced, the last of the results is a RunMetadata; `options` is a RunOptions.")
      .def(
          "partial_run",
          [](NativeSession& s, nb::handle feeds, nb::handle fetches, nb::handle targets) {
            return NativePartialRun{s.graph, std::make_unique<runtime::PartialRun>(*s.session, endpoints(*s.graph, feeds),
                                                                                   endpoints(*s.graph, fetches), nodes_of(*s.graph, targets))};
          },
          nb::keep_alive<0, 1>(), nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"), "What the calls of one step may feed and fetch.")
      .def(
          "make_callable",
          [](NativeSession& s, nb::bytes options) {
            const std::string proto(options.c_str(), options.size());
            Result<int64_t> callable = invalid_argument("not asked yet");
            check(run_released(true, [&] {
              callable = master_of(s)->make_callable(proto);
              return callable.status();
            }));
            return *callable;
          },
          nb::arg("options"), "A step that the session's master looks up once; `options` is a CallableOptions.")
      .def(
          "run_callable",
          [](NativeSession& s, int64_t callable, nb::handle values) {
            std::vector<Tensor> feeds, results;
            for (nb::handle v : values) feeds.push_back(data_of(nb::borrow(v).ptr()));
            std::string metadata;
            check(run_released(true, [&] { return master_of(s)->run_callable(callable, feeds, results, &metadata, nullptr); }));
            nb::list made;
            for (Tensor& t : results) made.append(nb::steal(wrap(eager::TensorHandle::make(std::move(t), nullptr))));
            return nb::make_tuple(made, nb::bytes(metadata.data(), metadata.size()));
          },
          nb::arg("callable"), nb::arg("values"), "The results and a RunMetadata.")
      .def(
          "release_callable",
          [](NativeSession& s, int64_t callable) { check(run_released(true, [&] { return master_of(s)->release_callable(callable); })); },
          nb::arg("callable"))
      .def(
          "delete_tensor", [](NativeSession& s, const std::string& handle) { check(s.session->state().remove(handle)); },
          "Drops a tensor that the session keeps.")
      .def("close", [](NativeSession& s) { check(run_released(true, [&] { return s.session->close(); })); })
      .def("devices", [](NativeSession& s) {
        nb::list out;
        Result<const DeviceSet*> devices = invalid_argument("not asked yet");
        check(run_released(true, [&] {
          devices = s.session->list_devices();
          return devices.status();
        }));
        for (const auto& d : (*devices)->all()) out.append(nb::make_tuple(d->name(), d->type(), d->memory_limit()));
        return out;
      });
}

}  // namespace weft_engine::python
