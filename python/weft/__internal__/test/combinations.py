"""tf.__internal__.test.combinations"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.combinations: NamedObject OptionalParameter ParameterModifier TestCombination combine generate times
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.test.combinations", _MODULES, ())
