"""What the recorder and the test share: running the calls and describing what they give."""

import importlib

import numpy as np

AREAS = ["array", "math", "nn", "linalg", "operators", "debugging", "random", "values", "gradients"]
EAGER_AREAS = ["version_1"]


def load(area, tf):
    module = importlib.import_module(f"cases_{area}")
    return [line for line in module.CASES.strip().splitlines() if line], {"tf": tf, "np": np, **module.setup(tf)}


def describe(value):
    """A value as plain data: structure, dtypes, shapes, elements (of large ones some and the sum)."""
    if isinstance(value, (list, tuple)):
        return [describe(v) for v in value]
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        return ["sparse", describe(value.indices), describe(value.values), describe(value.dense_shape)]
    if hasattr(value, "numpy"):
        array = np.asarray(value.numpy())
        if array.dtype == object:
            return ["string", list(array.shape), [v.decode() for v in array.ravel().tolist()]]
        if array.dtype.names:
            array = array[array.dtype.names[0]]
        kind = value.dtype.name
        wide = array.astype(complex if array.dtype.kind == "c" else float)
        flat = wide.ravel()
        shown = flat if flat.size <= 24 else np.concatenate([flat[:12], flat[-6:], [flat.sum()]])
        parts = [shown.real, shown.imag] if shown.dtype.kind == "c" else [shown]
        return [kind, list(array.shape), [[float(f"{x:.7g}") for x in part] for part in parts]]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def attempt(case, names, tf):
    """What a call gives, or how it fails."""
    try:
        return {"value": describe(eval(case, dict(names)))}
    except Exception as e:
        return {"error": type(e).__name__, "text": str(e)[:300]}
