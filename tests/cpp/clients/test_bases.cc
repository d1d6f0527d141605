// The bases of tests of C++ ops (OpsTestBase, tensor_testutil, shape_inference_testutil) and metrics. What a test of GoogleTest finds is printed as a line,
// so that the output can be compared.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <thread>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/fake_input.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/shape_inference_testutil.h"
#include "tensorflow/core/framework/tensor_testutil.h"
#include "tensorflow/core/kernels/ops_testutil.h"
#include "tensorflow/core/lib/monitoring/counter.h"
#include "tensorflow/core/lib/monitoring/gauge.h"
#include "tensorflow/core/lib/monitoring/sampler.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

void Say(const std::string& what, const Status& s) { std::printf("%s: %s\n", what.c_str(), s.ToString().c_str()); }

// ---- Ops ----

REGISTER_OP("ClientScale").Input("x: T").Output("y: T").Attr("T: {float, int32}").Attr("factor: int >= 1").SetShapeFn([](InferenceContext* c) {
  c->set_output(0, c->input(0));
  return Status();
});
template <class T>
class ScaleOp : public OpKernel {
 public:
  explicit ScaleOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("factor", &factor_));
    OP_REQUIRES(c, factor_ < 100, errors::OutOfRange("a factor of ", factor_));
  }
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    OP_REQUIRES(c, x.dims() > 0, errors::InvalidArgument("x is a scalar"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.NumElements(); ++i) y->flat<T>()(i) = x.flat<T>()(i) * static_cast<T>(factor_);
  }

 private:
  int64_t factor_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("ClientScale").Device(DEVICE_CPU).TypeConstraint<float>("T"), ScaleOp<float>);
REGISTER_KERNEL_BUILDER(Name("ClientScale").Device(DEVICE_CPU).TypeConstraint<int32>("T"), ScaleOp<int32>);

REGISTER_OP("ClientJoin")
    .Input("parts: N * string")
    .Output("joined: string")
    .Output("count: int32")
    .Attr("N: int >= 1")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle all = c->input(0);
      for (int i = 1; i < c->num_inputs(); ++i) TF_RETURN_IF_ERROR(c->Merge(all, c->input(i), &all));
      c->set_output(0, all);
      c->set_output(1, c->Scalar());
      return Status();
    });
class JoinOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    OpInputList parts;
    OP_REQUIRES_OK(c, c->input_list("parts", &parts));
    Tensor *joined = nullptr, *count = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output("joined", parts[0].shape(), &joined));
    OP_REQUIRES_OK(c, c->allocate_output("count", TensorShape({}), &count));
    for (int64_t i = 0; i < parts[0].NumElements(); ++i) {
      std::string text;
      for (int k = 0; k < parts.size(); ++k) text += std::string(parts[k].flat<tstring>()(i)) + "/";
      joined->flat<tstring>()(i) = text;
    }
    count->scalar<int32>()() = parts.size();
  }
};
REGISTER_KERNEL_BUILDER(Name("ClientJoin").Device(DEVICE_CPU), JoinOp);

class Tally : public ResourceBase {
 public:
  std::string DebugString() const override { return "a tally"; }
  int seen = 0;
};
REGISTER_OP("ClientTally").Input("tally: resource").Output("seen: int32").SetShapeFn(shape_inference::ScalarShape);
class TallyOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Tally> tally;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &tally));
    Tensor* seen = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({}), &seen));
    seen->scalar<int32>()() = ++tally->seen;
  }
};
REGISTER_KERNEL_BUILDER(Name("ClientTally").Device(DEVICE_CPU), TallyOp);

REGISTER_OP("ClientLater").Input("x: float").Output("y: float").SetShapeFn([](InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &x));
  c->set_output(0, c->MakeShape({c->Dim(x, 1), c->MakeDim(7), c->UnknownDim()}));
  return Status();
});
class LaterOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    std::thread([c, done] {
      c->set_output(0, c->input(0));
      done();
    }).detach();
  }
};
REGISTER_KERNEL_BUILDER(Name("ClientLater").Device(DEVICE_CPU), LaterOp);

// ---- Kernels ----

