"""Bases of linear operators. tensorflow-probability."""


def make_composite_tensor(cls, module_name="tf.linalg"):
    """A class of linear operators whose spec has a name, for SavedModels; all are composite values."""
    from weft._src.framework import type_spec_registry
    from weft._src.ops.linear_operator_spec import spec_class

    spec = spec_class(cls)
    if spec not in type_spec_registry._names:
        type_spec_registry.register(f"{module_name}.{spec.__name__}")(spec)
    return cls
