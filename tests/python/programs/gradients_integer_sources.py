"""Integer, empty and missing sources and targets of tapes and of tf.gradients, with their warnings."""
import logging

import numpy as np
import tensorflow as tf
from calls import show, shown


class Printed(logging.Handler):
    def emit(self, record):
        print("warning:", record.getMessage())


logger = tf.get_logger()
for h in list(logger.handlers):
    logger.removeHandler(h)
logger.addHandler(Printed())
logger.setLevel(logging.WARNING)


def plain(g):
    if isinstance(g, tf.IndexedSlices):
        return "slices", g.values.numpy().tolist(), g.indices.numpy().tolist()
    if isinstance(g, tf.RaggedTensor):
        return "ragged", g.to_list()
    return None if g is None else (g.dtype.name, g.numpy().tolist())


def ask(name, sources, build, target=lambda y: y, **options):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        y = build(*tf.nest.flatten(sources))
    with shown():
        got = tape.gradient(target(y), sources, **options)
        print(name, tf.nest.map_structure(plain, got))


f, i, b = tf.constant([1.0, 2.0]), tf.constant([1, 2]), tf.constant([True, False])
empty, nothing = tf.zeros([0]), tf.zeros([0, 3], tf.int32)
zero = {"unconnected_gradients": "zero"}

for options in ({}, zero):
    print(options)
    ask("integer source", i, lambda x: x * 2, **options)
    ask("through a cast", i, lambda x: tf.cast(x, tf.float32) * 2.0, **options)
    ask("to integers", f, lambda x: tf.cast(x, tf.int32), **options)
    ask("both", [f, i], lambda x, y: x * tf.cast(y, tf.float32), **options)
    ask("bool", b, lambda x: tf.cast(x, tf.float32), **options)
    ask("empty", empty, lambda x: x * 2.0, **options)
    ask("empty sum", empty, tf.reduce_sum, **options)
    ask("empty integers", nothing, lambda x: x * 2, **options)
    ask("itself", f, lambda x: x, **options)
    ask("integer itself", i, lambda x: x, **options)
    ask("bool itself", b, lambda x: x, **options)
    ask("unused", [f, i], lambda x, y: tf.constant(3.0), **options)
    ask("no sources", [], lambda: tf.constant(3.0), **options)
    ask("no targets", f, lambda x: [], **options)
    ask("nothing", f, lambda x: [None, x * 2.0], **options)
    ask("only nothing", f, lambda x: [None], **options)
    ask("None", f, lambda x: None, **options)
    ask("nested", {"a": f, "b": [f * 2.0, (i,)]}, lambda x, y, z: {"c": x * y, "d": [y]}, **options)
    ask("twice", [f, f], lambda x, y: x * y, **options)
    ask("numbers", f, lambda x: [x * 2.0, tf.constant(1)], **options)
    ask("slices", f, lambda x: tf.gather(x, [0, 0]), **options)
    ask("text", tf.constant("a"), lambda x: x, **options)

ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
sparse = tf.sparse.from_dense([[0.0, 2.0], [3.0, 0.0]])
slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
whole = tf.ragged.constant([[1, 2], [3]])
for options in ({}, zero):
    for name, source, build in (
        ("ragged", ragged, lambda x: x * 2.0),
        ("ragged flat", ragged, lambda x: tf.reduce_sum(x.flat_values ** 2)),
        ("ragged unused", ragged, lambda x: tf.constant(1.0)),
        ("ragged integers", whole, lambda x: tf.cast(x, tf.float32)),
        ("sparse", sparse, lambda x: tf.sparse.to_dense(x) * 2.0),
        ("sparse unused", sparse, lambda x: tf.constant(1.0)),
        ("slices", slices, lambda x: tf.convert_to_tensor(x) ** 2),
        ("slices values", slices, lambda x: x.values ** 2),
        ("slices unused", slices, lambda x: tf.constant(1.0)),
    ):
        with shown(), tf.GradientTape() as tape:
            tape.watch(source)
            y = build(source)
            print(name, plain(tape.gradient(y, source, **options)))

# Output gradients.
for seed in (np.ones(2, np.float32), [tf.constant([3.0, 4.0])], None, [None]):
    with shown(), tf.GradientTape() as tape:
        tape.watch(f)
        y = f * 2.0
        print(plain(tape.gradient(y, f, output_gradients=seed)))
with shown(), tf.GradientTape() as tape:
    tape.watch(f)
    print(plain(tape.gradient([f * 2.0, f * 3.0], f, output_gradients=[tf.ones(2), None])))

# Integer variables and what the tape says of them.
v, w = tf.Variable([1, 2]), tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    y = w * tf.cast(v, tf.float32)
print([x.dtype.name for x in tape.watched_variables()])
for target, source in ((y, v), (y, [w, v]), (v, v), (v, w), (w, w), ([v, w], [v, w])):
    show(lambda: tf.nest.map_structure(plain, tape.gradient(target, source)))
    show(lambda: tf.nest.map_structure(plain, tape.gradient(target, source, **zero)))
with tf.GradientTape() as tape:
    tape.watch(v)
    tape.watch(tf.constant(True))
    tape.watch(tf.constant("text"))
print(len(tape.watched_variables()))
