"""Python side effects at tracing, tf.print at running, lists, counters, globals, iterators."""
import sys
import tensorflow as tf


@tf.function
def f(x):
    print("Traced with", x)
    tf.print("Executed with", x, output_stream=sys.stdout)


f(1)
f(1)
f(2)

external_list = []


@tf.function
def side_effect(x):
    print("Python side effect")
    external_list.append(x)


side_effect(1)
side_effect(1)
side_effect(1)
print(len(external_list))


class Model(tf.Module):
    def __init__(self):
        self.v = tf.Variable(0)
        self.counter = 0

    @tf.function
    def __call__(self):
        if self.counter == 0:
            self.counter += 1
            self.v.assign_add(1)
        return self.v


m = Model()
for n in range(3):
    print(m().numpy(), m.counter)

my_var = tf.Variable(3.0)


@tf.function
def buggy_by_closure():
    return x_value + 1


x_value = 1
print(buggy_by_closure())
x_value = 100
print(buggy_by_closure())


@tf.function
def with_variable():
    return my_var + 1.0


print(with_variable().numpy())
my_var.assign(9.0)
print(with_variable().numpy())
ones = [tf.ones([])]


@tf.function
def captured_list():
    return tf.add_n(ones)


print(captured_list().numpy())
ones.append(tf.ones([]))
print(captured_list().numpy())


@tf.function
def buggy_consume_next(iterator):
    tf.print("Value:", next(iterator), output_stream=sys.stdout)


iterator = iter([1, 2, 3])
buggy_consume_next(iterator)
buggy_consume_next(iterator)


@tf.function
def good_consume_next(iterator):
    tf.print("Value:", next(iterator), output_stream=sys.stdout)


iterator = iter(tf.data.Dataset.from_tensor_slices([1, 2, 3]))
good_consume_next(iterator)
good_consume_next(iterator)


@tf.function
def leak(x):
    global leaked
    leaked = x + 1
    return x


leak(tf.constant(1))
print(leaked, type(leaked).__name__)
