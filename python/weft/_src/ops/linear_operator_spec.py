"""The specs of tf.linalg.LinearOperator*: with them operators are arguments and results of functions, loops and SavedModels."""

import importlib

from weft._src.framework import nest, type_spec_registry
from weft._src.framework.convert import constant_value
from weft._src.framework.extension_type import _spec_of
from weft._src.framework.tensor import Tensor
from weft._src.framework.type_spec import BatchableTypeSpec, TypeSpec

# Arguments of constructors that are kept as plain values where they are known.
_STATIC = ("num_rows", "num_columns", "batch_shape")
_PREFIX = "tf.linalg."
_classes = {}


class _LinearOperatorSpec(BatchableTypeSpec):
    """The arguments of an operator's constructor: specs for tensors, all else as it is."""

    def __init__(self, param_specs, non_tensor_params, prefer_static_fields):
        self._param_specs, self._non_tensor_params = param_specs, non_tensor_params
        self._prefer_static_fields = prefer_static_fields

    @classmethod
    def from_operator(cls, operator):
        specs, others = {}, {}
        for name, value in _arguments(operator).items():
            spec = nest.map_structure(_spec_of, value) if isinstance(value, (list, tuple)) else _spec_of(value)
            tensors = [isinstance(s, TypeSpec) for s in nest.flatten(spec)]
            if tensors and all(tensors):
                specs[name] = spec
            elif not any(tensors):
                others[name] = value
            else:
                raise NotImplementedError(f"Field {name} contains a mix of `Tensor` and  non-`Tensor` values.")
        return cls(specs, others, tuple(n for n in _STATIC if n in operator.parameters))

    def _serialize(self):
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    @property
    def _component_specs(self):
        return self._param_specs

    def _to_components(self, value):
        given = _arguments(value)
        return {name: given[name] for name in self._param_specs}

    def _from_components(self, components):
        return self.value_type(**self._non_tensor_params, **components)

    def _batch(self, batch_size):
        specs = nest.map_structure(lambda s: s._batch(batch_size), self._param_specs)
        return type(self)(specs, self._non_tensor_params, self._prefer_static_fields)

    def _unbatch(self):
        specs = nest.map_structure(lambda s: s._unbatch(), self._param_specs)
        return type(self)(specs, self._non_tensor_params, self._prefer_static_fields)


def _arguments(operator):
    """What the constructor would make this operator of; the name does not count."""
    found = {}
    for name, given in sorted(operator.parameters.items()):
        if name in ("name", "parameters", "graph_parents"):
            continue
        value = getattr(operator, name, getattr(operator, "_" + name, given))
        if name in _STATIC:
            value = given
            if isinstance(value, Tensor):
                known = constant_value(value)
                value = value if known is None else known
        found[name] = value.tolist() if hasattr(value, "tolist") and not isinstance(value, Tensor) else value
    return found


def spec_class(cls):
    """The spec's class for a class of operators."""
    if cls not in _classes:
        made = type(f"{cls.__name__}Spec", (_LinearOperatorSpec,), {"value_type": cls, "__module__": __name__})
        _classes[cls] = made
        if cls.__module__.startswith(("weft._src.ops.", "tensorflow.python.ops.")):
            type_spec_registry.register(f"{_PREFIX}{made.__name__}")(made)
    return _classes[cls]


def by_name(name):
    """The class for a registered name, or None."""
    if not name.startswith(_PREFIX + "LinearOperator") or not name.endswith("Spec"):
        return None
    cls = getattr(importlib.import_module("weft.linalg"), name.removeprefix(_PREFIX).removesuffix("Spec"), None)
    return None if cls is None else spec_class(cls)
