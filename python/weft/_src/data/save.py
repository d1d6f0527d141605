"""Datasets kept in files: Dataset.save, Dataset.load, Dataset.snapshot."""

import os

from weft import _weft
from weft._src.raw import raw
from weft._src.data import structure
from weft._src.data.traced import TracedFunction
from weft._src.framework import dtypes, errors, gfile
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.type_spec import TensorSpec

_SPEC_FILE, _METADATA_FILE, _DONE_FILE, _ERROR_FILE = "dataset_spec.pb", "snapshot.metadata", "DONE", "ERROR"
_RETRY_SECONDS = 0.5  # between looks for a dataset that somebody is still writing


def save(dataset, path, compression, shard_func, checkpoint_args):
    """Writes the elements, and beside them what they are."""
    path = os.fspath(path)
    spec = dataset.element_spec
    shard = TracedFunction(shard_func or (lambda *element: convert_to_tensor(0, dtypes.int64)), "save", spec)
    arguments = dict(
        input_dataset=dataset._variant_tensor,
        path=convert_to_tensor(path, dtypes.string),
        shard_func_other_args=shard.captures,
        shard_func=shard,
        use_shard_func=shard_func is not None,
        compression=compression or "",
    )
    if _weft.in_graph():
        _write_spec(path, spec)
        return raw.SaveDataset(**arguments)
    if checkpoint_args:
        _save_with_checkpoints(dataset, shard, arguments, checkpoint_args)
    else:
        raw.SaveDataset(**arguments)
    _write_spec(path, spec)


def _write_spec(path, spec):
    from weft._src.saved_model.structured import encode

    gfile.makedirs(path)
    _replace(os.path.join(path, _SPEC_FILE), encode(spec).SerializeToString())


def _replace(target, contents):
    """Readers see the old file or the new one."""
    _weft.replace_file(target, contents)


def _save_with_checkpoints(dataset, shard, arguments, checkpoint_args):
    from weft._src.data.dataset import make
    from weft._src.trackable.checkpoint import Checkpoint
    from weft._src.trackable.checkpoint_manager import CheckpointManager

    if "checkpoint" in checkpoint_args:
        raise ValueError("'Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'.")
    variant = raw.SaveDatasetV2(**arguments, **structure.types_and_shapes(dataset.element_spec))
    iterator = iter(make("_SaveDataset", variant, dataset.element_spec, [dataset], [shard]))
    checkpoint = Checkpoint(iterator=iterator)
    manager = CheckpointManager(**checkpoint_args, checkpoint=checkpoint)
    checkpoint.restore(manager.latest_checkpoint)
    for _ in iterator:
        if "step_counter" in checkpoint_args:
            checkpoint_args["step_counter"].assign_add(1)
        manager.save(check_interval=True)


def _read_spec(path):
    from weft._src.proto import StructuredValue
    from weft._src.saved_model.structured import decode

    name = os.path.join(path, _SPEC_FILE)
    if not gfile.exists(name):
        raise errors.NotFoundError(None, None, f"tf.data snapshot element_spec file not found: {name}.")
    contents = gfile.read_bytes(name)
    try:
        return decode(StructuredValue.FromString(contents))
    except Exception as error:
        raise errors.DataLossError(None, None, f"{name} holds no element_spec: {error}") from error


def _distributed_metadata(path):
    """(element_spec, compression) of what distributed_save wrote; None for what Dataset.save wrote."""
    import codecs
    import re

    from weft._src.proto import StructuredValue
    from weft._src.saved_model.structured import decode

    try:
        contents = gfile.read_bytes(os.path.join(path, _METADATA_FILE))
    except errors.OpError:
        return None
    found = re.fullmatch(rb'\s*element_spec: "(.*)"\s*(?:compression: "(.*)"\s*)?', contents)
    if not found:
        return None
    return decode(StructuredValue.FromString(codecs.escape_decode(found[1])[0])), (found[2] or b"").decode()


