"""tf.train.ClusterSpec: the addresses of a cluster's tasks, by job and number."""


class ClusterSpec:
    """Addresses by job and task."""

    def __init__(self, cluster):
        from weft._src.proto import ClusterDef

        if isinstance(cluster, dict):
            self._jobs = {str(job): _tasks(job, tasks) for job, tasks in cluster.items()}
        elif isinstance(cluster, ClusterDef):
            self._jobs = {job.name: {int(i): a for i, a in sorted(job.tasks.items())} for job in cluster.job}
        elif isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                "`ClusterDef` protocol buffer"
            )

    def __bool__(self):
        return bool(self._jobs)

    __nonzero__ = __bool__

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __repr__(self):
        return "ClusterSpec({" + ", ".join(f"{k!r}: {v!r}" for k, v in sorted(self.as_dict().items())) + "})"

    __str__ = __repr__

    def as_dict(self):
        """Lists of addresses, or dicts by number where some are left out."""
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in ((job, dict(sorted(tasks.items()))) for job, tasks in self._jobs.items())
        }

    def as_cluster_def(self):
        """The message."""
        from weft._src.proto import ClusterDef

        made = ClusterDef()
        for name, tasks in sorted(self._jobs.items()):
            job = made.job.add(name=name)
            for i, address in sorted(tasks.items()):
                job.tasks[i] = address
        return made

    @property
    def jobs(self):
        """The names of the jobs."""
        return list(self._jobs)

    def _job(self, name):
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    def num_tasks(self, job_name):
        return len(self._job(job_name))

    def task_indices(self, job_name):
        return sorted(self._job(job_name))

    def task_address(self, job_name, task_index):
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name):
        """Addresses by number, None where there is no task."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)] if tasks else []


def _tasks(job, tasks):
    if isinstance(tasks, (list, tuple)):
        return {i: _address(job, a) for i, a in enumerate(tasks)}
    if isinstance(tasks, dict):
        return {int(i): _address(job, a) for i, a in tasks.items()}
    raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")


def _address(job, address):
    if isinstance(address, bytes):
        return address.decode()
    if not isinstance(address, str):
        raise TypeError(f"Task address must be bytes or unicode; got {address!r} in job {job!r}")
    return address
