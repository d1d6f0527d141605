"""Collectives of MultiWorkerMirroredStrategy: which keys they have, so that the workers agree on them (TensorFlow's too, which count in
the same way), and how values of all replicas of all workers become one."""

import copy
import threading

from weft import _weft
from weft._src.distribute.cross_device_ops import CrossDeviceOps, copy_to, devices_of
from weft._src.distribute.grouping import regroup
from weft._src.distribute.options import CommunicationOptions, ReduceOp
from weft._src.distribute.values import DistributedValues, Mirrored, full_device
from weft._src.framework import dtypes
from weft._src.framework.device import device
from weft._src.framework.graph import control_dependencies, name_scope
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.type_spec import TensorSpec
from weft._src.raw import raw

_FIRST_INSTANCE = 100


class CollectiveKeys:
    """Group keys by devices, and the next instance key of each device in a group."""

    def __init__(self, group_key_start=1):
        self._next_group, self._groups, self._instances = group_key_start, {}, {}
        self._lock = threading.Lock()

    def group(self, devices):
        with self._lock:
            name = ",".join(devices)
            if name not in self._groups:
                self._groups[name] = self._next_group
                self._instances[self._next_group] = dict.fromkeys(devices, _FIRST_INSTANCE)
                self._next_group += 1
            return self._groups[name]

    def instance(self, group, where):
        with self._lock:
            key = self._instances[group][where]
            self._instances[group][where] += 1
            return key

    def __deepcopy__(self, memo):
        made = CollectiveKeys(self._next_group)
        made._groups, made._instances = dict(self._groups), copy.deepcopy(self._instances, memo)
        return made


class Member:
    """A device of this worker in a group: starts its part of collectives."""

    def __init__(self, group, size, keys, where, options):
        self._group, self._size, self._keys, self._device, self._options = group, size, keys, where, options
        self._tracing = False

    def _instance(self):
        """The next instance key; in a function, that of each call."""
        from weft._src.framework.convert import constant

        if self._tracing or not _weft.in_graph():
            with device(None), device("CPU:0"):
                return constant(0 if self._tracing else self._keys.instance(self._group, self._device), dtypes.int32)
        graph = _weft.current_graph()
        while "_around" not in graph.__dict__ and graph.outer_graph.building_function:  # out of branches and loops
            graph = graph.outer_graph
        self._tracing = True  # what it is then does not matter, and takes no key
        try:
            with graph.as_default():
                return graph.capture_call_time_value(self._instance, TensorSpec([], dtypes.int32))
        finally:
            self._tracing = False

    def _attributes(self, options):
        return {
            "group_size": self._size,
            "group_key": self._group,
            "instance_key": self._instance(),
            "ordering_token": [],
            "communication_hint": options.implementation.value.lower(),
            "timeout_seconds": float(options.timeout_seconds or 0),
        }

    def all_reduce(self, value, options):
        """The sum of all members' tensors."""
        attributes = self._attributes(self._options.merge(options))
        with device(self._device):
            return raw.CollectiveReduceV2(input=value, merge_op="Add", final_op="Id", **attributes)

    def _gather(self, value, options):
        """All members' tensors, which have the same shape, along the first dimension."""
        attributes = self._attributes(self._options.merge(options))
        with device(self._device):
            return raw.CollectiveGatherV2(input=value, **attributes)

    def all_reduce_packs(self, packs, options):
        """Of tensors in packs; in a function, a pack is one collective."""
        from weft._src.ops import array_ops, math_ops

        results = []
        for pack in packs:
            if not _weft.in_graph():
                results.extend(self.all_reduce(t, options) for t in pack)
                continue
            with device(self._device):
                shapes = [array_ops.shape(t) for t in pack]
                flat = array_ops.concat([array_ops.reshape(t, [-1]) for t in pack], axis=0)
            reduced = self.all_reduce(flat, options)
            with device(self._device):
                parts = array_ops.split(reduced, [math_ops.reduce_prod(s) for s in shapes], axis=0)
                results.extend(array_ops.reshape(part, s) for part, s in zip(parts, shapes))
        return results

    def all_gather(self, value, axis, options):
        """All members' tensors along an axis, in which they may differ."""
        from weft._src.ops import array_ops, math_ops

        with device(self._device), control_dependencies([array_ops.identity(value)]):
            rank = array_ops.rank(value)
            front = array_ops.concat([[axis], math_ops.range(axis), math_ops.range(axis + 1, rank)], axis=0)
            value = array_ops.transpose(value, perm=front)
            shapes = self._gather(array_ops.expand_dims(array_ops.shape(value), axis=0), options)
            sizes = shapes[:, 0]
            gathered = self._gather_padded(value, sizes, options)
            rank = array_ops.rank(value)
            back = array_ops.concat([math_ops.range(1, axis + 1), [0], math_ops.range(axis + 1, rank)], axis=0)
            return array_ops.transpose(gathered, perm=back)

    def _gather_padded(self, value, sizes, options):
        """Along the first dimension, where each member has so many rows."""
        from weft._src.ops import array_ops, math_ops

        most = math_ops.reduce_max(sizes)
        missing = most - array_ops.shape(value)[0]
        rest = array_ops.zeros([array_ops.rank(value) - 1, 2], dtypes.int32)
        padded = array_ops.pad(value, array_ops.concat([[[0, missing]], rest], axis=0))
        gathered = self._gather(padded, options)
        return array_ops.concat([gathered[i * most : i * most + sizes[i]] for i in range(self._size)], 0)

    def all_reduce_slices(self, slices, options):
        """The rows of all members one after the other."""
        from weft._src.function.control_flow import cond
        from weft._src.ops import array_ops, math_ops

        def gathered(gather):
            values = gather(slices.values)
            return values, gather(slices.indices)

        with device(self._device):
            sizes = self._gather(array_ops.shape(slices.indices), options)
            values, indices = cond(
                math_ops.equal(math_ops.reduce_max(sizes), math_ops.reduce_min(sizes)),
                lambda: gathered(lambda t: self._gather(t, options)),
                lambda: gathered(lambda t: self._gather_padded(t, sizes, options)),
            )
        return IndexedSlices(values, indices, slices.dense_shape)


