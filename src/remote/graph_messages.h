// The messages of MasterService and of the graph half of WorkerService, as plain structs. Names and numbers are TensorFlow's.
// Decoders take bytes from strangers: InvalidArgument for what is malformed. Views lie in the bytes that were decoded.
#pragma once

#include "remote/messages.h"

namespace weft_engine::remote {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// ---- what both services use

// The answer to one field of text or number, and requests that are no more than that.
std::string encode_text(int field, std::string_view text);
std::string decode_text(int field, std::string_view bytes);
std::vector<std::string> decode_texts(int field, std::string_view bytes);
int64_t decode_number(int field, std::string_view bytes);
std::string encode_number(int field, int64_t number);

// What is read of a ConfigProto.
struct ClusterConfig {
  std::vector<std::string> device_filters;
  int64_t operation_timeout_ms = 0;
  bool isolate_session_state = false;
  ClusterMap cluster;  // of the session alone; empty: the master's
};
Result<ClusterConfig> decode_cluster_config(std::string_view config_proto);

struct RunOptions {
  bool trace = false, partition_graphs = false;
  int64_t timeout_ms = 0;
};
Result<RunOptions> decode_run_options(std::string_view bytes);

// ---- WorkerService

struct CreateWorkerSession {
  std::string session, master_task;
  ServerDef server_def;
  bool isolate_state = false;
  uint64_t master_incarnation = 0;
};
Result<CreateWorkerSession> decode_create_worker_session(std::string_view bytes);
std::string encode_create_worker_session(const CreateWorkerSession& request);

struct RegisterGraph {
  std::string session, graph_def, config;
  bool session_was_created = true;
};
Result<RegisterGraph> decode_register_graph(std::string_view bytes);
std::string encode_register_graph(const RegisterGraph& request);

struct RunGraph {
  std::string graph, session;
  int64_t step_id = 0, request_id = 0;
  std::vector<NamedTensor> send;
  std::vector<std::string> recv_keys;
  bool trace = false, partition_graphs = false;
  bool is_partial = false, is_last_partial = false, errors_in_body = false, session_was_created = true;
};
Result<RunGraph> decode_run_graph(std::string_view bytes);
Result<Message> encode_run_graph(const RunGraph& request);

struct RunGraphResult {
  std::vector<NamedTensor> recv;
  std::string step_stats;  // serialized
  std::vector<std::string> partition_graphs;
  Status status;  // where errors are in the body
};
Result<Message> encode_run_graph_result(const RunGraphResult& result);
Result<RunGraphResult> decode_run_graph_result(std::string_view bytes);

// ---- MasterService

struct CreateSession {
  std::string graph_def, config, target;
};
Result<CreateSession> decode_create_session(std::string_view bytes);
std::string encode_create_session(const CreateSession& request);

struct ExtendSession {
  std::string session, graph_def;
  int64_t version = 0;
};
Result<ExtendSession> decode_extend_session(std::string_view bytes);
std::string encode_extend_session(const ExtendSession& request);

struct RunStep {
  std::string session, options, partial_run;
  std::vector<NamedTensor> feeds;
  std::vector<std::string> fetches, targets;
  bool errors_in_body = false;
  int64_t request_id = 0;
};
Result<RunStep> decode_run_step(std::string_view bytes);
Result<Message> encode_run_step(const RunStep& request);

struct RunStepResult {
  std::vector<NamedTensor> tensors;
  std::string metadata;  // a serialized RunMetadata
  Status status;
};
Result<Message> encode_run_step_result(const RunStepResult& result);
Result<RunStepResult> decode_run_step_result(std::string_view bytes);

struct PartialRunSetup {
  std::string session;
  std::vector<std::string> feeds, fetches, targets;
  int64_t request_id = 0;
};
Result<PartialRunSetup> decode_partial_run_setup(std::string_view bytes);
std::string encode_partial_run_setup(const PartialRunSetup& request);

struct MakeCallable {
  std::string session;
  std::vector<std::string> feeds, fetches, targets;
  std::string run_options;
  std::vector<std::pair<std::string, std::string>> connections;  // from, to
};
Result<MakeCallable> decode_make_callable(std::string_view bytes);
// `options`: a serialized CallableOptions.
std::string encode_make_callable(const std::string& session, const std::string& options, int64_t request_id);

struct RunCallable {
  std::string session;
  int64_t handle = 0;
  std::vector<Tensor> feeds;
};
Result<RunCallable> decode_run_callable(std::string_view bytes);
Result<Message> encode_run_callable(const std::string& session, int64_t handle, std::span<const Tensor> feeds, int64_t request_id);
Status decode_run_callable_result(std::string_view bytes, std::vector<Tensor>& fetches, std::string* metadata);
std::string encode_release_callable(const std::string& session, int64_t handle);
Result<Message> encode_run_callable_result(const std::vector<Tensor>& fetches, const std::string& metadata);

// A RunMetadata of the parts' StepStats and graphs.
std::string encode_metadata(const std::string& step_stats, const std::vector<std::string>& partition_graphs);
// The StepStats inside of a RunMetadata.
std::string step_stats_of(std::string_view run_metadata);

}  // namespace weft_engine::remote
