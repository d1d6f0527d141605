# What tf-keras and tf2onnx ask for: callables that are no functions, specs on TypeSpec, shapes that are partly known, graphs of datasets, tables of vocabularies.
import functools
import gc
import os
import tempfile
import weakref

import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.ops import lookup_ops


def tried(name, fn):
    try:
        print(name, fn())
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0])


class Callable:
    def __call__(self, x):
        return x + 1


for name, q in (("partial", functools.partial(lambda a, x: a * x, 2)), ("object", Callable()), ("int", 3)):
    tried(name, lambda: tf.map_fn(q, tf.constant([1, 2])).numpy())
    if callable(q):
        print(tf.function(lambda: tf.map_fn(q, tf.constant([1, 2])))().numpy())


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    class Spec(tf.TypeSpec):
        @property
        def shape(self):
            return self.values.shape

        def with_shape(self, shape):
            return Masked.Spec(tf.TensorSpec(shape, self.values.dtype), tf.TensorSpec(shape, self.mask.dtype))


spec = Masked.Spec(tf.TensorSpec([None], name="v"), tf.TensorSpec([None], tf.bool, name="m"))
print(spec, spec.shape, spec.with_shape([2]))
print(tf.type_spec_from_value(Masked([1.0, 2.0], [True, False])).shape)


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64)])
def sparse(x):
    s = tf.sparse.bincount(x, minlength=5, maxlength=5, axis=-1)
    print(tf.SparseTensor(s.indices, s.values, tf.stack([tf.shape(x, out_type=tf.int64)[0], 5])).shape)
    print(tf.sparse.from_dense(tf.ensure_shape(x, [None, 3])).shape)
    return 0


sparse.get_concrete_function()

d = tf.data.Dataset.range(3).map(lambda x: x + 1).shuffle(2)
ops = [n.op for n in graph_pb2.GraphDef.FromString(d._as_serialized_graph().numpy()).node]
print([op for op in ops if "Dataset" in op])

with tf.Graph().as_default():
    p = tf.compat.v1.placeholder_with_default(False, ())
    kept = weakref.ref(p)
    del p
    gc.collect()
    print(kept() is None)

v = tf.Variable([1.0, 2.0], name="weights/one")
optimizer = tf.compat.v1.train.AdamOptimizer(0.1)


@tf.function
def step():
    optimizer.apply_gradients([(tf.constant([0.5, -1.0]), v)])


step()
print(v.numpy(), [s.name for s in optimizer.variables()])

with tempfile.TemporaryDirectory() as folder:
    words = os.path.join(folder, "words.txt")
    with open(words, "w") as f:
        f.write("a\nb\nc\n")
    print(lookup_ops.index_table_from_file(words).lookup(tf.constant(["b", "z"])).numpy())
    t = lookup_ops.index_table_from_file(words, num_oov_buckets=3)
    print(t.lookup(tf.constant(["b", "z", "y", "hello"])).numpy(), t.size().numpy())
    t = lookup_ops.index_to_string_table_from_file(words, default_value="no")
    print(t.lookup(tf.constant([2, 7], tf.int64)).numpy())
    tried("size", lambda: lookup_ops.index_table_from_file("w", vocab_size=0))
    tried("buckets", lambda: lookup_ops.index_table_from_file("w", num_oov_buckets=-1))
t = lookup_ops.index_table_from_tensor(tf.constant([10, 30, 20]), dtype=tf.int64, num_oov_buckets=2)
print(t.lookup(tf.constant([20, 5], tf.int64)).numpy())
print(lookup_ops.index_table_from_tensor(["x", "y"]).lookup(tf.constant(["y", "q"])).numpy())
print(lookup_ops.index_to_string_table_from_tensor(["x", "y"]).lookup(tf.constant([1, 5], tf.int64)).numpy())
for f in (
    lambda: lookup_ops.index_table_from_file(""),
    lambda: lookup_ops.index_table_from_tensor(["a"], dtype=tf.int64),
    lambda: lookup_ops.index_table_from_tensor(None),
    lambda: lookup_ops.index_table_from_tensor([1.0], dtype=tf.float32),
    lambda: lookup_ops.index_to_string_table_from_tensor(None),
):
    tried("refused", f)
