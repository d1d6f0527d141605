"""map_fn, scan and the folds: functions over the first axis of tensors."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.graph import name_scope_v1
from weft._src.framework.tensor_shape import TensorShape
from weft._src.function.control_flow import while_loop
from weft._src.ops.tensor_array import TensorArray


def _is_composite(x):
    return getattr(type(x), "_is_composite", False)


def _converted(fn):
    """fn as autograph wants it where this is called."""
    from weft._src.autograph import control_status_ctx, tf_convert

    if not callable(fn):
        fn.__name__  # noqa: B018: TensorFlow's error
    return tf_convert(fn, control_status_ctx())


def _outer_tensor(x):
    """What tells the number of elements: of an extension type, its first tensor."""
    return (
        x
        if not _is_composite(x) or hasattr(x, "nrows") or hasattr(x, "dense_shape")
        else nest.flatten(x, expand_composites=True)[0]
    )


class _Elements:
    """The elements of a structure of tensors, dense or ragged, along the first axis."""

    def __init__(self, elems, typed=False):
        self.typed = typed  # lists know the shape of their elements from the start
        self.structure = nest.map_structure(lambda x: x if _is_composite(x) else convert_to_tensor(x), elems)
        self.flat = nest.flatten(self.structure)
        if not self.flat:
            raise ValueError(
                f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}, which does not contain any Tensors."
            )
        size = None
        for x in self.flat:
            shape = _outer_tensor(x).shape
            if shape.rank == 0:
                raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
            # Sparse elements are counted while a graph runs.
            counted = hasattr(x, "dense_shape") and _weft.in_graph()
            if shape.rank is not None and shape[0] is not None and not counted:
                if size is not None and size != shape[0]:
                    raise ValueError(f"Dimensions {size} and {shape[0]} are not compatible")
                size = shape[0]
        self.static = self.size = size
        self.parts = None

    def count(self):
        if self.static is not None:
            return self.static
        x = _outer_tensor(self.flat[0])
        if _is_composite(x):
            return raw.Cast(x=x.nrows() if hasattr(x, "nrows") else x.dense_shape[0], DstT="int32")
        return raw.Shape(input=x)[0]

    def take_apart(self):
        """For a loop in a graph: the lists of the elements are made in front of it. Gives the count."""
        self.size = self.count()
        self.parts = [self._take_apart(x) for x in self.flat]
        return self.size

    def at(self, i):
        """The elements at i, which is a number or a tensor."""
        if self.parts is None:
            self.parts = [self._take_apart(x) for x in self.flat]
        return nest.pack_sequence_as(self.structure, [p(i) for p in self.parts])

    def _take_apart(self, x):
        if _is_composite(x):
            from weft._src.framework.type_spec import BatchableTypeSpec

            if not _weft.in_graph() and hasattr(x, "nrows"):
                return lambda i: x[i]
            spec = x._type_spec
            if not isinstance(spec, BatchableTypeSpec):
                raise TypeError(f"elems cannot be taken apart along their first axis: {spec!r}")
            inner = spec._unbatch()
            columns = spec._to_batched_tensor_list(x)
            readers = [self._reader(c) for c in columns]
            return lambda i: inner._from_compatible_tensor_list([r(i) for r in readers])
        return self._reader(x)

    def _reader(self, x):
        if not _weft.in_graph():
            if self.static == 0:
                return lambda i: None
            rows = raw.Unpack(value=x, num=self.static, axis=0) if self.static else []
            return lambda i: rows[i]
        # A list, not a gather: its gradient writes each element once.
        shape = x.shape[1:] if self.typed and x.shape.rank is not None else None
        return TensorArray(x.dtype, size=self.size, element_shape=shape).unstack(x).read


def _written(arrays, i, values):
    return [a.write(i, v) for a, v in zip(arrays, values)]


def _stacked(arrays, shapes, count):
    """What a loop wrote into arrays, one tensor each."""
    out = [a.stack() for a in arrays]
    for made, shape in zip(out, shapes):
        made.set_shape(TensorShape([count if isinstance(count, int) else None]).concatenate(shape))
    return out


def _signature_spec(s):
    """A leaf of fn_output_signature as a TypeSpec; a dtype stands for a tensor of any shape."""
    from weft._src.framework.type_spec import TensorSpec, TypeSpec

    return s if isinstance(s, TypeSpec) else TensorSpec(None, dtypes.as_dtype(s))


def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
):
    """fn of each element of elems along their first axis, stacked."""
    if fn_output_signature is None:
        fn_output_signature = dtype
    fn = _converted(fn)
    elements = _Elements(elems)
    from weft._src.framework.type_spec import BatchableTypeSpec, TensorSpec, type_spec_from_value

    if fn_output_signature is None:
        specs = nest.map_structure(
            lambda x: type_spec_from_value(x)._unbatch() if _is_composite(x) else TensorSpec(None, x.dtype),
            elements.structure,
        )
        like = elements.structure
    else:
        specs = nest.map_structure(_signature_spec, fn_output_signature)
        like = specs
    flat_specs = nest.flatten(specs)
    for s in flat_specs:
        if not isinstance(s, BatchableTypeSpec):
            raise TypeError(f"map_fn: the results of fn cannot be put together: {s!r}")

    def columns(result):
        """The tensors that stand for one result of fn."""
        nest.assert_same_structure(like, result, check_types=True)
        out = []
        for spec, value in zip(flat_specs, nest.flatten(result)):
            out += [convert_to_tensor(value)] if isinstance(spec, TensorSpec) else spec._to_tensor_list(value)
        return out

    def together(tensors):
        at, leaves = 0, []
        for spec in flat_specs:
            if isinstance(spec, TensorSpec):
                leaves.append(tensors[at])
                at += 1
            else:
                n = len(spec._flat_tensor_specs)
                leaves.append(spec._batch(elements.static)._from_compatible_tensor_list(tensors[at : at + n]))
                at += n
        return nest.pack_sequence_as(specs, leaves)

    types, shapes = [], []
    for spec in flat_specs:
        for s in [spec] if isinstance(spec, TensorSpec) else spec._flat_tensor_specs:
            types.append(s.dtype)
            shapes.append(s.shape)

    with name_scope_v1(name, "map"):
        if not _weft.in_graph():
            rows = [columns(fn(elements.at(i))) for i in range(elements.static)]
            return together(_stack_rows(rows, types, shapes))
        count = elements.take_apart()
        start = convert_to_tensor(0)
        results = [TensorArray(t, size=count, infer_shape=infer_shape) for t in types]
        seen = []

        def body(i, arrays):
            made = columns(fn(elements.at(i)))
            seen[:] = [t.shape for t in made]
            _check_types(made, types)
            arrays = _written(arrays, i, made)
            return i + 1, arrays

        _, results = while_loop(
            lambda i, _: raw.Less(x=i, y=count),
            body,
            (start, results),
            parallel_iterations=parallel_iterations or 10,
            maximum_iterations=count,
            name="while",
        )
        final = [s.merge_with(w) if infer_shape and s.is_compatible_with(w) else w for s, w in zip(seen, shapes)]
        return together(_stacked(results, final, count))


def _check_types(tensors, types):
    from weft._src.framework.errors import InvalidArgumentError

    for t, want in zip(tensors, types):
        if t.dtype != want:
            if _weft.in_graph():
                raise InvalidArgumentError(
                    None, None, f"Invalid data types; op elements {t.dtype.name} but list elements {want.name}"
                )
            raise InvalidArgumentError(
                None, None, f"TensorArray dtype is {want.name} but Op is trying to write dtype {t.dtype.name} "
            )


def _stack_rows(rows, types, shapes):
    if not rows:
        return [
            (
                raw.Fill(
                    dims=[0] + [0 if d is None else d for d in (s.as_list() if s.rank is not None else [])],
                    value=raw.Cast(x=0, DstT=t),
                )
                if t not in (dtypes.string, dtypes.variant)
                else raw.Fill(dims=[0], value="")
            )
            for t, s in zip(types, shapes)
        ]
    for row in rows:
        _check_types(row, types)
        for value, first in zip(row, rows[0]):
            if not first.shape.is_compatible_with(value.shape):
                raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({first.shape})")
    return [raw.Pack(values=[row[k] for row in rows], axis=0) for k in range(len(types))]


# ---- scans and folds -------------------------------------------------------------------------------------


def _walk(fn, elems, initializer, reverse, name, keep):
    """The accumulated values of fn(accumulator, element): all of them (keep) or the last."""
    fn = _converted(fn)
    structure = nest.map_structure(convert_to_tensor, elems)
    for x in nest.flatten(structure):
        if x.shape.rank == 0:
            raise IndexError("tuple index out of range")
    elements = _Elements(structure, typed=keep)
    with name_scope_v1(name, "scan" if keep else "foldr" if reverse else "foldl"):
        count = elements.take_apart() if _weft.in_graph() else elements.count()
        first = 0 if not reverse else count - 1
        if initializer is None:
            start = elements.at(first)
            done = 1
        else:
            start = nest.map_structure(convert_to_tensor, initializer)
            done = 0
        if not _weft.in_graph():
            return _walk_now(fn, elements, start, done, reverse, keep)
        return _walk_in_graph(fn, elements, start, done, count, reverse, keep)


def _as_structure(result, like):
    nest.assert_same_structure(like, result)
    return nest.map_structure(convert_to_tensor, result)


def _walk_now(fn, elements, start, done, reverse, keep):
    order = range(elements.static)
    order = order[::-1] if reverse else order
    accumulated = start
    kept = [start] if done else []
    for i in order[done:]:
        accumulated = _as_structure(fn(accumulated, elements.at(i)), start)
        kept.append(accumulated)
    if not keep:
        return accumulated
    if reverse:
        kept.reverse()
    rows = [nest.flatten(k) for k in kept]
    stacked = _stack_rows(rows, [t.dtype for t in nest.flatten(start)], [t.shape for t in nest.flatten(start)])
    return nest.pack_sequence_as(start, stacked)


def _walk_in_graph(fn, elements, start, done, count, reverse, keep):
    flat = nest.flatten(start)
    results = [TensorArray(t.dtype, size=count, element_shape=t.shape) for t in flat] if keep else []
    last = count - 1
    if done:
        results = _written(results, last if reverse else 0, flat)

    def body(k, accumulated, arrays):
        i = last - k if reverse else k
        made = nest.flatten(_as_structure(fn(nest.pack_sequence_as(start, accumulated), elements.at(i)), start))
        arrays = _written(arrays, i, made)
        return k + 1, made, arrays

    _, accumulated, results = while_loop(
        lambda k, *_: raw.Less(x=k, y=count),
        body,
        (convert_to_tensor(done), flat, results),
        maximum_iterations=count,
        name="while",
    )
    if not keep:
        return nest.pack_sequence_as(start, accumulated)
    return nest.pack_sequence_as(start, _stacked(results, [t.shape for t in accumulated], count))


@dispatchable
def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """All accumulated values of fn(accumulator, element) along the first axis."""
    return _walk(fn, elems, initializer, reverse, name, keep=True)


@dispatchable
def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(... fn(initializer, elems[0]) ..., elems[-1])"""
    return _walk(fn, elems, initializer, False, name, keep=False)


@dispatchable
def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(... fn(initializer, elems[-1]) ..., elems[0])"""
    return _walk(fn, elems, initializer, True, name, keep=False)
