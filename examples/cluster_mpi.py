"""A program that takes its cluster from TF_CONFIG, as every process of Open MPI's mpirun:

mpirun -n 2 python examples/cluster_mpi.py examples/train_workers.py

Where mpirun uses several machines, WEFT_CLUSTER_FILE names a file that all see, with the addresses in the order of the ranks: {"worker": ["node1:8888", "node2:8888"]}.
"""

import json
import os
import runpy
import sys

import weft as tf

resolver = tf.distribute.cluster_resolver.OpenMpiClusterResolver(int(os.environ.get("PORT", 8888)))
task = {"type": resolver.task_type, "index": resolver.task_id}
os.environ["TF_CONFIG"] = json.dumps({"cluster": resolver.cluster_spec().as_dict(), "task": task})
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
