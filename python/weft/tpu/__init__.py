"""tf.tpu: TPUs, which weft does not have."""

from weft._src.namespace import lazily as _lazily

__getattr__, __dir__ = _lazily(globals(), "tf.tpu", "", ["experimental"])
