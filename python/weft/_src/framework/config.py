"""tf.config: devices, placement, threads, switches of the optimiser."""

import collections

from weft import _weft
from weft._src.framework import errors

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])


class LogicalDeviceConfiguration(
    collections.namedtuple(
        "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"]
    )
):
    """How one logical device of a physical one is set up."""

    __slots__ = ()

    def __new__(cls, memory_limit=None, experimental_priority=None, experimental_device_ordinal=None):
        return super().__new__(cls, memory_limit, experimental_priority, experimental_device_ordinal)


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


class _State:
    """What was asked for; the engine's context is made of it by the first op."""

    logical = None  # configurations of the CPU, or None for one device
    visible = None  # None: all
    growth = {}  # of GPUs: whether memory is taken bit by bit
    gpu_logical = {}  # of GPUs: their one logical device
    inter = intra = 0
    soft = True
    log = False
    determinism = False
    tensor_float_32 = True
    policy = "silent"
    synchronous = True
    jit = ""
    jit_off = False  # somebody said so
    mlir_bridge = False
    optimizer = {}
    reset = False  # the devices may be told anew: see eager_context._reset_context


_DEFAULTS = {name: value for name, value in vars(_State).items() if not name.startswith("_")}


def _reset():
    """As before anything was asked for."""
    for name, value in _DEFAULTS.items():
        setattr(_State, name, value)


def _apply():
    """Tells the engine; False where its context is made already."""
    try:
        _weft.configure(
            len(_State.logical) if _State.logical else 1,
            _threads(_State.intra),
            _threads(_State.inter),
            _State.soft,
            _State.log,
            *(_optimizer() if _State.optimizer or _State.jit or _State.jit_off else ()),
        )
    except errors.FailedPreconditionError:
        return False
    return True


def _threads(number):
    return number if isinstance(number, int) and number > 0 else 0


def _optimizer():
    """The switches of the optimiser as a ConfigProto, and whether functions are compiled by themselves."""
    if not _State.optimizer and not _State.jit_off:
        return b"", bool(_State.jit)
    from weft._src.proto import ConfigProto

    config = ConfigProto()
    if _State.jit_off:
        config.graph_options.optimizer_options.global_jit_level = -1  # OFF
    rewriter = config.graph_options.rewrite_options
    for name, value in _State.optimizer.items():
        if name in _PLAIN_OPTIONS:
            setattr(rewriter, name, value)
        else:
            setattr(rewriter, name, 1 if value else 2)  # ON, OFF
    return config.SerializeToString(), bool(_State.jit)


def _initialized():
    return _weft.devices_used()


def _known(device):
    if not isinstance(device, PhysicalDevice) or (device != _CPU and device not in list_physical_devices()):
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def _number(device):
    return int(device.name.rsplit(":", 1)[-1])


# ---- devices ----------------------------------------------------------------------------------------------


def list_physical_devices(device_type=None):
    """The devices of this machine."""
    brought = [PhysicalDevice(f"/physical_device:{kind}:{i}", kind) for kind, i, _ in _weft.physical_devices()]
    return [d for d in [_CPU, *brought] if device_type in (None, d.device_type)]


def list_logical_devices(device_type=None):
    """The devices that ops run on; makes the context."""
    _apply()
    out = []
    count = len(_State.logical) if _State.logical else 1
    for name, kind, _ in _weft.devices():
        here = name.startswith("/job:localhost/")  # else a device of another task
        if here and kind == "CPU" and int(name.rsplit(":", 1)[-1]) >= count:
            continue  # of a configuration before
        if device_type in (None, kind):
            out.append(LogicalDevice("/device:" + name.rsplit("/device:", 1)[-1] if here else name, kind))
    return out


def get_visible_devices(device_type=None):
    """The physical devices that this program may use."""
    visible = list_physical_devices() if _State.visible is None else _State.visible
    return [d for d in visible if device_type in (None, d.device_type)]


