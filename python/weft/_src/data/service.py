"""tf.data.experimental.service: datasets that are walked by workers. Dispatcher and workers are objects of this process;
each worker walks its part on a thread of its own. Servers of other processes cannot be reached."""

import collections
import enum
import itertools
import os
import queue
import socket
import threading
import weakref

from weft._src.data import structure
from weft._src.data.dataset import Dataset, make
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.function.py_func import _Failed

_dispatchers = weakref.WeakValueDictionary()  # by address
_AHEAD = 16  # elements that wait for a consumer


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
    """Elements shared by trainers. There is no such cache here: a dataset that asks for one is refused."""

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
            job_gc_check_interval_ms or 0,
            job_gc_timeout_ms or 0,
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
            heartbeat_interval_ms or 0,
            dispatcher_timeout_ms or 0,
            data_transfer_protocol,
            data_transfer_address or "localhost:%dts_port%",
        )


class _Server:
    """A port that is taken, though nobody listens, and an end that can be waited for."""

    def __init__(self, config, start):
        self._config, self._socket, self._ended = config, None, threading.Event()
        if start:
            self.start()

    def start(self):
        if self._socket is None:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._socket.bind(("localhost", self._config.port))

    def _port(self):
        if self._socket is None:
            raise RuntimeError("The server has not been started.")
        return self._socket.getsockname()[1]

    def join(self):
        """Waits until the server is stopped."""
        self._ended.wait()

    def stop(self):
        self._ended.set()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _stop(self):
        self.stop()

    def __del__(self):
        self.stop()


class DispatchServer(_Server):
    """Knows datasets and workers."""

    def __init__(self, config=None, start=True):
        config = config or DispatcherConfig()
        self._socket, self._ended = None, threading.Event()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in the "
                "`config` object passed to `DispatcherServer`."
            )
        self._changed = threading.Condition()
        self._workers, self._datasets, self._iterations = [], {}, {}
        self._ids = itertools.count(1000)
        super().__init__(config, start)

    def start(self):
        super().start()
        _dispatchers[self._address] = self

    @property
    def _address(self):
        return f"localhost:{self._port()}"

    @property
    def target(self):
        return f"{self._config.protocol}://{self._address}"

    def stop(self):
        if self._socket is not None:
            _dispatchers.pop(self._address, None)
        super().stop()

    def _num_workers(self):
        return len(self._workers)

    def _register(self, dataset, dataset_id):
        with self._changed:
            name = str(next(self._ids)) if dataset_id is None else dataset_id
            there = self._datasets.get(name)
            if there is not None and there.element_spec != dataset.element_spec:
                raise errors.InvalidArgumentError(
                    None, None, f"Dataset with id {name} is registered with another element_spec: {there.element_spec}."
                )
            self._datasets[name] = dataset
        return name

    def _iteration(self, key, make_iteration):
        """The walk of all consumers that share a job, begun by the first."""
        if key is None:
            return make_iteration()
        with self._changed:
            # Kept after its end: who joins later finds nothing left.
            if key not in self._iterations:
                self._iterations[key] = make_iteration()
            return self._iterations[key]

    def _parts(self, policy, dataset):
        """What each worker walks; waits for the first worker."""
        with self._changed:
            self._changed.wait_for(lambda: self._workers or self._ended.is_set())
            workers = list(self._workers)
        if not workers:
            raise errors.UnavailableError(None, None, "The dispatcher of the tf.data service was stopped.")
        if policy is ShardingPolicy.OFF:
            return [dataset] * len(workers)
        if policy is ShardingPolicy.DYNAMIC:
            return [_Shared(dataset)] * len(workers)
        addresses = list(self._config.worker_addresses or [])
        parts = []
        for worker in workers:
            index = next((i for i, a in enumerate(addresses) if a in worker._names()), None)
            if index is None:
                raise errors.NotFoundError(
                    None,
                    None,
                    f"Failed to shard dataset in tf.data service: Worker {worker._address} is not in the workers list. "
                    f"Got workers list {','.join(addresses)}.",
                )
            parts.append(dataset.shard(len(addresses), index))
        return parts


