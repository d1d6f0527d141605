"""keras.ops and keras.random: functions on arrays, eagerly, in functions and as layers of a model."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops

rng = np.random.RandomState(9)
a = rng.rand(3, 4).astype("float32")
b = rng.rand(4, 3).astype("float32")


def shown(name, value):
    arrays = [np.asarray(v) for v in keras.tree.flatten(value)]
    print(name, *[v.tolist() if v.dtype == bool else np.round(v.astype("float64"), 5).tolist() for v in arrays])


shown("matmul", ops.matmul(a, b))
shown("einsum", ops.einsum("ij,jk->ki", a, b))
shown(
    "reductions",
    [ops.mean(a, 0), ops.std(a), ops.var(a, 1), ops.prod(a), ops.median(a), ops.quantile(a, 0.3), ops.logsumexp(a, 1)],
)
shown(
    "order",
    [
        ops.sort(a, 1),
        ops.argsort(a, 1),
        ops.top_k(a, 2)[0],
        ops.argmax(a, 0),
        ops.searchsorted(np.array([0.2, 0.5]), np.array([0.3])),
    ],
)
shown(
    "shapes",
    [
        ops.reshape(a, (2, 6))[0],
        ops.transpose(a)[0],
        ops.stack([a, a], 2)[0],
        ops.flip(a, 1)[0],
        ops.roll(a, 1)[0],
    ],
)
shown(
    "pieces",
    [
        ops.split(a, 2, 1)[1],
        ops.concatenate([a, a], 1)[0],
        ops.repeat(a[:1], 2, 1),
        ops.tile(a[:1, :2], (1, 2)),
        ops.pad(a[:1], ((0, 0), (1, 1))),
    ],
)
shown(
    "choices",
    [
        ops.where(a > 0.5, a, -1.0),
        ops.take(a, [2, 0], axis=0),
        ops.take_along_axis(a, np.array([[0], [1], [2]]), 1),
        ops.clip(a, 0.2, 0.6)[0],
    ],
)
shown(
    "grids",
    [
        ops.arange(2, 8, 2),
        ops.linspace(0.0, 1.0, 3),
        ops.eye(2),
        ops.tri(3),
        ops.diag(np.array([1.0, 2.0])),
        *ops.meshgrid(np.arange(2), np.arange(2)),
    ],
)
shown(
    "numbers",
    [
        ops.cumsum(a, 1)[0],
        ops.diff(a)[0],
        ops.histogram(a.ravel(), 3)[0],
        ops.bincount(np.array([0, 2, 2])),
        ops.unravel_index(np.array([5]), (2, 3)),
    ],
)
shown(
    "activations",
    [
        ops.softmax(a)[0],
        ops.gelu(a)[0],
        ops.silu(a)[0],
        ops.log_softmax(a)[0],
        ops.hard_sigmoid(a)[0],
        ops.sparsemax(a)[0],
        ops.glu(a)[0],
    ],
)
shown(
    "linear algebra",
    [
        ops.norm(a),
        ops.det(np.eye(2) * 3.0),
        ops.inv(np.array([[2.0, 0.0], [0.0, 4.0]])),
        ops.cholesky(np.array([[4.0, 2.0], [2.0, 3.0]])),
        ops.solve(np.eye(2) * 2.0, np.ones((2, 1))),
    ],
)
shown(
    "segments",
    [
        ops.segment_sum(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])),
        ops.segment_max(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])),
    ],
)
shown(
    "slices",
    [
        ops.slice(a, (1, 1), (2, 2)),
        ops.slice_update(a, (0, 0), np.zeros((1, 2), "float32")),
        ops.scatter(np.array([[1], [3]]), np.array([5.0, 6.0]), (5,)),
        ops.scatter_update(np.zeros(3), [[1]], [2.0]),
    ],
)
shown(
    "signals", [ops.rfft(a[0])[0], ops.stft(np.arange(16, dtype="float32"), 8, 4, 8)[0][0], ops.correlate(a[0], a[1])]
)
shown(
    "pictures",
    [
        ops.image.resize(a.reshape(3, 4, 1), (2, 2)),
        ops.average_pool(a.reshape(1, 3, 4, 1), 2),
        ops.conv(a.reshape(1, 3, 4, 1), np.ones((2, 2, 1, 1), "float32")),
        ops.image.rgb_to_grayscale(np.ones((1, 1, 3), "float32")),
    ],
)
shown("one hot", [ops.one_hot([0, 2], 3), ops.multi_hot(np.array([0, 2]), 3), ops.in_top_k(np.array([1]), a[:1, :3], 1)])
print(ops.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (0, 0)), ops.cond(True, lambda: 1, lambda: 2))
print(
    [
        np.asarray(v).tolist()
        for v in ops.scan(lambda c, v: (c + v, c * v), np.array(0.0, "float32"), np.arange(4.0, dtype="float32"))
    ]
)
print(
    ops.map(lambda v: v * 2, np.arange(3)).numpy(),
    ops.vectorized_map(lambda v: v + 1, np.arange(3)).numpy(),
    ops.fori_loop(0, 4, lambda i, v: v + i, 0),
)
print(
    ops.shape(a),
    ops.dtype(ops.cast(a, "int32")),
    ops.convert_to_tensor([1, 2]).dtype,
    ops.is_tensor(a),
    type(ops.convert_to_numpy(ops.ones(2))).__name__,
)


@tf.function
def traced(v):
    return ops.sum(ops.relu(v - 0.5)), ops.shape(v)


shown("traced", traced(a)[0])
i = keras.Input((4,))
model = keras.Model(i, ops.concatenate([ops.exp(i), ops.expand_dims(ops.sum(i, 1), 1)], axis=1))
shown("model", model(a)[0])

seed = keras.random.SeedGenerator(3)
r = keras.random
shown(
    "random",
    [
        r.normal((3,), seed=seed),
        r.uniform((3,), seed=seed),
        r.randint((3,), 0, 10, seed=seed),
        r.truncated_normal((3,), seed=seed),
    ],
)
shown(
    "more",
    [
        r.categorical(np.zeros((1, 4), "float32"), 3, seed=seed),
        r.shuffle(np.arange(5), seed=seed),
        r.dropout(np.ones(4, "float32"), 0.5, seed=seed),
    ],
)
shown(
    "distributions",
    [r.gamma((2,), 2.0, seed=seed), r.beta((2,), 2.0, 3.0, seed=seed), r.binomial((2,), 5.0, 0.5, seed=seed)],
)
shown("again", [r.normal((2,), seed=11), r.normal((2,), seed=11)])
keras.utils.set_random_seed(6)
for (
    initializer
) in "glorot_uniform he_normal orthogonal lecun_normal truncated_normal variance_scaling identity".split():
    shown(initializer, keras.initializers.get(initializer)((3, 3))[0])
