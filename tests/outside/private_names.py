"""Imported before TensorFlow's own tests: the private names that they use and that are not there, so that a test fails by what it tests.

WEFT_TESTS_CHECKOUT is the checkout whose tests are run. In this order, a name of `tensorflow.python...` that is missing is
a helper of tests from the checkout (HELPERS), the public name that is meant (ELSEWHERE, OWN, or the first of `spaces` that has the name), or a `Missing`, which fails when it is called
with an error that begins with STANDIN. On TensorFlow only modules that do not exist any more are found here."""

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import types
import unittest
import unittest.mock

import numpy as np
import tensorflow as tf

ON_WEFT = "weft" in sys.modules
CHECKOUT = pathlib.Path(os.environ["WEFT_TESTS_CHECKOUT"])
HELPERS = re.compile(
    r"tensorflow\.python\.(data\.(experimental\.)?kernel_tests(\.\w+)?(\.\w+)?|data\.experimental\.ops\.testing|kernel_tests(\.\w+){0,3}"
    r"|distribute\.(strategy_combinations|combinations|test_util|strategy_test_lib|multi_worker_test_base)"
    r"|framework\.(test_)?combinations|eager\.(memory_tests(\.\w+)?|backprop_util)|saved_model\.save_test"
    r"|ops\.(list_ops|map_ops|inplace_ops|tensor_array_grad|boosted_trees_ops|collective_ops|gradient_checker(_v2)?|ragged\.ragged_test_util)"
    r"|ops\.(linalg\.(linear_operator_test_util|linear_operator_util)|distributions\.(\w*test_util|util)))$"
)
v1 = tf.compat.v1
# What a module's names are of.
OWN = {
    "losses": v1.losses,
    "losses_impl": v1.losses,
    "metrics": v1.metrics,
    "metrics_impl": v1.metrics,
    "sets": v1.sets,
    "sets_impl": v1.sets,
    "rnn_cell": v1.nn.rnn_cell,
    "rnn_cell_impl": v1.nn.rnn_cell,
    "gfile": v1.gfile,
}
ELSEWHERE = {
    "nest.is_sequence": tf.nest.is_nested if hasattr(tf.nest, "is_nested") else None,
    "dataset_ops.Options": tf.data.Options,
    "dataset_ops.UNKNOWN": tf.data.UNKNOWN_CARDINALITY,
    "dataset_ops.INFINITE": tf.data.INFINITE_CARDINALITY,
    "cardinality.UNKNOWN": tf.data.UNKNOWN_CARDINALITY,
    "cardinality.INFINITE": tf.data.INFINITE_CARDINALITY,
    "googletest.GetTempDir": v1.test.get_temp_dir,
    "googletest.TestCase": unittest.TestCase,
    "test.mock": unittest.mock,
    "random_seed.DEFAULT_GRAPH_SEED": 87654321,
    "ops.convert_to_tensor_v2_with_dispatch": tf.convert_to_tensor,
    "variables.VariableV1": v1.Variable,
    "test_util.matmul_without_tf32": tf.matmul,
    "sparse_tensor.is_sparse": lambda x: isinstance(x, (tf.SparseTensor, v1.SparseTensorValue)),
}

# On weft: where a private module's name is found as an op, and the function is meant.
FUNCTIONS = {
    "array_ops.stack": tf.stack,
    "array_ops.unstack": tf.unstack,
    "ragged_where_op.where": v1.where,
    "ragged_where_op.where_v2": tf.where,
    "ragged_concat_ops.concat": tf.concat,
    "ragged_concat_ops.stack": tf.ragged.stack,
    "ragged_squeeze_op.squeeze": tf.squeeze,
    "ragged_batch_gather_ops.batch_gather": v1.batch_gather,
    "ragged_array_ops.ragged_one_hot": tf.one_hot,
    **{
        f"ragged_math_ops.segment_{n}": getattr(tf.math, f"unsorted_segment_{n}")
        for n in ("sum", "prod", "min", "max", "mean", "sqrt_n")
    },
}


