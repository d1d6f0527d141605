"""tf.debugging.assert_*: at once where values are known, by an op in graphs."""

import numpy as np

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.graph import control_dependencies
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops import array_ops, math_ops
from weft._src.ops._direct import scope
from weft._src.ops.control import after


def _assert(condition, data, summarize=None):
    from weft._src.function.control_flow import Assert

    return Assert(condition, data, summarize=summarize)


def _name(tensor):
    """How texts speak of a tensor."""
    return (
        f"shape={tensor.shape} dtype={tensor.dtype.name}"
        if isinstance(tensor, EagerTensor) or hasattr(tensor, "dense_shape")
        else tensor.name
    )


def _brief(item, summarize):
    """One of the data of an assertion, for its text."""
    if not isinstance(item, Tensor):
        return str(item)
    array = np.asarray(item)
    if array.ndim == 0:
        return str(array)
    flat = array.reshape(-1)
    shown = [str(v) for v in flat[:summarize]]
    return str(shown + ["..."] if len(shown) < flat.size else shown)


# ---- two values -------------------------------------------------------------------------------------------


def comparison(sign, op, name, x, y, message, summarize, given, data=None):
    with scope(given, name):
        if not isinstance(x, Tensor) and isinstance(y, Tensor):
            x, y = convert_to_tensor(x, dtype_hint=None if not y.dtype.is_floating else y.dtype, name="x"), y
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        if not _weft.in_graph():
            found = op(x, y)
            if bool(np.all(np.asarray(found))):
                return None
            summarize = 3 if summarize is None else x.shape.num_elements() if summarize < 0 else summarize
            if data is None:
                text = _difference(sign, x, y, np.asarray(found), message, summarize)
            else:
                text = "\n".join(_brief(d, summarize) for d in data)
            raise errors.InvalidArgumentError(None, None, text)
        if data is None:
            data = ([message] if message else []) + [
                f"Condition x {sign} y did not hold element-wise:",
                f"x ({_name(x)}) = ",
                x,
                f"y ({_name(y)}) = ",
                y,
            ]
        known_x, known_y = constant_value(x), constant_value(y)
        condition = math_ops.reduce_all(op(x, y))
        if known_x is not None and known_y is not None:
            with _outside():
                holds = bool(np.all(np.asarray(op(convert_to_tensor(known_x), convert_to_tensor(known_y)))))
            if not holds:
                raise errors.InvalidArgumentError(None, None, "\n".join(_static(d) for d in data))
        return _assert(condition, data, summarize)


def _static(item):
    return str(constant_value(item)) if isinstance(item, Tensor) else str(item)


def _outside():
    from weft._src.ops._direct import outside_of_graph

    return outside_of_graph()


def _difference(sign, x, y, found, message, summarize):
    """What is wrong between two eager tensors."""
    lines = [message] if message else []
    lines.append(f"Condition x {sign} y did not hold.")
    a, b = x.numpy() if x.shape.rank else np.asarray(x), y.numpy() if y.shape.rank else np.asarray(y)
    if a.shape == b.shape and a.ndim:
        places = np.argwhere(~found)
        n = min(len(places), summarize)
        rows = tuple(places[:n].T)
        lines += [
            f"Indices of first {n} different values:",
            str(places[:n]),
            "Corresponding x values:",
            str(a[rows]),
            "Corresponding y values:",
            str(b[rows]),
        ]
    for name, array in (("x", a), ("y", b)):
        flat = array.reshape(-1)
        n = min(flat.size, summarize)
        lines += [f"First {n} elements of {name}:", str(flat[:n])]
    return "\n".join(lines)


@dispatchable
def assert_equal(x, y, message=None, summarize=None, name=None):
    """x == y everywhere."""
    with scope(name, "assert_equal"):  # TensorFlow opens two
        if x is y:
            return None
    return comparison("==", math_ops.equal, "assert_equal", x, y, message, summarize, name)


@dispatchable
def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """x != y everywhere."""
    return comparison("!=", math_ops.not_equal, "assert_none_equal", x, y, message, summarize, name)


@dispatchable
def assert_less(x, y, message=None, summarize=None, name=None):
    """x < y everywhere."""
    return comparison("<", math_ops.less, "assert_less", x, y, message, summarize, name)


