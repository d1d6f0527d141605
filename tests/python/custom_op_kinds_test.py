"""Ops of a library that are datasets, written for TensorFlow Lite as well, or of further kinds; built as custom_ops_test.py builds them."""

# ruff: noqa: F811 (fixtures are arguments by their names)
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from custom_ops_test import SOURCES, build, folder, prelude, pytestmark  # noqa: F401

import weft as tf


def test_further(folder):
    """Lists of types, shapes from values, state by name, nodes as messages: what it prints with TensorFlow."""
    program = [sys.executable, "-m", "weft", SOURCES / "further.py", build(folder, "further")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == (SOURCES / "further.out").read_text().splitlines()


def test_library(folder):
    """Functions with options and libraries of the kernel's own, memory of inputs, versions of graphs: what it prints with TensorFlow."""
    program = [sys.executable, "-m", "weft", SOURCES / "library.py", build(folder, "library")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == (SOURCES / "library.out").read_text().splitlines()


REFUSED = r"""
using namespace tensorflow;
using Flr = FunctionLibraryRuntime;
REGISTER_OP("CallRefused").Attr("f: func").Attr("what: string").Output("local: string").SetIsStateful();
class CallRefusedOp : public OpKernel {
 public:
  explicit CallRefusedOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("f", &f_));
    OP_REQUIRES_OK(c, c->GetAttr("what", &what_));
  }
  void Compute(OpKernelContext* c) override {
    Flr* flr = c->function_library();
    Flr::InstantiateOptions instantiate;
    Flr::Options run;
    ScopedStepContainer container(c->step_id() + 1, nullptr);
    if (what_ == "ret_indices") instantiate.ret_indices = {0};
    if (what_ == "xla_compile_device_type") instantiate.xla_compile_device_type = "XLA_CPU";
    if (what_ == "rendezvous") run.rendezvous = reinterpret_cast<RendezvousInterface*>(this);
    if (what_ == "stats_collector") run.stats_collector = reinterpret_cast<StepStatsCollectorInterface*>(this);
    if (what_ == "collective_executor") run.collective_executor = reinterpret_cast<CollectiveExecutor*>(this);
    if (what_ == "remote_execution") run.remote_execution = true;
    if (what_ == "source_device") run.source_device = "/job:elsewhere/replica:0/task:3/device:CPU:0";
    if (what_ == "step_container") run.step_container = &container;
    if (what_ == "target") instantiate.target = "/job:elsewhere/replica:0/task:3/device:CPU:0";
    std::string local;
    for (const std::string& target : {std::string(), c->device()->name(), std::string("/device:CPU:0"), std::string("/device:CPU:99"),
                                      std::string("/job:elsewhere/replica:0/task:3/device:CPU:0")}) {
      Flr::InstantiateOptions other;
      other.target = target;
      local += flr->IsLocalTarget(other) ? "y" : "n";
    }
    Flr::Handle handle = 0;
    std::vector<Tensor> rets;
    OP_REQUIRES_OK(c, flr->Instantiate(f_.name(), AttrSlice(), instantiate, &handle));
    OP_REQUIRES_OK(c, flr->RunSync(run, handle, {Tensor(1.0f)}, &rets));
    OP_REQUIRES_OK(c, flr->ReleaseHandle(handle));
    OP_REQUIRES(c, flr->RunSync(run, handle, {Tensor(1.0f)}, &rets).code() == error::NOT_FOUND, errors::Internal("a released handle runs"));
    c->set_output(0, Tensor(tstring(local)));
  }

 private:
  NameAttrList f_;
  std::string what_;
};
REGISTER_KERNEL_BUILDER(Name("CallRefused").Device(DEVICE_CPU), CallRefusedOp);
"""


def test_refused_options(folder):
    """What a runtime of functions cannot do is an error that names it."""
    ops = tf.load_op_library(build(folder, "refused", '#include "tensorflow/core/framework/function.h"\n' + REFUSED))
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([], tf.float32)]).get_concrete_function()
    assert ops.call_refused(f=f, what="").numpy() == b"yyynn"
    for what in ("ret_indices", "xla_compile_device_type"):
        with pytest.raises(tf.errors.UnimplementedError, match=f"InstantiateOptions::{what}"):
            ops.call_refused(f=f, what=what)
    for what in (
        "rendezvous",
        "stats_collector",
        "collective_executor",
        "remote_execution",
        "source_device",
        "step_container",
    ):
        with pytest.raises(tf.errors.UnimplementedError, match=f"Options::{what}"):
            ops.call_refused(f=f, what=what)
    with pytest.raises(tf.errors.InvalidArgumentError, match="which is not a device of this process"):
        ops.call_refused(f=f, what="target")


