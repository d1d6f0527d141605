"""Names of modes. tf-keras."""


class KerasModeKeys:
    """What a Keras model is run for."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"
