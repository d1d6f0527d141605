"""tf.GradientTape: a recording of what ran, and questions to it. The recording and the walk back are the engine's."""

import contextlib
import enum
import logging

from weft import _weft
from weft._raw import raw
from weft.framework import dtypes, nest
from weft.framework.tensor import Tensor

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
        from weft.framework.indexed_slices import IndexedSlices

        return IndexedSlices(*value)
    return value


def from_gradient(value):
    """A gradient of a program's as the engine takes it."""
    if value is None or isinstance(value, Tensor):
        return value
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        return value.values, value.indices, value.dense_shape
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
        if self._native is None:
            raise ValueError("a GradientTape watches tensors inside of its block")
        if isinstance(tensor, Tensor):
            if tensor.dtype in _TRAINABLE:
                self._native.watch(tensor)
                return
            tensor = [tensor]
        for t in _components(tensor):
            if not isinstance(t, (Tensor, _VariableBase)):
                if hasattr(t, "_should_act_as_resource_variable"):
                    self._native.watch(t.handle)
                    continue
                raise ValueError(
                    f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or "
                    "ExtensionType."
                )
            if not is_trainable(t):
                logging.getLogger("tensorflow").warning(
                    "The dtype of the watched tensor must be floating (e.g. " "tf.float32), got %r", t.dtype
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
                "A non-persistent GradientTape can only be used to compute one set of gradients (or " "jacobians)"
            )
        if self._recording:
            if not self._persistent:
                self._pop_tape()
            elif what == "gradient":
                logging.getLogger("tensorflow").warning(
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                    "efficient than calling it outside the context "
                    "(it causes the gradient ops to be recorded on the tape, leading to increased CPU and memory "
                    "usage). Only call GradientTape.gradient inside "
                    "the context if you actually want to trace the gradient in order to compute higher order "
                    "derivatives."
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
        if type(sources) is list:
            flat = sources
            for s in flat:
                if not isinstance(s, (_VariableBase, Tensor)):
                    flat = nest.flatten(sources)
                    break
        else:
            flat = [sources] if isinstance(sources, (_VariableBase, Tensor)) else nest.flatten(sources)
        seeds = None
        if isinstance(target, Tensor):
            targets = [target]
            if output_gradients is not None:
                seeds = [
                    (
                        _weft.convert(output_gradients, target.dtype, None)
                        if not isinstance(output_gradients, (list, tuple))
                        else _weft.convert(nest.flatten(output_gradients)[0], target.dtype, None)
                    )
                ]
        else:
            if target is None:
                raise TypeError(
                    "Argument `target` should be a list or nested structure of Tensors, Variables or "
                    "CompositeTensors to be differentiated, but "
                    "received None."
                )
            targets, seeds = _several(nest.flatten(target, expand_composites=True), output_gradients)
        composite, asked = None, flat
        for s in flat:
            if not isinstance(s, (_VariableBase, Tensor)):
                composite = flat
                flat = nest.flatten(flat, expand_composites=True)
                asked = [_handle_or_self(t) for t in flat]
                break
        walk = _gradient_in_graph if _weft.in_graph() else type(self._native).gradient
        got = walk(self._native, targets, asked, seeds, zero)
        for i, g in enumerate(got):
            if g is None:
                if zero:
                    got[i] = _zeros(flat[i])
            elif type(g) is tuple:
                got[i] = as_gradient(g)
        self._used()
        if composite is not None:
            got = _pack_composites(composite, got)
        if sources is flat:
            return got
        return got[0] if sources is flat[0] else nest.pack_sequence_as(sources, got)

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The gradient of each element of target: for a source, a tensor of target.shape + source.shape."""
        from weft.gradients import jacobian

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
        from weft.gradients import jacobian

        return jacobian.batch_jacobian(
            self, target, source, unconnected_gradients, parallel_iterations, experimental_use_pfor
        )


def _whole(variables):
    """In a replica, a copy stands for the distributed variable that it is one of."""
    found = tuple(variables)
    if any(hasattr(v, "_distributed_container") for v in found):
        from weft.distribute import context
        from weft.distribute.grouping import value_container

        if context.has_strategy() and not context.in_cross_replica_context():
            return tuple(value_container(v) for v in found)
    return found


def _handle_or_self(x):
    """Other packages have classes that act as variables (Keras): their handle is the source."""
    if not isinstance(x, (_VariableBase, Tensor)):
        if not hasattr(x, "dtype"):
            dtypes.as_dtype(x)  # what is no tensor is taken for a type
        x.dtype
        if hasattr(x, "_should_act_as_resource_variable"):
            return x.handle
    return x


def _gradient_in_graph(native, targets, sources, seeds, zero):
    """With names as TensorFlow gives them."""
    from weft.ops.creation_ops import ones

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


def _several(targets, output_gradients):
    """Targets of a structure, and their gradients: a variable stands for its handle, so that it can be its own
    source."""
    given = (
        [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients, expand_composites=True)
    )
    out, seeds = [], []
    for t, g in zip(targets, given):
        if t is None:
            continue
        if output_gradients is not None:
            g = from_gradient(g if hasattr(g, "indices") else _weft.convert(g, None, None))
        if isinstance(t, _VariableBase):
            g = raw.OnesLike(x=t) if g is None else g
            t = t.handle
        elif not isinstance(t, Tensor):
            if not hasattr(t, "_should_act_as_resource_variable"):
                t.dtype, t._id  # which only tensors have
            t = _weft.convert(t, None, None)
        out.append(t)
        seeds.append(g)
    return out, None if all(g is None for g in seeds) else seeds


def _zeros(source):
    return raw.ZerosLike(x=source)


def _components(structure):
    """The tensors that a tape watches for a structure: of ragged and sparse tensors, the values."""
    out = []
    for x in nest.flatten(structure):
        own = getattr(x, "_gradient_components", None)
        out.extend(nest.flatten(x, expand_composites=True) if own is None else own)
    return out


def _pack_composites(sources, grads):
    """The gradients of components as gradients of the composite sources they belong to."""
    out, at = [], 0
    for s in sources:
        if isinstance(s, (_VariableBase, Tensor)) or hasattr(s, "_should_act_as_resource_variable"):
            out.append(grads[at])
            at += 1
            continue
        n = len(nest.flatten(s, expand_composites=True))
        parts = grads[at : at + n]
        at += n
        replace = getattr(s, "_with_gradient_components", None)
        known = [p for p in parts if p is not None]
        if not known:
            out.append(None)
        elif replace is not None:
            out.append(replace(parts))
        else:
            filled = [_zeros(c) if p is None else p for c, p in zip(nest.flatten(s, expand_composites=True), parts)]
            out.append(nest.pack_sequence_as(s, filled, expand_composites=True))
    return out
