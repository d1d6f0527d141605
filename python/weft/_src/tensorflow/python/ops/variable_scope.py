"""Variables by name. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
trackable.variable: variable_creator_scope
compat.v1.variables: get_variable variable_scope get_variable_scope VariableScope
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.ops.variable_scope", _MODULES, otherwise=_absent)
