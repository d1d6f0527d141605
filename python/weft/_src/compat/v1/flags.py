"""tf.compat.v1.flags: absl's flags, which are parsed when a program first looks at one."""

import functools
import logging
import sys

from absl import flags as _absl


# Names that arguments had before absl.
_OLD = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _define(function):
    @functools.wraps(function)
    def define(*args, **kwargs):
        old = [name for name in _OLD if name in kwargs]
        if old:
            logging.getLogger("tensorflow").warning(
                "Use of the keyword argument names (flag_name, default_value, docstring) is deprecated."
            )
        return function(*args, **{_OLD.get(name, name): value for name, value in kwargs.items()})

    return define


class _Flags:
    """absl.flags.FLAGS; reads the command line where the program has not."""

    def __init__(self, flags_object):
        self.__dict__["__wrapped"] = flags_object

    def __getattribute__(self, name):
        if name == "__dict__":
            return super().__getattribute__(name)
        return self.__dict__["__wrapped"].__getattribute__(name)

    def __getattr__(self, name):
        wrapped = self.__dict__["__wrapped"]
        if not wrapped.is_parsed():
            wrapped(sys.argv)
        return wrapped.__getattr__(name)

    def __setattr__(self, name, value):
        return self.__dict__["__wrapped"].__setattr__(name, value)

    def __delattr__(self, name):
        return self.__dict__["__wrapped"].__delattr__(name)

    def __dir__(self):
        return self.__dict__["__wrapped"].__dir__()

    def __getitem__(self, name):
        return self.__dict__["__wrapped"].__getitem__(name)

    def __setitem__(self, name, flag):
        return self.__dict__["__wrapped"].__setitem__(name, flag)

    def __len__(self):
        return self.__dict__["__wrapped"].__len__()

    def __iter__(self):
        return self.__dict__["__wrapped"].__iter__()

    def __str__(self):
        return self.__dict__["__wrapped"].__str__()

    def __call__(self, *args, **kwargs):
        return self.__dict__["__wrapped"].__call__(*args, **kwargs)


FLAGS = _Flags(_absl.FLAGS)
for _name in "string boolean bool float integer".split():
    globals()[f"DEFINE_{_name}"] = _define(getattr(_absl, f"DEFINE_{_name}"))


def __getattr__(name):
    if name in globals():  # asked by the public module
        return globals()[name]
    if name == "tf_decorator":
        from weft._src.tensorflow.python.util import tf_decorator

        return tf_decorator
    value = getattr(_absl, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*(n for n in dir(_absl) if not n.startswith("_")), "tf_decorator"})