class KernelTest : public OpsTestBase {
 protected:
  Status Make(const std::string& op, int64_t factor) {
    const Status s = NodeDefBuilder("node", op).Input(FakeInput(DT_INT32)).Attr("factor", factor).Finalize(node_def());
    return s.ok() ? InitOp() : s;
  }
};

TEST_F(KernelTest, Values) {
  TF_ASSERT_OK(Make("ClientScale", 3));
  AddInputFromArray<int32>(TensorShape({2, 2}), {1, 2, 3, 4});
  TF_ASSERT_OK(RunOpKernel());
  test::ExpectTensorEqual<int32>(test::AsTensor<int32>({3, 6, 9, 12}, TensorShape({2, 2})), *GetOutput(0));
  std::printf("values: %s of %s by %s\n", GetOutput(0)->DebugString().c_str(), GetInput(0).shape().DebugString().c_str(),
              op_kernel()->type_string().c_str());
  EXPECT_EQ(output_types()[0], DT_INT32);
}
TEST_F(KernelTest, SecondRun) {
  TF_ASSERT_OK(Make("ClientScale", 2));
  AddInputFromList<int32, double>(TensorShape({2}), {1.0, 2.0});
  TF_ASSERT_OK(RunOpKernel());
  inputs_.clear();
  AddInput<int32>(TensorShape({3}), [](int i) { return 10 * i; });
  TF_ASSERT_OK(RunOpKernel());
  std::printf("second run: %s\n", GetOutput(0)->DebugString().c_str());
}
TEST_F(KernelTest, Errors) {
  Say("constructor", Make("ClientScale", 100));
  Say("attribute", Make("ClientScale", 0));
  Say("no attribute", NodeDefBuilder("node", "ClientScale").Input(FakeInput(DT_FLOAT)).Finalize(node_def()));
  Say("an input too many", NodeDefBuilder("node", "ClientScale").Input(FakeInput()).Input(FakeInput()).Finalize(node_def()));
  Say("another type", NodeDefBuilder("node", "ClientTally").Input(FakeInput(DT_FLOAT)).Finalize(node_def()));
  std::printf("no such op: %d\n", static_cast<int>(NodeDefBuilder("node", "ClientNone").Finalize(node_def()).code()));
  TF_ASSERT_OK(Make("ClientScale", 5));
  AddInputFromArray<int32>(TensorShape({}), {7});
  Say("compute", RunOpKernel());
}
TEST_F(KernelTest, Lists) {
  TF_ASSERT_OK(NodeDefBuilder("join", "ClientJoin").Input(FakeInput(3)).Finalize(node_def()));
  TF_ASSERT_OK(InitOp());
  for (const char* text : {"a", "b", "c"}) AddInputFromArray<tstring>(TensorShape({2}), {tstring(text), tstring("-")});
  TF_ASSERT_OK(RunOpKernel());
  test::ExpectTensorEqual<tstring>(test::AsTensor<tstring>({"a/b/c/", "-/-/-/"}), *GetOutput(0));
  std::printf("list: %s from %s\n", GetOutput(1)->DebugString().c_str(), node_def()->input(2).c_str());
  Say("unknown length", NodeDefBuilder("join", "ClientJoin").Input(FakeInput()).Finalize(node_def()));
}
TEST_F(KernelTest, Resource) {
  TF_ASSERT_OK(NodeDefBuilder("tally", "ClientTally").Input(FakeInput(DT_RESOURCE)).Finalize(node_def()));
  TF_ASSERT_OK(InitOp());
  auto* tally = new Tally;
  tally->seen = 41;
  AddResourceInput<Tally>("", "mine", tally);
  TF_ASSERT_OK(RunOpKernel());
  std::printf("resource: %d\n", GetOutput(0)->scalar<int32>()());
}
TEST_F(KernelTest, Asynchronous) {
  TF_ASSERT_OK(NodeDefBuilder("later", "ClientLater").Input(FakeInput()).Finalize(node_def()));
  TF_ASSERT_OK(InitOp());
  AddInputFromArray<float>(TensorShape({2}), {1.5f, -2.0f});
  TF_ASSERT_OK(RunOpKernel());
  test::ExpectTensorNear<float>(test::AsTensor<float>({1.5f, -2.0f}), *GetOutput(0), 1e-6);
}
TEST_F(KernelTest, OfTheLibrary) {
  TF_ASSERT_OK(NodeDefBuilder("sum", "AddV2").Input(FakeInput(DT_FLOAT)).Input(FakeInput(DT_FLOAT)).Finalize(node_def()));
  TF_ASSERT_OK(InitOp());
  AddInputFromArray<float>(TensorShape({2}), {1, 2});
  AddInputFromArray<float>(TensorShape({}), {10});
  TF_ASSERT_OK(RunOpKernel());
  std::printf("library: %s\n", GetOutput(0)->DebugString().c_str());
  inputs_.clear();
  AddInputFromArray<float>(TensorShape({2}), {1, 2});
  AddInputFromArray<float>(TensorShape({3}), {1, 2, 3});
  std::printf("library, wrong shapes: %d\n", static_cast<int>(RunOpKernel().code()));
}
TEST_F(KernelTest, Reference) {
  TF_ASSERT_OK(NodeDefBuilder("add", "AssignAdd").Input(FakeInput(DT_INT32_REF)).Input(FakeInput(DT_INT32)).Finalize(node_def()));
  TF_ASSERT_OK(InitOp());
  AddInputFromArray<int32>(TensorShape({2}), {1, 2});
  AddInputFromArray<int32>(TensorShape({2}), {10, 20});
  TF_ASSERT_OK(RunOpKernel());
  std::printf("reference: %s\n", mutable_input(0).tensor->DebugString().c_str());
}

