// Rarer forms of the clients: loops, partial runs, callables, containers, coordinators, queue runners, checkpoints, sessions in a server. Prints what it
// prints with TensorFlow.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/ops/array_ops.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/data_flow_ops.h"
#include "tensorflow/cc/ops/io_ops.h"
#include "tensorflow/cc/ops/math_ops.h"
#include "tensorflow/cc/ops/state_ops.h"
#include "tensorflow/cc/ops/while_loop.h"
#include "tensorflow/cc/training/coordinator.h"
#include "tensorflow/cc/training/queue_runner.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def_builder.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/protobuf/tensorflow_server.pb.h"
#include "tensorflow/core/public/session.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

using namespace tensorflow;  // NOLINT
using namespace tensorflow::ops;  // NOLINT

// Code and the first line of the text, without what names nodes behind it.
template <class S>
void Print(const char* what, const S& s) {
  std::string text(s.message());
  text = text.substr(0, text.find('\n'));
  std::printf("%s: %d %s\n", what, static_cast<int>(s.code()), text.c_str());
}

std::unique_ptr<Session> Started(const Scope& root, const SessionOptions& options = SessionOptions()) {
  GraphDef def;
  TF_CHECK_OK(root.ToGraphDef(&def));
  std::unique_ptr<Session> session(NewSession(options));
  TF_CHECK_OK(session->Create(def));
  return session;
}

void Loops() {
  Scope root = Scope::NewRootScope();
  auto n = Placeholder(root.WithOpName("n"), DT_INT32);
  auto start = Const(root, 0), row = Const(root, {1.f});
  OutputList out;
  Output cond;
  Print("loop", BuildWhileLoop(
                    root.NewSubScope("loop"), {start, n, row},
                    [](const Scope& s, const std::vector<Output>& in, Output* more) {
                      *more = Less(s, in[0], in[1]);
                      return s.status();
                    },
                    [](const Scope& s, const std::vector<Output>& in, std::vector<Output>* next) {
                      *next = {Add(s, in[0], 1), in[1], Concat(s, {Output(in[2]), Output(Multiply(s, in[2], 2.f))}, 0)};
                      return s.status();
                    },
                    "frame", &out, true, &cond));
  std::printf("%d outputs, %s\n", static_cast<int>(out.size()), cond.node()->type_string().c_str());
  auto session = Started(root);
  for (int rounds : {0, 1, 3}) {
    std::vector<Tensor> got;
    const auto s = session->Run({{"n:0", Tensor(rounds)}}, {out[0].name(), out[2].name()}, {}, &got);
    if (!s.ok()) {
      Print("run", s);
      continue;
    }
    std::printf("%d:", got[0].scalar<int>()());
    for (int i = 0; i < got[1].NumElements(); ++i) std::printf(" %g", got[1].vec<float>()(i));
    std::printf("\n");
  }
  auto same = [](const Scope& s, const std::vector<Output>& in, std::vector<Output>* next) {
    *next = in;
    return s.status();
  };
  out.clear();
  Print("no bool", BuildWhileLoop(
                       root.NewSubScope("a"), {start},
                       [](const Scope&, const std::vector<Output>& in, Output* more) {
                         *more = in[0];
                         return Status();
                       },
                       same, "fa", &out));
  out.clear();
  Print("too few", BuildWhileLoop(
                       root.NewSubScope("b"), {start},
                       [](const Scope& s, const std::vector<Output>& in, Output* more) {
                         *more = Less(s, in[0], 3);
                         return s.status();
                       },
                       [](const Scope&, const std::vector<Output>&, std::vector<Output>*) { return Status(); }, "fb", &out));
  out.clear();
  Print("error", BuildWhileLoop(
                     root.NewSubScope("c"), {start},
                     [](const Scope&, const std::vector<Output>&, Output*) { return errors::Aborted("from the condition"); }, same, "fc", &out));
#ifndef WITHOUT_CLIENT_SESSION  // TensorFlow's graphs cannot run once a loop in them was given up
  std::vector<Tensor> got;
  TF_CHECK_OK(Started(root)->Run({{"n:0", Tensor(2)}}, {row.name()}, {}, &got));
#endif
}

