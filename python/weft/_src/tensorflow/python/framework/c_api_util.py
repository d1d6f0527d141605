"""The documentation of ops. tf2onnx."""

from weft import _weft


class ApiDefMap:
    """What the engine knows of its ops."""

    def __init__(self):
        self._names = _weft.op_names()

    def op_names(self):
        return list(self._names)

    def get_op_def(self, op_name):
        from weft._src.proto import op_def

        if op_name not in self._names:
            raise ValueError(f"No entry found for {op_name}.")
        return op_def(op_name)
