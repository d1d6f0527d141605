"""tf.compat.v1.gfile"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
compat.v1.gfile: Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory ListDirectory MakeDirs MkDir Open Remove Rename Stat Walk
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compat.v1.gfile", _MODULES)
