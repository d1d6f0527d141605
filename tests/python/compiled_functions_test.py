"""tf.function with jit_compile=True: what is compiled, what it refuses."""

import numpy as np
import pytest

import weft as tf


def test_jit_compile():
    f = tf.function(lambda x, y: tf.reduce_sum(tf.maximum(x * y, 0.0) + 1.0), jit_compile=True)
    x = tf.constant(np.arange(8, dtype=np.float32))
    for _ in range(2):
        assert f(x, x).numpy() == 148
    with pytest.raises(NotImplementedError):
        f.experimental_get_compiler_ir(x, x)
    with pytest.raises(
        ValueError, match="^Compiler IR can only be returned for functions marked with 'jit_compile=True'$"
    ):
        tf.function(lambda x: x + x).experimental_get_compiler_ir(x)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_variable_that_is_two_arguments(compiled):
    def step(a, b):
        first = tf.raw_ops.AssignAddVariableOp(resource=a, value=tf.constant([1.0, 2.0]))
        with tf.control_dependencies([first]):
            read = tf.raw_ops.ReadVariableOp(resource=b, dtype=tf.float32)
        with tf.control_dependencies([read]):
            second = tf.raw_ops.AssignVariableOp(resource=b, value=read * 10.0)
        with tf.control_dependencies([second]):
            return tf.raw_ops.ReadVariableOp(resource=a, dtype=tf.float32), read

    # Of TensorFlow, which compiles the calls with two variables only.
    wanted = [[[2, 3], [5, 5]], [[30, 50], [3, 5]], [[51, 52], [30, 50]], [[520, 540], [52, 54]]]
    f = tf.function(step, jit_compile=compiled, autograph=False)
    v, w = tf.Variable([1.0, 1.0]), tf.Variable([5.0, 5.0])
    for (a, b), values in zip(((v, w), (v, v), (w, v), (w, w)), wanted, strict=True):
        np.testing.assert_array_equal(f(a.handle, b.handle), values)
    np.testing.assert_array_equal([v, w], [[300, 500], [520, 540]])


def test_a_branch_that_is_decided_reads_what_the_one_before_wrote():
    @tf.function
    def positive(x, least):
        return tf.reduce_sum(
            tf.boolean_mask(x, x >= least)
        )  # the compiler has no rule for it: the rest is compiled in parts

    def f(x, s, k, v):
        if tf.math.floormod(k, 2) == 0:
            v.assign(x)
            s = positive(x, s)
        if tf.size(x) > 2:  # known when it is traced
            s = tf.reduce_max((v + 0.0) - 2.0)
        else:
            v.assign_add(x)
        return s

    for compiled in (False, True):
        v = tf.Variable([-1.0, 0.0, 1.0, 2.0])
        g = tf.function(f, jit_compile=compiled)
        assert g(tf.constant([1.0, 4.0, 1.0, 1.0]), tf.constant(0.0), tf.constant(3), v).numpy() == 0
        assert g(tf.constant([1.0, 4.0, 1.0, 1.0]), tf.constant(0.0), tf.constant(4), v).numpy() == 2


@pytest.mark.parametrize(
    "keys, values", [([3.0, 1.0, 2.0], [1, 2]), ([3.0, 1.0, 2.0], [[1, 2, 3]]), ([3.0, 1.0], 5), (3.0, 1)]
)
def test_a_sort_refuses_values_that_are_not_of_the_keys(keys, values):
    @tf.function(jit_compile=True)
    def f(keys, values):
        return tf.raw_ops.XlaKeyValueSort(keys=keys, values=values)

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(keys), tf.constant(values))
    order, moved = f(tf.constant([3.0, 1.0, 2.0]), tf.constant([7, 8, 9]))
    assert order.numpy().tolist() == [1, 2, 3] and moved.numpy().tolist() == [8, 9, 7]
