"""Loops that become `tf.while_loop`.

A loop's variables live in the generated code; `State` reads and writes them all as one tuple. Loops that count or
iterate add a variable of their own in front.
"""

import numpy as np

from . import _tf, checks, log
from .variables import Undefined, UndefinedReturnValue, is_undefined


class State:
    """The variables of a loop: `get()` and `set(values)` over all of them, and their names in the user's code."""

    __slots__ = ("get", "set", "names")

    def __init__(self, get, set_, names):
        self.get = get
        self.set = set_
        self.names = names

    def with_internal(self, box, name="<internal iterate>"):
        """This state with the internal variable that the list `box` holds."""

        def set_(values):
            box[0], *rest = values
            self.set(rest)

        return State(lambda: (box[0], *self.get()), set_, (name, *self.names))


def _zero_like(like, invariant, original):
    """A value for a variable that the first iteration will set to `like`, and the shape that it needs in the loop
    (None: its own).

    The value is never read; only its type counts.
    """
    if like is None or is_undefined(like):
        return original, None
    if isinstance(like, (bool, int, float)):
        return type(like)(0), None
    if _tf.is_tensor(like):
        shape = like.shape if invariant is None else invariant
        if shape is None or shape.rank is None:
            return _tf.zeros((), like.dtype), shape
        if like.shape.rank is not None and None not in like.shape.as_list():
            return _tf.zeros(like.shape, like.dtype), None
        known = like.shape.as_list() if like.shape.rank is not None else [None] * shape.rank
        dims = [(s or 0) if n is None else n for n, s in zip(known, shape.as_list())]
        return _tf.zeros(dims, like.dtype), shape
    if isinstance(like, (list, tuple, dict)):
        parts = _tf.nest.flatten(like)
        shapes = [None] * len(parts) if invariant is None else _tf.nest.flatten(invariant)
        made = [_zero_like(part, shape, None) for part, shape in zip(parts, shapes)]
        return tuple(_tf.nest.pack_sequence_as(like, [m[i] for m in made]) for i in (0, 1))
    raise TypeError(
        f"Found an unsupported type '{type(like).__name__}' while creating placeholder for {like}."
        " Supported types include Tensor, int, float, bool, list, tuple or dict."
    )


def _as_loop_would(value):
    """What the loop's body will see of a value from before it: Python numbers are tensors there."""
    if isinstance(value, (int, float, bool, str, list, tuple, np.ndarray, np.generic)):
        tensor = _tf.convert_to_tensor(value)
        return _tf.raw_ops.Placeholder(dtype=tensor.dtype, shape=tensor.shape)
    return value


def _define(state, body, init, missing, invariants):
    """Finds out what the variables without value become, by one iteration in a graph that is thrown away; gives the
    values to start from and the shapes that they need in the loop."""
    note = after_one = None
    start, shapes = init, [None] * len(init)
    try:
        with _tf.scratch_graph():
            state.set(_tf.nest.map_structure(_as_loop_would, init))
            body()
            after_one = state.get()
        found = [
            _zero_like(like, shape, value) if absent else (value, None)
            for value, absent, like, shape in zip(init, missing, after_one, invariants)
        ]
        start, shapes = tuple(f[0] for f in found), [f[1] for f in found]
    except (UnboundLocalError, TypeError, ValueError, KeyError) as e:
        log.log(1, "Caught error while staging loop body", exc_info=True)
        note = f"Note: AutoGraph tried to define it automatically, but ran into a {type(e).__name__}: {e}"
    finally:
        state.set(start)
    checks.loop_inputs(start, state.names, after_one, note)
    return start, shapes


def _invariant_of(pairs, value):
    """The shape that set_loop_options gave for a variable, which is known by the value it had before the loop."""
    return next((shape for key, shape in pairs if key is value), None)


def while_loop(test, body, state, opts):
    """Builds the loop and leaves the variables with its results."""
    opts = dict(opts)
    opts.pop("iterate_names", None)
    pairs = opts.pop("shape_invariants", ())

    before = init = state.get()
    missing = [v is None or is_undefined(v) for v in init]
    invariants = [_invariant_of(pairs, v) for v in init]
    must_run = any(missing)
    if must_run:
        init, found = _define(state, body, init, missing, invariants)
        invariants = [f if i is None else i for i, f in zip(invariants, found)]
    init = tuple(init)

    invariants = [
        _tf.nest.map_structure(lambda _: None, v) if shape is None else shape for v, shape in zip(init, invariants)
    ]
    if not any(shape is not None for shape in _tf.nest.flatten(invariants)):
        invariants = None
    else:
        opts["shape_invariants"] = ((None,) if must_run else ()) + tuple(invariants)

    def loop_test(*values):
        state.set(values[1:] if must_run else values)
        return checks.condition(test(), "while loop")

    def loop_body(*values):
        entry = values[1:] if must_run else values
        state.set(entry)
        body()
        after = state.get()
        checks.loop_agrees(init, entry, after, state.names, invariants)
        return (True, *after) if must_run else after

    # A variable that only the loop defines has no value if the loop never runs: a flag in front tells.
    result = _tf.while_loop(loop_test, loop_body, ((False,) if must_run else ()) + init, **opts)
    if must_run:
        result = _after_one_iteration(result, state.names, missing, before)
    state.set(result)


