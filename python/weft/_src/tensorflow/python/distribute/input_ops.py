"""Datasets cut into shares. tf-keras."""


def auto_shard_dataset(dataset, num_shards, index, num_replicas_in_sync=None):
    """The share of one worker."""
    return dataset if num_shards == 1 else dataset.shard(num_shards, index)
