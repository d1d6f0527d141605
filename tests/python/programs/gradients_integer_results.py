"""Gradients of functions' integer results: zero where what the gradient reads is among the results of the forward pass, else None."""

import tensorflow as tf

x = tf.constant([1.0, 3.0, 2.0])
bodies = {
    "top_k": lambda x: tuple(tf.math.top_k(x, 2)),
    "sort": lambda x: (tf.sort(x), tf.argsort(x)),
    "argmax": lambda x: (tf.argmax(x),),
    "cast": lambda x: (x * 2.0, tf.cast(x * 3.0, tf.int32)),
    "cast only": lambda x: (tf.cast(x * 3.0, tf.int32),),
    "around": lambda x: (tf.cast(x, tf.int32), x, tf.cast(x, tf.int64)),
    "bool": lambda x: (x > 2.0, x * 1.0),
    "indices first": lambda x: (tf.math.top_k(x, 2)[1], x * 2.0),
    "indices only": lambda x: (tf.math.top_k(x, 2)[1],),
    "both": lambda x: (tf.math.top_k(x, 2)[1], tf.math.top_k(x, 2)[0]),
    "string": lambda x: (tf.strings.as_string(x), x * 2.0),
}


def shown(gradient):
    return None if gradient is None else (gradient.numpy() + 0.0).tolist()


for name, body in bodies.items():
    inner = tf.function(body, autograph=False)
    outer = tf.function(lambda x, inner=inner: inner(x), autograph=False)
    for which, f in ("called", inner), ("nested", outer):
        for persistent in (False, True):
            for i in range(len(body(x))):
                with tf.GradientTape(persistent=persistent) as around:
                    with tf.GradientTape(persistent=persistent) as tape:
                        tape.watch(x)
                        results = f(x)
                    found = tape.gradient(results[i], x)
                with tf.GradientTape(persistent=persistent) as around:
                    with tf.GradientTape(persistent=persistent) as tape:
                        tape.watch(x)
                        around.watch(x)
                        results = f(x)
                print(name, which, persistent, i, shown(found), shown(around.gradient(results[i], x)))
