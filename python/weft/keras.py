"""tf.keras: the package keras (Keras 3), or tf_keras, which run on weft as they run on TensorFlow. This module becomes that package."""

import sys

from weft._src import keras_package

sys.modules[__name__] = keras_package.load()
