"""tf.py_function and tf.numpy_function: Python code as ops of a graph. The kernels (python/native/py_func.cc) find the code by its token."""

import collections
import contextlib
import functools
import itertools
import threading
import traceback
import weakref

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, errors, fork, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.graph import keep_in_graph

_numbers = itertools.count()
_functions = weakref.WeakValueDictionary()  # token -> _Function, which the graphs that use it hold
_outside = []  # those of no graph
_PLACE = "/job:localhost/replica:0/task:0/device:CPU:0"


class _Failed(Exception):
    """An error of Python code on its way through a kernel: its status is (code, text, notes)."""

    def __init__(self, code, text, notes=()):
        super().__init__(text)
        self._py_func_status = (code, text, dict(notes))


_CODES = ((ValueError, 3), (TypeError, 3), (StopIteration, 11), (MemoryError, 8), (NotImplementedError, 12))
_CLASSES = {
    2: errors.UnknownError,
    3: errors.InvalidArgumentError,
    8: errors.ResourceExhaustedError,
    11: errors.OutOfRangeError,
    12: errors.UnimplementedError,
}


def _status_of(e):
    if isinstance(e, _Failed):
        return e._py_func_status
    code = next((c for kind, c in _CODES if isinstance(e, kind)), 2)
    lines = "\n".join(traceback.format_exception(type(e), e, e.__traceback__))
    return code, f"{type(e).__name__}: {e}\n{lines}\n", _notes_of_text(e)


def _notes_of_text(e):
    """What the texts of an error and of those that its traceback shows before it say of nodes."""
    notes = {}
    while e is not None:
        notes |= {key: note for key, note in getattr(e, "_notes", {}).items() if key in ("explained", "names_node")}
        e = e.__cause__ or (None if e.__suppress_context__ else e.__context__)
    return notes


class _Function:
    """A function of the program's, with the types of what it gives."""

    def __init__(self, code, types, structure=None):
        self.code, self.types, self.structure = code, types, structure
        self.token = f"pyfunc_{next(_numbers)}"
        self.differentiable = False  # whether the gradient of an op with this token is in some graph
        self.calls = collections.OrderedDict()  # number of a call -> (tape, inputs, outputs), for its gradient
        self.gradients = []  # the functions of its gradients
        self.lock = fork.lock()

    def register(self):
        """Known by its token as long as one of the graphs around lives."""
        _functions[self.token] = self
        if not keep_in_graph(self):
            _outside.append(self)
        return self.token

    # ---- with eager tensors

    def call_eager(self, tensors):
        args = (
            tensors
            if self.structure is None
            else nest.pack_sequence_as(self.structure, tensors, expand_composites=True)
        )
        return self.results(self.code(*args))

    def results(self, made):
        """What the function gave as tensors of the types that were promised."""
        if made is None:
            return []
        if isinstance(made, (list, tuple)):
            flat = (
                [x for value in made for x in nest.flatten(value, expand_composites=True)]
                if any(map(_is_composite, made))
                else list(made)
            )
            return [_as_type(x, t) for x, t in zip(flat, self.types)]
        if _is_composite(made):
            return [_as_type(x, t) for x, t in zip(nest.flatten(made, expand_composites=True), self.types)]
        return [_as_type(made, t) for t in self.types[:1]]

    # ---- with arrays

    def call_numpy(self, tensors):
        import numpy as np

        made = self.code(*[np.array(t)[()] for t in tensors])  # scalars, not arrays without a dimension
        made = [] if made is None else list(made) if isinstance(made, (list, tuple)) else [made]
        out = []
        for i, (value, want) in enumerate(zip(made, self.types)):
            array = np.asarray(value)
            tensor = (
                convert_to_tensor(array) if array.dtype.kind not in "OSU" else convert_to_tensor(value, dtypes.string)
            )
            if tensor.dtype is not want:
                names = {"float64": "double", "float32": "float"}
                raise _Failed(
                    3,
                    f"{i}-th value returned by {self.token} is {names.get(tensor.dtype.name, tensor.dtype.name)}, but expects "
                    f"{names.get(want.name, want.name)}",
                )
            out.append(tensor)
        self.check_count(len(made), len(self.types))
        return out

    def check_count(self, got, want):
        if got != want:
            raise _Failed(3, f"{self.token} returns {got} values, but expects to see {want} values.")


def _is_composite(x):
    return getattr(type(x), "_is_composite", False)


def _as_type(x, dtype):
    if isinstance(x, _weft.VariableBase):
        x = x.value()
    return convert_to_tensor(x, dtype)


_KEPT_CALLS = 1024
_call_numbers = itertools.count(1)


def _call(token, tensors, types, eager):
    """For the kernels: runs the function; the last result of an eager one is the number of the call."""
    function = _functions.get(token)
    if function is None:
        raise _Failed(5, f"Python callback {token} is not found: the program that made it is gone")
    try:
        if not eager:
            return function.call_numpy(tensors)
        if not function.differentiable:
            made = function.call_eager(tensors)
            number = 0
        else:
            number, made = _recorded(function, tensors)
        function.check_count(len(made), len(types) - 1)
        return [*made, convert_to_tensor(number, dtypes.int64)]
    except Exception as e:
        raise _Failed(*_status_of(e)) from None


def _flows(t):
    """Whether gradients flow through a tensor of this type."""
    return t.dtype.is_floating or t.dtype.is_complex


def _recorded(function, tensors):
    from weft._src.gradients.tape import GradientTape

    with GradientTape() as tape:
        for t in tensors:
            if _flows(t):
                tape.watch(t)
        made = function.call_eager(tensors)
    number = next(_call_numbers)
    with function.lock:
        function.calls[number] = (tape, tensors, made)
        if len(function.calls) > _KEPT_CALLS:
            function.calls.popitem(last=False)
    return number, made


