"""tf.__internal__.train"""

from weft._src.trackable.checkpoint_files import update_checkpoint_state  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.train")
