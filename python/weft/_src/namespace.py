"""How a public namespace finds its names: in modules of weft/_src, which are loaded when a name is first used."""

import importlib


def missing(namespace):
    """The `__getattr__` of a namespace that has all its names: what refuses (unsupported.py), or TensorFlow's error for names that are not there."""
    module = "tensorflow" if namespace == "tf" else namespace.replace("tf.", "tensorflow._api.v2.", 1)

    def __getattr__(name):
        from weft._src import unsupported

        found = None if name.startswith("__") else unsupported.find(f"{namespace}.{name}")
        if found is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return found

    return __getattr__


def names(text):
    """{public name: (module below weft._src, its name there)} of lines "module: name public=own ..."."""
    table = {}
    for line in text.split("\n"):
        module, _, listed = line.partition(":")
        for name in listed.split():
            public, _, own = name.partition("=")
            table[public] = (module, own or public)
    return table


def lazily(scope, namespace, text, spaces=(), otherwise=None):
    """`__getattr__` and `__dir__` of a module with these globals, for names as `names` lists them. `spaces` are modules below it; `otherwise` finds all other
    names, or raises."""
    table = names(text)
    otherwise = otherwise or missing(namespace)

    def __getattr__(name):
        found = table.get(name)
        if found is not None:
            value = getattr(importlib.import_module("weft._src." + found[0]), found[1])
        elif name in spaces:
            value = importlib.import_module(f"{scope['__name__']}.{name}")
        elif name.startswith("__"):
            raise AttributeError(name)
        else:
            value = otherwise(name)
        scope[name] = value
        return value

    def __dir__():
        from weft._src import unsupported

        return sorted({*table, *spaces, *unsupported.names(namespace)})

    return __getattr__, __dir__
