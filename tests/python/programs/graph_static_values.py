"""What tf.get_static_value knows of tensors of a graph, and what is not folded."""

import numpy as np
import tensorflow as tf


def shown(value):
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [shown(v) if isinstance(v, np.ndarray) else v for v in value]
    return f"{np.asarray(value).dtype}{list(np.shape(value))} {np.asarray(value).tolist()}"


def show(name, tensor, **kwargs):
    try:
        print(f"{name}:", shown(tf.get_static_value(tensor, **kwargs)))
    except Exception as e:
        print(f"{name}: {type(e).__name__}")


@tf.function(
    input_signature=[
        tf.TensorSpec([None, 3], tf.float32),
        tf.TensorSpec([2, 3], tf.float32),
        tf.TensorSpec(None, tf.float32),
        tf.TensorSpec([], tf.int32),
    ]
)
def f(partly, known, unknown, number):
    c, d = tf.constant([1, 2, 3]), tf.constant(2)
    show("const", c)
    show("string const", tf.constant(["a", "b"]))
    show("argument", number)
    for name, t in (("partly", partly), ("known", known), ("unknown", unknown)):
        show(f"shape {name}", tf.shape(t))
        show(f"shape int64 {name}", tf.shape(t, out_type=tf.int64))
        show(f"size {name}", tf.size(t))
        show(f"raw size {name}", tf.raw_ops.Size(input=t))
        show(f"raw shape {name}", tf.raw_ops.Shape(input=t))
        show(f"rank {name}", tf.rank(t))
        show(f"raw rank {name}", tf.raw_ops.Rank(input=t))
        show(f"shape_n {name}", tf.raw_ops.ShapeN(input=[t])[0])
        show(f"dim {name}", tf.shape(t)[0])
        show(f"last dim {name}", tf.shape(t)[-1])
        show(f"zeros_like {name}", tf.zeros_like(t))
    show("range", tf.range(5))
    show("range float", tf.range(0.0, 2.0, 0.5))
    show("range of argument", tf.range(number))
    show("cast", tf.cast(c, tf.float32))
    show("cast to bool", tf.cast(c, tf.bool))
    show("cast of argument", tf.cast(number, tf.int64))
    show("concat", tf.concat([c, [7]], 0))
    show("concat rows", tf.concat([[[1]], [[2]]], 1))
    show("concat with argument", tf.concat([c, [number]], 0))
    show("stack", tf.stack([d, d + 0, 5]))
    show("stack consts", tf.stack([d, tf.constant(5)]))
    show("stack axis 1", tf.stack([c, c], axis=1))
    show("stack rows", tf.stack([c, c]))
    show("stack with argument", tf.stack([d, number]))
    show("stack with argument, partial", tf.stack([d, number]), partial=True)
    show("stack of rows, partial", tf.stack([c, [number, 1, 2]]), partial=True)
    show("unstack", tf.unstack(c)[1])
    show("unstack axis 1", tf.unstack(tf.constant([[1, 2]]), axis=1)[0])
    show("unstack of stack, partial", tf.raw_ops.Unpack(value=tf.stack([d, number]), num=2)[0], partial=True)
    show("split", tf.raw_ops.Split(axis=0, value=tf.constant([1, 2, 3, 4]), num_split=2)[1])
    show("split sizes", tf.split(tf.constant([1, 2, 3, 4]), [1, 3])[1])
    show("fill", tf.fill([2, 2], 7))
    show("fill of argument", tf.fill([2], number))
    show("fill by argument", tf.fill([number], 1))
    show("zeros", tf.zeros([2]))
    show("ones", tf.ones([2], tf.int32))
    show("equal", tf.equal(c, [1, 0, 3]))
    show("raw equal", tf.raw_ops.Equal(x=c, y=tf.constant([1, 0, 3])))
    show("raw not_equal", tf.raw_ops.NotEqual(x=c, y=tf.constant([1, 0, 3])))
    show("equal with argument", tf.equal(number, 1))
    show("identity", tf.identity(c))
    show("stop_gradient", tf.stop_gradient(c))
    show("check_numerics", tf.raw_ops.CheckNumericsV2(tensor=tf.constant([1.0]), message="m"))
    show("check_numerics 1", tf.raw_ops.CheckNumerics(tensor=tf.constant([1.0]), message="m"))
    show("snapshot", tf.raw_ops.Snapshot(input=c))
    show("add", c + 1)
    show("multiply", c * c)
    show("negative", -c)
    show("reshape", tf.reshape(c, [3, 1]))
    show("expand_dims", tf.expand_dims(c, 0))
    show("squeeze", tf.squeeze(tf.constant([[1]])))
    show("gather", tf.gather(c, 1))
    show("slice", c[1:])
    show("slice op", tf.slice(c, [1], [2]))
    show("transpose", tf.transpose(tf.constant([[1, 2]])))
    show("reduce", tf.reduce_sum(c))
    show("reduce_prod of shape", tf.reduce_prod(tf.shape(known)))
    show("maximum", tf.maximum(c, 2))
    show("less", tf.less(c, 2))
    show("where", tf.where(c > 1))
    show("one_hot", tf.one_hot(1, 3))
    show("eye", tf.eye(2))
    show("pad", tf.pad(c, [[1, 1]]))
    show("tile", tf.tile(c, [2]))
    show("broadcast", tf.broadcast_to(d, [2]))
    show("linspace", tf.linspace(0.0, 1.0, 3))
    show("strings", tf.strings.join(["a", "b"]))
    show("cond", tf.cond(number > 0, lambda: 1, lambda: 1))
    return c


f.get_concrete_function()

show("eager", tf.constant([1, 2]))
show("eager string", tf.constant("x"))
show("number", 5)
show("list", [1, 2])
show("variable", tf.Variable(3))
captured, large = tf.constant([4, 5]), tf.range(200)
variable = tf.Variable([1, 2])


@tf.function
def g():
    show("captured constant", captured)
    show("captured, read", tf.identity(captured))
    show("captured, large", tf.identity(large))
    show("captured shape", tf.shape(large))
    show("variable", variable)
    show("variable read", variable.read_value())
    show("variable shape", tf.shape(variable))
    return captured + large[:2]


g()

graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.int32, [2])
    both = tf.stack([x[0], 3])
    show("placeholder", x)
    show("placeholder shape", tf.shape(x))
    fed = tf.constant(3)
    with tf.compat.v1.Session() as session:
        print("feedable:", graph.is_feedable(fed), session.run(fed, {fed: 5}))
        tf.get_static_value(fed)
        print("feedable:", graph.is_feedable(fed), graph.is_feedable(x), graph.is_feedable(both))
        try:
            session.run(fed, {fed: 5})
        except ValueError as e:
            print(e)
