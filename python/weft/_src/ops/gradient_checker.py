"""tf.test.compute_gradient: Jacobians by the tape and by small steps."""


def compute_gradient(f, x, delta=None):
    """(Jacobians of f by x by the tape, the same by differences)"""
    import numpy as np

    from weft._src.framework.convert import convert_to_tensor
    from weft._src.gradients.tape import GradientTape

    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}"
        )
    xs = [convert_to_tensor(v) for v in x]
    if delta is None:
        delta = 1.0 / 1024
    with GradientTape(persistent=True) as tape:
        for v in xs:
            tape.watch(v)
        y = f(*xs)
    exact, stepped = [], []
    for k, v in enumerate(xs):
        jacobian = tape.jacobian(y, v)
        shape = (y.shape.num_elements(), v.shape.num_elements())
        exact.append(
            np.zeros(shape, v.dtype.as_numpy_dtype) if jacobian is None else np.asarray(jacobian).reshape(shape)
        )
        base = v.numpy().astype(v.dtype.as_numpy_dtype)
        columns = []
        for i in range(base.size):
            sides = []
            for sign in (1, -1):
                moved = np.array(base).reshape(-1)
                moved[i] += sign * delta
                sides.append(
                    np.asarray(f(*xs[:k], convert_to_tensor(moved.reshape(base.shape)), *xs[k + 1 :])).reshape(-1)
                )
            columns.append((sides[0] - sides[1]) / (2 * delta))
        stepped.append(np.stack(columns, 1).astype(base.dtype) if columns else np.zeros(shape, base.dtype))
    return tuple(exact), tuple(stepped)
