// TF_Session: running graphs, and SavedModels loaded into them.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "capi/graph_internal.h"
#include "capi/session_internal.h"
#include "engine/engine.h"
#include "io/op_def.h"
#include "io/rewriter_config.h"
#include "io/run_metadata.h"
#include "runtime/partial_run.h"
#include "runtime/server.h"
#include "tensorflow/core/weft_abi.h"
#include "wire/proto.h"
#include "saved_model/loader.h"
#include "saved_model/model_folder.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;
using weft_engine::graph::Node;

TF_SessionOptions* TF_NewSessionOptions() {
  return guard_pointer<TF_SessionOptions>([] { return new TF_SessionOptions; });
}
void TF_DeleteSessionOptions(TF_SessionOptions* o) { delete o; }

void TF_SetTarget(TF_SessionOptions* o, const char* target) {
  if (o) o->target = target ? target : "";
}

void TF_SetConfig(TF_SessionOptions* o, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(o);
    if (length) WEFT_NOT_NULL(proto);
    const std::string_view bytes(static_cast<const char*>(proto), length);
    WEFT_ASSIGN(weft_engine::io::SessionConfig c, weft_engine::io::decode_config(bytes));
    WEFT_RETURN_IF_ERROR(weft_engine::engine::Engine::get().limit_gpu_memory(c.gpu_memory_fraction));
    WEFT_ASSIGN(o->options.disabled_passes, weft_engine::io::disabled_passes(bytes));
    o->options.auto_compile = weft_engine::io::wants_jit(bytes);
    o->options.config = bytes;
    o->options.cpu_devices = c.cpu_devices;
    o->options.intra_threads = c.intra_threads;
    o->options.inter_threads = c.inter_threads;
    o->options.log_device_placement = c.log_device_placement;
    o->options.allow_soft_placement = c.allow_soft_placement;
    o->options.timeout_ms = c.operation_timeout_ms;
    return {};
  });
}

namespace {

// The handle is a text, so that clients may copy it; it names the run inside its session.
struct PartialRuns {
  std::mutex mutex;
  struct Entry {
    TF_Session* session;
    std::shared_ptr<weft_engine::runtime::PartialRun> run;
  };
  std::map<std::string, Entry> runs;
  std::map<const char*, std::unique_ptr<char[]>> handles;  // until they are deleted, which may be after their session
  int64_t next = 0;
};
PartialRuns& partial_runs() {
  static auto* p = new PartialRuns;
  return *p;
}

// Where the options' target says: in this process, or by a master's.
Result<weft_engine::runtime::SessionOptions> placed(const TF_SessionOptions& o) {
  weft_engine::runtime::SessionOptions options = o.options;
  WEFT_ASSIGN(options.target, weft_engine::runtime::session_target(o.target));
  return options;
}

// Sessions of this process, for TF_Reset.
struct LiveSessions {
  std::mutex mutex;
  std::set<TF_Session*> all;
};
LiveSessions& live_sessions() {
  static auto* s = new LiveSessions;
  return *s;
}

TF_Session* attach(TF_Graph* graph, std::unique_ptr<weft_engine::runtime::Session> session) {
  auto* s = new TF_Session{graph, std::move(session)};
  attach_session(graph, s);
  std::lock_guard lock(live_sessions().mutex);
  live_sessions().all.insert(s);
  return s;
}

// RunOptions: trace_level 1, timeout_in_ms 2; output_partition_graphs is read where the metadata is written.
struct Run {
  int64_t timeout_ms = 0;
  bool trace = false;
};
Result<Run> decode_run_options(const TF_Buffer* b) {
  Run run;
  if (!b || !b->length) return run;
  WEFT_NOT_NULL(b->data);
  weft_engine::wire::ProtoReader r({static_cast<const char*>(b->data), b->length});
  while (r.next()) {
    if (r.field() == 1) run.trace = r.varint() != 0;
    if (r.field() == 2) run.timeout_ms = r.int64();
  }
  if (!r.ok()) return invalid_argument("Unparseable RunOptions proto");
  return run;
}

// Most steps have few feeds and fetches; these stay on the stack.
template <class T, size_t kN>
class Small {
 public:
  explicit Small(int n) : n_(size_t(n)) {
    if (n_ > kN) heap_.resize(n_);
  }
  T* data() { return n_ > kN ? heap_.data() : stack_; }
  T& operator[](size_t i) { return data()[i]; }
  std::span<T> span() { return {data(), n_}; }

