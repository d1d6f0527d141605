"""Arrays of tensors, tables, structures and checks, part 2."""

import contextlib
import re

import numpy as np
import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


dn = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
show(lambda: dn.insert([-2], [3]))
show(lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-1))
v = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 2)
show(lambda: v)
show(lambda: v.lookup(tf.constant(["a", "b", "c", "d"])))
show(lambda: v.size())
show(lambda: v["zz"])
show(lambda: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), 0))
show(lambda: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int32)), 1))
show(lambda: tf.lookup.StaticVocabularyTable(None, 3).lookup(tf.constant(["a"])))
show(
    lambda: tf.lookup.TextFileInitializer(
        "/nonexistent", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    )
)
show(lambda: tf.lookup.TextFileIndex.WHOLE_LINE)
show(lambda: tf.lookup.TextFileIndex.LINE_NUMBER)
show(lambda: tf.nest.flatten({"b": 1, "a": [2, (3, None)]}))
show(lambda: tf.nest.map_structure(lambda x: x * 2, [1, (2, {"a": 3})]))
show(lambda: tf.nest.pack_sequence_as({"b": 0, "a": [0, 0]}, [1, 2, 3]))
show(lambda: tf.nest.is_nested([1]))
show(lambda: tf.nest.is_nested("a"))
show(lambda: tf.nest.is_nested({}))
show(lambda: tf.nest.flatten(None))
show(lambda: tf.nest.flatten([]))
show(lambda: tf.nest.flatten(tf.ragged.constant([[1]])))
show(lambda: tf.nest.flatten(tf.ragged.constant([[1]]), expand_composites=True))
show(lambda: tf.nest.assert_same_structure([1, 2], (1, 2)))
show(lambda: tf.nest.assert_same_structure([1, 2], [1, [2]]))
show(lambda: tf.nest.assert_same_structure([1, 2], [1]))
show(lambda: tf.nest.assert_same_structure({"a": 1}, {"b": 1}))
show(lambda: tf.nest.assert_same_structure([1, 2], (1, 2), check_types=False))
show(lambda: tf.nest.assert_same_structure(1, [1]))
show(lambda: tf.nest.assert_same_structure("a", 1))
show(lambda: tf.nest.map_structure(lambda x, y: x + y, [1, 2], [3]))
show(lambda: tf.nest.map_structure(lambda x, y: x + y, {"a": 1}, {"b": 2}))
show(lambda: tf.nest.map_structure(3, [1]))
show(lambda: tf.nest.map_structure(lambda x: x))
show(lambda: tf.nest.map_structure(lambda x: x, [1], foo=2))
show(lambda: tf.nest.pack_sequence_as([0, 0], [1]))
show(lambda: tf.nest.pack_sequence_as([0], [1, 2]))
show(lambda: tf.nest.pack_sequence_as(0, [1, 2]))
show(lambda: tf.nest.pack_sequence_as([0], 3))
show(lambda: tf.nest.flatten({1: 1, "a": 2}))
import collections

