"""Functions made from lines of text: version 1's name and parameters, and where version 2 has them.

    transpose(a, perm=None, name='transpose', conjugate=False)
    strings.to_number(string_tensor=None, out_type=tf.float32, name=None, input=None) :string_tensor>input
    arg_max(input, dimension, output_type=tf.int64, name=None) =argmax :dimension>axis

`=path` is version 2's name where it is another; `a>b` passes the argument a as b (of several for one b, one may be given); `-a` drops it. None is not passed. Without a target
the line is a function or class that is not there (`unsupported`)."""

import re

from weft._src.framework import dispatch


def scope():
    """What defaults in the lines may name."""
    import weft
    from weft._src import unsupported_enums as enums

    return {"tf": weft, "enums": enums}


def parse(text):
    """{path: (parameters, target, {parameter: passed as or None})} of the lines."""
    table = {}
    for line in text.strip().splitlines():
        path, parameters, rest = re.fullmatch(r"([\w.]+)\((.*)\)([^()]*)", line).groups()
        target, passed = path, {}
        for word in rest.split():
            if word[0] == "=":
                target = word[1:]
            elif word[0] == "-":
                passed[word[1:]] = None
            else:
                old, _, new = word.lstrip(":").partition(">")
                passed[old] = new
        table[path] = (parameters, target, passed)
    return table


def names_of(parameters):
    """The names in a list of parameters."""
    import inspect

    return list(inspect.signature(eval(f"lambda {parameters}: None", scope())).parameters)


def rearranged(path, parameters, target, passed):
    """A function with these parameters that calls `target`."""
    own = names_of(parameters)
    groups = {}
    for name in own:
        to = passed.get(name, name)
        if to is not None:
            groups.setdefault(to, []).append(name)
    calls = []
    for to, sources in groups.items():
        sources.sort(key=lambda name: name not in passed)  # former names first
        value = sources[0] if len(sources) == 1 else f"_one({', '.join(f'{s!r}, {s}' for s in sources)})"
        calls.append(f"{to}={value}")
    name = path.rpartition(".")[2]
    names = {**scope(), "_target": target, "_one": _one, "_call": _call}
    exec(f"def {name}({parameters}):\n    return _call(_target, {', '.join(calls)})", names)
    made = names[name]
    made.__doc__ = target.__doc__
    made.__module__ = __name__
    return dispatch.dispatchable(made)


def _call(_target, **arguments):
    """Arguments that were left at None have the target's defaults."""
    return _target(**{name: value for name, value in arguments.items() if value is not None})


def _one(name, value, *others):
    """The value of an argument that has several names."""
    for other, given in zip(others[::2], others[1::2]):
        if given is not None:
            if value is not None:
                raise ValueError(f"Cannot specify both '{name}' and '{other}'.")
            name, value = other, given
    return value


def unsupported(path, parameters, reason):
    """A function or, for a capital letter, a class that says what is missing when it is called."""
    name = path.rpartition(".")[2]
    names = {**scope(), "_refuse": _refuse}
    text = f"{path} is not supported: {reason}"
    if name[0].isupper():
        own = f"self, {parameters}" if parameters else "self"
        exec(f"class {name}:\n    def __init__({own}):\n        _refuse({text!r})", names)
    else:
        exec(f"def {name}({parameters}):\n    _refuse({text!r})", names)
    made = names[name]
    made.__doc__, made.__module__, made.__unsupported__ = text, __name__, True
    for attribute, value in names["enums"].ATTRIBUTES.get(path.replace("compat.v1.", ""), {}).items():
        setattr(made, attribute, value)
    return made


def _refuse(text):
    from weft._src.framework import errors

    raise errors.UnimplementedError(None, None, text)
