"""Variables as arguments of functions: which object the code sees, when it is traced anew, the same one twice."""

import tensorflow as tf

seen = []


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        print(what, type(error).__name__, str(error).split("\n")[0][:100])


@tf.function
def add(v, w):
    seen.append((v.ref(), w.ref()))
    print("traced", v is a, w is a, v is w, v.name, v.trainable, v.shape, isinstance(v, tf.Variable))
    v.assign_add(2.0 * w)
    return v + w


a = tf.Variable(1.0, name="a")
b = tf.Variable(10.0, name="b")
c = tf.Variable(100.0, name="c")
print(add(a, b).numpy(), a.numpy(), b.numpy())
print(add(b, c).numpy(), a.numpy(), b.numpy(), c.numpy())
print("twice", add(a, a).numpy(), a.numpy())
print(add(c, c).numpy(), c.numpy())
print(add.experimental_get_tracing_count())
concrete = add.get_concrete_function(a, b)
print([t.name for t in concrete.inputs], concrete.structured_input_signature, concrete.variables, len(concrete.captured_inputs))
concrete = add.get_concrete_function(b, b)
print([t.name for t in concrete.inputs], concrete.structured_input_signature)
print(concrete(a, a).numpy(), a.numpy())
attempt("flag", lambda: add(tf.Variable(1.0, trainable=False), b).numpy())
attempt("shape", lambda: add(tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])).numpy())
attempt("type", lambda: add(tf.Variable(1), tf.Variable(2)))
print(add.experimental_get_tracing_count())


# ---- in structures
@tf.function
def total(weights, by_name):
    print("traced", [w is v for w, v in zip(weights, kept)], sorted(by_name), by_name["x"] is kept[0])
    out = tf.add_n([tf.reduce_sum(w) for w in weights])
    by_name["x"].assign_add(tf.ones_like(by_name["x"]))
    return out + tf.reduce_sum(by_name["y"])


kept = [tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0]), tf.Variable(5.0)]
print(total(kept, {"x": kept[0], "y": kept[1]}).numpy(), kept[0].numpy())
print(total(kept, {"x": kept[0], "y": kept[1]}).numpy(), kept[0].numpy())
print(total(kept, {"x": kept[1], "y": kept[1]}).numpy(), kept[1].numpy())
others = [tf.Variable([0.0, 0.0]), tf.Variable([1.0, 1.0]), tf.Variable(2.0)]
print(total(others, {"x": others[0], "y": others[1]}).numpy(), others[0].numpy())
print(total.experimental_get_tracing_count())


# ---- a module is known by identity
class Scale(tf.Module):
    def __init__(self, value):
        super().__init__()
        self.w = tf.Variable(value)


@tf.function
def apply(module, x):
    print("traced", type(module).__name__, module.w is one.w)
    return module.w * x


one, two = Scale(2.0), Scale(3.0)
print(apply(one, tf.constant(4.0)).numpy(), apply(two, tf.constant(4.0)).numpy(), apply(one, tf.constant(5.0)).numpy())


# ---- gradients, inside and outside
@tf.function
def square(v):
    return v * v


with tf.GradientTape() as tape:
    y = square(b) * 3.0
print(tape.gradient(y, b).numpy())
with tf.GradientTape(persistent=True) as tape:
    y = square(b) + square(c)
print(tape.gradient(y, [b, c]), [v.name for v in tape.watched_variables()])


@tf.function
def step(v, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    grad = tape.gradient(loss, v)
    v.assign_sub(rate * grad)
    return loss, [w is v for w in tape.watched_variables()]


x, z = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
attempt("step", lambda: step(x, 0.1))


@tf.function
def step(v, rate):  # noqa: F811
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    v.assign_sub(rate * tape.gradient(loss, v))
    return loss


for v in (x, z, x):
    print(step(v, tf.constant(0.1)).numpy(), v.numpy())
print(step.experimental_get_tracing_count())


# ---- code that keeps state by variable finds it again in every trace
class Momentum(tf.Module):
    def __init__(self):
        super().__init__()
        self.slots = {}

    def apply(self, v, grad):
        key = v.ref()
        if key not in self.slots:
            self.slots[key] = tf.Variable(tf.zeros_like(v), trainable=False)
        m = self.slots[key]
        m.assign(0.5 * m + grad)
        v.assign_sub(0.1 * m)


optimizer = Momentum()


@tf.function
def train(v, grad):
    optimizer.apply(v, grad)
    return tf.identity(v)


w = tf.Variable([1.0, 1.0])
for i in range(3):
    print(train(w, tf.constant([1.0, 2.0])).numpy())
print(len(optimizer.slots), train.experimental_get_tracing_count())
print(train(w, tf.constant([1.0])).numpy(), len(optimizer.slots))


# ---- nested functions and branches
@tf.function
def inner(v):
    v.assign_add(1.0)
    return v.read_value()


@tf.function
def outer(v, flag):
    if flag:
        r = inner(v)
    else:
        r = v * 10.0
    return r


print(outer(a, tf.constant(True)).numpy(), outer(b, tf.constant(False)).numpy(), outer(c, tf.constant(True)).numpy())
print(a.numpy(), b.numpy(), c.numpy())


@tf.function
def loop(v, n):
    for _ in tf.range(n):
        v.assign(v * 2.0)
    return v


d, e = tf.Variable(1.0), tf.Variable(3.0)
print(loop(d, tf.constant(3)).numpy(), loop(e, tf.constant(2)).numpy(), d.numpy(), e.numpy())


# ---- a global variable that is passed, too: the argument wins
@tf.function
def mixed(v):
    return v + d.assign_add(1.0)


d.assign(1.0)
print(mixed(d).numpy(), d.numpy())
print(mixed(e).numpy(), d.numpy(), e.numpy())
