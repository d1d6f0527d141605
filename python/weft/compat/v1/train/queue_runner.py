"""tf.compat.v1.train.queue_runner"""

from weft._src.compat.v1.train.queue_runner import QueueRunner, add_queue_runner, start_queue_runners  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.compat.v1.train.queue_runner")
