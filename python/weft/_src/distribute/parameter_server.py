"""tf.distribute.ParameterServerStrategy and its coordinator: there with their checks; the cluster that they drive needs
remote execution, which weft does not have."""

from weft._src.distribute.cluster_spec import ClusterSpec
from weft._src.distribute.strategy import Strategy, StrategyV1
from weft._src.framework.composite import CompositeTensor

_REMOTE = "weft has no remote execution: workers and parameter servers of other processes cannot be used"
_JOBS = ("chief", "worker", "evaluator", "ps", None)


def _check(resolver):
    spec = ClusterSpec(resolver.cluster_spec())
    jobs = spec.as_dict()
    if not jobs:
        raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
    if any(job not in _JOBS for job in jobs):
        raise ValueError(
            f"Disallowed task type found in cluster spec. Allowed types are {_JOBS} and the cluster spec is {spec}."
        )
    if resolver.task_type not in _JOBS:
        raise ValueError(
            f"Unrecognized task_type: {resolver.task_type}, valid task types are: "
            + ", ".join(f'"{job}"' for job in _JOBS if job)
        )
    if len(jobs.get("chief", [])) > 1:
        raise ValueError(f"There must be at most one 'chief' job, but found {len(jobs['chief'])}")
    if not jobs.get("worker"):
        raise ValueError("There must be at least one worker.")
    if not jobs.get("ps"):
        raise ValueError("There must be at least one ps.")


class ParameterServerStrategyV2(Strategy):
    """Variables on parameter servers, steps on workers that do not wait for each other."""

    def __init__(self, cluster_resolver, variable_partitioner=None):
        _check(cluster_resolver)
        raise NotImplementedError(f"tf.distribute.ParameterServerStrategy: {_REMOTE}")


class ParameterServerStrategyV1(StrategyV1):
    """tf.compat.v1.distribute.experimental.ParameterServerStrategy"""

    def __init__(self, cluster_resolver=None):
        raise NotImplementedError(f"tf.compat.v1.distribute.experimental.ParameterServerStrategy: {_REMOTE}")


class ClusterCoordinator:
    """Gives steps to the workers of a ParameterServerStrategy."""

    def __init__(self, strategy):
        if not isinstance(strategy, ParameterServerStrategyV2):
            raise AttributeError(f"{type(strategy).__name__!r} object has no attribute '_cluster_coordinator'")
        self._strategy = strategy

    @property
    def strategy(self):
        return self._strategy

    def schedule(self, fn, args=None, kwargs=None):
        raise NotImplementedError(f"ClusterCoordinator.schedule: {_REMOTE}")

    def join(self):
        raise NotImplementedError(f"ClusterCoordinator.join: {_REMOTE}")

    def done(self):
        raise NotImplementedError(f"ClusterCoordinator.done: {_REMOTE}")

    def create_per_worker_dataset(self, dataset_fn):
        raise NotImplementedError(f"ClusterCoordinator.create_per_worker_dataset: {_REMOTE}")

    def fetch(self, val):
        raise NotImplementedError(f"ClusterCoordinator.fetch: {_REMOTE}")


class RemoteValue:
    """The result of a scheduled step."""

    def fetch(self):
        raise NotImplementedError("Must be implemented in subclasses.")

    def get(self):
        raise NotImplementedError("Must be implemented in subclasses.")


class PerWorkerValues(CompositeTensor):
    """A value for each worker."""

    def __init__(self, values):
        self._values = tuple(values)

    @property
    def _type_spec(self):
        raise NotImplementedError(f"PerWorkerValues: {_REMOTE}")


def experimental_get_current_worker_index():
    """The worker whose step this is; there are none."""
    raise RuntimeError(
        "tf.distribute.coordinator.experimental_get_current_worker_index() can only be called from within a function "
        "that is scheduled on a worker of a ParameterServerStrategy"
    )
