"""Names that tf.compat.v1.test, app and resource_loader have beside those of version 2."""

import inspect
import os
import sys
from unittest import mock  # noqa: F401


def get_temp_dir():
    """A folder for files of tests."""
    from weft._src.framework.test_case import _test_folder

    return _test_folder()


def test_src_dir_path(relative_path):
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), relative_path)


test_src_dir_path.__test__ = False


def get_data_files_path():
    """The folder of the file that calls."""
    return os.path.dirname(inspect.getfile(sys._getframe(1)))


def get_root_dir_with_all_resources():
    return os.path.dirname(inspect.getfile(sys._getframe(1)))


def get_path_to_datafile(path):
    return os.path.join(os.path.dirname(inspect.getfile(sys._getframe(1))), path)


def readahead_file_path(path, readahead="128M"):
    return path


def load_resource(path):
    with open(path, "rb") as file:
        return file.read()


def run(main=None, argv=None):
    """Runs a program's main function with absl's flags."""
    from absl import app

    app.run(main=main or sys.modules["__main__"].main, argv=argv)


def __getattr__(name):
    if name == "flags":
        from absl import flags

        return flags
    if name == "StubOutForTesting":
        return mock.patch
    raise AttributeError(name)
