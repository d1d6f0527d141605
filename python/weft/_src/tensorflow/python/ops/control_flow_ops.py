"""Branches, loops and their contexts. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
internal.graphs: get_enclosing_xla_context with_dependencies
function.control_flow: cond group while_loop
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.ops.control_flow_ops", _MODULES, otherwise=_absent)
