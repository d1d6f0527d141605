"""Small things of the top level: the logger, names of scopes, kinds of tensors."""

import functools

from weft import _weft
from weft._src.framework.tensor import SymbolicTensor


def get_logger():
    """TensorFlow's logger."""
    return _logger()


@functools.cache
def _logger():
    import logging

    logger = logging.getLogger("tensorflow")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
    if not logger.handlers and not logging.getLogger().handlers:  # nobody has said where messages go
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
    return logger


def get_current_name_scope():
    """The name scope of the ops that are made now."""
    return _weft.name_scope().rstrip("/")


def is_symbolic_tensor(tensor):
    """Whether a tensor stands for a value in a graph."""
    return isinstance(tensor, SymbolicTensor) or getattr(tensor, "_is_graph_tensor", False)
