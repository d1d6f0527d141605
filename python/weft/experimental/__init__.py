"""tf.experimental: names are loaded when they are first used."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
data.iterator: Optional
ops.ragged.row_partition: RowPartition
ops.structured_tensor: StructuredTensor
ops.ragged.dynamic_shape: DynamicRaggedShape
framework.asynchrony: async_clear_error async_scope enable_strict_mode function_executor_type
framework.dtypes: float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4
framework.dtypes: uint2 uint4
framework.load_library: register_filesystem_plugin
framework.extension_type: ExtensionType BatchableExtensionType ExtensionTypeSpec ExtensionTypeBatchEncoder
framework.dispatch_api: dispatch_for_api dispatch_for_unary_elementwise_apis dispatch_for_binary_elementwise_apis
framework.dispatch_api: dispatch_for_binary_elementwise_assert_apis unregister_dispatch_for
"""

__getattr__, __dir__ = _lazily(globals(), "tf.experimental", _MODULES, ["dlpack", "dtensor", "extension_type", "numpy"])
