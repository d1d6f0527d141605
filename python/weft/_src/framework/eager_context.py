"""tensorflow.python.eager.context: what libraries that build on TensorFlow use of it."""

import gc

from weft import _weft
from weft._src.framework.graph import executing_eagerly  # noqa: F401


class Context:
    """How ops run in this process."""

    _coordination = None

    def executing_eagerly(self):
        return executing_eagerly()

    @property
    def device_name(self):
        """The device that ops of this thread are asked to run on; empty: any."""
        from weft._src.framework.device import DeviceSpec

        scope = _weft.scoped_device()
        if not scope:
            return ""
        whole = DeviceSpec("localhost", 0, 0, "CPU", 0).make_merged_spec(DeviceSpec.from_string(scope))
        return whole.to_string()

    @property
    def device_spec(self):
        """The same by its parts."""
        from weft._src.framework.device import DeviceSpec

        return DeviceSpec.from_string(self.device_name)

    @property
    def scope_name(self):
        return _weft.name_scope()

    def devices(self):
        """Names of all devices."""
        return [name for name, _, _ in _weft.devices()]

    def num_gpus(self):
        return sum(kind == "GPU" for _, kind, _ in _weft.devices())

    @property
    def _initialized(self):
        return _weft.devices_used()

    def ensure_initialized(self):
        """Makes the context now, as the first op would."""
        from weft._src.framework import config

        config.list_logical_devices()

    def clear_kernel_cache(self):
        """Forgets prepared kernels; weft's hold no memory worth freeing."""

    def sync_executors(self):
        """Waits for all that was sent to other tasks; raises the first error that nobody has seen."""
        async_wait()

    def clear_executor_errors(self):
        """Waits as well, and forgets the errors."""
        async_clear_error()

    def get_server_def(self):
        return _servers.current

    def set_server_def(self, server_def, keep_alive_secs=600):
        """Makes this process a client of the cluster that the ServerDef describes."""
        _servers.connect(server_def, _weft.connect)

    def update_server_def(self, server_def, keep_alive_secs=600):
        """The cluster with other tasks; those that stay keep their tensors."""
        _servers.connect(server_def, _weft.update_cluster)

    def check_alive(self, worker_name):
        """Whether the task "/job:worker/replica:0/task:0" answers."""
        return _weft.check_alive(worker_name)

    # ---- this process as a task among others

    def enable_collective_ops(self, server_def):
        """Makes this process a task of the cluster that the ServerDef describes; before the first op."""
        if not server_def:
            raise ValueError("server_def is None.")
        _weft.enable_collective_ops(server_def.SerializeToString())

    def abort_collective_ops(self, code, message):
        """Ends the collectives of all tasks with this error."""
        _weft.abort_collective_ops(code, message)

    def configure_coordination_service(
        self,
        service_type,
        service_leader="",
        enable_health_check=True,
        cluster_register_timeout_in_ms=0,
        heartbeat_timeout_in_ms=0,
        shutdown_barrier_timeout_in_ms=0,
        coordinated_jobs=None,
        allow_new_incarnation_to_reconnect=False,
    ):
        """What strategies over several workers ask the coordination service for; before the first op."""
        from weft._src.framework.device import DeviceSpec
        from weft._src.proto import CoordinationServiceConfig

        if coordinated_jobs is not None and not isinstance(coordinated_jobs, list):
            raise ValueError(f"`coordinated_jobs` must be list[CoordinatedJob] or None, but got: {coordinated_jobs}")
        self._coordination = CoordinationServiceConfig(
            service_type=service_type,
            service_leader=DeviceSpec.from_string(service_leader).to_string(),
            enable_health_check=enable_health_check,
            cluster_register_timeout_in_ms=cluster_register_timeout_in_ms,
            heartbeat_timeout_in_ms=heartbeat_timeout_in_ms,
            shutdown_barrier_timeout_in_ms=shutdown_barrier_timeout_in_ms,
            coordinated_job_list=coordinated_jobs or [],
            allow_new_incarnation_to_reconnect=allow_new_incarnation_to_reconnect,
        )

    @property
    def coordination_service(self):
        """The CoordinationServiceConfig; None: nobody has asked for a service yet."""
        return self._coordination

    def set_config_key_value(self, key, value):
        """Puts a value into the store of the coordination service."""
        _weft.set_config_key_value(key, value)

    def get_config_key_value(self, key, timeout_in_ms=0):
        """Waits for the key, without a limit where that is 0."""
        return _weft.get_config_key_value(key, timeout_in_ms / 1000).decode()

    def delete_config_key_value(self, key):
        """Removes the key, with all that are below it."""
        _weft.delete_config_key_value(key)

    def report_error_to_cluster(self, error_code, error_message):
        """This task has failed: the collectives of all tasks get this error."""
        _weft.report_error_to_cluster(error_code, error_message)

    def get_task_states(self, job_configs):
        """Of each task of [(job, how many tasks), ...], as the coordination service sees it: None, or the error of a task that has failed."""
        from weft._src.framework import errors

        tasks = [(job, i) for job, count in job_configs for i in range(count)]
        return [
            errors._registered[code](None, None, text) if code else None
            for _, code, text in _weft.get_task_states(tasks)
        ]

    def wait_at_barrier(self, barrier_id, timeout_in_ms):
        """Until all tasks have come here."""
        _weft.wait_at_barrier(barrier_id, timeout_in_ms)


class _servers:
    """The cluster that this process is a client of."""

    current = None
    TIMEOUT = 600.0  # as long as TensorFlow waits for the tasks of a cluster

    @classmethod
    def connect(cls, server_def, how):
        if not server_def:
            raise ValueError("server_def is None.")
        how(server_def.SerializeToString(), cls.TIMEOUT)
        cls.current = server_def


_context = Context()


def context():
    """The context of this process."""
    return _context


def async_wait():
    """Waits for ops that are under way in other tasks, and raises the first error that nobody has seen. Ops of this process have run when their
    call returns."""
    if _servers.current is not None:
        _weft.sync_executors()


def async_clear_error():
    """Waits as well, and forgets the errors."""
    try:
        async_wait()
    except Exception:  # noqa: BLE001, S110: whatever it was, it is to be forgotten
        pass


def set_server_def(server_def):
    _context.set_server_def(server_def)


def update_server_def(server_def):
    _context.update_server_def(server_def)


def get_server_def():
    return _context.get_server_def()


def check_alive(worker_name):
    return _context.check_alive(worker_name)


def ensure_initialized():
    """Makes the context now, as the first op would."""
    _context.ensure_initialized()


def _reset_context():
    """For tests: back to how the process started, with settings, devices and the seed. What was made before stays: weft's context
    grows."""
    from weft._src.framework import config, random_seed

    gc.collect()
    _context._coordination = None
    reset = config._initialized() or config._State.reset
    config._reset()
    config._State.reset = reset
    if not reset:
        config._apply()
    random_seed._reset()
    _weft.reset_devices_used()
