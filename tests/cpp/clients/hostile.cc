// Runs the ops of tests/python/custom_ops/hostile.cc, which do what they must not, in a program that is compiled with sanitizers: each is an error, and the
// next run works.
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/public/session.h"

using namespace tensorflow;  // NOLINT

namespace {

int failures = 0;

std::unique_ptr<Session> Made(const char* op, const char* what) {
  Graph graph;
  Node *x = nullptr, *y = nullptr;
  TF_CHECK_OK(NodeBuilder("x", "Placeholder").Attr("dtype", DT_FLOAT).Finalize(&graph, &x));
  const Status built = NodeBuilder("y", op).Input(x).Attr("what", what).Finalize(&graph, &y);
  if (!built.ok()) return nullptr;
  GraphDef def;
  graph.ToGraphDef(&def);
  std::unique_ptr<Session> session(NewSession(SessionOptions()));
  TF_CHECK_OK(session->Create(def));
  return session;
}

Status Run(Session* session) {
  Tensor x(DT_FLOAT, TensorShape({2}));
  x.flat<float>()(0) = 1;
  x.flat<float>()(1) = 2;
  std::vector<Tensor> out;
  TF_RETURN_IF_ERROR(session->Run({{"x:0", x}}, {"y:0"}, {}, &out));
  return out[0].flat<float>()(1) == 2 ? OkStatus() : errors::DataLoss("another value");
}

void Check(const char* op, const char* what, bool fails) {
  const auto session = Made(op, what);
  const Status first = session ? Run(session.get()) : errors::Internal("not built");
  const Status again = session ? Run(session.get()) : first;
  if (first.ok() == fails || again.ok() == fails) {
    std::printf("%s, %s: %s, %s\n", op, what, first.ToString().c_str(), again.ToString().c_str());
    ++failures;
  }
}

}  // namespace

int main() {
  for (const char* what :
       {"constructor throws", "no such attribute", "wrong kind of attribute", "throws",         "throws a number", "no output",
        "wrong element type", "not a matrix",      "no such input",           "check",          "fatal",           "wrong output type",
        "empty output",       "no such output",    "no such slice",           "negative shape", "too much memory", "too many elements",
        "handle of a float",  "no resource",       "thread throws",           "two errors"})
    Check("Hostile", what, true);
  for (const char* what : {"null reference", "null output", "null temporary", "null input", "null forwarded output", "null memory", "little memory",
                           "null resource", "null counted resource", "empty handle", "null place for a resource", "null attribute"})
    Check("Hostile", what, true);
  Check("Hostile", "nothing", false);
  for (const char* what : {"throws", "no output", "never done"}) Check("HostileAsync", what, true);
  for (const char* what : {"done and throws", "done twice", "slow"}) Check("HostileAsync", what, false);
  for (const char* what : {"throws", "no such dimension", "no such output"}) Check("HostileShape", what, true);
  // Closed and destroyed while a kernel runs.
  for (int i = 0; i < 3; ++i) {
    auto session = Made("HostileAsync", "slow");
    std::thread run([&] { Run(session.get()).IgnoreError(); });
    session->Close().IgnoreError();
    run.join();
  }
  std::printf("%d failures\n", failures);
  return failures != 0;
}
