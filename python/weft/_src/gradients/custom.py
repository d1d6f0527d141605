"""tf.custom_gradient and what is made of it: functions whose gradient is code of the program's."""

import functools
import inspect
import weakref

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import nest
from weft._src.framework.graph import FuncGraph, keep_in_graph
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.gradients.tape import as_gradient, flat_components, from_gradient, is_trainable, pack_composites


def custom_gradient(f=None):
    """f(*x) gives (y, grad_fn); grad_fn(*dy) is its gradient from then on: for tapes, and for functions and graphs that
    are differentiated."""
    if f is None:
        return custom_gradient

    try:
        method = next(iter(inspect.signature(f).parameters), None) == "self"
    except (TypeError, ValueError):
        method = False

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        code = f
        if method and args:  # the object has no gradient
            code, args = functools.partial(f, args[0]), args[1:]
        if _weft.in_graph():
            if kwargs:
                raise ValueError(
                    "The custom_gradient decorator currently supports keywords arguments only when eager execution is "
                    "enabled."
                )
        elif not _weft.tapes_listen():
            return _result_only(code, args, kwargs)
        return _Call(code, args, kwargs).run()

    return decorated


def _result_only(f, args, kwargs):
    watcher = _weft.Tape(True, True)
    watcher.start()
    try:
        result, grad_fn = f(*args, **kwargs)
    finally:
        watcher.stop()
    _check_takes_variables(grad_fn, _others(watcher, nest.flatten((args, kwargs), expand_composites=True)))
    return nest.map_structure(lambda x: _weft.convert(x, None, None), result, expand_composites=True)


def _others(watcher, inputs):
    """Variables that the code used and that were not handed in."""
    return [v for v in watcher.watched_variables() if not any(v is x for x in inputs)]


def _check_takes_variables(grad_fn, variables):
    spec = inspect.getfullargspec(grad_fn)
    if not variables:
        return
    if "variables" not in spec.args and "variables" not in spec.kwonlyargs and not spec.varkw:
        raise TypeError(
            f"@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
            f"variables: {variables}"
        )


def _tensor_or_variable(x):
    if isinstance(x, (Tensor, _weft.VariableBase)):
        return x
    try:
        return _weft.convert(x, None, None)
    except (TypeError, ValueError):
        return _weft.convert(0.0, None, None)  # text of an option, None: nothing that has a gradient


def _read_in_graph(x):
    is_variable = isinstance(x, _weft.VariableBase) or hasattr(x, "_should_act_as_resource_variable")
    return _weft.convert(x, None, None) if is_variable else x


