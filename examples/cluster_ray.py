"""A program that takes its cluster from TF_CONFIG, as tasks on the nodes of a Ray cluster:

python examples/cluster_ray.py 2 examples/train_workers.py

Every node has the program at the same path, and weft. The tasks of one job should not be reached by others: give them WEFT_CLUSTER_TOKEN_FILE or certificates by `ray start`'s environment.
"""

import json
import os
import socket
import subprocess
import sys

import ray


@ray.remote
class Task:
    """One process of the program, on whatever node Ray puts it."""

    def address(self):
        self._held = socket.socket()  # nobody else gets the port before the program asks for it
        self._held.bind(("", 0))
        return f"{ray.util.get_node_ip_address()}:{self._held.getsockname()[1]}"

    def run(self, cluster, index, command):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        self._held.close()
        env, out = {**os.environ, "TF_CONFIG": config}, subprocess.PIPE
        done = subprocess.run(command, env=env, stdout=out, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


count, program = int(sys.argv[1]), [sys.executable, *sys.argv[2:]]
ray.init()
tasks = [Task.options(scheduling_strategy="SPREAD").remote() for _ in range(count)]
cluster = {"worker": ray.get([t.address.remote() for t in tasks])}
ends = ray.get([t.run.remote(cluster, i, program) for i, t in enumerate(tasks)])
for i, (code, printed) in enumerate(ends):
    print(f"worker {i} ended with {code}:\n{printed}", end="")
sys.exit(any(code for code, _ in ends))
