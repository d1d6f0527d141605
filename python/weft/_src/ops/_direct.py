"""Functions of the API that are one op each, made from a table, and the name scopes that composed functions open in graphs."""

import contextlib
import functools

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dispatch, dtypes, graph


def define(namespace, table):
    """Puts a function into `namespace` for each line "name Op parameters", e.g. "negative Neg x".

    Without an op it is the one of that name: "bessel_i0 x" is BesselI0. A parameter may have a default, and the op may
    call it otherwise: "axis>dimension=0". "Op/name": what nodes of graphs are called.
    """
    for line in table.strip().splitlines():
        name, _, rest = line.partition(" ")
        op = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
        if rest[:1].isupper():
            op, _, rest = rest.partition(" ")
        op, _, called = op.partition("/")
        given, passed = [], []
        for parameter in filter(None, (p.strip() for p in rest.split(", "))):
            public, _, default = parameter.partition("=")
            public, _, own = public.partition(">")
            given.append(f"{public}={default}" if default else public)
            passed.append(f"{own or public}={public}")
        if "name" not in given and not any(p.startswith("name=") for p in given):
            given.append("name=None")
            passed.append(f"name=name or _in_graph() and {called!r} or None" if called else "name=name")
        made = {}
        source = f"def {name}({', '.join(given)}):\n    return _raw.{op}({', '.join(passed)})"
        exec(
            compile(source, __file__, "exec"), {"_raw": raw, "_in_graph": _weft.in_graph, "dtypes": dtypes}, made
        )  # a file of the package: messages leave its lines out
        function = made[name]
        function.__doc__ = f"The op {op}."
        function.__module__ = namespace["__name__"]
        function._op_name, function._op_arguments = (
            op,
            {own: public.partition(" ")[0] for own, _, public in (p.partition("=") for p in passed)},
        )
        namespace[name] = function
        dispatch.op_functions.setdefault(op, function)


@functools.lru_cache(maxsize=4096)
def vector(*numbers):
    """A vector of plain int32 numbers; those of shapes and axes come again and again."""
    return _weft.convert_native(numbers, dtypes.int32)


class _NoScope:
    """Eagerly a scope is only the name that the caller gave."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self.name

    def __exit__(self, *error):
        return None


def scope(name, default):
    """`with scope(name, "Add") as name`: in a graph a name scope, whose name the last op of the block takes."""
    if not _weft.in_graph():
        return _NoScope(name)
    return graph._graph_name_scope(_weft.current_graph(), name or default)


@contextlib.contextmanager
def outside_of_graph():
    """Ops of the block run at once, even while a function is traced."""
    _weft.enter_eager()
    try:
        yield
    finally:
        _weft.exit_graph()