// ---- Tensors ----

// What fails in an expectation, as one line.
template <class F>
void Failures(const char* what, F expect) {
  ::testing::TestPartResultArray found;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    expect();
  }
  std::printf("%s: %d failures\n", what, found.size());
}
TEST(Tensors, Expectations) {
  const Tensor a = test::AsTensor<float>({1.0f, 2.0f, 3.0f}), b = test::AsTensor<float>({1.0f, 2.0000002f, 3.0f}),
               c = test::AsTensor<float>({1.0f, 2.1f, 4.0f});
  Failures("equal", [&] { test::ExpectEqual(a, a); });
  Failures("within the last places", [&] { test::ExpectEqual(a, b); });
  Failures("without tolerance", [&] { test::ExpectEqual(a, b, test::Tolerance::kNone); });
  Failures("two elements differ", [&] { test::ExpectEqual(a, c); });
  Failures("close", [&] { test::ExpectClose(a, c, 0.2, 0.3); });
  Failures("not close", [&] { test::ExpectTensorNear<float>(a, c, 0.2); });
  Failures("another type", [&] { test::ExpectTensorEqual<double>(a, a); });
  Failures("another shape", [&] { test::ExpectEqual(a, test::AsTensor<float>({1.0f, 2.0f, 3.0f}, TensorShape({3, 1}))); });
  Failures("no numbers", [&] { test::ExpectEqual(test::AsScalar<float>(NAN), test::AsScalar<float>(NAN)); });
  Failures("halves", [&] { test::ExpectClose(test::AsScalar(Eigen::half(1.0f)), test::AsScalar(Eigen::half(1.01f))); });
  Failures("by a function", [&] { test::ExpectTensorEqual<float>(a, c, [](const float& x, const float& y) { return int(x) == int(y); }); });
  Tensor iota(DT_INT64, TensorShape({3}));
  test::FillIota<int64_t>(&iota, 5);
  std::printf("%s\n", iota.DebugString().c_str());
}

// ---- Shapes ----

