"""tf.xla.experimental"""

from weft._src.namespace import lazily as _lazily

__getattr__, __dir__ = _lazily(globals(), "tf.xla.experimental", "internal.xla: compile=compile_ jit_scope")
