"""The functions of ops.linalg.linalg. tensorflow-probability."""

from weft._src.tensorflow.python.ops.linalg.linalg import __getattr__  # noqa: F401
