"""Dataset.from_generator: elements that Python code yields, one call for each."""

import itertools

import numpy as np

from weft._src.raw import raw
from weft._src.data import structure
from weft._src.data.traced import TracedFunction
from weft._src.framework import dtypes, fork
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.type_spec import TensorSpec, TypeSpec


class _State:
    """The generators that are being read, by number."""

    def __init__(self, generator):
        self._generator = generator
        self._lock = fork.lock()
        self._numbers = itertools.count()
        self._iterators = {}
        self._arguments = {}

    def start(self, *arguments):
        with self._lock:
            number = next(self._numbers)
            self._iterators[number] = None
            self._arguments[number] = arguments
        return number

    def next(self, number):
        iterator = self._iterators[number]
        if iterator is None:
            iterator = self._iterators[number] = iter(self._generator(*self._arguments.pop(number)))
        return next(iterator)

    def end(self, number):
        with self._lock:
            self._iterators.pop(number, None)


def _signature(output_types, output_shapes, output_signature):
    if output_signature is not None:
        if output_types is not None:
            raise TypeError(
                "The `output_types` argument can not be used together with the `output_signature` argument."
            )
        if output_shapes is not None:
            raise TypeError(
                "The `output_shapes` argument can not be used together with the `output_signature` argument."
            )
        for spec in structure.flatten(output_signature):
            if not isinstance(spec, TypeSpec):
                raise TypeError(
                    f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found {type(spec)} which is not."
                )
        return output_signature
    if output_types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` argument or the `output_types` argument."
        )
    if output_shapes is None:
        return structure.map_leaves(lambda t: TensorSpec(TensorShape(None), dtypes.as_dtype(t)), output_types)
    shapes = _flat_shapes(output_types, output_shapes)
    return structure.pack(
        output_types, [TensorSpec(s, dtypes.as_dtype(t)) for t, s in zip(structure.flatten(output_types), shapes)]
    )


def _flat_shapes(types, shapes):
    if isinstance(types, dict):
        return [s for key in sorted(types) for s in _flat_shapes(types[key], shapes[key])]
    if isinstance(types, tuple):
        return [s for t, part in zip(types, shapes) for s in _flat_shapes(t, part)]
    return [as_shape(shapes)]


def from_generator(generator, output_types, output_shapes, args, output_signature):
    from weft._src.data.dataset import make

    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    spec = _signature(output_types, output_shapes, output_signature)
    arguments = tuple(convert_to_tensor(a) for a in (args or ()))
    state = _State(generator)
    flat = structure.flat_tensor_specs(spec)
    int64 = TensorSpec([], dtypes.int64)

    def start(*values):
        return _call(
            lambda *v: [convert_to_tensor(state.start(*[x.numpy() for x in v]), dtypes.int64)], values, [dtypes.int64]
        )[0]

    def following(number):
        tensors = _call(lambda n: _tensors(state.next(int(n)), spec), [number], [s.dtype for s in flat])
        for tensor, part in zip(tensors, flat):
            tensor.set_shape(part.shape)
        return structure.from_tensors(spec, tensors)

    def end(number):
        def close(n):
            state.end(int(n))
            return [convert_to_tensor(0, dtypes.int64)]

        return _call(close, [number], [dtypes.int64])[0]

    init = TracedFunction(start, "init", tuple(TensorSpec(a.shape, a.dtype) for a in arguments), use_autograph=False)
    next_ = TracedFunction(following, "next", int64, use_autograph=False)
    final = TracedFunction(end, "finalize", int64, use_autograph=False)
    variant = raw.GeneratorDataset(
        init_func_other_args=[*arguments, *init.captures],
        next_func_other_args=next_.captures,
        finalize_func_other_args=final.captures,
        init_func=init,
        next_func=next_,
        finalize_func=final,
        **structure.types_and_shapes(spec),
    )
    made = make("_FlatMapDataset", variant, spec, functions=[init, next_, final])
    made._state = state
    return made


def _call(code, inputs, types):
    """Python code on tensors, in the graph of one of the three functions."""
    from weft._src.function.py_func import py_function

    return list(py_function(func=code, inp=list(inputs), Tout=types))


def _tensors(value, spec):
    """What the generator yielded, as tensors of the types and shapes that were promised."""
    parts = structure.flatten(spec)
    plain = all(isinstance(part, TensorSpec) for part in parts)
    out = []
    try:
        leaves = structure.flatten_up_to(spec, value)
        tensors = [
            [leaf] if isinstance(part, TensorSpec) else part._to_tensor_list(structure.normalize(leaf))
            for leaf, part in zip(leaves, parts)
        ]
    except (TypeError, ValueError) as error:
        expected = structure.legacy(spec, "types") if plain else spec
        raise TypeError(
            f"`generator` yielded an element that did not match the expected structure. The expected structure was {expected}, but the yielded element was {value}."
        ) from error
    for made, part in zip(tensors, parts):
        out.extend([_checked(made[0], part, plain)] if isinstance(part, TensorSpec) else made)
    return out


def _checked(leaf, part, plain):
    try:
        tensor = _tensor(leaf, part.dtype, plain)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`generator` yielded an element that could not be converted to the expected type. The expected type was {part.dtype.name}, but the yielded element was {leaf}."
        ) from error
    if not part.shape.is_compatible_with(tensor.shape):
        raise TypeError(
            f"`generator` yielded an element of shape {tensor.shape} where an element of shape {part.shape} was expected."
        )
    return tensor


def _tensor(leaf, dtype, plain):
    try:
        return convert_to_tensor(leaf, dtype)
    except (TypeError, ValueError):
        if not plain or dtype == dtypes.string:
            raise
        # TensorFlow gives elements without composite values to NumPy.
        return convert_to_tensor(np.asarray(leaf, dtype.as_numpy_dtype))
