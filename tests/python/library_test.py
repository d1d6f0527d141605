"""Libraries of ops and of file systems that programs load, and ops that TensorFlow has no kernels for on CPUs."""

import inspect
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import weft as tf

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "include")
CLIENT = os.path.join(HERE, "..", "capi", "client")
compiler = shutil.which("cc") or shutil.which("gcc")
needs_compiler = pytest.mark.skipif(
    compiler is None or not os.path.isdir(CLIENT), reason="no C compiler, or no sources beside this test"
)

SCALE = r"""
#include <stdlib.h>
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
static void same_shape(TF_ShapeInferenceContext* c, TF_Status* s) {
  TF_ShapeHandle* h = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(c, 0, h, s);
  if (TF_GetCode(s) == TF_OK) TF_ShapeInferenceContextSetOutput(c, 0, h, s);
  TF_DeleteShapeHandle(h);
}
static void* make(TF_OpKernelConstruction* c) {
  TF_Status* s = TF_NewStatus();
  float* factor = malloc(sizeof(float));
  TF_OpKernelConstruction_GetAttrFloat(c, "factor", factor, s);
  TF_DeleteStatus(s);
  return factor;
}
static void run(void* kernel, TF_OpKernelContext* c) {
  TF_Status* s = TF_NewStatus();
  TF_Tensor *in = NULL, *out = NULL;
  int64_t dims[2];
  TF_GetInput(c, 0, &in, s);
  if (TF_GetCode(s) == TF_OK && TF_NumDims(in) > 2) TF_SetStatus(s, TF_INVALID_ARGUMENT, "at most 2 dimensions");
  if (TF_GetCode(s) == TF_OK) {
    for (int i = 0; i < TF_NumDims(in); ++i) dims[i] = TF_Dim(in, i);
    out = TF_AllocateOutput(c, 0, TF_FLOAT, dims, TF_NumDims(in), TF_TensorByteSize(in), s);
  }
  if (out) {
    for (int64_t i = 0; i < TF_TensorElementCount(in); ++i) ((float*)TF_TensorData(out))[i] = *(float*)kernel * ((float*)TF_TensorData(in))[i];
  }
  if (TF_GetCode(s) != TF_OK) TF_OpKernelContext_Failure(c, s);
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
  TF_DeleteStatus(s);
}
__attribute__((constructor)) static void load(void) {
  TF_Status* s = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("UserScaleBy");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddAttr(op, "factor: float = 2.0");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, same_shape);
  TF_RegisterOpDefinition(op, s);
  TF_KernelBuilder* kernel = TF_NewKernelBuilder("UserScaleBy", "CPU", make, run, free);
  TF_RegisterKernelBuilder("UserScaleBy", kernel, s);
  TF_DeleteStatus(s);
}
"""


def build(folder, name, source):
    path = os.path.join(folder, f"lib{name}.so")
    flags = tf.sysconfig.get_link_flags()
    subprocess.run([compiler, "-shared", "-fPIC", "-std=gnu11", "-I" + INCLUDE, source, "-o", path, *flags], check=True)
    return path


@needs_compiler
def test_ops_of_a_library(tmp_path):
    source = tmp_path / "scale.c"
    source.write_text(SCALE)
    path = build(tmp_path, "scale", source)
    module = tf.load_op_library(path)
    assert tf.load_op_library(path) is module
    assert str(inspect.signature(module.user_scale_by)) == "(x, factor=2, name=None)"
    x = tf.constant([1.0, 2.0])
    assert module.user_scale_by(x).numpy().tolist() == [2.0, 4.0]
    assert module.user_scale_by(x, 3.0).numpy().tolist() == [3.0, 6.0]
    assert module.UserScaleBy(x=x, factor=0.5, name="n").numpy().tolist() == [0.5, 1.0]
    assert tf.raw_ops.UserScaleBy(x=x, factor=4.0).numpy().tolist() == [4.0, 8.0]
    with pytest.raises(TypeError, match=r"only takes keyword args \(possible keys: \['x', 'factor', 'name'\]\)"):
        module.UserScaleBy(x, 4.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"at most 2 dimensions \[Op:UserScaleBy\]"):
        module.user_scale_by([[[1.0]]])
    with pytest.raises(TypeError, match="Cannot convert 'a' to EagerTensor of dtype float"):
        module.user_scale_by("a")
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        module.user_scale_by()

    @tf.function
    def f(x):
        y = module.user_scale_by(x, name="mine")
        assert y.shape == x.shape and y.name == "mine:0"
        return y

    assert f(x).numpy().tolist() == [2.0, 4.0]

    @tf.RegisterGradient("UserScaleBy")
    def gradient(op, dy):
        return dy * op.get_attr("factor")

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = module.user_scale_by(x, 5.0)
    assert tape.gradient(y, x).numpy().tolist() == [5.0, 5.0]


