"""Ops and kernels in C++ sources for TensorFlow (REGISTER_OP, OpKernel), compiled with the flags that tf.sysconfig gives."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import weft as tf

SOURCES = pathlib.Path(__file__).parent / "custom_ops"
compiler = shutil.which("g++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(compiler is None, reason="no C++ compiler")


STRICT = ("-Wall", "-Wextra", "-Werror")


def build(folder, name, text=None, flags=("-std=c++17",), libraries=()):
    """The library of one source, without a warning in our headers."""
    source = SOURCES / f"{name}.cc"
    if text is not None:
        source = folder / f"{name}.cc"
        source.write_text(text)
    path = folder / f"lib{name}.so"
    options = [*tf.sysconfig.get_compile_flags(), *flags, *STRICT, "-fPIC", "-shared"]
    subprocess.run([compiler, *options, source, "-o", path, *tf.sysconfig.get_link_flags(), *libraries], check=True)
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ops")


@pytest.fixture(scope="module")
def prelude(folder):
    """Flags with which a source finds the headers of ops and kernels precompiled: small libraries then compile in less than a second."""
    header = folder / "prelude.h"
    names = ("common_shape_fns", "op", "op_kernel", "register_types", "resource_mgr")
    header.write_text("".join(f'#include "tensorflow/core/framework/{name}.h"\n' for name in names))
    flags = ("-std=c++17",)
    options = [*tf.sysconfig.get_compile_flags(), *flags, *STRICT, "-fPIC", "-shared"]
    subprocess.run([compiler, *options, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return (*flags, "-include", str(header))


@pytest.fixture(scope="module")
def small(folder, prelude):
    return tf.load_op_library(
        build(folder, "small", "using namespace tensorflow;\n" + NAMES + CALLS + LABELS + SHAPES + HELD, prelude)
    )


@pytest.fixture(scope="module")
def hostile(folder):
    return tf.load_op_library(build(folder, "hostile"))


def test_program(folder):
    """A program with ops of every kind prints what it prints with TensorFlow."""
    library = build(folder, "ops", flags=("-O1",))
    program = [sys.executable, "-m", "weft", SOURCES / "program.py", library]
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == (SOURCES / "ops.out").read_text().splitlines()
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
    assert "NEEDED" in needed and "tensorflow" not in needed


def test_state(folder):
    """Variables, tables, functions and variants: what it prints with TensorFlow."""
    program = [sys.executable, "-m", "weft", SOURCES / "state.py", build(folder, "state")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == (SOURCES / "state.out").read_text().splitlines()


@pytest.mark.parametrize("order", ["NONE", "FIRST", "AFTER"])
def test_abseil(folder, order):
    """Abseil's names with and without abseil, whose headers may stand before or behind TensorFlow's."""
    libraries = []
    if order != "NONE":
        wanted = ("absl_flat_hash_map", "absl_status", "absl_statusor", "absl_strings", "absl_span")
        found = subprocess.run(["pkg-config", "--libs", *wanted], capture_output=True, text=True)
        if found.returncode:
            pytest.skip("abseil's development files are not installed")
        libraries = found.stdout.split()
    text = (SOURCES / "abseil.cc").read_text().replace("AbseilForms", f"Abseil{order}Forms")
    flags = ("-std=c++17", f"-DABSEIL_{order}", f"-I{SOURCES}", *(() if order == "NONE" else ("-DWEFT_WITH_ABSEIL",)))
    ops = tf.load_op_library(build(folder, f"abseil_{order.lower()}", text, flags, libraries))
    (forms,) = [getattr(ops, name) for name in dir(ops) if name.startswith("abseil") and name.endswith("forms")]
    same, told = forms("some")
    assert same.numpy() == b"some"
    assert told.numpy() == b"no some here 1111 12 11 refused 6 0 1"
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
        forms("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="wrong text"):
        forms("wrong")


def test_names_with_namespaces(small):
    """Python's name of "Outer>Inner>Op", and kernels registered for many types in a row."""
    ops = small
    assert ops.outer_inner_zero_it(np.array([1, 2], np.uint16)).numpy().tolist() == [0, 0]
    assert ops.outer_inner_zero_it(np.array([1, 2], np.float64)).numpy().tolist() == [0, 0]
    two = ops.outer_two()
    assert (int(two.a), int(two.b)) == (1, 2)