def _load_distributed(path, metadata, element_spec, compression, reader_func, wait):
    from weft._src.data.dataset import make

    spec, packed = metadata
    failed = f"Failed to load tf.data snapshot at {path}. "
    if gfile.exists(os.path.join(path, _ERROR_FILE)):
        status = gfile.read_bytes(os.path.join(path, _ERROR_FILE)).decode(errors="replace")
        raise ValueError(f"{failed}The save job failed to write it. Status: {status}")
    if element_spec is not None and element_spec != spec:
        raise ValueError(f"{failed}User specified element_spec {element_spec}, but the actual element_spec is {spec}.")
    if compression and compression != packed:
        raise ValueError(f"{failed}User specified compression {compression}, but the actual compression is {packed}.")
    if wait and not gfile.exists(os.path.join(path, _DONE_FILE)):
        raise errors.NotFoundError(None, None, f"tf.data snapshot at {path} is not complete")
    text = TensorSpec([], dtypes.string)
    files = raw.ListSnapshotChunksDataset(
        snapshot_path=convert_to_tensor(path, dtypes.string), **structure.types_and_shapes(text)
    )

    def chunk(name):
        flat = structure.types_and_shapes(spec)
        return make(
            "_SnapshotChunkDataset", raw.SnapshotChunkDataset(chunk_file=name, compression=packed, **flat), spec
        )

    return reader_func(make("_ListSnapshotChunksDataset", files, text).map(chunk))


def _in_turns(datasets):
    return datasets.interleave(lambda x: x, cycle_length=os.cpu_count(), num_parallel_calls=-1)


def load(path, element_spec, compression, reader_func, wait=False):
    """A dataset of the elements that `save` wrote."""
    import time

    while True:
        try:
            path = os.fspath(path)
            if metadata := _distributed_metadata(path):
                return _load_distributed(path, metadata, element_spec, compression, reader_func or _in_turns, wait)
            return _load(path, element_spec, compression, reader_func or _in_turns)
        except errors.NotFoundError:
            if not wait:
                raise
        time.sleep(_RETRY_SECONDS)


def _load(path, element_spec, compression, reader_func):
    from weft._src.data.dataset import DatasetSpec, make

    if element_spec is None:
        element_spec = _read_spec(path)
    reader = TracedFunction(reader_func, "load", DatasetSpec(DatasetSpec(element_spec)))
    variant = raw.LoadDataset(
        path=convert_to_tensor(path, dtypes.string),
        reader_func_other_args=reader.captures,
        reader_func=reader,
        compression=compression or "",
        **structure.types_and_shapes(element_spec),
    )
    return make("_LoadDataset", variant, element_spec, functions=[reader])


def snapshot(dataset, path, compression, reader_func, shard_func):
    """The dataset, which writes its elements when it is first walked through and reads them after that."""
    from weft._src.data.dataset import DatasetSpec

    if shard_func is None:
        cpus = os.cpu_count()
        numbered = snapshot(dataset.enumerate(), path, compression, reader_func, lambda index, element: index % cpus)
        return numbered.map(lambda index, element: element)
    reader = TracedFunction(reader_func or _in_turns, "snapshot", DatasetSpec(DatasetSpec(dataset.element_spec)))
    shard = TracedFunction(shard_func, "snapshot", dataset.element_spec)
    of_shard = shard.output_spec
    if not any(of_shard.is_compatible_with(TensorSpec([], t)) for t in (dtypes.int32, dtypes.int64)):
        raise TypeError(
            f"Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but its return type is {of_shard}."
        )
    return dataset._unary(
        "_SnapshotDataset",
        raw.SnapshotDatasetV2,
        None,
        [reader, shard],
        path=convert_to_tensor(os.fspath(path), dtypes.string),
        compression=compression or "",
        reader_func=reader,
        reader_func_other_args=reader.captures,
        shard_func=shard,
        shard_func_other_args=shard.captures,
    )
