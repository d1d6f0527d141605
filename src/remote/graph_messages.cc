#include "remote/graph_messages.h"

#include "remote/read_message.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote {

using wire::ProtoReader;
using wire::ProtoWriter;

namespace {

Result<NamedTensor> decode_named_tensor(std::string_view bytes) {
  NamedTensor out;
  bool any = false;
  WEFT_RETURN_IF_ERROR(read_message("NamedTensorProto", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.name = r.string();
    if (r.field() == 2) {
      WEFT_ASSIGN(out.tensor, wire::decode_tensor(r.bytes()));
      any = true;
    }
    return {};
  }));
  if (!any) return malformed("NamedTensorProto");
  return out;
}

Status append_named(Message& out, int field, const NamedTensor& t) {
  ProtoWriter name;
  name.bytes(1, t.name);
  Message item(name.take());
  WEFT_ASSIGN(Message tensor, tensor_message(t.tensor));
  item.append_field(2, std::move(tensor));
  out.append_field(field, std::move(item));
  return {};
}

void write_texts(ProtoWriter& w, int field, const std::vector<std::string>& texts) {
  for (const std::string& t : texts) w.bytes(field, t);
}

void write_text(ProtoWriter& w, int field, const std::string& text) {
  if (!text.empty()) w.bytes(field, text);
}

void write_error(ProtoWriter& w, int field, const Status& s) {
  if (s.ok()) return;
  w.varint(field, uint64_t(s.code()));
  w.bytes(field + 1, s.message());
}

Status error_of(uint64_t code, std::string message) {
  if (code == 0) return {};
  return Status(code <= uint64_t(Code::kUnauthenticated) ? Code(code) : Code::kUnknown, std::move(message));
}

}  // namespace

std::string encode_text(int field, std::string_view text) {
  ProtoWriter w;
  w.bytes(field, text);
  return w.take();
}

std::vector<std::string> decode_texts(int field, std::string_view bytes) {
  std::vector<std::string> out;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == field) out.push_back(r.string());
  }
  return out;
}

std::string decode_text(int field, std::string_view bytes) {
  const std::vector<std::string> all = decode_texts(field, bytes);
  return all.empty() ? std::string() : all.back();
}

int64_t decode_number(int field, std::string_view bytes) {
  int64_t out = 0;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == field) out = r.int64();
  }
  return out;
}

std::string encode_number(int field, int64_t number) {
  ProtoWriter w;
  if (number) w.int64(field, number);
  return w.take();
}