void PartialRuns() {
  Scope root = Scope::NewRootScope();
  auto a = Placeholder(root.WithOpName("a"), DT_FLOAT), b = Placeholder(root.WithOpName("b"), DT_FLOAT);
  auto sum = Add(root.WithOpName("sum"), a, b);
  auto e = Placeholder(root.WithOpName("e"), DT_FLOAT);
  Multiply(root.WithOpName("product"), sum, e);
  auto session = Started(root);
  std::string handle;
  std::vector<Tensor> out;
  Print("setup", session->PRunSetup({"a:0", "b:0", "e:0"}, {"sum:0", "product:0"}, {}, &handle));
  Print("first", session->PRun(handle, {{"a:0", Tensor(2.f)}, {"b:0", Tensor(3.f)}}, {"sum:0"}, &out));
  std::printf("%g\n", out[0].scalar<float>()());
  Print("second", session->PRun(handle, {{"e:0", Tensor(4.f)}}, {"product:0"}, &out));
  std::printf("%g\n", out[0].scalar<float>()());
  Print("no such run", session->PRun("nothing", {{"e:0", Tensor(4.f)}}, {"product:0"}, &out));
}

void CallablesOfBoth() {
  Scope root = Scope::NewRootScope();
  auto x = Placeholder(root.WithOpName("x"), DT_FLOAT);
  Multiply(root.WithOpName("y"), x, 3.f);
  CallableOptions options;
  options.add_feed("x:0");
  options.add_fetch("y:0");
  auto session = Started(root);
#ifndef WITHOUT_CLIENT_SESSION  // TensorFlow's package has no symbols for it; there it is a Session with another interface
  ClientSession client(root);
#else
  Session& client = *session;
#endif
  auto run = [&](const char* which, auto& s) {
    int64_t handle = 0;
    std::vector<Tensor> out;
    RunMetadata metadata;
    Print(which, s.MakeCallable(options, &handle));
    Print("run", s.RunCallable(handle, {Tensor(5.f)}, &out, &metadata));
    std::printf("%g\n", out[0].template scalar<float>()());
    Print("two feeds", s.RunCallable(handle, {Tensor(5.f), Tensor(6.f)}, &out, nullptr));
    Print("release", s.ReleaseCallable(handle));
    std::printf("after it: %d\n", static_cast<int>(s.RunCallable(handle, {Tensor(5.f)}, &out, nullptr).code()));
    CallableOptions wrong;
    wrong.add_fetch("nothing:0");
    std::printf("no such fetch: %d\n", s.MakeCallable(wrong, &handle).ok());
  };
  run("session", *session);
  run("client", client);
}

void Queues() {
  Scope root = Scope::NewRootScope();
  auto queue = FIFOQueue(root.WithOpName("queue"), {DT_INT32}, FIFOQueue::Capacity(10));
  auto counter = Variable(root.WithOpName("counter"), {}, DT_INT32);
  Assign(root.WithOpName("init"), counter, Const(root, 10));
  auto count = CountUpTo(root, counter, 13);
  QueueEnqueue(root.WithOpName("enqueue"), queue, {Output(count)});
  QueueClose(root.WithOpName("close"), queue);
  QueueClose(root.WithOpName("cancel"), queue, QueueClose::CancelPendingEnqueues(true));
  QueueDequeue(root.WithOpName("dequeue"), queue, {DT_INT32});
  auto session = Started(root);
  TF_CHECK_OK(session->Run({}, {}, {"init"}, nullptr));
  QueueRunnerDef def;
  std::unique_ptr<QueueRunner> runner;
  def.set_queue_name("queue");
  def.add_enqueue_op_name("enqueue");
  def.set_close_op_name("close");
  def.set_cancel_op_name("cancel");
  def.add_queue_closed_exception_types(error::OUT_OF_RANGE);
  def.add_queue_closed_exception_types(error::CANCELLED);
  Coordinator coordinator;
  Print("new", QueueRunner::New(def, &coordinator, &runner));
  Print("start", runner->Start(session.get()));
  Print("register", coordinator.RegisterRunner(std::move(runner)));
  std::vector<Tensor> out;
  for (int i = 0; i < 3; ++i) {
    TF_CHECK_OK(session->Run({}, {"dequeue:0"}, {}, &out));
    std::printf("%d\n", out[0].scalar<int>()());
  }
  std::printf("at the end: %d\n", static_cast<int>(session->Run({}, {"dequeue:0"}, {}, &out).code()));
  Print("stop", coordinator.RequestStop());
  Print("stop again", coordinator.RequestStop());
  Print("join", coordinator.Join());
  std::printf("%d %d\n", coordinator.ShouldStop(), coordinator.AllRunnersStopped());
  Print("status", coordinator.GetStatus());
}

