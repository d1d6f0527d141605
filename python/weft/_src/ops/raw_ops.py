"""tf.raw_ops: every op of the engine; arguments by name only."""

import keyword

from weft import _weft
from weft._src.raw import raw as _raw

# What TensorFlow's Python calls otherwise than the ops do.
_REDUCTION = {"reduction_indices": "axis"}
_RENAMED = {
    "EuclideanNorm": _REDUCTION,
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}
# Defaults of TensorFlow's Python that are not those of the ops.
_DEFAULTS = {"SdcaOptimizer": {"adaptative": True}, "SdcaOptimizerV2": {"adaptive": True}}


class _RawOp:
    """One op, by keyword only."""

    def __init__(self, op):
        self._op = op
        own = _REDUCTION if _weft.op_traits(op.op_name)["reduction"] else _RENAMED.get(op.op_name, {})
        renamed = own | {p: p + "_" for p in op.parameters if keyword.iskeyword(p)}
        self._own = {public: own for own, public in renamed.items()}
        self._defaults = _DEFAULTS.get(op.op_name, {})
        self._parameters = [renamed.get(p, p) for p in op.parameters]
        self.__name__, self.__doc__ = op.__name__, op.__doc__

    def __call__(self, *args, **kwargs):
        if args:
            raise TypeError(
                f"{self.__name__} only takes keyword args (possible keys: {[*self._parameters, 'name']}). Please pass these args as kwargs instead."
            )
        if self._own:
            kwargs = {self._own.get(k, k): v for k, v in kwargs.items()}
        return self._op(**(self._defaults | kwargs if self._defaults else kwargs))

    @property
    def __signature__(self):
        import inspect

        defaults = {self._public(name): _plain(value) for name, value in (self._op.defaults | self._defaults).items()}
        parameters = [
            inspect.Parameter(
                p, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(p, inspect.Parameter.empty)
            )
            for p in self._parameters
        ]
        return inspect.Signature(
            parameters + [inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
        )

    def own_name(self, public):
        """The name that the op itself has for an argument."""
        return self._own.get(public, public)

    def _public(self, own):
        return next((public for public, name in self._own.items() if name == own), own)

    def __repr__(self):
        return f"<function {self.__name__}>"


def _plain(value):
    """A default as TensorFlow's signatures have it: the engine keeps floats in 32 bits, text as bytes."""
    import numpy as np

    if isinstance(value, float):
        short = float(str(np.float32(value)))
        return int(short) if short.is_integer() else short
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if hasattr(value, "rank") and hasattr(value, "as_list"):
        return None if value.rank is None else value.as_list()
    return value


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        op = getattr(_raw, name)
    except AttributeError:
        raise AttributeError(f"module 'tensorflow._api.v2.raw_ops' has no attribute {name!r}") from None
    globals()[name] = made = _RawOp(op)
    return made


def __dir__():
    return [n for n in _weft.op_names() if not n.startswith("_")]
