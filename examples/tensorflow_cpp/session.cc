// Runs a frozen graph with TensorFlow's C++ API, with an op of its own: session GRAPH.pb INPUT OUTPUT feeds the numbers 0 to 3.
#include <iostream>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session.h"

REGISTER_OP("PlusOne").Input("x: float").Output("y: float").SetShapeFn(tensorflow::shape_inference::UnchangedShape);

struct PlusOne : tensorflow::OpKernel {
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* c) override {
    tensorflow::Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    for (int i = 0; i < y->NumElements(); ++i) y->flat<float>()(i) = c->input(0).flat<float>()(i) + 1;
  }
};
REGISTER_KERNEL_BUILDER(Name("PlusOne").Device(tensorflow::DEVICE_CPU), PlusOne);

tensorflow::Status run(const std::string& file, const std::string& input, const std::string& output) {
  tensorflow::GraphDef graph;
  TF_RETURN_IF_ERROR(tensorflow::ReadBinaryProto(tensorflow::Env::Default(), file, &graph));
  std::unique_ptr<tensorflow::Session> session(tensorflow::NewSession(tensorflow::SessionOptions()));
  TF_RETURN_IF_ERROR(session->Create(graph));
  tensorflow::Tensor x(tensorflow::DT_FLOAT, tensorflow::TensorShape({4}));
  for (int i = 0; i < 4; ++i) x.flat<float>()(i) = static_cast<float>(i);
  std::vector<tensorflow::Tensor> outputs;
  TF_RETURN_IF_ERROR(session->Run({{input, x}}, {output}, {}, &outputs));
  std::cout << graph.node_size() << " nodes; " << output << " is " << outputs[0].SummarizeValue(4) << '\n';
  return session->Close();
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const tensorflow::Status status = run(argv[1], argv[2], argv[3]);
  if (!status.ok()) std::cerr << status.ToString() << '\n';
  return status.ok() ? 0 : 1;
}
