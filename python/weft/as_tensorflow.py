"""Importing this makes `tensorflow` mean weft in this process: `import tensorflow`, `import tensorflow.compat.v1 as tf`, `from tensorflow.math import add`.

Classes then say that they come from the modules where TensorFlow has them, which programs test for."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

import weft
from weft._src import public_modules as _public_modules

# Packages of modules that are messages.
EMPTY = {
    "tensorflow.core",
    "tensorflow.core.example",
    "tensorflow.core.framework",
    "tensorflow.core.lib",
    "tensorflow.core.lib.core",
    "tensorflow.core.protobuf",
    "tensorflow.core.util",
}
# Where TensorFlow has modules of its own, which libraries import although they are not public.
PRIVATE = ("tensorflow.python", "tensorflow.compiler", "tensorflow.tools")


class _Alias(importlib.abc.Loader):
    """Gives a module that is there already under another name."""

    def __init__(self, module):
        self.module, self.spec = module, getattr(module, "__spec__", None)

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec


class _Renaming(importlib.machinery.SourceFileLoader):
    """Loads one of our modules and gives its classes TensorFlow's names."""

    def exec_module(self, module):
        super().exec_module(module)
        _public_modules.rename(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith("weft._src.") and fullname.removeprefix("weft._src.") in _public_modules.CLASSES:
            spec = importlib.machinery.PathFinder.find_spec(fullname, path)
            spec.loader = _Renaming(fullname, spec.origin)
            return spec
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            return None
        if fullname in EMPTY:
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
    if fullname.endswith("_pb2"):
        found = importlib.import_module("weft._src.proto").generated_module(fullname)
        if found is not None or not fullname.startswith("tensorflow.python."):
            return found
    if ".".join(fullname.split(".")[:2]) in PRIVATE:
        from weft._src import tensorflow as private

        return private.find(fullname)
    if fullname.startswith("tensorflow.keras."):
        from weft._src import keras_package

        return keras_package.load(below=fullname.removeprefix("tensorflow.keras"))
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
    for name in _public_modules.CLASSES:
        if "weft._src." + name in sys.modules:
            _public_modules.rename(sys.modules["weft._src." + name])
    from weft._src.framework import errors

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
