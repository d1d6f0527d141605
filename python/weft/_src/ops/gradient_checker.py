"""tf.test.compute_gradient: Jacobians by the tape and by small steps. A complex number counts as two reals, one after the other."""


def compute_gradient(f, x, delta=None):
    """(Jacobians of f by x by the tape, the same by differences)"""
    from weft._src.framework.convert import convert_to_tensor
    from weft._src.framework.dtypes import as_dtype

    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}"
        )
    xs = [convert_to_tensor(v) for v in x]
    specs = [(v.dtype, v.shape) for v in xs]
    value_of = _prepared(f, specs)
    values = [_array(v) for v in xs]
    y = value_of(*values)
    y_dtype = as_dtype(y.dtype)
    exact, stepped = [], []
    for k, v in enumerate(xs):
        for dtype, name in ((v.dtype, f"argument {k}"), (y_dtype, "y")):
            check_dtype(dtype, f"Cannot compute gradient for unsupported type {dtype.name} of {name}")
        slope_of = _prepared(_slope(f, k), [(y_dtype, None), *specs])
        exact.append(jacobian_of_slopes(lambda dy: slope_of(dy, *values), values[k], y.shape, y_dtype))
        step = 1.0 / 1024 if delta is None else delta
        stepped.append(jacobian_of_steps(lambda at: value_of(*values[:k], at, *values[k + 1 :]), values[k], y, step))
    return tuple(exact), tuple(stepped)


def check_dtype(dtype, message):
    """Raises for a dtype that has no gradients."""
    if not (dtype.is_floating or dtype.is_complex):
        raise AssertionError(message)


def jacobian_of_slopes(slope_of, x, y_shape, y_dtype):
    """[y, x]: a row for the gradient along each number of y. Where y is empty, the gradient must be zeros of x's shape."""
    import numpy as np

    dy = np.zeros(y_shape, y_dtype.as_numpy_dtype)
    directions, real = _reals(dy), _real_type(x)
    rows = np.zeros((directions.size, _reals(x).size), real)
    for i, row in enumerate(rows):
        directions[i] = 1
        slope = _dense(slope_of(dy), x)
        if slope is not None:
            row[:] = _reals(np.asarray(slope, x.dtype))
        directions[i] = 0
    if not len(rows):
        slope = _dense(slope_of(dy), x)
        if slope is not None and slope.shape != x.shape:
            raise ValueError(f"Empty gradient has wrong shape: expected {x.shape}, got {slope.shape}")
        if slope is not None and np.any(slope):
            raise ValueError("Empty tensor with nonzero gradients")
    return rows


def jacobian_of_steps(value_of, x, y, delta):
    """[y, x]: a column for a step along each number of x, forwards and back."""
    import numpy as np

    columns = np.zeros((_reals(np.asarray(y)).size, _reals(x).size), _real_type(x))
    scale = np.asarray(2 * delta, _real_type(np.asarray(y)))[()]
    for i in range(columns.shape[1]):
        sides = []
        for step in (delta, -delta):
            moved = x.copy()
            _reals(moved)[i] += step
            sides.append(_array(value_of(moved)))
        columns[:, i] = _reals(np.asarray((sides[0] - sides[1]) / scale))
    return columns


def _real_type(array):
    return array.real.dtype if array.dtype.kind == "c" else array.dtype


def _reals(array):
    """The numbers of an array one after the other; a view where the array lies so."""
    return array.reshape(-1).view(_real_type(array))


def _array(value):
    """The value of a tensor, eager or of the default session's graph; what can be written to."""
    import numpy as np

    from weft._src.compat.session import get_default_session
    from weft._src.framework.graph import executing_eagerly
    from weft._src.framework.tensor import Tensor

    if isinstance(value, Tensor) and not executing_eagerly() and not hasattr(value, "numpy"):
        value = get_default_session().run(value)
    return np.array(value)


def _dense(slope, x):
    """A gradient as an array: slices are added at their places."""
    import numpy as np

    if slope is None or not hasattr(slope, "indices"):
        return None if slope is None else _array(slope)
    dense = np.zeros_like(x)
    np.add.at(dense, np.asarray(slope.indices), np.asarray(slope.values))
    return dense


def _prepared(f, specs):
    """f of arrays: eagerly as it is, else run in the default session."""
    from weft._src.compat.session import get_default_session
    from weft._src.compat.v1.graphs import placeholder
    from weft._src.framework.convert import convert_to_tensor
    from weft._src.framework.graph import executing_eagerly

    if executing_eagerly():
        return lambda *values: f(*map(convert_to_tensor, values))
    inputs = [placeholder(dtype, shape=shape) for dtype, shape in specs]
    outputs, session = f(*inputs), get_default_session()
    return lambda *values: session.run(outputs, feed_dict=dict(zip(inputs, values)))


def _slope(f, k):
    """The gradient of f by its argument k along dy."""

    def gradient(dy, *xs):
        from weft._src.gradients.tape import GradientTape

        with GradientTape() as tape:
            tape.watch(xs[k])
            y = f(*xs)
        return tape.gradient(y, xs[k], output_gradients=dy)

    return gradient
