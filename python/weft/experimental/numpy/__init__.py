"""tf.experimental.numpy: numpy's functions on tensors."""

import math as _math

from weft._src.namespace import missing
from weft._src.numpy import arrays as _arrays, elementwise as _elementwise, reductions as _reductions, types as _types
from weft._src.numpy.behavior import experimental_enable_numpy_behavior  # noqa: F401
from weft._src.framework.tensor import Tensor as ndarray  # noqa: F401

for _module in (_types, _elementwise, _reductions, _arrays):
    globals().update(
        {
            name: value
            for name, value in vars(_module).items()
            if not name.startswith("_")
            and name
            not in (
                "np",
                "tf",
                "raw",
                "math",
                "dtypes",
                "Tensor",
                "as_tensor",
                "convert_to_tensor",
                "promoted",
                "floating",
                "default_float",
                "default_int",
                "result_dtype",
                "set_prefer_float32",
                "tri_mask",
            )
        }
    )
e, pi, inf, newaxis = _math.e, _math.pi, _math.inf, None
_missing = missing("tf.experimental.numpy")


def __getattr__(name):
    if name == "random":
        import importlib

        return importlib.import_module("weft.experimental.numpy.random")
    return _missing(name)
