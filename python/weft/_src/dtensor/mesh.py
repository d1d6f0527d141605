"""Meshes: devices in a grid whose dimensions have names."""

import collections
import itertools
import math

from weft._src.dtensor import config
from weft._src.framework.device import DeviceSpec

MeshDimension = collections.namedtuple("MeshDimension", ["name", "size"])


class Mesh:
    """Devices in a grid whose dimensions have names. Texts of meshes are TensorFlow's:
    name|x=2,y=2|global ids|local ids|local devices[|global devices][|use_xla_spmd]."""

    def __init__(
        self,
        dim_names,
        global_device_ids,
        local_device_ids,
        local_devices,
        mesh_name="",
        global_devices=None,
        use_xla_spmd=False,
    ):
        import numpy as np

        if not isinstance(global_device_ids, np.ndarray):
            raise ValueError("Variable global_device_ids must be an ndarray.")
        if global_device_ids.size == 0:
            raise ValueError("Variable global_device_ids must be non-empty.")
        ids = global_device_ids.flatten().tolist()
        if ids != list(range(ids[0], ids[0] + len(ids))):
            raise ValueError(f"global_device_ids must sequentially increase: {global_device_ids}")
        if len(dim_names) != global_device_ids.ndim:
            raise ValueError("Number of mesh dimensions does not match number of dimension names.")
        for name, value, what in (
            ("local_device_ids", local_device_ids, "integers"),
            ("local_devices", local_devices, "DeviceSpecs"),
            ("global_devices", global_devices or [], "DeviceSpecs"),
        ):
            if not isinstance(value, list):
                raise ValueError(f"Variable {name} must be a list of {what}.")
        if not local_devices and not global_devices:
            raise ValueError("Empty list of devices not allowed.")
        specs = [d if isinstance(d, DeviceSpec) else DeviceSpec.from_string(d) for d in local_devices]
        one_cpu = len(set(specs)) == 1 and specs[0].device_type == "CPU"
        if not one_cpu and len(set(specs)) != len(specs):
            repeated = [d for d in local_devices if local_devices.count(d) > 1]
            raise ValueError(f"Duplicate devices found in mesh specification {repeated}.")
        if len(local_device_ids) != len(local_devices):
            raise ValueError("Variable local_device_ids does not have same size as local_devices.")
        if len(local_device_ids) > len(ids):
            raise ValueError("Cannot have more local than gobal device IDs.")
        types = {d.device_type for d in specs or map(_spec, global_devices)}
        if None in types:
            raise ValueError("device_type is required")
        if len(types) > 1:
            raise ValueError(f"Devices containing multiple device_types : {types}")
        if use_xla_spmd and types != {"TPU"}:
            raise ValueError(f"XLA SPMD is not currently not supported for {types.pop()} mesh.")
        self._fill(
            mesh_name,
            dim_names,
            global_device_ids.shape,
            ids,
            local_device_ids,
            [_text(d) for d in local_devices],
            [_text(d) for d in global_devices or []],
            use_xla_spmd,
        )

    def _fill(self, name, dims, shape, ids, local_ids, devices, global_devices=(), use_xla_spmd=False, single=""):
        self._name, self._dims, self._shape = name, tuple(dims), tuple(shape)
        self._ids, self._local_ids, self._devices = tuple(ids), tuple(local_ids), tuple(devices)
        self._global_devices, self._use_xla_spmd, self._single = tuple(global_devices), use_xla_spmd, single
        return self

    name = property(lambda self: self._name)
    dim_names = property(lambda self: list(self._dims))
    size = property(lambda self: math.prod(self._shape))
    single_device = property(lambda self: self._single)

    @classmethod
    def from_string(cls, mesh_str):
        """The mesh of a text that to_string wrote."""
        parts = mesh_str.split("|")
        if len(parts) == 1 and mesh_str:
            return cls.from_device(mesh_str)
        if len(parts) not in (5, 6, 7):
            raise ValueError(f"Expected either 5, 6, 7 mesh parts but found {len(parts)}")
        name, dims, ids, local_ids, devices, *rest = parts
        sizes = [d.split("=") for d in dims.split(",") if d]
        spmd = "use_xla_spmd" in rest
        global_devices = [d for d in (rest[0].split(",") if rest else []) if d and d != "use_xla_spmd"]
        numbers = lambda text: [int(n) for n in text.split(",") if n]  # noqa: E731
        return cls.__new__(cls)._fill(
            name,
            [n for n, _ in sizes],
            [int(s) for _, s in sizes],
            numbers(ids),
            numbers(local_ids),
            [d for d in devices.split(",") if d],
            global_devices,
            spmd,
        )

    @classmethod
    def from_device(cls, device):
        """One device alone."""
        return cls.__new__(cls)._fill("", (), (), (), (), (device,), single=device)

    @classmethod
    def from_proto(cls, proto):
        raise NotImplementedError("weft has no MeshProto: use Mesh.from_string")

    def as_proto(self):
        raise NotImplementedError("weft has no MeshProto: use Mesh.to_string")

    def to_string(self):
        if self._single:
            return self._single
        commas = lambda values: ",".join(map(str, values))  # noqa: E731
        dims = commas(f"{n}={s}" for n, s in zip(self._dims, self._shape))
        parts = [self._name, dims, commas(self._ids), commas(self._local_ids), commas(self._devices)]
        if self._global_devices or self._use_xla_spmd:
            parts.append(commas(self._global_devices))
        if self._use_xla_spmd:
            parts.append("use_xla_spmd")
        return "|".join(parts)

    def _key(self):
        return (self._name, self._dims, self._shape, self._ids, self._local_ids, self._devices, self._single)

    def __eq__(self, other):
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"Mesh.from_string({self.to_string()})"

    def __reduce__(self):
        return Mesh.from_string, (self.to_string(),)

    def __contains__(self, dim_name):
        return dim_name in self._dims

    contains_dim = __contains__

    def __getitem__(self, dim_name):
        return MeshDimension(name=dim_name, size=self.dim_size(dim_name))

    def dim_size(self, dim_name):
        """How many devices there are along that dimension."""
        if dim_name not in self._dims:
            raise ValueError(
                f"Dimension {dim_name} does not exist in mesh.Available dimensions: {','.join(self._dims)}"
            )
        return self._shape[self._dims.index(dim_name)]

    def shape(self):
        return list(self._shape)

    @property
    def strides(self):
        """By dimension: how far apart in the list of devices neighbours are."""
        return [math.prod(self._shape[i + 1 :]) for i in range(max(1, len(self._shape)))]

    def device_type(self):
        return _spec((self._devices or self._global_devices)[0]).device_type

    def global_device_ids(self):
        import numpy as np

        return np.array(self._ids, np.int64).reshape(self._shape)

    def local_device_ids(self):
        return list(self._local_ids)

    def local_devices(self):
        return list(self._devices)

    def global_devices(self):
        return list(self._global_devices)

    def num_local_devices(self):
        return len(self._devices)

    def min_global_device_id(self):
        return min(self._ids)

    def is_remote(self):
        return not self._local_ids and not self._single

    def is_single_device(self):
        return bool(self._single)

    def use_xla_spmd(self):
        return self._use_xla_spmd

    def unravel_index(self):
        """By device: its coordinates, by name of the dimension."""
        places = itertools.product(*map(range, self._shape))
        return {i: dict(zip(self._dims, place)) for i, place in enumerate(places)}

    def local_device_locations(self):
        places = self.unravel_index()
        return [places[i] for i in self._local_ids]

    def device_location(self, offset):
        return list(self.unravel_index()[offset].values())

    def coords(self, device_idx):
        """The coordinates of a device as a tensor."""
        from weft._src.framework.convert import convert_to_tensor

        return (device_idx // convert_to_tensor(self.strides)) % convert_to_tensor(self.shape())

    def host_mesh(self):
        """The same grid on the hosts' CPUs."""
        if self._single or self.device_type().upper() == "CPU":
            return self
        raise NotImplementedError("the host mesh of other devices than CPUs")


def _spec(device):
    return device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device)


