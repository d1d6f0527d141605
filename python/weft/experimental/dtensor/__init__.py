"""tf.experimental.dtensor: tensors that are laid out over the devices of a mesh."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
dtensor.mesh: Mesh create_mesh create_distributed_mesh create_tpu_mesh
dtensor.layout: Layout UNSHARDED MATCH
dtensor.config: client_id full_job_name heartbeat_enabled initialize_accelerator_system initialize_multi_client
dtensor.config: initialize_tpu_system job_name jobs local_devices num_clients num_global_devices num_local_devices
dtensor.config: preferred_device_type shutdown_accelerator_system shutdown_tpu_system
dtensor.api: barrier call_with_layout check_layout copy_to_mesh default_mesh device_name fetch_layout get_default_mesh
dtensor.api: is_dtensor pack relayout relayout_like run_on unpack
dtensor.variable: DVariable
dtensor.saving: DTensorCheckpoint enable_save_as_bf16 name_based_restore name_based_save sharded_save
dtensor.dataset: DTensorDataset
"""

__getattr__, __dir__ = _lazily(globals(), "tf.experimental.dtensor", _MODULES)
