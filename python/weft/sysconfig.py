"""tf.sysconfig: how to build against this library."""

import os as _os

from weft._missing import missing

CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 202002, 0


def get_build_info():
    """What this build is for: CPUs alone."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def get_include():
    """The folder of the C and C++ headers."""
    return _os.path.join(_os.path.dirname(__file__), "include")


def get_lib():
    """The folder of the library."""
    return _os.path.dirname(__file__)


def get_compile_flags():
    """Flags for compilers."""
    return ["-I" + get_include(), f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++20"]


def get_link_flags():
    """Flags for linkers."""
    return ["-L" + get_lib(), "-l:libweft.so"]


__getattr__ = missing("tf.sysconfig")
