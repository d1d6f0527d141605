"""Files of DTensors. A tensor is one in a file, however it was laid out."""

import collections

from weft import _weft
from weft._src.raw import raw
from weft._src.dtensor import api, tensors
from weft._src.dtensor.variable import DVariable
from weft._src.framework import errors
from weft._src.trackable.checkpoint import Checkpoint


class DTensorCheckpoint(Checkpoint):
    """tf.train.Checkpoint, which knows DTensors by itself."""

    def __init__(self, mesh, root=None, **kwargs):
        super().__init__(root=root, **kwargs)
        self._mesh = mesh


def enable_save_as_bf16(variables):
    """These variables are saved as bfloat16."""
    for v in variables:
        if isinstance(v, DVariable):
            v.save_as_bf16 = True


def _whole(value):
    if isinstance(value, _weft.VariableBase):
        value = value.read_value()
    return tensors.plain(value)


def sharded_save(mesh, file_prefix, tensor_names, shape_and_slices, tensors):
    """Writes DTensors under these names."""
    return raw.SaveV2(
        prefix=_whole(file_prefix) if _weft.layout_of(file_prefix) else file_prefix,
        tensor_names=tensor_names,
        shape_and_slices=shape_and_slices,
        tensors=[_whole(t) for t in tensors],
    )


def name_based_save(mesh, checkpoint_prefix, name_tensor_dict):
    """Writes DTensors under the names of the dict."""
    if _weft.in_graph():
        raise ValueError("name based save must run eagerly.")
    names = list(name_tensor_dict)
    sharded_save(mesh, checkpoint_prefix, names, [""] * len(names), list(name_tensor_dict.values()))


def name_based_restore(mesh, checkpoint_prefix, name_tensor_dict):
    """Reads what name_based_save wrote, each laid out as the dict's tensor of that name."""
    if _weft.in_graph():
        raise ValueError("name based restore must run eagerly.")
    try:
        layouts = [api.fetch_layout(t) for t in name_tensor_dict.values()]
    except errors.OpError as error:
        raise ValueError("Saving/Restoring tensor must be a DTensor") from error
    names = list(name_tensor_dict)
    values = raw.RestoreV2(
        prefix=checkpoint_prefix,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        dtypes=[t.dtype for t in name_tensor_dict.values()],
    )
    laid_out = (tensors.with_layout(v, layout, raw.RestoreV2.op_name) for v, layout in zip(values, layouts))
    return collections.OrderedDict(zip(names, laid_out))