def set_visible_devices(devices, device_type=None):
    """Which physical devices this program may use."""
    devices = (
        list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [devices]
    )
    for d in devices:
        _known(d)
        if device_type is not None and d.device_type != device_type:
            raise ValueError(f"Unrecognized device: {d!r}")
    before = get_visible_devices()
    visible = devices if device_type is None else [d for d in before if d.device_type != device_type] + devices
    if visible == before:
        return
    if _initialized():
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    if _CPU not in visible:
        raise NotImplementedError("the CPU must stay visible")
    _State.visible = visible
    _weft.set_visible_gpus([_number(d) for d in visible if d.device_type == "GPU"])


def get_logical_device_configuration(device):
    """How a physical device is cut into logical ones; None where nothing was said."""
    if _known(device).device_type == "GPU":
        return _State.gpu_logical.get(device)
    return _State.logical


def set_logical_device_configuration(device, logical_devices):
    """Cuts a physical device into logical ones; before the first op."""
    logical_devices = list(logical_devices)
    if _known(device).device_type == "GPU":
        _set_logical_gpu(device, logical_devices)
        return
    for config in logical_devices:
        if config.memory_limit is not None:
            raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
        if config.experimental_priority is not None:
            raise ValueError("Setting experimental_priority on CPU virtual  devices is currently not supported")
        if config.experimental_device_ordinal not in (None, 0):
            raise ValueError("Setting experimental_device_ordinal on CPU virtual  devices is currently not supported")
    if _State.logical == logical_devices:
        return
    if _initialized():
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    if _State.reset:
        _weft.add_cpus(len(logical_devices))
        _State.logical = logical_devices
        return
    _State.logical = logical_devices
    _apply()


def _set_logical_gpu(device, logical_devices):
    """As logical devices that share a GPU, each with its limit."""
    if any(config.memory_limit is None for config in logical_devices):
        raise ValueError("Setting memory limit is required for GPU virtual devices")
    if logical_devices == _State.gpu_logical.get(device):
        return
    if _State.growth.get(device) is not None:
        raise ValueError("Cannot configure logical devices when memory growth is enabled")
    if _initialized():
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    _weft.set_logical_gpus(_number(device), [int(config.memory_limit * (1 << 20)) for config in logical_devices])
    _State.gpu_logical = {**_State.gpu_logical, device: logical_devices}


def get_device_details(device):
    """What is known of a physical device: of CPUs nothing."""
    _known(device)
    for kind, number, text in _weft.physical_devices():
        if kind != "GPU" or device != PhysicalDevice(f"/physical_device:GPU:{number}", "GPU"):
            continue
        facts = dict(part.split(": ", 1) for part in text.split(", ") if ": " in part)
        major, minor = facts["compute capability"].split(".")
        return {"compute_capability": (int(major), int(minor)), "device_name": facts["name"]}
    return {}


def get_memory_growth(device):
    """Whether a GPU's memory is taken bit by bit."""
    if _known(device).device_type != "GPU":
        raise KeyError(device)
    return _State.growth.get(device)


def set_memory_growth(device, enable):
    """Whether a GPU's memory is taken bit by bit, which is so where nothing is said, or all at once."""
    if _known(device).device_type == "GPU":
        if device in _State.gpu_logical:
            raise ValueError("Cannot set memory growth on device when virtual devices configured")
        if _initialized():
            raise RuntimeError("Physical devices cannot be modified after being initialized")
        _weft.set_gpu_memory(_number(device), bool(enable), 0)
        _State.growth = {**_State.growth, device: bool(enable)}
        return
    raise ValueError(
        "Cannot set memory growth on device when virtual devices configured"
        if _State.logical
        else "Cannot set memory growth on non-GPU and non-Pluggable devices"
    )


def _named(device):
    for name, kind, _ in _weft.devices():
        if device and name.endswith(device if device.startswith("/") else ":" + device):
            return name
    raise ValueError(f"No matching devices found for '{device}'")


def get_memory_info(device):
    """Memory in use on a device and its peak; not counted on CPUs."""
    _apply()
    stats = _weft.memory_stats(_named(device))
    if stats is None:
        raise ValueError(f"Allocator stats not available for device '{device}'")
    return {"current": stats[0], "peak": stats[1]}


