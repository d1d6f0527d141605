"""The job files of examples/, played on this machine: recipes.py WEFT PYTHON EXAMPLES.

Slurm's commands are stand-ins that do what the file needs of them; of the Kubernetes file, the commands run with the files and names that a pod has.
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


def main():
    for recipe in (slurm, kubernetes):
        begin = time.time()
        with tempfile.TemporaryDirectory() as folder:
            recipe(pathlib.Path(folder))
        print(f"ok {recipe.__name__} ({time.time() - begin:.1f} s)")


main()