def _text(device):
    return device.to_string() if isinstance(device, DeviceSpec) else device


def _device_specs(devices, device_type):
    if devices is None:
        device_type = device_type or "CPU"
        return config.local_devices(device_type), device_type
    if isinstance(devices[0], str):
        devices = [DeviceSpec.from_string(d) for d in devices]
    device_type = device_type or devices[0].device_type
    if device_type.upper() != devices[0].device_type.upper():
        raise ValueError(f"Conflicting devices {devices} and device_type {device_type}")
    return devices, device_type


def create_mesh(mesh_dims=None, mesh_name="", devices=None, device_type=None, use_xla_spmd=False):
    """A mesh of this program's devices: all of one type, unless devices are given."""
    import numpy as np

    specs, _ = _device_specs(devices, device_type)
    here = DeviceSpec(job=config.job_name(), replica=0, task=0)
    specs = [here.make_merged_spec(d) for d in specs]
    dims = list(mesh_dims.items()) if isinstance(mesh_dims, dict) else mesh_dims
    if dims is None:
        dims = [("x", len(specs))]
    elif len(dims) == 1 and dims[0][1] == -1:
        dims = [(dims[0][0], len(specs))]
    shape = [size for _, size in dims]
    if math.prod(shape) != len(specs):
        raise ValueError(f"length of devices ({len(specs)}) must be equal to total size of the mesh of shape {shape}")
    ids = np.arange(len(specs)).reshape(shape)
    return Mesh([n for n, _ in dims], ids, ids.flatten().tolist(), specs, mesh_name, use_xla_spmd=use_xla_spmd)


