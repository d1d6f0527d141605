"""tf.sysconfig: how to build against this library."""

import os as _os

from weft._src.namespace import missing

CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 202002, 0


def get_build_info():
    """What this build is for: CPUs alone."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def _folder(part):
    import weft

    return next((f for f in weft.__path__ if _os.path.exists(_os.path.join(f, part))), weft.__path__[0])


def get_include():
    """The folder of TensorFlow's C and C++ headers."""
    return _os.path.join(_folder("include"), "include")


def get_lib():
    """The folder of the library."""
    from weft import _weft

    return _os.path.dirname(_weft.__file__)


def get_compile_flags():
    """Flags for compilers. The second folder has abseil's names, so that nobody has to link abseil."""
    folders = ["-I" + get_include(), "-isystem" + _os.path.join(get_include(), "tensorflow", "fallback")]
    return [*folders, f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++20"]


def get_link_flags():
    """Flags for linkers: no library, since one of ops finds the C API in the process that loads it."""
    return ["-L" + get_lib()]


__getattr__ = missing("tf.sysconfig")
