"""Files as a whole. tf-keras."""

from weft._src.framework.gfile import GFile


def file_exists(filename):
    from weft.io import gfile

    return gfile.exists(filename)


def read_file_to_string(filename, binary_mode=False):
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename, file_content):
    with GFile(filename, "w") as file:
        file.write(file_content)
