"""Cluster resolvers of launchers and platforms: Slurm, Open MPI, Kubernetes, Google's virtual machines, SageMaker."""

import enum
import json
import os
import re
import ssl
import subprocess
import urllib.parse
import urllib.request

from weft._src.distribute.cluster_resolver import ClusterResolver, _with_layer
from weft._src.distribute.cluster_spec import ClusterSpec

_POD_SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"


class _Placed(ClusterResolver):
    """Of a platform that knows which address each task has."""

    rpc_layer = "grpc"

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return _with_layer(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)


# ---- Slurm


def expand_hostlist(hostlist):
    """["n1", "m01", "m02"] of "n1,m[01-02]"."""
    hosts = []
    try:
        for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", hostlist):
            found = re.fullmatch(r"([^,[\]]*)(?:\[([^\]]+)\])?", part)
            if found is None:
                raise ValueError(f"Invalid part: {part}")
            prefix, numbers = found.groups()
            if numbers is None:
                hosts.append(prefix)
                continue
            for span in numbers.split(","):
                first, _, last = span.partition("-")
                for i in range(int(first), int(last or first) + 1):
                    hosts.append(prefix + str(i).zfill(len(first)))
    except ValueError as e:
        raise ValueError(f'Invalid hostlist format "{hostlist}": {e}') from e
    return hosts


def expand_tasks_per_node(tasks_per_node):
    """[2, 3, 3] of "2,3(x2)"."""
    counts = []
    for part in tasks_per_node.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if found is None:
            raise ValueError(f'Invalid tasks-per-node list format "{tasks_per_node}": ')
        counts.extend([int(found[1])] * int(found[2] or 1))
    return counts


def _slurm(name):
    try:
        return os.environ[f"SLURM_{name}"]
    except KeyError:
        raise RuntimeError(f"SLURM_{name} not found in environment. Not running inside a SLURM step?") from None


def _gpus_here():
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len(visible.split(","))
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


