"""Strategies: the same program on several devices.

context.py          which strategy and which replica the running code belongs to
strategy.py         what every strategy can do; extended.py: what each does in its own way
default.py          the strategy of programs that have none; mirrored.py, one_device.py ...: the others
replica_context.py  a replica's own view; replicas.py: replicas as threads that take turns
values.py           a value for each replica; variable.py: a variable for each replica; grouping.py: structures of them
cross_device_ops.py how values of replicas become one
input.py            datasets and iterators that give each replica its part; batches.py: how batches are divided
cluster_resolver.py where clusters are described; platform_resolvers.py: by launchers; cluster_spec.py: tf.train.ClusterSpec
multi_worker.py     mirrored variables over processes; collectives.py: how they meet; multi_worker_util.py: who is who
file_shards.py      datasets of which each worker reads its files
parameter_server.py variables on servers; sharded_variable.py: cut up among them
coordinator.py      gives functions to workers; closures.py: the functions on their way; remote_value.py: their results;
                    per_worker_dataset.py: their input
preemption.py       a checkpoint before a machine is taken away
"""
