"""What a SavedModel says of functions: their parameters, and the structures of their traces."""

import collections
import inspect

from weft._src.framework import nest
from weft._src.framework.tensor import Tensor
from weft._src.saved_model import structured

FullArgSpec = collections.namedtuple(
    "FullArgSpec", ["args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations"]
)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def full_arg_spec(signature):
    """inspect.Signature in the form of inspect.getfullargspec."""
    parameters = list(signature.parameters.values())
    named = {
        kind: next((p.name for p in parameters if p.kind is kind), None)
        for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    defaults = tuple(p.default for p in positional if p.default is not p.empty)
    only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    only_defaults = {p.name: p.default for p in only if p.default is not p.empty}
    return FullArgSpec(
        [p.name for p in positional],
        named[inspect.Parameter.VAR_POSITIONAL],
        named[inspect.Parameter.VAR_KEYWORD],
        defaults or None,
        [p.name for p in only],
        only_defaults or None,
        {},
    )


def signature_of(spec):
    """inspect.Signature of a FullArgSpec."""
    parameters = []
    defaults = list(spec.defaults or ())
    first = len(spec.args) - len(defaults)
    for i, name in enumerate(spec.args):
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=defaults[i - first] if i >= first else inspect.Parameter.empty,
            )
        )
    if spec.varargs:
        parameters.append(inspect.Parameter(spec.varargs, inspect.Parameter.VAR_POSITIONAL))
    for name in spec.kwonlyargs or ():
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=(spec.kwonlydefaults or {}).get(name, inspect.Parameter.empty),
            )
        )
    if spec.varkw:
        parameters.append(inspect.Parameter(spec.varkw, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


_JIT = {None: 0, True: 1, False: 2}


def of_function(spec):
    """(parameters, input signature, whether it is compiled) of a tf.function, as the engine takes them."""
    signature = None if spec.input_signature is None else tuple(spec.input_signature)
    return (
        structured.tree_of(full_arg_spec(spec.signature)),
        structured.tree_of(signature),
        _JIT.get(spec.jit_compile, 0),
    )


def of_trace(concrete):
    """The same of one trace: the parameters that it has."""
    args = [n for n, k in zip(concrete._types.names, concrete._types.kinds) if k in _POSITIONAL]
    only = [n for n, k in zip(concrete._types.names, concrete._types.kinds) if k not in _POSITIONAL]
    return structured.tree_of(FullArgSpec(args, None, None, None, only, None, {})), None, 0


def output_specs(structure):
    """What a trace gives, with specs for tensors; each is named by its place."""
    from weft._src.framework.type_spec import TensorSpec, TypeSpec

    if isinstance(structure, (Tensor, TensorSpec)):
        return TensorSpec(structure.shape, structure.dtype, "unknown")

    def spec(path, value):
        if isinstance(value, (Tensor, TensorSpec)):
            return TensorSpec(value.shape, value.dtype, "_".join(str(p) for p in path))
        if value is None or isinstance(value, TypeSpec):
            return value
        return value._type_spec

    return nest.map_structure_with_tuple_paths(spec, structure)
