"""Jacobians of a tape: many gradients at once where every op on the way allows it, one after another where not."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, nest
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.gradients.tape import flat_components, identified, is_trainable, wants_zeros


def _shape(t):
    """The sizes of a tensor or variable: numbers where they are known, else a tensor."""
    shape = TensorShape(t.shape)
    return shape.as_list() if shape.is_fully_defined() else raw.Shape(input=t)


def _joined(*shapes):
    if all(isinstance(s, list) for s in shapes):
        return [d for s in shapes for d in s]
    return raw.ConcatV2(values=[_weft.convert(s, dtypes.int32, None) for s in shapes], axis=0)


def _dense(value):
    if type(value) is not tuple:
        return value
    values, indices, shape = value
    return raw.UnsortedSegmentSum(
        data=values,
        segment_ids=indices,
        num_segments=raw.StridedSlice(input=shape, begin=[0], end=[1], strides=[1], shrink_axis_mask=1),
    )


def _together(tape, target, sources, seeds, rows):
    """All of them in one walk back; NotImplemented where something on the way takes no rows."""
    native = tape._native
    before, native.persistent = native.persistent, True
    try:
        return native.batched_gradient(target, sources, seeds, rows)
    finally:
        native.persistent = before


def _many(tape, target, sources, seeds, rows, together):
    """One gradient for each row of seeds and each source: [rows, source...], or None."""
    got = _together(tape, target, sources, seeds, rows) if together else NotImplemented
    if got is not NotImplemented:
        return got
    native = tape._native
    before, native.persistent = native.persistent, True
    try:
        by_row = []
        for i in range(rows):
            seed = raw.StridedSlice(input=seeds, begin=[i], end=[i + 1], strides=[1], shrink_axis_mask=1)
            by_row.append([_dense(g) for g in native.gradient([target], sources, [seed], False)])
        return [
            None if not rows or any(r[k] is None for r in by_row) else raw.Pack(values=[r[k] for r in by_row], axis=0)
            for k in range(len(sources))
        ]
    finally:
        native.persistent = before


def _in_loop(tape, target, sources, rows, seed):
    """The same in a graph, for a number of rows that is known when it runs; seed(i) starts row i."""
    from weft._src.function.control_flow import while_loop
    from weft._src.ops.tensor_array import TensorArray

    native = tape._native
    before, native.persistent = native.persistent, True
    try:
        # A question whose answer is thrown away tells which sources there is a way to.
        found = native.gradient([target], sources, None, False)
        known = [i for i, g in enumerate(found) if g is not None]
        if not known:
            return [None] * len(sources)
        wanted = [sources[i] for i in known]

        def body(i, *arrays):
            grads = native.gradient([target], wanted, [seed(i)], False)
            return (i + 1, *[a.write(i, _dense(g)) for a, g in zip(arrays, grads)])

        arrays = [TensorArray(_dense(found[i]).dtype, size=rows) for i in known]
        done = while_loop(lambda i, *arrays: i < rows, body, [_weft.convert(0, dtypes.int32, None), *arrays])[1:]
        out = [None] * len(sources)
        for i, a in zip(known, done):
            out[i] = a.stack()
        return out
    finally:
        native.persistent = before


def _one_hot(i, rows, dtype):
    return raw.OneHot(indices=i, depth=rows, on_value=raw.Cast(x=1, DstT=dtype), off_value=raw.Cast(x=0, DstT=dtype))


def _vectorizing_failed(what):
    return ValueError(
        f"Encountered an exception while vectorizing the {what} computation. Vectorization can be disabled by setting "
        "experimental_use_pfor to False."
    )


def _not_one_tensor(x, use_pfor):
    if use_pfor:
        return _vectorizing_failed("jacobian")
    return ValueError(f"TypeError: object of type '{type(x).__name__}' has no len()\n")


def _check_options(unconnected, parallel_iterations, use_pfor, what):
    """Whether zeros are wanted."""
    try:
        zero = wants_zeros(unconnected)
    except ValueError as error:
        raise (_vectorizing_failed(what) if use_pfor else error) from None
    if use_pfor and parallel_iterations is not None and not _weft.in_graph():
        raise _vectorizing_failed(what)
    return zero


def jacobian(tape, target, sources, unconnected, parallel_iterations, use_pfor):
    tape._ready("jacobian")
    given = nest.flatten(sources)
    if not use_pfor and not tape._persistent and not _weft.in_graph():
        raise RuntimeError(
            "GradientTape must be created with persistent=True to compute the jacobian with eager "
            "execution enabled and with  "
            "experimental_use_pfor set to False."
        )
    target.shape  # a structure has none
    flat = [identified(s) for s in flat_components(given)]
    if isinstance(target, CompositeTensor):
        raise _not_one_tensor(target, use_pfor)
    with tape._ensure_recording():  # a variable is read
        target = _weft.convert(target, None, None)
    rows, shape = target.shape.num_elements(), _shape(target)
    zero = _check_options(unconnected, parallel_iterations, use_pfor, "jacobian") if rows != 0 and given else False
    got = [None] * len(flat)
    if rows is None:
        rows = raw.Size(input=target)
        got = NotImplemented
        if use_pfor:
            eye = raw.Diag(diagonal=raw.Fill(dims=[rows], value=raw.Cast(x=1, DstT=target.dtype)))
            got = _together(tape, target, flat, raw.Reshape(tensor=eye, shape=_joined([rows], shape)), -1)
        if got is NotImplemented:
            got = _in_loop(
                tape, target, flat, rows, lambda i: raw.Reshape(tensor=_one_hot(i, rows, target.dtype), shape=shape)
            )
    elif rows and is_trainable(target):
        eye = raw.Diag(diagonal=raw.Fill(dims=[rows], value=raw.Cast(x=1, DstT=target.dtype)))
        got = _many(tape, target, flat, raw.Reshape(tensor=eye, shape=[rows, *shape]), rows, use_pfor)
    elif not rows and not use_pfor and given and not _weft.in_graph():
        full = TensorShape(target.shape).concatenate(TensorShape(given[0].shape))
        raise ValueError(f"Tensor's shape {target.shape} is not compatible with supplied shape {full}.")
    out = []
    for s, g in zip(given, got):
        if g is not None and isinstance(s, CompositeTensor):
            raise _not_one_tensor(s, use_pfor)
        if g is None and zero:
            s = s if isinstance(s, Tensor) else _weft.convert(s, None, None)
            g = raw.Fill(dims=_joined(shape, _shape(s)), value=raw.Cast(x=0, DstT=s.dtype))
        elif g is not None:
            g = raw.Reshape(tensor=g, shape=_joined(shape, _shape(s)))
        out.append(g)
    tape._used()
    return nest.pack_sequence_as(sources, out)


def batch_jacobian(tape, target, source, unconnected, parallel_iterations, use_pfor):
    tape._ready("jacobian")
    target.shape  # a structure has none
    with tape._ensure_recording():
        target, given = _weft.convert(target, None, None), source
    source_shape, target_shape = TensorShape(given.shape), target.shape
    for shape in (target_shape, source_shape):
        if shape.rank is not None and shape.rank < 2:
            if not shape.rank:
                raise IndexError("list index out of range")
            raise ValueError(f"Shape {shape} must have rank at least 2")
    if not target_shape[:1].is_compatible_with(source_shape[:1]):
        raise ValueError(
            f"Need first dimension of target shape ({target_shape}) and source shape ({source_shape}) to match."
        )
    if not use_pfor and not tape._persistent and not _weft.in_graph():
        raise RuntimeError(
            "GradientTape must be created with persistent=True to compute the batch_jacobian with "
            "eager execution enabled and with  "
            "experimental_use_pfor set to False."
        )
    if target_shape.is_fully_defined() and not target_shape[0]:
        raise ZeroDivisionError("integer division or modulo by zero")
    _check_options(unconnected, parallel_iterations, use_pfor, "batch_jacobian")
    source = identified(given)
    inner = target_shape[1:]
    rows = inner.num_elements()
    batch = (
        _shape(target)[:1]
        if target_shape[0] is not None
        else raw.StridedSlice(input=raw.Shape(input=target), begin=[0], end=[1], strides=[1])
    )
    # Row i asks for element i of every example at once: examples do not touch each other.
    if rows is None:
        inner_sizes = raw.StridedSlice(input=raw.Shape(input=target), begin=[1], end=[0], strides=[1], end_mask=1)
        rows = raw.Prod(input=inner_sizes, reduction_indices=[0])

        def seed(i):
            one = raw.Reshape(tensor=_one_hot(i, rows, target.dtype), shape=_joined([1], inner_sizes))
            return raw.BroadcastTo(input=one, shape=raw.Shape(input=target))

        got = NotImplemented
        if use_pfor:
            eye = raw.Diag(diagonal=raw.Fill(dims=[rows], value=raw.Cast(x=1, DstT=target.dtype)))
            eye = raw.Reshape(tensor=eye, shape=_joined([rows], [1], inner_sizes))
            seeds = raw.BroadcastTo(input=eye, shape=_joined([rows], batch, inner_sizes))
            got = _together(tape, target, [source], seeds, -1)
        got = (_in_loop(tape, target, [source], rows, seed) if got is NotImplemented else got)[0]
    else:
        inner_sizes = inner.as_list()
        eye = raw.Reshape(
            tensor=raw.Diag(diagonal=raw.Fill(dims=[rows], value=raw.Cast(x=1, DstT=target.dtype))),
            shape=[rows, 1, *inner_sizes],
        )
        seeds = raw.BroadcastTo(input=eye, shape=_joined([rows], batch, inner_sizes))
        got = _many(tape, target, [source], seeds, rows, use_pfor)[0]
    tape._used()
    source_sizes = _shape(given)
    inner_source = (
        source_sizes[1:]
        if isinstance(source_sizes, list)
        else raw.StridedSlice(input=source_sizes, begin=[1], end=[0], strides=[1], end_mask=1)
    )
    full = _joined(batch, inner_sizes, inner_source)
    if got is None:  # whatever was asked for
        return raw.Fill(dims=full, value=raw.Cast(x=0, DstT=target.dtype))
    order = [1, 0, *range(2, source_shape.rank + 1)]
    return raw.Reshape(tensor=raw.Transpose(x=got, perm=order), shape=full)
