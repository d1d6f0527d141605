"""Integer results of functions and ops: which of them have a gradient of zero depends on the results beside them."""
import tensorflow as tf

x, v = tf.constant([3.0, 1.0]), tf.Variable([1.0, 2.0])


def whole(y):
    return tf.cast(y, tf.int32)


cases = {
    "i f": lambda y: (whole(y), y * 2.0),
    "f i": lambda y: (y * 2.0, whole(y)),
    "f f i": lambda y: (y * 2.0, y * v, whole(y)),
    "i i f": lambda y: (whole(y), tf.argmax(y), y * 2.0),
    "f i f": lambda y: (y * 2.0, whole(y), y * v),
    "i f i": lambda y: (whole(y), y * 3.0, y > 1.0),
    "i": lambda y: (whole(y),),
    "c f": lambda y: (tf.constant(1.0), y * 3.0),
    "f c": lambda y: (y * 3.0, tf.constant(1.0)),
    "k f": lambda y: (tf.constant(1), y * v),
    "sort": lambda y: (tf.argsort(y), tf.sort(y)),
    "cond": lambda y: tf.cond(y[0] > 0, lambda: (whole(y), y * 2.0), lambda: (whole(y), y)),
    "while": lambda y: tuple(tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a * y], [0, y])),
}


def show(name, j, grads):
    print(name, j, [None if g is None else g.numpy().tolist() for g in grads])


for name, f in cases.items():
    for j in range(len(f(x))):
        for persistent in (False, True):
            with tf.GradientTape(persistent=persistent) as tape:
                tape.watch(x)
                y = tf.function(f)(x)
            show(name, j, tape.gradient(y[j], [x, v]))
for name in ("sort", "i f"):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cases[name](x)
    show("eager " + name, 0, tape.gradient(y[0], [x, v]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cases[name](x)
    show("eager " + name, 1, tape.gradient(y[1], [x, v]))
for name, f in cases.items():

    @tf.function
    def inside(x):
        out = []
        for j in range(len(f(x))):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.function(f)(x) if name not in ("cond", "while") else f(x)
            got = tape.gradient(y[j], [x, v])
            out.append([tf.constant(-1.0) if g is None else g for g in got])
        return out

    for j, grads in enumerate(inside(x)):
        show("inside " + name, j, grads)
