"""tf.test.TestCase: absl's, with sessions, values of tensors and comparisons of arrays."""

import contextlib
import os
import random
import re
import shutil
import tempfile
import threading

import numpy as np
from absl.testing import absltest

from weft._src.framework import errors, nest
from weft._src.framework.graph import executing_eagerly, get_default_graph

_folder = None


def _test_folder():
    """The folder of this process' tests."""
    global _folder
    if _folder is None:
        root = os.environ.get("TEST_TMPDIR")
        if root:
            os.makedirs(root, exist_ok=True)
        _folder = tempfile.mkdtemp(dir=root or None, prefix="weft_test_")
        import atexit

        atexit.register(shutil.rmtree, _folder, True)
    return _folder


class _CheckedThread:
    """A thread whose error fails the test that joins it."""

    def __init__(self, testcase, target, args=None, kwargs=None):
        self._testcase, self._target, self._args, self._kwargs = testcase, target, args or (), kwargs or {}
        self._thread, self._exception, self._joined = threading.Thread(target=self._run), None, False

    def _run(self):
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as e:  # for join
            self._exception = e

    def start(self):
        self._thread.start()

    def join(self):
        self._joined = True
        self._thread.join()
        if self._exception is not None:
            self._testcase.fail(f"Error in checkedThread: {self._exception}")

    def is_alive(self):
        return self._thread.is_alive()


class _Captured:
    def __init__(self, path):
        self._path = path

    def contents(self):
        with open(self._path) as file:
            return file.read()


class _NoSession:
    """What session() gives eagerly."""

    def __getattr__(self, name):
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session(), self.cached_session(), etc while eager execution "
            "is enabled. If you're porting this test case to TF 2.0, either adapt the test to work with eager execution or insert a call to "
            "tf.disable_eager_execution() in the main() function of this test file."
        )


class _EagerSession:
    """What cached_session() gives eagerly: run takes values of tensors, without feeds."""

    def __init__(self, test_case):
        self._test_case = test_case

    def run(self, fetches, *args, **kwargs):
        given = "feed_dict is" if kwargs.pop("feed_dict", {}) else "Optional args are" if args or kwargs else None
        if given is not None:
            raise RuntimeError(
                f"{given} not supported when eager execution is enabled (in this case, sess.run(t) is shorthand for t.numpy()"
            )
        return self._test_case.evaluate(fetches)


