"""Records steps of Keras 3's optimisers and schedules: optimizers.txt, schedules.txt. Run with TensorFlow 2.21 and Keras 3.

A tensor is written "type dims : numbers". A case is its options, the variables at the start, and for each step the gradients
(dense, or slices: values and indices; or none) and the variables behind it; at the end the optimiser's own variables."""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
O, S = keras.optimizers, keras.optimizers.schedules
NAMES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32"}


def text(a):
    a = np.asarray(a)
    return f"{NAMES[str(a.dtype)]} {' '.join(map(str, a.shape))} : {' '.join(str(x) for x in a.ravel())}"


SCHEDULES = [
    ("ExponentialDecay", dict(initial_learning_rate=0.1, decay_steps=7, decay_rate=0.9)),
    ("ExponentialDecay", dict(initial_learning_rate=0.1, decay_steps=4, decay_rate=0.5, staircase=True)),
    ("PiecewiseConstantDecay", dict(boundaries=[3, 7, 12], values=[0.1, 0.05, 0.02, 0.001])),
    ("PiecewiseConstantDecay", dict(boundaries=[5], values=[0.1, 0.01])),
    ("PolynomialDecay", dict(initial_learning_rate=0.1, decay_steps=10, end_learning_rate=0.01, power=1.0)),
    ("PolynomialDecay", dict(initial_learning_rate=0.1, decay_steps=6, end_learning_rate=0.01, power=2.0, cycle=True)),
    ("InverseTimeDecay", dict(initial_learning_rate=0.1, decay_steps=5, decay_rate=0.5)),
    ("InverseTimeDecay", dict(initial_learning_rate=0.1, decay_steps=5, decay_rate=0.5, staircase=True)),
    ("CosineDecay", dict(initial_learning_rate=0.1, decay_steps=15, alpha=0.1)),
    ("CosineDecay", dict(initial_learning_rate=0.01, decay_steps=15, warmup_target=0.2, warmup_steps=5)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=4)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=5, t_mul=1.0, m_mul=0.5, alpha=0.05)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=3, t_mul=1.5, m_mul=0.9)),
]


def options(o):
    return " ".join(f"{k}={','.join(map(str, v)) if isinstance(v, list) else v}" for k, v in o.items())


def schedules():
    lines = []
    for kind, o in SCHEDULES:
        made = getattr(S, kind)(**o)
        lines.append(f"schedule {kind} {options(o)}")
        lines += [f"{step} {float(made(tf.constant(step, tf.int64)))!r}" for step in [*range(0, 22), 50, 137]]
    (HERE / "schedules.txt").write_text("\n".join(lines) + "\n")


EACH = [("SGD", dict(learning_rate=0.1)), ("SGD", dict(learning_rate=0.1, momentum=0.9)),
        ("SGD", dict(learning_rate=0.1, momentum=0.7, nesterov=True)),
        ("Adam", dict()), ("Adam", dict(learning_rate=0.1)), ("Adam", dict(learning_rate=0.05, beta_1=0.5, beta_2=0.75)),
        ("Adam", dict(learning_rate=0.05, amsgrad=True)), ("Adam", dict(learning_rate=0.05, beta_2=0.875, amsgrad=True)),
        ("AdamW", dict(learning_rate=0.05)), ("AdamW", dict(learning_rate=0.05, weight_decay=0.1)),
        ("RMSprop", dict(learning_rate=0.05)), ("RMSprop", dict(learning_rate=0.05, momentum=0.8)),
        ("RMSprop", dict(learning_rate=0.05, centered=True)), ("RMSprop", dict(learning_rate=0.05, centered=True, momentum=0.5, rho=0.8)),
        ("Adagrad", dict(learning_rate=0.1)), ("Adagrad", dict(learning_rate=0.1, initial_accumulator_value=0.5, epsilon=0.01)),
        ("Adadelta", dict(learning_rate=1.0)), ("Adadelta", dict(learning_rate=0.5, rho=0.8, epsilon=1e-3)),
        ("Ftrl", dict(learning_rate=0.1)),
        ("Ftrl", dict(learning_rate=0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1,
                      l2_shrinkage_regularization_strength=0.02, beta=0.3)),
        ("Ftrl", dict(learning_rate=0.1, learning_rate_power=-0.7)),
        ("Adamax", dict(learning_rate=0.05)), ("Nadam", dict(learning_rate=0.05)), ("Lion", dict(learning_rate=0.01))]


