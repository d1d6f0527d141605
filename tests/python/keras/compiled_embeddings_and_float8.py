"""Compiled steps: optimisers on the rows of an embedding that a gradient touched, and a layer in eight-bit floats."""
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
for kind in ("Adagrad", "Adam", "SGD", "RMSprop", "Ftrl", "Adamax", "Lion"):
    table = keras.Variable(np.arange(12, dtype=np.float32).reshape(6, 2))
    optimizer = getattr(keras.optimizers, kind)(0.1)
    optimizer.build([table])

    @tf.function(jit_compile=True)
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table.value, ids) ** 2)
        optimizer.apply([tape.gradient(loss, table.value)], [table])
        return loss

    print(kind, [step(tf.constant(ids)).numpy().tolist() for ids in ([1, 3, 1], [0, 0, 5])], table.numpy().round(3).tolist())

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, kernel_initializer=keras.initializers.Constant(0.3))])
model.layers[-1].quantize("float8")
x = np.linspace(-1, 1, 8).reshape(2, 4).astype("float32")
print(model(x).numpy().round(4).tolist())
print(tf.function(lambda x: model(x), jit_compile=True)(tf.constant(x)).numpy().round(4).tolist())


@tf.function(jit_compile=True)
def gradient(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=True) ** 2)
    return tape.gradient(loss, [v.value for v in model.trainable_variables if v.path.endswith("kernel")])[0]


print(gradient(tf.constant(x)).numpy().round(4).tolist())
model.compile("sgd", "mse", jit_compile=True)
print([round(v, 4) for v in model.fit(x, np.ones((2, 3), "float32"), epochs=3, verbose=0).history["loss"]])
