"""What every worker does with Keras: keras_program.py FOLDER, with TF_CONFIG; without it, what one process does with the whole batches. Prints the
same on TensorFlow and on weft. KERAS=tf_keras takes that package. HARM="kill 2": worker 1 is killed in epoch 2 of `restored`."""

import importlib
import json
import os
import signal
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = importlib.import_module(os.environ.get("KERAS", "keras"))
tf.get_logger().setLevel("FATAL")
folder = sys.argv[1]
config = json.loads(os.environ.get("TF_CONFIG", "{}"))
workers, index = (len(config["cluster"]["worker"]), config["task"]["index"]) if config else (1, 0)
strategy = tf.distribute.MultiWorkerMirroredStrategy() if config else tf.distribute.get_strategy()


def rounded(x):
    return np.round(np.asarray(x, np.float64), 5).tolist()


def data():
    rng = np.random.RandomState(3)
    x = rng.uniform(-1, 1, [64, 8]).astype(np.float32)
    y = (x @ rng.uniform(-1, 1, [8, 3])).argmax(-1)
    return x, y.astype(np.int32)


def batches(count=64):
    x, y = data()
    return tf.data.Dataset.from_tensor_slices((x[:count], y[:count])).batch(16)


def made(optimizer, middle=()):
    """A model with the same weights everywhere."""
    with strategy.scope():
        x = inputs = keras.Input([8])
        for layer in (keras.layers.Dense(16, activation="tanh"), *(make() for make in middle), keras.layers.Dense(3)):
            x = layer(x)
        model = keras.Model(inputs, x)
        rng = np.random.RandomState(5)
        model.set_weights([rng.uniform(0, 0.3, w.shape).astype(np.float32) for w in model.get_weights()])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer(), loss, metrics=["accuracy"])
    return model


def tell(history):
    for name, found in sorted(history.history.items()):
        print(name, rounded(found))


def arrays():
    x, y = data()
    model = made(lambda: keras.optimizers.SGD(0.5))
    tell(model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0))
    print(rounded(model.get_weights()[-1]))


def datasets():
    model = made(lambda: keras.optimizers.Adam(0.02))
    tell(model.fit(batches(), epochs=3, verbose=0, validation_data=batches()))
    print(rounded(model.evaluate(batches(), verbose=0)))
    print(rounded(model.get_weights()[-1]), int(model.optimizer.iterations.numpy()))


def uneven():
    """The last batch is smaller."""
    model = made(lambda: keras.optimizers.SGD(0.5, momentum=0.9))
    tell(model.fit(batches(56), epochs=2, verbose=0))
    print(rounded(model.get_weights()[-1]))


def normalized():
    """By the statistics of all workers."""
    model = made(lambda: keras.optimizers.SGD(0.5), [lambda: keras.layers.BatchNormalization(synchronized=True)])
    tell(model.fit(batches(), epochs=2, verbose=0))
    print([rounded(w)[:2] for w in model.get_weights()[2:6]])


def predictions():
    x, _ = data()
    model = made(lambda: keras.optimizers.SGD(0.5))
    found = model.predict(tf.data.Dataset.from_tensor_slices(x).batch(16), verbose=0)
    print(found.shape, rounded(found[[0, 7, 8, 40, 63]]))
    print(rounded(model.predict(x[:32], batch_size=16, verbose=0)[5]))


def several_steps():
    """Several steps in one call of a function."""
    model = made(lambda: keras.optimizers.SGD(0.5))
    with strategy.scope():
        model.compile(model.optimizer, model.loss, steps_per_execution=2)
    tell(model.fit(batches(), epochs=2, verbose=0))


def own_loop():
    model = made(lambda: keras.optimizers.SGD(0.5))
    lossfn = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    @tf.function
    def step(batch):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss(lossfn(y, model(x, training=True)), global_batch_size=16)
            grads = tape.gradient(loss, model.trainable_variables)
            model.optimizer.apply_gradients(zip(grads, model.trainable_variables))
            return loss

        return strategy.reduce("SUM", strategy.run(replica, args=batch), axis=None)

    dataset = strategy.experimental_distribute_dataset(batches())
    print(rounded([step(batch) for _ in range(2) for batch in dataset]))


class Harm(keras.callbacks.Callback):
    """Ends this process in the middle of an epoch."""

    def __init__(self, epoch):
        super().__init__()
        self._at, self._now = epoch, 0

    def on_epoch_begin(self, epoch, logs=None):
        self._now = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 2 and self._now == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def restored():
    """Training that goes on after the last epoch that was finished."""
    model = made(lambda: keras.optimizers.Adam(0.02))
    backup = keras.callbacks.BackupAndRestore(os.path.join(folder, f"backup_{index}"), delete_checkpoint=False)
    harm = os.environ.get("HARM", "").split()
    callbacks = [backup, Harm(int(harm[1]))] if harm and index == 1 else [backup]
    try:
        history = model.fit(batches(), epochs=4, verbose=0, callbacks=callbacks)
    except tf.errors.OpError as e:
        print("lost", type(e).__name__, flush=True)
        os._exit(3)
    print(
        rounded(history.history["loss"][-1]), rounded(model.get_weights()[-1]), int(model.optimizer.iterations.numpy())
    )
    print("epochs", history.epoch)


def saved():
    """All workers save, each where it may; the chief's is kept."""
    x, _ = data()
    model = made(lambda: keras.optimizers.SGD(0.5))
    path = os.path.join(folder, f"model_{index}.keras")
    model.save(path)
    again = keras.models.load_model(path)
    print(rounded(again(x[:2])) == rounded(model(x[:2])), [v.name for v in again.weights][:1])
    model.export(os.path.join(folder, f"exported_{index}"), verbose=False)
    served = tf.saved_model.load(os.path.join(folder, f"exported_{index}"))
    print(rounded(served.serve(x[:2])))


sections = (arrays, datasets, uneven, normalized, predictions, several_steps, own_loop, saved, restored)
sections = {f.__name__: f for f in sections}
for name in os.environ.get("SECTIONS", ",".join(sections)).split(","):
    print("==", name, flush=True)
    sections[name]()
print("end", flush=True)
strategy.reduce("SUM", tf.constant(0.0), axis=None)  # nobody leaves before all are here
