"""The parameters of a function: binding of calls, types of a trace, and their text."""

import functools
import inspect
import logging
import re

from weft._src.function import trace_type

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _CapturedDefault:
    def __repr__(self):
        return "<captured_default_value>"


CAPTURED_DEFAULT = _CapturedDefault()


class FunctionType(inspect.Signature):
    """Parameters with their types as annotations, what the function gives, and what it captured."""

    def __init__(self, parameters=(), captures=None, return_annotation=inspect.Signature.empty):
        super().__init__(parameters, return_annotation=return_annotation)
        self._captures = captures or {}

    @property
    def captures(self):
        return self._captures

    @property
    def output(self):
        return None if self.return_annotation is self.empty else self.return_annotation

    @property
    def types(self):
        return [p.annotation for p in self.parameters.values()]

    @property
    def flat_inputs(self):
        return [s for t in self.types for s in t.specs()]

    def __repr__(self):
        return pretty(self)

    def __hash__(self):
        return hash(tuple(self.parameters))


def bind_error(text, args, kwargs, signature):
    return TypeError(
        f"Binding inputs to tf.function failed due to `{text}`. Received args: {args} and kwargs: {kwargs} for signature: {signature}."
    )


def parameter_name(name):
    """As a name of a node may be."""
    return (
        re.sub(r"[^A-Za-z0-9_.\\\-/]", "_", name)
        if name and (name[0].isalnum() or name[0] == ".")
        else "arg_" + name
        if name
        else "arg"
    )


_NODE_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


def argument_name(spec_name, parameter):
    """The name of the node of an argument: that of its TensorSpec where it has one."""
    if not spec_name:
        return parameter_name(parameter)
    if _NODE_NAME.match(spec_name):
        return spec_name
    logging.getLogger("tensorflow").warning(
        "`%s` is not a valid node name. Accepted names conform to Regex /%s/", spec_name, _NODE_NAME
    )
    return "Placeholder"


def signature_of(function):
    """inspect.signature of what tf.function was given; of a partial, without what it fixed by position, and fixed keywords as defaults."""
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        any_arguments = [
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ]
        return inspect.Signature(any_arguments)