class WorkerServer(_Server):
    """Walks parts of datasets."""

    def __init__(self, config, start=True):
        self._socket, self._ended = None, threading.Event()
        if not config.dispatcher_address:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        super().__init__(config, start)

    def start(self):
        super().start()
        self._dispatcher = _dispatcher(self._config.dispatcher_address)
        with self._dispatcher._changed:
            self._dispatcher._workers.append(self)
            self._dispatcher._changed.notify_all()

    @property
    def _address(self):
        return self._config.worker_address.replace("%port%", str(self._port()))

    def _names(self):
        """The ways in which a list of workers may name it."""
        return {self._address, self._config.worker_address, self._config.worker_address.split(":")[0]}

    def stop(self):
        dispatcher = getattr(self, "_dispatcher", None)
        if dispatcher is not None:
            with dispatcher._changed:
                if self in dispatcher._workers:
                    dispatcher._workers.remove(self)
        super().stop()


class _Shared:
    """A dataset of which each element goes to one of those who walk it."""

    def __init__(self, dataset):
        self._iterator, self._lock = iter(dataset), threading.Lock()

    def __iter__(self):
        while True:
            with self._lock:
                element = next(self._iterator, _Iteration.END)
            if element is _Iteration.END:
                return
            yield element


class _Iteration:
    """One walk by all workers; consumers take what comes first."""

    END = object()

    def __init__(self, parts):
        self._ready, self._left, self._abandoned = queue.Queue(_AHEAD), len(parts), threading.Event()
        self._lock = threading.Lock()
        for part in parts:
            threading.Thread(target=_walk, args=(part, self._ready, self._abandoned), daemon=True).start()

    def next(self):
        while True:
            item = self._ready.get()
            if isinstance(item, BaseException):
                self._ready.put(item)  # for the others
                raise item
            if item is not self.END:
                return item
            with self._lock:
                self._left -= 1
                if self._left <= 0:
                    self._ready.put(self.END)
                    return self.END

    def __del__(self):
        self._abandoned.set()


def _walk(part, ready, abandoned):
    """What a worker does; it does not hold the iteration, which ends with its last consumer."""

    def put(item):
        while not abandoned.is_set():
            try:
                return ready.put(item, timeout=0.1)
            except queue.Full:
                pass

    try:
        for element in part:
            put(element)
            if abandoned.is_set():
                return
    except Exception as error:
        return put(error)
    put(_Iteration.END)


def _dispatcher(address):
    found = _dispatchers.get(address)
    if found is None:
        raise NotImplementedError(f"tf.data service at {address}: only servers of this process can be reached")
    return found


def _connect(service):
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    protocol, found, address = service.partition("://")
    if found and protocol != "grpc":
        raise errors.NotFoundError(
            None,
            None,
            f"No credentials factory has been registered for protocol {protocol}. The available types are: [ grpc ]",
        )
    return _dispatcher(address if found else service)


def _policy(mode):
    if isinstance(mode, ShardingPolicy):
        return mode
    if mode in ("parallel_epochs", "distributed_epoch"):
        return _MODES[mode]
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
        f'`"parallel_epochs"`, or `"distributed_epoch"`. Got {mode!r}.'
    )


def _check_compression(compression):
    if compression not in ("AUTO", None, "SNAPPY"):
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {['AUTO', None, 'SNAPPY']}.")


