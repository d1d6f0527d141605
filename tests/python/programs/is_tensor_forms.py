"""What tf.is_tensor says of tensors in every mode, of subclasses, look-alikes and composite values."""

import collections

import numpy as np
import tensorflow as tf
from calls import tell

Base = tf.__internal__.types.Tensor


class Own(Base):
    """A tensor by name alone."""

    @property
    def dtype(self):
        return tf.float32

    @property
    def shape(self):
        return tf.TensorShape([2])


class Like:
    is_tensor_like = True


class Unlike:
    is_tensor_like = False


class LikeProperty:
    @property
    def is_tensor_like(self):
        return True


class Convertible:
    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant([1, 2], dtype)


class Array:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0], dtype)


class Child(tf.Tensor):
    pass


class Ext(tf.experimental.ExtensionType):
    x: tf.Tensor


class Batched(tf.experimental.BatchableExtensionType):
    x: tf.Tensor


class Spec(tf.TypeSpec):
    pass


seen = []


@tf.function
def inside(x, r):
    seen.append((tf.is_tensor(x), isinstance(x, tf.Tensor), isinstance(x, Base), tf.is_tensor(r), type(r).__name__))
    seen.append((tf.is_symbolic_tensor(x) if hasattr(tf, "is_symbolic_tensor") else None))
    seen.append((isinstance(x, tf.types.experimental.TensorLike.__args__), hasattr(x, "numpy")))
    return x


inside(tf.constant(1), tf.ragged.constant([[1]]))
with tf.Graph().as_default():
    placeholder = tf.compat.v1.placeholder(tf.float32)
    reference = tf.compat.v1.Variable(1.0, use_resource=False)
    resource = tf.compat.v1.Variable(1.0, use_resource=True)

tell(
    """
    seen
    tf.is_tensor(tf.constant(1))
    tf.is_tensor(placeholder)
    tf.is_tensor(reference)
    tf.is_tensor(resource)
    tf.is_tensor(tf.Variable(1))
    tf.is_tensor(tf.Variable(1).handle)
    tf.is_tensor(tf.ragged.constant([[1]]))
    tf.is_tensor(tf.ragged.constant([[1]]).shape)
    tf.is_tensor(tf.sparse.from_dense([1]))
    tf.is_tensor(tf.IndexedSlices(tf.constant([1]), tf.constant([0])))
    tf.is_tensor(tf.TensorArray(tf.int32, 1))
    tf.is_tensor(tf.data.Dataset.range(1))
    tf.is_tensor(iter(tf.data.Dataset.range(1)))
    tf.is_tensor(tf.experimental.Optional.from_value(1))
    tf.is_tensor(Ext(1))
    tf.is_tensor(Batched([1]))
    tf.is_tensor(Spec)
    tf.is_tensor(tf.TensorSpec([]))
    tf.is_tensor(tf.experimental.RowPartition.from_row_splits([0, 1]))
    tf.is_tensor(tf.experimental.DynamicRaggedShape.from_lengths([2]))
    tf.is_tensor(tf.linalg.LinearOperatorDiag([1.0]))
    tf.is_tensor(Own())
    tf.is_tensor(Like())
    tf.is_tensor(Like)
    tf.is_tensor(Unlike())
    tf.is_tensor(LikeProperty())
    tf.is_tensor(Convertible())
    tf.is_tensor(Array())
    tf.is_tensor(np.array(1))
    tf.is_tensor(np.float32(1))
    tf.is_tensor([tf.constant(1)])
    tf.is_tensor((1,))
    tf.is_tensor({})
    tf.is_tensor(None)
    tf.is_tensor("a")
    tf.is_tensor(1)
    tf.is_tensor(tf.Tensor)
    tf.is_tensor(tf.float32)
    tf.is_tensor(tf.TensorShape([1]))
    tf.is_tensor(tf.Module())
    tf.is_tensor(inside)
    tf.is_tensor(tf.random.Generator.from_seed(1))
    tf.is_tensor(tf.lookup.experimental.DenseHashTable(tf.int32, tf.int32, 0, -1, -2))
    tf.is_tensor(tf.experimental.numpy.array([1]))
    tf.is_tensor(tf.__internal__.PerReplica) if hasattr(tf.__internal__, "PerReplica") else None
    tf.is_tensor()
    isinstance(tf.constant(1), tf.Tensor)
    isinstance(tf.constant(1), Base)
    isinstance(tf.Variable(1), tf.Tensor)
    isinstance(tf.Variable(1), Base)
    isinstance(placeholder, tf.Tensor)
    isinstance(reference, Base)
    isinstance(tf.ragged.constant([[1]]), tf.Tensor)
    isinstance(tf.ragged.constant([[1]]), Base)
    isinstance(Own(), tf.Tensor)
    isinstance(np.array(1), tf.Tensor)
    isinstance(tf.experimental.numpy.array([1]), tf.Tensor)
    isinstance(tf.experimental.numpy.array([1]), tf.experimental.numpy.ndarray)
    issubclass(tf.Tensor, Base)
    issubclass(tf.Variable, Base)
    issubclass(Child, tf.Tensor)
    issubclass(Own, tf.Tensor)
    issubclass(type(tf.constant(1)), tf.Tensor)
    type(tf.constant(1)).__name__
    type(placeholder).__name__
    Base.__name__
    Own().dtype
    Base().dtype
    tf.convert_to_tensor(Convertible())
    tf.convert_to_tensor(Convertible(), tf.float32)
    tf.add(Convertible(), 1)
    tf.constant([1, 1]) + Convertible()
    tf.convert_to_tensor(Array())
    tf.convert_to_tensor(Own())
    tf.convert_to_tensor(Like())
    tf.add(Own(), 1)
    isinstance(1, tf.types.experimental.TensorLike.__args__)
    isinstance(Convertible(), tf.types.experimental.TensorLike.__args__)
    isinstance(Like(), tf.types.experimental.TensorLike.__args__)
    isinstance(tf.constant(1), tf.types.experimental.TensorLike.__args__)
    isinstance(tf.Variable(1), tf.types.experimental.TensorLike.__args__)
    isinstance(tf.TensorSpec([]), tf.types.experimental.TensorLike.__args__)
    isinstance(object(), tf.types.experimental.TensorLike.__args__)
    isinstance(inside, tf.types.experimental.PolymorphicFunction)
    isinstance(inside, tf.types.experimental.GenericFunction)
    isinstance(inside, tf.types.experimental.Callable)
    isinstance(inside.get_concrete_function(tf.constant(1), tf.ragged.constant([[1]])), tf.types.experimental.ConcreteFunction)
    isinstance(inside.get_concrete_function(tf.constant(1), tf.ragged.constant([[1]])), tf.types.experimental.Callable)
    isinstance(tf.TensorSpec([]), tf.types.experimental.TraceType)
    isinstance(tf.TensorSpec([]), tf.TypeSpec)
    tf.Tensor(1, 2, 3)
    Child(1, 2, 3)
    """,
    globals(),
)