NAMES = r"""
REGISTER_OP("Outer>Inner>ZeroIt").Attr("T: realnumbertype").Input("x: T").Output("y: T").SetShapeFn(shape_inference::UnchangedShape);
template <class T>
class ZeroIt : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    Tensor zeros(DataTypeToEnum<T>::value, y->shape());
    for (int i = 0; i < zeros.NumElements(); ++i) zeros.flat<T>()(i) = T(0);
    *y = zeros;  // what is assigned to an output is the output
  }
};
#define REGISTER(T) REGISTER_KERNEL_BUILDER(Name("Outer>Inner>ZeroIt").Device(DEVICE_CPU).TypeConstraint<T>("T"), ZeroIt<T>)
TF_CALL_REAL_NUMBER_TYPES(REGISTER);
REGISTER_OP("Outer>Two").Output("a: int32").Output("b: int32");
class TwoOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    c->set_output(0, Tensor(1));
    c->set_output(1, Tensor(2));
  }
};
REGISTER_KERNEL_BUILDER(Name("Outer>Two").Device(DEVICE_CPU), TwoOp);
"""


def test_example_with_a_resource(folder, prelude):
    text = (pathlib.Path(__file__).parents[2] / "examples/tensorflow_cpp/counter.cc").read_text()
    ops = tf.load_op_library(build(folder, "counter", text, prelude))
    first, second = ops.counter(shared_name="a"), ops.counter(shared_name="b")
    count = tf.function(lambda by: ops.count_up(first, by))
    assert [int(ops.count_up(c, n)) for c, n in ((first, 2), (second, 10), (first, 3))] == [2, 10, 5]
    assert int(count(tf.constant(4, tf.int64))) == 9
    assert int(ops.count_up(ops.counter(shared_name="a"), 1)) == 10
    with pytest.raises(tf.errors.OpError):
        ops.count_up(tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, 0, -1, -2).resource_handle, 1)


def test_own_form(folder):
    """weft/op.h: one definition with kernel, gradient and lowering."""
    text = (pathlib.Path(__file__).parents[2] / "examples/tensorflow_cpp/soft_clamp.cc").read_text()
    library = build(folder, "soft_clamp", text, flags=("-std=c++20",))
    assert "weft" not in subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout.replace(
        library, ""
    )
    ops = tf.load_op_library(library)
    assert "without corners" in ops.soft_clamp.__doc__
    x = np.array([[-3.0, 0.0, 0.5, 2.0]])
    expected, slope = x / (1 + abs(x)), 1 / (1 + abs(x)) ** 2

    def gradient(v):
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = ops.soft_clamp(v)
        return tape.gradient(y, v)

    for dtype in (np.float32, np.float64):
        v = tf.constant(x.astype(dtype))
        for compiled in (None, False, True):
            run = (lambda f: f) if compiled is None else lambda f, c=compiled: tf.function(f, jit_compile=c)
            np.testing.assert_allclose(run(ops.soft_clamp)(v).numpy(), expected, rtol=1e-6)
            np.testing.assert_allclose(run(gradient)(v).numpy(), slope, rtol=1e-6)
    assert tf.function(ops.soft_clamp).get_concrete_function(tf.TensorSpec([None, 4], tf.float32)).outputs[0].shape == [
        None,
        4,
    ]
    with pytest.raises(tf.errors.OpError):
        ops.soft_clamp(np.array([1, 2]))


OWN_ERRORS = r"""
#include <weft/op.h>
using namespace weft::op;
static const weft::Op own_errors = weft::define_op("OwnErrors").input("x: float").output("y: float").attr("what: string")
    .shape([](Shapes& s) {
      if (s.attr<std::string>("what") == "shape") throw Failure("from the shape rule");
      s.output(0, s.input(0));
    })
    .gradient([](Rule& r) {
      const std::string what = r.attr<std::string>("what");
      if (what == "gradient throws") throw Failure("from the gradient", TF_UNIMPLEMENTED);
      if (what == "no such op") r.result(0, r.call("NoSuchOp", {r.x()}));
      if (what == "no such input") r.result(0, r.x(7));
      if (what == "no such result") r.result(7, r.x());
      if (what == "empty") r.result(0, r.call("Neg", {Value()}));
    })
    .lowering([](Rule& r) { r.result(0, r.attr<std::string>("what") == "lowering" ? r.y() : r.x()); })
    .kernel([](Run& r) {
      const std::string what = r.attr<std::string>("what");
      if (what == "wrong type") r.input<int64_t>(0);
      if (what == "no input") r.input<float>(3);
      if (what == "no output") return;
      if (what == "no attribute") r.attr<bool>("nothing");
      if (what == "other kind") r.attr<bool>("what");
      if (what == "code") throw Failure("gone", TF_NOT_FOUND);
      if (what == "throws") throw 3;
      if (what == "output 9") r.output<float>(9, {1});
      auto x = r.input<float>(0), y = x;
      auto out = r.output<float>(0, x.shape);
      for (int64_t i = 0; i < y.size; ++i) out[i] = x[i];
    });
"""


