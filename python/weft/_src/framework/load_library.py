"""Libraries of ops, kernels and file systems that programs bring, by TensorFlow's C API."""

import errno
import hashlib
import os
import platform
import sys
import types

from weft import _weft

_loaded = {}  # file -> its module


def _function(op):
    """The op as TensorFlow's generated functions are: arguments by place or by name, and a name."""
    from weft._src.ops import raw_ops

    raw = raw_ops._RawOp(op)

    def call(*args, **kwargs):
        if not kwargs and least <= len(args) <= most:
            return op(*args)  # nothing to check: as quick as an op of the engine
        if (
            len(args) > len(names)
            or not (required <= {*kwargs, *names[: len(args)]})
            or not kwargs.keys() <= public[len(args)]
        ):
            signature.bind(*args, **kwargs)  # says what is wrong
        kwargs.update(zip(names, args))
        return op(**{raw.own_name(k): v for k, v in kwargs.items()} if renamed else kwargs)

    signature = call.__signature__ = raw.__signature__
    names = tuple(signature.parameters)
    most = len(names) - 1  # without the name
    least = max((i + 1 for i, p in enumerate(signature.parameters.values()) if p.default is p.empty), default=0)
    required = {p.name for p in signature.parameters.values() if p.default is p.empty}
    renamed = any(raw.own_name(n) != n for n in names)
    public = [set(names[i:]) for i in range(len(names) + 1)]  # what may be given by name behind i arguments
    call.__name__ = call.__qualname__ = op.__name__
    call._op_name, call._op_arguments = op.op_name, {raw.own_name(n): n for n in names}  # for dispatch
    call.__doc__ = op.__doc__ or f"The op {op.op_name}."
    return call, raw


def load_op_library(library_filename):
    """Loads a library; a module with a function for each op that it adds."""
    path = os.fspath(library_filename)
    file = os.path.realpath(path) if os.path.exists(path) else path
    if file in _loaded:
        return _loaded[file]
    names = _weft.load_library(path)
    module = types.ModuleType(hashlib.sha1("\n".join([file, *names]).encode()).hexdigest())
    module._IS_TENSORFLOW_PLUGIN = True
    for name in names:
        op = _weft.op(name)
        function, raw = _function(op)
        setattr(module, op.__name__, function)
        setattr(module, name.replace(">", "_"), raw)
    sys.modules[module.__name__] = _loaded[file] = module
    return module


def _is_shared_object(name):
    return name.endswith((".so", ".dylib", ".dll") if platform.system() != "Linux" else ".so") or ".so." in name


def _missing(what, location):
    raise FileNotFoundError(errno.ENOENT, f"The file {what} does not exist.", location)


def load_library(library_location):
    """Loads a library of kernels, or all of a folder."""
    if not os.path.exists(library_location):
        _missing("or folder to load kernel libraries from", library_location)
    if not os.path.isdir(library_location):
        _weft.load_library(os.fspath(library_location))
        return
    for name in sorted(os.listdir(library_location)):
        if _is_shared_object(name):
            _weft.load_library(os.path.join(library_location, name))


def load_pluggable_device_library(library_location):
    """Loads a plug-in with devices, their kernels, graph optimizers and profilers, or all of a folder."""
    if not os.path.exists(library_location):
        _missing("or folder to load pluggable device libraries from", library_location)
    if not os.path.isdir(library_location):
        _weft.load_pluggable_device_library(os.fspath(library_location))
        return
    for name in sorted(os.listdir(library_location)):
        if _is_shared_object(name):
            _weft.load_pluggable_device_library(os.path.join(library_location, name))


def register_filesystem_plugin(plugin_location):
    """Loads a library with file systems."""
    if not os.path.exists(plugin_location):
        _missing("to load file system plugin from", plugin_location)
    _weft.register_filesystem_plugin(os.fspath(plugin_location))
