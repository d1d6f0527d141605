"""tf.compat.v1.logging: TensorFlow's logger."""

from weft._src.compat.v1.logging import (  # noqa: F401
    __getattr__,
    DEBUG,
    ERROR,
    FATAL,
    INFO,
    WARN,
    debug,
    error,
    fatal,
    flush,
    get_verbosity,
    info,
    log,
    log_every_n,
    log_first_n,
    log_if,
    set_verbosity,
    vlog,
    warn,
    warning,
)
