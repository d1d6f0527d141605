"""tf.saved_model: whole programs as files: objects, functions, variables, signatures."""

from weft._src.namespace import missing as _missing
from weft.saved_model import experimental  # noqa: F401
from weft._src.saved_model.constants import (  # noqa: F401
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEBUG_DIRECTORY,
    DEBUG_INFO_FILENAME_PB,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    GPU,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    TPU,
    TRAINING,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from weft._src.saved_model.load import contains_saved_model, load  # noqa: F401
from weft._src.saved_model.options import LoadOptions, SaveOptions  # noqa: F401
from weft._src.saved_model.save import save  # noqa: F401
from weft._src.trackable.asset import Asset  # noqa: F401

__getattr__ = _missing("tf.saved_model")
