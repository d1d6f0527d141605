"""tf.autograph.experimental."""

from .marks import do_not_convert
from .options import Feature

__all__ = ["Feature", "do_not_convert", "set_loop_options"]

UNSPECIFIED = object()


def set_loop_options(
    parallel_iterations=UNSPECIFIED,
    swap_memory=UNSPECIFIED,
    maximum_iterations=UNSPECIFIED,
    shape_invariants=UNSPECIFIED,
):
    """First statement of a loop: the arguments that `tf.while_loop` gets if the loop becomes one. As a call it does
    nothing."""
