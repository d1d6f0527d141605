"""Clusters as launchers and platforms describe them: Slurm, Kubernetes, instance groups, SageMaker; policies of input sharding."""
import json
import os
import types

import tensorflow as tf

resolvers = tf.distribute.cluster_resolver


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


def show(r):
    spec = r.cluster_spec().as_dict()
    print(spec, r.task_type, r.task_id, r.master(), r.rpc_layer, r.num_accelerators())


def slurm(**variables):
    for name in [n for n in os.environ if n.startswith("SLURM_")]:
        del os.environ[name]
    os.environ.update({f"SLURM_{k}": str(v) for k, v in variables.items()})


step = dict(PROCID=3, STEP_NUM_TASKS=5, STEP_NODELIST="t02n13,t02n[41-42,045]", STEP_TASKS_PER_NODE="2,1(x3)")
slurm(**step)
r = resolvers.SlurmClusterResolver(gpus_per_node=2, gpus_per_task=1)
show(r)
print(r.get_task_info(), os.environ["CUDA_VISIBLE_DEVICES"])
r = resolvers.SlurmClusterResolver({"ps": 1, "worker": 4}, port_base=1000, gpus_per_node=2, gpus_per_task=1, auto_set_gpu=False, rpc_layer="x")
show(r)
print(r.master("ps", 0), r.master("worker", 3, "z"), resolvers.SlurmClusterResolver(gpus_per_node=1, gpus_per_task=0 + 1, tasks_per_node={"b": 1, "a": 1, "c": 1, "d": 1, "e": 1}).cluster_spec().as_dict())
attempt(lambda: resolvers.SlurmClusterResolver({"worker": 7}, gpus_per_node=2, gpus_per_task=1))
attempt(lambda: resolvers.SlurmClusterResolver(gpus_per_node=1, gpus_per_task=1))
slurm(PROCID=1, STEP_NUM_TASKS=4, STEP_NODELIST="n[1-2]")
print(resolvers.SlurmClusterResolver(gpus_per_node=2, gpus_per_task=1, tasks_per_node=2).cluster_spec().as_dict())
slurm(PROCID=1)
attempt(lambda: resolvers.SlurmClusterResolver(gpus_per_node=1, gpus_per_task=1))
slurm()
attempt(lambda: resolvers.SlurmClusterResolver(gpus_per_node=1, gpus_per_task=1))


def pod(name, ip, phase="Running"):
    return types.SimpleNamespace(metadata=types.SimpleNamespace(name=name), status=types.SimpleNamespace(host_ip=ip, phase=phase))


class Pods:
    def __init__(self, **pods):
        self._pods = pods

    def list_pod_for_all_namespaces(self, label_selector):
        return types.SimpleNamespace(items=self._pods[label_selector])


client = Pods(a=[pod("w2", "10.0.0.2"), pod("w1", "10.0.0.1")], b=[pod("w3", "10.0.0.3")], c=[pod("p", "10.0.0.4")], d=[pod("q", "10.0.0.5", "Failed")])
r = resolvers.KubernetesClusterResolver({"worker": ["a", "b"], "ps": ["c"]}, 8000, override_client=client)
print(r.cluster_spec().as_dict(), r.task_type, r.task_id, repr(r.master()), r.master("worker", 1), r.master("ps", 0, "x"))
r.task_type, r.task_id = "worker", 2
print(r.master(), r.rpc_layer)
attempt(lambda: resolvers.KubernetesClusterResolver({"worker": ["d"]}, override_client=client).cluster_spec())
print([str(x) for x in resolvers.KubernetesExecutableLocation])


class Call:
    def __init__(self, answer):
        self.execute = lambda: answer


class Compute:
    def __init__(self, **addresses):
        self._addresses = addresses

    def instanceGroups(self):
        return self

    def instances(self):
        return self

    def listInstances(self, project, zone, instanceGroups, body, orderBy):
        print(project, zone, instanceGroups, body, orderBy)
        return Call({"items": [{"instance": f"https://host/a/{n}"} for n in self._addresses]})

    def listInstances_next(self, previous_request, previous_response):
        return None

    def get(self, project, zone, instance):
        return Call({"networkInterfaces": [{"networkIP": self._addresses[instance]}]})


r = resolvers.GCEClusterResolver("p", "z", "g", 8470, task_id=1, credentials=None, service=Compute(b="10.1.2.4", a="10.1.2.3"))
print(r.cluster_spec().as_dict(), r.task_type, r.task_id, r.master(), r.master("worker", 0, ""), r.rpc_layer)
r.task_id = 0
print(r.task_id, r.master(rpc_layer="q"))
try:
    r.task_type = "ps"
except RuntimeError as e:
    print(e)
