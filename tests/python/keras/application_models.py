"""keras.applications without weights: built, run, cut open, trained further."""

import keras
import numpy as np

x = np.linspace(0, 1, 2 * 32 * 32 * 3, dtype="float32").reshape(2, 32, 32, 3)
keras.utils.set_random_seed(1)
small = keras.applications.MobileNetV2(input_shape=(32, 32, 3), alpha=0.35, weights=None, classes=5)
print(small.name, small.count_params(), len(small.layers), np.round(small.predict(x, verbose=0), 4))

body = keras.applications.MobileNetV3Small(input_shape=(32, 32, 3), weights=None, include_top=False, pooling="avg")
body.trainable = False
head = keras.Sequential([body, keras.layers.Dense(3, activation="softmax")])
head.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
loss = head.fit(x, np.array([0, 2]), epochs=2, shuffle=False, verbose=0).history["loss"]
print(body.count_params(), len(head.trainable_weights), [f"{v:.4f}" for v in loss])
print(keras.applications.imagenet_utils.preprocess_input(x[:1, :1, :1] * 255, mode="tf"))
