"""TensorArrayV3 with all its ops, and StackV2."""
import numpy as np
import tensorflow as tf

from state_format import strings

F, I, L = np.float32, np.int32, np.int64
B16 = tf.bfloat16.as_numpy_dtype
TYPES = [F, np.float64, np.float16, B16, I, L, np.int8, np.uint8, np.bool_, np.complex64]


def i32(v):
    return np.array(v, I)


def f32(v):
    return np.array(v, F)


def array(r, size, dtype=tf.float32, **attrs):
    return r.ops("TensorArrayV3", i32(size), dtype=dtype, **attrs)[:2]


def write(r, h, flow, index, value, **kw):
    return r.op("TensorArrayWriteV3", h, i32(index), value, flow, **kw)


def read(r, h, flow, index, dtype=tf.float32, **kw):
    return r.op("TensorArrayReadV3", h, i32(index), flow, dtype=dtype, **kw)


def gather(r, h, flow, indices, dtype=tf.float32, **kw):
    return r.op("TensorArrayGatherV3", h, i32(indices), flow, dtype=dtype, **kw)


def each_type(r):
    for dtype in TYPES + [object]:
        kind = tf.string if dtype is object else tf.as_dtype(dtype)
        v = (lambda x: np.array(x).astype(dtype)) if dtype is not object else \
            (lambda x: np.array([str(e).encode() for e in np.array(x).reshape(-1)], object).reshape(np.shape(x)))
        r.seq("write_read/" + kind.name)
        h, flow = array(r, 3, kind, clear_after_read=False, tensor_array_name="ta")
        flow = write(r, h, flow, 0, v([1, 0]))
        flow = write(r, h, flow, 2, v([0, 3]))
        flow = write(r, h, flow, 1, v([2, 2]))
        r.op("TensorArraySizeV3", h, flow)
        for k in range(3):
            read(r, h, flow, k, kind)
        gather(r, h, flow, [2, 0], kind)
        r.ops("TensorArrayConcatV3", h, flow, dtype=kind)
        r.op("TensorArrayCloseV3", h)
        r.seq("scatter_split/" + kind.name)
        h, flow = array(r, 3, kind, clear_after_read=False)
        flow = r.op("TensorArrayScatterV3", h, i32([2, 0, 1]), v([[1, 2], [3, 0], [5, 6]]), flow)
        gather(r, h, flow, [0, 1, 2], kind)
        h, flow = array(r, 2, kind, clear_after_read=False)
        flow = r.op("TensorArraySplitV3", h, v([[1, 2], [3, 0], [5, 6]]), np.array([1, 2], L), flow)
        read(r, h, flow, 0, kind)
        read(r, h, flow, 1, kind)
        r.ops("TensorArrayConcatV3", h, flow, dtype=kind)


