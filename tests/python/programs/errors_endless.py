"""Containers that hold themselves, modules in cycles, deep nests: an answer or an error, never a hang."""
import tensorflow as tf


def tell(name, call):
    try:
        print(name, call())
    except RecursionError:
        print(name, "RecursionError")
    except Exception as error:
        print(name, type(error).__name__, str(error)[:60])


loop = [1.0]
loop.append(loop)
table = {"a": 1.0}
table["self"] = table

tell("flatten list", lambda: tf.nest.flatten(loop))
tell("flatten dict", lambda: tf.nest.flatten(table))
tell("map", lambda: tf.nest.map_structure(lambda x: x, loop))
tell("same", lambda: tf.nest.assert_same_structure(loop, loop))
tell("pack", lambda: tf.nest.pack_sequence_as(loop, [1.0]))
tell("constant", lambda: tf.constant(loop))
tell("ragged", lambda: tf.ragged.constant(loop))
tell("shape", lambda: tf.TensorShape(loop))
tell("stack", lambda: tf.stack(loop))
tell("function", lambda: tf.function(lambda x: 1)(loop))
tell("function dict", lambda: tf.function(lambda x: 1)(table))
tell("result", lambda: tf.function(lambda: loop)())
tell("cond", lambda: tf.cond(tf.constant(True), lambda: loop, lambda: loop))
tell("while", lambda: tf.while_loop(lambda x: True, lambda x: x, [loop]))
tell("watch", lambda: tf.GradientTape().watch(loop))
tell("py_function", lambda: tf.py_function(lambda: loop, [], tf.float32))


class Node(tf.Module):
    def __init__(self, name):
        super().__init__(name)
        self.value = tf.Variable(1.0, name=name)


a, b = Node("a"), Node("b")
a.other, b.other, a.me = b, a, a
a.parts = [b, {"a": a}]
print([v.name for v in a.variables], [v.name for v in b.trainable_variables])
print([m.name for m in a.submodules], [m.name for m in b.submodules])


@tf.function
def uses(x):
    return x * a.value * a.other.value * a.other.other.me.value


print(uses(tf.constant(2.0)).numpy())
with tf.GradientTape() as tape:
    y = uses(tf.constant(2.0))
print([g.numpy() for g in tape.gradient(y, a.trainable_variables)])

deep = x = tf.constant(1.0)
for _ in range(200):
    deep = [deep]
print(len(tf.nest.flatten(deep)))
tell("deep argument", lambda: len(tf.nest.flatten(tf.function(lambda t: t)(deep))))
for _ in range(2000):
    deep = [deep]
tell("deeper", lambda: len(tf.nest.flatten(deep)))
tell("deeper argument", lambda: len(tf.nest.flatten(tf.function(lambda t: t)(deep))))

# A long chain is no recursion.
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x
    for _ in range(5000):
        y = y * 1.0001
print(round(float(tape.gradient(y, x)), 3))


@tf.function
def chain(x):
    y = x
    for _ in range(3000):
        y = y * 1.0001
    return tf.gradients(y, x)[0]


print(round(float(chain(x)), 3))