def test_own_form_errors(folder):
    ops = tf.load_op_library(build(folder, "own_errors", OWN_ERRORS, flags=("-std=c++20",)))
    x = tf.constant([1.0])
    for what, error, text in (
        ("wrong type", tf.errors.InvalidArgumentError, "another element type"),
        ("no input", tf.errors.InvalidArgumentError, "there is no input 3"),
        ("no output", tf.errors.InternalError, "Missing 0-th output"),
        ("no attribute", tf.errors.NotFoundError, "no attribute nothing"),
        ("other kind", tf.errors.InvalidArgumentError, "of another kind: string"),
        ("code", tf.errors.NotFoundError, "gone"),
        ("throws", tf.errors.InternalError, "unknown type"),
        ("output 9", tf.errors.InternalError, "no output 9"),
    ):
        with pytest.raises(error, match=text):
            ops.own_errors(x, what=what)
    for what, text in (
        ("gradient throws", "from the gradient"),
        ("no such op", "NoSuchOp"),
        ("no such input", "asks for value 7"),
        ("no such result", "gives a result 7"),
        ("empty", "an input without a value"),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.own_errors(x, what=what)
        with pytest.raises((tf.errors.OpError, LookupError), match=text):
            tape.gradient(y, x)
    with pytest.raises((tf.errors.OpError, ValueError), match="from the shape rule"):
        tf.function(lambda v: ops.own_errors(v, what="shape"))(x)
    with pytest.raises(tf.errors.OpError, match="has inputs alone"):
        tf.function(lambda v: ops.own_errors(v, what="lowering"), jit_compile=True)(x)
    assert ops.own_errors(x, what="").numpy().tolist() == [1.0]


def test_calls(small):
    """Arguments by place and by name, as Python's own functions take them."""
    ops = small
    assert ops.call_it([2], 3).numpy().tolist() == ops.call_it(in_=[2], b=3).numpy().tolist() == [5]
    assert ops.call_it([2], 3, 4).numpy().tolist() == ops.call_it([2], 3, 4, "n").numpy().tolist() == [20]
    assert (
        ops.call_it([2], 3, scale=2, name="n").numpy().tolist()
        == ops.CallIt(in_=[2], b=3, scale=2).numpy().tolist()
        == [10]
    )
    for bad in (
        lambda: ops.call_it([2]),
        lambda: ops.call_it([2], 3, 1, "n", 5),
        lambda: ops.call_it([2], 3, b=3),
        lambda: ops.call_it([2], c=3),
    ):
        with pytest.raises(TypeError):
            bad()


CALLS = r"""
REGISTER_OP("CallIt").Input("in: int32").Input("b: int32").Output("out: int32").Attr("scale: int = 1");
class CallIt : public tensorflow::OpKernel {
 public:
  explicit CallIt(tensorflow::OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("scale", &scale_)); }
  void Compute(tensorflow::OpKernelContext* c) override {
    tensorflow::Tensor* out = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output("out", c->input(0).shape(), &out));
    for (int i = 0; i < out->NumElements(); ++i) {
      out->vec<tensorflow::int32>()(i) = scale_ * (c->input(0).vec<tensorflow::int32>()(i) + c->input(1).scalar<tensorflow::int32>()());
    }
  }

 private:
  tensorflow::int32 scale_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("CallIt").Device(tensorflow::DEVICE_CPU), CallIt);
"""


def test_old_forms(folder):
    ops = tf.load_op_library(build(folder, "old_forms"))
    for dtype in (np.float32, np.int32, np.int64):
        assert ops.old_zero_out(np.array([5, 4, 3], dtype), preserve_index=1).numpy().tolist() == [0, 4, 0]
    assert ops.old_zero_out([5, 4]).numpy().tolist() == [5, 0]
    assert "Sets all elements but one to zero." in ops.old_zero_out.__doc__
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need preserve_index >= 0, got -1"):
        ops.old_zero_out([1], preserve_index=-1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="preserve_index out of range"):
        ops.old_zero_out([1], preserve_index=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ZeroOut expects a 1-D vector."):
        ops.old_zero_out([[1]])
    assert ops.old_forms().numpy() == b"gone 1 NOT_FOUND: gone OK [2,3] 6 2147483647 not found"


ERRORS = {
    "constructor throws": (tf.errors.InternalError, "from the constructor"),
    "no such attribute": (tf.errors.NotFoundError, "No attr named 'nothing'"),
    "wrong kind of attribute": (tf.errors.InvalidArgumentError, "with type 'string' when 'int' expected"),
    "throws": (tf.errors.InternalError, "from Compute"),
    "throws a number": (tf.errors.InternalError, "an exception of unknown type"),
    "no output": (tf.errors.InternalError, "Missing 0-th output"),
    "wrong element type": (tf.errors.InternalError, "int32 expected, got float"),
    "not a matrix": (tf.errors.InternalError, "Asking for tensor of 2 dimensions from a tensor of 1 dimensions"),
    "no such input": (tf.errors.InternalError, "input 7 of 1"),
    "check": (tf.errors.InternalError, r"Check failed: c->num_inputs\(\) == 2 \(1 vs. 2\) two are needed"),
    "fatal": (tf.errors.InternalError, "the end"),
    "wrong output type": (tf.errors.InternalError, "expected type for output 0: float, got int32"),
    "empty output": (tf.errors.InvalidArgumentError, "output 0 is a tensor without a value"),
    "no such output": (tf.errors.InternalError, "there is no output 3"),
    "no such slice": (tf.errors.InternalError, "no rows 5 to 9"),
    "negative shape": (tf.errors.InternalError, "Expected a non-negative size, got -1"),
    "too much memory": (tf.errors.ResourceExhaustedError, "(?i)oom|memory"),
    "too many elements": (tf.errors.InternalError, "overflow"),
    "handle of a float": (tf.errors.InternalError, "resource expected, got float"),
    "no resource": (tf.errors.NotFoundError, "nobody"),
    "thread throws": (tf.errors.InternalError, "from a thread"),
    "two errors": (tf.errors.AbortedError, "the first"),
    "null reference": (tf.errors.UnimplementedError, "as a reference to a tensor of the kernel"),
    "null output": (tf.errors.InvalidArgumentError, "allocate_output: the place for the result is null"),
    "null temporary": (tf.errors.InvalidArgumentError, "allocate_temp: the place for the result is null"),
    "null input": (tf.errors.InvalidArgumentError, "input: the place for the result is null"),
    "null forwarded output": (tf.errors.InternalError, "the place for the result is null"),
    "null memory": (tf.errors.InternalError, "a tensor of no memory"),
    "little memory": (tf.errors.InternalError, r"no tensor of float \[1048576\] in 4 bytes"),
    "null resource": (tf.errors.InvalidArgumentError, "the resource 'nothing' is null"),
    "null counted resource": (tf.errors.InternalError, "a handle of no resource"),
    "empty handle": (tf.errors.InvalidArgumentError, "using the wrong type"),
    "null place for a resource": (tf.errors.InvalidArgumentError, "the place for the resource '.*' is null"),
    "null attribute": (tf.errors.InvalidArgumentError, "attr 'what': the place for the result is null"),
}


@pytest.mark.parametrize("what", ERRORS)
def test_hostile_kernels(hostile, what):
    error, text = ERRORS[what]
    with pytest.raises(error, match=text):
        hostile.hostile([1.0, 2.0], what=what)
    with pytest.raises(error, match=text):
        tf.function(lambda x: hostile.hostile(x, what=what) + 1.0)(tf.constant([1.0, 2.0]))
    assert hostile.hostile([1.0, 2.0], what="nothing").numpy().tolist() == [1.0, 2.0]


def test_hostile_async_kernels(hostile):
    call = hostile.hostile_async
    for what, text in (
        ("throws", "from ComputeAsync"),
        ("no output", "Missing 0-th output"),
        ("never done", "dropped its callback"),
    ):
        with pytest.raises(tf.errors.InternalError, match=text):
            call([1.0], what=what)
        with pytest.raises(tf.errors.InternalError, match=text):
            tf.function(lambda x, what=what: call(x, what=what) + 1.0)(tf.constant([1.0]))
    for what in ("done and throws", "done twice", "slow"):
        assert call([1.0], what=what).numpy().tolist() == [1.0]
        assert tf.function(lambda x, what=what: call(x, what=what) + 1.0)(tf.constant([1.0])).numpy().tolist() == [2.0]


def test_hostile_shape_functions(hostile):
    spec = tf.TensorSpec([2], tf.float32)
    for what, text in (
        ("throws", "from the shape function"),
        ("no such dimension", "dimension 9 of a shape of rank 1"),
        ("no such output", "at"),
    ):
        with pytest.raises((ValueError, tf.errors.InternalError), match=text):
            tf.function(lambda x, what=what: hostile.hostile_shape(x, what=what)).get_concrete_function(spec)


def test_eigen(folder):
    """With Eigen on the include path tensors are Eigen's maps, and expressions run on the engine's threads."""
    ops = tf.load_op_library(build(folder, "eigen", flags=("-std=c++17", "-isystem", "/usr/include/eigen3")))
    for dtype in (np.float32, np.float64):
        x, y = np.arange(6, dtype=dtype).reshape(2, 3), np.ones((2, 3), dtype)
        z, sums = ops.eigen_axpy(dtype(2), x, y)
        assert z.numpy().tolist() == [[1, 3, 5], [7, 9, 11]]
        assert sums.numpy().tolist() == [9, 27]
    ones = np.ones((500, 3000), np.float32)
    z, sums = ops.eigen_axpy(np.float32(2), ones, ones)
    assert (z.numpy() == 3).all() and (sums.numpy() == 9000).all()


ABSEIL = r"""
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
using namespace tensorflow;
absl::Status Inner(int n) { return n < 0 ? absl::InvalidArgumentError(absl::StrCat("n is ", n)) : absl::OkStatus(); }
REGISTER_OP("AbseilsOwn").Attr("n: int").Output("y: int32").SetShapeFn([](shape_inference::InferenceContext* c) -> absl::Status {
  TF_RETURN_IF_ERROR(Inner(1));
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
});
class AbseilsOwn : public OpKernel {
 public:
  explicit AbseilsOwn(OpKernelConstruction* c) : OpKernel(c) {
    int n = 0;
    OP_REQUIRES_OK(c, c->GetAttr("n", &n));
    OP_REQUIRES_OK(c, Inner(n));
    OP_REQUIRES(c, n < 10, absl::NotFoundError("n is large"));
  }
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(5)); }
};
REGISTER_KERNEL_BUILDER(Name("AbseilsOwn").Device(DEVICE_CPU), AbseilsOwn);
"""


@pytest.mark.skipif(not os.path.exists("/usr/include/absl/status/status.h"), reason="abseil is not installed")
def test_with_abseil(folder):
    """Where a source includes abseil before these headers, Status is abseil's in its own functions."""
    ops = tf.load_op_library(
        build(folder, "abseil", ABSEIL, libraries=("-labsl_status", "-labsl_cord", "-labsl_strings"))
    )
    assert ops.abseils_own(n=1).numpy() == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="n is -1"):
        ops.abseils_own(n=-1)
    with pytest.raises(tf.errors.NotFoundError, match="n is large"):
        ops.abseils_own(n=10)


LABELS = r"""
template <int kValue>
class ValueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(kValue)); }
};
// Before the op, as in a file that comes first.
REGISTER_KERNEL_BUILDER(Name("LabelledValue").Device(DEVICE_CPU), ValueOp<1>);
REGISTER_KERNEL_BUILDER(Name("LabelledValue").Device(DEVICE_CPU).Label("other"), ValueOp<2>);
REGISTER_KERNEL_BUILDER(Name("LabelledValue").Device(DEVICE_GPU), ValueOp<3>);
REGISTER_KERNEL_BUILDER(Name("PreferredValue").Device(DEVICE_CPU), ValueOp<4>);
REGISTER_KERNEL_BUILDER(Name("PreferredValue").Device(DEVICE_CPU).Priority(1), ValueOp<5>);
REGISTER_OP("LabelledValue").Output("value: int32");
REGISTER_OP("PreferredValue").Output("value: int32");
"""


def test_labels_and_priorities(small):
    assert small.labelled_value().numpy() == 1
    assert small.preferred_value().numpy() == 5


SHAPES = r"""
REGISTER_OP("ShapedConv").Input("x: T").Input("w: T").Output("y: T").Attr("T: {int8, float}").Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID'}").SetShapeFn(shape_inference::Conv2DShape);
REGISTER_OP("ShapedPool").Input("x: float").Output("y: float").Attr("ksize: list(int)").Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID'}").SetShapeFn(shape_inference::MaxPoolShape);
REGISTER_OP("ShapedSum").Input("x: string").Input("axes: int64").Output("y: float").Attr("keep_dims: bool").SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("ShapedWrongly").Input("x: float").Output("y: float").SetShapeFn(shape_inference::Conv2DShape);
"""


def test_shape_functions_of_the_engine(small):
    """Convolutions and pooling: sizes by their formulas, whatever the element type."""

    def shape(f, *specs):
        return tf.function(f).get_concrete_function(*specs).outputs[0].shape.as_list()

    x, w = tf.TensorSpec([None, 10, 11, 3], tf.int8), tf.TensorSpec([3, 3, 3, 8], tf.int8)
    conv, pool = small.shaped_conv, small.shaped_pool
    assert shape(lambda x, w: conv(x, w, strides=[1, 2, 2, 1], padding="SAME"), x, w) == [None, 5, 6, 8]
    assert shape(lambda x, w: conv(x, w, strides=[1, 1, 1, 1], padding="VALID"), x, w) == [None, 8, 9, 8]
    image = tf.TensorSpec([2, None, 9, 4], tf.float32)
    window = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1]}
    assert shape(lambda x: pool(x, padding="VALID", **window), image) == [2, None, 4, 4]
    rows = tf.TensorSpec([4, 5, None], tf.string)
    assert shape(lambda x: small.shaped_sum(x, np.array([0, 2]), keep_dims=False), rows) == [5]
    assert shape(lambda x: small.shaped_sum(x, np.array([-1]), keep_dims=True), rows) == [4, 5, 1]
    with pytest.raises((ValueError, tf.errors.OpError), match="not a multiple of input depth of filter"):
        shape(lambda x, w: conv(x, w, strides=[1, 1, 1, 1], padding="SAME"), x, tf.TensorSpec([3, 3, 4, 8], tf.int8))
    with pytest.raises((ValueError, tf.errors.OpError), match="does not fit the inputs"):
        shape(small.shaped_wrongly, image)


