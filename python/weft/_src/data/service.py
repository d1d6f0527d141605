"""tf.data.experimental.service: datasets that are walked by workers of other processes, or of this one. The servers are the engine's (remote/data_service), in TensorFlow's
protocol."""

import collections
import enum
import os

from weft import _weft
from weft._src.raw import raw
from weft._src.data import structure
from weft._src.data.dataset import AUTOTUNE, make
from weft._src.data.traced import TracedFunction
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.type_spec import TensorSpec


class ShardingPolicy(enum.IntEnum):
    """What part of a dataset a worker walks."""

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


_MODES = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}


class CrossTrainerCache:
    """Elements shared by trainers: each that has another id sees them all."""

    def __init__(self, trainer_id):
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


class DispatcherConfig(
    collections.namedtuple(
        "DispatcherConfig",
        "port protocol work_dir fault_tolerant_mode worker_addresses job_gc_check_interval_ms job_gc_timeout_ms "
        "worker_timeout_ms worker_max_concurrent_snapshots",
    )
):
    def __new__(
        cls,
        port=0,
        protocol=None,
        work_dir=None,
        fault_tolerant_mode=False,
        worker_addresses=None,
        job_gc_check_interval_ms=None,
        job_gc_timeout_ms=None,
        worker_timeout_ms=None,
        worker_max_concurrent_snapshots=0,
    ):
        return super().__new__(
            cls,
            port,
            protocol or "grpc",
            work_dir,
            fault_tolerant_mode,
            worker_addresses,
            _time(job_gc_check_interval_ms),
            _time(job_gc_timeout_ms),
            worker_timeout_ms,
            worker_max_concurrent_snapshots,
        )


class WorkerConfig(
    collections.namedtuple(
        "WorkerConfig",
        "dispatcher_address worker_address port protocol heartbeat_interval_ms dispatcher_timeout_ms "
        "data_transfer_protocol data_transfer_address",
    )
):
    def __new__(
        cls,
        dispatcher_address,
        worker_address=None,
        port=0,
        protocol=None,
        heartbeat_interval_ms=None,
        dispatcher_timeout_ms=None,
        data_transfer_protocol=None,
        data_transfer_address=None,
    ):
        return super().__new__(
            cls,
            dispatcher_address,
            worker_address or "localhost:%port%",
            port,
            protocol or "grpc",
            _time(heartbeat_interval_ms),
            _time(dispatcher_timeout_ms),
            data_transfer_protocol,
            data_transfer_address or "localhost:%dts_port%",
        )


def _time(value):
    """To servers 0 means their default, to users no time at all."""
    return 0 if value is None else value or 1


_BIND = "WEFT_DATA_SERVICE_BIND"  # where dispatchers listen, for those of other machines; loopback without it


def _settings(config, names):
    return {name: getattr(config, name) for name in names.split() if getattr(config, name, None)}


class _Server:
    def __init__(self, server, start):
        self._server = server
        if start:
            self.start()

    def start(self):
        try:
            self._server.start()
        except errors.OpError as error:
            raise RuntimeError(error.message) from error

    def join(self):
        """Waits until the server is stopped."""
        self._server.join()

    def stop(self):
        self._stop()

    def _stop(self):
        self._server.stop()

    def __del__(self):
        if server := getattr(self, "_server", None):
            server.stop()

    @property
    def _address(self):
        return f"localhost:{self._server.bound_port()}"


class DispatchServer(_Server):
    """Knows datasets, workers and who reads."""

    def __init__(self, config=None, start=True):
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in the "
                "`config` object passed to `DispatcherServer`."
            )
        _check_protocol(config.protocol)
        self._config = config
        settings = _settings(
            config,
            "port work_dir fault_tolerant_mode job_gc_check_interval_ms job_gc_timeout_ms client_timeout_ms worker_timeout_ms "
            "gc_dynamic_sharding_jobs worker_max_concurrent_snapshots",
        )
        settings["worker_addresses"] = [str(a) for a in config.worker_addresses or []]
        if "work_dir" in settings:
            settings["work_dir"] = os.fspath(settings["work_dir"])
        if os.environ.get(_BIND):
            settings["host"] = os.environ[_BIND]
        super().__init__(_weft.DataDispatchServer(settings), start)

    @property
    def target(self):
        return f"{self._config.protocol}://{self._address}"

    def _num_workers(self):
        return self._server.num_workers()

    def _snapshot_streams(self, path):
        return [_Stream(*stream) for stream in self._server.snapshot_streams(path)]


class WorkerServer(_Server):
    """Walks parts of datasets."""

    def __init__(self, config, start=True):
        if config.dispatcher_address is None:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        _check_protocol(config.protocol)
        protocol = config.data_transfer_protocol
        if protocol and protocol != "grpc":
            raise NotImplementedError(
                f"a worker of the tf.data service with data_transfer_protocol={protocol!r}; grpc is there"
            )
        self._config = config
        settings = _settings(
            config,
            "port dispatcher_address worker_address heartbeat_interval_ms dispatcher_timeout_ms cross_trainer_cache_size_bytes "
            "snapshot_max_chunk_size_bytes",
        )
        settings["worker_tags"] = [str(t) for t in getattr(config, "worker_tags", None) or []]
        super().__init__(_weft.DataWorkerServer(settings), start)

    def _num_tasks(self):
        return self._server.num_tasks()

    def _snapshot_task_progresses(self):
        return [_Progress(*progress) for progress in self._server.snapshot_task_progresses()]


