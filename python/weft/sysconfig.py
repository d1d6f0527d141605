"""tf.sysconfig: how to build against this library."""

from weft._src.framework.sysconfig import (  # noqa: F401
    __getattr__,
    CXX11_ABI_FLAG,
    CXX_VERSION,
    MONOLITHIC_BUILD,
    get_build_info,
    get_compile_flags,
    get_include,
    get_lib,
    get_link_flags,
)
