"""tf.debugging."""

from types import SimpleNamespace as _Names

from weft._src.namespace import missing
from weft._src.framework.config import get_log_device_placement, set_log_device_placement  # noqa: F401
from weft._src.framework.debug import (  # noqa: F401
    disable_check_numerics,
    disable_dump_debug_info,
    disable_traceback_filtering,
    enable_check_numerics,
    enable_dump_debug_info,
    enable_traceback_filtering,
    is_traceback_filtering_enabled,
)
from weft._src.function.control_flow import Assert  # noqa: F401
from weft._src.ops.check_ops import (  # noqa: F401
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_shapes,
    assert_type,
    check_numerics,
    is_numeric_tensor,
)

experimental = _Names(disable_dump_debug_info=disable_dump_debug_info, enable_dump_debug_info=enable_dump_debug_info)
del disable_dump_debug_info, enable_dump_debug_info

__getattr__ = missing("tf.debugging")
