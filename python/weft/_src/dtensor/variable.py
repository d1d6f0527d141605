"""DVariable: a variable whose value has a layout."""

from weft import _weft
from weft._src.raw import raw
from weft._src.dtensor import api, tensors
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.trackable.base import VARIABLE_VALUE_KEY, CheckpointInitialValue, CheckpointInitialValueCallable
from weft._src.trackable.variable import ResourceVariable


class DVariable(ResourceVariable):
    """A variable laid out as its initial value, or as the keyword `layout` says."""

    def __init__(self, initial_value, *args, dtype=None, **kwargs):
        layout = kwargs.pop("layout", None)
        if callable(initial_value):
            if isinstance(initial_value, CheckpointInitialValueCallable) and not (layout and kwargs.get("shape")):
                raise ValueError("Expected shape and layout to be not None.")
            initial_value = initial_value()
        if isinstance(initial_value, CheckpointInitialValue):
            initial_value = initial_value.wrapped_value
        value = convert_to_tensor(initial_value, dtype=dtype)
        self._save_as_bf16 = False
        if _weft.in_graph():
            value = value if layout is None else api.relayout(value, layout)
            super().__init__(value, *args, dtype=dtype, **kwargs)
            return
        have = tensors.layout_of(value)
        if have is None and layout is None:
            text = "Neither layout nor DTensor initial value are provided."
            raise errors.InvalidArgumentError(None, None, text)
        if have is None:
            value = api.relayout(value, layout)
        elif layout is not None and layout != have:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Conflicting layout are provided for initial value layout ({have}) and variable ({layout}).",
            )
        self.layout = have or layout
        with api.default_mesh(self.layout.mesh):
            super().__init__(value, *args, dtype=dtype, **kwargs)

    @property
    def save_as_bf16(self):
        """Whether files hold it as bfloat16; only for float32."""
        return self._save_as_bf16

    @save_as_bf16.setter
    def save_as_bf16(self, save_as_bf16):
        self._save_as_bf16 = save_as_bf16 and self.dtype is dtypes.float32

    def _serialize_to_tensors(self):
        value = tensors.plain(self._read_for_saving())
        if self.save_as_bf16:
            value = raw.Cast(x=value, DstT=dtypes.bfloat16)
        return {VARIABLE_VALUE_KEY: value}

    def _restore_from_tensors(self, restored_tensors):
        value = restored_tensors[VARIABLE_VALUE_KEY]
        if value.dtype != self.dtype:
            value = raw.Cast(x=value, DstT=self.dtype)
        return super()._restore_from_tensors({VARIABLE_VALUE_KEY: api.relayout(value, self.layout)})
