"""tf.autodiff.ForwardAccumulator: products of the Jacobian with a vector.

What runs is recorded on a tape. Its way back is linear in the gradient that it starts from, so the derivative of the
way back with respect to that start,
applied to the tangents, is the way forward."""

import contextlib
import threading

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import nest
from weft._src.framework.tensor import Tensor
from weft._src.gradients.tape import UnconnectedGradients, as_gradient, is_trainable


class _Open(threading.local):
    """The accumulators of this thread that record."""

    def __init__(self):
        self.all = []


_open = _Open()


class ForwardAccumulator:
    """Computes derivatives along with the values, in the direction of the tangents."""

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents, expand_composites=True)
        self._primals = nest.flatten(primals, expand_composites=True)
        if len({id(p) for p in self._primals}) != len(self._primals):
            raise ValueError(
                "Tensor {} was specified as a primal multiple times. This may indicate an error. If it "
                "was intended, please sum the corresponding "
                "tangents."
            )
        self._tangents = []
        self._tape = _weft.Tape(True, False)
        self._tape.go_forward()
        self._recording = False
        self._around = []
        for p, t in zip(self._primals, nest.flatten(tangents, expand_composites=True)):
            if isinstance(t, Tensor) and t.dtype is not p.dtype:
                raise ValueError(
                    f"Tensor conversion requested dtype {p.dtype.name} for Tensor with dtype {t.dtype.name}: {t!r}"
                )
            self._tangents.append(_weft.convert(t, p.dtype, None))
            if is_trainable(p):
                self._tape.watch(p)

    def __enter__(self):
        self._push_accumulator()
        return self

    def __exit__(self, typ, value, traceback):
        if self._recording:
            self._pop_accumulator()

    def _push_accumulator(self):
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        self._around = list(_open.all)
        _open.all.append(self)
        self._tape.start()
        self._recording = True

    def _pop_accumulator(self):
        if not self._recording:
            raise ValueError("Accumulator is not recording.")
        self._tape.stop()
        _open.all.remove(self)
        self._recording = False

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """The derivative of each of these values in the direction of the tangents."""
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        with contextlib.ExitStack() as stack:
            if self._recording:
                self._tape.stop()
                stack.callback(self._tape.start)
            # The accumulators around this one see its products as if they were made with the values, and not only now.
            for other in self._around:
                if not other._recording:
                    other._tape.start()
                    stack.callback(other._tape.stop)
            return nest.map_structure(lambda y: self._of(y, zero), primals, expand_composites=True)

    def _of(self, y, zero):
        nothing = raw.ZerosLike(x=y) if zero else None
        for p, t in zip(self._primals, self._tangents):
            if y is p:
                return t
        if isinstance(y, _weft.VariableBase) or not is_trainable(y) or not self._tape.watches(y):
            return nothing
        linear = _weft.Tape(True, False)
        linear.start()
        try:
            start = raw.ZerosLike(x=y)
            linear.watch(start)
            back = self._tape.gradient([y], self._primals, [start], False)
            used = [
                (_weft.convert(as_gradient(b), None, None), t) for b, t in zip(back, self._tangents) if b is not None
            ]
        finally:
            linear.stop()
        if not used:
            return nothing
        made = linear.gradient([b for b, _ in used], [start], [t for _, t in used], False)[0]
        return nothing if made is None else _weft.convert(as_gradient(made), None, None)