_weft.set_py_func_caller(_call)


def _gradient(token, types):
    """For the engine: the token of the gradient of EagerPyFunc, which asks the tape of a call; `types` are those of the inputs that have gradients."""
    forward = _functions[token]
    forward.differentiable = True
    weak = weakref.ref(forward)  # the gradient goes with the function

    def run(number, *dys):
        owner = weak()
        with owner.lock:
            call = owner.calls.pop(int(number), None)
        if call is None:
            raise RuntimeError("the gradient of a tf.py_function whose call is not remembered")
        tape, xs, ys = call
        sources = [x for x in xs if x.dtype in types]
        made = tape.gradient([y for y in ys if _flows(y)], sources, output_gradients=list(dys))
        return [raw.ZerosLike(x=x) if g is None else convert_to_tensor(g) for x, g in zip(sources, made)]

    backward = _Function(run, types)
    forward.gradients.append(backward)
    _functions[backward.token] = backward
    return backward.token


_weft.set_py_func_gradient(_gradient)


# ---- the functions of the API ----------------------------------------------------------------------------


def _spec(t):
    from weft._src.framework.type_spec import TensorSpec, TypeSpec

    return t if isinstance(t, TypeSpec) else TensorSpec(None, dtypes.as_dtype(t))


def _own_process():
    """The scope of ops that call this process's Python: in a function that other tasks of a cluster may run, they name where they can run."""
    from weft._src.framework.device import device

    graph = _weft.current_graph()
    names = [name.rpartition("/device:")[0] for name, _, _ in _weft.devices()]
    if not graph.building_function or set(names) == {names[0]}:
        return contextlib.nullcontext()
    return device(f"{names[0]}/device:CPU:0")


def _not_converted(func):
    from weft._src.autograph import do_not_convert

    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    return do_not_convert(func)


def _decorated(caller, func, **options):
    """The function whose calls go through `caller`."""
    func = _not_converted(func)

    @functools.wraps(func)
    def call(*args):
        return caller(func, args, **options)

    return call


@dispatchable
def py_function(func=None, inp=None, Tout=None, name=None):
    """func(*inp), run by Python when the graph runs; it gets eager tensors, and tapes see through it."""
    if func is None:
        return lambda func: _decorated(py_function, func, Tout=Tout, name=name)
    func = _not_converted(func)
    listed = isinstance(Tout, (list, tuple))
    specs = [] if Tout is None else [_spec(t) for t in (Tout if listed else [Tout])]
    flat_specs = [s for spec in specs for s in nest.flatten(spec, expand_composites=True)]
    types = [s.dtype for s in flat_specs]
    inputs = [x if _is_composite(x) else convert_to_tensor(x) for x in (inp or [])]
    if not _weft.in_graph():
        flat = _run_now(_Function(func, types), inputs)
    else:
        function = _Function(func, types, structure=inputs)
        tensors = nest.flatten(inputs, expand_composites=True)
        with _own_process():
            made = raw.EagerPyFunc(input=tensors, token=function.register(), Tout=[*types, dtypes.int64], name=name)
        flat = list(made[:-1])
        for t, s in zip(flat, flat_specs):
            t.set_shape(s.shape)
        if not specs:
            return made[0].op
    out, at = [], 0
    for spec in specs:
        n = len(nest.flatten(spec, expand_composites=True))
        out.append(
            flat[at]
            if not _is_composite_spec(spec)
            else nest.pack_sequence_as(spec, flat[at : at + n], expand_composites=True)
        )
        at += n
    return out if listed or Tout is None else out[0]


def _is_composite_spec(spec):
    from weft._src.framework.type_spec import TensorSpec

    return not isinstance(spec, TensorSpec)


def _run_now(function, inputs):
    """Eagerly the function is simply called: tapes hear of what it does."""
    try:
        flat = function.results(function.code(*inputs))
        function.check_count(len(flat), len(function.types))
        return flat
    except Exception as e:
        code, text, notes = _status_of(e)
        ran = f"EagerPyFunc_Tin_{len(inputs)}_Tout_{len(function.types)}_device_{_PLACE}"
        error = _CLASSES[code](None, None, _weft.called_text(text, "EagerPyFunc", ran, ""))
        error._notes = notes
        raise error from None


@dispatchable
def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """func(*inp), run by Python when the graph runs; it gets and gives numpy arrays and has no gradient."""
    if func is None:
        return lambda func: _decorated(numpy_function, func, Tout=Tout, stateful=stateful, name=name)
    func = _not_converted(func)
    if not _weft.in_graph():
        import numpy as np

        made = func(*[np.array(x) for x in (inp or [])])
        flat = [x if x is None else convert_to_tensor(x) for x in nest.flatten(made)]
        return flat[0] if len(flat) == 1 else flat
    listed = isinstance(Tout, (list, tuple))
    specs = [] if Tout is None else [_spec(t) for t in (Tout if listed else [Tout])]
    function = _Function(func, [s.dtype for s in specs])
    op = raw.PyFunc if stateful else raw.PyFuncStateless
    inputs = [convert_to_tensor(x) for x in (inp or [])]
    with _own_process():
        made = op(input=inputs, token=function.register(), Tout=function.types, name=name)
    if not specs:
        return made
    for t, s in zip(made, specs):
        t.set_shape(s.shape)
    return list(made) if listed else made[0]


def py_func(func, inp, Tout, stateful=True, name=None):
    """tf.compat.v1.py_func"""
    return numpy_function(func, inp, Tout, stateful, name)
