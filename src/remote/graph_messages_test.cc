#include "remote/graph_messages.h"

#include <doctest/doctest.h>

#include "wire/proto.h"

using namespace weft_engine;          // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

Tensor numbers() { return Tensor::vector(std::vector<float>{1, 2, 3}); }

// Every beginning of a message is read as a shorter message or refused; nothing else happens.
template <class Decode>
void check_cut(std::string_view bytes, Decode decode) {
  for (size_t n = 0; n < bytes.size(); ++n) {
    auto read = decode(bytes.substr(0, n));
    if (!read.ok()) CHECK(read.status().code() == core::Code::kInvalidArgument);
  }
  std::string damaged(bytes);
  for (char& c : damaged) {
    const char before = c;
    for (int bit = 0; bit < 8; ++bit) {
      c = char(before ^ (1 << bit));
      (void)decode(std::string_view(damaged)).ok();
    }
    c = before;
  }
}

}  // namespace

TEST_CASE("RunGraph: numbers as in TensorFlow, back as it was") {
  RunGraph request;
  request.graph = "0000000000000001";
  request.session = "s";
  request.step_id = 7;
  request.request_id = 9;
  request.send = {{"key", numbers()}};
  request.recv_keys = {"a", "b"};
  request.trace = request.errors_in_body = true;
  auto message = encode_run_graph(request);
  REQUIRE(message.ok());
  const std::string bytes(message->flatten());
  wire::ProtoReader r(bytes);
  std::vector<int> fields;
  while (r.next()) fields.push_back(r.field());
  CHECK(r.ok());
  CHECK(fields == std::vector<int>{1, 2, 4, 4, 5, 8, 9, 10, 11, 3});
  auto back = decode_run_graph(bytes);
  REQUIRE(back.ok());
  CHECK(back->graph == request.graph);
  CHECK(back->step_id == 7);
  CHECK(back->request_id == 9);
  CHECK(back->recv_keys == request.recv_keys);
  CHECK(back->trace);
  CHECK(!back->partition_graphs);
  CHECK(back->errors_in_body);
  CHECK(!back->is_partial);
  REQUIRE(back->send.size() == 1);
  CHECK(back->send[0].name == "key");
  CHECK(back->send[0].tensor.data<float>()[2] == 3);
  check_cut(bytes, decode_run_graph);
}

TEST_CASE("answers carry errors in their body") {
  RunGraphResult result;
  result.status = core::out_of_range("End of sequence");
  auto message = encode_run_graph_result(result);
  REQUIRE(message.ok());
  auto back = decode_run_graph_result(message->flatten());
  REQUIRE(back.ok());
  CHECK(back->status.code() == core::Code::kOutOfRange);
  CHECK(back->status.message() == "End of sequence");

  RunStepResult step;
  step.tensors = {{"x:0", numbers()}};
  step.metadata = encode_metadata("stats", {"graph"});
  auto encoded = encode_run_step_result(step);
  REQUIRE(encoded.ok());
  auto read = decode_run_step_result(encoded->flatten());
  REQUIRE(read.ok());
  CHECK(read->status.ok());
  REQUIRE(read->tensors.size() == 1);
  CHECK(read->tensors[0].name == "x:0");
  CHECK(step_stats_of(read->metadata) == "stats");
  check_cut(encoded->flatten(), decode_run_step_result);
  // A code that TensorFlow does not have.
  wire::ProtoWriter w;
  w.varint(3, 99);
  CHECK(decode_run_step_result(w.str())->status.code() == core::Code::kUnknown);
}

TEST_CASE("RunStep") {
  RunStep request;
  request.session = "s";
  request.feeds = {{"a:0", numbers()}, {"b:0", Tensor::vector(std::vector<float>(1000, 2.f))}};
  request.fetches = {"c:0", "d:1"};
  request.targets = {"e"};
  request.partial_run = "p";
  request.errors_in_body = true;
  request.request_id = 1;
  auto message = encode_run_step(request);
  REQUIRE(message.ok());
  auto back = decode_run_step(message->flatten());
  REQUIRE(back.ok());
  CHECK(back->session == "s");
  REQUIRE(back->feeds.size() == 2);
  CHECK(back->feeds[1].tensor.num_elements() == 1000);
  CHECK(back->fetches == request.fetches);
  CHECK(back->targets == request.targets);
  CHECK(back->partial_run == "p");
  CHECK(back->errors_in_body);
}

TEST_CASE("sessions of masters and workers") {
  auto create = decode_create_session(encode_create_session({"graph", "config", "grpc://a:1"}));
  REQUIRE(create.ok());
  CHECK(create->graph_def == "graph");
  CHECK(create->target == "grpc://a:1");
  auto extend = decode_extend_session(encode_extend_session({"s", "more", 3}));
  REQUIRE(extend.ok());
  CHECK(extend->version == 3);
  CreateWorkerSession request;
  request.session = "h";
  request.server_def.job = "worker";
  request.server_def.task = 1;
  request.master_task = "/job:worker/replica:0/task:0";
  request.master_incarnation = ~uint64_t(0);
  request.isolate_state = true;
  const std::string bytes = encode_create_worker_session(request);
  auto back = decode_create_worker_session(bytes);
  REQUIRE(back.ok());
  CHECK(back->server_def.cluster.empty());
  CHECK(back->server_def.task == 1);
  CHECK(back->master_incarnation == ~uint64_t(0));
  CHECK(back->isolate_state);
  check_cut(bytes, decode_create_worker_session);
  request.server_def.cluster["worker"][1] = "a:1";  // a cluster that comes with the session
  const std::string with_cluster = encode_create_worker_session(request);
  back = decode_create_worker_session(with_cluster);
  REQUIRE(back.ok());
  CHECK(back->server_def.cluster == request.server_def.cluster);
  CHECK(back->server_def.task == 1);
  check_cut(with_cluster, decode_create_worker_session);
  RegisterGraph graph{"s", "def", "config", true};
  auto registered = decode_register_graph(encode_register_graph(graph));
  REQUIRE(registered.ok());
  CHECK(registered->graph_def == "def");
  CHECK(registered->session_was_created);
}

TEST_CASE("what is read of ConfigProto and RunOptions") {
  wire::ProtoWriter w;
  w.bytes(4, "/job:ps");
  w.bytes(4, "/job:worker/task:1");
  w.int64(11, 250);
  w.boolean(15, true);
  CHECK(decode_cluster_config(w.str())->cluster.empty());
  wire::ProtoWriter task, job, cluster;
  task.int64(1, 3);
  task.bytes(2, "a:1");
  job.bytes(1, "other");
  job.message(2, task);
  cluster.message(1, job);
  w.message(14, cluster);
  auto config = decode_cluster_config(w.str());
  REQUIRE(config.ok());
  CHECK(config->device_filters.size() == 2);
  CHECK(config->operation_timeout_ms == 250);
  CHECK(config->isolate_session_state);
  CHECK(config->cluster == ClusterMap{{"other", {{3, "a:1"}}}});
  wire::ProtoWriter o;
  o.varint(1, 3);
  o.int64(2, 100);
  o.boolean(5, true);
  auto options = decode_run_options(o.str());
  REQUIRE(options.ok());
  CHECK(options->trace);
  CHECK(options->timeout_ms == 100);
  CHECK(options->partition_graphs);
  CHECK(!decode_run_options("\xff").ok());
}
