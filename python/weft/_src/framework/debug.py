"""Switches of tf.debugging."""

import functools
import threading

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.graph import control_dependencies
from weft._src.framework.tensor import EagerTensor, Tensor


class _State:
    filtering = True


def enable_traceback_filtering():
    """Kept and told again: weft's own frames are few and are shown."""
    _State.filtering = True


def disable_traceback_filtering():
    _State.filtering = False


def is_traceback_filtering_enabled():
    return _State.filtering


_checking = threading.local()


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """Every op's results are checked for infinities and NaN from now on, in eager code and in functions that are traced."""
    _weft.watch_ops(_checked)


def disable_check_numerics():
    """Ends enable_check_numerics; functions that were traced meanwhile keep their checks."""
    _weft.watch_ops(None)


@functools.cache
def _unchecked(op_name):
    """Whether TensorFlow does not check the op."""
    return _weft.op_traits(op_name)["unchecked"]


def _checked(op, arguments, result):
    if _unchecked(op.op_name) or getattr(_checking, "on", False):
        return result
    _checking.on = True
    try:
        if isinstance(result, Tensor):
            return _check(op, arguments, result, 0, 1)
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return type(result)(*[_check(op, arguments, t, i, len(result)) for i, t in enumerate(result)])
        if isinstance(result, list):
            return [_check(op, arguments, t, i, len(result)) for i, t in enumerate(result)]
        return result
    finally:
        _checking.on = False


def _check(op, arguments, tensor, index, count):
    if not isinstance(tensor, Tensor) or not tensor.dtype.is_floating:
        return tensor
    where = f'output {index} of {{}} op "{op.op_name}" (# of outputs: {count}) !!!\n  dtype: {tensor.dtype}\n  shape: {tensor.shape}\n'
    inputs = [v for k, v in arguments.items() if k in op.inputs and isinstance(v, Tensor)]
    told = (
        f"\n  Input tensor: {inputs[0]!s}\n"
        if len(inputs) == 1
        else (
            f"\n  Input tensors ({len(inputs)}):\n" + "".join(f"         {i}: {v!s}\n" for i, v in enumerate(inputs))
            if inputs
            else ""
        )
    )
    if not isinstance(tensor, EagerTensor):
        with control_dependencies([tensor]):
            return raw.CheckNumericsV2(
                tensor=tensor, message=f"\n\n!!! Detected Infinity or NaN in {where.format('graph')}{told}\n"
            )
    import numpy as np

    array = np.asarray(tensor).astype(np.float64)
    if np.isfinite(array).all():
        return tensor
    kinds = {"-Inf": np.isneginf(array), "+Inf": np.isposinf(array), "NaN": np.isnan(array)}
    counts = "".join(
        f"  # of {'+NaN' if kind == 'NaN' else kind} elements: {int(found.sum())}\n"
        for kind, found in kinds.items()
        if found.any()
    )
    message = f"\n\n!!! Detected Infinity or NaN in {where.format('eagerly-executing')}{counts}{told}\n"
    return raw.CheckNumericsV2(tensor=tensor, message=message)


def enable_dump_debug_info(
    dump_root, tensor_debug_mode="NO_TENSOR", circular_buffer_size=1000, op_regex=None, tensor_dtypes=None
):
    """Not there."""
    raise NotImplementedError("tf.debugging.experimental.enable_dump_debug_info")


def disable_dump_debug_info():
    """Nothing to undo."""
