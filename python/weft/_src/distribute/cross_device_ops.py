"""tf.distribute.CrossDeviceOps: how values of replicas become one, on one device or on all.

On CPU devices, which share memory, every way is the same: the values are added up where the result is wanted first, and
the result is given to the others."""

from weft import _weft
from weft._src.distribute.grouping import regroup
from weft._src.distribute.options import CommunicationOptions, ReduceOp
from weft._src.distribute.values import DistributedValues, Mirrored, PerReplica, full_device
from weft._src.framework.device import device
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.tensor import Tensor


def devices_of(destinations):
    """The devices that a value, a variable or a name stands for."""
    if isinstance(destinations, DistributedValues):
        return tuple(full_device(d) for d in destinations._devices)
    return (full_device(destinations if isinstance(destinations, str) else destinations.device),)


def _check_destinations(destinations):
    if not isinstance(destinations, (DistributedValues, Tensor, IndexedSlices, str, _weft.VariableBase)):
        raise ValueError(
            "destinations must be one of a `DistributedValues` object, a tf.Variable object, or a device string."
        )
    if isinstance(destinations, str) and not destinations:
        raise ValueError("destinations can not be empty")


def _as_per_replica(value):
    if isinstance(value, DistributedValues):
        return value
    if not isinstance(value, (Tensor, IndexedSlices, _weft.VariableBase)):
        value = _weft.convert(value, None, None)
    return PerReplica((value,))


def copy_to(value, where):
    """A tensor or slices on a device."""
    from weft._src.ops.array_ops import identity

    with device(where):
        if not isinstance(value, IndexedSlices):
            return identity(value)
        shape = None if value.dense_shape is None else identity(value.dense_shape)
        return IndexedSlices(identity(value.values), identity(value.indices), shape)


def broadcast(value, destinations, always_mirrored=False):
    devices = devices_of(destinations)
    if len(devices) == 1 and not always_mirrored:
        return copy_to(value, devices[0])
    return regroup([copy_to(value, d) for d in devices], wrap=Mirrored)


def reduce_plain(reduce_op, value, destinations, replicas):
    """Of a value that is not distributed: the mean is the value, a sum would need to know what the others have."""
    import numpy as np

    if not isinstance(value, (Tensor, _weft.VariableBase, IndexedSlices)) and np.all(value == 0):
        return np.zeros(np.shape(value), dtype=np.asarray(value).dtype)
    if reduce_op == ReduceOp.MEAN:
        return value
    if replicas != 1:
        raise ValueError(
            f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {reduce_op}."
        )
    _check_destinations(destinations)
    return broadcast(value, destinations)


def _together(values, add):
    """The sum of tensors, or of slices, whose rows stand one after the other."""
    from weft._src.ops.array_ops import concat

    if not any(isinstance(v, IndexedSlices) for v in values):
        return add(list(values))
    if not all(isinstance(v, IndexedSlices) for v in values):
        raise ValueError("IndexedSlices and tensors cannot be reduced together")
    return IndexedSlices(
        concat([v.values for v in values], 0), concat([v.indices for v in values], 0), values[0].dense_shape
    )


class CrossDeviceOps:
    """The base of the ways to reduce and to broadcast."""

    def __init__(self):
        pass

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        """The value of all replicas, on the devices of `destinations`."""
        value = _as_per_replica(per_replica_value)
        _check_destinations(destinations)
        if len(value._values) == 1 and set(devices_of(value)) == set(devices_of(destinations)):
            return regroup((copy_to(value._values[0], value._devices[0]),), wrap=Mirrored)
        return self.reduce_implementation(reduce_op, value, destinations, options or CommunicationOptions())

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        """reduce for each pair of a value and its destinations."""
        pairs = []
        for pair in value_destination_pairs:
            if not isinstance(pair, tuple):
                raise ValueError("Each element of `value_destination_pairs` should be a tuple.")
            if len(pair) != 2:
                raise ValueError("Each element of `value_destination_pairs` should be a tuple of size 2.")
            _check_destinations(pair[1])
            pairs.append((_as_per_replica(pair[0]), pair[1]))
        if pairs and all(len(v._values) == 1 and devices_of(v) == devices_of(d) for v, d in pairs):
            return [regroup(v._values, wrap=Mirrored) for v, _ in pairs]
        return self.batch_reduce_implementation(reduce_op, pairs, options or CommunicationOptions())

    def broadcast(self, tensor, destinations):
        """The value on each device of `destinations`."""
        _check_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        raise NotImplementedError("batch_reduce_implementation method must be implemented in descendants.")

    def broadcast_implementation(self, tensor, destinations):
        return broadcast(tensor, destinations, always_mirrored=True)

    def _gather(self, per_replica_value, destinations, axis, options=None):
        from weft._src.ops.array_ops import concat

        if isinstance(per_replica_value, IndexedSlices):
            raise NotImplementedError("gather/all_gather does not support IndexedSlices")
        value = _as_per_replica(per_replica_value)
        _check_destinations(destinations)
        with device(devices_of(destinations)[0]):
            gathered = concat(list(value._values), axis)
        return self.broadcast(gathered, destinations)


class ReductionToOneDevice(CrossDeviceOps):
    """Adds up on one device, then gives the result to the others."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        from weft._src.ops.math_ops import add_n

        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or add_n
        super().__init__()

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        values = per_replica_value._values
        if not values:
            raise ValueError("`per_replica_value` must be non-empty")
        if not isinstance(reduce_op, ReduceOp):
            raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        with device(self.reduce_to_device or devices_of(destinations)[0]):
            reduced = _together(values, self.accumulation_fn)
            if reduce_op == ReduceOp.MEAN:
                if isinstance(reduced, IndexedSlices):
                    reduced = IndexedSlices(reduced.values / len(values), reduced.indices, reduced.dense_shape)
                else:
                    reduced = reduced / len(values)
        return self.broadcast(reduced, destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        return [self.reduce_implementation(reduce_op, v, d, options) for v, d in value_destination_pairs]


class AllReduceCrossDeviceOps(ReductionToOneDevice):
    """Names the way in which accelerators exchange their parts; CPU devices add up on one of them."""

    def __init__(self, all_reduce_alg="nccl", num_packs=1):
        super().__init__()
        self._all_reduce_alg, self._num_packs = all_reduce_alg, num_packs


def _check_packs(num_packs):
    if num_packs < 0:
        raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")


class NcclAllReduce(AllReduceCrossDeviceOps):
    """The way of NVIDIA's library."""

    def __init__(self, num_packs=1):
        _check_packs(num_packs)
        super().__init__(all_reduce_alg="nccl", num_packs=num_packs)


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """Within groups of devices, then between them."""

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")
        super().__init__(all_reduce_alg="hierarchical_copy", num_packs=num_packs)


class CollectiveAllReduce(AllReduceCrossDeviceOps):
    """What strategies use where none is asked for."""

    def __init__(self):
        super().__init__(all_reduce_alg="ring")
