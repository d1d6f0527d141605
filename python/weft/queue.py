"""tf.queue: queues of tensors, for threads and graphs."""

from weft._src.ops.queue_ops import (  # noqa: F401
    __getattr__,
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)
