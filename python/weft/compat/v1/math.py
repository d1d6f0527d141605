"""tf.compat.v1.math: tf.math with version 1's arguments where they differ."""

from weft._src.compat.v1.old_ops import (  # noqa: F401
    argmax,
    argmin,
    count_nonzero,
    in_top_k,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)


def __getattr__(name):
    import weft.math as v2

    try:
        return getattr(v2, name)
    except AttributeError:
        raise AttributeError(f"module 'tensorflow._api.v2.compat.v1.math' has no attribute {name!r}") from None
