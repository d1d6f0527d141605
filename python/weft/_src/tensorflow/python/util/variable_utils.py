"""Variables in structures as their values. tensorflow-probability."""

from weft import _weft
from weft._src.framework import composite, nest


def convert_variables_to_tensors(values):
    """The structure with the values of its variables; composite values convert what they hold."""

    def convert(value):
        if isinstance(value, _weft.VariableBase):
            from weft._src.framework.convert import convert_to_tensor

            return convert_to_tensor(value)
        if composite.is_composite_or_composite_value(value):
            return value._convert_variables_to_tensors()
        return value

    return nest.map_structure(convert, values)


def replace_variables_with_atoms(values):
    """The structure with 0 in place of each variable."""
    return nest.map_structure(lambda value: 0 if isinstance(value, _weft.VariableBase) else value, values)
