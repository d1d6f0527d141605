"""What the ops of library.cc do; library.out is what it prints with TensorFlow."""

import re
import sys

import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])
spec = [tf.TensorSpec(None, tf.float32)]
twice = tf.function(lambda x: x * 2.0, input_signature=spec).get_concrete_function()
counted = tf.function(ops.count_runs, input_signature=spec).get_concrete_function()


def call(what, f=twice):
    try:
        y, told = ops.call_with(4.0, f=f, what=what)
        print(what, y.numpy(), told.numpy().decode())
    except tf.errors.OpError as e:
        print(what, type(e).__name__, re.sub(r"^\{\{.*?\}\} ", "", e.message.split("\n")[0].split(" [Op")[0]))


for what in ("plain", "library", "nothing there", "attribute", "other library", "replaced", "handles"):
    call(what)
for what in ("not cancelled", "runner", "own rendezvous", "released", "released", "plain"):
    call(what)
call("states", counted)
print(tf.function(lambda: ops.call_with(5.0, f=twice, what="other library"))()[0].numpy())
try:
    ops.call_with(4.0, f=twice, what="cancelled")
except tf.errors.CancelledError:
    print("cancelled")


@tf.function
def forwarded(x, temporary):
    return ops.one_more(x * 2.0, temporary=temporary)


@tf.function
def needed(x, temporary):
    doubled = x * 2.0
    return (*ops.one_more(doubled, temporary=temporary), doubled)


x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
for temporary in (False, True):
    print([t.numpy().tolist() for t in forwarded(x, temporary)])
    print([t.numpy().tolist() for t in needed(x, temporary)])
    print([t.numpy().tolist() for t in ops.one_more(x, temporary=temporary)], x.numpy().tolist())

current = tf.version.GRAPH_DEF_VERSION
version, seen, of_functions = ops.graph_versions()
print(int(version) == current, seen.shape == [current], int(of_functions) == current)
traced = tf.function(ops.graph_versions)
print([t.shape == [current] for t in traced.get_concrete_function().outputs][1], int(traced()[0]) == current)
with tf.Graph().as_default() as graph:
    ops.graph_versions(name="v")
old = graph.as_graph_def()
old.versions.producer = 27
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    version, seen, of_functions = tf.import_graph_def(old, return_elements=["v:0", "v:1", "v:2"])
    print(seen.shape, session.run([version, of_functions]), session.run(seen).shape)


@tf.function
def questions(sizes, other):
    y, z = ops.shape_questions(sizes=sizes, other=other)
    print(y.shape, z.shape)
    return sizes


questions.get_concrete_function(tf.TensorSpec([3], tf.int64), tf.TensorSpec([2], tf.int64))
questions.get_concrete_function(tf.TensorSpec([2], tf.int64), tf.TensorSpec(None, tf.int64))


@tf.function
def known():
    print(
        *[
            t.shape
            for t in ops.shape_questions(sizes=tf.constant([3], tf.int64), other=tf.constant([5, 6, 7], tf.int64))
        ]
    )
    return 0


known.get_concrete_function()