TEST(Shapes, Inferred) {
  const auto infer = [](const ShapeInferenceTestOp& op, const char* in, const char* out) {
    const Status s = shape_inference::ShapeInferenceTestutil::InferShapes(op, in, out);
    std::printf("%s %s -> %s: %s\n", op.name.c_str(), in, out, s.ok() ? "OK" : "not so");
  };
  ShapeInferenceTestOp scale("ClientScale"), join("ClientJoin"), later("ClientLater");
  INFER_OK(scale, "[1,?]", "in0");
  infer(scale, "[1,?]", "in0");
  infer(scale, "[1,?]", "[1,?]");
  infer(scale, "?", "in0");
  TF_ASSERT_OK(NodeDefBuilder("join", "ClientJoin").Input(FakeInput(2)).Finalize(&join.node_def));
  infer(join, "[2,?];[?,3]", "[d0_0,d1_1];[]");
  infer(join, "[2,?];[?,3]", "[d1_0,d1_1];[]");
  infer(join, "[2,?];?", "in0;[]");
  infer(join, "[2,?];?", "in0");
  INFER_ERROR("Dimension 0 in both shapes must be equal", join, "[2];[3]");
  infer(later, "[4,5]", "[d0_1,7,?]");
  infer(later, "[4,5]", "[5,7,?]");
  infer(later, "[4,5]", "[d0_1,8,?]");
  infer(later, "[4,5]", "[d0_1,7]");
  infer(later, "?", "[?,7,?]");
  infer(later, "[4]", "e");
  INFER_ERROR("must be rank 2", later, "[4]");
  ShapeInferenceTestOp reshape("Reshape");
  const Tensor to = test::AsTensor<int32>({3, -1});
  reshape.input_tensors = {nullptr, &to};
  infer(reshape, "[2,6];[2]", "[3,4]");
  infer(reshape, "[2,6];[2]", "[3,5]");
}

// ---- Metrics ----

TEST(Metrics, All) {
  auto* calls = monitoring::Counter<2>::New("/client/calls", "calls", "op", "device");
  calls->GetCell("a", "cpu")->IncrementBy(2);
  calls->GetCell("a", "cpu")->IncrementBy(40);
  calls->GetCell("b", "cpu")->IncrementBy(1);
  std::printf("counter: %lld %lld %lld\n", static_cast<long long>(calls->GetCell("a", "cpu")->value()),
              static_cast<long long>(calls->GetCell("b", "cpu")->value()), static_cast<long long>(calls->GetCell("b", "gpu")->value()));
  Say("counter", calls->GetStatus());
  auto* twice = monitoring::Gauge<int64_t, 0>::New("/client/calls", "the same name");
  Say("the same name", twice->GetStatus());
  twice->GetCell()->Set(-3);
  auto* text = monitoring::Gauge<std::string, 1>::New("/client/text", "text", "of");
  text->GetCell("x")->Set("now");
  auto* flag = monitoring::Gauge<bool, 0>::New("/client/flag", "flag");
  auto* asked = monitoring::Gauge<std::function<std::string()>, 0>::New("/client/asked", "asked");
  asked->GetCell()->Set([] { return std::string("by a function"); });
  std::printf("gauges: %lld '%s' '%s' %d %s\n", static_cast<long long>(twice->GetCell()->value()), text->GetCell("x")->value().c_str(),
              text->GetCell("y")->value().c_str(), flag->GetCell()->value(), asked->GetCell()->value()().c_str());
  delete calls;
  auto* again = monitoring::Counter<0>::New("/client/calls", "the name is free again");
  Say("again", again->GetStatus());
  auto* times = monitoring::Sampler<1>::New({"/client/times", "times", "op"}, monitoring::Buckets::Exponential(1, 10, 3));
  for (double t : {0.5, 1.0, 9.0, 50.0, 5000.0}) times->GetCell("a")->Add(t);
  const auto histogram = times->GetCell("a")->value();
  std::printf("sampler: %g samples, sum %g, from %g to %g;", histogram.num(), histogram.sum(), histogram.min(), histogram.max());
  for (int i = 0; i < histogram.bucket_size(); ++i) std::printf(" %g below %g", histogram.bucket(i), histogram.bucket_limit(i));
  std::printf("\n");
  const auto limits = monitoring::Buckets::Explicit({-1, 0.5, 2});
  for (const double limit : limits->explicit_bounds()) std::printf("limit %g\n", limit);
  delete twice;
  delete text;
  delete flag;
  delete asked;
  delete again;
  delete times;
}

// Says what each test is, and what failed in it.
class Lines : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo& test) override { std::printf("== %s.%s\n", test.test_suite_name(), test.name()); }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.failed()) std::printf("failed at line %d: %s\n", result.line_number(), result.message());
  }
};

}  // namespace
}  // namespace tensorflow

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new tensorflow::Lines);
  return RUN_ALL_TESTS();
}
