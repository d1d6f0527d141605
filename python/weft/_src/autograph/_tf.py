"""The names of the package that autograph's operators use, each looked up when it is needed first."""

import importlib
import sys

root = "weft"
_tf = sys.modules[__name__]

# Where a name is not simply an attribute of the top-level package.
_PATHS = {
    "OpError": "errors.OpError",
    "assert_rank": "debugging.assert_rank",
    "OperatorNotAllowedInGraphError": "errors.OperatorNotAllowedInGraphError",
}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = importlib.import_module(root)
    for part in _PATHS.get(name, name).split("."):
        value = getattr(value, part)
    globals()[name] = value
    return value


def is_kind(x, name):
    """Whether `x` is of the class of that name or of one below it; the class is not loaded for the question."""
    return any(kind.__name__ == name for kind in type(x).__mro__)


def is_dense(x):
    """Whether `x` is a tensor (or a variable) that can decide an if: sparse ones cannot."""
    return _tf.is_tensor(x) and (isinstance(x, _tf.Tensor) or not is_kind(x, "SparseTensor"))


def data_module():
    """tf.data if it is loaded: there are no datasets before."""
    return importlib.import_module(root + ".data") if root + "._src.data.dataset" in sys.modules else None


def in_graph():
    """Whether operations go to a graph here."""
    return not _tf.executing_eagerly()


def default_operations():
    """The operations of the graph that is being built."""
    return importlib.import_module(root + "._src.framework.graph").get_default_graph().get_operations()


def filters_tracebacks():
    """Whether frames of the package are left out of messages: so it is until somebody says otherwise."""
    debugging = sys.modules.get(root + "._src.framework.debug")
    return debugging is None or debugging.is_traceback_filtering_enabled()


def scratch_graph():
    """A context that builds operations into a function graph which is thrown away. Tensors from outside it may be
    used in it."""
    return importlib.import_module(root + "._src.framework.graph").FuncGraph("tmp").as_default()
