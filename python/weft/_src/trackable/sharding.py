"""How the tensors of a checkpoint are spread over data files: tf.train.experimental's policies and callbacks of the user's."""

import abc
import dataclasses
import math
import typing

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.tensor import Tensor

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


@dataclasses.dataclass(frozen=True)
class ShardableTensor:
    """A tensor of a checkpoint, as callbacks see it."""

    _tensor_save_spec: typing.Any
    tensor: typing.Any
    dtype: typing.Any
    device: typing.Any
    name: str
    shape: typing.Any
    slice_spec: str
    checkpoint_key: str
    trackable: typing.Any


class ShardingCallback(abc.ABC):
    """Gives for a list of ShardableTensors a list of shards, {checkpoint key: {slice spec: tensor}} each."""

    @property
    @abc.abstractmethod
    def description(self):
        """What the policy does, for messages."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors):
        """The shards."""

    def __hash__(self):
        return hash((self.description, *sorted(k for k, v in vars(self).items() if not callable(v))))


class ShardByTaskPolicy(ShardingCallback):
    """A file for each task: one."""

    @property
    def description(self):
        return "Split tensors into shards based on their device spec task."

    def __call__(self, shardable_tensors):
        shard = {}
        for t in shardable_tensors:
            shard.setdefault(t.checkpoint_key, {})[t.slice_spec] = t.tensor
        return [shard]


class MaxShardSizePolicy(ShardingCallback):
    """Files of at most a size: tensors are cut along axes where they do not fit."""

    def __init__(self, max_shard_size):
        self.max_shard_size = max_shard_size

    @property
    def description(self):
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors):
        filling = _Filling(self.max_shard_size)
        for t in shardable_tensors:
            filling.add(t)
        return [shard for shard in filling.shards + filling.large if shard]


class _Filling:
    """Shards that are filled one after the other."""

    def __init__(self, limit):
        self.limit = self.room = limit
        self.shards, self.large = [{}], []

    def _next(self):
        self.shards.append({})
        self.room = self.limit

    def _put(self, key, spec, tensor, size):
        self.shards[-1].setdefault(key, {})[spec] = tensor
        self.room -= size

    def add(self, t):
        key, each, total = t.checkpoint_key, *_sizes(t)
        if not t.shape.rank:
            if total > self.limit:
                self.large.append({key: {t.slice_spec: t.tensor}})
                return
            if total > self.room:
                self._next()
            self._put(key, t.slice_spec, t.tensor, total)
            return
        # A tensor that is itself a part of one: where it lies in the whole.
        whole, origin = _read_spec(t.slice_spec) or (t.shape.as_list(), [0] * t.shape.rank)
        offset, shape = [0] * t.shape.rank, t.shape.as_list()
        while math.prod(shape) * each > self.room:
            axis, count = self._cut(shape, each)
            if not count and self.room < self.limit:
                self._next()
                continue
            part = list(shape)
            part[axis] = count or 1
            size = math.prod(part) * each
            piece = raw.Slice(input=t.tensor, begin=offset, size=part)
            spec = _write_spec(whole, [o + at for o, at in zip(origin, offset)], part)
            if count:
                self._put(key, spec, piece, size)
                if not self.room:
                    self._next()
            else:  # not even one row fits into a file of its own
                self.large.append({key: {spec: piece}})
            offset[axis] += part[axis]
            shape[axis] -= part[axis]
            if not shape[axis]:
                return
        rest = raw.Slice(input=t.tensor, begin=offset, size=shape)
        spec = _write_spec(whole, [o + at for o, at in zip(origin, offset)], shape)
        self._put(key, spec, rest, math.prod(shape) * each)

    def _cut(self, shape, each):
        """(axis, rows) of the fewest pieces that fit; no rows where none does."""

        def pieces(axis):
            rows = self.room // (math.prod(shape) // shape[axis] * each)
            return math.ceil(shape[axis] / rows) if rows else math.inf

        best, fewest = 0, pieces(0)
        for axis in range(1, len(shape)):
            count = pieces(axis)
            if count < fewest and math.prod(shape) * each / count <= self.room:
                best, fewest = axis, count
        return best, math.ceil(shape[best] / fewest)


def _sizes(t):
    """(bytes of an element, bytes of all); texts count by their longest, the graph of objects not at all."""
    if t.checkpoint_key == _OBJECT_GRAPH or t.dtype is dtypes.variant:
        return 0, 0
    if t.dtype is dtypes.string:
        if not hasattr(t.tensor, "numpy"):
            return 0, 0  # in a graph nobody knows
        lengths = [len(text) for text in t.tensor._flat_list()] or [0]
        return max(lengths), sum(lengths)
    return t.dtype.size, t.dtype.size * t.shape.num_elements()


def _read_spec(spec):
    """(sizes of the whole, offset) of "7 2 0,3:0,2"."""
    if not spec.strip():
        return None
    *sizes, slices = spec.split()
    return [int(n) for n in sizes], [int(part.split(",")[0]) for part in slices.split(":")]


def _write_spec(whole, offset, shape):
    return " ".join([*map(str, whole), ":".join(f"{at},{n}" for at, n in zip(offset, shape))])


def write(prefix, entries, callback):
    """Writes (key, slice spec, tensor, owner) as the files that the callback asks for."""
    from weft._src.framework.device import DeviceSpec

    tensors = [
        ShardableTensor(
            None,
            t,
            t.dtype,
            DeviceSpec.from_string(t.device or "/job:localhost/replica:0/task:0/device:CPU:0"),
            key,
            t.shape,
            spec,
            key,
            owner,
        )
        for key, spec, t, owner in entries
    ]
    shards = [s for s in callback(tensors) if s]
    # In a folder of this save alone. Where only a run will tell the name, in the one that TensorFlow uses.
    temp = None
    if not isinstance(prefix, Tensor) and not _weft.in_graph() and _weft.is_local(prefix):
        _weft.remove_leftovers(prefix, False)
        temp = _weft.TempFolder(prefix)
    parts = []
    try:
        for i, shard in enumerate(shards):
            part = f"part-{i:05d}-of-{len(shards):05d}"
            parts.append(raw.StringJoin(inputs=[prefix, f"_temp/{part}"]) if temp is None else f"{temp.path}/{part}")
            flat = [(key, spec, t) for key, slices in shard.items() for spec, t in slices.items()]
            raw.SaveV2(
                prefix=parts[-1],
                tensor_names=[f[0] for f in flat],
                shape_and_slices=[f[1] for f in flat],
                tensors=[f[2] for f in flat],
            )
        return raw.MergeV2Checkpoints(
            checkpoint_prefixes=raw.Pack(values=parts), destination_prefix=prefix, delete_old_dirs=True
        )
    finally:
        if temp is not None:
            temp.remove()
