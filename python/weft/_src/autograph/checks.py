"""Checks of the values that tensor-dependent statements carry, with messages that name the user's variables."""

import numpy as np

from . import _tf
from .variables import Undefined, UndefinedReturnValue

LEGAL_LOOP_TYPES = "Tensor, int, float, bool or a list, tuple or dict thereof"

_PYTHON_VALUES = (bool, int, float, str, np.ndarray)


def condition(value, statement):
    """`value` as a scalar boolean tensor that decides `statement`."""
    hint = "; to check for None, use `is not None`"
    value = _tf.convert_to_tensor(value)
    expected = f"condition of {statement} expected to be `tf.bool` scalar, got {value}"
    if value.dtype != _tf.bool:
        raise ValueError(f"{expected}; to use as boolean Tensor, use `tf.cast`{hint}")
    if value.shape.rank == 0:
        return value
    if value.shape.rank is not None and np.prod([n for n in value.shape.as_list() if n is not None]) > 1:
        raise ValueError(expected + hint)
    return _tf.reshape(value, ())


def _comparable(*values):
    """The values as tensors where they are ones or plain Python; None if they have no dtype to compare."""
    tensors = [_tf.convert_to_tensor(v) if isinstance(v, _PYTHON_VALUES) else v for v in values]
    return tensors if all(_tf.is_tensor(t) and hasattr(t, "dtype") for t in tensors) else None


def _variables_read(structure):
    read = lambda v: _tf.convert_to_tensor(v) if isinstance(v, _tf.Variable) else v
    return _tf.nest.map_structure(read, structure)


def _same_structure(first, second):
    """Raises if the structures differ; a variable counts as the tensor of its value."""
    try:
        _tf.nest.assert_same_structure(first, second, expand_composites=True)
    except (ValueError, TypeError):
        _tf.nest.assert_same_structure(_variables_read(first), _variables_read(second), expand_composites=True)


# --- if ---


def branch_outputs(values, names, branch):
    """A branch must have given a value to every variable that the statement defines."""
    for name, value in zip(names, values):
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must also be initialized in the {branch} branch")
        if isinstance(value, UndefinedReturnValue):
            raise ValueError(f"the {branch} branch must also have a return statement.")


def branch_value(name, main, other):
    """Two values of one variable, or of a part of it, at the ends of the branches."""
    for value, branch in ((main, "main"), (other, "else")):
        if value is None:
            raise ValueError(f"'{name}' is None at the end of the {branch} branch.")
    pair = _comparable(main, other)
    if pair and pair[0].dtype != pair[1].dtype:
        raise TypeError(
            f"'{name}' has dtype {pair[0].dtype.name} in the main branch, but dtype {pair[1].dtype.name} in the else"
            " branch"
        )


def branches_agree(main, other, names):
    for name, first, second in zip(names, main, other):
        try:
            _same_structure(first, second)
        except (ValueError, TypeError) as e:
            raise TypeError(
                f"'{name}' must have the same nested structure in the main and else branches:\n\n{e}"
            ) from e
        _tf.nest.map_structure(lambda a, b: branch_value(name, a, b), first, second)


# --- loops ---


def loop_inputs(values, names, after_one=None, note=None):
    """All variables must have values before the loop. `after_one`: what one iteration made of them, if that is
    known."""
    for i, (name, value) in enumerate(zip(names, values)):
        if isinstance(value, UndefinedReturnValue):
            returned = after_one[i] if after_one else None
            if returned:
                raise ValueError(
                    f"the return value from a TensorFlow loop may only be a {LEGAL_LOOP_TYPES}; got {type(returned)}"
                )
            raise NotImplementedError(
                "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return"
                " statement depends on a static Python condition such as a hyperparameter"
            )
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop")
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must be defined before the loop" + (f"\n{note}" if note else ""))


def _fits(shape, wanted):
    """Whether every tensor of `shape` is one of `wanted`."""
    if wanted.rank is None:
        return True
    if shape.rank != wanted.rank:
        return False
    return all(w is None or n == w for n, w in zip(shape.as_list(), wanted.as_list()))


def _loop_value(name, init, entry, exit_, invariant, check_shapes):
    if exit_ is None:
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    if isinstance(init, _PYTHON_VALUES):
        init = _tf.convert_to_tensor(init)
    pair = _comparable(entry, exit_)
    if not pair or not all(hasattr(t, "shape") for t in pair):
        return
    entry, exit_ = pair
    if entry.dtype != exit_.dtype:
        raise TypeError(
            f"'{name}' has dtype {entry.dtype.name} before the loop, but dtype {exit_.dtype.name} after one iteration"
        )
    if not check_shapes:
        return
    if invariant is None:
        if not _fits(exit_.shape, entry.shape):
            raise ValueError(
                f"'{name}' has shape {entry.shape} before the loop, but shape {exit_.shape} after one iteration."
                " Use tf.autograph.experimental.set_loop_options to set shape invariants."
            )
        return
    init = _comparable(init)[0]
    for shape, when in ((init.shape, "before the loop"), (exit_.shape, "after one iteration")):
        if not _fits(shape, invariant):
            raise ValueError(
                f"'{name}' has shape {shape} {when}, which does not conform with the shape invariant {invariant}."
            )


def loop_agrees(init, entry, exit_, names, invariants=None, check_shapes=True):
    """One iteration must leave every variable with the structure, dtype and shape that it had. `invariants`: a shape
    or None for each."""
    nest = _tf.nest
    for i, name in enumerate(names):
        invariant = invariants[i] if invariants and check_shapes else nest.map_structure(lambda _: None, entry[i])
        try:
            _same_structure(init[i], entry[i])
            nest.assert_same_structure(entry[i], exit_[i], expand_composites=True)
        except (ValueError, TypeError) as e:
            raise TypeError(f"'{name}' does not have the same nested structure after one iteration.\n\n{e}") from e
        if invariant is not None:
            try:
                nest.assert_same_structure(init[i], invariant, expand_composites=False)
            except (ValueError, TypeError) as e:
                raise TypeError(
                    f"'{name}' does not have the same nested structure as its corresponding shape invariant.\n\n{e}"
                ) from e
        nest.map_structure(
            lambda *values: _loop_value(name, *values, check_shapes), init[i], entry[i], exit_[i], invariant
        )
