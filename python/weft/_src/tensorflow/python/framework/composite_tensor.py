"""Values of several tensors. tensorflow-probability."""


def get_shape(tensor):
    """The shape of a value, composite or not."""
    return tensor.shape
