"""tf.experimental: names are loaded when they are first used."""

import importlib

from weft._missing import missing as _missing

_MODULES = {
    "weft.data.iterator": "Optional",
    "weft.ops.ragged.row_partition": "RowPartition",
    "weft.ops.structured_tensor": "StructuredTensor",
    "weft.ops.ragged.dynamic_shape": "DynamicRaggedShape",
    "weft.framework.asynchrony": "async_clear_error async_scope enable_strict_mode function_executor_type",
    "weft.framework.dtypes": "float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz int2 int4 uint2 uint4",
    "weft.framework.load_library": "register_filesystem_plugin",
    "weft.framework.extension_type": "ExtensionType BatchableExtensionType ExtensionTypeSpec ExtensionTypeBatchEncoder",
    "weft.framework.dispatch_api": "dispatch_for_api dispatch_for_unary_elementwise_apis "
    "dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis "
    "unregister_dispatch_for",
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_SUBMODULES = {"dlpack", "dtensor", "extension_type", "numpy"}
_no_such = _missing("tf.experimental")


def __getattr__(name):
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    elif name in _SUBMODULES:
        value = importlib.import_module("weft.experimental." + name)
    else:
        return _no_such(name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*_NAMES, *_SUBMODULES})
