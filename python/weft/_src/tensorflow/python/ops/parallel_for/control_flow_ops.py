"""Vectorized loops. tensorflow-probability."""

from weft._src.function.vectorize import vectorized_map  # noqa: F401


def pfor(loop_fn, iters, fallback_to_while_loop=True, parallel_iterations=None, warn=False):
    """loop_fn(i) of all i below iters at once, stacked."""
    from weft._src.ops.creation_ops import range as numbers

    return vectorized_map(loop_fn, numbers(iters), fallback_to_while_loop, warn)


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """loop_fn(i) of one i after the other, stacked."""
    from weft._src.function.functional import map_fn
    from weft._src.ops.creation_ops import range as numbers

    return map_fn(loop_fn, numbers(iters), fn_output_signature=loop_fn_dtypes, parallel_iterations=parallel_iterations)
