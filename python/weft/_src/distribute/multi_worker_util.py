"""What the description of a cluster says about one of its tasks."""

from weft._src.distribute.cluster_spec import ClusterSpec

_JOBS = ("chief", "worker", "evaluator", "ps", None)


def check_cluster(cluster_spec, task_type, task_id):
    """The cluster has only known jobs, and the task is one of it."""
    spec = ClusterSpec(cluster_spec)
    counts = {job: len(tasks) for job, tasks in spec.as_dict().items()}
    if any(job not in _JOBS for job in counts):
        raise ValueError(
            f"Disallowed task type found in cluster spec. Allowed types are {_JOBS} and the cluster spec is {spec}."
        )
    if task_type not in _JOBS:
        raise ValueError(f"Unrecognized task_type: {task_type}, valid task types are: {_JOBS}")
    if task_type and task_type not in counts and task_type != "evaluator":
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    for job in ("chief", "evaluator"):
        if counts.get(job, 0) > 1:
            raise ValueError(f"There must be at most one '{job}' job.")
    if task_type in counts and task_id >= counts[task_type]:
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")


def is_chief(cluster_spec, task_type, task_id):
    """Whether the task writes checkpoints and summaries for all."""
    check_cluster(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return True
    return "chief" not in ClusterSpec(cluster_spec).jobs and task_type == "worker" and task_id == 0


def leader(cluster_spec, task_type, task_id):
    """The task that collectives are arranged by; empty: none is needed."""
    spec = ClusterSpec(cluster_spec)
    if not spec:
        return ""
    check_cluster(spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return f"/job:{'chief' if 'chief' in spec.jobs else 'worker'}/replica:0/task:0"


def worker_count(cluster_spec, task_type):
    """How many tasks train together."""
    check_cluster(cluster_spec, task_type, 0)
    jobs = ClusterSpec(cluster_spec).as_dict()
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    if task_type == "evaluator":
        return len(jobs["evaluator"])
    return len(jobs.get("chief", ())) + len(jobs.get("worker", ()))


def id_in_cluster(cluster_spec, task_type, task_id):
    """The number of the task among those that train together: the chief first."""
    check_cluster(cluster_spec, task_type, task_id)
    if task_type == "chief":
        return 0
    if task_type == "worker":
        return task_id + len(ClusterSpec(cluster_spec).as_dict().get("chief", ()))
    if task_type == "evaluator":
        return task_id
    raise ValueError(f"There is no id for task_type {task_type!r}")