class SlurmClusterResolver(_Placed):
    """The tasks of a Slurm job step: jobs take them in the order of their names, hosts in the order of theirs."""

    def __init__(
        self,
        jobs=None,
        port_base=8888,
        gpus_per_node=None,
        gpus_per_task=None,
        tasks_per_node=None,
        auto_set_gpu=True,
        rpc_layer="grpc",
    ):
        self._rank = int(_slurm("PROCID"))
        self._jobs = {"worker": int(_slurm("STEP_NUM_TASKS"))} if jobs is None else jobs
        self._port_base = port_base
        if isinstance(tasks_per_node, dict):
            self._tasks = tasks_per_node
        else:
            hosts = expand_hostlist(_slurm("STEP_NODELIST"))
            if tasks_per_node is None:
                self._tasks = dict(zip(hosts, expand_tasks_per_node(_slurm("STEP_TASKS_PER_NODE"))))
            else:
                self._tasks = dict.fromkeys(hosts, int(tasks_per_node))
        most = max(self._tasks.values())
        self._gpus_per_node = _gpus_here() if gpus_per_node is None else gpus_per_node
        self._gpus_per_task = self._gpus_per_node // most if gpus_per_task is None else gpus_per_task
        self._auto_set_gpu, self.rpc_layer = auto_set_gpu, rpc_layer
        if most * self._gpus_per_task > self._gpus_per_node:
            raise RuntimeError("Requested more GPUs per node than available.")
        wanted, there = sum(self._jobs.values()), sum(self._tasks.values())
        if wanted != there:
            raise RuntimeError(f"Requested {wanted} tasks but only {there} were assigned.")

    def cluster_spec(self):
        """Says as well which task this process is, and which GPUs are its own."""
        addresses, gpus = [], []
        for host, count in sorted(self._tasks.items()):
            for i in range(count):
                first = i * self._gpus_per_task
                addresses.append(f"{host}:{self._port_base + i}")
                gpus.append(",".join(str(g) for g in range(first, first + self._gpus_per_task)))
        jobs, first = {}, 0
        for job, count in sorted(self._jobs.items()):
            jobs[job] = addresses[first : first + count]
            if first <= self._rank < first + count:
                self.task_type, self.task_id = job, self._rank - first
            first += count
        if self._auto_set_gpu and self._gpus_per_task:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self._rank]
        return ClusterSpec(jobs)

    def get_task_info(self):
        """(job, number), once cluster_spec() was called."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": self._gpus_per_task}


# ---- Open MPI


class OpenMpiClusterResolver(_Placed):
    """The processes of mpirun, which tells them their numbers, but not where the others are: the tasks of the JSON file `cluster_file` (or
    WEFT_CLUSTER_FILE) in the order of jobs and numbers, or a job "worker" on this machine at `port_base` and the numbers behind it."""

    def __init__(self, port_base=8888, cluster_file=None, rpc_layer="grpc"):
        rank, size = (self._number(name) for name in ("RANK", "SIZE"))
        cluster_file = cluster_file or os.environ.get("WEFT_CLUSTER_FILE")
        if cluster_file:
            with open(cluster_file) as f:
                jobs = json.load(f)
        elif self._number("LOCAL_SIZE") == size:
            jobs = {"worker": [f"localhost:{port_base + i}" for i in range(size)]}
        else:
            raise RuntimeError(
                "mpirun has started processes on several machines: WEFT_CLUSTER_FILE must name a file with their addresses, in the order of their ranks"
            )
        self._spec, self.rpc_layer = ClusterSpec(jobs), rpc_layer
        tasks = [(job, i) for job in sorted(self._spec.jobs) for i in self._spec.task_indices(job)]
        if len(tasks) != size:
            raise RuntimeError(f"mpirun has started {size} processes, and the cluster has {len(tasks)} tasks")
        self.task_type, self.task_id = tasks[rank]

    @staticmethod
    def _number(name):
        try:
            return int(os.environ[f"OMPI_COMM_WORLD_{name}"])
        except KeyError:
            raise RuntimeError(f"OMPI_COMM_WORLD_{name} not found in environment. Not started by mpirun?") from None

    def cluster_spec(self):
        return self._spec


# ---- Kubernetes


class ExecutableLocation(enum.Enum):
    """Where a program is that asks Kubernetes: in a pod, or elsewhere with a kubectl configuration."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class _Attributes:
    """A JSON object with its fields as attributes, named as in Python."""

    def __init__(self, fields):
        for name, value in fields.items():
            setattr(self, re.sub(r"(?<!^)(?=[A-Z])", "_", name).replace("I_P", "ip").lower(), _attributes(value))


def _attributes(value):
    if isinstance(value, list):
        return [_attributes(v) for v in value]
    return _Attributes(value) if isinstance(value, dict) else value


class PodList:
    """Asks the API server of a Kubernetes cluster for pods; by default as the pod that this program runs in."""

    def __init__(self, url=None, token=None, certificate=None):
        if url is None:
            host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
            if not host or not port:
                raise RuntimeError("Service host/port is not set: this program does not run in a pod of Kubernetes")
            url = f"https://{f'[{host}]' if ':' in host else host}:{port}"
            with open(f"{_POD_SECRETS}/token", encoding="utf-8") as f:
                token = f.read().strip()
            certificate = f"{_POD_SECRETS}/ca.crt"
        self._url, self._token, self._certificate = url, token, certificate

    def list_pod_for_all_namespaces(self, label_selector):
        query = urllib.parse.urlencode({"labelSelector": label_selector})
        request = urllib.request.Request(f"{self._url}/api/v1/pods?{query}")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        secure = ssl.create_default_context(cafile=self._certificate) if self._url.startswith("https") else None
        with urllib.request.urlopen(request, timeout=60, context=secure) as answer:
            return _Attributes(json.load(answer))


