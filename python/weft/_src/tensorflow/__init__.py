"""TensorFlow's private modules, for libraries that import them: `tensorflow.python.util.nest` is found here when `tensorflow` means weft.

A name of such a module is, in this order: what the file of the same place below this folder has; an attribute of our module in `ALIASES`; a class that we
have under another name (public_modules.py); the public name that TensorFlow has for it (exports.py); an op, in the modules of ops. README.md says what is there."""

import functools
import importlib
import importlib.util
import types

from weft._src import public_modules

PREFIX = "tensorflow."

# Modules of theirs that one of ours stands for.
ALIASES = {
    "python.autograph.impl.api": "weft.autograph",
    "python.autograph.converters.break_statements": "malt.converters.break_statements",
    "python.autograph.converters.continue_statements": "malt.converters.continue_statements",
    "python.autograph.converters.return_statements": "malt.converters.return_statements",
    "python.autograph.core.converter": "malt.core.converter",
    "python.autograph.pyct.anno": "malt.pyct.anno",
    "python.autograph.pyct.cfg": "malt.pyct.cfg",
    "python.autograph.pyct.common_transformers.anf": "malt.pyct.common_transformers.anf",
    "python.autograph.pyct.error_utils": "malt.pyct.error_utils",
    "python.autograph.pyct.errors": "malt.pyct.errors",
    "python.autograph.pyct.inspect_utils": "malt.pyct.inspect_utils",
    "python.autograph.pyct.loader": "malt.pyct.loader",
    "python.autograph.pyct.naming": "malt.pyct.naming",
    "python.autograph.pyct.origin_info": "malt.pyct.origin_info",
    "python.autograph.pyct.parser": "malt.pyct.parser",
    "python.autograph.pyct.pretty_printer": "malt.pyct.pretty_printer",
    "python.autograph.pyct.qual_names": "malt.pyct.qual_names",
    "python.autograph.pyct.static_analysis.activity": "malt.pyct.static_analysis.activity",
    "python.autograph.pyct.static_analysis.liveness": "malt.pyct.static_analysis.liveness",
    "python.autograph.pyct.static_analysis.reaching_definitions": "malt.pyct.static_analysis.reaching_definitions",
    "python.autograph.pyct.templates": "malt.pyct.templates",
    "python.autograph.pyct.transformer": "malt.pyct.transformer",
    "python.autograph.pyct.transpiler": "malt.pyct.transpiler",
    "python.checkpoint.checkpoint": "weft._src.trackable.checkpoint",
    "python.data.util.nest": "weft._src.framework.nest",
    "python.eager.backprop": "weft._src.gradients.tape",
    "python.eager.context": "weft._src.framework.eager_context",
    "python.framework.config": "weft._src.framework.config",
    "python.framework.convert_to_constants": "weft._src.saved_model.freeze",
    "python.framework.dtypes": "weft._src.framework.dtypes",
    "python.framework.errors": "weft._src.framework.errors",
    "python.framework.errors_impl": "weft._src.framework.errors",
    "python.framework.extension_type": "weft._src.framework.extension_type",
    "python.framework.indexed_slices": "weft._src.framework.indexed_slices",
    "python.framework.ops": "weft._src.framework.graph",
    "python.framework.sparse_tensor": "weft._src.ops.sparse_tensor",
    "python.framework.tensor_shape": "weft._src.framework.tensor_shape",
    "python.framework.tensor_spec": "weft._src.framework.type_spec",
    "python.framework.test_util": "weft._src.framework.test_util",
    "python.framework.tensor": "weft._src.framework.type_spec",
    "python.framework.type_spec": "weft._src.framework.type_spec",
    "python.framework.type_spec_registry": "weft._src.framework.type_spec_registry",
    "python.ops.confusion_matrix": "weft._src.ops.weights",
    "python.ops.lookup_ops": "weft._src.ops.lookup_ops",
    "python.ops.resource_variable_ops": "weft._src.trackable.variable",
    "python.ops.weights_broadcast_ops": "weft._src.ops.weights",
    "python.platform.gfile": "weft._src.framework.gfile",
    "python.platform.test": "weft._src.framework.test_util",
    "python.platform.tf_logging": "weft.compat.v1.logging",
    "python.trackable.autotrackable": "weft._src.trackable.autotrackable",
    "python.trackable.base": "weft._src.trackable.base",
    "python.trackable.data_structures": "weft._src.trackable.data_structures",
    "python.trackable.resource": "weft._src.trackable.resource",
    "python.training.tracking.base": "weft._src.trackable.base",
    "python.training.tracking.data_structures": "weft._src.trackable.data_structures",
    "python.util.compat": "weft._src.compat.compat",
    "python.util.nest": "weft._src.framework.nest",
}


def absent(name):
    """For files below this folder: the name may be found elsewhere (`_value`)."""
    raise AttributeError(name)