def behaviour(r):
    r.seq("clear_after_read")
    h, flow = array(r, 2)
    flow = write(r, h, flow, 0, f32([1, 2]))
    read(r, h, flow, 0)
    read(r, h, flow, 0, fails=True)
    write(r, h, flow, 0, f32([3, 4]), fails=True)
    flow = write(r, h, flow, 1, f32([3, 4]))
    gather(r, h, flow, [1])
    gather(r, h, flow, [1], fails=True)
    r.seq("dynamic_size")
    h, flow = array(r, 0, dynamic_size=True, clear_after_read=False)
    r.op("TensorArraySizeV3", h, flow)
    flow = write(r, h, flow, 3, f32(1))
    r.op("TensorArraySizeV3", h, flow)
    flow = write(r, h, flow, 0, f32(2))
    read(r, h, flow, 3)
    flow = r.op("TensorArrayScatterV3", h, i32([6, 5]), f32([8, 9]), flow)
    r.op("TensorArraySizeV3", h, flow)
    gather(r, h, flow, [5, 6, 0])
    read(r, h, flow, 1, fails=True)
    read(r, h, flow, 20, fails=True)
    r.seq("element_shape")
    h, flow = array(r, 3, element_shape=[2], clear_after_read=False)
    gather(r, h, flow, [])
    read(r, h, flow, 0)
    flow = write(r, h, flow, 0, f32([1, 2]))
    write(r, h, flow, 1, f32([1, 2, 3]), fails=True)
    gather(r, h, flow, [0, 1])
    h, flow = array(r, 2, element_shape=[None, 2], clear_after_read=False)
    flow = write(r, h, flow, 0, f32([[1, 2]]))
    flow = write(r, h, flow, 1, f32([[1, 2], [3, 4]]))
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32)
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32, element_shape_except0=[2])
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32, element_shape_except0=[3], fails=True)
    gather(r, h, flow, [0, 1], fails=True)
    r.seq("identical_element_shapes")
    h, flow = array(r, 3, identical_element_shapes=True, clear_after_read=False)
    flow = write(r, h, flow, 0, f32([1, 2]))
    write(r, h, flow, 1, f32([1, 2, 3]), fails=True)
    read(r, h, flow, 2)
    flow = write(r, h, flow, 1, f32([5, 6]))
    gather(r, h, flow, [0, 1, 2])
    r.seq("mixed_shapes")
    h, flow = array(r, 2, clear_after_read=False)
    flow = write(r, h, flow, 0, f32([1, 2]))
    flow = write(r, h, flow, 1, f32([1, 2, 3]))
    read(r, h, flow, 1)
    gather(r, h, flow, [0, 1], fails=True)
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32)
    r.seq("two_arrays_of_one_name")
    h, flow = array(r, 1, tensor_array_name="x")
    g, flow2 = array(r, 1, tensor_array_name="x")
    flow = write(r, h, flow, 0, f32(1))
    read(r, g, flow2, 0, fails=True)
    r.seq("empty_array")
    h, flow = array(r, 0)
    gather(r, h, flow, [], fails=True)
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32, fails=True)
    h, flow = array(r, 0, element_shape=[2, 3])
    gather(r, h, flow, [])
    gather(r, h, flow, [], element_shape=[2, 3])
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32)
    r.op("TensorArraySizeV3", h, flow)


def gradients(r):
    r.seq("grad_adds_up")
    h, flow = array(r, 3, clear_after_read=False)
    for k in range(3):
        flow = write(r, h, flow, k, f32([k, k + 1]))
    g, gflow = r.ops("TensorArrayGradV3", h, flow, source="g1")[:2]
    r.op("TensorArraySizeV3", g, gflow)
    read(r, g, gflow, 1)  # zeros until written
    gflow = write(r, g, gflow, 0, f32([1, 1]))
    gflow = write(r, g, gflow, 0, f32([2, 3]))
    read(r, g, gflow, 0)
    g2, gflow2 = r.ops("TensorArrayGradV3", h, flow, source="g1")[:2]
    read(r, g2, gflow2, 0)
    g3, gflow3 = r.ops("TensorArrayGradV3", h, flow, source="other")[:2]
    read(r, g3, gflow3, 0)
    gflow3 = r.op("TensorArrayScatterV3", g3, i32([0, 2]), f32([[5, 5], [6, 6]]), gflow3)
    gather(r, g3, gflow3, [0, 1, 2])
    write(r, g, gflow, 0, f32([1, 1, 1]), fails=True)
    r.op("TensorArrayCloseV3", g)
    r.op("TensorArrayCloseV3", h)
    r.seq("grad_of_closed_or_odd")
    h, flow = array(r, 1, dynamic_size=True)
    flow = write(r, h, flow, 0, f32([1]))
    g, gflow = r.ops("TensorArrayGradV3", h, flow, source="g")[:2]
    write(r, h, flow, 1, f32([1]), fails=True)  # the size is fixed once there is a gradient
    r.ops("TensorArrayGradV3", g, gflow, source="gg")
    r.op("TensorArrayCloseV3", h)
    r.ops("TensorArrayGradV3", h, flow, source="h", fails=True)
    r.seq("grad_with_shape")
    h, flow = array(r, 2)
    flow = write(r, h, flow, 0, f32([1, 2]))
    g, gflow = r.ops("TensorArrayGradWithShape", h, flow, i32([3]), source="g")[:2]
    gflow = write(r, g, gflow, 0, np.ones([3, 2], F), fails=False)
    read(r, g, gflow, 0)


