"""Modules with tf.function methods, instances apart, graphs per instance, copying parameters, weights by name."""
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, rows, columns, name=None):
        super().__init__(name)
        self.w = tf.Variable(tf.fill([rows, columns], 0.5), name="w")
        self.b = tf.Variable(tf.zeros([columns]), name="b")

    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)


class MySequentialModule(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.dense_1 = Dense(3, 3)
        self.dense_2 = Dense(3, 2)

    @tf.function
    def __call__(self, x):
        print("tracing", x.shape)
        x = self.dense_1(x)
        return self.dense_2(x)


m1, m2 = MySequentialModule("first"), MySequentialModule("second")
print(m1(tf.constant([[2.0, 2.0, 2.0]])))
print(m1(tf.constant([[2.0, 2.0, 2.0]])))
print(m2(tf.constant([[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]])))
for v in m2.trainable_variables:
    v.assign(v * 2.0)
print(m2(tf.constant([[1.0, 1.0, 1.0]])), m1(tf.constant([[1.0, 1.0, 1.0]])))
for a, b in zip(m1.variables, m2.variables):
    a.assign(b)
print(m1(tf.constant([[1.0, 1.0, 1.0]])))
print({f"{m.name}.{v.name}": v.shape.as_list() for m in m1.submodules for v in m.variables})
print(sum(int(tf.size(v)) for v in m1.trainable_variables))


class Counter(tf.Module):
    def __init__(self):
        self.count = tf.Variable(0)

    @tf.function(input_signature=[])
    def increment(self):
        return self.count.assign_add(1)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def add(self, n):
        for _ in tf.range(n):
            self.increment()
        return self.count.value()


c = Counter()
print(c.increment().numpy(), c.add(5).numpy(), c.add(tf.constant(2)).numpy(), c.count)
other = Counter()
print(other.add(1).numpy(), other.count.numpy(), Counter.__name__)


class BatchNorm(tf.Module):
    def __init__(self, n):
        super().__init__()
        self.mean = tf.Variable(tf.zeros([n]), trainable=False)
        self.gamma = tf.Variable(tf.ones([n]))

    @tf.function
    def __call__(self, x, training):
        if training:
            mean = tf.reduce_mean(x, 0)
            self.mean.assign(0.9 * self.mean + 0.1 * mean)
        else:
            mean = self.mean.value()
        return (x - mean) * self.gamma


bn = BatchNorm(2)
x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
print(bn(x, training=True), bn(x, training=False))
print(bn(x, training=tf.constant(True)), bn.mean, len(bn.trainable_variables))
