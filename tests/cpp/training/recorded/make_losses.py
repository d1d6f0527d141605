"""Records Keras 3's losses, with their gradients, and metrics: losses.txt, metrics.txt. Run with TensorFlow 2.21 and Keras 3."""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
NAMES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "bool"}
rng = np.random.RandomState(7)


def text(a):
    a = np.asarray(a)
    return f"{NAMES[str(a.dtype)]} {' '.join(map(str, a.shape))} : {' '.join(str(x) for x in a.ravel())}"


def options(o):
    return " ".join(f"{k}={','.join(map(str, v)) if isinstance(v, (list, tuple)) else v}" for k, v in o.items())


f32 = lambda *s: rng.uniform(-2, 2, s).astype("float32")
probabilities = lambda *s: (lambda x: (x / x.sum(-1, keepdims=True)).astype("float32"))(rng.uniform(0.05, 1, s))
unit = lambda *s: rng.uniform(0, 1, s).astype("float32")
binary = lambda *s: rng.randint(0, 2, s).astype("float32")
weights = lambda *s: rng.uniform(0.1, 2, s).astype("float32")


def one_hot(*s):
    return np.eye(s[-1], dtype="float32")[rng.randint(0, s[-1], s[:-1])]


def labels(classes, *s, dtype="int32"):
    return rng.randint(0, classes, s).astype(dtype)


def losses():
    lines = []

    def case(kind, o, y, p, w=None):
        made = getattr(keras.losses, kind)(**o)
        p = tf.constant(p)
        with tf.GradientTape() as tape:
            tape.watch(p)
            value = made(y, p, sample_weight=w)
        g = tf.convert_to_tensor(tape.gradient(value, p))
        lines.append(f"loss {kind} {options(o)}")
        lines.append(f"true {text(y)}")
        lines.append(f"pred {text(p)}")
        if w is not None:
            lines.append(f"weight {text(w)}")
        lines.append(f"value {text(value)}")
        lines.append(f"gradient {text(g)}")

    plain = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "LogCosh", "Hinge",
             "SquaredHinge", "CategoricalHinge", "Huber", "CosineSimilarity", "Poisson", "KLDivergence", "BinaryCrossentropy",
             "CategoricalCrossentropy", "BinaryFocalCrossentropy", "CategoricalFocalCrossentropy", "Dice", "Tversky"]
    for kind in plain:
        for reduction in ["sum_over_batch_size", "sum", "none", "mean_with_sample_weight"]:
            p = probabilities(4, 3) if kind[:6] not in ("MeanSq", "MeanAb", "LogCos", "Huber", "Cosine") else f32(4, 3)
            y = one_hot(4, 3) if "Cat" in kind or kind[:6] in ("Binary", "Hinge", "Square", "Dice", "Tversk") else np.abs(f32(4, 3))
            case(kind, dict(reduction=reduction), y, p)
            if kind not in ("Dice", "Tversky"):
                case(kind, dict(reduction=reduction), y, p, weights(4))
        case(kind, {}, binary(2, 5, 3) if "Cat" not in kind else one_hot(2, 5, 3), probabilities(2, 5, 3))
        if kind not in ("Dice", "Tversky"):
            case(kind, {}, binary(2, 5, 3) if "Cat" not in kind else one_hot(2, 5, 3), probabilities(2, 5, 3), weights(2, 5))
    for kind in ["MeanSquaredError", "BinaryCrossentropy", "Huber"]:
        case(kind, {}, binary(6), unit(6, 1))
        case(kind, {}, binary(6, 1), unit(6, 1), weights(6, 1))
        case(kind, {}, labels(2, 6), unit(6, 1), weights(6))
    case("Huber", dict(delta=0.4), f32(4, 3), f32(4, 3))
    case("CosineSimilarity", dict(axis=1), f32(4, 3, 2), f32(4, 3, 2))
    case("Hinge", {}, np.where(binary(4, 3) > 0, 1, -1).astype("float32"), f32(4, 3))
    case("Tversky", dict(alpha=0.3, beta=0.7), binary(4, 3), unit(4, 3))
    for smoothing in [0.0, 0.1]:
        case("BinaryCrossentropy", dict(from_logits=True, label_smoothing=smoothing), binary(5, 2), f32(5, 2) * 5)
        case("CategoricalCrossentropy", dict(from_logits=True, label_smoothing=smoothing), one_hot(5, 4), f32(5, 4) * 3)
        case("CategoricalCrossentropy", dict(label_smoothing=smoothing), one_hot(5, 4), probabilities(5, 4))
        case("CategoricalFocalCrossentropy", dict(from_logits=True, gamma=1.5, label_smoothing=smoothing), one_hot(5, 4), f32(5, 4))
        case("BinaryFocalCrossentropy", dict(from_logits=True, apply_class_balancing=True, alpha=0.3, label_smoothing=smoothing), binary(5, 2), f32(5, 2))
    case("CategoricalCrossentropy", dict(from_logits=True, axis=1), np.moveaxis(one_hot(3, 5, 4), 2, 1).copy(), f32(3, 4, 5))
    case("CategoricalCrossentropy", dict(axis=1), np.moveaxis(one_hot(3, 5, 4), 2, 1).copy(), np.moveaxis(probabilities(3, 5, 4), 2, 1).copy())
    for dtype in ["int32", "int64", "float32"]:
        case("SparseCategoricalCrossentropy", {}, labels(4, 6, dtype=dtype), probabilities(6, 4))
        case("SparseCategoricalCrossentropy", dict(from_logits=True), labels(4, 6, dtype=dtype), f32(6, 4) * 3)
    case("SparseCategoricalCrossentropy", dict(from_logits=True), labels(4, 6, 1), f32(6, 4))
    case("SparseCategoricalCrossentropy", dict(from_logits=True), labels(4, 2, 3), f32(2, 3, 4))
    case("SparseCategoricalCrossentropy", dict(from_logits=True), labels(4, 2, 3), f32(2, 3, 4), weights(2, 3))
    case("SparseCategoricalCrossentropy", dict(from_logits=True, reduction="none"), labels(4, 2, 3), f32(2, 3, 4), weights(2, 1))
    for reduction in ["sum_over_batch_size", "sum", "none", "mean_with_sample_weight"]:
        case("SparseCategoricalCrossentropy", dict(from_logits=True, ignore_class=2, reduction=reduction), labels(4, 2, 5), f32(2, 5, 4))
        case("SparseCategoricalCrossentropy", dict(ignore_class=0, reduction=reduction), labels(4, 8), probabilities(8, 4), weights(8))
    y = np.array([[1, 2, 3, 0], [2, 2, 0, 0], [3, 1, 2, 1]], "int32")
    case("CTC", {}, y, f32(3, 9, 4))
    case("CTC", dict(reduction="none"), y, f32(3, 9, 4))
    (HERE / "losses.txt").write_text("\n".join(lines) + "\n")


