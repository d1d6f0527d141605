"""einops: patterns on tensors, eager, traced and in layers."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import einops
import tensorflow as tf

x = tf.reshape(tf.range(24, dtype=tf.float32), [2, 3, 4])
print(
    "rearrange",
    einops.rearrange(x, "b (h w) c -> b c h w", w=1).shape,
    einops.rearrange(x, "a b c -> (c a) b")[1].numpy().tolist(),
)
print(
    "reduce",
    einops.reduce(x, "a b c -> a c", "mean").numpy().tolist(),
    einops.reduce(x, "a b (c d) -> b d", "max", d=2).numpy().tolist(),
)
print("repeat", einops.repeat(x[0, 0], "c -> c k", k=2).numpy().tolist())
print("pack", [t.shape.as_list() if hasattr(t, "shape") else t for t in einops.pack([x, x[:, 0]], "b * c")])
print("einsum", einops.einsum(x, x, "a b c, a d c -> a b d").numpy().sum())


@tf.function(input_signature=[tf.TensorSpec([None, 3, None])])
def traced(x):
    y = einops.rearrange(x, "a b c -> c (a b)")
    return einops.reduce(y, "c (a b) -> c b", "sum", b=3)


print("traced", traced(x).numpy().tolist())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(einops.reduce(x, "a b c -> a b", "max") ** 2)
print("gradient", tape.gradient(y, x).numpy().tolist())
print("parse", einops.parse_shape(x, "batch _ channels"))
