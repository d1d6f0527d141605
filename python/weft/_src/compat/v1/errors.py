"""What tf.compat.v1.errors has beside version 2's."""

from weft._src.framework import errors


def exception_type_from_error_code(error_code):
    """The class of a code."""
    return errors._registered[error_code]


def error_code_from_exception_type(cls):
    """The code of a class."""
    for code, registered in errors._registered.items():
        if registered is cls:
            return code
    from weft._src.compat.v1 import logging

    logging.warn("Unknown class exception")
    return errors.UnknownError(None, None, "Unknown class exception", None)


class raise_exception_on_not_ok_status:
    """A status that is raised where it is an error; weft's calls raise by themselves."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False
