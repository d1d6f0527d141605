"""Debugger ops that tell about numbers."""

import numpy as np
import tensorflow as tf

B16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float32, np.float64, np.float16, B16]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def record(call):
    odd = [[np.nan, 1.5, -2, 0], [np.inf, -np.inf, 0, 7], [np.nan, -1, -3, np.inf]]
    for t in FLOATS + INTEGERS:
        x = np.array(odd).astype(t) if t in FLOATS else np.array([[0, 1, 2], [100, 0, 3]]).astype(t)
        call("DebugNanCount", [x], {"tensor_name": "node:0"})
        call("DebugGradientIdentity", [x])
        for mode in (2, 3, 4, 5, 8):
            for out in (tf.float32, tf.float64):
                call("DebugNumericSummaryV2", [x], {"tensor_debug_mode": mode, "tensor_id": 7, "output_dtype": out})
        if t in (np.float16, B16):
            continue
        call("DebugNumericSummary", [x], {"tensor_name": "node"})
        call(
            "DebugNumericSummary",
            [x],
            {"tensor_name": "node:1", "lower_bound": -1.5, "upper_bound": 2.0, "mute_if_healthy": True},
        )
        call("DebugNumericSummary", [x[:0]], {"tensor_name": "node"})
        call("DebugNumericSummary", [x[0, 1]], {"tensor_name": "node"})
    flags = np.array([[True, False, True]])
    call("DebugNumericSummary", [flags], {"tensor_name": "node"})
    for mode in (2, 3, 4, 5, 8):
        call("DebugNumericSummaryV2", [flags], {"tensor_debug_mode": mode, "tensor_id": 1})
        call("DebugNumericSummaryV2", [np.zeros([0, 3], "f")], {"tensor_debug_mode": mode, "tensor_id": 1})
        call(
            "DebugNumericSummaryV2",
            [np.zeros([1, 2, 1, 3, 1, 4, 1, 5], "f")],
            {"tensor_debug_mode": mode, "tensor_id": 16777216},
        )
    call("DebugGradientIdentity", [np.array([b"a", b"b"], dtype=object)])
    call("Fact", [])
