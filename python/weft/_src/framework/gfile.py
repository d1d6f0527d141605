"""Files and folders of any file system that the engine knows, with TensorFlow's errors: tf.io.gfile, and what the package itself reads and writes."""

import contextlib
import io
import os

from weft import _weft
from weft._src.framework import errors

_MODES = ("r", "w", "a", "r+", "w+", "a+")


def _path(path):
    """Text, for bytes and path objects too."""
    path = os.fspath(path)
    return path.decode() if isinstance(path, bytes) else path


def _like(path, text):
    return text.encode() if isinstance(path, bytes) else text


class FileStatistics:
    """Size, time of the last change in nanoseconds, whether it is a folder."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length, self.mtime_nsec, self.is_directory = length, mtime_nsec, is_directory

    def __repr__(self):
        return f"FileStatistics(length={self.length}, mtime_nsec={self.mtime_nsec}, is_directory={self.is_directory})"


class _Raw(io.RawIOBase):
    """A file of the engine as Python's buffered readers want it."""

    def __init__(self, name):
        self._file, self._at = _weft.file_open(name), 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def readinto(self, buffer):
        data = self._file.read(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def seek(self, offset, whence=0):
        self._at = offset + (self._at if whence == 1 else self._file.size() if whence == 2 else 0)
        return self._at

    def tell(self):
        return self._at


class GFile:
    """A file, opened when it is first used. Modes: r, w, a, r+, w+, a+, each with b for bytes."""

    def __init__(self, name, mode="r"):
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name, self._mode, self._plain = name, mode, plain
        self._binary = "b" in mode
        self._reader = self._writer = None

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _reading(self):
        if self._plain in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._reader is None:
            self._reader = io.BufferedReader(_Raw(_path(self._name)), 1 << 19)
        return self._reader

    def _writing(self):
        if self._plain == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._writer is None:
            to_end = self._plain in ("a", "a+", "r+")
            self._writer = (_weft.file_append if to_end else _weft.file_create)(_path(self._name))
        return self._writer

    def _give(self, data):
        return data if self._binary else data.decode("utf-8")

    def size(self):
        """The size of the file."""
        return stat(self._name).length

    def write(self, file_content):
        """Writes text or bytes behind what was written."""
        self._writing().append(file_content.encode("utf-8") if isinstance(file_content, str) else bytes(file_content))

    def read(self, n=-1):
        """The next n bytes, or all that are left."""
        return self._give(self._reading().read(n))

    def readline(self):
        return self._give(self._reading().readline())

    def readlines(self):
        return list(iter(self.readline, b"" if self._binary else ""))

    def tell(self):
        """Where the next byte is read or written."""
        if self._plain in ("w", "a"):
            return self._writing().tell()
        return self._reading().tell()

    def seek(self, offset=None, whence=0, position=None):
        """Moves to a place; whence as in Python's files."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        file = self._reading()
        size = self.size()
        to = position if offset is None else offset + (file.tell() if whence == 1 else size if whence == 2 else 0)
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        if to < 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {to}")
        if to > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")
        file.seek(to)

    def seekable(self):
        return True

    def flush(self):
        if self._writer is not None:
            self._writer.flush()

    def close(self):
        self._reader = None
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


def exists(path):
    """Whether there is something at the path."""
    return _weft.file_exists(_path(path))


def isdir(path):
    try:
        return stat(path).is_directory
    except errors.OpError:
        return False


def copy(src, dst, overwrite=False):
    """Copies a file; one that is there is replaced only when told to."""
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    _weft.file_copy(_path(src), _path(dst))


def rename(src, dst, overwrite=False):
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    _weft.file_rename(_path(src), _path(dst))


def remove(path):
    _weft.file_delete(_path(path))


def rmtree(path):
    """Deletes a folder with all that is in it."""
    if "://" not in _path(path) and not exists(path):
        raise errors.NotFoundError(None, None, f"{_path(path)} not found")
    _weft.file_delete_recursively(_path(path))


def mkdir(path):
    """Makes a folder; one that is there is left as it is."""
    if not _path(path):
        return
    with contextlib.suppress(errors.AlreadyExistsError):
        _weft.folder_create(_path(path))


def makedirs(path):
    """Makes a folder and those above it."""
    if _path(path):
        _weft.folders_create(_path(path))


def listdir(path):
    """The names in a folder."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return [_like(path, name) for name in sorted(_weft.file_children(_path(path)))]


def glob(pattern):
    """The files that match a pattern, or one of several."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [_like(one, p) for one in patterns for p in sorted(_weft.file_matching(_path(one)))]


def stat(path):
    """What is known of a file."""
    return FileStatistics(*_weft.file_stat(_path(path)))


def walk(top, topdown=True, onerror=None):
    """(folder, folders in it, files in it) for the folder and all below."""
    try:
        names = listdir(top)
    except errors.NotFoundError as e:
        if onerror:
            onerror(e)
        return
    folders = [name for name in names if isdir(join(top, name))]
    here = (top, folders, [name for name in names if name not in folders])
    if topdown:
        yield here
    for name in folders:
        yield from walk(join(top, name), topdown, onerror)
    if not topdown:
        yield here


def join(path, *paths):
    """The parts as one path."""
    return (
        os.path.join(_path(path), *(_path(p) for p in paths))
        if not isinstance(path, bytes)
        else os.path.join(path, *paths)
    )


def read_bytes(path):
    """The contents of a file."""
    with GFile(path, "rb") as f:
        return f.read()


def get_registered_schemes():
    """The schemes that names of files may begin with."""
    return _weft.file_system_schemes()
