"""Which package tf.keras is: keras (Keras 3), or tf_keras (Keras 2) where TF_USE_LEGACY_KERAS says so, as in TensorFlow."""

import importlib
import logging
import os
import types


def legacy():
    return os.environ.get("TF_USE_LEGACY_KERAS") in ("true", "True", "1")


def package(version="v2"):
    """The name of the module that tf.keras, or tf.compat.v1.keras, is."""
    if not legacy():
        return "keras._tf_keras.keras"
    return f"tf_keras.api._{version}.keras"


def load(version="v2", below=""):
    """That module, or one below it."""
    import weft.as_tensorflow  # noqa: F401  Keras says `import tensorflow`

    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    try:
        return importlib.import_module(package(version) + below)
    except ModuleNotFoundError as error:
        if error.name not in ("keras", "keras._tf_keras", "tf_keras"):
            raise
    if legacy():
        logging.getLogger("tensorflow").warning(
            "Your environment has TF_USE_LEGACY_KERAS set to True, but you do not have the tf_keras package installed. You must install it in order to use the "
            "legacy tf.keras. Install it via: `pip install tf_keras`"
        )
        raise ImportError("Keras cannot be imported. Check that it is installed.") from None
    raise ImportError("tf.keras is the package keras, which is not installed here: pip install keras") from None


class OfVersion1(types.ModuleType):
    """A module of tf.compat.v1 that is one of Keras; `below` has nothing in Keras 3."""

    def __init__(self, name, below=""):
        super().__init__(name)
        self._below = below

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._below and not legacy():
            raise AttributeError(f"`{name}` is not available with Keras 3.")
        return getattr(load("v1", self._below), name)


keras = OfVersion1("tensorflow.compat.v1.keras")
layers = OfVersion1("tensorflow.compat.v1.layers", ".__internal__.legacy.layers")
rnn_cell = OfVersion1("tensorflow.compat.v1.nn.rnn_cell", ".__internal__.legacy.rnn_cell")