 private:
  size_t n_;
  T stack_[kN];
  std::vector<T> heap_;
};

// The engine would hand the value through; TensorFlow's sessions refuse it.
Status check_not_fed(std::span<const Endpoint> feeds, std::span<const Endpoint> fetches) {
  for (const Endpoint& fetch : fetches) {
    for (const Endpoint& feed : feeds) {
      if (feed == fetch) return invalid_argument(fetch.node->name(), ":", fetch.index, " is both fed and fetched.");
    }
  }
  return {};
}

Status run_session(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
                   const TF_Output* outputs, TF_Tensor** output_values, int noutputs, const TF_Operation* const* targets, int ntargets,
                   TF_Buffer* run_metadata) {
  WEFT_NOT_NULL(session);
  if (ninputs < 0 || noutputs < 0 || ntargets < 0) return invalid_argument("a negative number of inputs, outputs or targets");
  if (ninputs && (!inputs || !input_values)) return invalid_argument(ninputs, " inputs without an array of nodes or of values");
  if (noutputs && (!outputs || !output_values)) return invalid_argument(noutputs, " outputs without an array of nodes or of values");
  if (ntargets && !targets) return invalid_argument(ntargets, " targets without an array");
  if (run_metadata && run_metadata->data) return invalid_argument("Passing non-empty run_metadata is invalid.");
  for (int i = 0; i < noutputs; ++i) output_values[i] = nullptr;
  Small<Endpoint, 4> feeds(ninputs), fetches(noutputs);
  Small<weft_engine::core::Tensor, 4> values(ninputs), results(noutputs);
  Small<Node*, 4> wanted(ntargets);
  for (int i = 0; i < ninputs; ++i) {
    WEFT_NOT_NULL(inputs[i].oper);
    WEFT_NOT_NULL(input_values[i]);
    feeds[size_t(i)] = unwrap(inputs[i]);
    values[size_t(i)] = input_values[i]->tensor;
  }
  for (int i = 0; i < noutputs; ++i) {
    WEFT_NOT_NULL(outputs[i].oper);
    fetches[size_t(i)] = unwrap(outputs[i]);
  }
  for (int i = 0; i < ntargets; ++i) {
    WEFT_NOT_NULL(targets[i]);
    wanted[size_t(i)] = const_cast<Node*>(unwrap(targets[i]));
  }
  WEFT_RETURN_IF_ERROR(check_not_fed(feeds.span(), fetches.span()));
  weft_engine::runtime::Session::RunOptions options;
  bool trace = false;
  if (run_options && run_options->length) {
    WEFT_ASSIGN(Run run, decode_run_options(run_options));
    options.timeout_ms = run.timeout_ms;
    options.proto = {static_cast<const char*>(run_options->data), run_options->length};
    trace = run.trace;
  }
  weft_engine::op::StepTrace steps;
  std::string metadata;  // of a session elsewhere
  if (trace && run_metadata) options.trace = &steps;
  if (run_metadata) options.metadata = &metadata;
  WEFT_RETURN_IF_ERROR(session->session->run(feeds.span(), values.span(), fetches.span(), results.span(), wanted.span(), options));
  if (run_metadata && !session->session->remote()) {
    std::vector<std::string> graphs;
    if (weft_engine::io::wants_partition_graphs(options.proto)) {
      WEFT_ASSIGN(auto instance, session->session->prepare(feeds.span(), fetches.span(), wanted.span()));
      WEFT_ASSIGN(auto placed, instance->optimized({}));
      WEFT_ASSIGN(std::string def, weft_engine::io::encode_placed_graph(*placed.graph));
      graphs.push_back(std::move(def));
    }
    metadata = weft_engine::io::encode_run_metadata(steps.take(), graphs);
  }
  if (run_metadata) fill_buffer(run_metadata, metadata);
  for (int i = 0; i < noutputs; ++i) output_values[i] = new TF_Tensor{std::move(results[size_t(i)])};
  return {};
}

}  // namespace

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* options, TF_Status* status) {
  TF_Session* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    WEFT_NOT_NULL(options);
    WEFT_ASSIGN(weft_engine::runtime::SessionOptions where, placed(*options));
    out = attach(graph, std::make_unique<weft_engine::runtime::Session>(graph->graph, graph->mutex, where));
    return {};
  });
  return out;
}

TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* options, const TF_Buffer* run_options, const char* export_dir,
                                         const char* const* tags, int tags_len, TF_Graph* graph, TF_Buffer* meta_graph_def, TF_Status* status) {
  TF_Session* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(options);
    WEFT_NOT_NULL(export_dir);
    WEFT_NOT_NULL(graph);
    WEFT_RETURN_IF_ERROR(decode_run_options(run_options).status());
    {
      std::lock_guard lock(graph->mutex);
      if (graph->graph.num_nodes() > 0) return invalid_argument("Graph is non-empty.");
    }
    std::vector<std::string> wanted;
    if (tags_len > 0) WEFT_NOT_NULL(tags);
    for (int i = 0; i < tags_len; ++i) {
      WEFT_NOT_NULL(tags[i]);
      wanted.push_back(tags[i]);
    }
    const weft_engine::saved_model::FolderIdentity folder(export_dir);
    WEFT_ASSIGN(weft_engine::saved_model::MetaGraph meta, weft_engine::saved_model::read_meta_graph(export_dir, wanted));
    WEFT_ASSIGN(weft_engine::runtime::SessionOptions where, placed(*options));
    WEFT_ASSIGN(auto session, weft_engine::saved_model::load(graph->graph, graph->mutex, meta, export_dir, where));
    if (weft_engine::saved_model::FolderIdentity(export_dir) != folder)
      return weft_engine::core::aborted(export_dir, " was replaced by another SavedModel while it was loaded");
    if (meta_graph_def) fill_buffer(meta_graph_def, meta.bytes);
    out = attach(graph, std::move(session));
    return {};
  });
  return out;
}

void TF_CloseSession(TF_Session* s, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(s);
    return s->session->close();
  });
}

void TF_DeleteSession(TF_Session* s, TF_Status* status) {
  guard(status, [&]() -> Status {
    if (!s) return {};
    TF_Graph* graph = s->graph;
    {
      std::lock_guard lock(live_sessions().mutex);
      live_sessions().all.erase(s);
    }
    {
      std::lock_guard lock(partial_runs().mutex);
      std::erase_if(partial_runs().runs, [&](const auto& r) { return r.second.session == s; });
    }
    s->session.reset();
    if (graph) detach_session(graph, s);
    delete s;
    return {};
  });
}

// Sessions of this process share nothing, so that the state of a container ends with the sessions that have it; TensorFlow closes them, too. A master
// forgets its sessions and clears the containers of its cluster.
void TF_Reset(const TF_SessionOptions* options, const char** containers, int ncontainers, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(options);
    if (ncontainers > 0) WEFT_NOT_NULL(containers);
    for (int i = 0; i < ncontainers; ++i) WEFT_NOT_NULL(containers[i]);
    WEFT_ASSIGN(const auto where, placed(*options));
    if (const auto* there = where.target.empty() ? nullptr : weft_engine::runtime::remote_sessions())
      return there->reset(where.target, {containers, containers + ncontainers}, where.config);
    std::lock_guard lock(live_sessions().mutex);
    for (TF_Session* s : live_sessions().all) WEFT_RETURN_IF_ERROR(s->session->close());
    return {};
  });
}

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
                   const TF_Output* outputs, TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers, int ntargets,
                   TF_Buffer* run_metadata, TF_Status* status) {
  guard(status, [&] {
    return run_session(session, run_options, inputs, input_values, ninputs, outputs, output_values, noutputs, target_opers, ntargets, run_metadata);
  });
}

