"""Types and shapes, part 2."""

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


show(lambda: np.dtype(tf.float32))
show(lambda: np.zeros(2, tf.float32))
show(lambda: np.zeros(2, tf.float32.as_numpy_dtype))
show(lambda: np.zeros(2, tf.bfloat16.as_numpy_dtype))
show(lambda: np.array([1, 2]).astype(tf.float32.as_numpy_dtype))
show(lambda: tf.dtypes.as_dtype("float"))
show(lambda: tf.dtypes.complex(1.0, 2.0))
show(lambda: tf.dtypes.cast([1], "int8"))
show(lambda: tf.dtypes.saturate_cast(300, tf.int8))
show(lambda: tf.complex(1, 2))
show(lambda: tf.complex(1.0, tf.constant(2.0, tf.float64)))
show(lambda: tf.complex([1.0, 2.0], [1.0]))
show(lambda: sorted([tf.float32, tf.int32]))
show(lambda: tf.float32 < tf.int32)
import pickle, copy

show(lambda: pickle.loads(pickle.dumps(tf.bfloat16)) is tf.bfloat16)
show(lambda: copy.deepcopy(tf.int8) is tf.int8)
show(lambda: [d for d in dir(tf.dtypes) if not d.startswith("_")])
show(lambda: tf.quint16)
show(lambda: tf.qint32)
show(lambda: tf.qint16)
s = tf.TensorShape([1, None, 3])
show(lambda: s)
show(lambda: print(s))
show(lambda: str(tf.TensorShape(None)))
show(lambda: repr(tf.TensorShape(None)))
show(lambda: repr(tf.TensorShape([])))
show(lambda: str(tf.TensorShape([])))
show(lambda: str(tf.TensorShape([None])))
show(lambda: str(tf.TensorShape([5])))
show(lambda: s[0])
show(lambda: s[1])
show(lambda: s[1:])
show(lambda: s[-1])
show(lambda: s[:2])
show(lambda: s[::2])
show(lambda: s[5])
show(lambda: len(s))
show(lambda: list(s))
show(lambda: bool(s))
show(lambda: bool(tf.TensorShape(None)))
show(lambda: bool(tf.TensorShape([])))
show(lambda: len(tf.TensorShape(None)))
show(lambda: list(tf.TensorShape(None)))
show(lambda: tf.TensorShape(None)[0])
show(lambda: tf.TensorShape(None)[1:])
show(lambda: tf.TensorShape(None)[:2])
show(lambda: tf.TensorShape(None)[1:3])
show(lambda: s + [4])
show(lambda: [4] + s)
show(lambda: s + tf.TensorShape(None))
show(lambda: s + (1, 2))
show(lambda: s + 3)
show(lambda: s == [1, None, 3])
show(lambda: s == (1, None, 3))
show(lambda: s == tf.TensorShape([1, 2, 3]))
show(lambda: s != [1, None, 3])
show(lambda: s == None)
show(lambda: tf.TensorShape(None) == None)
show(lambda: tf.TensorShape([1, 2]) == [1, 2])
show(lambda: tf.TensorShape([1, 2]) == "a")
show(lambda: tf.TensorShape(None) == tf.TensorShape(None))
show(lambda: tf.TensorShape([None]) == tf.TensorShape([None]))
show(lambda: hash(tf.TensorShape([1, 2])) == hash(tf.TensorShape((1, 2))))
show(lambda: {tf.TensorShape([1]): 2}[tf.TensorShape([1])])
show(lambda: s.rank)
show(lambda: s.ndims)
show(lambda: s.dims)
show(lambda: s.as_list())
show(lambda: s.num_elements())
show(lambda: tf.TensorShape([2, 3]).num_elements())
show(lambda: tf.TensorShape(None).as_list())
show(lambda: tf.TensorShape(None).rank)
show(lambda: tf.TensorShape(None).num_elements())
show(lambda: s.is_fully_defined())
show(lambda: s.is_compatible_with([1, 5, 3]))
show(lambda: s.is_compatible_with([2, 5, 3]))
show(lambda: s.is_compatible_with(None))
show(lambda: s.is_subtype_of(tf.TensorShape(None)))
show(lambda: tf.TensorShape([1, 2, 3]).is_subtype_of(s))
show(lambda: s.merge_with([1, 2, None]))
show(lambda: s.merge_with([2, 2, 2]))
show(lambda: s.concatenate([4, 5]))
show(lambda: s.with_rank(3))
show(lambda: s.with_rank(2))