void Checkpoints(const std::string& prefix) {
  Scope root = Scope::NewRootScope();
  SaveV2(root.WithOpName("save"), prefix, Const(root, {"w", "a/b"}), Const(root, {"", ""}),
         {Output(Const(root, {{1.f, 2.f}})), Output(Const(root, 7))});
  TF_CHECK_OK(Started(root)->Run({}, {}, {"save"}, nullptr));
  BundleReader reader(Env::Default(), prefix);
  Print("bundle", reader.status());
  for (reader.Seek(""); reader.Valid(); reader.Next()) {
    const std::string key(reader.key());
    DataType type;
    TensorShape shape;
    if (key.empty() || !reader.LookupDtypeAndShape(key, &type, &shape).ok()) continue;
    std::printf("%s %s %s\n", key.c_str(), DataTypeString(type).c_str(), shape.DebugString().c_str());
  }
  Tensor w(DT_FLOAT, TensorShape({1, 2}));
  Print("w", reader.Lookup("w", &w));
  std::printf("%g %g %d %d\n", w.flat<float>()(0), w.flat<float>()(1), reader.Contains("w"), reader.Contains("v"));
  std::printf("missing: %d\n", static_cast<int>(reader.Lookup("v", &w).code()));
  BundleReader none(Env::Default(), prefix + "_none");
  std::printf("no file: %d\n", static_cast<int>(none.status().code()));
}

void Servers() {
  ServerDef def;
  auto* job = def.mutable_cluster()->add_job();
  job->set_name("local");
  (*job->mutable_tasks())[0] = "localhost:0";
  def.set_job_name("local");
  def.set_protocol("grpc");
  const std::string bytes = def.SerializeAsString();
  TF_Status* status = TF_NewStatus();
  TF_Server* server = TF_NewServer(bytes.data(), bytes.size(), status);
  if (TF_GetCode(status) == TF_OK) TF_ServerStart(server, status);
  std::printf("server: %d\n", TF_GetCode(status));
  if (TF_GetCode(status) != TF_OK) return;
  SessionOptions options;
  options.target = TF_ServerTarget(server);
  Scope root = Scope::NewRootScope();
  auto counter = Variable(root.WithOpName("counter"), {}, DT_INT32, Variable::Container("box"));
  Assign(root.WithOpName("init"), counter, Const(root, 1));
  AssignAdd(root.WithOpName("more"), counter, Const(root, 1));
  AssignAdd(root.WithOpName("added"), counter, Placeholder(root.WithOpName("by"), DT_INT32));
  {
    auto first = Started(root, options);
    TF_CHECK_OK(first->Run({}, {}, {"init"}, nullptr));
    std::vector<Tensor> out;
    Print("more", first->Run({}, {"more:0"}, {}, &out));
    std::printf("%d\n", out[0].scalar<int>()());
    std::vector<DeviceAttributes> devices;
    TF_CHECK_OK(first->ListDevices(&devices));
    std::printf("%s\n", devices[0].name().c_str());
    Print("close", first->Close());
  }
  {
    auto second = Started(root, options);  // variables are the server's
    std::vector<Tensor> out;
    Print("more", second->Run({}, {"more:0"}, {}, &out));
    std::printf("%d\n", out[0].scalar<int>()());
    CallableOptions step;
    step.add_feed("by:0");
    step.add_fetch("added:0");
    Session::CallableHandle handle = 0;
    RunMetadata metadata;
    Print("callable", second->MakeCallable(step, &handle));
    for (int by : {10, 20}) {
      Print("run", second->RunCallable(handle, {Tensor(by)}, &out, &metadata));
      std::printf("%d\n", out[0].scalar<int>()());
    }
    Print("release", second->ReleaseCallable(handle));
    std::printf("after it: %d\n", static_cast<int>(second->RunCallable(handle, {Tensor(1)}, &out, nullptr).code()));
    CallableOptions wrong;
    wrong.add_fetch("nothing:0");
    std::printf("no such fetch: %d\n", static_cast<int>(second->MakeCallable(wrong, &handle).code()));
    TF_CHECK_OK(second->Close());
  }
  Print("reset", Reset(options, {"box"}));
  auto third = Started(root, options);
  std::vector<Tensor> out;
  std::printf("after reset: %d\n", static_cast<int>(third->Run({}, {"more:0"}, {}, &out).code()));
  TF_CHECK_OK(third->Close());
}