HELD = r"""
class Held : public ResourceBase {
 public:
  explicit Held(int value) : value_(value) { ++alive; }
  ~Held() override { --alive; }
  std::string DebugString() const override { return "held"; }
  const int value_;
  inline static std::atomic<int> alive{0};
};
class Otherwise : public ResourceBase {
 public:
  std::string DebugString() const override { return "otherwise"; }
};
REGISTER_OP("HeldMake").Attr("value: int").Output("held: resource").SetIsStateful();
class HeldMake : public OpKernel {
 public:
  explicit HeldMake(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("value", &value_)); }
  void Compute(OpKernelContext* c) override {
    Tensor handle(DT_RESOURCE, TensorShape({}));
    handle.scalar<ResourceHandle>()() = ResourceHandle::MakeRefCountingHandle(new Held(value_), c->device()->name(), {}, c->stack_trace());
    c->set_output(0, handle);
  }

 private:
  int value_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("HeldMake").Device(DEVICE_CPU), HeldMake);
REGISTER_OP("HeldValue").Input("held: resource").Attr("wrong: bool = false").Output("value: int32").SetIsStateful();
class HeldValue : public OpKernel {
 public:
  explicit HeldValue(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("wrong", &wrong_)); }
  void Compute(OpKernelContext* c) override {
    if (wrong_) {
      core::RefCountPtr<Otherwise> other;
      OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &other));
    }
    core::RefCountPtr<Held> held;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &held));
    c->set_output(0, Tensor(held->value_));
  }

 private:
  bool wrong_ = false;
};
REGISTER_KERNEL_BUILDER(Name("HeldValue").Device(DEVICE_CPU), HeldValue);
REGISTER_OP("HeldAlive").Output("alive: int32").SetIsStateful();
class HeldAlive : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(Held::alive.load())); }
};
REGISTER_KERNEL_BUILDER(Name("HeldAlive").Device(DEVICE_CPU), HeldAlive);
"""


