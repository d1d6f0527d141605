"""tf.distribute.Server: a task of a cluster that lives in this process. Sessions with its target run on it."""

from weft import _weft
from weft._src.distribute.cluster_spec import ClusterSpec


def _server_def(given, job_name, task_index, protocol, config):
    from weft._src.proto import ClusterDef, ServerDef

    made = ServerDef()
    if isinstance(given, ServerDef):
        made.MergeFrom(given)
        if job_name is not None:
            made.job_name = job_name
        if task_index is not None:
            made.task_index = task_index
        if protocol is not None:
            made.protocol = protocol
        if config is not None:
            made.default_session_config.MergeFrom(config)
        return made
    if not isinstance(given, (dict, ClusterDef, ClusterSpec)):
        raise TypeError(
            "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
        )
    cluster = ClusterSpec(given)
    if job_name is None:
        if len(cluster.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        job_name = cluster.jobs[0]
    if task_index is None:
        indices = cluster.task_indices(job_name)
        if len(indices) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        task_index = indices[0]
    made.cluster.CopyFrom(cluster.as_cluster_def())
    made.job_name, made.task_index, made.protocol = job_name, task_index, protocol or "grpc"
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


class Server:
    """One task of a cluster."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        from weft._src.framework import errors

        self._server_def = made = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        if made.protocol != "grpc":
            raise errors.NotFoundError(
                None,
                None,
                f"No server factory registered for the given ServerDef: {made}\n"
                "The available server factories are: [ GRPC_SERVER ]",
            )
        counts = made.default_session_config.device_count
        self._server = _weft.Server.make(
            ClusterSpec(made.cluster)._jobs,
            made.job_name,
            made.task_index,
            made.port,
            max(1, counts["CPU"] if "CPU" in counts else 1),
        )
        if start:
            self.start()

    def start(self):
        """Sessions can use it from here on."""
        self._server.start()

    def join(self):
        """Waits until the server is stopped, which is never."""
        self._server.join()

    @property
    def server_def(self):
        """The message that describes it."""
        return self._server_def

    @property
    def target(self):
        """What sessions give as their target."""
        return self._server.target

    @staticmethod
    def create_local_server(config=None, start=True):
        """A cluster of one task, on any free port."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)
