"""tf.autodiff: derivatives in forward mode."""

from weft._src.namespace import missing
from weft._src.gradients.forward import ForwardAccumulator  # noqa: F401
from weft._src.gradients.tape import GradientTape  # noqa: F401

__getattr__ = missing("tf.autodiff")
