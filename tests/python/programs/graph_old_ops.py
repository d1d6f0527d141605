"""Ops that only graphs of old versions may have."""
import numpy as np

import tensorflow as tf

tf1, raw = tf.compat.v1, tf.raw_ops
np.set_printoptions(precision=4, suppress=True)


def show(label, build, producer=1):
    with tf1.Graph().as_default():
        old = tf1.GraphDef()
        old.versions.producer = producer
        tf.import_graph_def(old, name="")
        try:
            fetches = tf.nest.flatten(build())
            print(label, [str(t.shape) for t in fetches])
            with tf1.Session() as session:
                for value in session.run(fetches):
                    print(np.asarray(value).dtype, np.asarray(value).tolist() if np.asarray(value).dtype.kind == "i" else value)
        except (ValueError, NotImplementedError, tf.errors.OpError) as e:
            print(label, type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])


def open_shape(value, dtype=None):
    return tf1.placeholder_with_default(tf.constant(value, dtype), None)


x = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)
v = np.array([1.0, 2.0, 3.0], np.float32)


def batch_norm(t=x, m=v, var=v + 1, beta=v + 2, gamma=v * 2, scale=True, dtype=tf.float32):
    args = {"t": t, "m": m, "v": var, "beta": beta, "gamma": gamma}
    return raw.BatchNormWithGlobalNormalization(
        **{k: open_shape(a, dtype) for k, a in args.items()}, variance_epsilon=0.125, scale_after_normalization=scale
    )


def batch_norm_gradients(scale):
    inputs = [tf.constant(a) for a in (x, v, v + 1, v + 2, v * 2)]
    y = raw.BatchNormWithGlobalNormalization(
        t=inputs[0], m=inputs[1], v=inputs[2], beta=inputs[3], gamma=inputs[4], variance_epsilon=0.5, scale_after_normalization=scale
    )
    return tf1.gradients(y, inputs, tf.constant(x / 10))


show("batch norm", batch_norm)
show("without scale", lambda: batch_norm(scale=False))
show("double", lambda: batch_norm(dtype=tf.float64))
show("half", lambda: batch_norm(dtype=tf.float16))
show("gradients", lambda: batch_norm_gradients(True))
show("gradients without scale", lambda: batch_norm_gradients(False))
show("bad input", lambda: batch_norm(t=v))
show("bad mean", lambda: batch_norm(m=x))
show("bad beta", lambda: batch_norm(beta=x))
show("known shapes", lambda: raw.BatchNormWithGlobalNormalization(t=x, m=v[:2], v=v, beta=v, gamma=v, variance_epsilon=0.1, scale_after_normalization=True))
for dtype in (tf.uint8, tf.int16, tf.int32, tf.float32, tf.float64):
    show("contrast " + dtype.name, lambda: raw.AdjustContrast(images=open_shape(x, dtype), contrast_factor=2.0, min_value=1.0, max_value=20.0))
show("contrast", lambda: raw.AdjustContrast(images=open_shape(v), contrast_factor=2.0, min_value=1.0, max_value=20.0))
show("contrast", lambda: raw.AdjustContrast(images=x, contrast_factor=open_shape(v), min_value=1.0, max_value=20.0))
show("contrast", lambda: raw.AdjustContrast(images=x, contrast_factor=1.0, min_value=1.0, max_value=open_shape(v)))
for scale in (0.01, 0.5, 1.5, 4.0, 9.0):
    for dtype in (tf.float32, tf.float64, tf.complex64, tf.complex128):
        m = np.array([[[0.5, -1.0], [0.25, 0.125]], [[-0.1, 0.2], [0.9, -0.3]]]) * scale
        m = m * (1 + 0.25j) if dtype.is_complex else m
        show(f"exponential {scale} {dtype.name}", lambda: raw.MatrixExponential(input=tf.cast(m, dtype)))
show("exponential", lambda: raw.MatrixExponential(input=open_shape(x)))
show("exponential", lambda: raw.MatrixExponential(input=open_shape(v)))
show("exponential", lambda: raw.MatrixExponential(input=tf.zeros([2, 0, 0])))
y = np.arange(54, dtype=np.float32).reshape(1, 3, 3, 3, 2) / 10
f = np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2, 1)
g = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2, 1)
for dtype in (tf.float32, tf.float64):
    args = {"input": tf.constant(y, dtype).numpy(), "filter": tf.constant(f, dtype).numpy(), "out_backprop": tf.constant(g, dtype).numpy()}
    show("conv input", lambda: raw.Conv3DBackpropInput(**args, strides=[1] * 5, padding="VALID"))
    show("conv filter", lambda: raw.Conv3DBackpropFilter(**args, strides=[1] * 5, padding="VALID"))
show("conv filter", lambda: raw.Conv3DBackpropFilter(input=y, filter=open_shape(v), out_backprop=g, strides=[1] * 5, padding="VALID"))
show("too new", lambda: raw.MatrixExponential(input=tf.eye(2)), producer=27)
try:
    raw.MatrixExponential(input=tf.eye(2))
except tf.errors.OpError as e:
    print(type(e).__name__, "is not available in GraphDef version" in e.message)
