"""Functions of the user's, traced for a transformation."""

import re

from weft import _weft
from weft._src.data import structure
from weft._src.framework.graph import FuncGraph
from weft._src.framework.type_spec import TensorSpec

debugging = False  # set by tf.data.experimental.enable_debug_mode


class TracedFunction:
    """`function` traced for elements of `input_spec`: what an op of the engine needs to call it."""

    def __init__(self, function, transformation, input_spec, use_autograph=True):
        if not callable(function):
            raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")
        self._function = function  # held with its dataset: an object's variables and tables live as long as the object
        self._trace(function, transformation, input_spec, use_autograph)
        if debugging and use_autograph and structure.flat_tensor_specs(self.output_spec):
            spec = self.output_spec
            self._trace(_as_python(function, input_spec, spec), transformation, input_spec, False)
            self.output_spec = spec

    def _trace(self, function, transformation, input_spec, use_autograph):
        name = re.sub(r"[^A-Za-z0-9_]", "_", getattr(function, "__name__", type(function).__name__))
        self._graph = FuncGraph(f"Dataset_{transformation}_{name}".replace("Dataset_Dataset", "Dataset"))
        self._graph._native.may_create_variables = True  # as far as the graphs around allow it
        self._graph._of_dataset = True
        from weft._src import autograph

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


def _as_python(function, input_spec, output_spec):
    """A function of graphs that runs the given one as Python code, on the values of each element."""
    flat = structure.flat_tensor_specs(output_spec)
    kept = []  # datasets that were made: the engine knows their Python functions by name only

    def run(*tensors):
        element = structure.from_tensors(input_spec, tensors)
        result = function(*element) if _unpacks(input_spec) else function(element)
        result = tuple(result) if isinstance(result, list) else result
        kept.extend(leaf for leaf in structure.flatten(result) if hasattr(leaf, "_variant_tensor"))
        return structure.to_tensors(output_spec, structure.normalize(result))

    def call(*element):
        from weft._src.function.py_func import py_function

        inputs = structure.to_tensors(input_spec, element if _unpacks(input_spec) else element[0])
        made = list(py_function(func=run, inp=inputs, Tout=[s.dtype for s in flat]))
        for tensor, spec in zip(made, flat):
            tensor.set_shape(spec.shape)
        return structure.from_tensors(output_spec, made)

    return call


def _unpacks(spec):
    """Whether the function gets the parts of an element as arguments of their own."""
    return type(spec) is tuple or (isinstance(spec, tuple) and not hasattr(spec, "_fields"))


def scalar_bool(traced, what, but=", but its return type is "):
    spec = traced.output_spec
    if isinstance(spec, tuple):
        raise AttributeError("'tuple' object has no attribute 'is_compatible_with'")
    if not (isinstance(spec, TensorSpec) and spec.dtype.name == "bool" and spec.shape.rank in (0, None)):
        raise ValueError(f"Invalid `{what}`. `{what}` must return a `tf.bool` scalar tensor{but}{spec}.")
