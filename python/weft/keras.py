"""tf.keras: the package keras (Keras 3), which runs on weft as it runs on TensorFlow. This module becomes that package."""

import os
import sys

import weft.as_tensorflow  # noqa: F401  Keras says `import tensorflow`

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
try:
    from keras._tf_keras import keras
except ModuleNotFoundError as error:
    if error.name not in ("keras", "keras._tf_keras"):
        raise
    raise ImportError("tf.keras is the package keras, which is not installed here: pip install keras") from None

sys.modules[__name__] = keras
