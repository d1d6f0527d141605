"""Datasets kept in files."""

from weft._raw import raw
from weft.data import structure
from weft.data.traced import TracedFunction
from weft.framework import dtypes
from weft.framework.convert import convert_to_tensor
from weft.framework.type_spec import TensorSpec

_SPEC_FILE = "dataset_spec.pb"


def save(dataset, path, compression, shard_func, checkpoint_args):
    """Writes the elements, and beside them what they are."""
    import os

    from weft.saved_model.structured import encode

    if checkpoint_args is not None:
        raise NotImplementedError("Dataset.save with checkpoint_args")
    custom = shard_func is not None
    if not custom:

        def shard_func(*unused):
            return convert_to_tensor(0, dtypes.int64)

    os.makedirs(os.fspath(path), exist_ok=True)
    shard = TracedFunction(shard_func, "save", dataset.element_spec)
    written = raw.SaveDatasetV2(
        input_dataset=dataset._variant_tensor,
        path=convert_to_tensor(os.fspath(path), dtypes.string),
        shard_func_other_args=shard.captures,
        shard_func=shard,
        use_shard_func=custom,
        compression=compression or "",
        **structure.types_and_shapes(dataset.element_spec),
    )
    from weft.data.dataset import make

    for _ in make("_SaveDataset", written, dataset.element_spec, [dataset], [shard]):
        pass
    target = os.path.join(os.fspath(path), _SPEC_FILE)
    with open(target + ".part", "wb") as f:
        f.write(encode(dataset.element_spec).SerializeToString())
    os.replace(target + ".part", target)


def load(path, element_spec, compression, reader_func):
    import os

    from weft.data.dataset import DatasetSpec, make

    if element_spec is None:
        from weft.proto import StructuredValue
        from weft.saved_model.structured import decode

        with open(os.path.join(os.fspath(path), _SPEC_FILE), "rb") as f:
            element_spec = decode(StructuredValue.FromString(f.read()))
    if reader_func is None:

        def reader_func(datasets):
            return datasets.interleave(lambda x: x, cycle_length=10, num_parallel_calls=-1)

    reader = TracedFunction(reader_func, "load", DatasetSpec(DatasetSpec(element_spec)))
    variant = raw.LoadDataset(
        path=convert_to_tensor(os.fspath(path), dtypes.string),
        reader_func_other_args=reader.captures,
        reader_func=reader,
        compression=compression or "",
        **structure.types_and_shapes(element_spec),
    )
    return make("_LoadDataset", variant, element_spec, functions=[reader])


def snapshot(dataset, path, compression, reader_func, shard_func):
    from weft.data.dataset import DatasetSpec

    if shard_func is None:

        def shard_func(*unused):
            return convert_to_tensor(0, dtypes.int64)

    if reader_func is None:

        def reader_func(datasets):
            return datasets.interleave(lambda x: x, cycle_length=10, num_parallel_calls=-1)

    reader = TracedFunction(reader_func, "snapshot", DatasetSpec(DatasetSpec(dataset.element_spec)))
    shard = TracedFunction(shard_func, "snapshot", dataset.element_spec)
    if not isinstance(shard.output_spec, TensorSpec):
        raise TypeError("Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor.")
    return dataset._unary(
        "_SnapshotDataset",
        "SnapshotDatasetV2",
        None,
        [reader, shard],
        path=convert_to_tensor(str(path), dtypes.string),
        compression=compression or "",
        reader_prefix="",
        writer_prefix="",
        reader_func=reader,
        reader_func_other_args=reader.captures,
        shard_func=shard,
        shard_func_other_args=shard.captures,
    )
