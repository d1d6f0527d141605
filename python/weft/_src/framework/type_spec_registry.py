"""Specs by name: what SavedModels write for those that the format does not know by itself."""

import importlib
import re

_by_name, _names = {}, {}
_VALID = re.compile(r"^(\w+\.)+\w+$")
# Where the package's own specs are registered: such a module is loaded when a name of it is asked for.
_OWN = {
    "tf.AnonymousExtensionType.Spec": "weft._src.framework.anonymous_extension",
    "tf.DynamicRaggedShape.Spec": "weft._src.ops.ragged.dynamic_shape",
    "tf.RaggedTensorSpec": "weft._src.ops.ragged.spec",
    "tf.RowPartitionSpec": "weft._src.ops.ragged.row_partition",
    "tf.SparseTensorSpec": "weft._src.ops.sparse_tensor",
    "tf.TensorArraySpec": "weft._src.ops.tensor_array",
}


def _check(cls):
    from weft._src.framework.type_spec import TypeSpec

    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")


def register(name):
    """The decorated spec class is saved under a name like "package.Class"."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _VALID.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); "
            f"got {name!r}."
        )

    def decorator(cls):
        _check(cls)
        if cls in _names:
            raise ValueError(
                f"Class {cls.__module__}.{cls.__name__} has already been registered with name {_names[cls]}."
            )
        if name in _by_name:
            known = _by_name[name]
            raise ValueError(f"Name {name} has already been registered for class {known.__module__}.{known.__name__}.")
        _by_name[name], _names[cls] = cls, name
        return cls

    return decorator


def get_name(cls):
    _check(cls)
    if cls not in _names:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _names[cls]


def lookup(name):
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _by_name and name in _OWN:
        importlib.import_module(_OWN[name])
    if name not in _by_name and name.startswith("tf.linalg."):
        importlib.import_module("weft._src.ops.linear_operator_spec").by_name(name)
    if name not in _by_name:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _by_name[name]
