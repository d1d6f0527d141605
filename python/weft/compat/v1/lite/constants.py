"""tf.compat.v1.lite.constants: types and formats of TensorFlow Lite."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.lite_constants: FLOAT FLOAT16 GRAPHVIZ_DOT INT16 INT32 INT64 INT8 QUANTIZED_UINT8 STRING TFLITE
"""

__getattr__, __dir__ = _namespace(globals(), "lite.constants", _MODULES)