Result<ClusterConfig> decode_cluster_config(std::string_view bytes) {
  ClusterConfig out;
  WEFT_RETURN_IF_ERROR(read_message("ConfigProto", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 4: out.device_filters.push_back(r.string()); break;
      case 11: out.operation_timeout_ms = r.int64(); break;
      case 14: {
        WEFT_ASSIGN(out.cluster, decode_cluster(r.bytes()));
        break;
      }
      case 15: out.isolate_session_state = r.boolean(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

Result<RunOptions> decode_run_options(std::string_view bytes) {
  RunOptions out;
  WEFT_RETURN_IF_ERROR(read_message("RunOptions", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.trace = r.varint() != 0; break;
      case 2: out.timeout_ms = r.int64(); break;
      case 5: out.partition_graphs = r.boolean(); break;
      default: break;
    }
  }));
  return out;
}

// ---- WorkerService

Result<CreateWorkerSession> decode_create_worker_session(std::string_view bytes) {
  CreateWorkerSession out;
  WEFT_RETURN_IF_ERROR(read_message("CreateWorkerSessionRequest", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.session = r.string(); break;
      case 2: {
        WEFT_ASSIGN(out.server_def, decode_server_def(r.bytes()));
        break;
      }
      case 3: out.isolate_state = r.boolean(); break;
      case 5: out.master_task = r.string(); break;
      case 6: out.master_incarnation = r.varint(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

std::string encode_create_worker_session(const CreateWorkerSession& request) {
  ProtoWriter w, def;
  w.bytes(1, request.session);
  if (request.server_def.cluster.empty()) {  // of the server only who it is: its cluster stays as it knows it
    def.bytes(2, request.server_def.job);
    if (request.server_def.task) def.int64(3, request.server_def.task);
    if (!request.server_def.config.empty()) def.bytes(4, request.server_def.config);
    def.bytes(5, request.server_def.protocol);
    w.message(2, def);
  } else {
    w.bytes(2, encode_server_def(request.server_def));
  }
  if (request.isolate_state) w.boolean(3, true);
  w.bytes(5, request.master_task);
  w.varint(6, request.master_incarnation);
  return w.take();
}

Result<RegisterGraph> decode_register_graph(std::string_view bytes) {
  RegisterGraph out;
  out.session_was_created = false;
  WEFT_RETURN_IF_ERROR(read_message("RegisterGraphRequest", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.session = r.string(); break;
      case 2: out.graph_def = r.string(); break;
      case 6: out.session_was_created = r.boolean(); break;
      case 8: out.config = r.string(); break;
      default: break;
    }
  }));
  return out;
}

std::string encode_register_graph(const RegisterGraph& request) {
  ProtoWriter w;
  w.bytes(1, request.session);
  w.bytes(2, request.graph_def);
  w.boolean(6, request.session_was_created);
  write_text(w, 8, request.config);
  return w.take();
}

Result<RunGraph> decode_run_graph(std::string_view bytes) {
  RunGraph out;
  out.session_was_created = false;
  WEFT_RETURN_IF_ERROR(read_message("RunGraphRequest", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.graph = r.string(); break;
      case 2: out.step_id = r.int64(); break;
      case 3: {
        WEFT_ASSIGN(NamedTensor t, decode_named_tensor(r.bytes()));
        out.send.push_back(std::move(t));
        break;
      }
      case 4: out.recv_keys.push_back(r.string()); break;
      case 5: {
        WEFT_RETURN_IF_ERROR(read_message("ExecutorOpts", r.bytes(), [&](ProtoReader& options) {
          if (options.field() == 3) out.trace = options.boolean();
          if (options.field() == 4) out.partition_graphs = options.boolean();
        }));
        break;
      }
      case 6: out.is_partial = r.boolean(); break;
      case 7: out.is_last_partial = r.boolean(); break;
      case 8: out.session = r.string(); break;
      case 9: out.errors_in_body = r.boolean(); break;
      case 10: out.session_was_created = r.boolean(); break;
      case 11: out.request_id = r.int64(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

Result<Message> encode_run_graph(const RunGraph& request) {
  ProtoWriter w, options;
  w.bytes(1, request.graph);
  w.int64(2, request.step_id);
  write_texts(w, 4, request.recv_keys);
  if (request.trace) options.boolean(3, true);
  if (request.partition_graphs) options.boolean(4, true);
  w.message(5, options);
  if (request.is_partial) w.boolean(6, true);
  if (request.is_last_partial) w.boolean(7, true);
  w.bytes(8, request.session);
  w.boolean(9, request.errors_in_body);
  w.boolean(10, request.session_was_created);
  w.int64(11, request.request_id);
  Message out(w.take());
  for (const NamedTensor& t : request.send) WEFT_RETURN_IF_ERROR(append_named(out, 3, t));
  return out;
}

Result<Message> encode_run_graph_result(const RunGraphResult& result) {
  ProtoWriter w;
  write_text(w, 2, result.step_stats);
  write_texts(w, 4, result.partition_graphs);
  write_error(w, 5, result.status);
  Message out(w.take());
  for (const NamedTensor& t : result.recv) WEFT_RETURN_IF_ERROR(append_named(out, 1, t));
  return out;
}

Result<RunGraphResult> decode_run_graph_result(std::string_view bytes) {
  RunGraphResult out;
  uint64_t code = 0;
  std::string message;
  WEFT_RETURN_IF_ERROR(read_message("RunGraphResponse", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(NamedTensor t, decode_named_tensor(r.bytes()));
        out.recv.push_back(std::move(t));
        break;
      }
      case 2: out.step_stats = r.string(); break;
      case 4: out.partition_graphs.push_back(r.string()); break;
      case 5: code = r.varint(); break;
      case 6: message = r.string(); break;
      default: break;
    }
    return {};
  }));
  out.status = error_of(code, std::move(message));
  return out;
}

// ---- MasterService

Result<CreateSession> decode_create_session(std::string_view bytes) {
  CreateSession out;
  WEFT_RETURN_IF_ERROR(read_message("CreateSessionRequest", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) out.graph_def = r.string();
    if (r.field() == 2) out.config = r.string();
    if (r.field() == 3) out.target = r.string();
  }));
  return out;
}

std::string encode_create_session(const CreateSession& request) {
  ProtoWriter w;
  w.bytes(1, request.graph_def);
  w.bytes(2, request.config);
  w.bytes(3, request.target);
  return w.take();
}

Result<ExtendSession> decode_extend_session(std::string_view bytes) {
  ExtendSession out;
  WEFT_RETURN_IF_ERROR(read_message("ExtendSessionRequest", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) out.session = r.string();
    if (r.field() == 2) out.graph_def = r.string();
    if (r.field() == 3) out.version = r.int64();
  }));
  return out;
}

std::string encode_extend_session(const ExtendSession& request) {
  ProtoWriter w;
  w.bytes(1, request.session);
  w.bytes(2, request.graph_def);
  w.int64(3, request.version);
  return w.take();
}

Result<RunStep> decode_run_step(std::string_view bytes) {
  RunStep out;
  WEFT_RETURN_IF_ERROR(read_message("RunStepRequest", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.session = r.string(); break;
      case 2: {
        WEFT_ASSIGN(NamedTensor t, decode_named_tensor(r.bytes()));
        out.feeds.push_back(std::move(t));
        break;
      }
      case 3: out.fetches.push_back(r.string()); break;
      case 4: out.targets.push_back(r.string()); break;
      case 5: out.options = r.string(); break;
      case 6: out.partial_run = r.string(); break;
      case 7: out.errors_in_body = r.boolean(); break;
      case 8: out.request_id = r.int64(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

Result<Message> encode_run_step(const RunStep& request) {
  ProtoWriter w;
  w.bytes(1, request.session);
  write_texts(w, 3, request.fetches);
  write_texts(w, 4, request.targets);
  w.bytes(5, request.options);
  write_text(w, 6, request.partial_run);
  w.boolean(7, request.errors_in_body);
  w.int64(8, request.request_id);
  Message out(w.take());
  for (const NamedTensor& t : request.feeds) WEFT_RETURN_IF_ERROR(append_named(out, 2, t));
  return out;
}

Result<Message> encode_run_step_result(const RunStepResult& result) {
  ProtoWriter w;
  w.bytes(2, result.metadata);
  write_error(w, 3, result.status);
  Message out(w.take());
  for (const NamedTensor& t : result.tensors) WEFT_RETURN_IF_ERROR(append_named(out, 1, t));
  return out;
}

Result<RunStepResult> decode_run_step_result(std::string_view bytes) {
  RunStepResult out;
  uint64_t code = 0;
  std::string message;
  WEFT_RETURN_IF_ERROR(read_message("RunStepResponse", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(NamedTensor t, decode_named_tensor(r.bytes()));
        out.tensors.push_back(std::move(t));
        break;
      }
      case 2: out.metadata = r.string(); break;
      case 3: code = r.varint(); break;
      case 4: message = r.string(); break;
      default: break;
    }
    return {};
  }));
  out.status = error_of(code, std::move(message));
  return out;
}

Result<PartialRunSetup> decode_partial_run_setup(std::string_view bytes) {
  PartialRunSetup out;
  WEFT_RETURN_IF_ERROR(read_message("PartialRunSetupRequest", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.session = r.string(); break;
      case 2: out.feeds.push_back(r.string()); break;
      case 3: out.fetches.push_back(r.string()); break;
      case 4: out.targets.push_back(r.string()); break;
      case 5: out.request_id = r.int64(); break;
      default: break;
    }
  }));
  return out;
}

