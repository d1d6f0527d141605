"""tf.xla.experimental: what version 1 had for the compiler."""

import contextlib


def compile_(computation, inputs=None):
    """computation(*inputs), compiled. One tensor comes in a list, and so does what computation gives as a sequence."""
    from weft._src.framework import nest
    from weft._src.function.function import function

    made = function(computation, jit_compile=True, autograph=False)(*(inputs or ()))
    if not nest.is_nested(made):
        return None if made is None else [made]
    return list(made) if isinstance(made, (list, tuple)) else made


compile_.__name__ = compile_.__qualname__ = "compile"


@contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A wish that ops of the block be compiled; the engine decides that by function."""
    from weft._src.framework.graph import executing_eagerly

    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside tf.function."
        )
    yield