def _check_options(policy, job_name, consumer_index, num_consumers, cross_trainer_cache, target_workers):
    if job_name is not None:
        if not isinstance(job_name, (str, bytes)):
            raise ValueError(
                f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. job_name={job_name}"
            )
        if not job_name:
            raise ValueError("`job_name` must not be empty")
    if num_consumers is not None and job_name is None:
        raise ValueError(
            f"`job_name` must be set when setting `num_consumers`. num_consumers was set to {num_consumers}."
        )
    if target_workers.upper() not in ("", "AUTO", "ANY", "LOCAL"):
        raise errors.InvalidArgumentError(None, None, f"Unrecognized target workers: {target_workers}")
    if num_consumers is not None:
        raise NotImplementedError("tf.data service with num_consumers: coordinated reads")
    if cross_trainer_cache is not None:
        raise NotImplementedError("tf.data service with a cross_trainer_cache")
    if policy in (ShardingPolicy.FILE, ShardingPolicy.HINT):
        raise NotImplementedError(
            f"tf.data service with ShardingPolicy.{policy.name}; OFF, DYNAMIC, DATA and FILE_OR_DATA are there"
        )


def _consumer(dispatcher, policy, dataset, job_name):
    """A dataset that reads what the workers make. Each walk is an iteration of the job, or a job of its own."""
    iterations = itertools.count()
    spec = dataset.element_spec

    def elements():
        key = None if job_name is None else (job_name, next(iterations))
        try:
            iteration = dispatcher._iteration(key, lambda: _Iteration(dispatcher._parts(policy, dataset)))
            while (element := iteration.next()) is not _Iteration.END:
                yield tuple(structure.to_tensors(spec, element))
        except errors.OpError as error:
            # The consumer's op puts its own name around the text.
            raise _Failed(error.error_code, error._engine_message or error.message) from error

    made = Dataset.from_generator(elements, output_signature=tuple(structure.flat_tensor_specs(spec)))
    return make("_DataServiceDatasetV2", made._variant_tensor, spec, [made, dataset])


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
    policy = _policy(processing_mode)
    _check_compression(compression)

    def apply(dataset):
        dispatcher = _connect(service)
        _check_options(policy, job_name, consumer_index, num_consumers, cross_trainer_cache, target_workers)
        dispatcher._register(dataset, None)
        return _consumer(dispatcher, policy, dataset, job_name)

    return apply


def register_dataset(service, dataset, compression="AUTO", dataset_id=None):
    """Makes a dataset known to a service; its id is given back."""
    _check_compression(compression)
    return convert_to_tensor(_connect(service)._register(dataset, dataset_id), dtypes.string)


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
    policy = _policy(processing_mode)
    dispatcher = _connect(service)
    _check_options(policy, job_name, consumer_index, num_consumers, cross_trainer_cache, target_workers)
    name = convert_to_tensor(dataset_id, dtypes.string).numpy().decode()
    dataset = dispatcher._datasets.get(name)
    if dataset is None and element_spec is None:
        raise ValueError(
            f"Failed to fetch element spec for dataset id {name} from tf.data service. If the dataset was registered in "
            "graph mode or inside a tf.function, the `element_spec` must be specified as an argument to "
            "`from_dataset_id`."
        )
    if dataset is None:
        raise errors.NotFoundError(
            None,
            None,
            f"Dataset id {name} not found. It must be registered with `register_dataset` before calling `from_dataset_id`.",
        )
    return _consumer(dispatcher, policy, dataset, job_name)


def distributed_save(dataset, path, data_service_address, compression="AUTO"):
    """Has a service write a dataset, in the background. Dataset.load(path, wait=True) waits for it."""
    from weft._src.data.save import chunk_writer

    if not isinstance(data_service_address, str):
        raise ValueError(
            f"`data_service_address` must be a string, but is a {type(data_service_address)} ({data_service_address}"
        )
    if not data_service_address:
        raise ValueError("`data_service_address` must not be empty")
    dispatcher = _connect(data_service_address)
    path = os.fspath(path)
    if not path:
        raise errors.InvalidArgumentError(None, None, "directory must be nonempty")
    if not dispatcher._config.fault_tolerant_mode:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Failed to snapshot: tf.data distributed snapshot requires running tf.data service in the fault tolerant mode.",
        )
    write = chunk_writer(dataset, path, "SNAPPY" if compression == "AUTO" else compression or "")

    def work():
        dispatcher._parts(ShardingPolicy.OFF, dataset)  # waits for a worker
        write()

    threading.Thread(target=work, daemon=True).start()