@needs_compiler
def test_kernels_and_file_systems_of_libraries(tmp_path):
    build(tmp_path, "ops", os.path.join(CLIENT, "user_lib.c"))
    (tmp_path / "readme.txt").write_text("no library")
    tf.load_library(tmp_path)
    assert tf.raw_ops.ClientLibraryNegate(x=[1.0, -2.0]).numpy().tolist() == [-1.0, 2.0]
    plugin = build(tmp_path, "files", os.path.join(CLIENT, "fs_plugin.c"))
    tf.experimental.register_filesystem_plugin(plugin)
    tf.io.write_file("mem://a/b", "text")
    assert tf.io.read_file("mem://a/b").numpy() == b"text"
    with pytest.raises(tf.errors.AlreadyExistsError, match="File system for mem already registered"):
        tf.experimental.register_filesystem_plugin(plugin)


def test_a_library_with_unknown_symbols_is_refused(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_op_library(tmp_path / "text.so")


@pytest.mark.parametrize(
    "axes, lengths", [([1, 2], [3, 4]), ([-2, -1], [5, 2]), ([2, 0], [4, 2]), ([0], [5]), ([0, 1, 2], [2, 3, 4])]
)
def test_fourier_transforms_over_axes(axes, lengths):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 3, 4)) + 1j * rng.normal(size=(2, 3, 4))
    z, r = tf.constant(x), tf.constant(x.real)
    near = dict(rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tf.fftnd(z, lengths, axes), np.fft.fftn(x, lengths, axes), **near)
    np.testing.assert_allclose(tf.ifftnd(z, lengths, axes), np.fft.ifftn(x, lengths, axes), **near)
    np.testing.assert_allclose(tf.rfftnd(r, lengths, axes, tf.complex128), np.fft.rfftn(x.real, lengths, axes), **near)
    np.testing.assert_allclose(tf.irfftnd(z, lengths, axes, tf.float64), np.fft.irfftn(x, lengths, axes), **near)
    for function, result in ((tf.fftnd, np.fft.fftn(x, lengths, axes)), (tf.irfftnd, np.fft.irfftn(x, lengths, axes))):
        traced = tf.function(lambda z: function(z, lengths, axes)).get_concrete_function(
            tf.TensorSpec([2, 3, 4], tf.complex64)
        )
        assert traced.outputs[0].shape == result.shape


def test_fourier_transforms_over_axes_that_cannot_be():
    z = tf.zeros([2, 3], tf.complex64)
    for lengths, axes in (([2], [3]), ([2, 2], [1, 1]), ([2], [0, 1]), ([-2], [1]), ([[2]], [1])):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            tf.fftnd(z, lengths, axes)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.rfftnd(tf.zeros([2]), [], [])
    assert tf.fftnd(z, [0], [1]).shape == (2, 0) and tf.rfftnd(tf.zeros([2, 3]), [4], [0]).shape == (3, 3)


def test_gradients_of_convolutions_by_example():
    x, w, dy = (tf.random.stateless_normal(s, [1, 2]) for s in ([1, 4, 4, 2], [2, 2, 2, 3], [1, 4, 4, 3]))
    strides = [1, 1, 1, 1]
    of_input = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[1, 4, 4, 2], filter=w, out_backprop=dy, strides=strides, padding="SAME"
    )
    of_filter = tf.raw_ops.Conv2DBackpropFilter(
        input=x, filter_sizes=[2, 2, 2, 3], out_backprop=dy, strides=strides, padding="SAME"
    )
    np.testing.assert_array_equal(tf.conv2d_backprop_input_v2(x, w, dy, strides, "SAME"), of_input)
    np.testing.assert_array_equal(tf.conv2d_backprop_filter_v2(x, w, dy, strides, "SAME"), of_filter)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.conv2d_backprop_input_v2(x[0], w, dy, strides, "SAME")


