"""Decorators of tests in tensorflow.python.framework.test_util: which modes a test runs in. tf-keras, tensorflow-probability."""

import contextlib
import functools
import gc


def _as_is(function):
    return function


def _with_reason(description):
    """For tests that another compiler or device does not pass: weft has none of them."""
    return _as_is


def _with_optional(func=None, **options):
    return func if func is not None else _as_is


disable_cudnn_autotune = enable_control_flow_v2 = enable_output_all_intermediates = assert_no_new_tensors = _as_is
assert_no_garbage_created = with_control_flow_v2 = build_as_function_and_v1_graph = _as_is
disable_xla = disable_mlir_bridge = disable_tfrt = disable_asan = disable_msan = disable_tsan = _with_reason
disable_eager_op_as_function = add_graph_building_optimization_tests = _as_is


def assert_no_new_pyobjects_executing_eagerly(warmup_iters=2):
    return _as_is


def eager_lazy_remote_copy_on_and_off(f):
    return f


def InstallStackTraceHandler():  # noqa: N802 (TensorFlow's names)
    """Signals are left as they are."""


def IsBuiltWithNvcc():  # noqa: N802
    return False


def IsMklEnabled():  # noqa: N802
    return False


def is_xla_enabled():
    return False


def is_mlir_bridge_enabled():
    return False


def GpuSupportsHalfMatMulAndConv():  # noqa: N802
    return False


def for_all_test_methods(decorator, *args, **kwargs):
    """The decorated class has the decorator on each of its tests."""

    def all_test_methods(cls):
        for name in dir(cls):
            value = getattr(cls, name)
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return all_test_methods


def skip_if(condition):
    def decorator(function):
        @functools.wraps(function)
        def run(self, *args, **kwargs):
            if condition() if callable(condition) else condition:
                self.skipTest("Skipped by skip_if")
            return function(self, *args, **kwargs)

        return run

    return decorator


def _skipped(reason, function):
    if isinstance(function, type):
        own = function.setUp

        def set_up(self):
            self.skipTest(reason)
            own(self)

        function.setUp = set_up
        return function

    @functools.wraps(function)
    def run(self, *args, **kwargs):
        self.skipTest(reason)

    return run


def run_v1_only(reason=None, func=None):
    """A test of version 1 alone: skipped."""
    if callable(reason) and func is None:
        return _skipped("Test is only compatible with v1", reason)
    if func is not None:
        return _skipped(reason, func)
    return lambda function: _skipped(reason or "Test is only compatible with v1", function)


def run_v2_only(func=None, reason=None):
    return func if func is not None else _as_is


def run_gpu_only(func=None):
    return _skipped("Test requires GPU", func)


def run_cuda_only(func=None):
    return _skipped("Test requires CUDA GPU", func)


def deprecated_graph_mode_only(func):
    """The test builds a graph of version 1."""
    if isinstance(func, type):
        for name in dir(func):
            value = getattr(func, name)
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(func, name, deprecated_graph_mode_only(value))
        return func

    @functools.wraps(func)
    def run(self, *args, **kwargs):
        from weft._src.framework.graph import Graph

        if _has_eager_setup(self):
            with Graph().as_default():
                return func(self, *args, **kwargs)
        return func(self, *args, **kwargs)

    return run


run_deprecated_v1 = deprecated_graph_mode_only


def run_all_in_deprecated_graph_mode_only(cls):
    return deprecated_graph_mode_only(cls)


def _has_eager_setup(test):
    from weft._src.framework.graph import executing_eagerly

    return executing_eagerly()


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, assert_no_eager_garbage=False):
    """The test runs in a graph with a session, and then eagerly."""

    def decorator(f):
        if isinstance(f, type):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use `run_all_in_graph_and_eager_modes`?"
            )

        @functools.wraps(f)
        def run(self, *args, **kwargs):
            from weft._src.framework.graph import Graph
            from weft._src.internal.eager_context import eager_mode

            try:
                with Graph().as_default(), self.test_session(use_gpu=use_gpu, config=config):
                    f(self, *args, **kwargs)
            except __import__("unittest").SkipTest:
                pass
            self.tearDown()
            self._tempdir = None
            with eager_mode():
                self.setUp()
                f(self, *args, **kwargs)

        return run

    return decorator if func is None else decorator(func)


def run_all_in_graph_and_eager_modes(cls):
    """All tests of a class."""
    for name in dir(cls):
        if not name.startswith("test") or name == "test_session" or name.startswith("testSkipEager"):
            continue
        value = getattr(cls, name)
        if callable(value):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls


def also_run_as_tf_function(f):
    """The test runs eagerly and as a function."""

    @functools.wraps(f)
    def run(*args, **kwargs):
        from weft._src.function.function import function

        f(*args, **kwargs)

        def bound():
            f(*args, **kwargs)

        function(bound, autograph=False)()

    return run


@contextlib.contextmanager
def assert_no_garbage():
    gc.collect()
    yield


@contextlib.contextmanager
def use_gpu():
    yield


@contextlib.contextmanager
def force_cpu():
    from weft._src.framework.device import device

    with device("/device:CPU:0"):
        yield


def create_local_cluster(*args, **kwargs):
    from weft._src.framework.benchmark import create_local_cluster as create

    return create(*args, **kwargs)
