"""tf.cond, tf.case, tf.switch_case: eager and in functions, structures, nested, gradients, wrong branches."""
import tensorflow as tf

x, y = tf.constant(3), tf.constant(5)
print(tf.cond(x < y, lambda: x + y, lambda: x - y), tf.cond(False, lambda: 1, lambda: 2),
      tf.cond(tf.constant(1), lambda: "yes", lambda: "no"))
print(tf.case([(x > y, lambda: "greater"), (tf.equal(x, y), lambda: "equal")], default=lambda: "less"))
print(tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20, lambda: 30]),
      tf.switch_case(tf.constant(9), {0: lambda: 1, 1: lambda: 2}, default=lambda: -1))


@tf.function
def branches(p, a):
    print("traced")
    return tf.cond(p, lambda: {"v": a * 2, "w": [a, a]}, lambda: {"v": -a, "w": [a + 1, a - 1]})


print(branches(tf.constant(True), tf.constant(4)), branches(tf.constant(False), tf.constant(4)))


@tf.function
def nested(a):
    return tf.cond(a > 0, lambda: tf.cond(a > 10, lambda: "big", lambda: "small"), lambda: "negative")


print([nested(tf.constant(v)).numpy() for v in (50, 5, -5)])


@tf.function
def switch(i, a):
    return tf.switch_case(i, [lambda: a + 1.0, lambda: a * a, lambda: tf.exp(a)])


a = tf.Variable(2.0)
for i in range(5):
    with tf.GradientTape() as tape:
        out = switch(tf.constant(i), a)
    print(i, out.numpy(), tape.gradient(out, a).numpy())


@tf.function
def select(v):
    return tf.case([(v < 0, lambda: tf.constant(-1)), (v < 10, lambda: tf.constant(0)),
                    (v < 100, lambda: tf.constant(1))], default=lambda: tf.constant(2), exclusive=False)


print([select(tf.constant(v)).numpy() for v in (-5, 5, 50, 500)])
calls = []


def log(name):
    calls.append(name)
    return tf.constant(0)


tf.cond(tf.constant(True), lambda: log("t"), lambda: log("f"))
tf.function(lambda p: tf.cond(p, lambda: log("T"), lambda: log("F")))(tf.constant(True))
print(calls)
v = tf.Variable(0)


@tf.function
def effects(p):
    tf.cond(p, lambda: v.assign_add(1), lambda: v.assign_add(100))
    return v.read_value()


print(effects(tf.constant(True)).numpy(), effects(tf.constant(False)).numpy())


def report(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, "" if "in user code" in str(e) else str(e).splitlines()[0])


report(lambda: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2))
report(lambda: tf.cond(x < y, 1, lambda: 2))
report(lambda: tf.function(lambda p: tf.cond(p, lambda: 1, lambda: 2.0))(tf.constant(True)))
report(lambda: tf.function(lambda p: tf.cond(p, lambda: 1, lambda: (1, 2)))(tf.constant(True)))
report(lambda: tf.case([(x > y, lambda: 1)], exclusive=True))
report(lambda: tf.switch_case(tf.constant(0), []))
report(lambda: tf.cond(x < y))
