"""tf.profiler.experimental: what ran when, in the files that TensorBoard's profile plugin reads."""

from weft._src.profiler.experimental import (  # noqa: F401
    __getattr__,
    Profile,
    ProfilerOptions,
    Trace,
    client,
    server,
    start,
    stop,
)
