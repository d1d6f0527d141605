import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input([2]),
            tf.keras.layers.Dense(3, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.L2(1e-4)),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.5))
x = np.linspace(-1.0, 1.0, 40).astype("float32").reshape(20, 2)
y = x[:, :1] * 2.0
print(model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(5), epochs=2, verbose=0).history["loss"])
print(model.fit(x, y, batch_size=5, epochs=1, shuffle=False, verbose=0).history["loss"])
print(model.evaluate(x, y, verbose=0), model.predict(x[:2], verbose=0))
