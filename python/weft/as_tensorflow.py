"""Importing this makes `tensorflow` mean weft in this process: `import tensorflow`, `import tensorflow.compat.v1 as tf`, `from tensorflow.math import add`.

Classes then say that they come from the modules where TensorFlow has them, which programs test for."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

import weft
from weft._src import reported as _reported

# TensorFlow's own modules that programs import although they are not public -> ours.
PRIVATE = {
    "tensorflow.python.framework.dtypes": "weft._src.framework.dtypes",
    "tensorflow.python.framework.errors_impl": "weft._src.framework.errors",
    "tensorflow.python.framework.errors": "weft._src.framework.errors",
    "tensorflow.python.framework.tensor_shape": "weft._src.framework.tensor_shape",
    "tensorflow.python.framework.ops": "weft._src.framework.graph",
    "tensorflow.python.util.nest": "weft._src.framework.nest",
    "tensorflow.python.trackable.base": "weft._src.trackable.base",
    "tensorflow.python.trackable.autotrackable": "weft._src.trackable.autotrackable",
    "tensorflow.python.trackable.data_structures": "weft._src.trackable.data_structures",
    "tensorflow.python.framework.convert_to_constants": "weft._src.saved_model.freeze",
    "tensorflow.python.framework.config": "weft._src.framework.config",
    "tensorflow.python.framework.type_spec_registry": "weft._src.framework.type_spec_registry",
}
# Of others programs (and Keras) want a few names: each with our module and name.
NAMES = {
    "tensorflow.compiler.tf2xla.python.xla": {
        "dynamic_update_slice": ("weft._src.ops.private_ops", "dynamic_update_slice")
    },
    "tensorflow.python.data.experimental.ops.distribute": {
        "compute_batch_size": ("weft._src.data.structure", "compute_batch_size")
    },
    "tensorflow.python.eager.context": {
        name: ("weft._src.framework.eager_context", name)
        for name in (
                "async_clear_error", "async_wait", "check_alive", "context", "ensure_initialized", "executing_eagerly",
                "get_server_def", "set_server_def", "update_server_def", "_reset_context",
            )
    },
    "tensorflow.python.framework.tensor_util": {
        "is_tf_type": ("weft._src.framework.tensor", "is_tf_type"),
        "is_tensor": ("weft._src.framework.tensor", "is_tf_type"),
        "constant_value": ("weft._src.framework.static_value", "get_static_value"),
        "constant_value_as_shape": ("weft._src.framework.static_value", "constant_value_as_shape"),
    },
    "tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        name: ("weft._src.ops.private_ops", name)
        for name in (
            "csr_sparse_matrix_to_sparse_tensor",
            "sparse_matrix_sparse_mat_mul",
            "sparse_tensor_to_csr_sparse_matrix",
        )
    },
    "tensorflow.python.saved_model.nested_structure_coder": {
        "can_encode": ("weft._src.saved_model.structured", "can_encode"),
        "decode_proto": ("weft._src.saved_model.structured", "decode"),
        "encode_structure": ("weft._src.saved_model.structured", "encode"),
        "NotEncodableError": ("weft._src.saved_model.structured", "NotEncodableError"),
    },
    "tensorflow.python.types.core": {
        "Tensor": ("weft._src.framework.tensor", "AnyTensor"),
        "TensorLike": ("weft._src.function.types", "TensorLike"),
    },
    "tensorflow.python.ops.math_ops": {"is_nan": ("weft.math", "is_nan")},
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

# The same for classes that are ours under other names.
for _module in _reported.CLASSES:
    for _ours, _theirs, _name in _reported.classes(_module):
        NAMES.setdefault(_theirs, {})[_name] = (f"weft._src.{_module}", _ours)
EMPTY |= {_name.rsplit(".", _n)[0] for _name in NAMES for _n in range(1, _name.count("."))}


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
        _reported.rename(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith("weft._src.") and fullname.removeprefix("weft._src.") in _reported.CLASSES:
            spec = importlib.machinery.PathFinder.find_spec(fullname, path)
            spec.loader = _Renaming(fullname, spec.origin)
            return spec
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
        return importlib.import_module("weft._src.proto")
    if fullname in NAMES:
        return _of_names(fullname)
    if fullname.startswith("tensorflow.keras."):
        importlib.import_module("weft.keras")
        return importlib.import_module("keras._tf_keras." + fullname.removeprefix("tensorflow."))
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


def _of_names(fullname):
    """A module of TensorFlow of which we have only some names."""

    def find(name):
        if name not in NAMES[fullname]:
            raise AttributeError(f"module {fullname!r} has no attribute {name!r}")
        own, ours = NAMES[fullname][name]
        return getattr(importlib.import_module(own), ours)

    module = type(sys)(fullname)
    module.__getattr__ = find
    return module


def _report():
    for name in _reported.CLASSES:
        if "weft._src." + name in sys.modules:
            _reported.rename(sys.modules["weft._src." + name])
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
