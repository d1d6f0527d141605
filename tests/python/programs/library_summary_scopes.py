"""Names of summaries with characters that no scope may have."""
import tensorflow as tf

names = ["kernel.lengthscales[0]", "a b", "[]", "plain", "x/y:0"]


@tf.function
def f():
    for name in names:
        with tf.summary.experimental.summary_scope(name, "other") as (tag, scope):
            print(repr(tag), repr(scope))


with tf.name_scope("outer"):
    for name in names:
        with tf.summary.experimental.summary_scope(name, "other") as (tag, scope):
            print(repr(tag), repr(scope))
f()
