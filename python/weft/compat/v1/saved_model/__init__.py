"""tf.compat.v1.saved_model: graphs with signatures as SavedModels."""

from weft._src.compat.v1.version_2 import namespace as _namespace
from weft._src.compat.v1.saved_model import (  # noqa: F401
    Builder,
    build_signature_def,
    build_tensor_info,
    builder,
    constants,
    contains_saved_model,
    get_tensor_from_tensor_info,
    is_valid_signature,
    load,
    loader,
    maybe_saved_model_directory,
    predict_signature_def,
    signature_constants,
    signature_def_utils,
    simple_save,
    tag_constants,
    utils,
)
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
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
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

_MODULES = """
compat.v1.saved_model: classification_signature_def regression_signature_def main_op_with_restore
saved_model.load: load_v2=load
"""

__getattr__, __dir__ = _namespace(globals(), "saved_model", _MODULES, ["experimental", "main_op"])
