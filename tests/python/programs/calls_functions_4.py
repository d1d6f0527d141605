"""Calls, signatures and traces of functions, part 4."""

import tensorflow as tf
from calls import show, shown

n = []


@tf.function(experimental_relax_shapes=True)
def r2(x):
    n.append(x["a"].shape)
    return x["a"]


for i in range(1, 5):
    r2({"a": tf.zeros([i, 2])})


@tf.function
def bad2(x):
    return {"a": x, "b": None, "c": [1, "s", 2.5]}


show(lambda: bad2(tf.constant(1)))


@tf.function
def bad4(x):
    return {1, 2}


show(lambda: bad4(1))


@tf.function
def leak(x):
    global leaked
    leaked = x + 1
    return x


show(lambda: leak(tf.constant(1)))
show(lambda: leaked)
show(lambda: print(leaked))
show(lambda: leaked.numpy())
show(lambda: int(leaked))


@tf.function
def rec(x):
    if x > 0:
        return rec(x - 1)
    return x


show(lambda: rec(3))


@tf.function
def ret():
    pass


show(lambda: print(ret()))


@tf.function
def side():
    print("tracing")
    tf.print("running")


with shown():
    side()
    side()


@tf.function(jit_compile=True)
def j(x):
    return x * 2 + 1


show(lambda: j(tf.constant([1.0, 2.0])))
show(lambda: tf.config.run_functions_eagerly(True))
show(lambda: tf.config.functions_run_eagerly())


@tf.function
def e(x):
    print(type(x).__name__)
    return x


with shown():
    e(tf.constant(1))
    e(1)
show(lambda: tf.config.run_functions_eagerly(False))
show(lambda: tf.executing_eagerly())


@tf.function
def ee():
    return tf.executing_eagerly(), tf.inside_function() if hasattr(tf, "inside_function") else None


show(lambda: ee())


@tf.function(autograph=False)
def na(x):
    if x > 0:
        return x
    return -x


show(lambda: na(tf.constant(1)))


@tf.function(autograph=False)
def na2(x):
    for i in x:
        pass


show(lambda: na2(tf.constant([1])))


@tf.function(autograph=False)
def na3(x):
    return x and x


show(lambda: na3(tf.constant(True)))


@tf.function
def na6(x):
    return int(x)


show(lambda: na6(tf.constant(1)))


@tf.function
def na7(x):
    return len(x)


show(lambda: na7(tf.constant([1, 2])))
