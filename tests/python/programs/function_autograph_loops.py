"""AutoGraph loops: while and for over ranges, tensors, datasets; break, continue, else, nested loops, lists."""
import tensorflow as tf


@tf.function
def halve(x):
    n = 0
    while tf.reduce_sum(x) > 1:
        x = x / 2.0
        n += 1
    return x, n


print(halve(tf.constant([5.0, 11.0])))


@tf.function
def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


print(sum_even(tf.constant([10, 12, 15, 20])), sum_even([1, 2, 3, 4]))


@tf.function
def find_first(items, wanted):
    position = -1
    for i in tf.range(tf.shape(items)[0]):
        if items[i] == wanted:
            position = i
            break
    return position


print(find_first(tf.constant([4, 8, 15, 16]), tf.constant(15)).numpy(), find_first(tf.constant([4, 8]), 5).numpy())


@tf.function
def return_after_loop(limit):
    total = 0
    for i in tf.range(100):
        total += i
        if total > limit:
            break
    if total <= limit:
        total = -1
    return total


print(return_after_loop(tf.constant(20)).numpy(), return_after_loop(tf.constant(100000)).numpy())


@tf.function
def primes(n):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for candidate in tf.range(2, n):
        is_prime = True
        d = 2
        while d * d <= candidate:
            if candidate % d == 0:
                is_prime = False
                break
            d += 1
        if is_prime:
            ta = ta.write(ta.size(), candidate)
    return ta.stack()


print(primes(tf.constant(40)))


@tf.function
def over_dataset(ds):
    total = 0.0
    for x, y in ds:
        total += x * y
    return total


ds = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]))
print(over_dataset(ds).numpy())


@tf.function
def python_loop(x):
    print("unrolled")
    for i in range(3):
        x = x + i
    for name, w in zip(("a", "b"), (1, 2)):
        x = x * w
    return x


print(python_loop(tf.constant(1)).numpy())


@tf.function
def growing(n):
    v = tf.zeros([0], tf.int32)
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [i * i]], 0)
    return v


print(growing(tf.constant(5)))


@tf.function
def dynamic_rnn(inputs, state):
    outputs = tf.TensorArray(tf.float32, size=inputs.shape[0])
    for i, step in enumerate(tf.unstack(inputs)):
        state = tf.tanh(state + step)
        outputs = outputs.write(i, state)
    return outputs.stack(), state


print(dynamic_rnn(tf.constant([[0.1, 0.2], [0.3, 0.4]]), tf.zeros([2])))


@tf.function
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


print(gcd(tf.constant(48), tf.constant(36)).numpy())
