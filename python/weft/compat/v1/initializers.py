"""tf.compat.v1.initializers: first values of variables."""

from weft._src.compat.v1.version_2 import namespace as _namespace
from weft._src.compat.v1.initializers import (  # noqa: F401
    constant,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    identity,
    lecun_normal,
    lecun_uniform,
    ones,
    orthogonal,
    random_normal,
    random_uniform,
    truncated_normal,
    variance_scaling,
    zeros,
)

_MODULES = """
compat.v1.initializers: uniform_unit_scaling=UniformUnitScaling
compat.v1.variables: global_variables=global_variables_initializer local_variables=local_variables_initializer
compat.v1.variables: variables=variables_initializer tables_initializer
"""

__getattr__, __dir__ = _namespace(globals(), "initializers", _MODULES)
