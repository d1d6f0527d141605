"""tf.__internal__.train"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
trackable.checkpoint_files: update_checkpoint_state=update_checkpoint_state_internal
internal.mixed_precision: is_mixed_precision_graph_rewrite_enabled set_using_mixed_precision_policy
internal.utilities: assign_moving_average
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.train", _MODULES, ())
