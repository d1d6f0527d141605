"""weft: TensorFlow 2's API on weft's engine.

    import weft as tf

Names are loaded when they are first used; `_src/top_level.py` says where each is."""

import os as _os
import sys as _sys

# A tree that is being worked on finds the extension where it was built.
if _os.environ.get("WEFT_EXTENSION_DIR"):
    __path__.append(_os.environ["WEFT_EXTENSION_DIR"])

from weft import _weft  # noqa: E402
from weft._src.framework import _hooks, numpy_import as _numpy_import  # noqa: E402,F401
from weft._src import namespace as _namespace, top_level as _top_level  # noqa: E402

__version__ = "2.21.0"
__git_version__ = _weft.version()
newaxis = None
_names = _namespace.names(_top_level.MODULES)
_namespaces = _top_level.namespaces(__path__)


def __getattr__(name):
    import importlib

    found = _names.get(name)
    if found is not None:
        value = getattr(importlib.import_module("weft._src." + found[0]), found[1])
    elif name in _namespaces:
        value = importlib.import_module("weft." + name)
    elif name in _top_level.OF_KERAS:
        value = getattr(importlib.import_module("weft.keras"), name)
    else:
        value = _namespace.missing("tf")(name)
    globals()[name] = value
    return value


def _load_installed_plugins():
    """Those of site-packages/tensorflow-plugins, as TensorFlow does it when it is imported."""
    site = _sys.modules.get("site")
    folders = [p for p in _sys.path if "site-packages" in p]
    if site is not None and site.ENABLE_USER_SITE and site.USER_SITE:
        folders.append(site.USER_SITE)
    for folder in dict.fromkeys(_os.path.join(f, "tensorflow-plugins") for f in folders):
        if _os.path.isdir(folder):
            from weft._src.framework.load_library import load_pluggable_device_library

            load_pluggable_device_library(folder)


_load_installed_plugins()


def __dir__():
    return sorted({*_names, *_namespaces, *_top_level.OF_KERAS, "newaxis", "__version__"})
