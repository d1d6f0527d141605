"""Tensors that stay in a session between runs: tf.compat.v1.get_session_handle and its companions."""

from weft import _weft

from weft._src.ops import raw_ops as raw
from weft._src.compat.v1.graphs import placeholder
from weft._src.framework import dtypes
from weft._src.framework.device import DeviceSpec, device
from weft._src.framework.tensor import Tensor


class TensorHandle:
    """Names a tensor that a session keeps; what is kept goes with the handle, some time later."""

    def __init__(self, handle, dtype, session):
        self._handle = handle.decode() if isinstance(handle, bytes) else str(handle)
        self._dtype, self._session = dtype, session
        self._auto_gc_enabled = True

    def __del__(self):
        if self._auto_gc_enabled:
            self._session._register_dead_handle(self._handle)

    def __str__(self):
        return self._handle

    @property
    def handle(self):
        return self._handle

    def _resource(self):
        """What is fed to the engine in place of the tensor."""
        return _weft.session_tensor(self._handle, self._handle.split(";")[-1])

    def _check(self):
        if not self._auto_gc_enabled:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def _nodes(self, key, make):
        """Nodes that serve several handles of a graph."""
        graph = self._session.graph
        made = graph.__dict__.setdefault("_session_tensor_nodes", {})
        if key not in made:
            with graph.as_default():
                made[key] = make()
        return made[key]

    def eval(self):
        """The tensor's value."""
        self._check()
        parts = self._handle.split(";")  # node, number, device
        holder, reader = self._nodes(
            ("read", parts[0], parts[-1]), lambda: get_session_tensor(self._handle, self._dtype)
        )
        return self._session.run(reader, {holder: self._handle})

    def delete(self):
        """Drops the tensor."""
        self._check()
        self._auto_gc_enabled = False
        holder, deleter = self._nodes("delete", lambda: delete_session_tensor(self._handle))
        self._session.run(deleter, {holder: self._handle})

    def get_raw_handle(self):
        """The handle's text; from now on the tensor stays until it is deleted."""
        self._auto_gc_enabled = False
        return self._handle


def _device_of(handle):
    return DeviceSpec.from_string(str(handle).split(";")[-1]).to_string()


def get_session_handle(data, name=None):
    """A scalar string that names `data`, which stays in the session."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with data.graph.colocate_with(data.op):
        return raw.GetSessionHandle(value=data, name=name)


def get_session_tensor(handle, dtype, name=None):
    """A placeholder for a handle, and the tensor that it names."""
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, raw.GetSessionTensor(handle=holder, dtype=dtype, name=name)


def delete_session_tensor(handle, name=None):
    """A placeholder for a handle, and the op that drops the tensor that it names."""
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, raw.DeleteSessionTensor(handle=holder, name=name)
