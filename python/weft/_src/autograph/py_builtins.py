"""Built-in functions of Python on tensors and datasets."""

import inspect

from . import _tf

UNSPECIFIED = object()


def _is_dataset(x):
    data = _tf.data_module()
    return data is not None and isinstance(x, data.Dataset)


def _all_datasets(values):
    return bool(values) and all(map(_is_dataset, values))


def abs_(x):
    if _is_dataset(x):
        absolute = lambda *e: _tf.nest.map_structure(_tf.abs, e[0] if len(e) == 1 else e)
        return x.map(absolute, num_parallel_calls=_tf.data_module().AUTOTUNE)
    return _tf.abs(x) if _tf.is_tensor(x) else abs(x)


def _number(x, dtype):
    if x.dtype == _tf.string:
        return _tf.raw_ops.StringToNumber(string_tensor=x, out_type=dtype)
    return _tf.cast(x, dtype)


def float_(x=0):
    return _number(x, _tf.float32) if _tf.is_tensor(x) else float(x)


def int_(x=0, base=UNSPECIFIED):
    if _tf.is_tensor(x):
        if base not in (10, UNSPECIFIED):
            raise NotImplementedError(f"base {base} not supported for int")
        return _number(x, _tf.int32)
    return int(x) if base is UNSPECIFIED else int(x, base)


def _text(message, number):
    return _tf.raw_ops.StringJoin(inputs=[message, _tf.raw_ops.AsString(input=number)])


def len_(s):
    if _is_dataset(s):
        return _dataset_len(s)
    if _tf.is_kind(s, "TensorArray"):
        return s.size()
    if not _tf.is_tensor(s):
        return len(s)
    if s.dtype == _tf.variant and not s.shape.rank:
        return _tf.raw_ops.TensorListLength(input_handle=s)
    if s.shape.rank and s.shape[0] is not None:
        return s.shape[0]
    shape = _tf.shape(s)
    if s.shape.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {shape}")
    if s.shape.rank is not None:
        return _tf.shape(s)[0]
    rank = _tf.rank(s)

    def scalar():
        text = _text("len requires non-zero rank, got ", rank)
        with _tf.control_dependencies([_tf.Assert(False, [text])]):
            return _tf.constant(0)

    return _tf.cond(rank > 0, lambda: _tf.shape(s)[0], scalar)


def _dataset_len(dataset):
    data = _tf.data_module()
    length = dataset.cardinality()
    known = _tf.logical_and(
        _tf.not_equal(length, data.INFINITE_CARDINALITY), _tf.not_equal(length, data.UNKNOWN_CARDINALITY)
    )
    text = _text("len requires dataset with definitive cardinality, got ", length)
    checked = _tf.Assert(known, [text])
    with _tf.control_dependencies([] if checked is None else [checked]):
        return _tf.identity(length)


def print_(*objects, **kwargs):
    unknown = tuple(set(kwargs) - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    where = [i for i, value in enumerate(objects) if _tf.is_tensor(value)]
    if not where:
        return print(*objects, **kwargs)

    def show(*values):
        texts = list(objects)
        for i, value in zip(where, values):
            value = value.numpy()
            texts[i] = value.decode("utf-8") if isinstance(value, bytes) else value
        print(*texts, **{"flush": True, **kwargs})
        return 1

    return _tf.py_function(show, [objects[i] for i in where], _tf.int32)


def range_(start_or_stop, stop=UNSPECIFIED, step=UNSPECIFIED):
    given = [v for v in (start_or_stop, stop, step) if v is not UNSPECIFIED]
    if not any(map(_tf.is_tensor, given)):
        return range(*given)
    if len(given) < 3:  # an empty range is no error in Python
        given[-1] = _tf.maximum(*given) if len(given) == 2 else _tf.maximum(given[0], 0)
    return _tf.range(*given)


def enumerate_(s, start=0):
    return s.enumerate(start) if _is_dataset(s) else enumerate(s, start)


def zip_(*iterables, strict=False):
    if not _all_datasets(iterables):
        return zip(*iterables, strict=strict)
    if strict:
        raise ValueError("strict zip not supported by Dataset")
    return _tf.data_module().Dataset.zip(iterables)


def map_(fn, *iterables):
    return _tf.data_module().Dataset.zip(iterables).map(fn) if _all_datasets(iterables) else map(fn, *iterables)


def filter_(function, iterable):
    return iterable.filter(function) if _is_dataset(iterable) else filter(function, iterable)


def _dataset_has(dataset, builtin, wanted, keep):
    """Whether an element of a dataset of booleans is as `keep` wants it; it is read no further than that."""
    specs = _tf.nest.flatten(dataset.element_spec)
    if len(specs) != 1 or specs[0].dtype != _tf.bool:
        raise ValueError(
            f'in graph mode, the "{builtin}" builtin only supports datasets that return bool scalars; got:'
            f" {dataset.element_spec}"
        )
    return dataset.filter(keep).take(1).reduce(_tf.constant(not wanted), lambda _, found: found)


def any_(iterable):
    return _dataset_has(iterable, "any", True, lambda x: x) if _is_dataset(iterable) else any(iterable)


def all_(iterable):
    return _dataset_has(iterable, "all", False, _tf.logical_not) if _is_dataset(iterable) else all(iterable)


def sorted_(iterable, key=None, reverse=False):
    if not _tf.is_tensor(iterable):
        return sorted(iterable, key=key, reverse=reverse)
    values = iterable if key is None else _tf.vectorized_map(key, iterable)
    refusal = "sort only supports only 1D tensors"
    if values.shape.rank not in (None, 1):
        raise ValueError(refusal)
    direction = "DESCENDING" if reverse else "ASCENDING"
    checked = _tf.assert_rank(values, 1, refusal)
    with _tf.control_dependencies([] if checked is None else [checked]):
        return (
            _tf.sort(values, direction=direction)
            if key is None
            else _tf.gather(iterable, _tf.argsort(values, direction=direction))
        )


OVERLOADS = {
    abs: abs_,
    float: float_,
    int: int_,
    len: len_,
    print: print_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
    map: map_,
    filter: filter_,
    any: any_,
    all: all_,
    sorted: sorted_,
}

# --- functions that look at the frame which calls them ---


def _frame_of(scope, innermost):
    """The frame of the generated function that made `scope`: blocks of statements are functions of their own inside
    it."""
    frame, found = inspect.currentframe(), None
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope:
            found = frame
            if innermost:
                break
        frame = frame.f_back
    return found


def call_in_frame(f, args, scope):
    """eval, super, globals and locals as if the user's function had called them."""
    if f is super:
        if args:
            return super(*args)
        frame = _frame_of(scope, innermost=False)
        return super(frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])
    frame = _frame_of(scope, innermost=True)
    if f is globals:
        return frame.f_globals
    if f is locals:
        return frame.f_locals
    return eval(args[0], *(args[1:] or (frame.f_globals, frame.f_locals)))
