"""The signatures of a SavedModel: functions with named inputs and outputs."""

import collections.abc

from weft._src.framework.tensor import Tensor
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function, function
from weft._src.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft._src.trackable.base import Trackable

DEFAULT_ATTRIBUTE = "_default_save_signature"


class SignatureMap(collections.abc.Mapping, Trackable):
    """Signatures by key."""

    def __init__(self):
        self._signatures = {}

    def _add_signature(self, name, concrete_function):
        self._signatures[name] = concrete_function

    def __getitem__(self, key):
        return self._signatures[key]

    def __iter__(self):
        return iter(self._signatures)

    def __len__(self):
        return len(self._signatures)

    def __repr__(self):
        return f"_SignatureMap({self._signatures})"

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return dict(self._signatures) if save_type == "savedmodel" else {}


def concrete_of(candidate):
    """The trace of a function with an input signature, or a trace itself; None for what cannot be a signature."""
    if isinstance(candidate, Function) and candidate.input_signature is not None:
        return candidate.get_concrete_function()
    return candidate if isinstance(candidate, ConcreteFunction) else None


def inputs_of(concrete):
    """(name, TensorSpec) of each tensor argument."""
    from weft._src.framework.type_spec import TensorSpec

    specs = []
    for name, (_, spec) in zip(concrete._arg_keywords, concrete._types.specs()):
        if not isinstance(spec, TensorSpec):
            raise ValueError(
                f"Unable to serialize concrete_function '{concrete.name.decode()}' as a signature: it takes {spec}. Functions that expect tf.Variable "
                "inputs cannot be exported as signatures."
            )
        specs.append((name, TensorSpec(spec.shape, spec.dtype, name)))
    return specs


def _is_result(v):
    from weft._src.framework.type_spec import TypeSpec

    return isinstance(v, (Tensor, TypeSpec)) or getattr(type(v), "_is_composite", False)


def outputs_of(result, function_name, key):
    """What a function gave as a dict of tensors."""
    if isinstance(result, collections.abc.Mapping):
        for k, v in result.items():
            if not isinstance(k, str):
                raise ValueError(
                    f"Got a dictionary with a non-string key {k!r} in the output of the function {function_name} used to generate the SavedModel "
                    f"signature {key!r}."
                )
            if not _is_result(v):
                raise ValueError(
                    f"Got a non-Tensor value {v!r} for key {k!r} in the output of the function {function_name} used to generate the SavedModel "
                    f"signature {key!r}. Outputs for functions used as signatures must be a single Tensor, a sequence of Tensors, or a "
                    "dictionary from string to Tensor."
                )
        return dict(result)
    items = list(result) if isinstance(result, (list, tuple)) else [result]
    for i, v in enumerate(items):
        if not _is_result(v):
            raise ValueError(
                f"Got a non-Tensor value {v!r} for key 'output_{i}' in the output of the function {function_name} used to generate the SavedModel "
                f"signature {key!r}. Outputs for functions used as signatures must be a single Tensor, a sequence of Tensors, or a dictionary "
                "from string to Tensor."
            )
    return {f"output_{i}": v for i, v in enumerate(items)}


def _is_valid(concrete):
    if concrete.structured_outputs is None:
        return False
    try:
        inputs_of(concrete)
        outputs_of(concrete.structured_outputs, concrete.name.decode(), "")
    except ValueError:
        return False
    return True


def find_default(children):
    """The function that is the default signature where none was given: the one with an input signature, if there is just one."""
    if DEFAULT_ATTRIBUTE in children:
        return concrete_of(children[DEFAULT_ATTRIBUTE])
    candidates = []
    for child in children.values():
        if isinstance(child, (Function, ConcreteFunction)):
            concrete = concrete_of(child)
            if concrete is not None and _is_valid(concrete):
                candidates.append(concrete)
    return candidates[0] if len(candidates) == 1 else None


def canonical(signatures):
    """key -> ConcreteFunction with keyword arguments and a dict of results, for what tf.saved_model.save was given."""
    if signatures is None:
        return {}
    if not isinstance(signatures, collections.abc.Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _wrapped(key, candidate) for key, candidate in signatures.items()}


def _wrapped(key, candidate):
    if isinstance(candidate, Function) and candidate.input_signature is None:
        known = candidate._list_all_concrete_functions()
        concrete = None if not getattr(candidate, "_restored", False) or len(known) != 1 else known[0]
    else:
        concrete = concrete_of(candidate)
    if concrete is None:
        raise ValueError(
            f"Expected a TensorFlow function for which to generate a signature, but got {candidate}. Only `tf.functions` with an input signature or "
            "concrete functions can be used as a signature."
        )
    specs = inputs_of(concrete)
    name = concrete.name.decode()

    def signature_wrapper(**kwargs):
        return outputs_of(concrete._call_tensors([kwargs[n] for n, _ in specs]), name, key)

    wrapper = function(signature_wrapper, autograph=False).get_concrete_function(**dict(specs))
    wrapper._signature_names = [n for n, _ in specs]
    return wrapper
