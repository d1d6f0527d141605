"""Operation.get_attr: attributes of all kinds, functions too."""

import tensorflow as tf

v1 = tf.compat.v1


def show(op, *names):
    for name in names:
        try:
            value = op.get_attr(name)
            if hasattr(value, "name") and hasattr(value, "attr"):
                print(op.type, name, type(value).__name__, bool(value.name))
            elif isinstance(value, list) and value and hasattr(value[0], "attr"):
                print(op.type, name, [type(v).__name__ for v in value], [bool(v.name) for v in value])
            else:
                print(op.type, name, type(value).__name__, repr(value) if not hasattr(value, "DESCRIPTOR") else str(value).replace("\n", " "))
        except Exception as e:
            print(op.type, name, type(e).__name__, str(e).split("\n")[0])


@tf.function
def f(x, n):
    a = tf.cond(n > 0, lambda: x + 1, lambda: x - 1)
    b = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])[0]
    c = tf.switch_case(n, [lambda: x, lambda: -x, lambda: x * 2])
    d = tf.map_fn(lambda v: v * 2, x)
    return a, b, c, d


g = f.get_concrete_function(tf.TensorSpec([3]), tf.TensorSpec([], tf.int32)).graph
for op in g.get_operations():
    if op.type in ("If", "StatelessIf"):
        show(op, "then_branch", "else_branch", "Tcond", "Tin", "Tout", "output_shapes", "_lower_using_switch_merge")
    if op.type in ("While", "StatelessWhile"):
        show(op, "cond", "body", "T", "parallel_iterations", "output_shapes")
    if op.type in ("Case", "StatelessCase"):
        show(op, "branches", "Tin")


@tf.function
def inner(x):
    return x * 2


@tf.function
def outer(x):
    return inner(x)


for op in outer.get_concrete_function(tf.TensorSpec([2])).graph.get_operations():
    if "PartitionedCall" in op.type:
        show(op, "f", "Tin", "Tout", "config", "executor_type")

with tf.Graph().as_default():
    x = v1.placeholder(tf.float32, [None, 3])
    show(x.op, "dtype", "shape", "missing")
    c = tf.constant([1, 2])
    show(c.op, "value", "dtype")
    show(tf.constant("a").op, "value")
    show(tf.matmul(x, tf.ones([3, 2])).op, "transpose_a", "T", "grad_a")
    show(tf.reduce_sum(x, keepdims=True).op, "keep_dims", "Tidx")
    show(tf.nn.max_pool2d(tf.ones([1, 4, 4, 1]), 2, 2, "SAME").op, "ksize", "strides", "padding", "data_format", "explicit_paddings", "T")
    show(tf.raw_ops.FIFOQueueV2(component_types=[tf.int32, tf.string], shapes=[[], [2]], capacity=3, container="", shared_name="").op, "component_types", "shapes", "capacity", "shared_name")
    show(tf.raw_ops.Print(input=1, data=[1], message="m", first_n=2, summarize=3).op, "message", "U", "first_n")
    show(tf.nn.leaky_relu(x, alpha=0.25).op, "alpha")
    show(tf.raw_ops.Bucketize(input=[1.0], boundaries=[0.5, 2.0]).op, "boundaries")
    show(tf.raw_ops.Bucketize(input=[1.0], boundaries=[]).op, "boundaries")
    show(tf.raw_ops.ParseTensor(serialized="", out_type=tf.half).op, "out_type")
    show(tf.strings.as_string(1).op, "precision", "fill")
    show(tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2, None], shared_name="v").op, "shape", "dtype", "container", "allowed_devices")
    show(tf.raw_ops.Empty(shape=[2], dtype=tf.bool, init=True).op, "init", "dtype")
    ds = tf.data.Dataset.range(3).map(lambda v: v + 1)
    op = ds._variant_tensor.op
    show(op, "f", "Targuments", "output_types", "output_shapes", "preserve_cardinality")
    x.op._set_attr("_mine", tf.compat.v1.AttrValue(i=3))
    x.op._set_attr("_floats", tf.compat.v1.AttrValue(list=tf.compat.v1.AttrValue.ListValue(f=[0.5])))
    show(x.op, "_mine", "_floats")
