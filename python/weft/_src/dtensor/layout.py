"""Layouts: which dimension of a tensor is cut along which dimension of a mesh."""

import enum

from weft._src.dtensor.mesh import Mesh

UNSHARDED = "unsharded"
MATCH = "match"


class LayoutType(enum.Enum):
    """How a layout stands for its tensor's parts."""

    STATIC = 1
    SINGLE_DEVICE = 2
    PARTED = 3


class Layout:
    """By dimension of a tensor: the dimension of the mesh that it is cut along, or UNSHARDED."""

    def __init__(self, sharding_specs, mesh):
        if not isinstance(mesh, Mesh):
            raise ValueError("mesh is not a valid Mesh object.")
        for spec in sharding_specs:
            if spec in (UNSHARDED, MATCH):
                continue
            if sharding_specs.count(spec) > 1:
                raise ValueError(
                    f"Mesh dimension {spec} was repeated in sharding specification {sharding_specs}. Mesh dimensions "
                    "must be unique in a layout."
                )
            if spec not in mesh:
                raise ValueError(f"{spec}: A dimension sharding must either be a valid mesh dimension or UNSHARDED.")
        if sharding_specs.count(MATCH) > 1:
            raise ValueError(f"Attempted to shard two or more tensor dimensions over mesh dimension {MATCH}")
        if isinstance(sharding_specs, str):
            raise TypeError("__init__(): incompatible constructor arguments: sharding_specs is a list")
        self._specs, self._mesh, self._type = tuple(sharding_specs), mesh, LayoutType.STATIC

    @classmethod
    def _make(cls, specs, mesh, type=LayoutType.STATIC):
        """Without checks."""
        self = cls.__new__(cls)
        self._specs, self._mesh, self._type = tuple(specs), mesh, type
        return self

    sharding_specs = property(lambda self: list(self._specs))
    mesh = property(lambda self: self._mesh)
    rank = property(lambda self: len(self._specs))
    shape = property(lambda self: self._mesh.shape())
    type = property(lambda self: self._type)

    @classmethod
    def replicated(cls, mesh, rank):
        """Every device has all of the tensor."""
        return cls._make((UNSHARDED,) * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh, batch_dim, rank, axis=0):
        """Cut along one axis."""
        if batch_dim not in mesh:
            raise RuntimeError(
                f"Bad StatusOr access: INVALID_ARGUMENT: sharding spec ({batch_dim}) refers to mesh dimension not "
                f"contained in mesh {mesh.to_string()}"
            )
        return cls._make([batch_dim if i == axis else UNSHARDED for i in range(rank)], mesh)

    @classmethod
    def inner_sharded(cls, mesh, inner_dim, rank):
        """Cut along the last axis."""
        return cls.batch_sharded(mesh, inner_dim, rank, axis=rank - 1)

    @classmethod
    def from_single_device_mesh(cls, mesh):
        return cls._make((), mesh, LayoutType.SINGLE_DEVICE)

    @classmethod
    def from_device(cls, device):
        """All of the tensor on one device."""
        return cls.from_single_device_mesh(Mesh.from_device(device))

    @classmethod
    def from_proto(cls, layout_proto):
        raise NotImplementedError("weft has no LayoutProto: use Layout.from_string")

    def as_proto(self):
        raise NotImplementedError("weft has no LayoutProto: use Layout.to_string")

    @classmethod
    def from_string(cls, layout_str):
        """The layout of a text that to_string wrote."""
        specs, found, mesh = layout_str.partition(" mesh:")
        word, _, names = specs.partition(":")
        if word == "maximal":
            return cls.from_device(mesh)
        if not found or word not in ("sharding_specs", "parted"):
            raise ValueError(f"Not a layout: {layout_str}")
        type = LayoutType.PARTED if word == "parted" else LayoutType.STATIC
        return cls._make([n for n in names.split(",") if n], Mesh.from_string(mesh), type)

    def to_string(self):
        if self._type is LayoutType.SINGLE_DEVICE:
            return f"maximal:true, mesh:{self._mesh.to_string()}"
        word = "parted" if self._type is LayoutType.PARTED else "sharding_specs"
        return f"{word}:{''.join(s + ',' for s in self._specs)} mesh:{self._mesh.to_string()}"

    def to_parted(self):
        return Layout._make(self._specs, self._mesh, LayoutType.PARTED)

    def delete(self, dims):
        """The layout of a tensor without these dimensions."""
        dims = dims if isinstance(dims, list) else [dims]
        return Layout._make([s for i, s in enumerate(self._specs) if i not in dims], self._mesh)

    def __eq__(self, other):
        return (
            isinstance(other, Layout)
            and (self._specs, self._type) == (other._specs, other._type)
            and self._mesh == other._mesh
        )

    def __hash__(self):
        return hash((self._specs, self._type, self._mesh))

    def __repr__(self):
        return f"Layout.from_string({self.to_string()})"

    def __reduce__(self):
        return Layout.from_string, (self.to_string(),)

    def is_fully_replicated(self):
        return all(s == UNSHARDED for s in self._specs)

    def is_batch_parallel(self):
        return bool(self._specs) and all(s == UNSHARDED for s in self._specs[1:])

    def is_single_device(self):
        return self._type is LayoutType.SINGLE_DEVICE

    def num_shards(self, idx):
        """Into how many parts that dimension is cut."""
        spec = self._specs[idx]
        return 1 if spec in (UNSHARDED, MATCH) else self._mesh.dim_size(spec)

    def _all_shards(self):
        return [self.num_shards(i) for i in range(self.rank)]

    def local_shape_from_global_shape(self, global_shape):
        return tuple(d // n for d, n in zip(global_shape, self._all_shards()))

    def global_shape_from_local_shape(self, local_shape):
        return tuple(d * n for d, n in zip(local_shape, self._all_shards()))

    def offset_to_shard(self):
        """By device: which part of each dimension it has."""
        places = self._mesh.unravel_index().values()
        return [tuple(0 if s == UNSHARDED else place[s] for s in self._specs) for place in places]

    def offset_tuple_to_global_index(self, offset_tuple):
        """The number of a part, in the order of rows."""
        index = 0
        for offset, shards in zip(offset_tuple, self._all_shards()):
            index = index * shards + offset
        return index
