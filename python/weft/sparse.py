"""tf.sparse"""

from weft._src.namespace import missing
from weft._src.ops.sparse_ops import (
    add,
    bincount,
    concat,
    cross,
    cross_hashed,
    expand_dims,
    eye,
    fill_empty_rows,
    from_dense,
    map_values,
    mask,
    maximum,
    minimum,
    reduce_max,
    reduce_sum,
    reorder,
    reset_shape,
    reshape,
    retain,
    sampled_addmm,
    segment_mean,
    segment_sqrt_n,
    segment_sum,
    slice,
    softmax,
    sparse_dense_matmul,
    split,
    to_dense,
    to_indicator,
    transpose,
)
from weft._src.ops.sparse_tensor import SparseTensor

__all__ = """
SparseTensor add bincount concat cross cross_hashed expand_dims eye fill_empty_rows from_dense map_values mask maximum
minimum reduce_max reduce_sum reorder reset_shape reshape retain sampled_addmm segment_mean segment_sqrt_n segment_sum
slice softmax sparse_dense_matmul split to_dense to_indicator transpose
""".split()
__getattr__ = missing("tf.sparse")