def errors(r):
    r.seq("errors/index")
    h, flow = array(r, 2)
    for k in (2, -1):
        write(r, h, flow, k, f32(1), fails=True)
        read(r, h, flow, k, fails=True)
    read(r, h, flow, 0, fails=True)
    flow = write(r, h, flow, 0, f32(1))
    write(r, h, flow, 0, f32(2), fails=True)
    gather(r, h, flow, [0, 1], fails=True)
    gather(r, h, flow, [0, 5], fails=True)
    r.op("TensorArrayWriteV3", h, i32([1]), f32(1), flow, fails=True)
    r.op("TensorArrayReadV3", h, i32([1]), flow, dtype=tf.float32, fails=True)
    r.seq("errors/type")
    h, flow = array(r, 2)
    write(r, h, flow, 0, i32(1), fails=True)
    flow = write(r, h, flow, 0, f32(1))
    read(r, h, flow, 0, tf.int32, fails=True)
    gather(r, h, flow, [0], tf.int32, fails=True)
    r.op("TensorArrayScatterV3", h, i32([1]), i32([1]), flow, fails=True)
    r.seq("errors/closed")
    h, flow = array(r, 2)
    flow = write(r, h, flow, 0, f32(1))
    r.op("TensorArrayCloseV3", h)
    read(r, h, flow, 0, fails=True)
    write(r, h, flow, 1, f32(1), fails=True)
    r.op("TensorArraySizeV3", h, flow, fails=True)
    r.op("TensorArrayCloseV3", h)
    r.seq("errors/scatter")
    h, flow = array(r, 2)
    sc = lambda i, v: r.op("TensorArrayScatterV3", h, i32(i), f32(v), flow, fails=True)
    sc([0, 2], [1, 2])
    sc([0, 1, 2], [1, 2])
    sc([[0, 1]], [1, 2])
    sc([0], 1)
    sc([-1], [1])
    r.seq("errors/split")
    h, flow = array(r, 2)
    sp = lambda v, n: r.op("TensorArraySplitV3", h, f32(v), np.array(n, L), flow, fails=True)
    sp([1, 2, 3], [1, 1])
    sp([1, 2, 3], [1, 1, 1])
    sp([1, 2, 3], [3])
    sp(1, [1])
    sp([1, 2, 3], [[1, 2]])
    r.seq("errors/concat_scalars")
    h, flow = array(r, 2)
    flow = r.op("TensorArrayScatterV3", h, i32([0, 1]), f32([1, 2]), flow)
    r.ops("TensorArrayConcatV3", h, flow, dtype=tf.float32, fails=True)
    r.seq("errors/size")
    r.ops("TensorArrayV3", i32(-1), dtype=tf.float32, fails=True)
    r.ops("TensorArrayV3", i32([1]), dtype=tf.float32, fails=True)
    r.seq("errors/not_an_array")
    v = r.op("VarHandleOp", dtype=tf.float32, shape=[], shared_name="v")
    read(r, v, f32(0), 0, fails=True)


def stacks(r):
    for dtype in (F, I, np.bool_, object):
        kind = tf.string if dtype is object else tf.as_dtype(dtype)
        r.seq("stack/" + kind.name)
        values = strings("a", "b") if dtype is object else np.array([1, 0]).astype(dtype)
        s = r.op("StackV2", i32(-1), elem_type=kind, stack_name="s")
        r.op("StackPushV2", s, values)
        r.op("StackPushV2", s, values[1:])
        r.op("StackPopV2", s, elem_type=kind)
        r.op("StackPopV2", s, elem_type=kind)
        r.op("StackPopV2", s, elem_type=kind, fails=True)
        r.op("StackCloseV2", s)
    r.seq("stack/max_size_and_errors")
    s = r.op("StackV2", i32(2), elem_type=tf.float32)
    r.op("StackPushV2", s, f32(1))
    r.op("StackPushV2", s, i32(1), fails=True)
    r.op("StackPopV2", s, elem_type=tf.int32, fails=True)
    r.op("StackPushV2", s, f32([1, 2]), swap_memory=True)
    r.op("StackPushV2", s, f32(3), fails=True)
    r.op("StackPopV2", s, elem_type=tf.float32)
    r.op("StackCloseV2", s)
    r.op("StackPushV2", s, f32(1), fails=True)
    r.op("StackPopV2", s, elem_type=tf.float32, fails=True)
    r.op("StackV2", i32([2]), elem_type=tf.float32, fails=True)


def record(r):
    for part in (each_type, behaviour, gradients, errors, stacks):
        part(r)
