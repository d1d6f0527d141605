"""Importing this makes `tensorflow` mean weft in this process: `import tensorflow`, `import tensorflow.compat.v1 as tf`, `from tensorflow.math import add`.

Classes then say that they come from the modules where TensorFlow has them, which programs test for."""

import importlib
import importlib.abc
import importlib.util
import sys

import weft

# TensorFlow's own modules that programs import although they are not public -> ours.
PRIVATE = {
    "tensorflow.python.framework.dtypes": "weft.framework.dtypes",
    "tensorflow.python.framework.errors_impl": "weft.framework.errors",
    "tensorflow.python.framework.errors": "weft.framework.errors",
    "tensorflow.python.framework.tensor_shape": "weft.framework.tensor_shape",
    "tensorflow.python.framework.ops": "weft.framework.graph",
    "tensorflow.python.util.nest": "weft.framework.nest",
    "tensorflow.python.trackable.base": "weft.trackable.base",
    "tensorflow.python.trackable.autotrackable": "weft.trackable.autotrackable",
    "tensorflow.python.trackable.data_structures": "weft.trackable.data_structures",
    "tensorflow.python.framework.convert_to_constants": "weft.saved_model.freeze",
}
# Packages between those that have nothing of their own.
EMPTY = {name.rpartition(".")[0] for name in PRIVATE} | {
    "tensorflow.python",
    "tensorflow.core",
    "tensorflow.core.framework",
    "tensorflow.core.protobuf",
    "tensorflow.core.example",
    "tensorflow.core.util",
}

# class -> module that it reports.
REPORTED = {
    "weft.framework.tensor:EagerTensor": "tensorflow.python.framework.ops",
    "weft.framework.tensor:SymbolicTensor": "tensorflow.python.framework.ops",
    "weft.framework.tensor:Tensor": "tensorflow.python.framework.tensor",
    "weft.framework.graph:Graph": "tensorflow.python.framework.ops",
    "weft.framework.graph:Operation": "tensorflow.python.framework.ops",
    "weft.framework.graph:FuncGraph": "tensorflow.python.framework.func_graph",
    "weft.framework.dtypes:DType": "tensorflow.python.framework.dtypes",
    "weft.framework.tensor_shape:TensorShape": "tensorflow.python.framework.tensor_shape",
    "weft.framework.type_spec:TensorSpec": "tensorflow.python.framework.tensor",
    "weft.function.function:Function": "tensorflow.python.eager.polymorphic_function.polymorphic_function",
    "weft.function.concrete:ConcreteFunction": "tensorflow.python.eager.polymorphic_function.concrete_function",
}


class _Alias(importlib.abc.Loader):
    """Gives a module that is there already under another name."""

    def __init__(self, module):
        self.module, self.spec = module, getattr(module, "__spec__", None)

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            return None
        if fullname in EMPTY and fullname not in PRIVATE:
            return importlib.util.spec_from_loader(fullname, _Empty(), is_package=True)
        module = _find(fullname)
        return None if module is None else importlib.util.spec_from_loader(fullname, _Alias(module), is_package=True)


class _Empty(importlib.abc.Loader):
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__path__ = []


def _find(fullname):
    if fullname == "tensorflow":
        return weft
    if fullname in PRIVATE:
        return importlib.import_module(PRIVATE[fullname])
    if fullname.startswith("tensorflow.core.") and fullname.endswith("_pb2"):
        return importlib.import_module("weft.proto")
    name = fullname.removeprefix("tensorflow.")
    name = name.removeprefix("_api.v2.").removeprefix("compat.v2.")
    try:
        return importlib.import_module("weft." + name)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("weft"):
            value = weft
            for part in name.split("."):
                value = getattr(value, part, None)
            return value if isinstance(value, type(sys)) else None
        raise


def _report():
    for where, module in REPORTED.items():
        own, _, name = where.partition(":")
        getattr(importlib.import_module(own), name).__module__ = module
    from weft.framework import errors

    for cls in [
        errors.OpError,
        *errors._registered.values(),
        errors.OperatorNotAllowedInGraphError,
        errors.InaccessibleTensorError,
    ]:
        cls.__module__ = "tensorflow.python.framework.errors_impl"


if not any(isinstance(f, _Finder) for f in sys.meta_path):
    sys.meta_path.insert(0, _Finder())
    sys.modules["tensorflow"] = weft
    _report()
