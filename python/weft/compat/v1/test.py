"""tf.compat.v1.test"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
compat.v1.testing: StubOutForTesting assert_equal_graph_def compute_gradient compute_gradient_error get_temp_dir mock test_src_dir_path
framework.benchmark: Benchmark benchmark_config create_local_cluster
framework.test_case: TestCase
framework.test_util: disable_with_predicate experimental gpu_device_name is_built_with_cuda is_built_with_gpu_support
framework.test_util: is_built_with_rocm is_built_with_xla is_cpu_target_available is_gpu_available main with_eager_op_as_function
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compat.v1.test", _MODULES)
