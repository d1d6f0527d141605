"""Conditions of loops and branches that are not scalars: what is taken and what is refused."""

import tensorflow as tf


def show(name, call, text=True):
    try:
        result = call()
        print(f"{name}:", tf.nest.map_structure(lambda t: t.numpy().tolist(), result))
    except Exception as e:
        lines = [line.split("}} ")[-1].strip() for line in str(e).split("\n")]
        print(f"{name}: {type(e).__name__}", [line for line in lines if "must be a scalar" in line or "expected to be" in line][-1:] if text else "")


CONDITIONS = {
    "scalar": lambda i: i < 3,
    "[1]": lambda i: tf.reshape(i < 3, [1]),
    "[1, 1]": lambda i: tf.reshape(i < 3, [1, 1]),
    "[2]": lambda i: tf.stack([i < 3, i < 3]),
    "[0]": lambda i: tf.zeros([0], tf.bool),
    "int": lambda i: 3 - i,
    "[1] int": lambda i: tf.reshape(3 - i, [1]),
    "float": lambda i: tf.cast(3 - i, tf.float32),
    "[1] unknown": lambda i: tf.reshape(i < 3, tf.fill([tf.rank(i) + 1], 1)),
    "list": lambda i: [i < 3],
    "python": lambda i: False,
}
for name, cond in CONDITIONS.items():
    if name != "list":  # a list is true for ever
        show(f"eager {name}", lambda: tf.while_loop(cond, lambda i: [i + 1], [tf.constant(0)]))
    show(f"graph {name}", lambda: tf.function(lambda: tf.while_loop(cond, lambda i: [i + 1], [tf.constant(0)]))())
    show(f"graph arg {name}", lambda: tf.function(lambda x: tf.while_loop(cond, lambda i: [i + 1], [x]))(tf.constant(0)))


@tf.function
def autograph(x):
    while tf.reshape(x < 3, [1]):
        x += 1
    return x


@tf.function
def autograph_vector(x):
    while tf.reduce_any(x < 3, keepdims=True):
        x += 1
    return x


@tf.function
def autograph_pair(x):
    while x < 3:
        x += 1
    return x


show("autograph [1]", lambda: autograph(tf.constant(0)))
show("autograph keepdims", lambda: autograph_vector(tf.constant([0, 1])))
show("autograph vector [1]", lambda: autograph_pair(tf.constant([0])))
show("autograph vector [2]", lambda: autograph_pair(tf.constant([0, 1])))


@tf.function
def branch(x):
    if tf.reshape(x < 3, [1]):
        return x + 1
    return x - 1


@tf.function
def branch_vector(x):
    if x < 3:
        return x + 1
    return x - 1


show("if [1]", lambda: branch(tf.constant(0)))
show("if vector [1]", lambda: branch_vector(tf.constant([5])))
show("if vector [2]", lambda: branch_vector(tf.constant([5, 1])))
for name, p in (("[1]", [True]), ("[2]", [True, False]), ("[0]", []), ("int", 3), ("float", 0.5), ("string", "x"), ("empty string", "")):
    c = tf.constant(p, tf.bool) if isinstance(p, list) else tf.constant(p)
    if p != []:
        show(f"cond eager {name}", lambda: tf.cond(c, lambda: tf.constant(1), lambda: tf.constant(2)))
    show(f"cond graph {name}", lambda: tf.function(lambda q: tf.cond(q, lambda: tf.constant(1), lambda: tf.constant(2)))(c))
    show(f"raw if {name}", lambda: tf.function(lambda q: tf.cond(q, lambda: tf.constant(1), lambda: tf.constant(2)), input_signature=[tf.TensorSpec(None, c.dtype)])(c))
with tf.Graph().as_default():
    for name, cond in (("[1]", CONDITIONS["[1]"]), ("[2]", CONDITIONS["[2]"]), ("scalar", CONDITIONS["scalar"])):
        try:
            loop = tf.compat.v1.while_loop(cond, lambda i: [i + 1], [tf.constant(0)])
            with tf.compat.v1.Session() as s:
                print("v1", name, s.run(loop))
        except Exception as e:
            print("v1", name, type(e).__name__, str(e).split("\n")[0][:150])
