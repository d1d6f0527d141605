"""CompositeTensor: values made of several tensors, which functions, loops and datasets take apart and put together."""

import abc

from weft._src.framework import nest


class CompositeTensor(metaclass=abc.ABCMeta):
    """The base of ragged, sparse and extension types: `_type_spec` says what it is made of."""

    _is_composite = True
    _is_tensor_like = False  # tf.is_tensor: ragged and sparse tensors and slices say True

    @property
    @abc.abstractmethod
    def _type_spec(self):
        """A TypeSpec that takes this value apart."""

    def _shape_invariant_to_type_spec(self, shape):
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def _consumers(self):
        """The operations of the graph that use a part of this value."""
        found = []
        for part in nest.flatten(self, expand_composites=True):
            found.extend(op for op in part.consumers() if op not in found)
        return found

    def __tf_tracing_type__(self, context):
        return self._type_spec

    def _convert_variables_to_tensors(self):
        return self


def is_composite_or_composite_value(tensor):
    return getattr(type(tensor), "_is_composite", False)


def replace_composites_with_components(structure):
    """The structure with lists of tensors in place of composite values."""
    if is_composite_or_composite_value(structure):
        return replace_composites_with_components(structure._type_spec._to_components(structure))
    if not nest.is_nested(structure):
        return structure
    return nest.map_structure(replace_composites_with_components, structure)