def get_memory_usage(device):
    """Memory in use on a device."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """Begins the count of the peak anew."""
    _weft.reset_memory_stats(_named(device))


# ---- placement, threads, switches -------------------------------------------------------------------------


def get_soft_device_placement():
    """Whether ops may go to another device where the one that was asked for cannot run them."""
    return _State.soft


def set_soft_device_placement(enabled):
    """See get_soft_device_placement."""
    _State.soft = bool(enabled)
    if not _apply():
        _weft.set_soft_placement(_State.soft)


def get_log_device_placement():
    """Whether the device of each op is written to stderr."""
    return _State.log


def set_log_device_placement(enabled):
    """Writes the device of each op to stderr."""
    _State.log = bool(enabled)
    if not _apply():
        _weft.set_log_device_placement(_State.log)


def get_inter_op_parallelism_threads():
    """Threads for ops beside each other; 0 is what the machine has."""
    return _State.inter


def set_inter_op_parallelism_threads(num_threads):
    """See get_inter_op_parallelism_threads; before the first op."""
    if _State.inter != num_threads and _initialized():
        raise RuntimeError("Inter op parallelism cannot be modified after initialization.")
    _State.inter = num_threads
    _apply()


def get_intra_op_parallelism_threads():
    """Threads within an op; 0 is what the machine has."""
    return _State.intra


def set_intra_op_parallelism_threads(num_threads):
    """See get_intra_op_parallelism_threads; before the first op."""
    if _State.intra != num_threads and _initialized():
        raise RuntimeError("Intra op parallelism cannot be modified after initialization.")
    _State.intra = num_threads
    _apply()


def get_optimizer_jit():
    """'autoclustering' where graphs are compiled by themselves."""
    return _State.jit


def set_optimizer_jit(enabled):
    """True or 'autoclustering': graphs are compiled where they can be; False: only functions with jit_compile (see WEFT_JIT)."""
    _State.jit = "autoclustering" if enabled in (True, "autoclustering") else ""
    _State.jit_off = not _State.jit
    _tell_optimizer()


_OPTIMIZER = (
    "layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization "
    "loop_optimization function_optimization debug_stripper disable_model_pruning scoped_allocator_optimization "
    "pin_to_host_optimization implementation_selector auto_mixed_precision disable_meta_optimizer min_graph_nodes "
    "auto_mixed_precision_mkl auto_mixed_precision_onednn_bfloat16 use_plugin_optimizers"
).split()
_PLAIN_OPTIONS = ("disable_model_pruning", "disable_meta_optimizer", "min_graph_nodes")


def _tell_optimizer():
    """Before the first op with the rest of the settings; afterwards for functions that come."""
    if not _apply():
        _weft.set_optimizer(*_optimizer())


def get_optimizer_experimental_options():
    """What was said of the optimiser's steps."""
    given = {"disable_model_pruning": False, "disable_meta_optimizer": False, **_State.optimizer}
    return {name: given[name] for name in _OPTIMIZER if name in given}


def set_optimizer_experimental_options(options):
    """Which steps the optimiser of graphs takes, for functions that are made from here on."""
    merged = {**_State.optimizer, **{k: options[k] for k in options if k in _OPTIMIZER}}
    _State.optimizer = {k: v if k == "min_graph_nodes" else bool(v) for k, v in merged.items() if v is not None}
    _tell_optimizer()


def get_device_policy():
    """What happens to inputs of another device."""
    return _State.policy


def set_device_policy(device_policy):
    """See get_device_policy."""
    if device_policy not in ("silent", "silent_for_int32", "warn", "explicit", None):
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to https://www.tensorflow.org/api_docs/python/tf/config/experimental/"
            "set_device_policy for valid `device_policy` arguments."
        )
    _State.policy = device_policy or "silent"


def get_synchronous_execution():
    """Whether ops are done when they return."""
    return _State.synchronous


