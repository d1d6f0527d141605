"""variable_creator_scope sees and changes every variable that is made."""
import tensorflow as tf


def logging_creator(next_creator, **kwargs):
    print("creating", kwargs.get("name"), "trainable", kwargs.get("trainable"))
    return next_creator(**kwargs)


def double_creator(next_creator, **kwargs):
    initial = kwargs["initial_value"]
    kwargs["initial_value"] = lambda: 2 * tf.convert_to_tensor(initial() if callable(initial) else initial)
    return next_creator(**kwargs)


with tf.variable_creator_scope(logging_creator):
    a = tf.Variable(1.0, name="a")
    with tf.variable_creator_scope(double_creator):
        b = tf.Variable(lambda: tf.constant([1.0, 2.0]), name="b", trainable=False)
c = tf.Variable(3.0, name="c")
print(a.numpy(), b.numpy(), c.numpy(), b.trainable)


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones([2]), name="w")


made = []
def collect(next_creator, **kwargs):
    v = next_creator(**kwargs)
    made.append(v)
    return v


with tf.variable_creator_scope(collect):
    layer = Layer()
print([v.name for v in made], made[0] is layer.w)


class Counter:
    def __init__(self):
        self.v = None

    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(10.0, name="inside")
        return self.v.assign_add(x)


counter = Counter()
print(counter(1.0), counter(tf.constant(2.0)), counter.v)
