"""tf.types.experimental: classes to test values against, and to annotate with."""

from weft._src.function.types import (  # noqa: F401
    AtomicFunction,
    Callable,
    ConcreteFunction,
    FunctionType,
    GenericFunction,
    PolymorphicFunction,
    SupportsTracingProtocol,
    TensorLike,
    TraceType,
)
from weft._src.namespace import lazily as _lazily

__getattr__, _ = _lazily(globals(), "tf.types.experimental", "", ["distributed"])
