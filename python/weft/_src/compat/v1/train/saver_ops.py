"""The ops by which tf.compat.v1.train.Saver writes and reads variables: nodes of a graph, or run at once."""

import collections
import uuid

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.device import DeviceSpec, device
from weft._src.framework.graph import control_dependencies

# What SaveV2 and RestoreV2 take; parts of a variable have the key of the whole.
Entry = collections.namedtuple("Entry", "key slice variable")


def entries(var_list):
    """What a Saver has to do with, by key; ValueError where two variables have the same one."""
    found = []
    if isinstance(var_list, dict):
        for key, v in var_list.items():
            parts = v if isinstance(v, (list, tuple)) or hasattr(v, "_get_variable_list") else [v]
            found += [Entry(key, _slice(p), p) for p in parts]
    else:
        seen = set()
        for v in var_list:
            spec = _slice(v)
            name = v.op.name if _weft.in_graph() and not v._has_state() else v._shared_name
            name = v._save_slice_info.full_name if spec else name
            if (name, spec) in seen or (not spec and name in {n for n, _ in seen}):
                raise ValueError(f"At least two variables have the same name: {name}")
            seen.add((name, spec))
            found.append(Entry(name, spec, v))
    return sorted(found, key=lambda entry: entry.key)


def _slice(variable):
    info = getattr(variable, "_save_slice_info", None)
    return "" if info is None else info.spec


def _shards(found):
    """(device, its entries) by name: what one file of a sharded checkpoint has."""
    by_device = {}
    for entry in found:
        name = DeviceSpec.from_string(getattr(entry.variable, "device", "")).to_string()
        by_device.setdefault(name, []).append(entry)
    return sorted(by_device.items())


def _cpu_of(name):
    """Files are written and read by the CPU of a variable's task."""
    return device(DeviceSpec.from_string(name).replace(device_type="CPU", device_index=0))


def _write(path, found):
    keys, slices, variables = zip(*found)
    return raw.SaveV2(
        prefix=path, tensor_names=list(keys), shape_and_slices=list(slices), tensors=[v.value() for v in variables]
    )


def save(path, found, sharded):
    """The path, when the checkpoint is there."""
    if not sharded:
        with control_dependencies(_done(_write(path, found))):
            return raw.Identity(input=path, name="control_dependency")
    shards = _shards(found)
    # The files of a shard are renamed when all are there; not on a file system that cannot rename.
    with device("CPU"):
        suffix = raw.Select(
            condition=raw.StaticRegexFullMatch(input=path, pattern="^s3://.*"),
            t=".part",
            e=f"_temp_{uuid.uuid4().hex}/part",
        )
        prefix = raw.StringJoin(inputs=[path, suffix])
    files, written = [], []
    for number, (name, part) in enumerate(shards):
        with _cpu_of(name):
            files.append(raw.ShardedFilename(basename=prefix, shard=number, num_shards=len(shards)))
            written += _done(_write(files[-1], part))
    with control_dependencies(written), _cpu_of(shards[-1][0]):
        merged = raw.MergeV2Checkpoints(checkpoint_prefixes=files, destination_prefix=path, delete_old_dirs=True)
        with control_dependencies(_done(merged)):
            return raw.Identity(input=path)


def _done(op):
    """For control_dependencies: eagerly an op without results is nothing."""
    return [] if op is None else [op]


def restore(path, found, sharded, reshape):
    """Gives the variables the values of a checkpoint."""
    if not sharded:
        return _group(_read(path, found, reshape), "restore_all")
    shards = []
    for name, part in _shards(found):
        with device(name or None):
            shards += _done(_group(_read(path, part, reshape, name), "restore_shard"))
    return _group(shards, "restore_all")


def _group(ops, name):
    with control_dependencies([op for op in ops if op is not None]):
        return raw.NoOp(name=name)


def _read(path, found, reshape, name=""):
    keys, slices, variables = zip(*found)
    with _cpu_of(name):
        read = raw.RestoreV2(
            prefix=path, tensor_names=list(keys), shape_and_slices=list(slices), dtypes=[v.dtype for v in variables]
        )
    values = list(read) if isinstance(read, (list, tuple)) else [read]
    if reshape:
        values = [raw.Reshape(tensor=t, shape=v.shape.as_list()) for t, v in zip(values, variables)]
    return [_assign(v, t) for v, t in zip(variables, values)]


def _assign(variable, value):
    if hasattr(variable, "restore"):
        return variable.restore(value)
    if not _weft.in_graph():
        return variable.assign(value)
    return raw.AssignVariableOp(resource=variable.handle, value=value)
