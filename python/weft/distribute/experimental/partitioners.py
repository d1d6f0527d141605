"""tf.distribute.experimental.partitioners: into how many parts a variable is divided along its first dimension."""

from weft._src.distribute.partitioners import (  # noqa: F401
    __getattr__,
    FixedShardsPartitioner,
    MaxSizePartitioner,
    MinSizePartitioner,
    Partitioner,
)
