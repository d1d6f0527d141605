"""tf.compat.v1.gfile: version 1's names of tf.io.gfile."""

from weft._src.framework import gfile as _gfile
from weft._src.framework.gfile import GFile, GFile as Open  # noqa: F401


class FastGFile(GFile):
    """GFile, which is as fast."""


def Copy(oldpath, newpath, overwrite=False):  # noqa: N802 (TensorFlow's names)
    _gfile.copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname):  # noqa: N802
    _gfile.rmtree(dirname)


def Exists(filename):  # noqa: N802
    return _gfile.exists(filename)


def Glob(filename):  # noqa: N802
    return _gfile.glob(filename)


def IsDirectory(dirname):  # noqa: N802
    return _gfile.isdir(dirname)


def ListDirectory(dirname):  # noqa: N802
    return _gfile.listdir(dirname)


def MakeDirs(dirname):  # noqa: N802
    _gfile.makedirs(dirname)


def MkDir(dirname):  # noqa: N802
    _gfile.mkdir(dirname)


def Remove(filename):  # noqa: N802
    _gfile.remove(filename)


def Rename(oldname, newname, overwrite=False):  # noqa: N802
    _gfile.rename(oldname, newname, overwrite)


def Stat(filename):  # noqa: N802
    return _gfile.stat(filename)


def Walk(top, in_order=True):  # noqa: N802
    return _gfile.walk(top, in_order)