P = collections.namedtuple("P", "x y")
show(lambda: tf.nest.map_structure(lambda v: v + 1, P(1, [2])))
show(lambda: tf.nest.flatten(collections.OrderedDict([("z", 1), ("a", 2)])))
show(lambda: tf.nest.map_structure(str, collections.defaultdict(int, {"q": 1})))
show(lambda: tf.nest.pack_sequence_as(P(0, 0), [1, 2]))
show(lambda: tf.nest.assert_same_structure(P(1, 2), (1, 2)))
show(lambda: tf.debugging.assert_equal(1, 2))
show(lambda: tf.debugging.assert_equal([1, 2], [1, 3], message="my message"))
show(lambda: tf.debugging.assert_equal([1, 2], [1, 3], summarize=1))
show(lambda: tf.debugging.assert_equal(1, "a"))
show(lambda: tf.debugging.assert_less(2, 1))
show(lambda: tf.debugging.assert_greater([1, 2], [1, 2]))
show(lambda: tf.debugging.assert_near(1.0, 1.1))
show(lambda: tf.debugging.assert_near(1.0, 1.00000001))
show(lambda: tf.debugging.assert_positive([1, -1]))
show(lambda: tf.debugging.assert_negative(1))
show(lambda: tf.debugging.assert_non_negative(-1))
show(lambda: tf.debugging.assert_non_positive(1))
show(lambda: tf.debugging.assert_none_equal(1, 1))
show(lambda: tf.debugging.assert_integer(1.5))
show(lambda: tf.debugging.assert_type(1, tf.float32))
show(lambda: tf.debugging.assert_rank([1], 2))
show(lambda: tf.debugging.assert_rank([1], 2, message="msg"))
show(lambda: tf.debugging.assert_rank_at_least([1], 2))
show(lambda: tf.debugging.assert_rank_in([1], [2, 3]))
show(lambda: tf.debugging.assert_scalar([1]))
show(lambda: tf.debugging.assert_shapes([(tf.ones([2, 3]), ("N", 4))]))
show(lambda: tf.debugging.assert_shapes([(tf.ones([2, 3]), ("N", "M")), (tf.ones([3]), ("N",))]))
show(lambda: tf.debugging.assert_shapes({tf.ones([2, 3]).ref(): ("N", "M")}))
show(lambda: tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)]))
show(lambda: tf.debugging.assert_same_float_dtype([tf.constant(1)]))
show(lambda: tf.debugging.assert_proper_iterable(tf.constant([1])))
show(lambda: tf.debugging.assert_proper_iterable(3))
show(lambda: tf.debugging.check_numerics([1.0, np.nan], "msg"))
show(lambda: tf.debugging.check_numerics([1.0, np.inf], "msg"))
show(lambda: tf.debugging.check_numerics([1.0, -np.inf, np.nan], "msg"))
show(lambda: tf.debugging.assert_all_finite([np.inf], "x"))
show(lambda: tf.debugging.Assert(False, [1, "a", [1, 2, 3, 4, 5]]))
show(lambda: tf.debugging.Assert(False, [tf.range(10)], summarize=2))
show(lambda: tf.debugging.Assert(True, [1]))
show(lambda: tf.debugging.Assert([True, False], [1]))
show(lambda: tf.Assert(1, [1]))
show(lambda: tf.debugging.is_numeric_tensor(tf.constant(1)))
show(lambda: tf.debugging.is_numeric_tensor("a"))
show(lambda: tf.debugging.get_log_device_placement())
show(lambda: tf.debugging.enable_traceback_filtering())
show(lambda: tf.debugging.is_traceback_filtering_enabled())
show(lambda: tf.debugging.disable_traceback_filtering())
show(lambda: tf.debugging.is_traceback_filtering_enabled())
e = tf.errors.InvalidArgumentError(None, None, "hi")
show(lambda: e)
show(lambda: str(e))
show(lambda: e.message)
show(lambda: e.error_code)
show(lambda: e.op)
show(lambda: e.node_def)
show(lambda: e.args)
show(lambda: repr(e))
show(lambda: e.experimental_payloads)
show(lambda: tf.errors.NotFoundError(None, None, "a", "b") if False else None)
show(lambda: tf.errors.OpError(None, None, "m", 3))
show(lambda: [getattr(tf.errors, n).__mro__[1].__name__ for n in sorted(dir(tf.errors)) if n.endswith("Error")])
show(lambda: [(n, getattr(tf.errors, n)) for n in sorted(dir(tf.errors)) if n.isupper()])
show(lambda: tf.errors.exception_type_from_error_code if hasattr(tf.errors, "exception_type_from_error_code") else None)
show(lambda: issubclass(tf.errors.OutOfRangeError, Exception))
show(lambda: issubclass(tf.errors.InvalidArgumentError, ValueError))
