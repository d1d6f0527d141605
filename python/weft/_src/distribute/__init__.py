"""Strategies: the same program on several devices.

context.py          which strategy and which replica the running code belongs to
strategy.py         what every strategy can do; extended.py: what each does in its own way
default.py          the strategy of programs that have none; mirrored.py, one_device.py ...: the others
replica_context.py  a replica's own view; replicas.py: replicas as threads that take turns
values.py           a value for each replica; variable.py: a variable for each replica; grouping.py: structures of them
cross_device_ops.py how values of replicas become one
input.py            datasets and iterators that give each replica its part; batches.py: how batches are divided
cluster_resolver.py where clusters are described; cluster_spec.py: tf.train.ClusterSpec
"""
