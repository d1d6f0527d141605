"""Small functions with loops and branches, eager and compiled, side by side."""
import tensorflow as tf


def is_prime(n):
    if n < 2:
        return False
    i = 2
    result = True
    while i * i <= n:
        if n % i == 0:
            result = False
            break
        i += 1
    return result


def digits_sum(n):
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total


def count_down(n):
    steps = 0
    while n > 0:
        n -= 2
        if n < 0:
            break
        if n % 3 == 0:
            continue
        steps += 1
    return steps


def polynomial(coefficients, x):
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


def classify(x):
    if x < 0:
        kind = "negative"
    elif x == 0:
        kind = "zero"
    else:
        kind = "even" if x % 2 == 0 else "odd"
    return kind


for f, args in ((is_prime, (1, 2, 9, 13, 91, 97)), (digits_sum, (0, 7, 1234)), (count_down, (3, 10, 21))):
    graph = tf.function(f)
    for a in args:
        print(f.__name__, a, f(a), graph(tf.constant(a)).numpy())
print(polynomial([1.0, 2.0, 3.0], 2.0), tf.function(polynomial)(tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)).numpy())
print([tf.function(classify)(tf.constant(v)).numpy().decode() for v in (-1, 0, 1, 2)])


@tf.function
def nested_break(matrix, wanted):
    row, column = -1, -1
    for i in tf.range(tf.shape(matrix)[0]):
        for j in tf.range(tf.shape(matrix)[1]):
            if matrix[i, j] == wanted:
                row, column = i, j
                break
        if row >= 0:
            break
    return row, column


m = tf.reshape(tf.range(12), [3, 4])
print([[int(t) for t in nested_break(m, tf.constant(v))] for v in (0, 6, 11, 50)])
