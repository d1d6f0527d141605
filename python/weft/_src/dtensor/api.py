"""What programs call: scopes, and making, cutting and asking DTensors."""

import contextlib

from weft import _weft
from weft._src.raw import raw
from weft._src.dtensor import tensors
from weft._src.dtensor.layout import Layout
from weft._src.dtensor.mesh import Mesh
from weft._src.framework import errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import executing_eagerly
from weft._src.framework.tensor import Tensor


@contextlib.contextmanager
def default_mesh(mesh):
    """Ops of the block that take no DTensor run on this mesh."""
    if not isinstance(mesh, Mesh):
        raise ValueError(f"Expect `mesh` to be `Mesh`, got {type(mesh)}")
    with tensors.on_mesh(mesh):
        yield


def run_on(mesh):
    """The former name of default_mesh."""
    return default_mesh(mesh)


def get_default_mesh():
    """The mesh of the innermost default_mesh; None outside."""
    return tensors.scope.mesh


def device_name():
    """The device that all DTensors are on."""
    return tensors.DEVICE


def call_with_layout(fn, layout, *args, **kwargs):
    """What fn gives, laid out so; without a layout just what it gives."""
    if layout is None:
        return fn(*args, **kwargs)
    if not executing_eagerly():
        return relayout(fn(*args, **kwargs), layout)
    with tensors.with_output_layout(layout):
        return fn(*args, **kwargs)


def _eagerly(name):
    if not executing_eagerly():
        raise RuntimeError(f"`{name}` must be called eagerly.")


def is_dtensor(tensor):
    """Whether it has a layout."""
    _eagerly("is_dtensor")
    if isinstance(tensor, _weft.VariableBase):
        return bool(_weft.layout_of(tensor._eager_handle()))
    return isinstance(tensor, Tensor) and bool(_weft.layout_of(tensor))


def fetch_layout(tensor):
    """The layout of a DTensor or of a variable's value."""
    _eagerly("fetch_layout")
    if isinstance(tensor, _weft.VariableBase):
        tensor = tensor.read_value()
    if not isinstance(tensor, Tensor):
        return None
    layout = tensors.layout_of(tensor)
    if layout is None:
        raise errors.InvalidArgumentError(None, None, "FetchLayout expects a tensor placed on the layout device.")
    return layout


def check_layout(tensor, layout):
    """ValueError where the tensor's layout is another one."""
    have = fetch_layout(tensor)
    if have != layout:
        raise ValueError(f"Layout of tensor: {have}, did not match expected layout: {layout}")


def copy_to_mesh(tensor, layout, source_layout=None):
    """A tensor, laid out so."""
    return relayout(tensor, layout)


def relayout(tensor, layout, name=None):
    """The same value in another layout; MATCH leaves a dimension as it is."""
    mesh, text = layout.mesh, layout.to_string()
    rank = getattr(getattr(tensor, "shape", None), "rank", None)
    if rank not in (None, layout.rank) and layout.is_fully_replicated() and not _weft.layout_of(tensor):
        text = Layout.replicated(mesh, rank).to_string()  # a whole copy for each device, of whatever rank
    with default_mesh(mesh):
        return raw.Relayout(input=tensor, layout=text, name=name)


def relayout_like(tensor, layout_tensor, name=None):
    """The same value in the layout of another tensor."""
    return raw.RelayoutLike(input=tensor, layout_input=layout_tensor, name=name)


def pack(tensors, layout):
    """A DTensor of what each device of the layout's mesh has."""
    _eagerly("pack")
    return _pack(tensors, layout)


def _pack(components, layout):
    from weft._src.ops.sparse_tensor import SparseTensor

    sparse = [isinstance(t, SparseTensor) for t in components]
    if sparse and all(sparse):
        raise NotImplementedError("DTensors of sparse tensors")
    if any(sparse):
        raise TypeError("Cannot Pack SparseTensors with Tensors.")
    components = [convert_to_tensor(t) for t in components]
    expected = layout.mesh.num_local_devices()
    if len(components) != expected:
        text = (
            f"The dtensor device {tensors.DEVICE} expected {expected} inputs to DTensorPack, but got {len(components)}"
        )
        raise errors.InvalidArgumentError(None, None, text)
    if any(_weft.layout_of(t) for t in components):
        text = "Does not support packing a Tensor that is already on dtensor device"
        raise errors.InvalidArgumentError(None, None, text)
    if len({t.dtype for t in components}) > 1:
        raise errors.InternalError(None, None, "Components of a PackedTensor must all have the same dtype")
    if len({tuple(t.shape) for t in components}) > 1:
        text = "Components of a PackedTensor must currently all have the same shape"
        raise errors.UnimplementedError(None, None, text)
    rank = len(components[0].shape)
    if rank != layout.rank:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Packed layout should have the same rank as the rank for each component. The rank of each component is: "
            f"{rank}, while layout has rank: {layout.rank}\nLayout: {layout.to_string()}\n",
        )
    by_place = {}
    for place, component in zip(layout.offset_to_shard(), components):
        by_place.setdefault(place, component)
    with tensors.running(mesh=None, layout=None):
        value = tensors.assemble(by_place, layout)
    return tensors.with_layout(value, layout, "DTensorPack")


def unpack(tensor):
    """What each device has of a DTensor."""
    _eagerly("unpack")
    if not is_dtensor(tensor) or isinstance(tensor, _weft.VariableBase):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"DTensorUnpack expects a tensor placed on the DTensor device: {tensors.DEVICE}, but input was placed on "
            f"device: {tensor.device}",
        )
    return tensors.parts(tensor)


def barrier(mesh, barrier_name=None, timeout_in_ms=None):
    """Waits until all devices of the mesh have come here."""
    from weft._src.ops.array_ops import ones
    from weft._src.ops.math_ops import reduce_sum

    parts = [ones([1] * len(mesh.shape()))] * mesh.num_local_devices()
    size = reduce_sum(pack(parts, Layout(mesh.dim_names, mesh)))
    if size != mesh.size:
        raise ValueError(f"Global barrier produced wrong mesh size : {size} while mesh has actualsize : {mesh.size}")
