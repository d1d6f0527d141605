"""Batches of a dataset divided among replicas."""

from weft._src.raw import raw
from weft._src.data import structure
from weft._src.data.dataset import make
from weft._src.distribute.file_shards import of_files, of_hints, reads_files
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor

# Datasets whose batches are those of their input, by the names of their classes.
_PASS_ON = {
    "_AssertCardinalityDataset",
    "_CacheDataset",
    "_FilterDataset",
    "_OptionsDataset",
    "_PrefetchDataset",
    "_RepeatDataset",
    "_ShardDataset",
    "_ShuffleDataset",
    "_SkipDataset",
    "_TakeDataset",
}


def rebatched(dataset, replicas):
    """A dataset that gives the parts of each batch one after the other."""
    size = _batch_size(dataset)
    if size is None:
        return _divided(dataset, replicas).prefetch(replicas)
    parts = dataset.rebatch([size // replicas + (i < size % replicas) for i in range(replicas)])
    # As TensorFlow: where a dataset may be sharded, each batch is divided by the rows that it has.
    if _may_be_sharded(dataset):
        parts = _divided(dataset, replicas, parts.element_spec)
    return parts.prefetch(replicas)


def of_worker(dataset, replicas, context):
    """A worker's part of a dataset that all workers have: of its files, of its batches, or all of it in smaller batches."""
    from weft._src.data.experimental import AutoShardPolicy

    workers, index = context.num_input_pipelines, context.input_pipeline_id
    policy = dataset.options().experimental_distribute.auto_shard_policy
    if policy is None or policy == AutoShardPolicy.AUTO:
        policy = AutoShardPolicy.FILE if reads_files(dataset) else AutoShardPolicy.DATA
    local = replicas // workers
    size = _batch_size(dataset)
    if policy == AutoShardPolicy.DATA:
        spec = None
        if size is not None:
            spec = dataset.rebatch(_sizes_for(size, workers, local, index)).element_spec
        return _divided(dataset, replicas, spec).shard(workers, index).prefetch(local)
    if policy == AutoShardPolicy.FILE:
        dataset = of_files(dataset, workers, index)
    elif policy == AutoShardPolicy.HINT:
        dataset = of_hints(dataset, workers, index)
    if size is None:
        return _divided(dataset, replicas).prefetch(local)
    return dataset.rebatch(_sizes_for(size, workers, local, index)).prefetch(local)


def _sizes_for(size, workers, local, index):
    """The batches that a worker makes of `workers` global ones, each of which all replicas have parts of."""
    replicas, first = workers * local, index * local
    parts = [size // replicas + (i < size % replicas) for i in range(replicas)]
    return parts[first:] + parts[:first]


def _may_be_sharded(dataset):
    from weft._src.data.experimental import AutoShardPolicy

    policy = dataset.options().experimental_distribute.auto_shard_policy
    return policy in (None, AutoShardPolicy.AUTO, AutoShardPolicy.DATA) or (
        policy == AutoShardPolicy.FILE and reads_files(dataset)
    )


def _batch_size(dataset):
    """How many rows a batch has; None: not known before it comes."""
    sizes = set()
    for spec in structure.flatten(dataset.element_spec):
        shape = getattr(spec, "shape", None)
        # An element without rows has no first dimension: IndexError, as in TensorFlow.
        sizes.add(None if shape is None or shape.rank is None else shape.as_list()[0])
    if None not in sizes:
        return sizes.pop() if len(sizes) == 1 else None
    return _made_batches(dataset)


def _made_batches(dataset):
    """By the transformation that made the batches."""
    while True:
        size = getattr(dataset, "_batch_size", None)
        if size is not None:
            known = constant_value(size)
            return None if known is None else int(known)
        kind, inputs = type(dataset).__name__, dataset._input_datasets
        if kind in ("_ConcatenateDataset", "_ZipDataset"):
            sizes = {_made_batches(d) for d in inputs}
            return sizes.pop() if len(sizes) == 1 else None
        if kind not in _PASS_ON or len(inputs) != 1:
            return None
        dataset = inputs[0]


def _divided(dataset, replicas, spec=None):
    """Each batch as it comes in equal parts, the last of which may be smaller."""

    def part(spec):
        rows = spec.shape[0] if spec.shape.rank else None
        return spec._unbatch()._batch(rows // replicas if rows is not None and rows % replicas == 0 else None)

    if spec is None:
        spec = structure.map_leaves(part, dataset.element_spec)
    variant = raw.RebatchDataset(
        input_dataset=dataset._variant_tensor,
        num_replicas=convert_to_tensor(replicas, dtypes.int64),
        use_fallback=True,
        **structure.types_and_shapes(spec),
    )
    return make("_LegacyRebatchDataset", variant, spec, [dataset])
