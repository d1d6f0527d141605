"""tf.__internal__.saved_model.load"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.revived_types: VersionedTypeRegistration get_setter register_revived_type registered_identifiers
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.saved_model.load", _MODULES, ())
