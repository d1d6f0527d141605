"""Uses the ops of ops.cc. With TensorFlow 2.21, for which ops.cc was compiled with its headers, it printed ops.out.

program.py LIBRARY
"""

import re
import sys

import numpy as np
import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])


def error(f):
    """The class and the first line of what f raises."""
    try:
        f()
        return "no error"
    except (tf.errors.OpError, ValueError) as e:
        text = (e.message if isinstance(e, tf.errors.OpError) else str(e)).split("\n")[0]
        text = re.sub(r"^\{\{function_node .*?\}\} |( \[Op:| for '\{\{node).*", "", text)
        return f"{type(e).__name__}: {text}"


print("names", sorted(n for n in dir(ops) if n.startswith("wt_") and "fallback" not in n))
print("doc", ops.wt_attrs.__doc__.strip().split("\n")[0])
print("attrs", ops.wt_attrs().numpy())
print(
    "attrs",
    ops.wt_attrs(
        i=3, f=0.25, b=False, s="x", t=tf.string, shape=[4], partial=[None, 2], bs=[], ss=["q"], ts=[tf.bool]
    ).numpy(),
)
print("attrs", ops.wt_attrs(fs=[0.5, 1e9, 1 / 3], partial=[]).numpy())
print("negative", error(lambda: ops.wt_attrs(i=-1)))

for dtype in (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64):
    print("relu", dtype.__name__, ops.wt_relu(np.array([[-1, 2], [3, -4]], dtype)).numpy().tolist())
print("relu bfloat16", tf.cast(ops.wt_relu(tf.cast([-1.5, 2.5], tf.bfloat16)), tf.float32).numpy().tolist())
kept = tf.constant([-1.0, 1.0])
print("kept", ops.wt_relu(kept).numpy().tolist(), kept.numpy().tolist())
chain = tf.function(lambda x: ops.wt_relu(ops.wt_relu(x * 2.0) - 1.0))
print("chain", chain(tf.constant([-1.0, 0.25, 3.0])).numpy().tolist())

print("sums", [s.numpy().tolist() for s in ops.wt_prefix_sums([[1, 2], [3, 4], [5, 6]])])
print("sums", [s.numpy().tolist() for s in ops.wt_prefix_sums(xs=[[0.5], [0.25]])])
print("sums", error(lambda: ops.wt_prefix_sums([[1, 2], [3, 4, 5]])))

a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
print("matmul", ops.wt_mat_mul(a, b).numpy().tolist())
big = ops.wt_mat_mul(np.ones((300, 50), np.float32), np.ones((50, 70), np.float32)).numpy()
print("matmul", big.shape, big.min(), big.max())
print("matmul", error(lambda: ops.wt_mat_mul(a, a)))
print("matmul", error(lambda: ops.wt_mat_mul(a, [1.0])))

y, lengths = ops.wt_reverse(["abc", "", "a longer text that does not fit inside"])
print("reverse", y.numpy().tolist(), lengths.numpy().tolist())
print("reverse", ops.wt_reverse(np.zeros((0, 2), np.str_))[0].shape)

print("later", ops.wt_later([1, 2]).numpy().tolist())
print("later", error(lambda: ops.wt_later([[1]])))
print("later", tf.function(lambda x: ops.wt_later(ops.wt_later(x)) + 1)(tf.constant(5)).numpy())

counter = ops.wt_counter(shared_name="c")
print("count", [ops.wt_count(counter, n).numpy() for n in (1, 10, 100)])
print(
    "count",
    ops.wt_count(ops.wt_counter(shared_name="c"), 0).numpy(),
    ops.wt_count(ops.wt_counter(shared_name="d"), 0).numpy(),
)
print("count", tf.function(lambda: ops.wt_count(counter, tf.constant(1, tf.int64)))().numpy())

filled, rows = ops.wt_fill([3, 2], 1.5)
print("fill", filled.numpy().tolist(), rows.numpy().tolist())
print("fill", ops.wt_fill([1], 1.5, rows=5)[1].numpy().tolist())
print("fill", error(lambda: ops.wt_fill([-3], 1.0)))


def shapes(f, *specs):
    try:
        outputs = tf.function(f).get_concrete_function(*specs).outputs
        return [str(o.shape) for o in outputs]
    except (tf.errors.OpError, ValueError) as e:
        text = str(e)
        at = max(text.rfind(word) for word in ("Shape must", "Shapes must", "Dimension", "Input "))
        return text[at:].split(" for '{{node")[0].split(" for {{node")[0]


F = lambda *dims: tf.TensorSpec(dims, tf.float32)  # noqa: E731
N = tf.TensorSpec(None, tf.float32)
I = tf.TensorSpec(None, tf.int32)  # noqa: E741
print("shape", shapes(ops.wt_relu, F(2, None)), shapes(ops.wt_relu, N), shapes(lambda: ops.wt_attrs()))
print("shape", shapes(ops.wt_mat_mul, F(2, None), F(3, 4)), shapes(ops.wt_mat_mul, N, F(None, 4)))
print("shape", shapes(ops.wt_mat_mul, F(2, 5), F(3, 4)))
print("shape", shapes(ops.wt_mat_mul, F(2), F(3, 4)))
print(
    "shape",
    shapes(lambda x, y: ops.wt_prefix_sums([x, y]), F(None, 3), F(2, None)),
    shapes(lambda x, y: ops.wt_prefix_sums([x, y]), N, F(2)),
)
print("shape", shapes(lambda x, y: ops.wt_prefix_sums([x, y]), F(2, 3), F(2, 4)))
print("shape", shapes(lambda x, y: ops.wt_prefix_sums([x, y]), F(2, 3), F(2)))
print("shape", shapes(lambda x: ops.wt_fill([4, 5], x), F()), shapes(lambda x: ops.wt_fill([1, 5], x), F()))
print(
    "shape",
    shapes(lambda d, x: ops.wt_fill(d, x), tf.TensorSpec([3], tf.int32), F()),
    shapes(lambda d, x: ops.wt_fill(d, x), I, F()),
)
print("shape", shapes(lambda x: ops.wt_fill([4, 5], x), F(1)))


@tf.RegisterGradient("WtRelu")
def _relu_grad(op, grad):
    return tf.where(op.inputs[0] > 0, grad, 0.0)


x = tf.constant([-1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = ops.wt_relu(x) * [3.0, 5.0]
print("gradient", tape.gradient(y, x).numpy().tolist())
print(
    "map", [v.numpy().tolist() for v in tf.data.Dataset.from_tensor_slices([[-1.0, 1.0], [2.0, -2.0]]).map(ops.wt_relu)]
)
