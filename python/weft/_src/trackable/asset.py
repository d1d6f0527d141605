"""Files that a program brings with it."""

import os

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.trackable.base import Trackable


class Asset(Trackable):
    """A file; a SavedModel takes it along."""

    def __init__(self, path):
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        from weft._src.framework.graph import init_scope

        with init_scope():
            self._path = convert_to_tensor(path, dtype=dtypes.string)

    @property
    def asset_path(self):
        """Where the file is, as a tensor."""
        return self._path

    def __tf_tensor__(self, dtype=None, name=None):
        return raw.Identity(input=self._path, name=name)