def _packed(tensors, bytes_per_pack):
    """Tensors in packs of about that size; 0: in one."""
    if bytes_per_pack == 0 or any(t.shape.num_elements() is None for t in tensors):
        return [tensors]
    packs, size = [], 0
    for t in tensors:
        if not packs or size > bytes_per_pack:
            packs.append([])
            size = 0
        packs[-1].append(t)
        size += t.shape.num_elements() * t.dtype.size
    return packs


def _divided(value, n):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / n, value.indices, value.dense_shape)
    return value / n


class CollectiveOps(CrossDeviceOps):
    """Reduces and gathers over the devices of all workers; this worker has some of them."""

    def __init__(self, devices, group_size, options, keys):
        super().__init__()
        self._devices = tuple(full_device(d) for d in devices)
        self._size, self._options = group_size, options
        group = keys.group(self._devices)
        self._members = [Member(group, group_size, keys, d, options) for d in self._devices]
        self._lock = threading.Lock()

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        value = self._tensors(per_replica_value)
        return self.reduce_implementation(reduce_op, value, destinations, options or CommunicationOptions())

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        pairs = [(self._tensors(v), d) for v, d in value_destination_pairs]
        return self.batch_reduce_implementation(reduce_op, pairs, options or CommunicationOptions())

    def _tensors(self, value):
        """By device; variables are read."""
        values = value._values if isinstance(value, DistributedValues) else (value,)
        return tuple(v if isinstance(v, IndexedSlices) else _weft.convert(v, None) for v in values)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        return self._placed(self._reduced(reduce_op, [per_replica_value], options)[0], destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        if all(set(devices_of(d)) == set(self._devices) for _, d in value_destination_pairs):
            return self._reduced(reduce_op, [v for v, _ in value_destination_pairs], options)
        return [self.reduce_implementation(reduce_op, v, d, options) for v, d in value_destination_pairs]

    def _reduced(self, reduce_op, values, options):
        """A Mirrored for each of the values, which are by device."""
        by_device = self._each(lambda i: self._reduced_by(i, reduce_op, [v[i] for v in values], options))
        return [regroup(parts, wrap=Mirrored) for parts in zip(*by_device)]

    def _each(self, run):
        """run(i) for each device here. Outside of functions they wait for each other, so each has a thread."""
        count = len(self._devices)
        with self._lock:
            if count == 1 or _weft.in_graph():
                return [run(i) for i in range(count)]
            results, errors = [None] * count, []

            def one(i):
                try:
                    results[i] = run(i)
                except BaseException as e:
                    errors.append(e)

            threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(count)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            if errors:
                raise errors[0]
            return results

    def _reduced_by(self, i, reduce_op, values, options):
        """By one device: tensors in packs, the last first, since their gradients are there first; then slices."""
        member, results = self._members[i], [None] * len(values)
        dense = [k for k in reversed(range(len(values))) if not isinstance(values[k], IndexedSlices)]
        if dense:
            packs = _packed([values[k] for k in dense], options.bytes_per_pack)
            for k, reduced in zip(dense, member.all_reduce_packs(packs, options)):
                results[k] = reduced
        for k, v in enumerate(values):
            if isinstance(v, IndexedSlices):
                results[k] = member.all_reduce_slices(v, options)
        if reduce_op == ReduceOp.MEAN:
            with device(self._devices[i]):
                results = [_divided(r, self._size) for r in results]
        return results

    def _placed(self, mirrored, destinations):
        """On other devices than those that reduced."""
        wanted = devices_of(destinations)
        if set(wanted) == set(self._devices):
            return mirrored
        values = mirrored._values if isinstance(mirrored, Mirrored) else (mirrored,)
        own = dict(zip(self._devices, values))
        return regroup([copy_to(own.get(d, values[0]), d) for d in wanted], wrap=Mirrored)

    def _gather(self, per_replica_value, destinations, axis, options=None):
        if isinstance(per_replica_value, IndexedSlices):
            raise NotImplementedError("gather/all_gather does not support IndexedSlices")
        values = self._tensors(per_replica_value)

        def all_gather():
            with self._lock, name_scope("allgather"):
                return [m.all_gather(v, axis, options) for m, v in zip(self._members, values)]

        if not _weft.in_graph():
            from weft._src.function.function import function

            gathered = function(all_gather)()
        else:
            gathered = all_gather()
        return self._placed(regroup(gathered, wrap=Mirrored), destinations)

    def __deepcopy__(self, memo):
        raise ValueError("MultiWorkerMirroredStrategy cannot be deep copied in eager mode.")


def broadcast(value, is_source, size, group, instance):
    """The chief's value, which the others get; they know its type and shape."""
    from weft._src.ops.array_ops import identity

    attributes = {"group_size": size, "group_key": group, "instance_key": instance, "shape": value.shape}
    if not is_source:
        return raw.CollectiveBcastRecv(T=value.dtype, **attributes)
    with control_dependencies([raw.CollectiveBcastSend(input=value, **attributes)]):
        return identity(value)
