"""Variables that have no value yet: generated code passes them around as objects."""


class Undefined:
    """Stands for a variable that was not assigned. Its attributes and items are as undefined as itself."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self):
        return self.symbol_name

    def __getattr__(self, name):
        return self

    def __getitem__(self, key):
        return self


class UndefinedReturnValue:
    """Stands for the value of a function that has not returned yet."""


def is_undefined(value):
    return isinstance(value, (Undefined, UndefinedReturnValue))


def ld(value):
    """Reads a variable."""
    return value.read() if isinstance(value, Undefined) else value


def ldu(read, name):
    """Reads `d['a']` or `o.a`, which need not exist yet."""
    try:
        return read()
    except (KeyError, AttributeError, NameError):
        return Undefined(name)
