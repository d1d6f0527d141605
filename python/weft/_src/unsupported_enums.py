"""Values of tf.compat.v1.tpu and tf.compat.v1.lite that programs name, although what they are for is not there."""

import enum


class PaddingSpec(enum.IntEnum):
    AUTO = 0
    POWER_OF_TWO = 1


class DeviceOrderMode(enum.IntEnum):
    AUTO = 0
    RING = 1
    MESH = 2


class OpsSet(enum.Enum):
    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"


class Optimize(enum.Enum):
    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"


class OpResolverType(enum.Enum):
    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


class EmbeddingFeature(enum.Enum):
    UNSUPPORTED = "UNSUPPORTED"
    V1 = "V1"
    V2 = "V2"


# Values that are attributes of a class which refuses.
ATTRIBUTES = {"tf.tpu.experimental.HardwareFeature": {"EmbeddingFeature": EmbeddingFeature}}
