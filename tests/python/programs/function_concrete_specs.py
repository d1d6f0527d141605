"""get_concrete_function with TensorSpecs: of unknown rank, under an input_signature, by name, and what does not fit."""

import tensorflow as tf


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        print(what, type(error).__name__, str(error).split("\n")[0][:170])


def shown(c):
    return [(t.name, t.shape, t.dtype.name) for t in c.inputs], c.structured_input_signature


print("---- a signature of unknown rank")


@tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
def any_rank(x):
    return tf.shape(x), x * 2.0


attempt("none", lambda: shown(any_rank.get_concrete_function()))
attempt("unknown", lambda: shown(any_rank.get_concrete_function(tf.TensorSpec(None, tf.float32))))
attempt("vector", lambda: shown(any_rank.get_concrete_function(tf.TensorSpec([None], tf.float32))))
attempt("known", lambda: shown(any_rank.get_concrete_function(tf.TensorSpec([2, 3], tf.float32))))
attempt("named", lambda: shown(any_rank.get_concrete_function(tf.TensorSpec([2, 3], tf.float32, name="mine"))))
attempt("tensor", lambda: shown(any_rank.get_concrete_function(tf.constant([1.0]))))
attempt("type", lambda: shown(any_rank.get_concrete_function(tf.TensorSpec([2], tf.int32))))
attempt("keyword", lambda: shown(any_rank.get_concrete_function(x=tf.TensorSpec(None, tf.float32))))
attempt("wrong keyword", lambda: shown(any_rank.get_concrete_function(y=tf.TensorSpec(None, tf.float32))))
attempt("two", lambda: shown(any_rank.get_concrete_function(tf.TensorSpec(None), tf.TensorSpec(None))))
print(any_rank(tf.ones([2, 2]))[0].numpy(), any_rank(1.0)[1].numpy(), any_rank.experimental_get_tracing_count())
c = any_rank.get_concrete_function()
print(c(tf.ones([3]))[0].numpy(), c(x=tf.ones([1, 1, 1]))[0].numpy(), c.output_shapes)

print("---- a signature of known rank")


@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="rows"), tf.TensorSpec([], tf.int32)])
def ranked(x, n):
    return x * tf.cast(n, tf.float32)


attempt("unknown", lambda: shown(ranked.get_concrete_function(tf.TensorSpec(None, tf.float32), tf.TensorSpec([], tf.int32))))
attempt("wider", lambda: shown(ranked.get_concrete_function(tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([], tf.int32))))
attempt("narrower", lambda: shown(ranked.get_concrete_function(tf.TensorSpec([4, 2], tf.float32), tf.TensorSpec([], tf.int32))))
attempt("other rank", lambda: shown(ranked.get_concrete_function(tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.int32))))
attempt("other size", lambda: shown(ranked.get_concrete_function(tf.TensorSpec([1, 3], tf.float32), tf.TensorSpec([], tf.int32))))
attempt("one", lambda: shown(ranked.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))))
attempt("python value", lambda: shown(ranked.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), 3)))
attempt("all", lambda: shown(ranked.get_concrete_function()))
print(ranked.experimental_get_tracing_count())

print("---- without a signature")


@tf.function
def free(x, y=1.0, *rest, k=None, **more):
    return x


attempt("unknown", lambda: shown(free.get_concrete_function(tf.TensorSpec(None, tf.float32))))
attempt("named", lambda: shown(free.get_concrete_function(tf.TensorSpec(None, tf.float32, name="input"), tf.TensorSpec([], tf.float32, name="input"))))
attempt("rest", lambda: shown(free.get_concrete_function(tf.TensorSpec([1]), 2.0, tf.TensorSpec([2]), tf.TensorSpec([3], name="odd name"))))
attempt("keywords", lambda: shown(free.get_concrete_function(tf.TensorSpec([1]), k=tf.TensorSpec([2]), z=tf.TensorSpec([3]), a=tf.TensorSpec([4], name="b"))))
attempt("structure", lambda: shown(free.get_concrete_function({"u": tf.TensorSpec([1]), "w": [tf.TensorSpec([2]), tf.TensorSpec(None, tf.int32)]})))
print(free.experimental_get_tracing_count())
u = free.get_concrete_function(tf.TensorSpec(None, tf.float32))
print(u(tf.ones([2])).numpy(), u(tf.ones([1, 1])).numpy(), free(tf.ones([2, 2])).shape, free.experimental_get_tracing_count())
try:
    u(tf.constant([1]))
except tf.errors.InvalidArgumentError as error:
    print("dtype", error.message.split(" as ")[1].split(" [Op:")[0])
attempt("rank", lambda: free.get_concrete_function(tf.TensorSpec([None], tf.float32))(tf.ones([1, 1])))

print("---- relaxed")


@tf.function(reduce_retracing=True)
def relaxed(x):
    return x + 1.0


for shape in ([1], [2], [3], [1, 1], [2, 2]):
    relaxed(tf.ones(shape))
print(relaxed.experimental_get_tracing_count())
attempt("spec", lambda: shown(relaxed.get_concrete_function(tf.TensorSpec([7], tf.float32))))
attempt("spec", lambda: shown(relaxed.get_concrete_function(tf.TensorSpec(None, tf.float32))))
print(relaxed.pretty_printed_concrete_signatures(verbose=False))

print("---- methods, defaults, none at all")


class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([None], tf.int64)])
    def call(self, x, y):
        return x

    @tf.function(input_signature=[])
    def nothing(self):
        return tf.constant(1)

    @tf.function(input_signature=(tf.TensorSpec(None, tf.string),))
    def text(self, s, flag=True):
        return tf.strings.length(s) if flag else s


m = Model()
attempt("method", lambda: shown(m.call.get_concrete_function()))
attempt("method", lambda: shown(m.call.get_concrete_function(tf.TensorSpec([5]), tf.TensorSpec([None], tf.int64))))
attempt("nothing", lambda: shown(m.nothing.get_concrete_function()))
attempt("nothing", lambda: shown(m.nothing.get_concrete_function(tf.TensorSpec([]))))
attempt("text", lambda: shown(m.text.get_concrete_function()))
attempt("text", lambda: shown(m.text.get_concrete_function(tf.TensorSpec([2], tf.string))))
attempt("flag", lambda: shown(m.text.get_concrete_function(tf.TensorSpec([2], tf.string), True)))
attempt("flag", lambda: shown(m.text.get_concrete_function(tf.TensorSpec([2], tf.string), False)))
attempt("call", lambda: m.text(["a", "bcd"]).numpy())
attempt("ragged", lambda: shown(tf.function(lambda r: r.values).get_concrete_function(tf.RaggedTensorSpec([None, None], tf.int32))))
