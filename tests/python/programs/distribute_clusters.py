"""Descriptions of clusters, resolvers, options and partitioners."""
import json
import os

import tensorflow as tf

resolvers = tf.distribute.cluster_resolver


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": ["c:3"]})
print(spec, spec.as_dict(), spec.jobs, spec.num_tasks("worker"), spec.task_indices("worker"), spec.task_address("worker", 1))
print(spec.job_tasks("ps"), spec == tf.train.ClusterSpec(spec), bool(tf.train.ClusterSpec({})), spec != spec)
print(spec.as_cluster_def(), tf.train.ClusterSpec(spec.as_cluster_def()).as_dict())
print(tf.train.ClusterSpec({"w": {0: "a", 3: "b"}}).as_dict(), tf.train.ClusterSpec({"w": {1: "a", 3: "b"}}).job_tasks("w"))
for f in (
    lambda: spec.task_address("x", 0),
    lambda: spec.task_address("ps", 5),
    lambda: spec.job_tasks("x"),
    lambda: tf.train.ClusterSpec(3),
    lambda: tf.train.ClusterSpec({"w": 3}),
):
    attempt(f)

simple = resolvers.SimpleClusterResolver(spec, "m:1", "worker", 1, num_accelerators={"GPU": 2}, rpc_layer="grpc")
print(simple.master(), simple.master("ps", 0), simple.master(rpc_layer="x"), simple.task_type, simple.task_id, repr(simple.environment))
print(simple.num_accelerators(), simple.cluster_spec().as_dict(), simple.rpc_layer)
attempt(lambda: resolvers.SimpleClusterResolver({"worker": ["a"]}))
union = resolvers.UnionResolver(simple, resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"ps": ["d:4"], "chief": ["e:5"]})))
print(union.cluster_spec().as_dict(), union.task_type, union.task_id, union.master(), union.master("ps", 1), union.rpc_layer)
attempt(lambda: resolvers.UnionResolver())
attempt(lambda: resolvers.UnionResolver(1))
one, two = (resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"w": {i: "a"}})) for i in (1, 2))
print(resolvers.UnionResolver(one, two).cluster_spec().as_dict())
attempt(lambda: resolvers.UnionResolver(one, one).cluster_spec())


def configured(**config):
    os.environ["TF_CONFIG"] = json.dumps(config)
    found = resolvers.TFConfigClusterResolver()
    print(found.cluster_spec().as_dict(), found.task_type, found.task_id, repr(found.master()), found.rpc_layer, found.environment)
    return found


configured()
cluster = {"worker": ["localhost:1111", "localhost:2222"], "chief": ["localhost:3333"]}
found = configured(cluster=cluster, task={"type": "worker", "index": 1}, rpc_layer="grpc")
print(found.master("worker", 0), found.master("chief", 0, "z"))
found.task_id, found.task_type, found.rpc_layer = 0, "chief", "p"
print(found.task_id, found.task_type, found.master())
configured(cluster={"worker": ["localhost:1111"]}, task={"type": "worker", "index": 0})
configured(cluster=cluster, session_master="master")
del os.environ["TF_CONFIG"]


class Mine(resolvers.ClusterResolver):
    def cluster_spec(self):
        return spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return "x"


print(Mine().task_type, Mine().task_id, repr(Mine().environment), dict(Mine().num_accelerators()))
for jobs in ({}, {"worker": ["a:1"]}, {"ps": ["b:1"]}, {"worker": ["a:1"], "ps": ["b:1"], "x": ["c:1"]}):
    attempt(lambda: tf.distribute.ParameterServerStrategy(resolvers.SimpleClusterResolver(tf.train.ClusterSpec(jobs))))
attempt(lambda: tf.distribute.TPUStrategy())
attempt(lambda: resolvers.TPUClusterResolver())

partitioners = tf.distribute.experimental.partitioners
shape = tf.TensorShape
print(partitioners.FixedShardsPartitioner(2)(shape([5, 3]), tf.float32), partitioners.FixedShardsPartitioner(8)(shape([5, 3]), tf.float32))
print(partitioners.MinSizePartitioner(16, max_shards=4)(shape([6, 1]), tf.float32), partitioners.MinSizePartitioner()(shape([600, 600]), tf.float32))
print(partitioners.MaxSizePartitioner(4)(shape([6, 1]), tf.float32), partitioners.MaxSizePartitioner(40, max_shards=2)(shape([60, 2]), tf.float64))
print(partitioners.MaxSizePartitioner(100)(shape([60, 2]), tf.string), partitioners.FixedShardsPartitioner(2)(shape([5, 3]), tf.int8, axis=1))
attempt(lambda: partitioners.MinSizePartitioner(0))
attempt(lambda: partitioners.MaxSizePartitioner(0))

experimental = tf.distribute.experimental
print(experimental.CommunicationOptions(implementation="nccl").implementation, list(experimental.CommunicationImplementation))
print(experimental.CollectiveHints(50, timeout_seconds=3.0).bytes_per_pack, experimental.CollectiveCommunication is experimental.CommunicationImplementation)
print(tf.distribute.RunOptions(), tf.distribute.InputOptions(experimental_fetch_to_device=False), list(tf.distribute.ReduceOp), sep="\n")
v1 = tf.compat.v1.distribute
strategy = v1.MirroredStrategy(["CPU:0"])
print(type(strategy).__name__, strategy.reduce("MEAN", 3.0), v1.get_loss_reduction(), isinstance(strategy, v1.Strategy), isinstance(strategy, tf.distribute.Strategy))
print(v1.OneDeviceStrategy("CPU:0").extended.worker_devices, isinstance(strategy.extended, tf.distribute.StrategyExtended))