def test_calls_of_several_threads_are_one_batch():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 6, 10_000_000)  # the sixth row ends the wait
    def f(a):
        tf.py_function(lambda n: sizes.append(int(n)), [tf.shape(a)[0]], [])
        return a + tf.reduce_sum(a)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def call(a):
        return f(a)

    results = {}
    threads = [
        threading.Thread(target=lambda n=n: results.update({n: call(tf.fill([n], float(n))).numpy()}))
        for n in (1, 2, 3)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sizes == [6]
    assert {n: r.tolist() for n, r in results.items()} == {n: [14.0 + n] * n for n in (1, 2, 3)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Task size 7 is larger than maximum input batch size 6"):
        call(tf.ones([7]))


def test_proposals_have_no_kernel():
    with pytest.raises(
        tf.errors.NotFoundError, match="Could not find device for node: {{node GenerateBoundingBoxProposals}}"
    ):
        tf.image.generate_bounding_box_proposals(
            tf.ones([1, 2, 2, 1]), tf.zeros([1, 2, 2, 4]), tf.ones([1, 5]), tf.ones([2, 2, 1, 4])
        )


def _plugin(tmp_path, source):
    """One of the C client's plug-ins, compiled."""
    library = tmp_path / (source + ".so")
    command = [compiler, "-shared", "-fPIC", "-I", INCLUDE, os.path.join(CLIENT, source + ".c"), "-o", library]
    subprocess.run(command, check=True)
    return str(library)


def _in_a_process(folder, code, *arguments, **environment):
    """What a program prints. Devices and optimizers change a whole process."""
    program = folder / "program.py"
    program.write_text(code)
    done = subprocess.run(
        [sys.executable, program, *arguments], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_compiler
def test_checkpoints_and_models_on_the_file_system_of_a_plugin(tmp_path):
    out = _in_a_process(
        tmp_path,
        """
import sys, weft as tf
tf.experimental.register_filesystem_plugin(sys.argv[1])
print("mem" in tf.io.gfile.get_registered_schemes())
class M(tf.Module):
    def __init__(self):
        self.v = tf.Variable([2.0, 3.0])
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def times(self, x):
        return self.v * x
m = M()
tf.saved_model.save(m, "mem://host/model")
print(tf.saved_model.load("mem://host/model").times(2.0).numpy())
c = tf.train.Checkpoint(m=m)
path = c.save("mem://host/ckpt/c")
m.v.assign([0.0, 0.0])
c.restore(tf.train.latest_checkpoint("mem://host/ckpt"))
print(path, m.v.numpy(), tf.io.gfile.listdir("mem://host/ckpt"))
with tf.io.TFRecordWriter("mem://host/r") as w:
    w.write(b"one")
print(list(tf.data.TFRecordDataset("mem://host/r").as_numpy_iterator()))
with tf.io.gfile.GFile("mem://host/t", "a") as f:
    f.write("a")
with tf.io.gfile.GFile("mem://host/t", "a") as f:
    f.write("b")
print(tf.io.gfile.GFile("mem://host/t").read())
""",
        _plugin(tmp_path, "fs_plugin"),
    )
    assert out == [
        "True",
        "[4. 6.]",
        "mem://host/ckpt/c-1 [2. 3.] ['c-1.data-00000-of-00001', 'c-1.index', 'checkpoint']",
        "[b'one']",
        "ab",
    ]


# TensorFlow 2.21 prints the same with this plug-in, up to the loop, in which it makes products of sums on a device that has no kernel for them.
DEVICE = """
import sys, weft as tf
from weft._src.framework.load_library import load_pluggable_device_library
if len(sys.argv) > 1:
    load_pluggable_device_library(sys.argv[1])
print([d.name for d in tf.config.list_physical_devices()], len(tf.config.list_physical_devices("MY_DEVICE")))
print([d.name for d in tf.config.list_logical_devices()])
def where(t):
    return t.device[-11:], t.backing_device[-11:]
a, b = tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])
c = a + b
print(where(c), c.numpy(), where(c - a)[0], (c - a).numpy())
with tf.device("/device:MY_DEVICE:1"):
    e, i, f = tf.square(a), tf.identity(a), tf.fill([2], tf.constant(3.0))
    print(where(e)[0], e.numpy(), where(i)[0], i.numpy(), where(f)[0], f.numpy(), where(a - b)[0], where(tf.shape(e)))
    v = tf.Variable([1.0, 2.0])
    v.assign([3.0, 4.0])
    print(v.device[-11:], v.numpy())
@tf.function
def g(x, y):
    with tf.device("/device:MY_DEVICE:0"):
        s = x + y
    with tf.device("/device:CPU:0"):
        u = s - y
    with tf.device("/device:MY_DEVICE:1"):
        w = tf.square(u)
    return s, u, w
print([t.numpy().tolist() for t in g(a, b)])
@tf.function
def h(x):
    return tf.square(x) + x
print([h(a).numpy().tolist() for _ in range(3)], [x.numpy().tolist() for x in tf.data.Dataset.from_tensors(a).map(h)])
@tf.function
def loop(x):
    for _ in tf.range(3):
        x = x + x
    return tf.reduce_sum(x) if tf.reduce_sum(tf.square(x)) > 1.0 else -x[0]
print(loop(a).numpy())
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.square(a) + a
print(tape.gradient(y, a).numpy())
tf.config.set_soft_device_placement(False)
try:
    with tf.device("/device:MY_DEVICE:1"):
        a * b
except tf.errors.InvalidArgumentError as error:
    print(str(error)[:70])
"""


@needs_compiler
@pytest.mark.parametrize("installed", [False, True])
def test_the_device_of_a_plugin(tmp_path, installed):
    folder = tmp_path / "site-packages" / "tensorflow-plugins"
    folder.mkdir(parents=True)
    library = _plugin(folder, "device_plugin")
    if installed:  # found by the import
        path = os.pathsep.join([str(folder.parent), os.environ.get("PYTHONPATH", "")])
        out = _in_a_process(tmp_path, DEVICE, PYTHONPATH=path)
    else:
        out = _in_a_process(tmp_path, DEVICE, library)
    assert out == [
        "['/physical_device:CPU:0', '/physical_device:MY_DEVICE:0', '/physical_device:MY_DEVICE:1'] 2",
        "['/device:CPU:0', '/device:MY_DEVICE:0', '/device:MY_DEVICE:1']",
        "('MY_DEVICE:0', 'MY_DEVICE:0') [11. 22. 33.] evice:CPU:0 [10. 20. 30.]",
        "MY_DEVICE:1 [1. 4. 9.] MY_DEVICE:1 [1. 2. 3.] MY_DEVICE:1 [3. 3.] evice:CPU:0 ('MY_DEVICE:1', 'evice:CPU:0')",
        "MY_DEVICE:1 [3. 4.]",
        "[[11.0, 22.0, 33.0], [1.0, 2.0, 3.0], [1.0, 4.0, 9.0]]",
        "[[2.0, 6.0, 12.0], [2.0, 6.0, 12.0], [2.0, 6.0, 12.0]] [[2.0, 6.0, 12.0]]",
        "48.0",
        "[3. 5. 7.]",
        "Could not satisfy device specification '/device:MY_DEVICE:1'. enable_s",
    ]


@needs_compiler
def test_the_optimizer_and_profiler_of_a_plugin(tmp_path):
    code = """
import glob, sys, weft as tf
tf.load_pluggable_device_library(sys.argv[1])
@tf.function
def f(x, y):
    return -(x - y)
tf.profiler.experimental.start(sys.argv[2])
print(f(tf.constant(6.0), tf.constant(2.0)).numpy())
tf.profiler.experimental.stop()
profile, = glob.glob(sys.argv[2] + "/plugins/profile/*/*.xplane.pb")
content = open(profile, "rb").read()
print(content.count(b"/device:MINE"), content.count(b"/host:CPU"))
"""
    library = _plugin(tmp_path, "graph_plugin")
    assert _in_a_process(tmp_path, code, library, str(tmp_path / "good")) == ["-12.0", "1 1"]  # it makes Mul of Sub
    for fault, want in (("start_fails", "0 1"), ("profile_garbage", "0 1")):
        assert _in_a_process(tmp_path, code, library, str(tmp_path / fault), WEFT_GRAPH_FAULT=fault) == ["-12.0", want]
    assert _in_a_process(tmp_path, code, library, str(tmp_path / "bad"), WEFT_GRAPH_FAULT="garbage") == ["-4.0", "1 1"]
