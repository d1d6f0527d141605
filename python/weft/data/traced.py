"""Functions of the user's, traced for a transformation."""

import re

from weft import _weft
from weft.data import structure
from weft.framework.graph import FuncGraph
from weft.framework.type_spec import TensorSpec


class TracedFunction:
    """`function` traced for elements of `input_spec`: what an op of the engine needs to call it."""

    def __init__(self, function, transformation, input_spec, use_autograph=True):
        if not callable(function):
            raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")
        name = re.sub(r"[^A-Za-z0-9_]", "_", getattr(function, "__name__", type(function).__name__))
        self._graph = FuncGraph(f"Dataset_{transformation}_{name}".replace("Dataset_Dataset", "Dataset"))
        from weft import autograph

        ctx = autograph.control_status_ctx()
        with self._graph.as_default():
            arguments = [self._argument(i, s) for i, s in enumerate(structure.flat_tensor_specs(input_spec))]
            element = (
                structure.from_tensors(input_spec, arguments) if arguments or structure.flatten(input_spec) else ()
            )
            converted = autograph.tf_convert(function, ctx) if use_autograph else function
            result = converted(*element) if _unpacks(input_spec) else converted(element)
            if isinstance(result, list):
                result = tuple(result)
            result = self._normalized(result, transformation)
            self.output_spec = structure.spec_of(result)
            outputs = [_weft.current_graph().capture(t) for t in structure.to_tensors(self.output_spec, result)]
        self.concrete = _weft.ConcreteFunction.make(self._graph, outputs)
        self.captures = self.concrete.captures()
        self._kept = result if any(hasattr(leaf, "_variant_tensor") for leaf in structure.flatten(result)) else None

    def _argument(self, i, spec):
        return self._graph._native.add_argument(f"args_{i}", spec.dtype, spec.shape)

    @staticmethod
    def _normalized(result, transformation):
        try:
            return structure.normalize(result)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"Unsupported return value from function passed to Dataset.{transformation}(): {result}."
            ) from error

    @property
    def name(self):
        return self.concrete.name


def _unpacks(spec):
    """Whether the function gets the parts of an element as arguments of their own."""
    return type(spec) is tuple or (isinstance(spec, tuple) and not hasattr(spec, "_fields"))


def scalar_bool(traced, what, but=", but its return type is "):
    spec = traced.output_spec
    if isinstance(spec, tuple):
        raise AttributeError("'tuple' object has no attribute 'is_compatible_with'")
    if not (isinstance(spec, TensorSpec) and spec.dtype.name == "bool" and spec.shape.rank in (0, None)):
        raise ValueError(f"Invalid `{what}`. `{what}` must return a `tf.bool` scalar tensor{but}{spec}.")
