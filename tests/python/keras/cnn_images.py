"""Convolutional networks: layers for images, batch normalisation, tf.data input, machine code by jit_compile."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.RandomState(2)
images = rng.rand(48, 12, 12, 3).astype("float32")
labels = (images[:, :, :6].mean((1, 2, 3)) > images[:, :, 6:].mean((1, 2, 3))).astype("int32")


def network():
    keras.utils.set_random_seed(4)
    return keras.Sequential(
        [
            keras.Input((12, 12, 3)),
            layers.Conv2D(8, 3, activation="relu", use_bias=False),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Conv2D(12, 3, padding="same", strides=2, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(2, activation="softmax"),
        ]
    )


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(16).prefetch(2)
for jit in (False, True):
    model = network()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=jit)
    history = model.fit(dataset, epochs=3, verbose=0)
    print([f"{v:.5f}" for v in history.history["loss"]], [f"{v:.4f}" for v in history.history["accuracy"]])
    print(np.round(model.predict(dataset, verbose=0)[:2], 5))
    print(np.round(model.layers[1].moving_mean.numpy()[:4], 5))


keras.utils.set_random_seed(9)


def shown(*stack):
    model = keras.Sequential([*stack, layers.Flatten(), layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.005), "mse")
    loss = model.fit(images[:16], images[:16, 0, 0, :2], epochs=2, batch_size=8, shuffle=False, verbose=0).history[
        "loss"
    ]
    print(
        [type(layer).__name__ for layer in stack], model.layers[len(stack) - 1].output.shape, [f"{v:.5f}" for v in loss]
    )


shown(layers.SeparableConv2D(4, 3), layers.DepthwiseConv2D(3, depth_multiplier=2), layers.AveragePooling2D(2))
shown(layers.Conv2DTranspose(3, 2, strides=2), layers.Cropping2D(4), layers.ZeroPadding2D(1))
shown(layers.UpSampling2D(2), layers.Conv2D(4, 3, dilation_rate=2), layers.GlobalMaxPooling2D(keepdims=True))
shown(layers.Conv2D(6, 3, groups=3), layers.GroupNormalization(3), layers.PReLU(shared_axes=[1, 2]))
shown(layers.Reshape((12, 12, 3, 1)), layers.Conv3D(2, 2), layers.MaxPooling3D((2, 2, 1)))
shown(
    layers.Reshape((36, 12)),
    layers.Conv1D(4, 3, padding="causal"),
    layers.SpatialDropout1D(0.2, seed=1),
    layers.Conv1DTranspose(3, 2),
)
shown(layers.Permute((3, 1, 2)), layers.Conv2D(4, 1), layers.LayerNormalization(), layers.UnitNormalization())
