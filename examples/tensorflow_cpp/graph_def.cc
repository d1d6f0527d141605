// A GraphDef made in three ways: with GraphDefBuilder, by hand as a message, and from text; run by a Session with a callable.
#include <iostream>
#include <memory>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/default_device.h"
#include "tensorflow/core/graph/graph_def_builder.h"
#include "tensorflow/core/public/session.h"

using namespace tensorflow;  // NOLINT

int main() {
  GraphDefBuilder b;
  Node* x = ops::SourceOp("Placeholder", b.opts().WithName("x").WithAttr("dtype", DT_FLOAT));
  Node* y = ops::UnaryOp("Square", x, b.opts().WithName("y"));
  ops::BinaryOp("Add", x, y, b.opts().WithName("z").WithControlInput(y));
  GraphDef graph;
  TF_CHECK_OK(b.ToGraphDef(&graph));

  NodeDef* node = graph.add_node();
  node->set_name("w");
  node->set_op("Neg");
  node->add_input("z");
  (*node->mutable_attr())["T"].set_type(DT_FLOAT);
  graph::SetDefaultDevice("/cpu:0", &graph);
  for (const NodeDef& n : graph.node()) {
    std::cout << n.name() << " = " << n.op() << "(";
    for (const auto& input : n.input()) std::cout << " " << input;
    std::cout << " ) on " << n.device() << ", " << n.attr().count("T") << "\n";
  }

  SessionOptions options;
  options.config.mutable_gpu_options()->set_allow_growth(true);
  options.config.set_intra_op_parallelism_threads(1);
  (*options.config.mutable_device_count())["CPU"] = 1;
  std::unique_ptr<Session> session(NewSession(options));
  TF_CHECK_OK(session->Create(graph));
  CallableOptions call;
  call.add_feed("x");
  call.add_fetch("z:0");
  call.add_fetch("w");
  Session::CallableHandle handle;
  TF_CHECK_OK(session->MakeCallable(call, &handle));
  Tensor input(DT_FLOAT, TensorShape({3}));
  for (int i = 0; i < 3; ++i) input.vec<float>()(i) = static_cast<float>(i);
  std::vector<Tensor> out;
  TF_CHECK_OK(session->RunCallable(handle, {input}, &out, nullptr));
  for (const Tensor& t : out) std::cout << t.DebugString() << "\n";
  TF_CHECK_OK(session->ReleaseCallable(handle));

  GraphDef text;
  if (!protobuf::TextFormat::ParseFromString("node { name: 'c' op: 'NoOp' } versions { producer: 1 }", &text)) return 1;
  std::cout << text.node(0).name() << " " << text.versions().producer() << " " << session->Run({{"nothing", input}}, {"z"}, {}, &out).code() << "\n";
}
