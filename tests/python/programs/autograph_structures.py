"""AutoGraph with lists, dicts, tuples, comprehensions, slices, augmented assignment, nested functions, try, with."""
import tensorflow as tf

SCALE = 3


@tf.function
def lists(x):
    items = []
    for i in range(3):
        items.append(x * i)
    items += [x]
    items[0] = x + 100
    first, *rest = items
    return items, len(items), first, rest[-1]


print(lists(tf.constant(2)))


@tf.function
def dicts(x):
    d = {"a": x}
    d["b"] = x * 2
    d.update(c=x * 3)
    total = 0
    for k, v in d.items():
        total += v
    return total, sorted(d), {k: v for k, v in d.items() if k != "a"}


print(dicts(tf.constant(1)))


@tf.function
def tuples(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a, (b, a + b)


print(tuples(tf.constant(10)))


@tf.function
def state_in_loop(n):
    state = {"count": 0, "pair": (1.0, [2.0])}
    for i in tf.range(n):
        state["count"] += i
        state["pair"] = (state["pair"][0] * 2.0, [state["pair"][1][0] + 1.0])
    return state


print(state_in_loop(tf.constant(4)))


@tf.function
def scopes(x):
    def helper(y):
        if y > 2:
            return y * SCALE
        return -y

    with tf.name_scope("inner"):
        z = helper(x)
    try:
        w = helper(z)
    finally:
        pass
    return z, w, [helper(t) for t in (x, x + 1)]


print(scopes(tf.constant(3)))
print(scopes(tf.constant(1)))


@tf.function
def augmented(x):
    x += 1
    x *= 2
    y = x
    y -= 5
    if y > 0:
        y //= 2
    else:
        y **= 2
    return x, y


print(augmented(tf.constant(1)), augmented(tf.constant(10)))


@tf.function
def slices(x):
    total = tf.zeros([2], tf.int32)
    for i in tf.range(0, tf.shape(x)[0], 2):
        total += x[i:i + 2]
    return total, x[::-1][:2]


print(slices(tf.range(6)))


@tf.function
def enumerate_zip(a, b):
    total = 0
    for i, (p, q) in enumerate(zip(a, b)):
        total += (i + 1) * p * q
    return total


print(enumerate_zip([1, 2], [3, 4]), enumerate_zip(list(tf.range(3)), list(tf.range(3))))


@tf.function
def logic(a, b):
    return a and b, a or b, not a, a if b else not b, (a == b) and not (a != b)


print([[t.numpy() for t in logic(tf.constant(p), tf.constant(q))] for p in (True, False) for q in (True, False)])


class Counter:
    def __init__(self):
        self.total = 0

    def run(self, n):
        self.total = tf.constant(0)
        for i in tf.range(n):
            self.total += i
        return self.total


counter = Counter()
print(tf.function(counter.run)(tf.constant(5)).numpy())
