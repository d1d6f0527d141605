"""tf.saved_model.experimental"""

import enum
import os

from weft._src.namespace import missing as _missing
from weft._src.framework import gfile
from weft._src.trackable.resource import TrackableResource  # noqa: F401


class VariablePolicy(enum.Enum):
    """What is kept of how variables were placed."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class Fingerprint:
    """The hashes that tell whether a SavedModel is the one that was saved."""

    def __init__(
        self,
        saved_model_checksum=None,
        graph_def_program_hash=None,
        signature_def_hash=None,
        saved_object_graph_hash=None,
        checkpoint_hash=None,
        version=None,
    ):
        self.saved_model_checksum, self.graph_def_program_hash, self.signature_def_hash = (
            saved_model_checksum,
            graph_def_program_hash,
            signature_def_hash,
        )
        self.saved_object_graph_hash, self.checkpoint_hash, self.version = (
            saved_object_graph_hash,
            checkpoint_hash,
            version,
        )

    def singleprint(self):
        return "/".join(
            str(v)
            for v in (
                self.graph_def_program_hash,
                self.signature_def_hash,
                self.saved_object_graph_hash,
                self.checkpoint_hash,
            )
        )

    def __eq__(self, other):
        return isinstance(other, Fingerprint) and self.singleprint() == other.singleprint()

    __hash__ = None


def read_fingerprint(export_dir):
    """The fingerprint of a SavedModel."""
    from weft._src.proto import FingerprintDef

    path = os.path.join(export_dir, "fingerprint.pb")
    if not gfile.exists(path):
        raise FileNotFoundError(f"SavedModel Fingerprint Error: no fingerprint.pb in {export_dir}")
    p = FingerprintDef.FromString(gfile.read_bytes(path))
    return Fingerprint(
        p.saved_model_checksum,
        p.graph_def_program_hash,
        p.signature_def_hash,
        p.saved_object_graph_hash,
        p.checkpoint_hash,
        p.version,
    )


__getattr__ = _missing("tf.saved_model.experimental")
