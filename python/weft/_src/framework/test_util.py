"""tf.test: what tests of programs use."""

import functools as _functools
from types import SimpleNamespace as _Names

from weft._src.namespace import missing
from weft._src.ops.gradient_checker import compute_gradient  # noqa: F401


def gpu_device_name():
    """The name of a GPU, or nothing."""
    from weft._src.framework import config

    return next((d.name for d in config.list_logical_devices("GPU")), "")


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Is there a GPU, of this compute capability at least?"""
    from weft._src.framework import config

    for device in config.list_physical_devices("GPU"):
        capability = config.get_device_details(device).get("compute_capability", (0, 0))
        if min_cuda_compute_capability is None or capability >= tuple(min_cuda_compute_capability):
            return True
    return False


def is_built_with_cuda():
    """Whether there are GPUs of NVIDIA: what uses them is always there."""
    return is_gpu_available()


def is_built_with_rocm():
    return False


def is_built_with_gpu_support():
    """See is_built_with_cuda."""
    return is_gpu_available()


def is_built_with_xla():
    """Whether functions can be compiled."""
    return True


def is_cpu_target_available(target):
    """Whether the compiler makes code for this kind of machine."""
    return target in ("x86_64", "x86")


def main(argv=None):
    """Runs all tests of the program."""
    from absl.testing import absltest

    return absltest.main(argv=argv)


def disable_with_predicate(pred, skip_message):
    """The decorated test is skipped where pred() is true."""

    def decorator(test):
        @_functools.wraps(test)
        def run(self, *args, **kwargs):
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)

        return run

    return decorator


def with_eager_op_as_function(cls=None, only_as_function=False):
    """Eager ops always run as themselves: the class as it is."""
    return cls if cls is not None else lambda given: given


def assert_equal_graph_def(expected, actual):
    """AssertionError with the first difference between two GraphDefs; the order of nodes does not count."""
    from weft._src.proto import GraphDef

    for name, given in (("actual", actual), ("expected", expected)):
        if not isinstance(given, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(given).__name__}")
    left = {node.name: node for node in actual.node}
    for node in expected.node:
        if node.name not in left:
            raise AssertionError(f"Did not find expected node '{_node_text(node)}'")
        _compare_nodes(node, left.pop(node.name))
    if left:
        raise AssertionError(f"Found unexpected node '{_node_text(next(iter(left.values())))}'")


def _node_text(node):
    attrs = ", ".join(f"{k}={_attr_text(node.attr[k])}" for k in sorted(node.attr) if not k.startswith("_"))
    return f"{{{{node {node.name}}}}} = {node.op}[{attrs}]({', '.join(node.input)})"


def _attr_text(value):
    return " ".join(str(value).split())


def _compare_nodes(expected, actual):
    named = f"Node named '{actual.name}' has"
    if actual.op != expected.op:
        raise AssertionError(f"{named} op '{actual.op}' that is not expected '{expected.op}'")
    if actual.device != expected.device:
        raise AssertionError(f"{named} device '{actual.device}' that is not expected '{expected.device}'")
    if len(actual.input) != len(expected.input):
        raise AssertionError(f"{named} {len(actual.input)} inputs instead of expected {len(expected.input)}")
    for i, (have, want) in enumerate(zip(actual.input, expected.input)):
        if have != want:
            raise AssertionError(f"{named} input {i} '{have}' that doesn't match expected '{want}'")
    for key in sorted({*actual.attr, *expected.attr}):
        if key.startswith("_output_shapes"):
            continue
        if key not in actual.attr:
            raise AssertionError(
                f"Node named '{actual.name}' missing expected attr '{key}' with value: {_attr_text(expected.attr[key])}"
            )
        if key not in expected.attr:
            raise AssertionError(f"{named} unexpected attr '{key}' with value: {_attr_text(actual.attr[key])}")
        if actual.attr[key].SerializeToString() != expected.attr[key].SerializeToString():
            raise AssertionError(
                f"{named} attr '{key}' with value: {_attr_text(actual.attr[key])} that does not match expected: {_attr_text(expected.attr[key])}"
            )


def _sync_devices():
    """Waits until all devices have done what they were given. CPUs have when calls return; GPUs go on in the background."""
    import weft as tf

    if not tf.executing_eagerly():
        raise RuntimeError("sync_devices() must only be called in Eager mode, outside tf.functions")
    for device in tf.config.list_logical_devices():
        with tf.device(device.name):
            tf.raw_ops.SyncDevice()


experimental = _Names(sync_devices=_sync_devices)


_missing = missing("tf.test")


def __getattr__(name):
    if name in ("TestCase", "TensorFlowTestCase"):
        from weft._src.framework.test_case import TestCase

        return TestCase
    if name in ("Benchmark", "benchmark_config", "create_local_cluster"):
        from weft._src.framework import benchmark

        return getattr(benchmark, name)
    return _missing(name)