SHIM = r"""
#include "tensorflow/lite/kernels/shim/tf_op_shim.h"
namespace {
using tflite::shim::Shape;
template <tflite::shim::Runtime Rt>
class Doubled : public tflite::shim::OpKernelShim<Doubled, Rt> {
 public:
  using typename tflite::shim::OpKernelShim<Doubled, Rt>::InitContext;
  using typename tflite::shim::OpKernelShim<Doubled, Rt>::InvokeContext;
  using typename tflite::shim::OpKernelShim<Doubled, Rt>::ShapeInferenceContext;
  static constexpr char kOpName[] = "Shim>Doubled";
  static constexpr char kDoc[] = "Twice the rows, each times a number.";
  static const char* OpName() { return kOpName; }
  static std::vector<std::string> Attrs() { return {"by: int = 2", "sign: string = '+'"}; }
  static std::vector<std::string> Inputs() { return {"x: float"}; }
  static std::vector<std::string> Outputs() { return {"y: float", "signs: string"}; }
  absl::Status Init(InitContext* c) {
    SH_RETURN_IF_ERROR(c->GetAttr("by", &by_));
    absl::string_view sign;
    SH_RETURN_IF_ERROR(c->GetAttr("sign", &sign));
    sign_ = std::string(sign);
    bool wrong = false;
    return c->GetAttr("by", &wrong).ok() ? absl::InternalError("an int as a bool") : absl::OkStatus();
  }
  absl::Status Invoke(InvokeContext* c) {
    SH_ASSIGN_OR_RETURN(const auto input, c->GetInput(0));
    const auto x = input->template As<float, 2>();
    if (x.Dim(0) == 0) return absl::FailedPreconditionError("no rows");
    SH_ASSIGN_OR_RETURN(auto output, c->GetOutput(0, Shape({2 * x.Dim(0), x.Dim(-1)})));
    auto y = output->template As<float, 2>();
    for (int i = 0; i < y.Dim(0); ++i) {
      for (int k = 0; k < y.Dim(1); ++k) y(i, k) = static_cast<float>(by_) * x(i / 2, k);
    }
    return this->template FillOutputTensor<std::string, tensorflow::tstring>(std::vector<std::string>(3, sign_), 1, c);
  }
  static absl::Status ShapeInference(ShapeInferenceContext* c) {
    SH_ASSIGN_OR_RETURN(const Shape x, c->GetInputShape(0));
    SH_RETURN_IF_ERROR(c->SetOutputShape(0, Shape({Shape::AddDims(x.Dim(0), x.Dim(0)), x.Dim(1)})));
    return c->SetOutputShape(1, Shape({3}));
  }

 private:
  int64_t by_ = 0;
  std::string sign_;
};
using DoubledKernel = tflite::shim::TfOpKernel<Doubled>;
REGISTER_TF_OP_SHIM(DoubledKernel);
REGISTER_KERNEL_BUILDER(Name(DoubledKernel::OpName()).Device(tensorflow::DEVICE_CPU), DoubledKernel);
}  // namespace
"""


def test_shim(folder, prelude):
    """Ops that are written once for TensorFlow and TensorFlow Lite."""
    ops = tf.load_op_library(build(folder, "shim", SHIM, prelude))
    assert "Twice the rows" in ops.shim_doubled.__doc__
    y, signs = ops.shim_doubled([[1.0, 2.0]], by=3, sign="-")
    assert y.numpy().tolist() == [[3, 6], [3, 6]] and signs.numpy().tolist() == [b"-"] * 3
    traced = tf.function(ops.shim_doubled).get_concrete_function(tf.TensorSpec([4, None], tf.float32))
    assert [t.shape.as_list() for t in traced.outputs] == [[8, None], [3]]
    with pytest.raises(tf.errors.FailedPreconditionError, match="no rows"):
        ops.shim_doubled(np.zeros((0, 2), np.float32))
    with pytest.raises(tf.errors.OpError, match="dimensions"):
        ops.shim_doubled([1.0])


def test_datasets(folder):
    """Datasets of C++ classes in pipelines, functions, graphs and checkpoints: what it prints with TensorFlow."""
    program = [sys.executable, "-m", "weft", SOURCES / "datasets.py", build(folder, "datasets")]
    env = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == (SOURCES / "datasets.out").read_text().splitlines()


def test_example_of_a_dataset(folder):
    text = (pathlib.Path(__file__).parents[2] / "examples/tensorflow_cpp/squares_dataset.cc").read_text()
    ops = tf.load_op_library(build(folder, "squares_dataset", text))
    squares = tf.data.experimental.from_variant(ops.squares_dataset(100), tf.TensorSpec([], tf.int64))
    batches = [b.numpy().tolist() for b in squares.map(lambda x: x + 1).batch(4)]
    assert batches == [[1, 2, 5, 10], [17, 26, 37, 50], [65, 82]]


