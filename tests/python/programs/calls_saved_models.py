"""SavedModels."""

import tensorflow as tf
from calls import show, shown

import os, tempfile

d = tempfile.mkdtemp()


class A(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(2.0)
        self.n = 3
        self.s = "text"
        self.li = [1, 2, "x"]
        self.di = {"k": 1.5}
        self.tab = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="inp")])
    def f(self, x):
        return {"y": x * self.v, "z": x}

    @tf.function
    def g(self, x, k=2, training=False):
        if training:
            return x * k
        return x + k

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def look(self, s):
        return self.tab.lookup(s)

    def plain(self, x):
        return x


a = A()
with shown():
    a.g(tf.constant(1.0))
    a.g(tf.constant(1), 3, True)
show(lambda: tf.saved_model.save(a, d))
show(lambda: sorted(os.listdir(d)))
l = tf.saved_model.load(d)
show(lambda: type(l).__name__)
show(lambda: l.v)
show(lambda: l.n if hasattr(l, "n") else "no n")
show(lambda: l.s)
show(lambda: l.li)
show(lambda: l.di)
show(lambda: l.g(tf.constant(1.0)))
show(lambda: l.g(tf.constant(1), 3, True))
show(lambda: l.g(tf.constant([1.0])))
show(lambda: l.g(tf.constant(1.0), training=True))
show(lambda: l.g(1.0))
show(lambda: l.look("a"))
show(lambda: l.look(tf.constant("b")))
show(lambda: l.plain)
show(lambda: l.signatures)
show(lambda: l.signatures["serving_default"])
show(lambda: list(l.signatures))
show(lambda: len(l.signatures))
show(lambda: l.signatures["nope"])
show(lambda: l.signatures.foo)
show(lambda: l.signatures["serving_default"].structured_input_signature)
show(lambda: l.v.assign(5.0))
show(lambda: l.variables)
show(lambda: l.foo)
show(lambda: l.graph)
show(lambda: len(l.f.concrete_functions))
d2 = tempfile.mkdtemp()
show(lambda: tf.saved_model.save(a, d2, signatures=a.f))
show(
    lambda: tf.saved_model.save(
        a, d2, signatures={"one": a.f, "two": a.g.get_concrete_function(tf.TensorSpec([], tf.float32))}
    )
)
show(lambda: sorted(tf.saved_model.load(d2).signatures))
show(lambda: tf.saved_model.load(d2).signatures["two"](tf.constant(1.0)))
show(lambda: tf.saved_model.save(a, d2, signatures=a.g))
show(lambda: tf.saved_model.save(a, d2, signatures=3))
show(lambda: tf.saved_model.save(a, d2, signatures={"a": 3}))
show(lambda: tf.saved_model.save(a, d2, signatures=lambda x: x))


@tf.function(input_signature=[tf.TensorSpec([])])
def lst(x):
    return [x, x]


b = tf.Module()
b.lst = lst
show(lambda: tf.saved_model.save(b, d2, signatures=lst))


@tf.function(input_signature=[{"p": tf.TensorSpec([], name="pp"), "q": [tf.TensorSpec([])]}])
def st(x):
    return x["p"] + x["q"][0]


show(lambda: tf.saved_model.save(b, d2, signatures=st))
show(lambda: tf.saved_model.save(3, d2))
show(lambda: tf.saved_model.save(None, d2))
show(lambda: tf.saved_model.save(lambda: 1, d2))
