"""tf.raw_ops: every op of the engine; arguments by name only."""

from weft import _weft
from weft._raw import raw as _raw


def _keyword_only(op):
    def call(*args, **kwargs):
        if args:
            raise TypeError(f"{op.__name__} only takes keyword args (possible keys: {[*op.parameters, 'name']}). Please pass these args as kwargs instead.")
        return op(**kwargs)

    call.__name__, call.__doc__ = op.__name__, op.__doc__
    return call


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        op = getattr(_raw, name)
    except AttributeError:
        raise AttributeError(f"module 'tf.raw_ops' has no attribute {name!r} (the engine has no op of that name)") from None
    globals()[name] = made = _keyword_only(op)
    return made


def __dir__():
    return [n for n in _weft.op_names() if not n.startswith("_")]
