"""Records what fit() of Keras 3 sees: fit.txt. Run with TensorFlow 2.21 and Keras 3."""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

HERE = pathlib.Path(__file__).parent
NAMES = {"float32": "f32", "int32": "i32"}


def text(a):
    a = np.asarray(a)
    return f"{NAMES[str(a.dtype)]} {' '.join(map(str, a.shape))} : {' '.join(str(x) for x in a.ravel())}"


rng = np.random.RandomState(3)
x = rng.uniform(-1, 1, (50, 4)).astype("float32")
y = (np.argmax(x[:, :3] + 0.3 * rng.normal(size=(50, 3)), -1)).astype("int32")
weight = rng.uniform(0.2, 2, 50).astype("float32")
start = [rng.normal(size=s).astype("float32") * 0.5 for s in [(4, 8), (8,), (8, 3), (3,)]]
lines = [f"x {text(x)}", f"y {text(y)}", f"weight {text(weight)}"] + [f"start {text(s)}" for s in start]


def case(name, optimizer, callbacks=(), epochs=4, activation=None, **fit):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu", kernel_regularizer=keras.regularizers.L2(0.01)), keras.layers.Dense(3, activation=activation)])
    model.set_weights(start)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=activation is None), metrics=[keras.metrics.SparseCategoricalAccuracy("accuracy")],
                  weighted_metrics=[keras.metrics.SparseCategoricalAccuracy("weighted_accuracy")])
    history = model.fit(x, y, shuffle=False, batch_size=16, epochs=epochs, verbose=0, callbacks=list(callbacks), **fit)
    lines.append(f"case {name}")
    for key, values in history.history.items():
        lines.append(f"series {key} {text(np.array(values, 'float32'))}")
    lines.extend(f"weights {text(w)}" for w in model.get_weights())
    lines.append(f"predictions {text(model.predict(x[:7], verbose=0))}")
    for n, v in model.evaluate(x, y, sample_weight=weight, verbose=0, return_dict=True).items():
        lines.append(f"evaluate {n} {v}")


O, C = keras.optimizers, keras.callbacks
case("plain", O.Adam(0.01))
case("softmax", O.Adam(0.01), activation="softmax")
case("split", O.SGD(0.1, momentum=0.9), validation_split=0.3)
case("class_weight", O.SGD(0.1), class_weight={0: 0.5, 1: 2.0, 2: 1.0}, validation_data=(x[:20], y[:20]))
case("sample_weight", O.RMSprop(0.01), sample_weight=weight, validation_data=(x[:20], y[:20], weight[:20]))
case("plateau", O.SGD(1.5, momentum=0.9), [C.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2, min_lr=0.01)], epochs=12, validation_split=0.3)
case("early", O.SGD(2.0, momentum=0.9), [C.EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True)], epochs=30, validation_split=0.3)
case("scheduler", O.SGD(0.1), [C.LearningRateScheduler(lambda epoch, lr: lr * 0.5 if epoch else lr)])
case("averages", O.Adam(0.05, use_ema=True, ema_momentum=0.9))

# Rows of words of several lengths, filled with 0, which a mask leaves out.
words = rng.randint(1, 6, (50, 7)).astype("int32") * (np.arange(7) < rng.randint(2, 8, (50, 1)))
words, tags = words.astype("int32"), rng.randint(0, 3, (50, 7)).astype("int32")
model = keras.Sequential([keras.Input((7,), dtype="int32"), keras.layers.Embedding(6, 4, mask_zero=True), keras.layers.LSTM(5, return_sequences=True), keras.layers.Dense(3)])
begin = [rng.normal(size=w.shape).astype("float32") * 0.5 for w in model.get_weights()]
model.set_weights(begin)
model.compile(O.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=[keras.metrics.SparseCategoricalAccuracy("accuracy")],
              weighted_metrics=[keras.metrics.SparseCategoricalAccuracy("weighted_accuracy")])
each = rng.uniform(0.2, 2, (50, 7)).astype("float32")
history = model.fit(words, tags, sample_weight=each, shuffle=False, batch_size=16, epochs=3, verbose=0)
lines += [f"words {text(words)}", f"tags {text(tags)}", f"each {text(each)}"] + [f"begin {text(b)}" for b in begin]
lines += [f"masked {key} {text(np.array(values, 'float32'))}" for key, values in history.history.items()]
(HERE / "fit.txt").write_text("\n".join(lines) + "\n")
