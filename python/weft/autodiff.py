"""tf.autodiff: derivatives in forward mode."""

from weft._missing import missing
from weft.gradients.forward import ForwardAccumulator  # noqa: F401
from weft.gradients.tape import GradientTape  # noqa: F401

__getattr__ = missing("tf.autodiff")
