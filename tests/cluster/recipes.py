"""The job files of examples/, played on this machine: recipes.py WEFT PYTHON EXAMPLES.

Slurm's commands, Open MPI's mpirun and the package ray are stand-ins that do what the files need of them; of the Kubernetes file, the commands run with the files and names that a pod has.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

weft, python, examples = (pathlib.Path(a).absolute() for a in sys.argv[1:4])
PI = "pi = 3.141592654"
TOKEN = "0123456789abcdef" * 4


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def script(path, text):
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


def slurm(folder):
    """Two nodes, which are two addresses of this machine."""
    tools = folder / "tools"
    tools.mkdir()
    script(tools / "scontrol", '[ "$*" = "show hostnames n[1-2]" ] && printf "127.0.0.1\\n127.0.0.2\\n"\n')
    script(
        tools / "srun",
        'for i in 0 1; do SLURM_PROCID=$i "$@" & all="$all $!"; done\ntrap "kill $all" TERM\nwait $all\nwait $all\n',
    )
    (tools / "weft").symlink_to(weft)
    port = free_port()
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "WORK": str(folder / "job"),
        "CLIENT": f"{python} {examples / 'cluster.py'}",
        "SLURM_JOB_ID": str((port - 20000) % 20000),
        "SLURM_JOB_NODELIST": "n[1-2]",
    }
    run = subprocess.run(
        ["bash", str(examples / "cluster.sbatch")],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0 and PI in run.stdout, (run.returncode, run.stdout, run.stderr)
    assert "/job:worker/replica:0/task:1" in run.stdout and run.stdout.count("protected by a token") == 2, run.stdout
    assert run.stdout.count("ends (Terminated)") == 2 and not (folder / "job").exists(), run.stdout


def kubernetes(folder):
    text = (examples / "cluster.yaml").read_text()
    assert "\t" not in text
    kinds = [re.search(r"^kind: (\w+)$", part, re.M)[1] for part in text.split("\n---\n")]
    assert kinds == ["ConfigMap", "Service", "StatefulSet", "Job"], kinds
    cluster = json.loads(re.search(r"cluster\.json: \|\n\s+(.*)\n", text)[1])
    service = re.search(r"serviceName: (\S+)", text)[1]
    replicas = int(re.search(r"replicas: (\d+)", text)[1])
    ports = set(re.findall(r"(?:port|containerPort): (\d+)", text))
    assert cluster == {"worker": [f"weft-worker-{i}.{service}:{p}" for i in range(replicas) for p in ports]}
    assert f"kind: Service\nmetadata:\n  name: {service}\n" in text
    commands = [json.loads(c) for c in re.findall(r"command: (\[.*?\])[}\n]", text)]
    assert len(commands) == 3, commands
    # The same with addresses of this machine.
    addresses = [f"localhost:{free_port()}" for _ in range(replicas)]
    (folder / "cluster.json").write_text(json.dumps({"worker": addresses}))
    (folder / "token").write_text(TOKEN)
    tools = folder / "bin"
    tools.mkdir()
    (tools / "weft").symlink_to(weft)
    script(tools / "python3", f'exec {python} "$@"\n')
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "WEFT_CLUSTER_TOKEN_FILE": str(folder / "token"),
    }

    def local(command):
        places = {
            "/etc/weft/cluster.json": str(folder / "cluster.json"),
            "/app": str(examples),
            "localhost:8888": addresses[0],
        }
        for a, b in places.items():
            command = [c.replace(a, b) for c in command]
        return command

    server, probe, client = map(local, commands)
    workers = [
        subprocess.Popen(server, env={**environment, "HOSTNAME": f"weft-worker-{i}"}, stdout=subprocess.PIPE, text=True)
        for i in range(replicas)
    ]
    try:
        for i, w in enumerate(workers):
            assert f"task:{i} at {addresses[i]}" in w.stdout.readline()
        subprocess.run(probe, env=environment, check=True, timeout=60, stdout=subprocess.DEVNULL)
        out = subprocess.run(client, env=environment, check=True, timeout=120, capture_output=True, text=True).stdout
        assert PI in out, out
        for w in workers:
            w.terminate()
        assert [w.wait(60) for w in workers] == [0] * replicas
    finally:
        for w in workers:
            w.kill()
            w.wait()


MPIRUN = """
# mpirun -n N COMMAND ...: as on one machine, or (NODES=several) on one machine each
n=$2; shift 2
export OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_LOCAL_SIZE=$([ "$NODES" = several ] && echo 1 || echo $n)
for ((i = 0; i < n; i++)); do OMPI_COMM_WORLD_RANK=$i "$@" & all="$all $!"; done
trap "kill $all" TERM
for p in $all; do wait $p || failed=1; done
exit ${failed:-0}
"""


def trained(printed):
    """Whether two workers have learned the same."""
    weights = re.findall(r"^[\d.e-]+ \[(.*)\]$", printed, re.M)
    return len(weights) == 2 and weights[0] == weights[1] and [round(float(w)) for w in weights[0].split()] == [2, -3]


def open_mpi(folder):
    script(folder / "mpirun", MPIRUN)
    call = ["./mpirun", "-n", "2"]
    train = [*call, python, examples / "cluster_mpi.py", examples / "train_workers.py"]

    def run(**more):
        return subprocess.run(
            train, env={**os.environ, **more}, cwd=folder, capture_output=True, text=True, timeout=120
        )

    done = run(PORT=str(free_port()))
    assert done.returncode == 0 and trained(done.stdout), (done.stdout, done.stderr)
    refused = run(NODES="several")
    assert refused.returncode and "WEFT_CLUSTER_FILE" in refused.stderr, (refused.stdout, refused.stderr)
    cluster = folder / "cluster.json"
    cluster.write_text(json.dumps({"worker": [f"localhost:{free_port()}" for _ in range(2)]}))
    done = run(NODES="several", WEFT_CLUSTER_FILE=str(cluster))
    assert done.returncode == 0 and trained(done.stdout), (done.stdout, done.stderr)
    # Workers without a program of their own.
    servers = subprocess.Popen(
        [*call, weft, "server", "--port", str(free_port())], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        said = sorted(servers.stdout.readline().split(" at ")[0] for _ in range(2))
        assert said == [f"weft server: /job:worker/task:{i}" for i in range(2)], said
    finally:
        servers.terminate()
        servers.communicate(timeout=60)


RAY = '''
"""What examples/cluster_ray.py needs of Ray: actors, each in a process of its own."""
import multiprocessing
import types

_fork = multiprocessing.get_context("fork")
util = types.SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")


def init():
    pass


def _serve(made, pipe):
    actor = made()
    while True:
        name, args = pipe.recv()
        pipe.send(getattr(actor, name)(*args))


class _Method:
    def __init__(self, pipe, name):
        self._pipe, self._name = pipe, name

    def remote(self, *args):
        self._pipe.send((self._name, args))
        return self._pipe


class _Actor:
    def __init__(self, made):
        self._pipe, other = _fork.Pipe()
        _fork.Process(target=_serve, args=(made, other), daemon=True).start()

    def __getattr__(self, name):
        return _Method(self._pipe, name)


def remote(made):
    return types.SimpleNamespace(options=lambda **_: types.SimpleNamespace(remote=lambda: _Actor(made)))


def get(results):
    return [r.recv() for r in results]
'''


def ray(folder):
    (folder / "ray.py").write_text(RAY)
    call = [python, examples / "cluster_ray.py", "2", examples / "train_workers.py"]
    path = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        call, env={**os.environ, "PYTHONPATH": path}, cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and trained(done.stdout), (done.stdout, done.stderr)
    assert done.stdout.count("ended with 0:") == 2, done.stdout


def main():
    for recipe in (slurm, kubernetes, open_mpi, ray):
        begin = time.time()
        with tempfile.TemporaryDirectory() as folder:
            recipe(pathlib.Path(folder))
        print(f"ok {recipe.__name__} ({time.time() - begin:.1f} s)")


main()