class KubernetesClusterResolver(_Placed):
    """The pods that have the labels of each job."""

    def __init__(
        self,
        job_to_label_mapping=None,
        tf_server_port=8470,
        rpc_layer="grpc",
        override_client=None,
        executable_location=ExecutableLocation.WITHIN_CLUSTER,
    ):
        if executable_location not in list(ExecutableLocation):
            raise ValueError("The executable location provided is invalid.")
        self._client = override_client
        if not override_client and executable_location == ExecutableLocation.OFF_CLUSTER:
            self._client = _client_off_cluster()
        elif not override_client:
            self._client = PodList()
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self.rpc_layer = tf_server_port, rpc_layer

    def cluster_spec(self):
        jobs = {}
        for job, selectors in self._labels.items():
            jobs[job] = []
            for selector in selectors:
                pods = self._client.list_pod_for_all_namespaces(label_selector=selector).items
                for pod in sorted(pods, key=lambda p: p.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                    jobs[job].append(f"{pod.status.host_ip}:{self._port}")
        return ClusterSpec(jobs)


def _client_off_cluster():
    try:
        from kubernetes import client, config
    except ImportError:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install the "
            "Kubernetes Python client, run `pip install kubernetes` on your command line."
        ) from None
    config.load_kube_config()
    return client.CoreV1Api()


# ---- Google Compute Engine


class GCEClusterResolver(_Placed):
    """The machines of an instance group."""

    def __init__(
        self,
        project,
        zone,
        instance_group,
        port,
        task_type="worker",
        task_id=0,
        rpc_layer="grpc",
        credentials="default",
        service=None,
    ):
        self._project, self._zone, self._group, self._port = project, zone, instance_group, port
        self._task_type, self._task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._service = _compute_service(credentials) if service is None else service

    @property
    def task_type(self):
        return self._task_type

    @task_type.setter
    def task_type(self, task_type):
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    def cluster_spec(self):
        where = {"project": self._project, "zone": self._zone}
        groups = self._service.instanceGroups()
        request = groups.listInstances(
            instanceGroups=self._group, body={"instanceState": "RUNNING"}, orderBy="name", **where
        )
        addresses = []
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                name = item["instance"].split("/")[-1]
                details = self._service.instances().get(instance=name, **where).execute()
                addresses.append(f"{details['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type: sorted(addresses)})


def _compute_service(credentials):
    try:
        from googleapiclient import discovery
        from oauth2client.client import GoogleCredentials
    except ImportError:
        raise ImportError("googleapiclient must be installed before using the GCE cluster resolver") from None
    if credentials == "default":
        credentials = GoogleCredentials.get_application_default()
    return discovery.build("compute", "v1", credentials=credentials)


# ---- SageMaker


class SageMakerClusterResolver(ClusterResolver):
    """The hosts that the variables SM_HOSTS and SM_CURRENT_HOST name."""

    def __init__(self, port=2223, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._port, self._task_type, self._task_id = port, task_type, task_id
        self.rpc_layer, self._environment = rpc_layer, environment

    def _hosts(self):
        assert "SM_CURRENT_HOST" in os.environ and "SM_HOSTS" in os.environ, "Not a SageMaker Environment"
        hosts = sorted(json.loads(os.environ["SM_HOSTS"])) if os.environ["SM_HOSTS"] else []
        return hosts if os.environ["SM_CURRENT_HOST"] in hosts else []

    @property
    def task_type(self):
        if self._task_type is not None:
            return str(self._task_type)
        return "worker" if self._hosts() else None

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        if self._task_id is not None:
            return int(self._task_id)
        hosts = self._hosts()
        return hosts.index(os.environ["SM_CURRENT_HOST"]) if hosts else None

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def environment(self):
        return self._environment

    def cluster_spec(self):
        hosts = self._hosts()
        return ClusterSpec({"worker": [f"{host}:{self._port}" for host in hosts]} if hosts else {})

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        hosts = self._hosts()
        if len(hosts) < 2:  # this process
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        layer = self.rpc_layer if rpc_layer is None else rpc_layer
        return _with_layer(self.cluster_spec().task_address(task_type, task_id), layer)
