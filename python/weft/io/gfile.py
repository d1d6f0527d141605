"""tf.io.gfile: files and folders of the local system, with TensorFlow's errors."""

import functools
import glob as _glob
import os
import shutil

from weft.framework import errors

_ERRORS = {
    FileNotFoundError: errors.NotFoundError,
    FileExistsError: errors.AlreadyExistsError,
    PermissionError: errors.PermissionDeniedError,
    NotADirectoryError: errors.FailedPreconditionError,
    IsADirectoryError: errors.FailedPreconditionError,
}


def _path(path):
    """Text, for bytes and path objects too."""
    path = os.fspath(path)
    path = path.decode() if isinstance(path, bytes) else path
    return path.removeprefix("file://")


def _translated(function):
    """Errors of the system become tf.errors."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except OSError as e:
            raise _ERRORS.get(type(e), errors.UnknownError)(
                None, None, f"{e.filename or ''}; {e.strerror or e}"
            ) from None

    return call


class FileStatistics:
    """Size, time of the last change in nanoseconds, whether it is a folder."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length, self.mtime_nsec, self.is_directory = length, mtime_nsec, is_directory

    def __repr__(self):
        return f"FileStatistics(length={self.length}, mtime_nsec={self.mtime_nsec}, is_directory={self.is_directory})"


class GFile:
    """A file, opened when it is first used. Modes: r, w, a, r+, w+, a+, each with b for bytes."""

    def __init__(self, name, mode="r"):
        if mode not in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "r+b", "w+b", "a+b", "rb+", "wb+", "ab+"):
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name, self._mode, self._file = name, mode, None
        self._binary = "b" in mode

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    @_translated
    def _open(self, to):
        plain = self._mode.replace("b", "")
        if to == "read" and plain in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if to == "write" and plain == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._file is None:
            self._file = open(_path(self._name), plain + "b")
        return self._file

    def _give(self, data):
        return data if self._binary else data.decode("utf-8")

    @_translated
    def size(self):
        if self._file is not None and "r" not in self._mode:
            self._file.flush()
        return os.path.getsize(_path(self._name))

    @_translated
    def write(self, file_content):
        self._open("write").write(file_content.encode("utf-8") if isinstance(file_content, str) else file_content)

    @_translated
    def read(self, n=-1):
        return self._give(self._open("read").read(n))

    @_translated
    def readline(self):
        return self._give(self._open("read").readline())

    def readlines(self):
        return list(iter(self.readline, b"" if self._binary else ""))

    def tell(self):
        return self._open("any").tell()

    @_translated
    def seek(self, offset=None, whence=0, position=None):
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        self._open("any").seek(position if offset is None else offset, whence)

    def seekable(self):
        return True

    def flush(self):
        if self._file is not None:
            self._file.flush()

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None

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
    return os.path.exists(_path(path))


def isdir(path):
    return os.path.isdir(_path(path))


@_translated
def copy(src, dst, overwrite=False):
    """Copies a file; one that is there is replaced only when told to."""
    if not overwrite and os.path.exists(_path(dst)):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    shutil.copyfile(_path(src), _path(dst))


@_translated
def rename(src, dst, overwrite=False):
    if not overwrite and os.path.exists(_path(dst)):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    os.replace(_path(src), _path(dst))


@_translated
def remove(path):
    os.remove(_path(path))


@_translated
def rmtree(path):
    if not os.path.exists(_path(path)):
        raise errors.NotFoundError(None, None, f"{_path(path)} not found")
    shutil.rmtree(_path(path))


@_translated
def mkdir(path):
    if not os.path.isdir(_path(path)):
        os.mkdir(_path(path))


@_translated
def makedirs(path):
    if _path(path):
        os.makedirs(_path(path), exist_ok=True)


def listdir(path):
    """The names in a folder."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return sorted(os.listdir(_path(path)))


def glob(pattern):
    """The files that match a pattern, or one of several."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [p for one in patterns for p in sorted(_glob.glob(_path(one)))]


@_translated
def stat(path):
    found = os.stat(_path(path))
    folder = os.path.isdir(_path(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, folder)


def walk(top, topdown=True, onerror=None):
    """(folder, folders in it, files in it) for the folder and all below."""
    for root, folders, files in os.walk(_path(top), topdown=topdown, onerror=onerror):
        folders.sort()
        yield root, folders, sorted(files)


def join(path, *paths):
    return os.path.join(path, *paths)


def get_registered_schemes():
    """The kinds of file system: the local one."""
    return ["", "file"]
