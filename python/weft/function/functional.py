"""map_fn, scan and the folds: functions over the first axis of tensors."""

from weft import _weft
from weft._raw import raw
from weft.framework import dtypes, nest
from weft.framework.convert import convert_to_tensor
from weft.framework.dispatch import dispatchable
from weft.framework.graph import name_scope_v1
from weft.framework.tensor_shape import TensorShape
from weft.function.control_flow import while_loop


def _is_composite(x):
    return getattr(type(x), "_is_composite", False)


def _converted(fn):
    """fn as autograph wants it where this is called."""
    from weft.autograph import control_status_ctx, tf_convert

    fn.__name__  # noqa: B018: what has no name is no function (TensorFlow's error)
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

    def __init__(self, elems):
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
            if shape.rank is not None and shape[0] is not None:
                if size is not None and size != shape[0]:
                    raise ValueError(f"Dimensions {size} and {shape[0]} are not compatible")
                size = shape[0]
        self.static = size
        self.parts = None

    def count(self):
        if self.static is not None:
            return self.static
        x = _outer_tensor(self.flat[0])
        if _is_composite(x):
            return (
                raw.Cast(x=x.nrows(), DstT="int32")
                if hasattr(x, "nrows")
                else raw.StridedSlice(input=x.dense_shape, begin=[0], end=[1], strides=[1], shrink_axis_mask=1)
            )
        return raw.StridedSlice(input=raw.Shape(input=x), begin=[0], end=[1], strides=[1], shrink_axis_mask=1)

    def at(self, i):
        """The elements at i, which is a number or a tensor."""
        if self.parts is None:
            self.parts = [self._take_apart(x) for x in self.flat]
        return nest.pack_sequence_as(self.structure, [p(i) for p in self.parts])

    def _take_apart(self, x):
        if _is_composite(x):
            from weft.framework.type_spec import BatchableTypeSpec

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
        shape = x.shape[1:] if x.shape.rank is not None else TensorShape(None)
        known = (
            raw.Const(value=shape.as_list(), dtype="int32")
            if shape.is_fully_defined() and shape.rank
            else (
                raw.Const(value=_empty_shape(), dtype="int32")
                if shape.rank == 0
                else raw.StridedSlice(input=raw.Shape(input=x), begin=[1], end=[0], strides=[1], end_mask=1)
            )
        )
        # A list, not a gather: its gradient writes each element once.
        rows = raw.TensorListFromTensor(tensor=x, element_shape=known)

        def read(i):
            item = raw.TensorListGetItem(input_handle=rows, index=i, element_shape=known, element_dtype=x.dtype)
            item.set_shape(shape)
            return item

        return read


def _empty_shape():
    import numpy as np

    return np.zeros([0], np.int32)


class _Results:
    """Lists that a loop writes its results into, one for each tensor."""

    def __init__(self, dtypes_, count):
        self.types = dtypes_
        self.start = [raw.TensorListReserve(element_shape=-1, num_elements=count, element_dtype=t) for t in dtypes_]

    @staticmethod
    def put(lists, i, values):
        return [raw.TensorListSetItem(input_handle=h, index=i, item=v) for h, v in zip(lists, values)]

    def stacked(self, lists, shapes, count):
        out = []
        for h, t, shape in zip(lists, self.types, shapes):
            given = (
                raw.Const(value=shape.as_list() if shape.rank else _empty_shape(), dtype="int32")
                if shape.is_fully_defined()
                else -1
            )
            made = raw.TensorListStack(
                input_handle=h,
                element_shape=given,
                element_dtype=t,
                num_elements=count if isinstance(count, int) else -1,
            )
            made.set_shape(TensorShape([count if isinstance(count, int) else None]).concatenate(shape))
            out.append(made)
        return out


def _signature_spec(s):
    """A leaf of fn_output_signature as a TypeSpec; a dtype stands for a tensor of any shape."""
    from weft.framework.type_spec import TensorSpec, TypeSpec

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
    from weft.framework.type_spec import BatchableTypeSpec, TensorSpec, type_spec_from_value

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
        count = elements.count()
        results = _Results(types, count)
        seen = []

        def body(i, lists):
            made = columns(fn(elements.at(i)))
            seen[:] = [t.shape for t in made]
            _check_types(made, types)
            return i + 1, _Results.put(lists, i, made)

        # The lists of the elements are made in front of the loop.
        elements.parts = [elements._take_apart(x) for x in elements.flat]
        _, lists = while_loop(
            lambda i, _: raw.Less(x=i, y=count),
            body,
            (0, results.start),
            parallel_iterations=parallel_iterations or 10,
            maximum_iterations=count,
            name="while",
        )
        final = [s.merge_with(w) if infer_shape and s.is_compatible_with(w) else w for s, w in zip(seen, shapes)]
        return together(results.stacked(lists, final, count))


def _check_types(tensors, types):
    from weft.framework.errors import InvalidArgumentError

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
    return [raw.Pack(values=[row[k] for row in rows], axis=0) for k in range(len(types))]


# ---- scans and folds -------------------------------------------------------------------------------------


def _walk(fn, elems, initializer, reverse, name, keep):
    """The accumulated values of fn(accumulator, element): all of them (keep) or the last."""
    fn = _converted(fn)
    structure = nest.map_structure(convert_to_tensor, elems)
    for x in nest.flatten(structure):
        if x.shape.rank == 0:
            raise IndexError("tuple index out of range")
    elements = _Elements(structure)
    with name_scope_v1(name, "scan" if keep else "fold"):
        count = elements.count()
        if _weft.in_graph():
            elements.parts = [elements._take_apart(x) for x in elements.flat]
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
    results = _Results([t.dtype for t in flat], count) if keep else None
    lists = results.start if keep else []
    last = count - 1
    if keep and done:
        lists = _Results.put(lists, last if reverse else 0, flat)

    def body(k, accumulated, lists):
        i = last - k if reverse else k
        made = nest.flatten(_as_structure(fn(nest.pack_sequence_as(start, accumulated), elements.at(i)), start))
        return k + 1, made, _Results.put(lists, i, made) if keep else lists

    _, accumulated, lists = while_loop(
        lambda k, *_: raw.Less(x=k, y=count), body, (done, flat, lists), maximum_iterations=count, name="while"
    )
    if not keep:
        return nest.pack_sequence_as(start, accumulated)
    return nest.pack_sequence_as(start, results.stacked(lists, [t.shape for t in accumulated], count))


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