BAD_DATASETS = r"""
using namespace tensorflow::data;
REGISTER_OP("BadDataset").Attr("what: string").Output("handle: variant").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);
class BadDatasetOp : public DatasetOpKernel {
 public:
  explicit BadDatasetOp(OpKernelConstruction* c) : DatasetOpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("what", &what_)); }
  void MakeDataset(OpKernelContext* c, DatasetBase** output) override {
    if (what_ == "MakeDataset throws") throw std::runtime_error("from MakeDataset");
    if (what_ != "no dataset") *output = new Dataset(c, what_);
    OP_REQUIRES(c, what_ != "made and refused", errors::Aborted("refused"));
  }

 private:
  class Dataset : public DatasetBase {
   public:
    Dataset(OpKernelContext* c, const std::string& what) : DatasetBase(DatasetContext(c)), what_(what) {
      shapes_.resize(what == "shapes do not fit" ? 2 : 1);
    }
    std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
      if (what_ == "no iterator") return nullptr;
      if (what_ == "iterator throws") throw std::runtime_error("from MakeIteratorInternal");
      return std::unique_ptr<IteratorBase>(new Iterator({this, prefix + "::Bad"}));
    }
    const DataTypeVector& output_dtypes() const override { return types_; }
    const std::vector<PartialTensorShape>& output_shapes() const override { return shapes_; }
    std::string DebugString() const override { return "Bad"; }
    int64 Cardinality() const override { return what_ == "cardinality throws" ? throw 1 : -2; }

   private:
    class Iterator : public DatasetIterator<Dataset> {
     public:
      explicit Iterator(const Params& params) : DatasetIterator<Dataset>(params) {}
      ~Iterator() override {
        for (auto& registered : registered_) registered.first->DeregisterCallback(registered.second);
      }
      Status Initialize(IteratorContext* c) override {
        if (CancellationManager* manager = c->cancellation_manager()) {
          registered_.emplace_back(manager, manager->get_cancellation_token());
          manager->RegisterCallback(registered_.back().second, [] {});
        }
        return dataset()->what_ == "Initialize fails" ? errors::DataLoss("from Initialize") : OkStatus();
      }
      Status GetNextInternal(IteratorContext*, std::vector<Tensor>* out, bool* end) override {
        const std::string& what = dataset()->what_;
        if (what == "throws") throw std::runtime_error("from GetNextInternal");
        if (what == "wrong type") out->emplace_back(1.5f);
        if (what == "too many") out->assign(3, Tensor(int64{1}));
        if (what == "no value") out->emplace_back();
        if (what == "error and element") {
          out->emplace_back(int64{1});
          return errors::Unavailable("with an element");
        }
        *end = out->empty() && what != "nothing";
        return OkStatus();
      }

     private:
      std::vector<std::pair<CancellationManager*, CancellationToken>> registered_;
    };
    const std::string what_;
    const DataTypeVector types_ = {DT_INT64};
    std::vector<PartialTensorShape> shapes_;
  };
  std::string what_;
};
REGISTER_KERNEL_BUILDER(Name("BadDataset").Device(DEVICE_CPU), BadDatasetOp);
"""


def test_bad_datasets(folder):
    text = '#include "tensorflow/core/framework/common_shape_fns.h"\n#include "tensorflow/core/framework/dataset.h"\n'
    ops = tf.load_op_library(build(folder, "bad_datasets", text + "using namespace tensorflow;\n" + BAD_DATASETS))

    def walk(what):
        dataset = tf.data.experimental.from_variant(ops.bad_dataset(what=what), tf.TensorSpec(None, tf.int64))
        return [x.numpy() for x in dataset.batch(1)]

    assert walk("") == walk("cardinality throws") == []
    for what, error, message in (
        ("MakeDataset throws", tf.errors.InternalError, "from MakeDataset"),
        ("no dataset", tf.errors.InternalError, "made no dataset"),
        ("made and refused", tf.errors.AbortedError, "refused"),
        ("shapes do not fit", tf.errors.InvalidArgumentError, "of 1 components has 2 shapes"),
        ("no iterator", tf.errors.InternalError, "gave no iterator"),
        ("iterator throws", tf.errors.InternalError, "from MakeIteratorInternal"),
        ("Initialize fails", tf.errors.DataLossError, "from Initialize"),
        ("throws", tf.errors.InternalError, "from GetNextInternal"),
        ("wrong type", tf.errors.InvalidArgumentError, "expected int64 but got float"),
        ("too many", tf.errors.InvalidArgumentError, "expected 1 types but got 3"),
        ("nothing", tf.errors.InvalidArgumentError, "expected 1 types but got 0"),
        ("no value", tf.errors.InvalidArgumentError, "expected int64 but got"),
        ("error and element", tf.errors.UnavailableError, "with an element"),
    ):
        with pytest.raises(error, match=message):
            walk(what)
