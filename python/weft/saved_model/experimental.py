"""tf.saved_model.experimental"""

from weft._src.saved_model.experimental import (  # noqa: F401
    __getattr__,
    Fingerprint,
    TrackableResource,
    VariablePolicy,
    read_fingerprint,
)
