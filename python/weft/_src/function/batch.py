"""tf.nondifferentiable_batch_function: calls from several threads become one call."""

from weft._src.raw import raw
from weft._src.framework import nest
from weft._src.framework.graph import name_scope
from weft._src.framework.tensor import Tensor
from weft._src.framework.type_spec import TensorSpec


def nondifferentiable_batch_function(
    num_batch_threads,
    max_batch_size,
    batch_timeout_micros,
    allowed_batch_sizes=None,
    max_enqueued_batches=10,
    autograph=True,
    enable_large_batch_splitting=True,
):
    """The decorated function sees the rows of calls that come at about the same time together."""

    def decorator(fn):
        from weft._src.function.function import function

        @function(autograph=autograph)
        def computation(*args):
            return fn(*args)

        def decorated(*args):
            with name_scope("batch") as name:
                specs = [TensorSpec(dtype=x.dtype, shape=x.shape, name=f"batch_{i}") for i, x in enumerate(args)]
                concrete = computation.get_concrete_function(*specs)
                for a in args:
                    if not isinstance(a, Tensor):
                        raise ValueError(
                            f"All arguments to functions decorated with `batch_function`  are supposed to be Tensors; found {a!r}"
                        )
                outputs = raw.BatchFunction(
                    in_tensors=list(args),
                    captured_tensors=concrete.captured_inputs,
                    f=concrete,
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=allowed_batch_sizes or [],
                    Tout=[o.dtype for o in concrete.outputs],
                    enable_large_batch_splitting=enable_large_batch_splitting,
                    shared_name=name,
                )
                outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
                return nest.pack_sequence_as(concrete.structured_outputs, outputs, expand_composites=True)

        return decorated

    return decorator