// ---- partial runs ----

namespace {

Status check_endpoints(TF_Session* session, const TF_Output* outputs, int n, std::vector<Endpoint>& out) {
  if (n < 0 || (n > 0 && !outputs)) return invalid_argument(n, " inputs or outputs without an array of nodes");
  std::lock_guard lock(session->graph->mutex);
  for (int i = 0; i < n; ++i) {
    WEFT_RETURN_IF_ERROR(check_output(*session->graph, outputs[i]));
    out.push_back(unwrap(outputs[i]));
  }
  return {};
}

Status check_targets(TF_Session* session, const TF_Operation* const* targets, int n, std::vector<Node*>& out) {
  if (n < 0 || (n > 0 && !targets)) return invalid_argument(n, " targets without an array of nodes");
  std::lock_guard lock(session->graph->mutex);
  for (int i = 0; i < n; ++i) {
    WEFT_NOT_NULL(targets[i]);
    const Node* node = unwrap(targets[i]);
    if (!holds(*session->graph, node)) return invalid_argument("Target ", node->name(), " was not found in the Graph");
    out.push_back(const_cast<Node*>(node));
  }
  return {};
}

}  // namespace

void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs, int ninputs, const TF_Output* outputs, int noutputs,
                         const TF_Operation* const* target_opers, int ntargets, const char** handle, TF_Status* status) {
  if (handle) *handle = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    WEFT_NOT_NULL(handle);
    std::vector<Endpoint> feeds, fetches;
    std::vector<Node*> targets;
    WEFT_RETURN_IF_ERROR(check_endpoints(session, inputs, ninputs, feeds));
    WEFT_RETURN_IF_ERROR(check_endpoints(session, outputs, noutputs, fetches));
    WEFT_RETURN_IF_ERROR(check_targets(session, target_opers, ntargets, targets));
    for (size_t i = 0; i < feeds.size(); ++i) {
      if (std::find(feeds.begin(), feeds.begin() + ptrdiff_t(i), feeds[i]) != feeds.begin() + ptrdiff_t(i))
        return invalid_argument("Endpoint \"", feeds[i].node->name(), ":", feeds[i].index, "\" fed more than once.");
    }
    WEFT_RETURN_IF_ERROR(check_not_fed(feeds, fetches));
    auto run = std::make_shared<weft_engine::runtime::PartialRun>(*session->session, std::move(feeds), std::move(fetches), std::move(targets));
    PartialRuns& all = partial_runs();
    std::lock_guard lock(all.mutex);
    const std::string name = cat("partial_run;", all.next++);
    auto copy = std::make_unique<char[]>(name.size() + 1);
    std::memcpy(copy.get(), name.c_str(), name.size() + 1);
    all.runs[name] = {session, std::move(run)};
    *handle = copy.get();
    all.handles[*handle] = std::move(copy);
    return {};
  });
}

