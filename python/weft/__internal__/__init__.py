"""tf.__internal__: what libraries that build on TensorFlow use of its inside."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
framework.composite: CompositeTensor
internal.keras_deps: register_call_context_function register_clear_session_function register_get_session_function register_load_model_function
internal.graphs: create_c_op execute_fn_for_device get_enclosing_xla_context is_tfrt_enabled lift_to_graph
internal.saved_model: load_context
framework.graph: FuncGraph
framework.tensor: EagerTensor SymbolicTensor
internal.utilities: get_name_scope record_gradient
"""
_SPACES = (
    "autograph decorator dispatch distribute eager_context feature_column function graph_util mixed_precision monitoring nest ops saved_model smart_cond test tf2 "
    "tracking train types"
)

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__", _MODULES, _SPACES.split())
