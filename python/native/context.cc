// Devices, threads and switches of the process.
#include "core/allocator.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bridge.h"
#include "core/copy_by_parts.h"
#include "engine/clusters.h"
#include "io/rewriter_config.h"
#include "op/collective.h"
#include "op/step_trace.h"
#include "ops/random/random_common.h"
#include "runtime/hot_plan.h"
#include "runtime/shared_devices.h"
#include "weft/context.h"
#include "weft/error.h"

namespace weft_engine::python {
namespace {

void set_hooks(nb::dict given) {
  Hooks& h = hooks();
  auto keep = [](nb::handle o) { return Py_NewRef(o.ptr()); };
  for (auto [key, value] : given) {
    const std::string k = nb::cast<std::string>(nb::str(key));
    if (k == "dtypes") {
      for (auto [number, dtype] : nb::cast<nb::dict>(value)) h.dtypes[nb::cast<int>(number) & 255] = keep(dtype);
    } else if (k == "errors") {
      for (auto [code, type] : nb::cast<nb::dict>(value)) h.errors[nb::cast<int>(code) % 20] = keep(type);
    } else if (k == "binary") {
      size_t i = 0;
      for (nb::handle f : value) h.binary[i++ % 32] = keep(f);
    } else if (k == "eager_tensor") {
      h.eager_tensor = reinterpret_cast<PyTypeObject*>(keep(value));
      h.eager_tensor->tp_name = "tensorflow.python.framework.ops.EagerTensor";  // what Python's own errors call it; __name__ stays
    } else if (k == "symbolic_tensor") {
      h.symbolic_tensor = reinterpret_cast<PyTypeObject*>(keep(value));
    } else {
      PyObject** at = k == "tensor_shape"    ? &h.tensor_shape
                      : k == "convert"       ? &h.convert
                      : k == "as_dtype"      ? &h.as_dtype
                      : k == "as_shape"      ? &h.as_shape
                      : k == "function_name" ? &h.function_name
                      : k == "result_type"   ? &h.result_type
                      : k == "operation"     ? &h.operation
                      : k == "graph_of"      ? &h.graph_of
                      : k == "dispatch"      ? &h.dispatch
                                             : nullptr;
      if (!at) raise(invalid_argument("there is no hook '", k, "'"));
      *at = keep(value);
    }
  }
}

nb::list devices() {
  nb::list out;
  for (const auto& d : used_context().devices().all()) out.append(nb::make_tuple(d->name(), d->type(), d->memory_limit()));
  return out;
}

// Functions that began while it was on may end later: it stays.
StepTrace& process_trace() {
  static auto* trace = new StepTrace;
  return *trace;
}

// False: another trace is being made.
bool trace_into(StepTrace* trace) {
  StepTrace* none = nullptr;
  if (trace) return api::context().trace.compare_exchange_strong(none, trace);
  api::context().trace.store(nullptr);
  return true;
}

bool start_trace() {
  if (!trace_into(&process_trace())) return false;
  process_trace().take();
  return true;
}

nb::list stop_trace() {
  api::context().trace.store(nullptr);
  const int64_t offset = StepTrace::wall_offset_ns();
  nb::list out;
  for (const StepTrace::Event& e : process_trace().take()) {
    nb::list results;
    for (const auto& [dtype, shape] : e.outputs) results.append(nb::make_tuple(std::string(dtype_name(dtype)), shape.to_string()));
    out.append(nb::make_tuple(e.node, e.op, e.device, e.start_ns + offset, e.end_ns + offset, e.thread, results));
  }
  return out;
}

weft::OptimizerOptions optimizer_options(const nb::bytes& config, bool jit) {
  return {.disabled_passes = unwrap(io::disabled_passes(std::string_view(config.c_str(), config.size()))), .jit_compile = jit};
}

const remote::Library& clusters() { return *unwrap(engine::clusters()); }

remote::ServerDef read_server_def(const nb::bytes& bytes) {
  return unwrap(clusters().decode_server_def(std::string_view(bytes.c_str(), bytes.size())));
}

// What the coordination service offers, where a ServerDef configured it.
void bind_coordination(nb::module_& m) {
  const auto agent = [] { return unwrap(clusters().coordination_agent(api::context())); };
  m.def(
      "set_config_key_value",
      [agent](const std::string& key, const std::string& value) {
        auto a = agent();
        check(run_released(true, [&] { return a->insert(key, value); }));
      },
      nb::arg("key"), nb::arg("value"));
  m.def(
      "get_config_key_value",
      [agent](const std::string& key, double timeout) {
        auto a = agent();
        std::string value;
        check(run_released(true, [&]() -> Status {
          WEFT_ASSIGN(value, a->get(key, timeout));
          return {};
        }));
        return nb::bytes(value.data(), value.size());
      },
      nb::arg("key"), nb::arg("timeout") = 0, "Waits for the key, for `timeout` seconds; 0: for ever.");
  m.def(
      "delete_config_key_value",
      [agent](const std::string& key) {
        auto a = agent();
        check(run_released(true, [&] { return a->remove(key); }));
      },
      nb::arg("key"));
  m.def(
      "report_error_to_cluster",
      [agent](int code, const std::string& message) {
        auto a = agent();
        check(run_released(true, [&] { return a->report_error(Status(Code(code), message)); }));
      },
      nb::arg("code"), nb::arg("message"), "This task has failed: the collectives of all tasks get this error.");
  m.def(
      "wait_at_barrier",
      [agent](const std::string& id, int64_t timeout_ms) {
        auto a = agent();
        check(run_released(true, [&] { return a->barrier(id, timeout_ms); }));
      },
      nb::arg("barrier_id"), nb::arg("timeout_in_ms"), "Until all tasks have come here.");
  m.def(
      "get_task_states",
      [agent](const std::vector<std::pair<std::string, int>>& tasks) {
        auto a = agent();
        std::vector<remote::CoordinatedTask> wanted;
        for (const auto& [job, task] : tasks) wanted.push_back({job, task});
        std::vector<remote::TaskStateInfo> states;
        check(run_released(true, [&]() -> Status {
          WEFT_ASSIGN(states, a->task_states(wanted));
          return {};
        }));
        nb::list out;
        for (const auto& s : states) out.append(nb::make_tuple(int(s.state), int(s.error.code()), s.error.message()));
        return out;
      },
      nb::arg("tasks"), "(state, code and text of its error) of each (job, task); states are TensorFlow's CoordinatedTaskState.");
}

}  // namespace

void bind_context(nb::module_& m) {
  m.def("set_hooks", set_hooks, "What the extension needs of the package; see bridge.h.");
  m.def("version", [] { return weft::version(); });
  m.def("devices", devices, "(name, type, memory) of each; makes the context.");
  m.def(
      "add_cpus", [](int count) { runtime::add_cpus(&api::context().devices(), std::min(count, 1024)); }, nb::arg("count"),
      "The context has this many CPU devices at least from now on. Nothing may run meanwhile.");
  m.def(
      "connect",
      [](nb::bytes server_def, double timeout) {
        const auto def = read_server_def(server_def);
        check(run_released(true, [&] { return clusters().connect(used_context(), def, {.timeout_seconds = timeout}); }));
      },
      nb::arg("server_def"), nb::arg("timeout"),
      "Connects the context to the tasks of a cluster; `server_def` is a ServerDef that names this process as one of them.");
  m.def(
      "sync_task", [](const std::string& task) { check(run_released(true, [&] { return clusters().sync_task(used_context(), task); })); },
      nb::arg("task"), "Waits for all that was sent to one task; raises the first error there that nobody has seen.");
  m.def(
      "reconnect", [](double timeout) { check(run_released(true, [&] { return clusters().reconnect(used_context(), timeout); })); },
      nb::arg("timeout"), "Gives tasks of the cluster that were started again the context anew.");
  m.def(
      "enable_collective_ops",
      [](nb::bytes server_def) {
        const auto def = read_server_def(server_def);
        check(run_released(true, [&] { return clusters().enable_collective_ops(used_context(), def); }));
      },
      nb::arg("server_def"),
      "Makes this process the task that the ServerDef names, with a server; its devices get the task's names. Before the first op.");
  m.def(
      "abort_collective_ops",
      [](int code, const std::string& message) {
        const Status why(Code(code), message);
        if (!why.ok()) op::collective_executor(used_context().resources())->start_abort(why);
      },
      nb::arg("code"), nb::arg("message"), "All collectives that wait, now or later, get this error.");
  m.def(
      "check_collective_ops_peer_health",
      [](const std::string& task, double seconds) {
        check(run_released(true, [&] { return clusters().check_peer_health(used_context(), task, seconds); }));
      },
      nb::arg("task"), nb::arg("timeout"), "Raises where the task '/job:worker/replica:0/task:1' does not answer, or is another one than before.");
  bind_coordination(m);
  m.def(
      "update_cluster",
      [](nb::bytes server_def, double timeout) {
        const auto def = read_server_def(server_def);
        check(run_released(true, [&] { return clusters().update(used_context(), def, {.timeout_seconds = timeout}); }));
      },
      nb::arg("server_def"), nb::arg("timeout"), "The cluster with other tasks; those that stay keep their tensors.");
  m.def(
      "check_alive",
      [](const std::string& task) {
        bool alive = false;
        check(run_released(true, [&]() -> core::Status {
          WEFT_ASSIGN(alive, clusters().check_alive(used_context(), task));
          return {};
        }));
        return alive;
      },
      nb::arg("task"), "Whether a task of the cluster answers.");
  m.def(
      "wait_for_op",
      [](nb::handle tensor) {
        const Value v = value_of(tensor);
        if (v.rep()->owner()) return;
        eager::TensorHandle* h = handle_of(tensor.ptr());
        if (!h->ready()) check(run_released(true, [&] { return h->wait_for_op(); }));
      },
      nb::arg("tensor"), "Waits for the op that makes the tensor, wherever it is; raises its error.");
  m.def(
      "sync_executors", [] { check(run_released(true, [] { return api::context().sync_executors(); })); },
      "Waits for all that was sent; raises the first error that nobody has seen.");
  m.def(
      "configure",
      [](int cpus, int threads, int inter, bool soft, bool log, nb::bytes config, bool jit) {
        try {
          weft::Config c;
          c.cpu_devices = cpus;
          c.intra_threads = threads;
          c.soft_placement = soft;
          c.log_device_placement = log;
          c.inter_threads = inter;
          c.optimizer = optimizer_options(config, jit);
            // One that graphs alone have used is made again; they keep theirs.
          if (api::has_context() && !devices_ever_used.load()) api::reset_context();
          weft::configure(c);
        } catch (const weft::Error& e) {
          raise(core::Status(static_cast<core::Code>(e.code()), e.what()));
        }
      },
      nb::arg("cpu_devices"), nb::arg("intra_threads"), nb::arg("inter_threads"), nb::arg("soft_placement"), nb::arg("log_device_placement"),
      nb::arg("config") = nb::bytes(""), nb::arg("jit") = false,
      "Before the first op; `config` is a ConfigProto, of which the optimizer's switches are read.");
  m.def("reset_devices_used", [] { devices_used.store(false); }, "Devices may be configured again; the context stays.");
  m.def("use_devices", use_devices, "The settings of the context are fixed from here on.");
  m.def("devices_used", [] { return devices_used.load(); });
  m.def(
      "set_optimizer", [](nb::bytes config, bool jit) { weft::set_optimizer(optimizer_options(config, jit)); }, nb::arg("config"), nb::arg("jit"),
      "For functions that are made from here on.");
  m.def("set_exact_results", runtime::set_exact_results, nb::arg("on"), "Whether results have the same bits with and without the compiler.");
  m.def("set_log_device_placement", [](bool on) { api::context().log_device_placement.store(on); });
  m.def("set_soft_placement", [](bool on) { api::context().soft_placement.store(on); });
  m.def("scoped_device", [] { return api::scoped_device(); });
  m.def("set_device", [](const std::string& device) { api::scoped_device() = device; }, "The device scope of this thread; empty: none.");
  m.def("resolve_device", [](const std::string& device) -> nb::object {
    Device* d = unwrap(used_context().devices().resolve(device, api::context().soft_placement.load()));
    return d ? nb::object(nb::str(d->name().c_str())) : nb::none();
  });
  m.def(
      "convert",
      [](nb::handle o, nb::handle dtype, nb::handle preferred, nb::handle name) {
        return nb::steal(convert(o.ptr(), dtype.is_none() ? DType::kInvalid : dtype_of(dtype.ptr()),
                                 preferred.is_none() ? DType::kInvalid : dtype_of(preferred.ptr()),
                                 name.is_none() ? nullptr : PyUnicode_AsUTF8(name.ptr())));
      },
      nb::arg("value").none(), nb::arg("dtype").none() = nb::none(), nb::arg("preferred").none() = nb::none(), nb::arg("name").none() = nb::none(),
      "As a tensor.");
  m.def(
      "convert_native",
      [](nb::handle o, nb::handle dtype) -> nb::object {
        Tensor t;
        if (!convert_native(o.ptr(), dtype.is_none() ? DType::kInvalid : dtype_of(dtype.ptr()), t)) return nb::none();
        return nb::steal(wrap(eager::TensorHandle::make(std::move(t), used_context().host())));
      },
      nb::arg("value").none(), nb::arg("dtype").none() = nb::none(), "An eager tensor of plain Python values or an array; None for what is neither.");
  m.def(
      "from_buffer",
      [](nb::handle o, nb::handle dtype, nb::handle shape) {
        auto dims = shape_of(shape.ptr()).concrete();
        if (!dims) raise(invalid_argument("the shape must be known"));
        Py_buffer view;
        if (PyObject_GetBuffer(o.ptr(), &view, PyBUF_SIMPLE) != 0) raise_current();
        struct Release {
          Py_buffer* v;
          ~Release() { PyBuffer_Release(v); }
        } release{&view};
        const DType type = dtype_of(dtype.ptr());
        if (!is_simple(type)) raise(invalid_argument("a tensor of ", dtype_name(type), " cannot be made from bytes"));
        Tensor t = unwrap(Tensor::allocate(type, *dims));
        if (t.byte_size() != size_t(view.len))
          raise(invalid_argument(int64_t(view.len), " bytes do not fill a ", dtype_name(type), " tensor of shape ", t.shape()));
        core::copy_by_parts(used_context().pool(), t.raw(), view.buf, size_t(view.len));
        return nb::steal(wrap(eager::TensorHandle::make(std::move(t), used_context().host())));
      },
      nb::arg("bytes"), nb::arg("dtype"), nb::arg("shape"), "A tensor with a copy of these bytes.");
  m.def(
      "borrow_buffer",
      [](nb::handle o, nb::handle dtype, nb::handle shape) {
        auto dims = shape_of(shape.ptr()).concrete();
        if (!dims) raise(invalid_argument("the shape must be known"));
        auto* view = new Py_buffer;
        if (PyObject_GetBuffer(o.ptr(), view, PyBUF_SIMPLE) != 0) {
          delete view;
          raise_current();
        }
        auto release = [](void*, size_t, void* arg) {
          const Locked lock;
          if (!lock) return;
          auto* v = static_cast<Py_buffer*>(arg);
          PyBuffer_Release(v);
          delete v;
        };
        const DType type = dtype_of(dtype.ptr());
        if (!is_simple(type) || size_t(view->len) != size_t(dims->num_elements()) * dtype_size(type)) {
          const auto len = int64_t(view->len);
          release(nullptr, 0, view);
          raise(invalid_argument(len, " bytes do not fill a ", dtype_name(type), " tensor of shape ", *dims));
        }
        Tensor t(type, *dims, Buffer::wrap(view->buf, size_t(view->len), release, view));
        return nb::steal(wrap(eager::TensorHandle::make(std::move(t), used_context().host())));
      },
      nb::arg("bytes"), nb::arg("dtype"), nb::arg("shape"), "A tensor on this memory, which must not change while it lives.");
  m.def("start_trace", start_trace, "From here on ops are noted with their times; False: they are already.");
  m.def("stop_trace", stop_trace, "What ran since: (node, op, device, start, end, thread, [(dtype, shape)]), in nanoseconds of the wall clock.");
  m.def(
      "serve_profiler",
      [](int port) {
        check(run_released(true, [&]() -> Status {
          WEFT_ASSIGN(std::unique_ptr<runtime::ServerNetwork> server, clusters().serve_profiler(port, trace_into));
          static auto* all = new std::vector<std::unique_ptr<runtime::ServerNetwork>>;  // they serve until the process ends
          static std::mutex mutex;
          std::lock_guard lock(mutex);
          all->push_back(std::move(server));
          return {};
        }));
      },
      nb::arg("port"), "From here on other processes may ask what ops this one runs, by TensorFlow's ProfilerService.");
  m.def(
      "cluster_call",
      [](const std::string& address, const std::string& method, nb::bytes request, double seconds) {
        Result<std::string> answer = std::string();
        check(run_released(true, [&, bytes = std::string(request.c_str(), request.size())] {
          answer = clusters().call(address, method, bytes, seconds);
          return answer.status();
        }));
        return nb::bytes(answer->data(), answer->size());
      },
      nb::arg("address"), nb::arg("method"), nb::arg("request"), nb::arg("seconds"), "The answer to a call of a server.");
  m.def("trace_thread", [] { return StepTrace::thread_number(); }, "This thread's number in traces.");
  m.def(
      "clear_kernels",
      [] {
        if (api::has_context()) api::context().clear_kernels();
        ops::restart_generators();
      },
      "Kernels of eager ops are made again, and those of functions with seeds start again.");
}

}  // namespace weft_engine::python
