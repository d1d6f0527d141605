"""tf.distribute.cluster_resolver: where a cluster is described."""

import abc
import collections
import json
import os

from weft._src.namespace import missing
from weft._src.distribute.cluster_spec import ClusterSpec


def _with_layer(master, rpc_layer):
    return f"{rpc_layer}://{master}" if rpc_layer and master else master


class ClusterResolver(abc.ABC):
    """The base: a cluster, and which of its tasks this process is."""

    @abc.abstractmethod
    def cluster_spec(self):
        """The cluster, as a tf.train.ClusterSpec."""
        raise NotImplementedError()

    @abc.abstractmethod
    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address that sessions connect to."""
        raise NotImplementedError()

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many devices of each kind a worker has, CPUs aside."""
        from weft._src.framework.config import list_logical_devices

        counts = collections.defaultdict(int)
        for d in list_logical_devices():
            if d.device_type not in ("CPU", "XLA_CPU", "XLA_GPU"):
                counts[d.device_type] += 1
        return counts

    @property
    def environment(self):
        """Where the cluster is."""
        return ""

    @property
    def task_type(self):
        """The job of this process."""
        return getattr(self, "_task_type", None)

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        """The number of this process in its job."""
        return getattr(self, "_task_id", None)

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given."""

    def __init__(
        self,
        cluster_spec,
        master="",
        task_type=None,
        task_id=None,
        environment="",
        num_accelerators=None,
        rpc_layer=None,
    ):
        super().__init__()
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master = cluster_spec, master
        self._task_type, self._task_id = task_type, task_id
        self._environment, self._num_accelerators, self._rpc_layer = environment, num_accelerators, rpc_layer

    def cluster_spec(self):
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            master = self.cluster_spec().task_address(task_type, task_id)
        else:
            master = self._master
        return _with_layer(master, rpc_layer or self._rpc_layer)

    @property
    def environment(self):
        return self._environment

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {} if self._num_accelerators is None else self._num_accelerators

    @property
    def rpc_layer(self):
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer


def _config(key=None, default=None):
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    return config if key is None else config.get(key, default)


class TFConfigClusterResolver(ClusterResolver):
    """The cluster of the environment variable TF_CONFIG."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @property
    def task_type(self):
        if self._task_type is not None:
            return self._task_type
        found = _config("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        if self._task_id is not None:
            return self._task_id
        found = _config("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def environment(self):
        return self._environment

    @property
    def rpc_layer(self):
        return _config("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return super().num_accelerators(task_type, task_id, config_proto)

    def cluster_spec(self):
        return ClusterSpec(_config("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        given = _config("session_master")
        if given is not None:
            return given
        # A cluster of one task is this process.
        cluster = self.cluster_spec()
        jobs = cluster.as_dict()
        if not jobs or (len(jobs) == 1 and len(next(iter(jobs.values()))) == 1):
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        return _with_layer(cluster.task_address(task_type, task_id), self.rpc_layer if rpc_layer is None else rpc_layer)


class UnionResolver(ClusterResolver):
    """Several clusters as one."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self._rpc_layer, self._task_type, self._task_id = (
            kwargs.pop(name, None) for name in ("rpc_layer", "task_type", "task_id")
        )
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(a, ClusterResolver) for a in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    def cluster_spec(self):
        merged = {}
        specs = [r.cluster_spec().as_dict() for r in self._resolvers]
        for job in dict.fromkeys(job for spec in specs for job in spec):
            parts = [spec[job] for spec in specs if job in spec]
            if all(isinstance(p, list) for p in parts):
                merged[job] = [address for p in parts for address in p]
            else:
                merged[job] = _merged_tasks(parts)
        return ClusterSpec(merged)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return _with_layer(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def environment(self):
        return self._resolvers[0].environment

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def task_type(self):
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        return self._task_id or self._resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def rpc_layer(self):
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer


def _merged_tasks(parts):
    merged = {}
    for part in parts:
        tasks = dict(enumerate(part)) if isinstance(part, list) else part
        twice = set(merged) & set(tasks)
        if twice:
            raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}")
        merged.update(tasks)
    return merged


class TPUClusterResolver(ClusterResolver):
    """Finds TPUs; there so that programs can try it."""

    def __init__(
        self,
        tpu=None,
        zone=None,
        project=None,
        job_name="worker",
        coordinator_name=None,
        coordinator_address=None,
        credentials="default",
        service=None,
        discovery_url=None,
    ):
        if tpu is None and "TPU_NAME" not in os.environ:
            raise ValueError("Please provide a TPU Name to connect to.")
        raise NotImplementedError("tf.distribute.cluster_resolver.TPUClusterResolver: weft's engine has no TPU devices")

    def cluster_spec(self):
        raise NotImplementedError

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        raise NotImplementedError


__all__ = ["ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver", "UnionResolver"]
__getattr__ = missing("tf.distribute.cluster_resolver")
