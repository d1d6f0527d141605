"""tf.__internal__.tracking: what other packages build their objects on."""

from weft._src.internal.utilities import saveable_objects_from_trackable  # noqa: F401
from weft._src.namespace import missing
from weft._src.trackable.autotrackable import AutoTrackable  # noqa: F401
from weft._src.trackable.base import (
    CheckpointInitialValue,
    CheckpointInitialValueCallable,
    Trackable,
    TrackableReference,
    # noqa: F401
    no_automatic_dependency_tracking,
)
from weft._src.trackable.data_structures import TrackableDataStructure, sticky_attribute_assignment  # noqa: F401
from weft._src.trackable.data_structures import wrap_or_unwrap as wrap  # noqa: F401
from weft._src.trackable.delegating import DelegatingTrackableMixin  # noqa: F401
from weft._src.trackable.graph_view import ObjectGraphView  # noqa: F401
from weft._src.trackable.restore import register_session_provider, streaming_restore  # noqa: F401

__getattr__ = missing("tf.__internal__.tracking")
