"""Which clients and devices take part; the environment tells (DTENSOR_CLIENT_ID, DTENSOR_JOB_NAME, DTENSOR_JOBS)."""

import os

from weft._src.framework.device import DeviceSpec

_initialized = None  # the type of the devices


def is_initialized():
    return _initialized is not None


def jobs():
    """The addresses of all clients; none: this program is alone."""
    text = os.environ.get("DTENSOR_JOBS")
    return [] if text is None else text.split(",")


def num_clients():
    """How many clients take part."""
    return len(jobs()) or 1


def client_id():
    """The number of this client."""
    number = int(os.environ.get("DTENSOR_CLIENT_ID", "0"))
    if number < 0:
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be >= 0, got {number}. ")
    if number >= num_clients():
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be < {num_clients()}, got {number}")
    return number


def job_name():
    """The job that the clients are tasks of."""
    return os.environ.get("DTENSOR_JOB_NAME", "localhost" if num_clients() == 1 else "worker")


def full_job_name(task_id=None):
    """Job, replica and task of a client."""
    task_id = client_id() if task_id is None else task_id
    if num_clients() == 1 and task_id != 0:
        raise ValueError(f"Unexpected task ID {task_id} in local runs")
    return f"{job_name()}/replica:0/task:{task_id}"


def heartbeat_enabled():
    """Whether clients watch each other."""
    return os.environ.get("DTENSOR_ENABLE_HEARTBEAT", "true").lower() in ("true", "1")


def num_local_devices(device_type):
    """How many devices of that type this client has."""
    from weft._src.framework import config

    return len(config.list_logical_devices(device_type.upper()))


def num_global_devices(device_type):
    """How many devices of that type all clients have."""
    return num_local_devices(device_type) * num_clients()


def local_devices(device_type, for_client_id=None):
    """This client's devices of that type."""
    if device_type.upper() not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Device type {device_type} is not CPU, GPU, or TPU.")
    client = client_id() if for_client_id is None else for_client_id
    return [
        DeviceSpec(job=job_name(), replica=0, task=client, device_type=device_type, device_index=i)
        for i in range(num_local_devices(device_type))
    ]


def preferred_device_type():
    """The fastest kind of device that is there."""
    from weft._src.framework import config

    return "GPU" if config.list_physical_devices("GPU") else "CPU"


def initialize_accelerator_system(
    device_type=None,
    enable_coordination_service=True,
    num_logical_cpu_devices=None,
    experimental_reset_context=False,
    experimental_enable_megcore=False,
):
    """Prepares the devices, before any is used; gives their type."""
    global _initialized
    from weft._src.framework import config

    if is_initialized():
        raise ValueError(
            "Accelerator system has already been initialized. Call "
            "tf.experimental.dtensor.shutdown_accelerator_system() first."
        )
    if config._initialized():
        if experimental_reset_context:
            raise NotImplementedError("the engine cannot be started anew: initialize before the first op")
        raise ValueError(
            "TensorFlow has already been initialized. tf.experimental.dtensor.initialize_accelerator_system() must be "
            "called before TensorFlow is initialized."
        )
    device_type = (device_type or preferred_device_type()).upper()
    if device_type not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Unknown device_type {device_type}. Allowed values are CPU, GPU, or TPU")
    if device_type != "CPU":
        raise NotImplementedError(f"DTensors on {device_type}s")
    if jobs():
        raise NotImplementedError("DTensors of several clients")
    if num_logical_cpu_devices is not None:
        config.set_logical_device_configuration(
            config.list_physical_devices("CPU")[0], [config.LogicalDeviceConfiguration()] * num_logical_cpu_devices
        )
    _initialized = device_type
    return device_type


initialize_multi_client = initialize_tpu_system = initialize_accelerator_system


def shutdown_accelerator_system():
    """Gives the devices back."""
    global _initialized
    if not is_initialized():
        raise ValueError(
            "Accelerator system is not initialized. Call tf.experimental.dtensor.initialize_accelerator_system first."
        )
    _initialized = None


shutdown_tpu_system = shutdown_accelerator_system
