"""tf.random.set_seed and how ops get their two seeds from it."""

import random

from weft import _weft
from weft._src.framework import graph as graphs

DEFAULT_GRAPH_SEED = 87654321
_MAX = 2**31 - 1


class _Global:
    seed = None
    draws = None  # Python's generator: one operation's seed after the other


def set_seed(seed):
    """The seed of the whole program: ops without a seed of their own draw from it, and all begin anew."""
    _Global.seed = seed
    _Global.draws = random.Random(
        seed if isinstance(seed, (int, float, str, bytes, bytearray)) or seed is None else int(seed)
    )
    _weft.clear_kernels()


def _reset():
    _Global.seed = _Global.draws = None


def global_seed():
    return _Global.seed


def set_random_seed(seed):
    """Version 1's: the seed of the current graph; eagerly the program's."""
    if _weft.in_graph():
        graphs.get_default_graph().seed = seed
    else:
        set_seed(seed)


def _seed_of(graph):
    """The seed that ops of a graph see; functions have that of what is around them."""
    while graph is not None:
        if graph.seed is not None or not graph.building_function:
            return graph.seed
        graph = graph._native.outer
    return _Global.seed


def get_seed(op_seed):
    """The two seeds of an op; (None, None) where nothing was said."""
    graph = graphs.get_default_graph() if _weft.in_graph() else None
    seed = _Global.seed if graph is None else _seed_of(graph)
    if seed is None:
        if op_seed is None:
            if _deterministic():
                raise RuntimeError(
                    "Random ops require a seed to be set when determinism is enabled. Please set a seed before running the op, e.g. by calling "
                    "tf.random.set_seed(1)."
                )
            return None, None
        pair = DEFAULT_GRAPH_SEED, _number(op_seed) % _MAX
    else:
        if op_seed is None:
            if graph is None:
                op_seed = _Global.draws.randint(0, _MAX)
            else:
                op_seed = getattr(graph, "_seeds_given", 0)
                graph._seeds_given = op_seed + 1
        pair = int(seed) % _MAX, _number(op_seed) % _MAX
    # The engine reads two zeros as "no seed".
    return (0, _MAX) if pair == (0, 0) else pair


def _number(op_seed):
    try:
        return int(op_seed)
    except TypeError:  # the seed is an attribute of the op
        raise TypeError(f"Expected int for argument 'seed2' not {op_seed!r}.") from None


def _deterministic():
    import sys

    config = sys.modules.get("weft._src.framework.config")
    return config is not None and config.is_op_determinism_enabled()
