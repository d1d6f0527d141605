"""tf.compat.v1.logging: TensorFlow's logger."""

import logging as _logging

from weft._src.namespace import missing as _missing
from weft._src.framework.log import log_every_n, log_first_n, log_if

DEBUG, INFO, WARN, ERROR, FATAL = _logging.DEBUG, _logging.INFO, _logging.WARNING, _logging.ERROR, _logging.CRITICAL
_logger = _logging.getLogger("tensorflow")
debug, info, warning, warn, error, fatal, log, vlog = (
    _logger.debug,
    _logger.info,
    _logger.warning,
    _logger.warning,
    _logger.error,
    _logger.critical,
    _logger.log,
    _logger.log,
)


def set_verbosity(v):
    """Messages below this level are not shown."""
    _logger.setLevel(v)


def get_verbosity():
    return _logger.getEffectiveLevel()


def flush():
    for handler in _logger.handlers:
        handler.flush()


def TaskLevelStatusMessage(msg):  # noqa: N802 (TensorFlow's name)
    error(msg)


__getattr__ = _missing("tf.compat.v1.logging")
