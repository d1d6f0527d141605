"""raw.NAME: every op of the engine as a callable, looked up when it is first used."""

from weft import _weft


class _Ops:
    def __getattr__(self, name):
        op = _weft.op(name)
        setattr(self, name, op)
        return op

    def __dir__(self):
        return _weft.op_names()


raw = _Ops()
