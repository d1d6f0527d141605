"""Tests and the modes that they run in. tf-keras, tensorflow-probability."""

from weft._src.framework import random_seed, test_modes as _modes  # noqa: F401
from weft._src.framework.test_modes import *  # noqa: F403


def __getattr__(name):
    return getattr(_modes, name)
