"""The names under which the specs of types are registered, and structures with them through SavedModels."""

import collections
import tempfile
import warnings

import tensorflow as tf
from calls import tell
from tensorflow.python.framework import type_spec_registry as registry
from tensorflow.python.saved_model import nested_structure_coder as coder

warnings.simplefilter("ignore")
Point = collections.namedtuple("Point", ["x", "y"])


class Pair(tf.experimental.ExtensionType):
    __name__ = "programs.Pair"
    a: tf.Tensor
    b: tf.Tensor


class Plain(tf.experimental.ExtensionType):
    a: tf.Tensor


@registry.register("programs.Own")
class OwnSpec(tf.TypeSpec):
    value_type = property(lambda self: int)
    _component_specs = property(lambda self: tf.TensorSpec([], tf.int32))

    def __init__(self, size):
        self.size = size

    def _to_components(self, value):
        return tf.constant(value)

    def _from_components(self, components):
        return components

    def _serialize(self):
        return (self.size,)


class NamelessSpec(OwnSpec):
    pass


def there_and_back(value):
    """The fields of the message that say which spec it is, and the value that comes back."""
    message = coder.encode_structure(value)
    kind = message.WhichOneof("kind")
    print(kind, end=" ")
    if kind == "type_spec_value":
        spec = message.type_spec_value
        print(spec.type_spec_class, spec.type_spec_class_name, spec.num_flat_components, spec.type_state.WhichOneof("kind"), end=" ")
    back = coder.decode_proto(message)
    print(back == value)
    return back


tell(
    """
    registry.get_name(tf.TensorSpec)
    registry.get_name(tf.RaggedTensorSpec)
    registry.get_name(tf.SparseTensorSpec)
    registry.get_name(tf.TensorArraySpec)
    registry.get_name(type(tf.type_spec_from_value(tf.experimental.RowPartition.from_row_splits([0, 2]))))
    registry.get_name(tf.IndexedSlicesSpec)
    registry.get_name(tf.OptionalSpec)
    registry.get_name(tf.data.DatasetSpec)
    registry.get_name(tf.data.IteratorSpec)
    registry.get_name(Pair.Spec)
    registry.get_name(Plain.Spec)
    registry.get_name(OwnSpec)
    registry.get_name(NamelessSpec)
    registry.get_name(tf.TypeSpec)
    registry.get_name(int)
    registry.get_name("a")
    registry.get_name(tf.experimental.DynamicRaggedShape.Spec)
    registry.lookup("tf.TensorSpec") is tf.TensorSpec
    registry.lookup("tf.RaggedTensorSpec") is tf.RaggedTensorSpec
    registry.lookup("tf.SparseTensorSpec") is tf.SparseTensorSpec
    registry.lookup("tf.TensorArraySpec") is tf.TensorArraySpec
    registry.lookup("tf.BoundedTensorSpec").__name__
    registry.lookup("tf.RowPartitionSpec").__name__
    registry.lookup("tf.NoneTensorSpec").__name__
    registry.lookup("tf.AnonymousExtensionType.Spec").__name__
    registry.lookup("programs.Pair.Spec") is Pair.Spec
    registry.lookup("programs.Own") is OwnSpec
    registry.lookup("tf.IndexedSlicesSpec")
    registry.lookup("nothing.Here")
    registry.lookup(5)
    registry.register(5)
    registry.register("noproject")
    registry.register("two words.X")
    registry.register("programs.Other")(int)
    registry.register("programs.Own")(NamelessSpec)
    registry.register("programs.Other")(OwnSpec)
    there_and_back(tf.TensorSpec([1, None], tf.int32, "n"))
    there_and_back(tf.TensorSpec(None, tf.string))
    there_and_back(tf.RaggedTensorSpec([None, None, 3], tf.int32, ragged_rank=1))
    there_and_back(tf.RaggedTensorSpec([None, None], tf.int32, row_splits_dtype=tf.int32))
    there_and_back(tf.SparseTensorSpec([None, 4], tf.float64))
    there_and_back(tf.IndexedSlicesSpec([None, 4], tf.float64))
    there_and_back(tf.TensorArraySpec([2], tf.float32, dynamic_size=True))
    there_and_back(tf.data.DatasetSpec({"a": tf.TensorSpec([], tf.int32)}))
    there_and_back(tf.data.IteratorSpec(tf.TensorSpec([], tf.int32)))
    there_and_back(tf.OptionalSpec(tf.TensorSpec([], tf.int32)))
    there_and_back(Pair.Spec(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)))
    there_and_back(Plain.Spec(tf.TensorSpec([2])))
    there_and_back(OwnSpec(5))
    there_and_back(NamelessSpec(5))
    there_and_back(tf.type_spec_from_value(tf.experimental.RowPartition.from_row_splits([0, 2])))
    there_and_back(tf.type_spec_from_value(tf.Variable([1.0, 2.0])))
    there_and_back([1, 2.5, "a", None, True, (1,), {"k": [tf.float32, tf.TensorShape([2, None])]}])
    there_and_back(Point(1, tf.TensorSpec([])))
    there_and_back(tf.TensorShape(None))
    there_and_back(tf.qint8)
    there_and_back(object)
    there_and_back(b"bytes")
    there_and_back({2, 3})
    coder.can_encode(tf.TensorSpec([]))
    coder.can_encode(object())
    coder.can_encode([OwnSpec(1), Point(1, 2)])
    """,
    globals(),
)


class Model(tf.Module):
    @tf.function(
        input_signature=[
            tf.RaggedTensorSpec([None, None], tf.float32),
            {"s": tf.SparseTensorSpec([None, 3], tf.float32), "p": Pair.Spec(tf.TensorSpec([None]), tf.TensorSpec([None]))},
            Point(tf.TensorSpec([]), [tf.TensorSpec([None], tf.int32)]),
        ]
    )
    def __call__(self, ragged, parts, point):
        total = tf.reduce_sum(ragged) + tf.sparse.reduce_sum(parts["s"]) + tf.reduce_sum(parts["p"].a * parts["p"].b)
        return total * point.x, Pair(parts["p"].b, parts["p"].a), ragged * point.x, {"n": point.y[0]}


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Model(), folder)
    loaded = tf.saved_model.load(folder)
for spec in tf.nest.flatten(loaded.__call__.concrete_functions[0].structured_input_signature):
    print(spec)
result = loaded(
    tf.ragged.constant([[1.0, 2.0], [3.0]]),
    {"s": tf.sparse.from_dense([[0.0, 1.0, 2.0]]), "p": Pair([1.0, 2.0], [3.0, 4.0])},
    Point(2.0, [tf.constant([1, 2])]),
)
print(result)
