"""tf.__internal__.saved_model"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
compat.v1.saved_model: SavedModelBuilder
internal.saved_model: decode_proto encode_structure load_partial parse_saved_model
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.saved_model", _MODULES, ["load"])