@dispatchable
def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """x <= y everywhere."""
    return comparison("<=", math_ops.less_equal, "assert_less_equal", x, y, message, summarize, name)


@dispatchable
def assert_greater(x, y, message=None, summarize=None, name=None):
    """x > y everywhere."""
    return comparison(">", math_ops.greater, "assert_greater", x, y, message, summarize, name)


@dispatchable
def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """x >= y everywhere."""
    return comparison(">=", math_ops.greater_equal, "assert_greater_equal", x, y, message, summarize, name)


@dispatchable
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """|x - y| <= atol + rtol * |y| everywhere."""
    return near(x, y, rtol, atol, message, summarize, name)


def near(x, y, rtol, atol, message, summarize, name, data=None):
    """assert_near with the data to print."""
    with scope(name, "assert_near"):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype, name="y")
        dtype = x.dtype.real_dtype
        eps = 10 * np.finfo(dtype.as_numpy_dtype).eps
        rtol = convert_to_tensor(eps if rtol is None else rtol, dtype, name="rtol")
        atol = convert_to_tensor(eps if atol is None else atol, dtype, name="atol")
        if data is None:
            data = [
                _prefix(message),
                f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
                f"x ({_name(x)}) = ",
                x,
                f"y ({_name(y)}) = ",
                y,
            ]
        tolerance = atol + rtol * math_ops.abs(y)
        return _assert(math_ops.reduce_all(math_ops.less(math_ops.abs(x - y), tolerance)), data, summarize)


# ---- signs ------------------------------------------------------------------------------------------------


def _prefix(message):
    return f"{message}.  " if message else ""


# Text, operator, its left and its right side.
SIGNS = {
    "assert_positive": ("> 0", "<", 0, "x"),
    "assert_negative": ("< 0", "<", "x", 0),
    "assert_non_negative": (">= 0", "<=", 0, "x"),
    "assert_non_positive": ("<= 0", "<=", "x", 0),
}


def sign(name, x, message, summarize, given, data=None):
    """The check of this name of SIGNS with the data to print."""
    text, operator, left, right = SIGNS[name]
    with scope(given, name):
        x = convert_to_tensor(x, name="x")
        if data is None:
            data = [_prefix(message), f"Condition x {text} did not hold element-wise:", f"x ({_name(x)}) = ", x]
            if text == "<= 0":
                # Two of TensorFlow's texts run together here.
                data[1:3] = [data[1] + data[2]]
        zero = convert_to_tensor(0, x.dtype)
        op = math_ops.less if operator == "<" else math_ops.less_equal
        a, b = (zero if side == 0 else x for side in (left, right))
        return comparison(operator, op, "assert_" + op.__name__, a, b, None, summarize, None, data)


@dispatchable
def assert_positive(x, message=None, summarize=None, name=None):
    """x > 0 everywhere."""
    return sign("assert_positive", x, message, summarize, name)


@dispatchable
def assert_negative(x, message=None, summarize=None, name=None):
    """x < 0 everywhere."""
    return sign("assert_negative", x, message, summarize, name)


@dispatchable
def assert_non_negative(x, message=None, summarize=None, name=None):
    """x >= 0 everywhere."""
    return sign("assert_non_negative", x, message, summarize, name)


@dispatchable
def assert_non_positive(x, message=None, summarize=None, name=None):
    """x <= 0 everywhere."""
    return sign("assert_non_positive", x, message, summarize, name)


# ---- ranks, types, shapes ---------------------------------------------------------------------------------


def _who(tensor):
    return "" if isinstance(tensor, EagerTensor) or hasattr(tensor, "dense_shape") else tensor.name


# What holds of the rank and those that were asked for, and how texts say it.
RANKS = {
    "assert_rank": (lambda have, known: have == known[0], ""),
    "assert_rank_at_least": (lambda have, known: have >= known[0], "at least "),
    "assert_rank_in": (lambda have, known: have in known, "in "),
}