@functools.cache
def _classes():
    """{module: {name: (our module, our name)}} of the classes that say they come from there."""
    table = {}
    for module in public_modules.CLASSES:
        for ours, theirs, name in public_modules.classes(module):
            table.setdefault(theirs.removeprefix(PREFIX), {})[name] = (f"weft._src.{module}", ours)
    return table


@functools.cache
def _exports():
    """{module: text of its names}."""
    from weft._src.tensorflow.exports import TEXT

    table = {}
    for line in TEXT.split("\n"):
        module, _, names = line.partition(":")
        table[module] = table.get(module, "") + names
    return table


@functools.cache
def _public(module):
    """{name: public name} of one module."""
    pairs = (entry.partition("=") for entry in _exports().get(module, "").split())
    return {name: public or name for name, _, public in pairs}


@functools.cache
def _packages():
    """The modules that have others below them."""
    found = set()
    for name in (*ALIASES, *_classes(), *_exports(), "python.ops.gen_array_ops"):
        while "." in name:
            name = name.rpartition(".")[0]
            found.add(name)
    return found


def _is_ops(module):
    return module.startswith("python.ops.gen_")


def _own(module):
    """The file for it below this folder, or None."""
    name = f"{__name__}.{module}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            return None
        raise


def find(fullname):
    """The private module `tensorflow.`..., or None where there is none of this name."""
    module = fullname.removeprefix(PREFIX)
    own = _own(module)
    if own is None and not (
        module in ALIASES or module in _classes() or module in _exports() or module in _packages() or _is_ops(module)
    ):
        return None
    sources = [own] if own is not None else []
    if module in ALIASES:
        sources.append(importlib.import_module(ALIASES[module]))
    made = PrivateModule(fullname, getattr(own, "__doc__", None), module, sources)
    for name in _classes().get(module, ()):  # who loads a class by its module and name looks into the dictionary
        getattr(made, name)
    return made


class PrivateModule(types.ModuleType):
    """A private module. What others put into it replaces what weft itself uses, until they delete it: tests of libraries mock functions so."""

    def __init__(self, fullname, doc, module, sources):
        super().__init__(fullname, doc)
        self.__dict__.update(__path__=[], _module=module, _sources=sources, _replaced={})

    def __getattr__(self, name):
        place = _place(self._module, self._sources, name)
        if place is None and f"{self._module}.{name}" in _exports():
            raise AttributeError(
                name
            )  # a module below this one, which may be called as an op: distributions.multinomial
        value = _op(self._module, name) if place is None else getattr(*place)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name, value):
        place = _place(self._module, self._sources, name)
        if place is not None and not name.startswith("__") and not isinstance(value, types.ModuleType):
            self._replaced.setdefault(name, getattr(*place))
            setattr(*place, value)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._replaced:
            setattr(*_place(self._module, self._sources, name), self._replaced.pop(name))
        super().__delattr__(name)

    def __dir__(self):
        names = set(_public(self._module)) | set(_classes().get(self._module, ()))
        return sorted(names.union(*(dir(source) for source in self._sources)))


_ABSENT = object()


def _place(module, sources, name):
    """Where a private module's name is found: (our module, our name), or None."""
    for source in sources:
        if getattr(source, name, _ABSENT) is not _ABSENT:
            return source, name
    if name in _classes().get(module, ()):
        ours, own = _classes()[module][name]
        return importlib.import_module(ours), own
    if name in _public(module):
        return _public_place(_public(module)[name])
    return None


def _op(module, name):
    """An op that a private module of ops has by this name."""
    if module.startswith("python.ops.") and not name.startswith("__"):
        from weft._src.tensorflow.generated_ops import find_op

        op = find_op(name)
        if op is not None:
            return op
    raise AttributeError(f"module {PREFIX + module!r} has no attribute {name!r}")


def _public_place(public):
    """A public name's module and its name there, or None; what version 1 took over from version 2 may be known there alone."""
    import weft

    for path in (public, public.removeprefix("compat.v1.")):
        *modules, leaf = path.split(".")
        holder = weft
        for part in modules:
            holder = getattr(holder, part, _ABSENT)
        if getattr(holder, leaf, _ABSENT) is not _ABSENT:
            return holder, leaf
    return None


def public_value(name):
    """What a public name is, or None."""
    place = _public_place(name)
    return None if place is None else getattr(*place)


@functools.cache
def _by_leaf():
    """{last part of a name: the public names that it may be of}."""
    table = {}
    for module in _exports():
        for name, public in _public(module).items():
            for leaf in {name, public.rpartition(".")[2]}:
                table.setdefault(leaf, []).append(public)
    return table


def public_name(symbol):
    """TensorFlow's name for a function or class of ours, or None."""
    for public in _by_leaf().get(getattr(symbol, "__name__", None), ()):
        if public_value(public) is symbol:
            return public
    return None
