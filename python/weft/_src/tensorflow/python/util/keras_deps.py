"""What a Keras that is a package of its own registers. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
internal.keras_deps: get_call_context_function get_clear_session_function get_get_session_function get_load_model_function
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.util.keras_deps", _MODULES, otherwise=_absent)
