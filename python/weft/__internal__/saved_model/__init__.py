"""tf.__internal__.saved_model"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
compat.v1.saved_model: SavedModelBuilder
saved_model.structured: decode_proto=decode encode_structure=encode
internal.saved_model: load_partial parse_saved_model
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.saved_model", _MODULES, ["load"])
