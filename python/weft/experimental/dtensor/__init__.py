"""tf.experimental.dtensor: tensors that are laid out over the devices of a mesh.

mesh.py and layout.py say where the parts are, tensors.py is the tensor with a layout and the way its ops take,
rules*.py how the results of ops are laid out, api.py what programs call; the rest are variables, files and datasets."""

import importlib

from weft._missing import missing as _missing

_MODULES = {
    "mesh": "Mesh create_mesh create_distributed_mesh create_tpu_mesh",
    "layout": "Layout UNSHARDED MATCH",
    "config": "client_id full_job_name heartbeat_enabled initialize_accelerator_system initialize_multi_client "
    "initialize_tpu_system job_name jobs local_devices num_clients num_global_devices num_local_devices "
    "preferred_device_type shutdown_accelerator_system shutdown_tpu_system",
    "api": "barrier call_with_layout check_layout copy_to_mesh default_mesh device_name fetch_layout get_default_mesh "
    "is_dtensor pack relayout relayout_like run_on unpack",
    "variable": "DVariable",
    "saving": "DTensorCheckpoint enable_save_as_bf16 name_based_restore name_based_save sharded_save",
    "dataset": "DTensorDataset",
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_no_such = _missing("tf.experimental.dtensor")


def __getattr__(name):
    if name not in _NAMES:
        return _no_such(name)
    value = getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(_NAMES)