def optimizers():
    lines = []
    seed = 0

    def case(kind, o, gradients, steps=6, dtype="float32", schedule=None, constraint=None, exclude=None):
        nonlocal seed
        seed += 1
        rng = np.random.RandomState(seed)
        given = dict(o)
        if schedule is not None:
            which, args = SCHEDULES[schedule]
            given["learning_rate"] = getattr(S, which)(**args)
        made = getattr(O, kind)(**given)
        shapes = [(5, 3), (7,), (2, 2)] if gradients != "slices" else [(5, 3), (4, 2)]
        variables = [keras.Variable(rng.uniform(-1, 1, s), dtype=dtype, name=n) for s, n in zip(shapes, ["kernel", "bias", "scale"])]
        for v in variables if constraint else []:
            v.constraint = keras.constraints.NonNeg()
        extra = dict(o)
        if schedule is not None:
            extra["schedule"] = schedule
        if constraint:
            extra["constraint"] = "nonneg"
        if exclude:
            made.exclude_from_weight_decay(var_names=exclude)
            extra["exclude"] = exclude
        lines.append(f"case {kind} {options(extra)}")
        lines.extend(f"variable {v.name} {text(v.numpy())}" for v in variables)
        for step in range(steps):
            grads = []
            lines.append("step")
            for i, v in enumerate(variables):
                if gradients == "none" and i == 1:
                    grads.append(None)
                    lines.append("none")
                elif gradients == "slices" and i == 0:
                    # Rows named twice, and rows never named.
                    rows = np.array([1, 3, 1, 0] if step % 2 == 0 else [3, 3, 2], np.int32)
                    values = rng.uniform(-1, 1, (len(rows), 3)).astype(dtype)
                    grads.append(tf.IndexedSlices(tf.constant(values), tf.constant(rows), tf.constant(v.shape)))
                    lines.append(f"slices {text(values)} | {text(rows)}")
                else:
                    g = rng.uniform(-1, 1, v.shape).astype(dtype)
                    grads.append(tf.constant(g))
                    lines.append(f"dense {text(g)}")
            made.apply(grads, variables)
            lines.extend(f"after {text(v.numpy())}" for v in variables)
        lines.extend(f"state {text(v.numpy())}" for v in made.variables)

    for kind, o in EACH:
        case(kind, o, "dense", steps=12)
        case(kind, o, "slices")
    for kind in ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Ftrl", "Adamax", "Nadam", "Lion"]:
        for more in [dict(clipnorm=0.5), dict(clipvalue=0.3), dict(global_clipnorm=0.7), dict(weight_decay=0.05),
                     dict(use_ema=True, ema_momentum=0.8), dict(use_ema=True, ema_momentum=0.6, ema_overwrite_frequency=3)]:
            case(kind, dict(learning_rate=0.05, **more), "dense")
        case(kind, dict(learning_rate=0.05), "none")
        case(kind, dict(learning_rate=0.05), "dense", dtype="float64")
        case(kind, dict(), "dense", schedule=1, steps=10)
        case(kind, dict(learning_rate=0.3), "dense", constraint=True)
    for more in [dict(clipnorm=0.5), dict(clipvalue=0.3), dict(global_clipnorm=0.7), dict(weight_decay=0.05)]:
        case("SGD", dict(learning_rate=0.05, **more), "slices")
        case("Adagrad", dict(learning_rate=0.05, **more), "slices")
    case("SGD", dict(learning_rate=0.05, momentum=0.9, nesterov=True), "slices")
    case("SGD", dict(learning_rate=0.05, loss_scale_factor=4.0), "dense")
    for kind in ["SGD", "Adam", "Nadam", "RMSprop"]:
        case(kind, dict(learning_rate=0.05, gradient_accumulation_steps=3), "dense", steps=7)
    case("Adam", dict(gradient_accumulation_steps=2, clipnorm=0.5, weight_decay=0.1, use_ema=True, ema_momentum=0.8), "dense", steps=7, schedule=1)
    case("AdamW", dict(learning_rate=0.05, weight_decay=0.1), "dense", exclude=["bias"])
    for i in range(len(SCHEDULES)):
        case("SGD", dict(momentum=0.5), "dense", schedule=i, steps=8)
    (HERE / "optimizers.txt").write_text("\n".join(lines) + "\n")


schedules()
optimizers()