def test_handles_that_own_their_object(small):
    first, second = small.held_make(value=5), small.held_make(value=7)
    assert [int(small.held_value(h)) for h in (first, second)] == [5, 7]
    assert int(tf.function(small.held_value)(second)) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="using the wrong type"):
        small.held_value(first, wrong=True)
    assert int(small.held_alive()) == 2
    again = tf.identity(first)
    del first
    assert int(small.held_value(again)) == 5 and int(small.held_alive()) == 2
    del again
    assert int(small.held_alive()) == 1


def test_bad_libraries(folder, prelude):
    for name, op, text in (
        ("bad_type", 'REGISTER_OP("BadType").Input("x: nosuchtype");', "unknown type nosuchtype"),
        ("bad_attr", 'REGISTER_OP("BadAttr").Attr("x: nosuchtype");', "unknown type of attribute 'nosuchtype'"),
        ("bad_name", 'REGISTER_OP("not a name");', "Invalid name: not a name"),
    ):
        library = build(folder, name, f"using namespace tensorflow;\n{op}", prelude)
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            tf.load_op_library(library)


def test_two_libraries_with_one_op(folder, prelude):
    """As in TensorFlow the second library has no function for the op, and a call cannot choose between two kernels."""
    source = r"""
REGISTER_OP("TwiceThere").Output("value: int32");
class TwiceThere : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* c) override { c->set_output(0, tensorflow::Tensor(VALUE)); }
};
REGISTER_KERNEL_BUILDER(Name("TwiceThere").Device(tensorflow::DEVICE_CPU), TwiceThere);
"""
    first = tf.load_op_library(build(folder, "first", source.replace("VALUE", "1"), prelude))
    second = tf.load_op_library(build(folder, "second", source.replace("VALUE", "2"), prelude))
    assert not hasattr(second, "twice_there")
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Multiple OpKernel registrations match NodeDef at the same priority"
    ):
        first.twice_there()


