"""Variables. tensorflow-probability, tf-keras."""

from weft import _weft
from weft._src.framework.type_spec import VariableSpec  # noqa: F401
from weft._src.internal.utilities import is_resource_variable  # noqa: F401
from weft._src.trackable.variable import Variable as BaseResourceVariable  # noqa: F401


def _variable_handle_from_shape_and_dtype(shape, dtype, shared_name, name, graph_mode, initial_value=None):
    from weft._src.raw import raw

    return raw.VarHandleOp(shape=shape, dtype=dtype, shared_name="" if not graph_mode else shared_name, name=name)


def variable_accessed(variable):
    """Tells the tapes that a variable is used."""
    if isinstance(variable, _weft.VariableBase):
        variable._accessed() if hasattr(variable, "_accessed") else None