def set_synchronous_execution(enable):
    """See get_synchronous_execution; weft's ops are always done when they return."""
    _State.synchronous = bool(enable)


def enable_op_determinism():
    """From here on random ops need seeds, and functions run compiled only where they ask for it; all else gives the same bits every time."""
    _State.determinism = True
    _weft.set_exact_results(True)


def disable_op_determinism():
    _State.determinism = False
    _weft.set_exact_results(False)


def is_op_determinism_enabled():
    return _State.determinism


def tensor_float_32_execution_enabled():
    """Whether products of float on GPUs may round their factors to 10 bits."""
    return _State.tensor_float_32


def enable_tensor_float_32_execution(enabled):
    """See tensor_float_32_execution_enabled."""
    _State.tensor_float_32 = bool(enabled)
    _weft.allow_tf32(_State.tensor_float_32)


def enable_mlir_bridge():
    """A switch for TPUs; kept only."""
    _State.mlir_bridge = True


def disable_mlir_bridge():
    _State.mlir_bridge = False


def connect_to_cluster(
    cluster_spec_or_resolver,
    job_name="localhost",
    task_index=0,
    protocol=None,
    make_master_device_default=True,
    cluster_device_filters=None,
):
    """Connects this process to the tasks of a cluster: their devices become devices of this process.

    Ops and functions under `tf.device("/job:worker/task:0")` run in that task; what they return stays there until it is needed here.
    """
    from weft._src.distribute import cluster_spec as specs
    from weft._src.distribute import cluster_resolver as resolvers
    from weft._src.proto import ServerDef

    given = cluster_spec_or_resolver
    if isinstance(given, specs.ClusterSpec):
        cluster = given
    elif isinstance(given, resolvers.ClusterResolver):
        if given.master() in ("", "local"):
            return
        cluster = given.cluster_spec()
    else:
        raise ValueError("`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`.")
    if cluster_device_filters is not None and not isinstance(cluster_device_filters, ClusterDeviceFilters):
        raise ValueError(
            "`cluster_device_filters` must be an instance of `tf.train.experimental.ClusterDeviceFilters`."
        )
    definition = ServerDef()
    definition.cluster.CopyFrom(cluster.as_cluster_def())
    definition.job_name, definition.task_index, definition.protocol = job_name, task_index, protocol or "grpc"
    if job_name not in cluster.jobs:
        job = definition.cluster.job.add()
        job.name = job_name
        job.tasks[task_index] = "localhost:0"
    if cluster_device_filters is not None:
        definition.cluster_device_filters.CopyFrom(cluster_device_filters._as_cluster_device_filters())
    from weft._src.framework import eager_context

    # The same cluster again: tasks that are still there keep their tensors, others are connected anew.
    current = eager_context.get_server_def()
    if current is not None and current.SerializeToString() == definition.SerializeToString():
        eager_context.update_server_def(definition)
    else:
        eager_context.set_server_def(definition)


def connect_to_remote_host(remote_host=None, job_name="worker"):
    """Connects this process to one or several servers, as the tasks of one job."""
    from weft._src.distribute.cluster_spec import ClusterSpec

    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    hosts = remote_host if isinstance(remote_host, (list, tuple)) else [remote_host]
    connect_to_cluster(ClusterSpec({job_name: [h.removeprefix("grpc://") for h in hosts]}))


class ClusterDeviceFilters:
    """Which devices each task of a cluster sees."""

    def __init__(self):
        self._filters = {}  # job -> task -> filters

    def set_device_filters(self, job_name, task_index, device_filters):
        if not all(isinstance(f, str) for f in device_filters):
            raise AssertionError
        self._filters.setdefault(job_name, {})[task_index] = list(device_filters)

    def _as_cluster_device_filters(self):
        from weft._src.proto import ClusterDeviceFilters as Message

        made = Message()
        for job, tasks in self._filters.items():
            entry = made.jobs.add()
            entry.name = job
            for task, filters in tasks.items():
                entry.tasks[task].device_filters.extend(filters)
        return made
