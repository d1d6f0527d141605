"""What happens around training: callbacks, early stopping, checkpoints, learning rates, resuming."""

import os
import tempfile

import keras
import numpy as np

rng = np.random.RandomState(0)
x = rng.rand(64, 5).astype("float32")
y = (x @ rng.rand(5, 2)).astype("float32")
folder = tempfile.mkdtemp()


def network():
    keras.utils.set_random_seed(5)
    i = keras.Input((5,))
    h = keras.layers.Dense(6, activation="tanh")(keras.layers.BatchNormalization()(i))
    model = keras.Model(i, keras.layers.Dense(2)(h))
    model.compile(keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    return model


class Diary(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.lines = []

    def on_train_begin(self, logs=None):
        self.lines.append("train")

    def on_epoch_begin(self, epoch, logs=None):
        self.lines.append(f"epoch {epoch}")

    def on_train_batch_end(self, batch, logs=None):
        self.lines.append(f"batch {batch} {sorted(logs)}")

    def on_test_end(self, logs=None):
        self.lines.append(f"test {sorted(logs)}")

    def on_epoch_end(self, epoch, logs=None):
        self.lines.append(f"end {sorted(logs)} {self.model.optimizer.iterations.numpy()}")


diary = Diary()
network().fit(x, y, epochs=2, batch_size=32, validation_data=(x, y), shuffle=False, verbose=0, callbacks=[diary])
print("\n".join(diary.lines))

model = network()
callbacks = [
    keras.callbacks.ModelCheckpoint(os.path.join(folder, "best.keras"), monitor="val_loss", save_best_only=True),
    keras.callbacks.ModelCheckpoint(os.path.join(folder, "at{epoch:02d}.weights.h5"), save_weights_only=True),
    keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.8),
    keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
    keras.callbacks.TerminateOnNaN(),
    keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch, f"{logs['val_loss']:.4f}")),
]
history = model.fit(
    x[:48], y[:48], epochs=4, validation_data=(x[48:], y[48:]), shuffle=False, verbose=0, callbacks=callbacks
)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.4f}" for v in values])
print(sorted(os.listdir(folder)))
print(open(os.path.join(folder, "log.csv")).readline().strip())
best = keras.models.load_model(os.path.join(folder, "best.keras"))
print(abs(best.evaluate(x[48:], y[48:], verbose=0)[0] - min(history.history["val_loss"])) < 1e-4)
earlier = network()
earlier.load_weights(os.path.join(folder, "at02.weights.h5"))
print(f"{earlier.evaluate(x[48:], y[48:], verbose=0)[0]:.4f}", f"{history.history['val_loss'][1]:.4f}")

# Stopped when it gets no better, back at the best weights.
model = network()
stopping = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, min_delta=0.05, restore_best_weights=True)
history = model.fit(x, y, epochs=40, validation_data=(x, y), shuffle=False, verbose=0, callbacks=[stopping])
print(len(history.epoch) == stopping.stopped_epoch + 1, len(history.epoch), stopping.best_epoch)

plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=10.0)
history = network().fit(x, y, epochs=4, shuffle=False, verbose=0, callbacks=[plateau])
print([f"{v:.5f}" for v in history.history["learning_rate"]])


# A training that is cut off goes on where it was.
class CutOff(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise RuntimeError("the power is gone")


def resumable(*more):
    return [keras.callbacks.BackupAndRestore(os.path.join(folder, "backup")), *more]


try:
    network().fit(x, y, epochs=4, shuffle=False, verbose=0, callbacks=resumable(CutOff()))
except RuntimeError as error:
    print(error)
resumed = network()
history = resumed.fit(x, y, epochs=4, shuffle=False, verbose=0, callbacks=resumable())
whole = network().fit(x, y, epochs=4, shuffle=False, verbose=0)
print(history.epoch, abs(history.history["loss"][-1] - whole.history["loss"][-1]) < 1e-4)