std::string encode_partial_run_setup(const PartialRunSetup& request) {
  ProtoWriter w;
  w.bytes(1, request.session);
  write_texts(w, 2, request.feeds);
  write_texts(w, 3, request.fetches);
  write_texts(w, 4, request.targets);
  w.int64(5, request.request_id);
  return w.take();
}

Result<MakeCallable> decode_make_callable(std::string_view bytes) {
  MakeCallable out;
  WEFT_RETURN_IF_ERROR(read_message("MakeCallableRequest", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.session = r.string();
    if (r.field() != 2) return {};
    return read_message("CallableOptions", r.bytes(), [&](ProtoReader& o) -> Status {
      switch (o.field()) {
        case 1: out.feeds.push_back(o.string()); break;
        case 2: out.fetches.push_back(o.string()); break;
        case 3: out.targets.push_back(o.string()); break;
        case 4: out.run_options = o.string(); break;
        case 5: {
          auto& [from, to] = out.connections.emplace_back();
          WEFT_RETURN_IF_ERROR(read_message("TensorConnection", o.bytes(), [&](ProtoReader& c) {
            if (c.field() == 1) from = c.string();
            if (c.field() == 2) to = c.string();
          }));
          break;
        }
        default: break;
      }
      return {};
    });
  }));
  return out;
}

