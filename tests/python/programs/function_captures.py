"""Captured tensors and variables; free variables deleted; methods bound; functions as fields; jit_compile."""
import tensorflow as tf

w = tf.constant([[1.0, 2.0], [3.0, 4.0]])
scale = tf.Variable(2.0, name="scale")


@tf.function
def project(x):
    return tf.linalg.matvec(w, x) * scale


print(project(tf.constant([1.0, 1.0])))
scale.assign(10.0)
print(project(tf.constant([1.0, 1.0])))
concrete = project.get_concrete_function(tf.TensorSpec([2]))
print(len(concrete.captured_inputs), concrete.graph.captures is not None)
print([v.name for v in concrete.graph.variables], [v.name for v in concrete.trainable_variables])
del w
print(project(tf.constant([0.0, 1.0])))


def build():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        return v + 1.0
    return f, v


f, v = build()
print(f().numpy())


class Net:
    def __init__(self):
        self.v = tf.Variable(3.0)
        self.apply = tf.function(self._apply)

    def _apply(self, x):
        return x * self.v

    @tf.function(jit_compile=True)
    def compiled(self, x):
        return tf.reduce_sum(tf.exp(x) * self.v)


net = Net()
print(net.apply(tf.constant(2.0)).numpy(), net.compiled(tf.constant([0.0, 1.0])).numpy())
net.v.assign(4.0)
print(net.apply(tf.constant(2.0)).numpy(), net.compiled(tf.constant([0.0, 1.0])).numpy())

a = tf.Variable(1.0)
with tf.GradientTape() as tape:
    b = a * 3.0
    g = tf.function(lambda: b * b)
    y = g()
print(tape.gradient(y, a).numpy())


@tf.function
def outer(x):
    k = x * 2.0

    @tf.function
    def inner(y):
        return y + k
    return inner(tf.constant(1.0)) + inner(tf.constant(2.0))


print(outer(tf.constant(5.0)).numpy())
many = [tf.constant(float(i)) for i in range(20)]
print(tf.function(lambda: tf.add_n(many))().numpy())
print(tf.function(lambda x: [x[i] for i in range(3)])(tf.constant([1, 2, 3])))