_Stream = collections.namedtuple("SnapshotStreamInfo", "index state")
_Progress = collections.namedtuple(
    "SnapshotTaskProgress", "snapshot_task_base_path snapshot_task_stream_index completed"
)


def _check_protocol(protocol):
    if protocol != "grpc":
        raise errors.NotFoundError(
            None,
            None,
            f"No credentials factory has been registered for protocol {protocol}. The available types are: [ grpc ]",
        )


def _parse(service):
    """(protocol, address) of a service."""
    if isinstance(service, tuple):
        return service
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    parts = service.split("://")
    if len(parts) > 2:
        raise ValueError(f"Malformed `service` string has multiple '://': {service}.")
    return ("grpc", parts[0]) if len(parts) == 1 else tuple(parts)


def _policy(mode):
    if isinstance(mode, ShardingPolicy):
        return mode
    if isinstance(mode, str) and mode in _MODES:
        return _MODES[mode]
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
        f'`"parallel_epochs"`, or `"distributed_epoch"`. Got {mode!r}.'
    )


_COMPRESSIONS = {"AUTO": 2, "SNAPPY": 3, None: 1}  # DataServiceMetadata.Compression


def _check_compression(compression):
    if compression not in _COMPRESSIONS:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {['AUTO', None, 'SNAPPY']}.")


def _check_job_name(job_name):
    if job_name is None:
        return
    if not isinstance(job_name, str):
        raise ValueError(
            f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. job_name={job_name}"
        )
    if not job_name:
        raise ValueError("`job_name` must not be empty")


def _field(number, contents):
    """Bytes as a field of a message."""
    size, out = len(contents), bytearray([number << 3 | 2])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(out) + bytes([size]) + contents


def _encoded_spec(spec):
    from weft._src.saved_model.structured import encode

    return encode(spec).SerializeToString()


def _compressed(dataset):
    spec = dataset.element_spec

    def compress(*element):
        element = element if isinstance(spec, tuple) and not hasattr(spec, "_fields") else element[0]
        return raw.CompressElement(components=structure.to_tensors(spec, element))

    return dataset.map(compress, num_parallel_calls=AUTOTUNE)


def register_dataset(service, dataset, compression="AUTO", dataset_id=None):
    """Makes a dataset known to a service; its id is given back."""
    _check_compression(compression)
    protocol, address = _parse(service)
    metadata = b"" if _weft.in_graph() else _field(1, _encoded_spec(dataset.element_spec))
    metadata += bytes([2 << 3, _COMPRESSIONS[compression]])
    policy = dataset.options().experimental_external_state_policy
    if compression is not None:
        dataset = _compressed(dataset)
    return raw.RegisterDatasetV2(
        dataset=dataset._variant_tensor,
        address=convert_to_tensor(address, dtypes.string),
        protocol=convert_to_tensor(protocol, dtypes.string),
        external_state_policy=0 if policy is None else int(policy.value),
        requested_dataset_id=dataset_id or "",
        metadata=metadata,
    )


def _uncompress(spec):
    def uncompress(packed):
        tensors = raw.UncompressElement(compressed=packed, **structure.types_and_shapes(spec))
        return structure.from_tensors(spec, tensors if isinstance(tensors, (list, tuple)) else [tensors])

    return TracedFunction(uncompress, "DataServiceDataset", TensorSpec([], dtypes.variant), use_autograph=False)


