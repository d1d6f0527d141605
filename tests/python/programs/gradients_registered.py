"""tf.RegisterGradient, tf.no_gradient, aggregation, gates and names of gradients in graphs."""
import tensorflow as tf
from calls import show, shown

v1 = tf.compat.v1


@tf.RegisterGradient("RegisteredDouble")
def _double(op, dy):
    print("op:", op.type, op.name, [t.name for t in op.inputs], [t.name for t in op.outputs], dy.shape)
    return 2.0 * dy


@tf.RegisterGradient("RegisteredNone")
def _none(op, *dys):
    return [None for _ in op.inputs]


@tf.RegisterGradient("RegisteredSlices")
def _slices(op, dy):
    return tf.IndexedSlices(dy * 5.0, tf.range(tf.shape(dy)[0]), tf.shape(op.inputs[0]))


@tf.RegisterGradient("RegisteredShort")
def _short(op, dy):
    return []


@tf.RegisterGradient("RegisteredRaises")
def _raises(op, dy):
    raise ValueError("no gradient today")


tf.no_gradient("RegisteredNothing")
tf.no_gradient("RegisteredNothingElse")
for name in ("RegisteredDouble", "RegisteredNothing", "MatMul"):
    try:
        tf.RegisterGradient(name)(lambda op, dy: dy)
    except KeyError as error:
        print("KeyError", str(error)[1:].split("!")[0])
show(lambda: tf.RegisterGradient(3))
show(lambda: tf.no_gradient(3))


def gradient(name, build=tf.square):
    with tf.Graph().as_default() as g:
        x = tf.constant([1.0, 2.0, 3.0], name="x")
        with g.gradient_override_map({"Square": name}):
            y = build(x)
        grads = tf.gradients(y, x)
        with v1.Session() as s:
            return None if grads[0] is None else s.run(tf.convert_to_tensor(grads[0])), type(grads[0]).__name__


show(lambda: gradient("RegisteredDouble"))
show(lambda: gradient("RegisteredNone"))
show(lambda: gradient("RegisteredNothing"))
show(lambda: gradient("RegisteredSlices"))
show(lambda: gradient("RegisteredRaises"))
try:
    gradient("RegisteredShort")
except ValueError as error:
    print("ValueError", str(error).split("op ")[0], str(error).split("}")[-1].strip())
show(lambda: gradient("RegisteredDouble", lambda x: tf.square(tf.square(x) + x)))


@tf.function
def f(x):
    with v1.get_default_graph().gradient_override_map({"Square": "RegisteredSlices"}):
        return tf.square(x) * 2.0


x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
print(tf.convert_to_tensor(tape.gradient(y, x)).numpy())


@tf.function
def raises(x):
    with v1.get_default_graph().gradient_override_map({"Square": "RegisteredRaises"}):
        return tf.square(x)


print(raises(x).numpy())
with shown(), tf.GradientTape() as tape:
    tape.watch(x)
    raises(x)


# A gradient that uses a variable, and one that uses other registered gradients.
v = tf.Variable(3.0)


@tf.RegisterGradient("RegisteredVariable")
def _variable(op, dy):
    return dy * v


@tf.function
def with_variable(x):
    with v1.get_default_graph().gradient_override_map({"Square": "RegisteredVariable"}):
        return tf.square(x) + 0.0 * v


with tf.GradientTape() as tape:
    tape.watch(x)
    y = with_variable(x)
print(tf.convert_to_tensor(tape.gradient(y, x)).numpy())

# Ops without a gradient.
with tf.Graph().as_default():
    a = tf.constant([1.0, 2.0], name="a")
    y = tf.histogram_fixed_width(a, [0.0, 3.0], name="h")
    show(lambda: tf.gradients(tf.cast(y, tf.float32), a))
    show(lambda: tf.gradients(tf.unique(a, name="u")[0], a))
    print(tf.gradients(tf.cast(tf.argmax(a), tf.float32), a))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.unique(x)[0]
show(lambda: tape.gradient(y, x))


@tf.function
def no_gradient(x):
    return tf.unique(x, name="u")[0]


with shown(), tf.GradientTape() as tape:
    tape.watch(x)
    tape.gradient(no_gradient(x), x)