def ranks_hold(name, x, ranks, message, given, data=None, summarize=None):
    """The check of this name of RANKS: by what is known of the shape, else by an op."""
    holds, what = RANKS[name]
    with scope(given, name):
        x = convert_to_tensor(x) if not hasattr(x, "dense_shape") else x
        known, scalars = [], []
        for rank in ranks:
            if not isinstance(rank, int):
                assert_type(convert_to_tensor(rank), dtypes.int32)
            if isinstance(rank, Tensor) and rank.shape.rank is None:
                scalars.append(_assert(math_ops.equal(array_ops.rank(rank), 0), ["Rank must be a scalar."], summarize))
            value = constant_value(rank) if isinstance(rank, Tensor) else np.asarray(rank)
            if value is not None and np.ndim(value) != 0:
                raise ValueError("Rank must be a scalar.")
            known.append(None if value is None else int(value))
        have = x.shape.rank
        if have is not None and None not in known:
            if not holds(have, known):
                shown = known[0] if name != "assert_rank_in" else tuple(known)
                raise ValueError(
                    f"{_prefix(message)}Tensor {_who(x)} must have rank {what}{shown}.  Received rank {have}, shape {x.shape}"
                )
            return raw.NoOp() if _weft.in_graph() else None
        with control_dependencies([check for check in scalars if check is not None]):
            now = array_ops.rank(x)
        if data is None:
            data = [
                _prefix(message),
                f"Tensor {_who(x)} must have rank {what}".rstrip(),
                *[convert_to_tensor(r) for r in ranks],
                "Received shape: ",
                array_ops.shape(x),
            ]
        if name == "assert_rank_at_least":
            condition = math_ops.greater_equal(now, ranks[0])
        else:
            found = [math_ops.reduce_any(math_ops.equal(now, r)) if scalars else math_ops.equal(now, r) for r in ranks]
            condition = math_ops.reduce_any(array_ops.stack(found))
        return _assert(condition, data, summarize)


@dispatchable
def assert_rank(x, rank, message=None, name=None):
    """x has this rank."""
    return ranks_hold("assert_rank", x, [rank], message, name)


@dispatchable
def assert_rank_at_least(x, rank, message=None, name=None):
    """x has at least this rank."""
    return ranks_hold("assert_rank_at_least", x, [rank], message, name)


@dispatchable
def assert_rank_in(x, ranks, message=None, name=None):
    """x has one of these ranks."""
    return ranks_hold("assert_rank_in", x, list(ranks), message, name)


@dispatchable
def assert_scalar(tensor, message=None, name=None):
    """The tensor, which must have no axes."""
    with scope(name, "assert_scalar"):
        tensor = convert_to_tensor(tensor)
        if tensor.shape.rank != 0:
            who = "" if isinstance(tensor, EagerTensor) else f" for {tensor.name}"
            raise ValueError(f"{message or ''}Expected scalar shape{who}, saw shape: {tensor.shape}.")
    return None


@dispatchable
def assert_type(tensor, tf_type, message=None, name=None):
    """The tensor has this type of elements."""
    tf_type = dtypes.as_dtype(tf_type)
    with scope(name, "assert_type"):
        tensor = convert_to_tensor(tensor, name="tensor") if not hasattr(tensor, "dtype") else tensor
        if dtypes.as_dtype(tensor.dtype).base_dtype != tf_type:
            who = "tensor" if not isinstance(tensor, Tensor) or isinstance(tensor, EagerTensor) else tensor.name
            raise TypeError(f"{_prefix(message)}{who} must be of type {tf_type!r}; got {tensor.dtype!r}")
        return raw.NoOp() if _weft.in_graph() else None


@dispatchable
def assert_integer(x, message=None, name=None):
    """x has whole numbers."""
    with scope(name, "assert_integer"):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            who = "tensor" if isinstance(x, EagerTensor) else x.name
            raise TypeError(f'{_prefix(message)}Expected "x" to be integer type.  Found: {who} of dtype {x.dtype}')
        return raw.NoOp() if _weft.in_graph() else None


@dispatchable
def assert_same_float_dtype(tensors=None, dtype=None):
    """The type of floating point numbers that all tensors have."""
    first = None
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    for tensor in [t for t in tensors or [] if t is not None]:
        kind = tensor.dtype.base_dtype
        if dtype is None:
            dtype, first = kind, tensor
        elif kind is not dtype:
            more = f" as {first!s}" if first is not None else ""
            raise ValueError(f"{tensor!s}, type={kind}, must be of the same type ({dtype}){more}.")
    if dtype is None:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


