"""tf.GradientTape: a recording of what ran, and questions to it. The recording and the walk back are the engine's."""

import contextlib
import enum
import logging

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, nest
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.log import log_first_n
from weft._src.framework.tensor import Tensor

_VariableBase = _weft.VariableBase
_TRAINABLE = frozenset(
    (
        dtypes.float16,
        dtypes.float32,
        dtypes.float64,
        dtypes.bfloat16,
        dtypes.complex64,
        dtypes.complex128,
        dtypes.resource,
        dtypes.variant,
    )
)


class UnconnectedGradients(enum.Enum):
    """What a gradient is where the target does not depend on the source."""

    NONE = "none"
    ZERO = "zero"


def is_trainable(tensor_or_dtype):
    """Whether gradients flow through values of this type."""
    dtype = getattr(tensor_or_dtype, "dtype", tensor_or_dtype)
    return dtype.base_dtype in _TRAINABLE


def wants_zeros(unconnected):
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}") from None


def as_gradient(value):
    """A gradient of the engine's as programs get it: IndexedSlices for (values, indices, dense_shape)."""
    if type(value) is tuple:
        from weft._src.framework.indexed_slices import IndexedSlices

        return IndexedSlices(*value)
    return value


def from_gradient(value):
    """A gradient of a program's as the engine takes it."""
    if value is None or isinstance(value, Tensor):
        return value
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        shape = value.dense_shape
        return (
            _weft.convert(value.values, None, None),
            _weft.convert(value.indices, None, None),
            None if shape is None else _weft.convert(shape, None, None),
        )
    return _weft.convert(value, None, None)


class GradientTape:
    """Records what runs in its block, to differentiate it."""

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._native = None
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._watched_variables = ()
        self._recording = False

    def __enter__(self):
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._native is None:
            self._native = _weft.Tape(self._persistent, self._watch_accessed_variables)
        self._native.start()
        self._recording = True
        return self

    def __exit__(self, typ, value, traceback):
        if self._recording:
            self._native.stop()
            self._recording = False

    def _push_tape(self):
        self.__enter__()

    def _pop_tape(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._native.stop()
        self._recording = False

    @contextlib.contextmanager
    def _ensure_recording(self):
        if self._recording:
            yield
            return
        self._push_tape()
        try:
            yield
        finally:
            self._pop_tape()

    def watch(self, tensor):
        """Gradients with respect to these tensors will be asked for."""
        if isinstance(tensor, Tensor):
            if tensor.dtype in _TRAINABLE and self._native is not None:
                self._native.watch(tensor)
                return
            tensor = [tensor]
        for t in _components(tensor):
            if not isinstance(t, (Tensor, _VariableBase)):
                raise ValueError(
                    f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType."
                )
            if self._native is None:
                raise AttributeError("'NoneType' object has no attribute '_tape'")
            if not is_trainable(t):
                log_first_n(
                    logging.WARNING,
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    5,
                    t.dtype,
                )
            self._native.watch(t)

    @contextlib.contextmanager
    def stop_recording(self):
        """What runs in the block is not recorded."""
        if self._native is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop_tape()
        try:
            yield
        finally:
            self._push_tape()

    def reset(self):
        """Forgets everything."""
        self._pop_tape()
        self._native = None
        self._push_tape()

    def watched_variables(self):
        """The variables that were used, in the order of their first use."""
        if self._native is not None:
            self._watched_variables = _whole(self._native.watched_variables())
        return self._watched_variables

    def _ready(self, what="gradient"):
        if self._native is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        if self._recording:
            if not self._persistent:
                self._pop_tape()
            elif what == "gradient":
                log_first_n(
                    logging.WARNING,
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                    "efficient than calling it outside the context "
                    "(it causes the gradient ops to be recorded on the tape, leading to increased CPU and memory "
                    "usage). Only call GradientTape.gradient inside "
                    "the context if you actually want to trace the gradient in order to compute higher order "
                    "derivatives.",
                    1,
                )

    def _used(self):
        if not self._persistent:
            self._watched_variables = _whole(self._native.watched_variables())
            self._native = None

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """The gradients of target (of its sum, where it is several) with respect to each of sources, in their
        structure."""
        self._ready()
        zero = unconnected_gradients is not UnconnectedGradients.NONE and wants_zeros(unconnected_gradients)
        seeds = None
        if isinstance(target, Tensor):
            targets = [target]
        elif target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but "
                "received None."
            )
        else:
            targets = [t if _is_variable(t) else identified(t) for t in flat_components(nest.flatten(target))]
        if type(sources) is list:
            flat = sources
            for s in flat:
                if not isinstance(s, (_VariableBase, Tensor)):
                    flat = nest.flatten(sources)
                    break
        else:
            flat = [sources] if isinstance(sources, (_VariableBase, Tensor)) else nest.flatten(sources)
        composite, asked = None, flat
        for s in flat:
            if not isinstance(s, (_VariableBase, Tensor)):
                composite = flat
                asked = [identified(t) for t in flat_components(flat)]
                break
        if output_gradients is not None:
            seeds = [from_gradient(as_tensor_or_slices(g)) for g in flat_components(nest.flatten(output_gradients))]
        targets, seeds = _variable_targets(targets, seeds)
        walk = _gradient_in_graph if _weft.in_graph() else type(self._native).gradient
        got = walk(self._native, targets, asked, seeds, zero and composite is None)
        for i, g in enumerate(got):
            if g is None:
                if zero:
                    got[i] = _zeros(flat[min(i, len(flat) - 1)])
            elif type(g) is tuple:
                got[i] = as_gradient(g)
        self._used()
        if composite is not None:
            got = pack_composites(composite, got)
        if sources is flat:
            return got
        return got[0] if len(flat) == 1 and sources is flat[0] else nest.pack_sequence_as(sources, got)

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The gradient of each element of target: for a source, a tensor of target.shape + source.shape."""
        from weft._src.gradients import jacobian

        return jacobian.jacobian(
            self, target, sources, unconnected_gradients, parallel_iterations, experimental_use_pfor
        )

    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The jacobians of each row of target with respect to the same row of source."""
        from weft._src.gradients import jacobian

        return jacobian.batch_jacobian(
            self, target, source, unconnected_gradients, parallel_iterations, experimental_use_pfor
        )