def _after_one_iteration(result, names, missing, before):
    what = ", ".join(
        "the function return value" if isinstance(value, UndefinedReturnValue) else name
        for name, absent, value in zip(names, missing, before)
        if absent
    )
    checked = _tf.Assert(result[0], [f"loop must iterate at least once to initialize {what}"])
    with _tf.control_dependencies([] if checked is None else [checked]):
        return _tf.nest.map_structure(lambda v: _tf.identity(v) if _tf.is_tensor(v) else v, tuple(result[1:]))


# --- for ---


def _unless_left(more, extra_test):
    """The loop goes on if `more` and, where break or return may end it, if they have not."""
    return more if extra_test is None else _tf.cond(more, extra_test, lambda: False)


def _counted(length, element, extra_test, body, state, opts):
    """A loop over `element(i)` for i below `length`."""
    index = [0]

    def step():
        body(element(index[0]))
        index[0] += 1

    while_loop(lambda: _unless_left(index[0] < length, extra_test), step, state.with_internal(index), opts)


def for_tensor(tensor, extra_test, body, state, opts):
    """The rows of a tensor. A TensorArray has cheaper gradients than slices."""
    from .py_builtins import len_

    length = len_(tensor)
    rows = _tf.TensorArray(tensor.dtype, size=length).unstack(tensor)
    _counted(length, rows.read, extra_test, body, state, opts)


def for_ragged(ragged, extra_test, body, state, opts):
    checks.loop_inputs(state.get(), state.names)
    length = ragged.shape[0] if ragged.shape.rank and ragged.shape[0] is not None else ragged.row_lengths()[0]
    _counted(length, lambda i: ragged[i], extra_test, body, state, opts)


def _length(start, limit, delta):
    """How many numbers there are: TensorFlow's graphs tell, although such loops do not ask."""
    span = limit - start
    whole = span // delta
    more = _tf.cast(_tf.not_equal(span % delta, _tf.zeros_like(whole)), span.dtype)
    return _tf.maximum(whole + more, _tf.zeros_like(whole))


def for_range(tensor, extra_test, body, state, opts):
    """The output of a Range op in a graph: its numbers are counted, the op itself is not needed."""
    start, limit, delta = tensor.op.inputs
    _length(start, limit, delta)
    number = [start]
    target = opts["iterate_names"]

    def get():
        # The loop variable has no value before the loop, but it has the type of the start.
        return tuple(
            number[0] if name == target and isinstance(value, Undefined) else value
            for name, value in zip(state.names, state.get())
        )

    def step():
        body(number[0])
        number[0] += delta

    def test():
        known = _tf.get_static_value(delta)
        if known is None:
            more = _tf.logical_or(
                _tf.logical_and(delta >= 0, number[0] < limit), _tf.logical_and(delta < 0, number[0] > limit)
            )
        else:
            more = number[0] < limit if known >= 0 else number[0] > limit
        return _unless_left(more, extra_test)

    while_loop(test, step, State(get, state.set, state.names).with_internal(number), opts)


def for_iterator(iterator, extra_test, body, state, opts):
    """What an iterator of a dataset still has."""
    has_next = [True]
    state = state.with_internal(has_next, "<internal has_next>")
    init = state.get()
    checks.loop_inputs(init, state.names)

    def step():
        element = iterator.get_next_as_optional()
        has_next[0] = element.has_value()
        entry = state.get()

        def take():
            body(element.get_value())
            after = state.get()
            checks.loop_agrees(init, entry, after, state.names)
            return after

        state.set(_tf.cond(has_next[0], take, lambda: entry))

    while_loop(lambda: _unless_left(has_next[0], extra_test), step, state, opts)


def for_distributed(dataset, extra_test, body, state, opts):
    """All elements of a distributed dataset."""
    for_iterator(iter(dataset), extra_test, body, state, opts)


def for_dataset(dataset, extra_test, body, state, opts):
    """All elements of a dataset: the loop runs inside the pipeline, as a scan whose last state is the result."""
    init = state.get()
    checks.loop_inputs(init, state.names)
    if not init:  # a reduction needs a state
        state = State(lambda: (_tf.constant(0),), lambda values: None, ("<internal dummy>",))
        init = state.get()

    def scan(entry, element):
        state.set(entry)

        def run():
            body(element)
            after = state.get()
            checks.loop_agrees(init, entry, after, state.names, check_shapes=False)
            return after

        if extra_test is None:
            more, after = (_tf.constant(True),), run()
        else:
            more = extra_test()
            after = _tf.cond(more, run, lambda: entry)
        return after, (after, more)

    steps = dataset.scan(init, scan)
    if extra_test is not None:
        steps = steps.take_while(lambda _, more: more)
    state.set(steps.reduce(init, lambda _, step: step[0]))