class _Call:
    def __init__(self, f, args, kwargs):
        self._f, self._args, self._kwargs = f, args, kwargs

    def run(self):
        if _weft.in_graph():  # variables are read before: their gradients are those of the arguments
            self._args = nest.map_structure(_read_in_graph, self._args)
        inputs = flat_components(nest.flatten(self._args))
        named = flat_components(nest.flatten(self._kwargs))
        watcher = _weft.Tape(True, True)
        watcher.start()
        try:
            result, self._grad_fn = self._f(*self._args, **self._kwargs)
        finally:
            watcher.stop()
        self._inputs = [_tensor_or_variable(x) for x in inputs]
        self._variables = _others(watcher, [*self._inputs, *named])
        _check_takes_variables(self._grad_fn, self._variables)
        self._whole = nest.flatten(result)  # with ragged tensors as they are
        self._results = [_weft.convert(r, None, None) for r in flat_components(self._whole)]
        # What runs next is for the record that follows alone.
        _weft.pause_tapes()
        try:
            outputs = self._in_graph() if _weft.in_graph() else [raw.Identity(input=r) for r in self._results]
        finally:
            _weft.resume_tapes()
        _weft.record_gradient(
            getattr(self._f, "__name__", "custom_gradient"),
            [*self._inputs, *self._variables],
            outputs,
            self._backward,
            self._results,
        )
        return nest.pack_sequence_as(result, pack_composites(self._whole, outputs))

    def _gradients(self, dys, node=None):
        """One for each input and variable, as the program gives them; `node`: of the results in a graph."""
        dys = pack_composites(self._whole, dys)
        if self._variables:
            given, of_variables = self._grad_fn(*dys, variables=self._variables)
            of_variables = nest.flatten(of_variables)
            if len(of_variables) != len(self._variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            given, of_variables = self._grad_fn(*dys), []
        given = flat_components(nest.flatten(given))
        if node is not None and len(given) != len(self._inputs):
            rest = len(self._results) + len(of_variables)
            raise ValueError(
                f"Num gradients {len(given) + rest} generated for op {node} do not match num inputs "
                f"{len(self._inputs) + rest}"
            )
        if len(given) != len(self._inputs):
            raise ValueError(
                f"custom_gradient function expected to return {len(self._inputs)} gradients, but "
                f"returned {len(given)} instead."
            )
        return [*given, *of_variables]

    def _backward(self, dys):
        """For tapes of this code's own graph, or outside of any."""
        dys = [raw.ZerosLike(x=r) if d is None else as_gradient(d) for d, r in zip(dys, self._results)]
        return [from_gradient(g) for g in self._gradients(dys)]

    def _in_graph(self):
        """The results, marked: whoever differentiates this graph from outside runs the gradient."""
        for outer in _outer_tensors(self._grad_fn):
            _weft.current_graph().capture(outer)
        outputs, name = _weft.with_gradient([*self._inputs, *self._variables], self._results, self)
        keep_in_graph(self)
        weakref.finalize(self, _weft.forget_gradient, name).atexit = False
        self._node = outputs[0].op.node_def if outputs else ""
        return outputs

    def _traced(self):
        """For the engine: the gradient in a graph of its own inside the current one; (graph, gradients, the sources they belong to)."""
        graph = FuncGraph(f"{getattr(self._f, '__name__', 'custom').strip('<>')}_gradient")
        dys = [graph._native.add_argument(f"dy_{i}", r.dtype, r.shape) for i, r in enumerate(self._results)]
        with graph.as_default():
            made = self._gradients(dys, self._node)
            of = [i for i, g in enumerate(made) if g is not None]
            made = [_weft.convert(made[i], None, None) for i in of]
        return graph, made, of


def _outer_tensors(f, depth=2):
    """Tensors of graphs around this one that a function has in its closure: the graph must have them when it ends."""
    found = []
    for cell in getattr(f, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:  # nothing yet
            continue
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(x for x in value if isinstance(x, Tensor))
        elif depth and inspect.isfunction(value):
            found.extend(_outer_tensors(value, depth - 1))
    here, around = _weft.current_graph(), []
    outer = here._native.outer
    while outer is not None:
        around.append(outer)
        outer = outer._native.outer
    return [x for x in found if not isinstance(x, EagerTensor) and any(x.graph is g for g in around)]


def grad_pass_through(f):
    """f forward, nothing backward: the gradient goes through unchanged."""

    @custom_gradient
    def pass_through(*args, **kwargs):
        def grad(*dys, **more):
            variables = more.get("variables")
            if variables is not None:
                # As if the function were not there: its variables get nothing.
                return dys[0] if len(dys) == 1 else dys, [None] * len(variables)
            return dys[0] if len(dys) == 1 else dys

        return f(*args, **kwargs), grad

    return functools.wraps(f)(pass_through) if hasattr(f, "__name__") else pass_through


def recompute_grad(f):
    """Keeps nothing of what f computes for its gradient: f runs once more on the way back."""

    @custom_gradient
    def recomputing(*args, **kwargs):
        from weft._src.gradients.tape import GradientTape

        # Tapes hear which variables f uses, and nothing else of it.
        alone = _weft.Tape(True, True)
        alone.start_alone()
        try:
            result = f(*args, **kwargs)
        finally:
            alone.stop_alone()
        for v in alone.watched_variables():
            v._accessed()

        def grad(*dys, variables=None):
            with GradientTape() as tape:
                inputs = nest.map_structure(lambda x: raw.Identity(input=x) if isinstance(x, Tensor) else x, list(args))
                flat = [x for x in flat_components(nest.flatten(inputs)) if isinstance(x, (Tensor, _weft.VariableBase))]
                tape.watch([x for x in flat if is_trainable(x)])
                again = f(*inputs, **kwargs)
            variables_of = list(variables or [])
            grads = tape.gradient(
                again, [*flat, *variables_of], output_gradients=dys[0] if len(dys) == 1 else list(dys)
            )
            of_inputs = iter(grads[: len(flat)])
            full = [
                next(of_inputs) if isinstance(x, (Tensor, _weft.VariableBase)) else None
                for x in flat_components(nest.flatten(list(args)))
            ]
            return (full, grads[len(flat) :]) if variables is not None else full

        return result, grad

    return functools.wraps(f)(recomputing) if hasattr(f, "__name__") else recomputing
