"""tf.compat.v1.lite.constants."""

from weft._src.framework import dtypes

FLOAT, FLOAT16, STRING, QUANTIZED_UINT8 = dtypes.float32, dtypes.float16, dtypes.string, dtypes.uint8
INT8, INT16, INT32, INT64 = dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64
TFLITE, GRAPHVIZ_DOT = 2, 3
