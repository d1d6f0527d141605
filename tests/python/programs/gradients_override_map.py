"""Graph.gradient_override_map: ops of the block take the gradient of another name, in graphs of both kinds."""
import tensorflow as tf
from calls import show, shown

v1 = tf.compat.v1


@tf.RegisterGradient("OverrideTen")
def _ten(op, dy):
    return [10.0 * dy for _ in op.inputs]


@tf.RegisterGradient("OverrideHundred")
def _hundred(op, dy):
    print("gradient of", op.type, len(op.inputs), len(op.outputs), op.get_attr("T").name)
    return 100.0 * dy


def numbers(grads):
    return [None if g is None else g.numpy().tolist() for g in grads]


# A graph of version 1.
with tf.Graph().as_default() as g:
    x = tf.constant([1.0, 2.0])
    with g.gradient_override_map({"Square": "OverrideHundred"}):
        y = tf.square(x)
        z = tf.exp(tf.zeros_like(x)) * y
    w = tf.square(x)
    print(y.op.get_attr("_gradient_op_type"), "_gradient_op_type" in w.op.node_def.attr)
    grads = tf.gradients([y], x), tf.gradients([w], x), tf.gradients([z, w], x)
    with v1.Session() as s:
        print(s.run(grads))

# Nested maps: the inner one counts, and the outer one again behind it; an op may be mapped to another op's gradient.
with tf.Graph().as_default() as g:
    x = tf.constant([1.0, 2.0])
    with g.gradient_override_map({"Square": "OverrideTen", "Neg": "OverrideTen"}):
        with g.gradient_override_map({"Square": "OverrideHundred"}):
            a, b = tf.square(x), tf.negative(x)
        c = tf.square(x)
    d = tf.square(x)
    with g.gradient_override_map({"Square": "Identity", "Exp": "Neg"}):
        e, f = tf.square(x), tf.exp(x)
    print([t.op.node_def.attr["_gradient_op_type"].s for t in (a, b, c, d, e, f)])
    grads = [tf.gradients(t, x)[0] for t in (a, b, c, d, e, f)]
    with v1.Session() as s:
        print(s.run(grads))


# Functions, with tapes inside and outside.
@tf.function
def inside(x):
    graph = v1.get_default_graph()
    with tf.GradientTape() as tape:
        tape.watch(x)
        with graph.gradient_override_map({"Square": "OverrideHundred"}):
            y = tf.square(x)
        z = y + tf.square(x)
    return tape.gradient(z, x)


@tf.function
def outside(x):
    with v1.get_default_graph().gradient_override_map({"Square": "OverrideTen", "Exp": "Identity"}):
        y = tf.square(x)
        z = tf.exp(y) * 3.0
    return z


@tf.function
def misshapen(x):
    with v1.get_default_graph().gradient_override_map({"Mul": "OverrideTen"}):
        return x * 3.0


@tf.function
def with_gradients(x):
    with v1.get_default_graph().gradient_override_map({"Square": "OverrideTen"}):
        y = tf.square(x)
    return tf.gradients(y, x)[0] + tf.gradients(tf.square(x), x)[0]


x = tf.constant([1.0, 3.0])
print(inside(x).numpy())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = outside(x)
print(y.numpy(), tape.gradient(y, x).numpy())
print(with_gradients(x).numpy())
with shown(), tf.GradientTape() as tape:
    tape.watch(x)
    print(tape.gradient(misshapen(x), x))


# A function that is called in the block is another graph: its ops are not meant, the call is.
@tf.function
def plain(x):
    return tf.square(x)


@tf.function
def calls(x):
    with v1.get_default_graph().gradient_override_map({"Square": "OverrideTen"}):
        return plain(x)


@tf.function
def branches(x):
    with v1.get_default_graph().gradient_override_map({"Square": "OverrideTen"}):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.square(x), lambda: x)


for f in (calls, branches):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    print(f.python_function.__name__, tape.gradient(y, x).numpy())

# Variables.
v = tf.Variable([1.0, 2.0])


@tf.function
def reads():
    with tf.GradientTape() as tape:
        with v1.get_default_graph().gradient_override_map({"Mul": "OverrideTen"}):
            y = v * v
    return tape.gradient(y, v)


print(reads().numpy())

# Mistakes.
g = tf.Graph()


def block(mapping, build):
    with g.as_default(), g.gradient_override_map(mapping):
        return build()


show(lambda: block([("Square", "OverrideTen")], lambda: None))
show(lambda: block({1: "OverrideTen"}, lambda: None))
show(lambda: block({"Square": 2}, lambda: None))
with g.as_default():
    x = tf.constant([1.0, 2.0], name="x")
    y = block({"Square": "NobodyRegisteredThis"}, lambda: tf.square(x, name="sq"))
    show(lambda: tf.gradients(y, x))
    try:
        tf.RegisterGradient("OverrideTen")(lambda op, dy: dy)
    except KeyError as error:
        print("KeyError", str(error)[:48])


@tf.function
def unknown(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with v1.get_default_graph().gradient_override_map({"Square": "NobodyRegisteredThis"}):
            y = tf.square(x)
    return tape.gradient(y, x)


with shown():
    unknown(tf.constant(1.0))

# The mark stays in a GraphDef and counts where it is imported.
with tf.Graph().as_default() as g:
    x = tf.constant([1.0, 2.0], name="x")
    with g.gradient_override_map({"Square": "OverrideTen"}):
        y = tf.square(x, name="y")
def_ = g.as_graph_def()
print([n.attr["_gradient_op_type"].s for n in def_.node if n.op == "Square"])
with tf.Graph().as_default():
    x, y = tf.import_graph_def(def_, return_elements=["x:0", "y:0"])
    with v1.Session() as s:
        print(s.run(tf.gradients(y, x)))
for node in def_.node:
    if node.op == "Square":
        node.attr["_gradient_op_type"].s = b"OverrideHundred"
wrapped = v1.wrap_function(lambda: tf.import_graph_def(def_, name=""), [])
pruned = wrapped.prune("x:0", "y:0")
x = tf.constant([2.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = pruned(x)
print(numbers([y, tape.gradient(y, x)]))