@dispatchable
def assert_proper_iterable(values):
    """values can be gone through, and is no tensor or text."""
    bad = isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "dense_shape")
    if bad:
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor):
    """Whether a tensor has numbers."""
    return isinstance(tensor, (Tensor, _weft.VariableBase)) and tensor.dtype.is_numeric


@dispatchable
def assert_all_finite(x, message, name=None):
    """x, which must have neither infinities nor NaN."""
    with scope(name, "VerifyFinite"):
        x = convert_to_tensor(x, name="x")
        return after([], x) if x.dtype.is_integer else raw.CheckNumerics(tensor=x, message=message)


@dispatchable
def check_numerics(tensor, message, name=None):
    """The op CheckNumerics."""
    return raw.CheckNumerics(tensor=tensor, message=message, name=name)


@dispatchable
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Tensors have shapes that fit each other: equal letters stand for equal sizes."""
    with scope(name, "assert_shapes"):
        pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
        constraints, ranks, sizes, checks = [], [], {}, []
        for tensor, symbols in pairs:
            if symbols is not None:
                tensor = tensor if _has_shape(tensor) else convert_to_tensor(tensor)
                constraints.append((tensor, *_symbols_of(_name(tensor), symbols, message)))
        for tensor, symbols, open_rank in constraints:  # a scalar counts as a vector of one
            if open_rank and len(symbols) > 1:
                ranks.append(assert_rank_at_least(tensor, len(symbols), message=message))
            elif not open_rank:
                few = len(symbols) < 2
                held = (
                    assert_rank_in(tensor, [0, 1], message=message)
                    if few
                    else assert_rank(tensor, len(symbols), message=message)
                )
                ranks.append(held)
        for tensor, symbols, open_rank in constraints:
            for i, symbol in enumerate(symbols):
                place = i - len(symbols) if open_rank else i
                checks += _size_check(tensor, _name(tensor), place, symbol, sizes, message, data, summarize)
        if _weft.in_graph():
            from weft._src.function.control_flow import group

            return group([c for c in (*ranks, *checks) if c is not None])
        return None


def _has_shape(value):
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.ndarray)


def _symbols_of(label, symbols, message):
    """The symbols of a shape without what stands for any number of sizes, and whether that was there."""
    start = f"{_prefix(message)}Tensor {label}"
    if not hasattr(symbols, "__iter__") and not hasattr(symbols, "__getitem__"):
        raise ValueError(
            f"{start}.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
            f"Received specified shape: {symbols}"
        )
    symbols = symbols.as_list() if isinstance(symbols, TensorShape) else list(symbols)
    for i, symbol in enumerate(symbols):
        if i and (symbol is Ellipsis or isinstance(symbol, str) and symbol == "*"):
            raise ValueError(
                f"{start} specified shape index {i}.  Symbol `...` or `*` for a variable number of unspecified dimensions is only "
                "allowed as the first entry"
            )
    open_rank = bool(symbols) and (symbols[0] is Ellipsis or isinstance(symbols[0], str) and symbols[0] == "*")
    return (symbols[1:] if open_rank else symbols) or [1], open_rank  # none are one of size 1, as in TensorFlow


def _size_check(tensor, label, place, symbol, sizes, message, data, summarize):
    if symbol is None or symbol == ".":
        return []
    known = 1 if tensor.shape.rank == 0 else tensor.shape[place] if tensor.shape.rank is not None else None
    size = known if known is not None else array_ops.shape(tensor)[place]
    try:
        want, why = int(symbol), "Specified explicitly"  # also of a digit in a text of symbols
    except (TypeError, ValueError):
        want = None
    if want is not None:
        pass
    elif symbol in sizes:
        want, other, other_place = sizes[symbol]
        why = f"Specified by tensor {other} dimension {other_place}"
    else:
        sizes[symbol] = size, label, place
        return []
    if isinstance(want, int) and isinstance(size, int):
        if want != size:
            raise ValueError(
                f"{_prefix(message)}{why}.  Tensor {label} dimension {place} must have size {want}.  Received size {size}, shape {tensor.shape}"
            )
        return []
    shown = [
        _prefix(message),
        why,
        f"Tensor {label} dimension",
        place,
        "must have size",
        want,
        "Received shape: ",
        array_ops.shape(tensor),
    ]
    return [_assert(math_ops.equal(want, size), shown if data is None else list(data), summarize)]
