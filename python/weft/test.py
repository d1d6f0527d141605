"""tf.test: what tests of programs use."""

from weft._src.framework.test_util import (  # noqa: F401
    __getattr__,
    assert_equal_graph_def,
    compute_gradient,
    disable_with_predicate,
    experimental,
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_cpu_target_available,
    is_gpu_available,
    main,
    with_eager_op_as_function,
)
