"""Tests and the modes that they run in. tf-keras, tensorflow-probability."""

from weft._src.framework import random_seed, test_modes as _modes  # noqa: F401
from weft._src.framework.test_modes import *  # noqa: F403
from weft._src.compat.v1.testing import assert_equal_graph_def  # noqa: F401


def __getattr__(name):
    return getattr(_modes, name)