def create_distributed_mesh(mesh_dims, mesh_name="", local_devices=None, device_type=None, use_xla_spmd=False):
    """A mesh of the devices of all clients; each has as many as this one."""
    import numpy as np

    dims = list(mesh_dims.items()) if isinstance(mesh_dims, dict) else mesh_dims
    names, shape = zip(*dims)
    if not config.is_initialized():
        raise ValueError("Accelerators are uninitialized, please run dtensor.initialize_accelerator_system() first.")
    if device_type and device_type.upper() == "TPU":
        raise NotImplementedError("there are no TPUs here")
    specs, device_type = _device_specs(local_devices, device_type)
    if device_type.upper() not in ("CPU", "GPU"):
        raise ValueError(f"Device type {device_type} is not CPU, GPU or TPU")
    client, clients = config.client_id(), config.num_clients()
    here = DeviceSpec(job=config.job_name(), replica=0, task=client)
    specs = [here.make_merged_spec(d) for d in specs]
    total = len(specs) * clients
    if math.prod(shape) != total:
        raise ValueError(
            f"Global number of devices ({len(specs)} per client * {clients} clients = {total}) must be equal to total "
            f"size of the mesh of shape {shape}"
        )
    ids = np.arange(total).reshape(shape)
    first = len(specs) * client
    local = ids.flatten().tolist()[first : first + len(specs)]
    return Mesh(list(names), ids, local, specs, mesh_name, use_xla_spmd=use_xla_spmd)


def create_tpu_mesh(
    mesh_dim_names,
    mesh_shape,
    mesh_name,
    ring_dims=None,
    ring_axes=None,
    ring_bounds=None,
    can_split_host_across_rings=True,
    build_ring_across_rings=False,
    rotate_ring_across_rings=False,
    use_xla_spmd=False,
):
    """A mesh of TPUs, of which there are none."""
    raise NotImplementedError("there are no TPUs here")
