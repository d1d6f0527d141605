"""Ops of a library in what Python makes of them: traced functions, SavedModels, dispatch."""

import pathlib
import shutil
import subprocess

import pytest

import weft as tf

compiler = shutil.which("g++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(compiler is None, reason="no C++ compiler")

# A resource whose ops are not declared stateful, as in TensorFlow's guide to custom ops.
BOX = r"""
#include "absl/status/status.h"
#include "third_party/eigen3/unsupported/Eigen/CXX11/Tensor"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/errors.h"
using namespace tensorflow;

class Box : public ResourceBase {
 public:
  std::string DebugString() const override { return "a box"; }
  mutex mu;
  int64_t value TF_GUARDED_BY(mu) = 0;
};
absl::Status Same(shape_inference::InferenceContext* c) {
  if (c->num_outputs()) c->set_output(0, c->Scalar());
  return absl::OkStatus();
}
REGISTER_OP("Example>Box").Output("box: resource").SetShapeFn(Same);
REGISTER_OP("Example>BoxAdd").Input("box: resource").Input("by: int64").SetShapeFn(Same);
REGISTER_OP("Example>BoxValue").Input("box: resource").Output("value: int64").SetShapeFn(Same);
REGISTER_OP("Example>Twice").Input("x: int64").Output("y: int64").SetShapeFn(shape_inference::UnchangedShape);

class BoxOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Tensor handle(DT_RESOURCE, TensorShape({}));
    handle.scalar<ResourceHandle>()() = ResourceHandle::MakeRefCountingHandle(new Box, c->device()->name());
    c->set_output(0, handle);
  }
};
class BoxAddOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Box> box;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &box));
    mutex_lock lock(box->mu);
    box->value += c->input(1).scalar<int64_t>()();
  }
};
class BoxValueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Box> box;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &box));
    mutex_lock lock(box->mu);
    c->set_output(0, Tensor(box->value));
  }
};
class TwiceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    for (int64_t i = 0; i < y->NumElements(); ++i) y->flat<int64_t>()(i) = 2 * c->input(0).flat<int64_t>()(i);
  }
};
REGISTER_KERNEL_BUILDER(Name("Example>Box").Device(DEVICE_CPU), BoxOp);
REGISTER_KERNEL_BUILDER(Name("Example>BoxAdd").Device(DEVICE_CPU), BoxAddOp);
REGISTER_KERNEL_BUILDER(Name("Example>BoxValue").Device(DEVICE_CPU), BoxValueOp);
REGISTER_KERNEL_BUILDER(Name("Example>Twice").Device(DEVICE_CPU), TwiceOp);
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """The library, by the flags of tf.sysconfig and with abseil's names from the headers that come with these."""
    folder = tmp_path_factory.mktemp("box")
    (folder / "box.cc").write_text(BOX)
    fallback = pathlib.Path(tf.sysconfig.get_include()) / "tensorflow/fallback"
    assert f"-isystem{fallback}" in tf.sysconfig.get_compile_flags()
    flags = [*tf.sysconfig.get_compile_flags(), "-Wall", "-Werror", "-fPIC", "-shared"]
    subprocess.run([compiler, *flags, folder / "box.cc", "-o", folder / "box.so"], check=True)
    return tf.load_op_library(folder / "box.so")


def test_order_in_functions(ops):
    """Ops on a resource run in the order of the program, declared stateful or not."""
    box = ops.example_box()

    @tf.function
    def values():
        first = ops.example_box_value(box)
        ops.example_box_add(box, 5)
        second = ops.example_box_value(box)
        ops.example_box_add(box, 10)
        third = ops.example_box_value(box)
        ops.example_box_add(box, 100)
        return first, second, third

    assert [int(v) for v in values()] == [0, 5, 15]
    assert int(ops.example_box_value(box)) == 115


def test_order_in_loops_and_calls(ops):
    box = ops.example_box()

    @tf.function
    def add(n):
        ops.example_box_add(box, n)

    @tf.function
    def run(n):
        for i in tf.range(n):
            add(i)
        return ops.example_box_value(box)

    @tf.function
    def run_inline(n):
        for i in tf.range(n):
            ops.example_box_add(box, i)
        return ops.example_box_value(box)

    assert int(run(tf.constant(5, tf.int64))) == 10
    assert int(run_inline(tf.constant(5, tf.int64))) == 20


def test_saved_model(ops, tmp_path):
    """All namespaces may be saved where no list is given, as in TensorFlow."""
    module = tf.Module()
    module.f = tf.function(ops.example_twice, input_signature=[tf.TensorSpec([None], tf.int64)])
    tf.saved_model.save(module, str(tmp_path / "all"))
    assert tf.saved_model.load(str(tmp_path / "all")).f([3, 4]).numpy().tolist() == [6, 8]
    options = tf.saved_model.SaveOptions(namespace_whitelist=["Example"])
    tf.saved_model.save(module, str(tmp_path / "one"), options=options)
    with pytest.raises(ValueError, match="non-whitelisted namespaces to SavedModel: .*Example>Twice"):
        options = tf.saved_model.SaveOptions(namespace_whitelist=[])
        tf.saved_model.save(module, str(tmp_path / "none"), options=options)


def test_dispatch(ops):
    @tf.experimental.dispatch_for_api(ops.example_twice)
    def twice_sparse(x: tf.SparseTensor, name=None):
        return tf.SparseTensor(x.indices, ops.example_twice(x.values), x.dense_shape)

    sparse = ops.example_twice(tf.SparseTensor([[1]], tf.constant([7], tf.int64), [3]))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [0, 14, 0]
    assert ops.example_twice([1]).numpy().tolist() == [2]
