"""tf.__internal__.distribute"""

from weft._src.distribute.context import strategy_supports_no_merge_call, variable_sync_on_read_context  # noqa: F401
from weft.__internal__.distribute import interim  # noqa: F401
from weft._src.distribute.sharded_variable import ShardedVariable  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.distribute")
