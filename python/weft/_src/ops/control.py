"""Orders of ops in graphs, for composed functions: a value that is there only after others."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import graph


def after(ops, tensor):
    """tf.control_flow's with_dependencies: the tensor, behind these ops; eagerly they have run."""
    if not _weft.in_graph():
        return tensor
    with graph.control_dependencies([op for op in ops if op is not None]):
        return raw.Identity(input=tensor)
