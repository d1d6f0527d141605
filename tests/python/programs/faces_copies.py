"""What can be pickled, copied and referred to weakly, and what refuses."""

import copy
import pickle
import weakref

import numpy as np
import tensorflow as tf


def attempt(name, call):
    try:
        print(name, call())
    except Exception as e:
        print(name, type(e).__name__)


def through(value):
    return pickle.loads(pickle.dumps(value))


class M(tf.Module):
    def __init__(self):
        super().__init__(name="mine")
        self.v = tf.Variable([1.0, 2.0], name="v")
        self.inner = [tf.Variable(3, name="w"), {"a": tf.Variable(4)}]
        self.plain = 5


for value in (
    tf.float32,
    tf.string,
    tf.as_dtype("bfloat16"),
    tf.TensorShape([1, None]),
    tf.TensorShape(None),
    tf.TensorSpec([None, 2], tf.int32, name="x"),
    tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=1),
    tf.SparseTensorSpec([2, 3], tf.float32),
    tf.errors.NotFoundError(None, None, "gone"),
    tf.nn.relu,
    tf.Variable,
    tf.DeviceSpec(job="worker", task=1),
    tf.saved_model.SaveOptions,
    tf.data.Options,
):
    attempt(f"pickle {type(value).__name__}", lambda: repr(through(value)).split(" at 0x")[0])
    attempt("   same", lambda: through(value) is value)
    attempt("   copy", lambda: copy.deepcopy(value) is value)
t = tf.constant([[1.0, 2.0]])
attempt("pickle tensor", lambda: through(t).numpy())
attempt("deepcopy tensor", lambda: (copy.deepcopy(t) is t, copy.deepcopy(t).numpy(), copy.copy(t) is t))
attempt("pickle string tensor", lambda: through(tf.constant(["a", "b"])).numpy())
attempt("pickle ragged", lambda: through(tf.ragged.constant([[1], [2, 3]])).to_list())
attempt("pickle sparse", lambda: through(tf.SparseTensor([[0]], [1], [2])).values.numpy())
attempt("pickle slices", lambda: through(tf.IndexedSlices([1.0], [0])).values)
v = tf.Variable([1, 2], name="v", trainable=False)
attempt("pickle variable", lambda: through(v).numpy())
w = copy.deepcopy(v)
w.assign([5, 6])
print(v.numpy(), w.numpy(), w.name, w.trainable, w is v, type(w).__name__)
attempt("copy variable", lambda: copy.copy(v).numpy())
memo = {}
a, b = copy.deepcopy([v, v], memo)
print(a is b, a is not v)
m = M()
n = copy.deepcopy(m)
n.v.assign([7.0, 8.0])
n.inner[0].assign(9)
print(m.v.numpy(), n.v.numpy(), m.inner[0].numpy(), n.inner[0].numpy(), n.name, n.plain, len(n.variables), len(n.trainable_variables))
print(type(n.inner).__name__, type(n.inner[1]).__name__, n.inner[1]["a"].numpy())
attempt("pickle module", lambda: through(m).v.numpy())


@tf.function
def f(x):
    return x + 1


attempt("pickle function", lambda: through(f))
attempt("deepcopy function", lambda: copy.deepcopy(f)(tf.constant(1)).numpy())
attempt("pickle concrete", lambda: through(f.get_concrete_function(tf.constant(1))))
attempt("pickle graph", lambda: through(tf.Graph()))
attempt("pickle tape", lambda: type(through(tf.GradientTape())).__name__)
attempt("pickle name scope", lambda: through(tf.name_scope("a")).name)
attempt("pickle symbolic", lambda: tf.function(lambda x: (through(x), x)[1])(t))
attempt("deepcopy initializer", lambda: copy.deepcopy(tf.random_normal_initializer(1.0, 2.0)).get_config())
attempt("pickle initializer", lambda: through(tf.constant_initializer(3))([2]).numpy())
attempt("pickle list wrapper", lambda: through(m.inner[:0]))
attempt("pickle optimizer v1", lambda: type(through(tf.compat.v1.train.GradientDescentOptimizer(0.1))).__name__)
attempt("pickle generator", lambda: type(through(tf.random.Generator.from_seed(1))).__name__)
attempt("pickle table", lambda: through(tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)))
for value in (t, v, m, f, tf.TensorShape([1]), tf.TensorSpec([1]), tf.float32, tf.data.Dataset.range(1), tf.Graph(), tf.GradientTape(), tf.ragged.constant([[1]]), tf.SparseTensor([[0]], [1], [2]),
              f.get_concrete_function(tf.constant(1)), tf.train.Checkpoint(), tf.random.Generator.from_seed(1), tf.constant_initializer(1)):
    attempt(f"weak {type(value).__name__}", lambda: weakref.ref(value)() is value)
gone = tf.constant([1, 2])
r = weakref.ref(gone)
del gone
print(r() is None)
d = weakref.WeakKeyDictionary()
attempt("weak key tensor", lambda: d.setdefault(t, 1))
attempt("weak key ref", lambda: d.setdefault(m, 1))
print(sorted({tf.float32: 1, tf.int32: 2}.values()), hash(tf.TensorSpec([1])) == hash(tf.TensorSpec([1])), len({v.ref(), v.ref()}))
