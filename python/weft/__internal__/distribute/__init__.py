"""tf.__internal__.distribute"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
distribute.context: strategy_supports_no_merge_call variable_sync_on_read_context
distribute.sharded_variable: ShardedVariable
"""

__getattr__, __dir__ = _lazily(
    globals(), "tf.__internal__.distribute", _MODULES, ["combinations", "interim", "multi_process_runner"]
)