void TF_SessionPRun(TF_Session* session, const char* handle, const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
                    const TF_Output* outputs, TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers, int ntargets,
                    TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    if (ninputs > 0) WEFT_NOT_NULL(input_values);
    if (noutputs > 0) WEFT_NOT_NULL(output_values);
    for (int i = 0; i < noutputs; ++i) output_values[i] = nullptr;
    if (!handle) return invalid_argument("Must run 'setup' before performing partial runs!");
    std::shared_ptr<weft_engine::runtime::PartialRun> run;
    {
      std::lock_guard lock(partial_runs().mutex);
      auto it = partial_runs().runs.find(handle);
      if (it == partial_runs().runs.end() || it->second.session != session)
        return invalid_argument("Must run 'setup' before performing partial runs!");
      run = it->second.run;
    }
    std::vector<Endpoint> feeds, fetches;
    std::vector<Node*> targets;
    WEFT_RETURN_IF_ERROR(check_endpoints(session, inputs, ninputs, feeds));
    WEFT_RETURN_IF_ERROR(check_endpoints(session, outputs, noutputs, fetches));
    WEFT_RETURN_IF_ERROR(check_targets(session, target_opers, ntargets, targets));
    std::vector<weft_engine::core::Tensor> values, results(fetches.size());
    for (int i = 0; i < ninputs; ++i) {
      WEFT_NOT_NULL(input_values[i]);
      values.push_back(input_values[i]->tensor);
    }
    WEFT_RETURN_IF_ERROR(run->run(feeds, values, fetches, results, targets));
    for (int i = 0; i < noutputs; ++i) output_values[i] = new TF_Tensor{std::move(results[size_t(i)])};
    return {};
  });
}

// One that is not there, or was deleted before, is left alone.
void TF_DeletePRunHandle(const char* handle) {
  guard(nullptr, [&]() -> Status {
    std::lock_guard lock(partial_runs().mutex);
    const auto it = partial_runs().handles.find(handle);
    if (it == partial_runs().handles.end()) return {};
    partial_runs().runs.erase(handle);
    partial_runs().handles.erase(it);
    return {};
  });
}

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) {
  TF_DeviceList* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    WEFT_ASSIGN(const weft_engine::core::DeviceSet* devices, session->session->list_devices());
    out = new TF_DeviceList;
    for (const auto& d : devices->all()) out->devices.push_back(d.get());
    return {};
  });
  return out;
}

// ---- callables of sessions elsewhere

namespace {

Status at_master(TF_Session* session, weft_engine::runtime::RemoteSession** out) {
  WEFT_NOT_NULL(session);
  *out = session->session->remote();
  if (!*out) return failed_precondition("the session runs in this process: no master keeps callables of it");
  if (session->session->closed()) return cancelled("Session has been closed.");
  return {};
}

}  // namespace

int weft_session_is_remote(const TF_Session* session) { return session && session->session->remote(); }

void weft_session_make_callable(TF_Session* session, weft_text options, int64_t* callable, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(callable);
    weft_engine::runtime::RemoteSession* master = nullptr;
    WEFT_RETURN_IF_ERROR(at_master(session, &master));
    WEFT_ASSIGN(*callable, master->make_callable(std::string(options.data, options.size)));
    return {};
  });
}

void weft_session_run_callable(TF_Session* session, int64_t callable, TF_Tensor* const* feeds, int num_feeds, TF_Tensor** fetches, int num_fetches,
                               TF_Buffer* metadata, TF_Status* status) {
  guard(status, [&]() -> Status {
    weft_engine::runtime::RemoteSession* master = nullptr;
    WEFT_RETURN_IF_ERROR(at_master(session, &master));
    std::vector<weft_engine::core::Tensor> fed, results;
    for (int i = 0; i < num_feeds; ++i) {
      WEFT_NOT_NULL(feeds[i]);
      fed.push_back(feeds[i]->tensor);
    }
    std::string serialized;
    WEFT_RETURN_IF_ERROR(master->run_callable(callable, fed, results, metadata ? &serialized : nullptr, nullptr));
    if (results.size() != size_t(num_fetches))
      return internal_error("the master gave ", results.size(), " values for ", num_fetches, " fetches of a callable");
    if (metadata) fill_buffer(metadata, serialized);
    for (int i = 0; i < num_fetches; ++i) fetches[i] = new TF_Tensor{std::move(results[size_t(i)])};
    return {};
  });
}

void weft_session_release_callable(TF_Session* session, int64_t callable, TF_Status* status) {
  guard(status, [&]() -> Status {
    weft_engine::runtime::RemoteSession* master = nullptr;
    WEFT_RETURN_IF_ERROR(at_master(session, &master));
    return master->release_callable(callable);
  });
}