class TestCase(absltest.TestCase):
    """absl's, for tensors."""

    def __init__(self, methodName="runTest"):  # noqa: N803 (unittest's name)
        super().__init__(methodName)
        self._threads, self._tempdir, self._cached_session = [], None, None

    def setUp(self):
        super().setUp()
        from weft._src.framework.random_seed import set_seed

        self._clear_cached_session()
        random.seed(87654321)
        np.random.seed(87654321)
        from weft._src.framework.graph import reset_default_graph

        if not get_default_graph().building_function:
            with contextlib.suppress(AssertionError):
                reset_default_graph()
        set_seed(87654321)

    def tearDown(self):
        for thread in self._threads:
            thread._testcase = self
            self.assertFalse(not thread._joined and thread.is_alive(), "A checkedThread did not terminate")
        self._threads = []
        self._clear_cached_session()
        super().tearDown()

    def _clear_cached_session(self):
        if getattr(self, "_cached_session", None) is not None:
            self._cached_session.close()
        self._cached_session = None

    _ClearCachedSession = _clear_cached_session

    def get_temp_dir(self):
        """A folder of this test's own."""
        if not self._tempdir:
            self._tempdir = tempfile.mkdtemp(dir=_test_folder())
        return self._tempdir

    def checkedThread(self, target, args=None, kwargs=None):  # noqa: N802
        made = _CheckedThread(self, target, args, kwargs)
        self._threads.append(made)
        return made

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):  # noqa: N802
        """What is written to a file descriptor in the block."""
        number = stream.fileno()
        handle, path = tempfile.mkstemp(dir=self.get_temp_dir())
        kept = os.dup(number)
        stream.flush()
        os.dup2(handle, number)
        try:
            yield _Captured(path)
        finally:
            stream.flush()
            os.dup2(kept, number)
            os.close(kept)
            os.close(handle)

    # ---- sessions and values

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """A session of the default graph; eagerly what says that there is none."""
        if executing_eagerly():
            yield _NoSession()
            return
        from weft._src.compat.session import Session

        with Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """The same session in all blocks of a test."""
        if executing_eagerly():
            yield _EagerSession(self)
            return
        from weft._src.compat.session import Session

        if self._cached_session is None:
            self._cached_session = Session(graph=graph, config=config)
            self._cached_graph = graph
        elif graph is not None and graph is not self._cached_graph:
            raise ValueError(
                "The graph used to get the cached session is different than the one that was used to create the session."
            )
        with self._cached_session.graph.as_default(), self._cached_session.as_default():
            yield self._cached_session

    def test_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """cached_session, or a session of its own for another graph."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        if executing_eagerly():
            return contextlib.nullcontext()
        if graph is None:
            return self.cached_session(graph, config, use_gpu, force_gpu)
        return self.session(graph, config, use_gpu, force_gpu)

    test_session.__test__ = False

    def _eval_tensor(self, tensor):
        from weft._src.framework.indexed_slices import IndexedSlices
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor
        from weft._src.ops.sparse_tensor import SparseTensor, SparseTensorValue

        if tensor is None:
            return None
        if callable(tensor) and not hasattr(tensor, "numpy"):
            return self.evaluate(tensor())
        if isinstance(tensor, SparseTensor):
            return SparseTensorValue(tensor.indices.numpy(), tensor.values.numpy(), tensor.dense_shape.numpy())
        if isinstance(tensor, RaggedTensor):
            from weft._src.compat.v1.ragged import RaggedTensorValue

            return RaggedTensorValue(self._eval_tensor(tensor.values), self._eval_tensor(tensor.row_splits))
        if isinstance(tensor, IndexedSlices):
            from weft._src.compat.v1.values import IndexedSlicesValue

            return IndexedSlicesValue(
                values=tensor.values.numpy(),
                indices=tensor.indices.numpy(),
                dense_shape=None if tensor.dense_shape is None else tensor.dense_shape.numpy(),
            )
        if hasattr(tensor, "numpy") and callable(tensor.numpy):
            return tensor.numpy()
        if isinstance(tensor, (bool, int, float, str, bytes, np.ndarray, np.generic)):
            return tensor
        raise ValueError(f"Unsupported type {type(tensor)}.")

    def evaluate(self, tensors):
        """The values as numpy arrays."""
        if executing_eagerly():
            if tensors is None:
                return None
            return nest.map_structure(self._eval_tensor, tensors)
        from weft._src.compat.session import get_default_session

        session = get_default_session()
        if session is None:
            with self.test_session() as session:
                return session.run(tensors)
        return session.run(tensors)

    def evaluate_if_both_tensors(self, a, b):
        from weft._src.framework.tensor import is_tf_type

        if is_tf_type(a) and is_tf_type(b) and not isinstance(a, str):
            return self.evaluate([a, b])
        return a, b

    def _get_nd_array(self, a):
        from weft._src.framework.tensor import EagerTensor, is_tf_type

        if isinstance(a, (list, tuple)):
            a = [self._get_nd_array(x) if is_tf_type(x) else x for x in a]
        if isinstance(a, EagerTensor):
            a = a.numpy()  # has its value in graphs, too
        elif not isinstance(a, (np.ndarray, np.generic)) and is_tf_type(a):
            a = self.evaluate(a)
        if isinstance(a, np.ndarray):
            return a
        try:
            return np.array(a)
        except ValueError:  # parts of several sizes
            return np.array(a, dtype=object)

    _GetNdArray = _array = _get_nd_array

    def _is_ragged(self, value):
        return hasattr(value, "row_splits") and hasattr(value, "values")

    def _py_list(self, value):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        if isinstance(value, RaggedTensor):
            value = self.evaluate(value)
        if hasattr(value, "to_list"):
            return value.to_list()
        if isinstance(value, (list, tuple)):
            return [self._py_list(v) for v in value]
        return self._get_nd_array(value).tolist()

    # ---- comparisons

    def _assert_close(self, a, b, rtol, atol, msg):
        a, b = self._get_nd_array(a), self._get_nd_array(b)
        if a.shape != b.shape:
            raise AssertionError(
                f"Shape mismatch: expected {a.shape}, got {b.shape}{'' if msg is None else ' : ' + str(msg)}"
            )
        kind = f"{msg or ''}"
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True) if a.dtype.kind in "biufc" else True:
            np.testing.assert_allclose(
                a, b, rtol=rtol, atol=atol, err_msg=f"Mismatched value: a is different from b. {kind}", equal_nan=True
            )

    def _close(self, a, b, rtol, atol, path, msg):
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        where = "".join(f"[{p}]" for p in path)
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Can't compare dict to non-dict, a{where} vs b{where}. {msg or ''}")
        if isinstance(a, dict):
            self.assertItemsEqual(
                a.keys(),
                b.keys(),
                msg=f"mismatched keys: a{where} has keys {a.keys()}, but b{where} has keys {b.keys()}. {msg or ''}",
            )
            for key in a:
                self._close(a[key], b[key], rtol, atol, [*path, str(key)], msg)
        elif isinstance(a, (list, tuple)):
            try:
                both = self._get_nd_array(a), self._get_nd_array(b)
                if both[0].dtype == object or both[1].dtype == object:
                    raise ValueError("not arrays")
            except (ValueError, TypeError):
                if len(a) != len(b):
                    raise ValueError(
                        f"Mismatched length: a{where} has {len(a)} items, but b{where} has {len(b)} items. {msg or ''}"
                    ) from None
                for i, (x, y) in enumerate(zip(a, b)):
                    self._close(x, y, rtol, atol, [*path, str(i)], msg)
                return
            self._assert_close(*both, rtol, atol, msg)
        else:
            self._assert_close(a, b, rtol, atol, f"{msg or ''}{' at ' + where if where else ''}" or None)

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        if self._is_ragged(a) or self._is_ragged(b):
            return self._ragged(a, b, lambda x, y: self._assert_close(x, y, rtol, atol, msg), msg)
        self._close(a, b, rtol, atol, [], msg)

    def _ragged(self, a, b, compare, msg):
        a, b = self._py_list(a), self._py_list(b)

        def walk(x, y, path):
            if isinstance(x, list) != isinstance(y, list) or (isinstance(x, list) and len(x) != len(y)):
                raise AssertionError(f"Ragged structures differ at {path}: {x} vs {y}. {msg or ''}")
            if isinstance(x, list):
                for i, (p, q) in enumerate(zip(x, y)):
                    walk(p, q, f"{path}[{i}]")
            else:
                compare(x, y)

        walk(a, b, "value")

    def assertAllCloseAccordingToType(  # noqa: N802
        self,
        a,
        b,
        rtol=1e-6,
        atol=1e-6,
        float_rtol=1e-6,
        float_atol=1e-6,
        half_rtol=1e-3,
        half_atol=1e-3,
        bfloat16_rtol=1e-2,
        bfloat16_atol=1e-2,
        msg=None,
    ):
        """With the tolerance of the coarsest type."""
        a, b = self.evaluate_if_both_tensors(a, b)
        a, b = self._get_nd_array(a), self._get_nd_array(b)
        names = {a.dtype.name, b.dtype.name}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a, b, msg=None):  # noqa: N802
        if self._is_ragged(a) or self._is_ragged(b):
            return self._ragged(a, b, lambda x, y: self.assertEqual(x, y, msg), msg)
        a, b = self.evaluate_if_both_tensors(a, b)
        a, b = self._get_nd_array(a), self._get_nd_array(b)
        if b.ndim <= 3 or b.size < 500:
            self.assertEqual(
                a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. Contents: {b!r}. \n{msg or ''}."
            )
        else:
            self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}")
        same = a == b
        if a.dtype.kind in "fc" or a.dtype.name == "bfloat16":
            with np.errstate(all="ignore"):
                same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if np.all(same):
            return
        if a.dtype.kind != b.dtype.kind and {a.dtype.kind, b.dtype.kind} <= set("USO"):  # text in several forms
            a, b = (np.array([x.encode() if isinstance(x, str) else x for x in array.flat]) for array in (a, b))
            if np.array_equal(a, b):
                return
        np.testing.assert_array_equal(a, b, err_msg=msg or "")
        raise AssertionError(f"not equal: {a!r} {b!r} {msg or ''}")

    def assertNotAllEqual(self, a, b, msg=None):  # noqa: N802
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        msg = msg or ""
        raise AssertionError(f"The two values are equal at all elements. {msg}")

    def assertAllGreater(self, a, comparison_target):  # noqa: N802
        self.assertGreater(
            np.min(self._array(self.evaluate_if_both_tensors(a, comparison_target)[0])), self._scalar(comparison_target)
        )

    def assertAllLess(self, a, comparison_target):  # noqa: N802
        self.assertLess(
            np.max(self._array(self.evaluate_if_both_tensors(a, comparison_target)[0])), self._scalar(comparison_target)
        )

    def assertAllGreaterEqual(self, a, comparison_target):  # noqa: N802
        self.assertGreaterEqual(np.min(self._array(a)), self._scalar(comparison_target))

    def assertAllLessEqual(self, a, comparison_target):  # noqa: N802
        self.assertLessEqual(np.max(self._array(a)), self._scalar(comparison_target))

    def _scalar(self, value):
        return (
            self.evaluate(value)
            if hasattr(value, "dtype") and not isinstance(value, (np.ndarray, np.generic))
            else value
        )

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):  # noqa: N802
        array = self._array(target)
        if not np.issubdtype(array.dtype, np.floating) and not np.issubdtype(array.dtype, np.integer):
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, instead it has type: {array.dtype}"
            )
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        nan = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
        if nan.any() or not (low & high).all():
            raise AssertionError(
                f"{np.argwhere(~(low & high) | nan).tolist()[:10]} of the elements are not in "
                f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}: {array}"
            )

    def assertAllInSet(self, target, expected_set):  # noqa: N802
        left = np.setdiff1d(self._array(target).flatten(), list(expected_set))
        if np.size(left):
            raise AssertionError(f"{np.size(left)} unique element(s) are not in the set {expected_set}: {left}")

    def assertShapeEqual(self, input_a, input_b, msg=None):  # noqa: N802
        from weft._src.framework.tensor_shape import TensorShape

        for given in (input_a, input_b):
            if not hasattr(given, "shape"):
                raise TypeError("input must be a Numpy ndarray, Tensor or Variable.")
        a, b = TensorShape(input_a.shape), TensorShape(input_b.shape)
        self.assertEqual(a.as_list(), b.as_list(), msg)

    def assertDTypeEqual(self, target, expected_dtype):  # noqa: N802
        dtype = target.dtype if hasattr(target, "dtype") else np.array(target).dtype
        self.assertEqual(dtype, expected_dtype)

    def assertDeviceEqual(self, device1, device2, msg=None):  # noqa: N802
        from weft._src.framework.device import canonical_name

        self.assertEqual(canonical_name(device1), canonical_name(device2), msg)

    def assertNear(self, f1, f2, err, msg=None):  # noqa: N802
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r}{' (' + msg + ')' if msg else ''}"
        )

    def assertArrayNear(self, farray1, farray2, err, msg=None):  # noqa: N802
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):  # noqa: N802
        self.assertTrue(np.linalg.norm(ndarray1 - ndarray2) < err, msg)

    def assertStartsWith(self, actual, expected_start, msg=None):  # noqa: N802
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}{' : ' + msg if msg else ''}")

    def assertItemsEqual(self, first, second, msg=None):  # noqa: N802
        return self.assertCountEqual(first, second, msg=msg)

    def assertDictEqual(self, a, b, msg=None):  # noqa: N802
        """Equal as dictionaries, or with tensors that are equal or close."""
        try:
            return super().assertDictEqual(a, b, msg)
        except Exception:  # noqa: BLE001: tensors have no truth value; whatever it was, the values are looked at
            pass
        self.assertCountEqual(a.keys(), b.keys(), msg)
        for key, value in a.items():
            x, y = (self._get_nd_array(v) for v in self.evaluate_if_both_tensors(value, b[key]))
            if np.issubdtype(x.dtype, np.floating):
                self.assertAllClose(value, b[key], msg=key)
            else:
                self.assertAllEqual(value, b[key], msg=key)

    def assertProtoEquals(self, expected_message_maybe_ascii, validate_message, msg=None, relative_tolerance=None):  # noqa: N802
        """The same message, or the text form of it."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            from weft._src.proto import text_format

            expected = text_format.Parse(expected, type(validate_message)())
        self.assertEqual(str(expected), str(validate_message), msg)

    # ---- errors

    def assertRaisesRegexp(self, expected_exception, expected_regex, *args, **kwargs):  # noqa: N802
        return self.assertRaisesRegex(expected_exception, expected_regex, *args, **kwargs)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):  # noqa: N802
        """An error whose text fits a pattern, or that a function accepts."""
        if callable(expected_err_re_or_predicate):
            fits = expected_err_re_or_predicate
        else:

            def fits(e):
                text = e.message if isinstance(e, errors.OpError) else str(e)
                op = e.op if isinstance(e, errors.OpError) else None
                while op is not None:
                    text += f"\nCaused by: {op.name}"
                    op = getattr(op, "_original_op", None)
                return re.search(expected_err_re_or_predicate, text)

        try:
            yield
        except BaseException as e:
            if not isinstance(e, exception_type) or not fits(e):
                raise AssertionError(f"Exception of type {type(e)}: {e}") from e
            return
        self.fail(f"{exception_type.__name__ if isinstance(exception_type, type) else exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):  # noqa: N802
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=errors.InvalidArgumentError):  # noqa: N802
        return self.assertRaisesWithPredicateMatch(
            exception_type, r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        )
