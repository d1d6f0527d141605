"""Types of layers: policies, half precision with loss scaling, float64, integers."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.RandomState(8)
x = rng.rand(32, 6).astype("float32")
y = rng.rand(32, 2).astype("float32")


def trained(label, optimizer="sgd", **options):
    keras.utils.set_random_seed(4)
    model = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(2, dtype="float32")])
    model.compile(optimizer, "mse", **options)
    loss = model.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0).history["loss"]
    first = model.layers[0]
    print(label, first.compute_dtype, first.variable_dtype, first.output.dtype, [f"{v:.2f}" for v in loss])
    return model


trained("float32")
for name in ("mixed_float16", "mixed_bfloat16"):
    keras.mixed_precision.set_global_policy(name)
    print(keras.mixed_precision.global_policy().name, keras.mixed_precision.dtype_policy().compute_dtype)
    model = trained(name, "adam")
    print(type(model.optimizer).__name__, model.predict(x, verbose=0).dtype)
keras.mixed_precision.set_global_policy("float32")

scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=4.0, dynamic_growth_steps=3)
model = trained("scaled", scaled)
print(float(scaled.dynamic_scale), int(scaled.iterations), int(scaled.inner_optimizer.iterations))
# A step whose gradients are not finite is left out and the scale halved.
variable = keras.Variable(np.ones(2, "float32"))
scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0), initial_scale=8.0)
scaled.build([variable])
scaled.apply([tf.constant([float("inf"), 1.0])], [variable])
print(variable.numpy(), float(scaled.dynamic_scale))
scaled.apply([tf.constant([4.0, 8.0])], [variable])
print(variable.numpy(), float(scaled.scale_loss(tf.constant(2.0))))

dense = layers.Dense(3, dtype="float64", kernel_initializer="ones")
print(dense(x[:1]).dtype, dense.kernel.dtype)
print(layers.Dense(2, dtype="mixed_float16", kernel_initializer="ones")(x[:1]).numpy())
print(layers.Embedding(4, 2, dtype="bfloat16", embeddings_initializer="ones")(np.array([1])).dtype)
keras.config.set_floatx("float16")
print(keras.config.floatx(), layers.Dense(1, kernel_initializer="ones")(np.ones((1, 2))).dtype)
keras.config.set_floatx("float32")
