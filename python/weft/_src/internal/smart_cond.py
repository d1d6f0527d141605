"""tf.__internal__.smart_cond"""

from weft._src.framework.tensor import Tensor


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """One of two functions: at once where it is known which, else a node of the graph."""
    if not callable(true_fn):
        raise TypeError(f"Argument `true_fn` must be callable. Received {true_fn}")
    if not callable(false_fn):
        raise TypeError(f"Argument `false_fn` must be callable. Received {false_fn}")
    value = smart_constant_value(pred)
    if value is not None:
        return true_fn() if value else false_fn()
    from weft._src.function.control_flow import cond

    return cond(pred, true_fn, false_fn, name=name)


def smart_constant_value(pred):
    """True, False, or None where that is known only when the graph runs."""
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    if isinstance(pred, Tensor):
        from weft._src.framework.convert import constant_value

        value = constant_value(pred)
        return None if value is None else bool(value)
    raise TypeError(
        f"Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: pred={pred} of type "
        f"{type(pred).__name__}"
    )