std::string encode_make_callable(const std::string& session, const std::string& options, int64_t request_id) {
  ProtoWriter w;
  w.bytes(1, session);
  w.bytes(2, options);
  w.int64(3, request_id);
  return w.take();
}

Result<Message> encode_run_callable(const std::string& session, int64_t handle, std::span<const Tensor> feeds, int64_t request_id) {
  ProtoWriter w;
  w.bytes(1, session);
  w.int64(2, handle);
  w.int64(4, request_id);
  Message out(w.take());
  for (const Tensor& t : feeds) {
    WEFT_ASSIGN(Message tensor, tensor_message(t));
    out.append_field(3, std::move(tensor));
  }
  return out;
}

Status decode_run_callable_result(std::string_view bytes, std::vector<Tensor>& fetches, std::string* metadata) {
  return read_message("RunCallableResponse", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) {
      WEFT_ASSIGN(Tensor t, wire::decode_tensor(r.bytes()));
      fetches.push_back(std::move(t));
    }
    if (r.field() == 2 && metadata) *metadata = r.string();
    return {};
  });
}

std::string encode_release_callable(const std::string& session, int64_t handle) {
  ProtoWriter w;
  w.bytes(1, session);
  w.int64(2, handle);
  return w.take();
}

Result<RunCallable> decode_run_callable(std::string_view bytes) {
  RunCallable out;
  WEFT_RETURN_IF_ERROR(read_message("RunCallableRequest", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.session = r.string(); break;
      case 2: out.handle = r.int64(); break;
      case 3: {
        WEFT_ASSIGN(Tensor t, wire::decode_tensor(r.bytes()));
        out.feeds.push_back(std::move(t));
        break;
      }
      default: break;
    }
    return {};
  }));
  return out;
}

Result<Message> encode_run_callable_result(const std::vector<Tensor>& fetches, const std::string& metadata) {
  ProtoWriter w;
  w.bytes(2, metadata);
  Message out(w.take());
  for (const Tensor& t : fetches) {
    WEFT_ASSIGN(Message tensor, tensor_message(t));
    out.append_field(1, std::move(tensor));
  }
  return out;
}

std::string encode_metadata(const std::string& step_stats, const std::vector<std::string>& partition_graphs) {
  ProtoWriter w;
  write_text(w, 1, step_stats);
  write_texts(w, 3, partition_graphs);
  return w.take();
}

std::string step_stats_of(std::string_view run_metadata) { return decode_text(1, run_metadata); }

}  // namespace weft_engine::remote
