"""tf.print: kinds of tensors, summarize, separators, ends, nested structures, streams, files, in functions."""
import os
import sys
import tempfile
import tensorflow as tf


def p(*args, **kwargs):
    tf.print(*args, output_stream=sys.stdout, **kwargs)


p("hello", 1, 2.5, True, None)
p(tf.constant(3), tf.constant([1.5, 2.0]), tf.constant("text"), tf.constant([["a", "b"], ["c", "d"]]))
p(tf.range(10), tf.range(7), tf.reshape(tf.range(100), [10, 10]))
p(tf.range(20), summarize=2)
p(tf.range(20), summarize=-1)
p("a", "b", "c", sep="-")
p("no newline", end="")
p(" | done")
p({"k": tf.constant(1), "l": [tf.constant([2.0]), (3, "s")]}, [tf.constant(1), None])
p(tf.constant([0.1, 1e-10, 123456789.0, 1e20]), tf.constant(1 / 3), tf.constant(1.0), tf.constant(100.0))
p(tf.constant(0.1, tf.float64), tf.constant(1 / 3, tf.float64),
  tf.constant([float("nan"), float("inf"), -float("inf")]))
p(tf.constant([True, False]), tf.constant([250], tf.uint8), tf.constant(0.5, tf.float16),
  tf.constant(0.5, tf.bfloat16))
p(tf.Variable([1, 2]), tf.ragged.constant([[1, 2], [3]]), tf.SparseTensor([[0, 1]], [5], [2, 2]))
p(tf.zeros([0]), tf.zeros([2, 0]), tf.zeros([1, 1, 1]), tf.zeros([2, 2, 2]))
p("percent % and {} braces", tf.constant(1), "quote \" and \\")
p()


@tf.function
def f(x):
    p("x is", x, x.shape)
    p("structure", {"a": x, "b": (x + 1, "str")})
    return x


@tf.function
def loop(n):
    for i in tf.range(n):
        p("loop", i)


@tf.function
def branch(x):
    if x > 0:
        p("positive")
    else:
        p("not positive")


f(tf.constant([1, 2]))
loop(tf.constant(2))
branch(tf.constant(1))
branch(tf.constant(-1))
path = os.path.join(tempfile.mkdtemp(), "out.txt")
tf.print("to a file", tf.range(3), output_stream="file://" + path)
tf.print("again", output_stream="file://" + path)
print(open(path).read())
print(tf.strings.format("{}", tf.constant([[1.0, 2.0], [3.0, 4.0]])))
try:
    tf.print("x", output_stream="nowhere")
except ValueError as e:
    print(str(e).splitlines()[0])
try:
    tf.print("x", wrong=1)
except ValueError as e:
    print(e)
