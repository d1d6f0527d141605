"""tf.__internal__.tracking: what other packages build their objects on."""

from weft._missing import missing
from weft.trackable.autotrackable import AutoTrackable  # noqa: F401
from weft.trackable.base import (
    CheckpointInitialValue,
    CheckpointInitialValueCallable,
    Trackable,
    TrackableReference,
    # noqa: F401
    no_automatic_dependency_tracking,
)
from weft.trackable.data_structures import TrackableDataStructure, sticky_attribute_assignment  # noqa: F401
from weft.trackable.data_structures import wrap_or_unwrap as wrap  # noqa: F401
from weft.trackable.delegating import DelegatingTrackableMixin  # noqa: F401
from weft.trackable.graph_view import ObjectGraphView  # noqa: F401
from weft.trackable.restore import register_session_provider, streaming_restore  # noqa: F401

__getattr__ = missing("tf.__internal__.tracking")
