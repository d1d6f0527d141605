"""When functions are traced again: Python numbers, tensors, keyword order, defaults, objects, None."""
import sys
import tensorflow as tf


@tf.function
def train(num_steps):
    print("Tracing with num_steps =", num_steps)
    tf.print("Executing with num_steps =", num_steps, output_stream=sys.stdout)
    for _ in tf.range(num_steps):
        pass


print("Retracing occurs for different Python arguments.")
train(num_steps=10)
train(num_steps=20)
print()
print("Traces are reused for Tensor arguments.")
train(num_steps=tf.constant(10))
train(num_steps=tf.constant(20))
print(train.experimental_get_tracing_count())


@tf.function
def options(x, training=False, mask=None, mode="a"):
    print("trace", training, mask if mask is None else "mask", mode)
    return x


x = tf.constant(1.0)
options(x)
options(x, False)
options(x, training=False, mode="a")
options(x, mode="a", training=False)
options(x, True)
options(x, mask=x)
options(x, mode="b")
options(x, 0)
print("traces:", options.experimental_get_tracing_count())


def f():
    print("Tracing!")
    return tf.constant("Executing")


print(tf.function(f)().numpy(), tf.function(f)().numpy())


class SimpleModel(tf.Module):
    def __init__(self):
        self.bias = 0.0
        self.weight = 2.0


@tf.function
def evaluate(model, x):
    return model.weight * x + model.bias


simple_model = SimpleModel()
x = tf.constant(10.0)
print(evaluate(simple_model, x).numpy())
simple_model.bias += 5.0
print("Adding bias changed nothing:", evaluate(simple_model, x).numpy())
new_model = SimpleModel()
new_model.bias += 5.0
print(evaluate(new_model, x).numpy(), evaluate.experimental_get_tracing_count())

@tf.function
def count(v):
    return tf.constant(0)


for value in (1, 1, 2, 1.0, "s", "s", True, None, (1, 2), [1, 2], (1, 2), {"a": 1}, {"a": 2}):
    count(value)
    print(value, count.experimental_get_tracing_count())