def _read(
    processing_mode,
    service,
    dataset_id,
    spec,
    job_name=None,
    consumer_index=None,
    num_consumers=None,
    max_outstanding_requests=None,
    data_transfer_protocol=None,
    cross_trainer_cache=None,
    target_workers="AUTO",
    task_refresh_interval_hint_ms=None,
):
    """A dataset that reads what the workers make of a registered one. Each walk is an iteration of the job, or a job of its own."""
    protocol, address = _parse(service)
    if (consumer_index is None) != (num_consumers is None) and job_name is not None:
        raise ValueError(
            "Must either set both `consumer_index` and `num_consumers`, or neither. ",
            f"consumer_index={consumer_index}, num_consumers={num_consumers}",
        )
    if num_consumers is not None and job_name is None:
        raise ValueError(
            f"`job_name` must be set when setting `num_consumers`. num_consumers was set to {num_consumers}."
        )

    def number(value):
        return convert_to_tensor(-1 if value is None else value, dtypes.int64)

    uncompress = _uncompress(spec)
    mode = int(processing_mode)
    variant = raw.DataServiceDatasetV4(
        dataset_id=dataset_id,
        processing_mode=convert_to_tensor(bytes([8, mode]) if mode else b"", dtypes.string),
        address=convert_to_tensor(address, dtypes.string),
        protocol=convert_to_tensor(protocol, dtypes.string),
        job_name=convert_to_tensor("" if job_name is None else job_name, dtypes.string),
        consumer_index=number(consumer_index),
        num_consumers=number(num_consumers),
        max_outstanding_requests=number(max_outstanding_requests),
        iteration_counter=raw.DummyIterationCounter(),
        task_refresh_interval_hint_ms=-1 if task_refresh_interval_hint_ms is None else task_refresh_interval_hint_ms,
        data_transfer_protocol=data_transfer_protocol or "",
        target_workers=target_workers,
        uncompress=True,
        uncompress_fn=uncompress,
        cross_trainer_cache_options=_field(1, cross_trainer_cache.trainer_id.encode()) if cross_trainer_cache else b"",
        **structure.types_and_shapes(spec),
    )
    made = make("_DataServiceDatasetV2", variant, spec, functions=[uncompress])
    if job_name is None:
        return made
    from weft._src.data.options import AutoShardPolicy, Options

    options = Options()
    options.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF
    return made.with_options(options)


def _distribute(processing_mode, service, job_name=None, compression="AUTO", **options):
    policy = _policy(processing_mode)
    _check_compression(compression)

    def apply(dataset):
        dataset_id = register_dataset(service, dataset, compression)
        return _read(policy, service, dataset_id, dataset.element_spec, job_name, **options)

    return apply


def distribute(
    processing_mode,
    service,
    job_name=None,
    consumer_index=None,
    num_consumers=None,
    max_outstanding_requests=None,
    data_transfer_protocol=None,
    compression="AUTO",
    cross_trainer_cache=None,
    target_workers="AUTO",
):
    """A transformation: the dataset is walked by the workers of a service."""
    _check_job_name(job_name)
    return _distribute(
        processing_mode,
        service,
        job_name,
        compression,
        consumer_index=consumer_index,
        num_consumers=num_consumers,
        max_outstanding_requests=max_outstanding_requests,
        data_transfer_protocol=data_transfer_protocol,
        cross_trainer_cache=cross_trainer_cache,
        target_workers=target_workers,
    )


def _fetched_spec(service, dataset_id):
    from weft._src.proto import StructuredValue
    from weft._src.saved_model.structured import decode

    if _weft.in_graph():
        raise ValueError("In graph mode `element_spec` must be provided manually.")
    name = dataset_id.numpy().decode()
    try:
        found = _weft.data_service_metadata(_parse(service)[1], name)[0]
    except errors.NotFoundError:
        found = b""
    if not found:
        raise ValueError(
            f"Failed to fetch element spec for dataset id {name} from tf.data service. If the dataset was registered in "
            "graph mode or inside a tf.function, the `element_spec` must be specified as an argument to "
            "`from_dataset_id`."
        )
    return decode(StructuredValue.FromString(found))


def from_dataset_id(
    processing_mode,
    service,
    dataset_id,
    element_spec=None,
    job_name=None,
    consumer_index=None,
    num_consumers=None,
    max_outstanding_requests=None,
    data_transfer_protocol=None,
    cross_trainer_cache=None,
    target_workers="AUTO",
):
    """A dataset that register_dataset made known, walked by the workers of the service."""
    _check_job_name(job_name)
    policy = _policy(processing_mode)
    _parse(service)
    if isinstance(dataset_id, int):
        dataset_id = str(dataset_id)
    dataset_id = convert_to_tensor(dataset_id)
    if dataset_id.dtype != dtypes.string:
        dataset_id = raw.AsString(input=dataset_id)
    if job_name is not None:
        job_name = raw.StringJoin(
            inputs=[convert_to_tensor("dataset_id="), dataset_id, convert_to_tensor(job_name)], separator="/"
        )
    return _read(
        policy,
        service,
        dataset_id,
        _fetched_spec(service, dataset_id) if element_spec is None else element_spec,
        job_name,
        consumer_index,
        num_consumers,
        max_outstanding_requests,
        data_transfer_protocol,
        cross_trainer_cache,
        target_workers,
    )


def distributed_save(dataset, path, data_service_address, compression="AUTO"):
    """Has a service write a dataset, in the background. Dataset.load(path, wait=True) waits for it."""
    if not isinstance(data_service_address, str):
        raise ValueError(
            f"`data_service_address` must be a string, but is a {type(data_service_address)} ({data_service_address}"
        )
    if not data_service_address:
        raise ValueError("`data_service_address` must not be empty")
    packed = {"AUTO": "SNAPPY", None: ""}.get(compression, compression)
    return raw.DistributedSave(
        dataset=dataset._variant_tensor,
        directory=convert_to_tensor(os.fspath(path), dtypes.string),
        address=convert_to_tensor(data_service_address, dtypes.string),
        metadata=_field(1, _encoded_spec(dataset.element_spec)) + _field(2, packed.encode()),
    )
