"""A value for each replica: what Strategy.run gives and takes."""

from weft import _weft
from weft._src.distribute import context
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.type_spec import TypeSpec, type_spec_from_value


class DistributedValuesInterface:
    """tf.distribute.DistributedValues: the base of values that are one for each replica."""


class PerReplicaInterface(DistributedValuesInterface):
    """Values that may differ from replica to replica."""


class MirroredInterface(DistributedValuesInterface):
    """Values that are alike in all replicas."""


class DistributedValues(DistributedValuesInterface):
    """Several values, by replica."""

    def __init__(self, values):
        self._values = tuple(values)

    def _get(self):
        """The one that the running code means."""
        replica = context.current_replica_id()
        return self._get_cross_replica() if replica is None else self._values[replica]

    def _get_cross_replica(self):
        raise NotImplementedError(
            "DistributedValues._get_cross_replica should be implemented by sub-classes which support cross-replica "
            f"accesses. Type name is {type(self)}"
        )

    def _on_device_or_first(self):
        here = full_device(_weft.scoped_device())
        return next((v for v in self._values if full_device(v.device) == here), self._values[0])

    @property
    def _devices(self):
        return tuple(v.device for v in self._values)

    def _listed(self, show):
        return (
            type(self).__name__ + ":{\n" + ",\n".join(f"  {i}: {show(v)}" for i, v in enumerate(self._values)) + "\n}"
        )

    def __str__(self):
        return self._listed(str)

    def __repr__(self):
        return self._listed(repr)


_own_task = ["localhost", 0]  # what this process is in its cluster


def full_device(name):
    """A device by its whole name, as TensorFlow writes it."""
    from weft._src.framework.device import DeviceSpec

    job, task = _own_task
    return DeviceSpec(job, 0, task, "CPU", 0).make_merged_spec(DeviceSpec.from_string(name)).to_string()


class PerReplica(DistributedValues, CompositeTensor, PerReplicaInterface):
    """Values that may differ."""

    @property
    def values(self):
        return self._values

    @property
    def _type_spec(self):
        return PerReplicaSpec(*(type_spec_from_value(v) for v in self._values))

    def __tf_tensor__(self, dtype=None, name=None):
        if context.in_cross_replica_context() or not context.has_strategy():
            raise ValueError(
                "It looks like you are using a PerReplica object while not inside a replica context, which is not "
                "supported. Try running your op or function inside a replica context by using `strategy.run`"
            )
        return _weft.convert(self._get(), dtype)


class PerReplicaSpec(TypeSpec):
    """The specs of the values, by replica."""

    __slots__ = ["_value_specs"]
    value_type = property(lambda self: PerReplica)

    def __init__(self, *value_specs):
        self._value_specs = tuple(value_specs)

    def _serialize(self):
        return self._value_specs

    @property
    def _component_specs(self):
        return self._value_specs

    def _to_components(self, value):
        replica = context.get_replica_context()
        if replica is not None and replica.num_replicas_in_sync > 1:
            raise ValueError("Flattening a PerReplica to components is not supported in replica context.")
        return value._values

    def _from_components(self, components):
        return PerReplica(components)


class Delegate(DistributedValues):
    """Stands for the value that the running code means, in attributes and operators."""

    def __getattr__(self, name):
        if name == "_values" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._get(), name)

    @property
    def values(self):
        return self._values

    def _operator(name):  # noqa: N805: makes methods of this class
        def method(self, *others):
            found = getattr(self._get(), name, None)
            return NotImplemented if found is None else found(*others)

        method.__name__ = name
        return method

    for _name in "add sub mul truediv floordiv mod and or xor pow matmul".split():
        locals()[f"__{_name}__"] = _operator(f"__{_name}__")
        locals()[f"__r{_name}__"] = _operator(f"__r{_name}__")
    for _name in "lt le gt ge getitem invert neg abs".split():
        locals()[f"__{_name}__"] = _operator(f"__{_name}__")
    del _name, _operator


class Mirrored(Delegate, MirroredInterface):
    """Values that are alike; outside of replicas, that of the device or the first one."""

    def _get_cross_replica(self):
        return self._on_device_or_first()

    def __tf_tensor__(self, dtype=None, name=None):
        return _weft.convert(self._get(), dtype)

    def _is_mirrored(self):
        return True