@functools.cache
def spaces():
    return [
        *(
            tf,
            v1,
            tf.nn,
            v1.nn,
            tf.math,
            tf.linalg,
            tf.strings,
            tf.image,
            tf.io,
            tf.sparse,
            tf.ragged,
            tf.random,
            tf.data,
        ),
        *(
            tf.data.experimental,
            tf.data.Dataset,
            tf.experimental,
            tf.config,
            tf.config.experimental,
            tf.signal,
            tf.errors,
            tf.test,
        ),
        *(
            v1.layers,
            v1.train,
            tf.train,
            tf.train.experimental,
            v1.distributions,
            tf.distribute,
            tf.distribute.experimental,
            tf.lookup,
        ),
        *(
            tf.lookup.experimental,
            tf.saved_model,
            v1.saved_model,
            tf.summary,
            v1.summary,
            tf.autograph,
            tf.autograph.experimental,
            tf.bitwise,
        ),
        *(
            tf.quantization,
            tf.audio,
            tf.raw_ops,
            tf.debugging,
            tf.debugging.experimental,
            tf.__internal__,
            v1.flags,
            v1.app,
            v1.logging,
        ),
        *(v1.initializers, tf.types.experimental),
    ]


class Missing:
    """What is not there. As a decorator it does nothing."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *arguments, **keywords):
        if len(arguments) == 1 and not keywords and isinstance(arguments[0], types.FunctionType):
            return arguments[0]
        raise NotImplementedError("STANDIN " + self.__name__)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


def in_checkout(fullname):
    """The file or folder of a module in the checkout, or None."""
    place = CHECKOUT.joinpath(*fullname.split("."))
    file = place.with_name(place.name + ".py")
    return file if file.is_file() else place if place.is_dir() else None


def helper(fullname):
    return in_checkout(fullname) if HELPERS.match(fullname) else None


def lookup(module, name, default):
    """A name that a module does not have."""
    fullname, leaf = f"{module}.{name}", module.rpartition(".")[2]
    if in_checkout(fullname):  # a module: a helper, or a stand-in
        return importlib.import_module(fullname)
    if f"{leaf}.{name}" in ELSEWHERE:
        return ELSEWHERE[f"{leaf}.{name}"]
    for space in ([OWN[leaf]] if leaf in OWN else []) + spaces():
        if name in dir(space) and not isinstance(getattr(space, name), types.ModuleType):
            return getattr(space, name)
    op = "".join(part.title() for part in name.split("_"))
    if leaf.startswith("gen_") and hasattr(tf.raw_ops, op):
        return getattr(tf.raw_ops, op)
    return default(fullname)


class Module(types.ModuleType):
    """Stands for a module that is not there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lookup(self.__name__, name, Missing)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Behind all others: modules that nobody else finds."""

    def find_spec(self, fullname, path=None, target=None):
        place = helper(fullname)
        if place and place.is_file():
            return importlib.util.spec_from_file_location(fullname, place)
        if place or fullname.startswith(("tensorflow.python.", "tensorflow.core.", "tensorflow.compiler.")):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


def decorator(*arguments, **keywords):
    """A decorator that does nothing, with arguments or without."""
    if len(arguments) == 1 and not keywords and isinstance(arguments[0], (type, types.FunctionType)):
        return arguments[0]
    return lambda decorated: decorated


class GradientTape:
    """test_util.AbstractGradientTape: a tape, or gradients of a graph."""

    def __init__(self, use_tape, persistent=False):
        self._tape = tf.GradientTape(persistent=persistent) if use_tape else None

    def __enter__(self):
        if self._tape:
            self._tape.__enter__()
        return self

    def __exit__(self, *error):
        if self._tape:
            self._tape.__exit__(*error)

    def watch(self, x):
        if self._tape:
            self._tape.watch(x)

    def gradient(self, ys, xs, output_gradients=None):
        if self._tape:
            return self._tape.gradient(ys, xs, output_gradients=output_gradients)
        several = isinstance(xs, (list, tuple))
        gradients = v1.gradients(ys, xs if several else [xs], grad_ys=output_gradients)
        return gradients if several else gradients[0]

    def batch_jacobian(self, *arguments, **keywords):
        return self._tape.batch_jacobian(*arguments, **keywords)


def largest_error(pairs, others):
    return max((np.fabs(a - b).max() for a, b in zip(pairs, others) if a.size or b.size), default=0)


def next_element(iterator):
    try:
        return next(iterator)
    except StopIteration:
        raise tf.errors.OutOfRangeError(None, None, "End of sequence") from None


def fill_in_weft():
    """Names that modules of ours do not have."""
    from tensorflow.python.framework import test_util
    from tensorflow.python.ops import gradient_checker_v2
    from weft._src import tensorflow as private
    from weft._src.data.iterator import OwnedIterator

    def add(owner, name, value):
        if not hasattr(owner, name):
            setattr(owner, name, value)

    for name in (
        "disable_ubsan disable_asan disable_msan disable_tsan run_all_without_tensor_float_32 run_without_tensor_float_32 xla_allow_fallback disable_mlir_bridge "
        "disable_tfrt enable_mlir_bridge with_eager_op_as_function no_xla_auto_jit add_graph_building_optimization_tests disable_xla disable_all_xla "
        "enable_tf_xla_constant_folding disable_eager_op_as_function assert_no_garbage_created assert_no_new_tensors assert_no_new_pyobjects_executing_eagerly "
        "enable_control_flow_v2 enable_output_all_intermediates skip_if_error set_xla_env_flag"
    ).split():
        add(test_util, name, decorator)
    for name in ("use_gpu", "force_gpu"):
        add(test_util, name, contextlib.nullcontext)
    add(test_util, "device", lambda use_gpu=False: contextlib.nullcontext())
    add(test_util, "force_cpu", lambda: tf.device("/CPU:0"))
    add(test_util, "gpu_device_name", lambda: "")
    for name in ("is_gpu_available", "IsBuiltWithROCm", "IsMklEnabled", "GpuSupportsHalfMatMulAndConv"):
        add(test_util, name, lambda *arguments, **keywords: False)
    add(test_util, "AbstractGradientTape", GradientTape)
    add(gradient_checker_v2, "max_error", largest_error)
    add(OwnedIterator, "_next_internal", next_element)

    own = private.PrivateModule.__getattr__

    def attribute(self, name):
        meant = FUNCTIONS.get(f"{self.__name__.rpartition('.')[2]}.{name}")
        if meant is not None:
            return meant
        try:
            return own(self, name)
        except (AttributeError, ModuleNotFoundError) as e:
            if name.startswith("__"):
                raise
            error = e

        def fail(fullname):
            raise error

        if private.find(f"{self.__name__}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        return lookup(self.__name__, name, fail)

    private.PrivateModule.__getattr__ = attribute
    for name in ("test_combinations", "combinations"):  # from the checkout, whole
        fullname = f"tensorflow.python.framework.{name}"
        module = sys.modules[fullname] = importlib.util.module_from_spec(
            importlib.util.spec_from_file_location(fullname, helper(fullname))
        )
        module.__spec__.loader.exec_module(module)
        setattr(importlib.import_module("tensorflow.python.framework"), name, module)


# Names that numpy 2 has not any more.
for old, new in {"float_": "float64", "complex_": "complex128", "infty": "inf", "Inf": "inf", "NaN": "nan", "product": "prod", "cumproduct": "cumprod", "alltrue": "all",
                 "sometrue": "any", "in1d": "isin", "row_stack": "vstack", "unicode_": "str_", "string_": "bytes_", "unicode": "str_"}.items():  # fmt: skip
    if old not in np.__dict__:
        setattr(np, old, getattr(np, new))
for old in (float, int, bool, object, str):
    if old.__name__ not in np.__dict__:
        setattr(np, old.__name__, old)

sys.meta_path.append(Finder())
if ON_WEFT:
    fill_in_weft()
