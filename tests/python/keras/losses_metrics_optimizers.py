"""Every loss, metric and optimizer by name, on the same small data."""

import keras
import numpy as np

rng = np.random.RandomState(6)
p = rng.rand(6, 3).astype("float32")
p /= p.sum(1, keepdims=True)
t = np.eye(3, dtype="float32")[[0, 1, 2, 1, 0, 2]]

for name in """MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError CosineSimilarity Huber LogCosh
    KLDivergence Poisson BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy Hinge
    SquaredHinge CategoricalHinge Dice Tversky""".split():
    loss = getattr(keras.losses, name)()
    weighted = loss(t, p, sample_weight=np.linspace(0, 1, 6) if name not in ("Dice", "Tversky") else None)
    print(name, f"{float(loss(t, p)):.5f} {float(weighted):.5f}")
print(np.round(keras.losses.MeanSquaredError(reduction="none")(t, p).numpy(), 5))
print(f"{float(keras.losses.CategoricalCrossentropy(label_smoothing=0.1, from_logits=True)(t, p)):.5f}")
print(f"{float(keras.losses.CTC()(np.array([[1, 2, 1]]), rng.rand(1, 6, 4).astype('float32'))):.5f}")
print(f"{float(keras.losses.Circle()(np.array([0, 1, 0, 1, 0, 1]), p)):.5f}")

scores, truth = rng.rand(20).astype("float32"), (rng.rand(20) > 0.5).astype("float32")
for name, options in [
    ("AUC", {}),
    ("AUC", {"curve": "PR"}),
    ("Precision", {}),
    ("Recall", {"thresholds": [0.3, 0.7]}),
    ("BinaryAccuracy", {}),
    ("TruePositives", {}),
    ("TrueNegatives", {}),
    ("FalsePositives", {}),
    ("FalseNegatives", {}),
    ("SensitivityAtSpecificity", {"specificity": 0.5}),
    ("SpecificityAtSensitivity", {"sensitivity": 0.5}),
    ("PrecisionAtRecall", {"recall": 0.5}),
    ("RecallAtPrecision", {"precision": 0.5}),
    ("RootMeanSquaredError", {}),
    ("BinaryIoU", {"target_class_ids": [0, 1], "threshold": 0.5}),
    ("LogCoshError", {}),
]:
    metric = getattr(keras.metrics, name)(**options)
    metric.update_state(truth[:10], scores[:10])
    metric.update_state(truth[10:], scores[10:])
    print(metric.name, np.round(np.asarray(metric.result()), 5), len(metric.variables))
for metric in [
    keras.metrics.F1Score(average="macro"),
    keras.metrics.CategoricalAccuracy(),
    keras.metrics.TopKCategoricalAccuracy(2),
    keras.metrics.OneHotMeanIoU(3),
    keras.metrics.R2Score(),
    keras.metrics.CosineSimilarity(),
    keras.metrics.KLDivergence(),
    keras.metrics.ConcordanceCorrelation(),
    keras.metrics.PearsonCorrelation(),
]:
    metric.update_state(t, p)
    print(metric.name, np.round(np.asarray(metric.result()), 5))
    metric.reset_state()
mean = keras.metrics.Mean()
for value in (1.0, 2.0, 6.0):
    mean.update_state(value, sample_weight=value)
print(float(mean.result()), mean(4.0).numpy(), keras.metrics.Sum()([1.0, 2.0]).numpy())

x, y = rng.rand(16, 4).astype("float32"), rng.rand(16, 2).astype("float32")


def loss_after(optimizer):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(2)])
    model.compile(optimizer, "mse")
    return f"{model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0).history['loss'][-1]:.5f}"


for name in "SGD RMSprop Adam AdamW Adadelta Adagrad Adamax Nadam Ftrl Lion Adafactor Lamb Muon".split():
    print(name, loss_after(getattr(keras.optimizers, name)(0.01)))
print("nesterov", loss_after(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipvalue=0.1)))
print("amsgrad", loss_after(keras.optimizers.Adam(0.01, amsgrad=True, global_clipnorm=0.5, weight_decay=0.01)))
print("average", loss_after(keras.optimizers.Adam(0.01, use_ema=True, ema_momentum=0.9)))
print("accumulated", loss_after(keras.optimizers.Adam(0.01, gradient_accumulation_steps=2)))
schedules = keras.optimizers.schedules
for schedule in [
    schedules.ExponentialDecay(0.1, 3, 0.5, staircase=True),
    schedules.CosineDecay(0.1, 4, warmup_target=0.2, warmup_steps=2),
    schedules.CosineDecayRestarts(0.1, 2),
    schedules.PolynomialDecay(0.1, 4, power=2.0),
    schedules.PiecewiseConstantDecay([1, 3], [0.1, 0.05, 0.01]),
    schedules.InverseTimeDecay(0.1, 2, 0.5),
]:
    rates = [f"{float(schedule(step)):.5f}" for step in range(5)]
    print(type(schedule).__name__, rates, loss_after(keras.optimizers.SGD(schedule)))