class FunctionSpec:
    """What is known of a Python function's parameters. `signature` has the defaults; `input_signature` fixes the types."""

    def __init__(self, python_function, input_signature=None, name="f", jit_compile=None, bound_self=False):
        self.python_function, self.input_signature, self.name, self.jit_compile = (
            python_function,
            input_signature,
            name,
            jit_compile,
        )
        signature = signature_of(python_function)
        parameters = list(signature.parameters.values())
        if bound_self:
            parameters = parameters[1:]
        self.signature = inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in parameters])
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.fixed = None if input_signature is None else self._fixed_types(input_signature)

    @property
    def arg_names(self):
        return [p.name for p in self.signature.parameters.values() if p.kind in _POSITIONAL]

    @property
    def vararg_name(self):
        return next((p.name for p in self.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)

    @property
    def fullargspec(self):
        return inspect.getfullargspec(self.python_function)

    @property
    def is_method(self):
        return inspect.ismethod(self.python_function)

    @functools.cached_property
    def function_type(self):
        """The signature as errors show it."""
        if self.fixed is not None:
            given = len(self.input_signature)
            defaults = [
                CAPTURED_DEFAULT if n in self.defaults and i >= given else inspect.Parameter.empty
                for i, (n, _, _) in enumerate(self.fixed)
            ]
            return FunctionType(
                [inspect.Parameter(n, k, annotation=t, default=d) for (n, k, t), d in zip(self.fixed, defaults)]
            )
        return FunctionType(
            [
                p.replace(default=CAPTURED_DEFAULT) if p.default is not p.empty else p
                for p in self.signature.parameters.values()
            ]
        )

    def _fixed_types(self, given):
        types = [trace_type.type_of(s) for s in given]
        out = []
        parameters = list(self.signature.parameters.values())
        if (
            parameters and parameters[0].name == "self"
        ):  # a method in its class: the signature is of the arguments behind
            parameters = parameters[1:]
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                out += [(f"{p.name}_{i}", p.POSITIONAL_ONLY, t) for i, t in enumerate(types)]
                # What stands before *args can only be given by position then.
                out = [(n, p.POSITIONAL_ONLY, t) for n, _, t in out]
                types = []
            elif p.kind in _POSITIONAL:
                if types:
                    out.append((p.name, p.kind, types.pop(0)))
                elif p.default is p.empty:
                    raise TypeError(f"input_signature missing type constraint for {p.name}")
                else:
                    out.append((p.name, p.kind, trace_type.type_of(p.default)))
            elif p.kind is p.KEYWORD_ONLY:
                if p.default is p.empty:
                    raise TypeError(
                        f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a default value"
                    )
                out.append((p.name, p.kind, trace_type.type_of(p.default)))
        if types:
            raise TypeError(f"input_signature contains {len(types)} extra type constraints.")
        return out

    def bind(self, args, kwargs):
        """(name, kind, value) of each argument, defaults filled in; arguments of *args and **kwargs are named one by one."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as e:
            raise bind_error(e, args, kwargs, self.function_type) from e
        out = []
        for p in self.signature.parameters.values():
            if p.kind is p.VAR_POSITIONAL:
                extra = bound.arguments.get(p.name, ())
                out = [(n, p.POSITIONAL_ONLY, v) for n, _, v in out]
                out += [(f"{p.name}_{i}", p.POSITIONAL_ONLY, v) for i, v in enumerate(extra)]
            elif p.kind is p.VAR_KEYWORD:
                out += [(k, p.KEYWORD_ONLY, v) for k, v in sorted(bound.arguments.get(p.name, {}).items())]
            else:
                out.append((p.name, p.kind, bound.arguments[p.name] if p.name in bound.arguments else p.default))
        return out

    def types_of(self, bound):
        context = trace_type.Context()
        return Types((n, k, trace_type.type_of(v, context)) for n, k, v in bound)

    def cast(self, types, bound, args, kwargs, signature=None):
        """The values as the types want them."""
        try:
            return [t.cast(v) for t, (_, _, v) in zip(types.types, bound)]
        except Exception as e:
            raise bind_error(e, args, kwargs, signature or self.function_type) from e


class Types:
    """The types of a call's arguments, as the key of a trace."""

    __slots__ = ("names", "kinds", "types", "order", "repeated", "_hash")

    def __init__(self, parameters):
        parameters = list(parameters)
        self.names = tuple(p[0] for p in parameters)
        self.kinds = tuple(p[1] for p in parameters)
        self.types = tuple(p[2] for p in parameters)
        self._hash = hash((self.names, self.types))
        # Tensors are in the order of parameters, those that are only keywords by name.
        only = [i for i, k in enumerate(self.kinds) if k is inspect.Parameter.KEYWORD_ONLY]
        self.order = [i for i in range(len(self.names)) if i not in only] + sorted(only, key=lambda i: self.names[i])
        self.repeated = self._repeated()

    def _repeated(self):
        """Positions among the tensors of variables that were there before: they are one argument."""
        seen, out = set(), set()
        for i, spec in enumerate(s for at in self.order for s in self.types[at].specs()):
            alias = getattr(spec, "alias", None)
            if alias is not None:
                (out if alias in seen else seen).add(i if alias in seen else alias)
        return out

    def is_subtype_of(self, other):
        return self.names == other.names and all(a.is_subtype_of(b) for a, b in zip(self.types, other.types))

    def common(self, other):
        if self.names != other.names:
            return None
        made = [a.common(b) for a, b in zip(self.types, other.types)]
        return None if any(m is None for m in made) else Types(zip(self.names, self.kinds, made))

    def specs(self):
        """(parameter, spec) of each tensor."""
        found = [(self.names[i], s) for i in self.order for s in self.types[i].specs()]
        return [f for i, f in enumerate(found) if i not in self.repeated] if self.repeated else found

    def flatten(self, values):
        out = []
        for i in self.order:
            self.types[i].flatten(values[i], out)
        return [t for i, t in enumerate(out) if i not in self.repeated] if self.repeated else out

    def placeholders(self, take):
        """(args, kwargs) to trace with; take(parameter, spec) gives a tensor or variable."""
        args, kwargs = [], {}
        for n, k, t in [(self.names[i], self.kinds[i], self.types[i]) for i in self.order]:
            value = t.placeholder(lambda spec, n=n: take(n, spec))
            if k is inspect.Parameter.KEYWORD_ONLY:
                kwargs[n] = value
            else:
                args.append(value)
        return tuple(args), kwargs

    def structured(self):
        args, kwargs = [], {}
        for n, k, t in zip(self.names, self.kinds, self.types):
            if k is inspect.Parameter.KEYWORD_ONLY:
                kwargs[n] = t.named(n)
            else:
                args.append(t.named(n))
        return tuple(args), kwargs

    def function_type(self, output, captures):
        return FunctionType(
            [inspect.Parameter(n, k, annotation=t) for n, k, t in zip(self.names, self.kinds, self.types)],
            captures,
            output,
        )

    def __eq__(self, other):
        return self._hash == other._hash and self.names == other.names and self.types == other.types

    def __hash__(self):
        return self._hash


def output_type(structure):
    """What a function gives, as a type."""
    return trace_type.type_of(structure)


def pretty(function_type):
    lines = ["Input Parameters:"]
    lines += [f"  {p.name} ({p.kind.name}): {p.annotation!r}" for p in function_type.parameters.values()]
    lines += ["Output Type:", f"  {function_type.return_annotation!r}", "Captures:"]
    lines += [f"  {n}: {t!r}" for n, t in function_type.captures.items()] or ["  None"]
    return "\n".join(lines)
