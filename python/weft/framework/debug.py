"""Switches of tf.debugging."""


class _State:
    filtering = True


def enable_traceback_filtering():
    """Kept and told again: weft's own frames are few and are shown."""
    _State.filtering = True


def disable_traceback_filtering():
    _State.filtering = False


def is_traceback_filtering_enabled():
    return _State.filtering


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """Every op's results are checked for infinities and NaN: not there yet."""
    raise NotImplementedError("tf.debugging.enable_check_numerics")


def disable_check_numerics():
    """Nothing to undo: enable_check_numerics is not there yet."""


def enable_dump_debug_info(dump_root, tensor_debug_mode="NO_TENSOR", circular_buffer_size=1000, op_regex=None, tensor_dtypes=None):
    """Not there."""
    raise NotImplementedError("tf.debugging.experimental.enable_dump_debug_info")


def disable_dump_debug_info():
    """Nothing to undo."""
