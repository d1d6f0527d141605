"""tf.config."""

from types import SimpleNamespace as _Names

from weft._src.namespace import missing
from weft._src.framework import config as _config
from weft._src.framework.config import (  # noqa: F401
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_soft_device_placement,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_soft_device_placement,
    set_visible_devices,
)
from weft._src.framework.config import (
    connect_to_cluster as experimental_connect_to_cluster,
    connect_to_remote_host as experimental_connect_to_host,
)  # noqa: F401

threading = _Names(
    get_inter_op_parallelism_threads=_config.get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads=_config.get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads=_config.set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads=_config.set_intra_op_parallelism_threads,
)
optimizer = _Names(
    get_experimental_options=_config.get_optimizer_experimental_options,
    get_jit=_config.get_optimizer_jit,
    set_experimental_options=_config.set_optimizer_experimental_options,
    set_jit=_config.set_optimizer_jit,
)
experimental = _Names(
    ClusterDeviceFilters=_config.ClusterDeviceFilters,
    VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    disable_mlir_bridge=_config.disable_mlir_bridge,
    enable_mlir_bridge=_config.enable_mlir_bridge,
    enable_op_determinism=_config.enable_op_determinism,
    enable_tensor_float_32_execution=_config.enable_tensor_float_32_execution,
    get_device_details=_config.get_device_details,
    get_device_policy=_config.get_device_policy,
    get_memory_growth=_config.get_memory_growth,
    get_memory_info=_config.get_memory_info,
    get_memory_usage=_config.get_memory_usage,
    get_synchronous_execution=_config.get_synchronous_execution,
    get_virtual_device_configuration=get_logical_device_configuration,
    get_visible_devices=get_visible_devices,
    list_logical_devices=list_logical_devices,
    list_physical_devices=list_physical_devices,
    reset_memory_stats=_config.reset_memory_stats,
    set_device_policy=_config.set_device_policy,
    set_memory_growth=_config.set_memory_growth,
    set_synchronous_execution=_config.set_synchronous_execution,
    set_virtual_device_configuration=set_logical_device_configuration,
    set_visible_devices=set_visible_devices,
    tensor_float_32_execution_enabled=_config.tensor_float_32_execution_enabled,
)

_RUN_EAGERLY = {
    "run_functions_eagerly",
    "functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "experimental_functions_run_eagerly",
}


def __getattr__(name):
    if name in _RUN_EAGERLY:
        from weft._src.function import function

        return getattr(function, name.removeprefix("experimental_"))
    return missing("tf.config")(name)