void Registry() {
  const OpDef* def = nullptr;
  Print("op", OpRegistry::Global()->LookUpOpDef("MatMul", &def));
  std::printf("%s %d %d\n", def->name().c_str(), def->input_arg_size(), def->attr_size());
  std::printf("no op: %d\n", static_cast<int>(OpRegistry::Global()->LookUpOpDef("NoSuchOp", &def).code()));
  const std::string text = OpRegistry::Global()->DebugString(false);
  const size_t at = text.find("Op<name=CountUpTo;");
  std::printf("%s\n", text.substr(at, text.find('\n', at) - at).c_str());
}

void Registered() {
  OpRegistrationData data;
  Print("described", OpDefBuilder("Described")
                         .Input("x: float")
                         .Deprecated(7, "use another")
                         .SetAllowsUninitializedInput()
                         .SetIsDistributedCommunication()
                         .SetIsStateful()
                         .Finalize(&data));
  const OpDef& def = data.op_def;
  std::printf("%d %s %d %d %d %d\n", def.deprecation().version(), def.deprecation().explanation().c_str(), def.allows_uninitialized_input(),
              def.is_distributed_communication(), def.is_stateful(), def.is_commutative());
}

void Shapes() {
  for (int n : {0, 1, 2, 3, -1}) {
    TensorShape shape({2, 3});
    Print("last", shape.RemoveLastDimsWithStatus(n));
    std::printf("%s\n", shape.DebugString().c_str());
  }
  for (int i : {0, 1, 2, -1}) Print("dimension", TensorShape({2, 3}).RemoveDimWithStatus(i));
  for (const std::pair<int, int>& range : {std::pair(1, 3), std::pair(3, 3), std::pair(-4, 1), std::pair(0, -4), std::pair(2, 1), std::pair(0, -1)}) {
    TensorShape shape({2, 3});
    Print("range", shape.RemoveDimRangeWithStatus(range.first, range.second));
    std::printf("%s\n", shape.DebugString().c_str());
  }
}

void Types() {
  for (DataType expected : {DT_FLOAT, DT_FLOAT_REF}) {
    for (DataType actual : {DT_FLOAT, DT_FLOAT_REF, DT_INT32}) std::printf("%d ", TypesCompatible(expected, actual));
  }
  for (DataType type : {DT_FLOAT, DT_INT32, DT_INT64, DT_STRING, DT_STRING_REF, DT_RESOURCE, DT_VARIANT})
    std::printf("%d%d ", DataTypeAlwaysOnHost(type), MTypeFromDType(type) == HOST_MEMORY);
  std::printf("\n");
}

int main(int, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Loops();
  PartialRuns();
  CallablesOfBoth();
  Queues();
  Checkpoints(argv[1]);
  Registry();
  Registered();
  Shapes();
  Types();
  Servers();
  std::fflush(stdout);
  std::_Exit(0);  // a server of TensorFlow cannot be ended
}
