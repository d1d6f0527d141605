"""tf.dtypes."""

from types import SimpleNamespace as _Names

from weft._src.namespace import missing as _missing
from weft._src.framework import dtypes as _dtypes
from weft._src.framework.dtypes import (  # noqa: F401
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from weft._src.ops.math_ops import cast, complex, saturate_cast  # noqa: F401

QUANTIZED_DTYPES = frozenset(
    [qint8, quint8, qint16, quint16, qint32, *(d._as_ref for d in (qint8, quint8, qint16, quint16, qint32))]
)
experimental = _Names(
    **{
        name: getattr(_dtypes, name)
        for name in (
            "float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2 float4_e2m1fn"
        ).split()
    }
)

__getattr__ = _missing("tf.dtypes")