def test_a_library_by_two_paths(folder, prelude, monkeypatch):
    path = build(folder, "by_path", 'REGISTER_OP("ByPath").Output("value: int32");', prelude)
    monkeypatch.chdir(folder)
    assert tf.load_op_library(path) is tf.load_op_library("./libby_path.so")


def test_jacobian_by_a_registered_gradient(small):
    """The rule is traced once for all rows."""

    @tf.RegisterGradient("Outer>Inner>ZeroIt")
    def rule(op, dy):
        return tf.reshape(dy, [-1]) * op.inputs[0] + op.outputs[0]

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = small.outer_inner_zero_it(x)
    assert tape.gradient(y, x).numpy().tolist() == [1, 2, 3]
    assert tape.jacobian(y, x).numpy().tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert tape.jacobian(y, x, experimental_use_pfor=False).numpy().tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]


def test_headers_together(folder):
    """All C++ headers in one unit, in their order and in the reverse one, without warnings; each by itself where WEFT_EACH_HEADER is set."""
    include = pathlib.Path(tf.sysconfig.get_include())
    headers = sorted(
        str(p.relative_to(include)) for top in ("core", "cc") for p in (include / "tensorflow" / top).rglob("*.h")
    )
    of_c = re.compile(r"core/(common_runtime/next_pluggable|platform/ctstring)")
    headers = [h for h in headers if not of_c.search(h)]
    assert len(headers) > 150
    units = [headers, headers[::-1]] if "WEFT_EACH_HEADER" not in os.environ else [[h] for h in headers]

    def check(unit):
        text = "".join(f'#include "{header}"\n' for header in unit)
        command = [
            compiler,
            *tf.sysconfig.get_compile_flags(),
            *STRICT,
            "-std=c++17",
            "-fsyntax-only",
            "-x",
            "c++",
            "-",
        ]
        return subprocess.run(command, input=text, capture_output=True, text=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for unit, done in zip(units, pool.map(check, units)):
            assert done.returncode == 0, f"{unit[0]} ...:\n{done.stderr}"