def metrics():
    lines = []

    def case(kind, o, *batches):
        made = getattr(keras.metrics, kind)(**o)
        lines.append(f"metric {kind} {options(o)}")
        for y, p, *w in batches:
            made.update_state(*([y] if p is None else [y, p]), **({"sample_weight": w[0]} if w else {}))
            lines.append(f"true {text(y)}")
            if p is not None:
                lines.append(f"pred {text(p)}")
            if w:
                lines.append(f"weight {text(w[0])}")
            lines.append(f"result {text(made.result())}")
        lines.extend(f"state {text(v.numpy())}" for v in made.variables)

    for kind in ["Mean", "Sum"]:
        case(kind, {}, (f32(4), None), (f32(3, 2), None), (f32(), None))
        case(kind, {}, (f32(4), None, weights(4)), (f32(3, 2), None, weights(3)), (f32(3, 2), None, weights(3, 2)))
    regressions = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "RootMeanSquaredError",
                   "CosineSimilarity", "LogCoshError", "Hinge", "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson"]
    for kind in regressions:
        case(kind, {}, (binary(4, 3), unit(4, 3)), (binary(5, 3), unit(5, 3)))
        case(kind, {}, (binary(4, 3), unit(4, 3), weights(4)), (binary(5, 3), unit(5, 3), weights(5)))
    case("MeanSquaredError", {}, (binary(4, 3, 2), unit(4, 3, 2), weights(4, 3)), (binary(4, 3, 2), unit(4, 3, 2), weights(4)))
    case("MeanSquaredError", {}, (binary(6), unit(6, 1)), (labels(3, 6), unit(6)) if False else (binary(6, 1), unit(6, 1)))
    case("RootMeanSquaredError", {}, (binary(6), unit(6, 1), weights(6)))
    for kind in ["BinaryCrossentropy", "CategoricalCrossentropy"]:
        for o in [{}, dict(from_logits=True), dict(label_smoothing=0.2)]:
            case(kind, o, (one_hot(4, 3), probabilities(4, 3)), (one_hot(5, 3), probabilities(5, 3), weights(5)))
    for o in [{}, dict(from_logits=True)]:
        case("SparseCategoricalCrossentropy", o, (labels(3, 4), probabilities(4, 3)), (labels(3, 5), probabilities(5, 3), weights(5)))
    case("Accuracy", {}, (labels(3, 8), labels(3, 8)), (labels(3, 6), labels(3, 6), weights(6)))
    case("BinaryAccuracy", {}, (binary(8), unit(8)), (binary(6, 1), unit(6, 1), weights(6)), (binary(6), unit(6, 1)), (binary(3, 4), unit(3, 4)))
    case("BinaryAccuracy", dict(threshold=0.7), (binary(8), unit(8)))
    case("CategoricalAccuracy", {}, (one_hot(9, 3), f32(9, 3)), (one_hot(4, 3), f32(4, 3), weights(4)), (one_hot(2, 4, 3), f32(2, 4, 3)))
    case("SparseCategoricalAccuracy", {}, (labels(3, 9), f32(9, 3)), (labels(3, 4, 1), f32(4, 3), weights(4)), (labels(3, 2, 4, dtype="int64"), f32(2, 4, 3)),
         (labels(3, 9, dtype="float32"), f32(9, 3)), (labels(3, 2, 4), f32(2, 4, 3), weights(2, 4)))
    case("TopKCategoricalAccuracy", dict(k=2), (one_hot(9, 5), f32(9, 5)), (one_hot(4, 5), f32(4, 5), weights(4)), (one_hot(2, 3, 5), f32(2, 3, 5)))
    case("SparseTopKCategoricalAccuracy", dict(k=3), (labels(5, 9), f32(9, 5)), (labels(5, 4), f32(4, 5), weights(4)), (labels(5, 2, 3), f32(2, 3, 5)))
    for kind in ["TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives", "Precision", "Recall"]:
        case(kind, {}, (binary(8), unit(8)), (binary(6, 1), unit(6, 1), weights(6)), (binary(3, 4), unit(3, 4), weights(3)))
        case(kind, dict(thresholds=[0.2, 0.55, 0.9]), (binary(8), unit(8)), (binary(3, 4), unit(3, 4), weights(3, 4)))
        case(kind, dict(thresholds=[0.0, 0.25, 0.5, 0.75, 1.0]), (binary(12), unit(12)))
    for kind in ["Precision", "Recall"]:
        case(kind, dict(top_k=2), (one_hot(5, 4), unit(5, 4)), (one_hot(5, 4), unit(5, 4), weights(5)))
        case(kind, dict(class_id=1), (one_hot(9, 3), unit(9, 3)), (one_hot(9, 3), unit(9, 3), weights(9)))
    for kind, name in [("SensitivityAtSpecificity", "specificity"), ("SpecificityAtSensitivity", "sensitivity"), ("PrecisionAtRecall", "recall"), ("RecallAtPrecision", "precision")]:
        case(kind, {name: 0.5}, (binary(20), unit(20)), (binary(20), unit(20), weights(20)))
        case(kind, {name: 0.3, "num_thresholds": 1}, (binary(20), unit(20)))
    for curve in ["ROC", "PR", "PRGAIN"]:
        for method in ["interpolation", "majoring", "minoring"]:
            case("AUC", dict(curve=curve, summation_method=method), (binary(20), unit(20)), (binary(15, 1), unit(15, 1), weights(15)))
            case("AUC", dict(curve=curve, summation_method=method, num_thresholds=7), (binary(20), unit(20)))
            case("AUC", dict(curve=curve, summation_method=method, thresholds=[0.3, 0.1, 0.8]), (binary(20), unit(20), weights(20)))
        case("AUC", dict(curve=curve, multi_label=True), (binary(20, 3), unit(20, 3)), (binary(9, 3), unit(9, 3), weights(9)))
        case("AUC", dict(curve=curve, multi_label=True, label_weights=[1.0, 2.0, 0.5], num_thresholds=11), (binary(20, 3), unit(20, 3)))
    case("AUC", dict(from_logits=True), (binary(20), f32(20)))
    case("MeanIoU", dict(num_classes=3), (labels(3, 12), labels(3, 12)), (labels(3, 3, 4), labels(3, 3, 4)))
    case("MeanIoU", dict(num_classes=4, ignore_class=1), (labels(3, 12), labels(3, 12)))
    case("IoU", dict(num_classes=3, target_class_ids=[0, 2]), (labels(3, 12), labels(3, 12)), (labels(3, 5), labels(3, 5), np.array([1, 2, 0, 3, 1], "int32")))
    case("BinaryIoU", {}, (labels(2, 12), unit(12)))
    case("BinaryIoU", dict(target_class_ids=[1], threshold=0.3), (labels(2, 12), unit(12)))
    for average in [None, "micro", "macro", "weighted"]:
        case("F1Score", dict(average=average), (one_hot(9, 3), unit(9, 3)), (one_hot(5, 3), unit(5, 3), weights(5)))
        case("FBetaScore", dict(average=average, beta=2.0, threshold=0.4), (one_hot(9, 3), unit(9, 3)))
    for aggregation in ["uniform_average", "variance_weighted_average", None]:
        case("R2Score", dict(class_aggregation=aggregation), (f32(9, 3), f32(9, 3)), (f32(5, 3), f32(5, 3), weights(5)))
    (HERE / "metrics.txt").write_text("\n".join(lines) + "\n")


losses()
metrics()