def _whole(variables):
    """In a replica, a copy stands for the distributed variable that it is one of."""
    found = tuple(variables)
    if any(hasattr(v, "_distributed_container") for v in found):
        from weft._src.distribute import context
        from weft._src.distribute.grouping import value_container

        if context.has_strategy() and not context.in_cross_replica_context():
            return tuple(value_container(v) for v in found)
    return found


def _is_variable(x):
    """Of this package, or of another that has classes which act as variables (Keras)."""
    return isinstance(x, _VariableBase) or hasattr(x, "_should_act_as_resource_variable")


def flat_components(values):
    """The tensors and variables of flat values: of ragged tensors their values, as programs get gradients of those."""
    out = []
    for x in values:
        if isinstance(x, Tensor) or _is_variable(x) or not isinstance(x, CompositeTensor) or hasattr(x, "dense_shape"):
            if type(x).__name__ == "SparseTensor":
                raise ValueError("Type SparseTensor is not supported as a gradient source or gradient target.")
            out.append(x)
            continue
        parts = getattr(x, "_gradient_components", None)
        if parts is None:
            raise ValueError(f"Type {type(x).__name__} is not supported as a gradient source or gradient target.")
        out.extend(parts)
    return out


def identified(x):
    """What a tape knows by its identity."""
    if not isinstance(x, (_VariableBase, Tensor)):
        if _is_variable(x):
            return x.handle
        if not hasattr(x, "dtype"):
            dtypes.as_dtype(x)  # what is no tensor is taken for a type
        x.dtype, x._id
    elif isinstance(x, _VariableBase) and x.dtype._is_ref_dtype:
        x._id  # a variable of the old kind is none
    return x


def as_tensor_or_slices(g):
    return g if isinstance(g, Tensor) or hasattr(g, "dense_shape") else _weft.convert(g, None, None)


def _variable_targets(targets, seeds):
    """A variable stands for its handle, so that it can be its own source; the gradient of that is one of its value."""
    if not any(_is_variable(t) for t in targets) and (seeds is None or len(seeds) == len(targets)):
        return targets, seeds
    seeds = ([] if seeds is None else seeds)[: len(targets)]
    seeds += [None] * (len(targets) - len(seeds))
    for i, t in enumerate(targets):
        if _is_variable(t):
            seeds[i] = raw.OnesLike(x=t) if seeds[i] is None else seeds[i]
    return [t.handle if _is_variable(t) else t for t in targets], seeds


def _gradient_in_graph(native, targets, sources, seeds, zero):
    """With names as TensorFlow gives them."""
    from weft._src.ops.creation_ops import ones

    seeds = [
        ones(t.shape, t.dtype) if s is None and t.shape.is_fully_defined() and t.dtype.is_floating else s
        for t, s in zip(targets, seeds or [None] * len(targets))
    ]
    scope = _weft.name_scope()
    _weft.set_name_scope("gradient_tape/")
    try:
        return native.gradient(targets, sources, seeds, zero)
    finally:
        _weft.set_name_scope(scope)


def _zeros(source):
    if getattr(source, "dtype", None) == dtypes.string:
        return None
    if isinstance(source, CompositeTensor):
        from weft._src.ops.creation_ops import zeros_like

        return zeros_like(source)
    return raw.ZerosLike(x=source)


def _components(structure):
    """The tensors that a tape watches for a structure."""
    out = []
    for x in nest.flatten(structure):
        out.extend(nest.flatten(x, expand_composites=True))
    return out


def pack_composites(sources, grads):
    """The gradients of components as gradients of the composite sources they belong to."""
    out, at = [], 0
    for s in sources:
        parts = getattr(s, "_gradient_components", None)
        if parts is None or isinstance(s, (_VariableBase, Tensor)):
            out.append(grads[at])
            at += 1
            continue
        own = grads[at : at + len(parts)]
        at += len(parts)
        out.append(None if any(g is None for g in own) else s._with_gradient_components(own))
    return out
