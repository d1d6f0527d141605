"""Gradients of a library's ops that its C++ sources give as functions (REGISTER_OP_GRADIENT)."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import weft as tf

SOURCES = pathlib.Path(__file__).parent / "custom_ops"
compiler = shutil.which("g++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(compiler is None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("ops") / "libgradients.so"
    flags = [*tf.sysconfig.get_compile_flags(), "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    source = SOURCES / "function_gradients.cc"
    subprocess.run([compiler, *flags, source, "-o", path, *tf.sysconfig.get_link_flags()], check=True)
    return str(path)


@pytest.fixture(scope="module")
def ops(library):
    return tf.load_op_library(library)


def test_symbolic_gradient(library):
    """What it prints with TensorFlow."""
    program = [sys.executable, "-m", "weft", SOURCES / "function_gradients.py", library]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == (SOURCES / "function_gradients.out").read_text().splitlines()


def test_tapes(ops):
    """Where TensorFlow's tapes find no gradient they serve, too: eagerly, in functions, and of gradients."""
    x = tf.constant([1.0, 2.0, -3.0])

    def first_and_second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = ops.wf_power(x, power=3)
            dy = inner.gradient(y, x)
        return dy, outer.gradient(dy, x)

    for f in (first_and_second, tf.function(first_and_second)):
        first, second = f(x)
        assert first.numpy().tolist() == [3, 12, 27] and second.numpy().tolist() == [6, 12, -18]


def gradient(op):
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = op(x)
    return tape.gradient(y, x)


def test_errors(ops):
    assert gradient(ops.wf_pass) is None
    with pytest.raises(tf.errors.UnavailableError, match="no gradient today"):
        gradient(ops.wf_fails)
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 1 values and gives 1"):
        gradient(ops.wf_short)


def test_python_comes_first(ops):
    @tf.RegisterGradient("WfFails")
    def _of_fails(op, dy):
        return dy * 5.0

    assert gradient(ops.wf_fails).numpy().tolist() == [5]
