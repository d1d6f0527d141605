"""Names that tf.compat.v1.test, app and resource_loader have beside those of version 2."""

import inspect
import os
import sys
from unittest import mock  # noqa: F401


def get_temp_dir():
    """A folder for files of tests."""
    from weft._src.framework.test_case import _test_folder

    return _test_folder()


def test_src_dir_path(relative_path):
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), relative_path)


test_src_dir_path.__test__ = False


def get_data_files_path():
    """The folder of the file that calls."""
    return os.path.dirname(inspect.getfile(sys._getframe(1)))


def get_root_dir_with_all_resources():
    return os.path.dirname(inspect.getfile(sys._getframe(1)))


def get_path_to_datafile(path):
    return os.path.join(os.path.dirname(inspect.getfile(sys._getframe(1))), path)


def readahead_file_path(path, readahead="128M"):
    return path


def load_resource(path):
    with open(path, "rb") as file:
        return file.read()


def run(main=None, argv=None):
    """Runs a program's main function with absl's flags."""
    from absl import app

    app.run(main=main or sys.modules["__main__"].main, argv=argv)


class StubOutForTesting:
    """Sets attributes for a test and puts the former ones back."""

    def __init__(self):
        self.cache, self.stubs = [], []

    def __del__(self):
        self.SmartUnsetAll()
        self.UnsetAll()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj, attr_name, new_attr):  # noqa: N802: TensorFlow's names
        """The same as Set for attributes that a class inherits."""
        self.stubs.append((obj, attr_name, _found(obj, attr_name)))
        setattr(obj, attr_name, new_attr)

    def SmartUnsetAll(self):  # noqa: N802
        for obj, name, value in reversed(self.stubs):
            setattr(obj, name, value)
        self.stubs = []

    def Set(self, parent, child_name, new_child):  # noqa: N802
        value = vars(parent).get(child_name, getattr(parent, child_name))
        self.cache.append((parent, child_name, value))
        setattr(parent, child_name, new_child)

    def UnsetAll(self):  # noqa: N802
        for parent, name, value in reversed(self.cache):
            setattr(parent, name, value)
        self.cache = []


def _found(obj, name):
    for holder in inspect.getmro(obj) if inspect.isclass(obj) else (obj,):
        if name in vars(holder):
            return vars(holder)[name]
    return getattr(obj, name)


def _jacobians(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict):
    """(Jacobian of the graph, Jacobian by differences) of y by x: a row for each number of x."""
    import numpy as np

    from weft._src.compat.session import get_default_session
    from weft._src.compat.v1.graphs import placeholder
    from weft._src.gradients.graph import gradients
    from weft._src.ops.gradient_checker import check_dtype, jacobian_of_slopes, jacobian_of_steps

    session, feeds = get_default_session(), dict(extra_feed_dict or {})
    for op in init_targets or ():
        op.run()
    for name, tensor in (("x", x), ("y", y)):
        check_dtype(tensor.dtype, f"Don't support type {tensor.dtype.name} for {name}")
    kind = x.dtype.as_numpy_dtype
    if x_init_value is None:
        value = np.random.random_sample(x_shape).astype(kind)
        if x.dtype.is_complex:
            value.imag = np.random.random_sample(x_shape)
    else:
        if list(x_shape) != list(x_init_value.shape):
            raise AssertionError(f"x_shape = {x_shape}, init_data shape = {list(x_init_value.shape)}")
        value = np.array(x_init_value, kind)
    with x.graph.as_default():
        direction = placeholder(y.dtype, y_shape)
    (found,) = gradients(y, [x], grad_ys=[direction])
    if found is None:
        raise AssertionError("dx = None")
    exact = jacobian_of_slopes(
        lambda dy: session.run(found, {**feeds, x: value, direction: dy}), value, y_shape, y.dtype
    )
    blank = np.zeros(y_shape, y.dtype.as_numpy_dtype)
    stepped = jacobian_of_steps(lambda at: session.run(y, {**feeds, x: at}), value, blank, delta)
    return exact.T, stepped.T


def _gradients(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict):
    if extra_feed_dict is None:
        extra_feed_dict = {}
    if isinstance(x, list):
        return [
            _jacobians(xi, shape, y, y_shape, value, delta, init_targets if i == 0 else None, extra_feed_dict)
            for i, (xi, shape, value) in enumerate(zip(x, x_shape, x_init_value or [None] * len(x)))
        ]
    return _jacobians(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """Jacobians of y by x in a session: as gradients give them, and by differences."""
    return _gradients(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)


def compute_gradient_error(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
):
    """The greatest difference between the two."""
    found = _gradients(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max((abs(a - b).max() if a.size and b.size else 0.0) for a, b in pairs)


def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """Raises where two graphs differ; random names of files and tables do not count."""
    from weft._src.framework.test_util import assert_equal_graph_def as check

    check(expected, actual)


def __getattr__(name):
    if name == "flags":
        from weft._src.compat.v1 import flags

        return flags
    raise AttributeError(name)
