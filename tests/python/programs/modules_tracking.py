"""What modules find: variables in lists, dicts, tuples, nested modules; shared ones once; order; _flatten."""
import tensorflow as tf


class Leaf(tf.Module):
    def __init__(self, value, name=None):
        super().__init__(name=name)
        self.v = tf.Variable(value, name="v")


class Tree(tf.Module):
    def __init__(self):
        super().__init__()
        self.zeta = tf.Variable(0.0, name="zeta")
        self.alpha = tf.Variable(1.0, name="alpha", trainable=False)
        self.children = [Leaf(2.0), Leaf(3.0)]
        self.table = {"y": Leaf(4.0), "x": tf.Variable(5.0, name="x")}
        self.pair = (Leaf(6.0), [tf.Variable(7.0, name="deep")])
        self.shared = self.children[0]
        self.number = 12
        self.tensor = tf.constant(1.0)


tree = Tree()
print([v.name for v in tree.variables])
print([float(v) for v in tree.variables])
print([float(v) for v in tree.trainable_variables], [float(v) for v in tree.non_trainable_variables])
print([m.name for m in tree.submodules], len(tree.submodules))
print(tree.name, tf.Module(name="Other").name, Leaf(1.0).name)
tree.children.append(Leaf(8.0))
print(len(tree.variables))
tree.table["z"] = tf.Variable(9.0)
print(len(tree.variables))
del tree.shared
tree.zeta = None
print(len(tree.variables))
print(isinstance(tree.variables, tuple), isinstance(tree.submodules, tuple))
print(type(tree.children).__name__, type(tree.table).__name__, tree.pair[1])


class Scoped(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.a = tf.Variable(1.0, name="a")
            with tf.name_scope("inner"):
                self.b = tf.Variable(2.0, name="b")

    @tf.Module.with_name_scope
    def make(self):
        self.c = tf.Variable(3.0, name="c")
        return self.c.name


s = Scoped(name="my_scope")
print(s.a.name, s.b.name, s.make(), Scoped().a.name)


class MLP(tf.Module):
    def __init__(self, sizes, name=None):
        super().__init__(name=name)
        self.layers = []
        with self.name_scope:
            for i, (m, n) in enumerate(zip(sizes, sizes[1:])):
                self.layers.append(tf.Variable(tf.fill([m, n], 0.1 * (i + 1)), name=f"w{i}"))

    @tf.Module.with_name_scope
    @tf.function
    def __call__(self, x):
        for w in self.layers:
            x = tf.nn.relu(x @ w)
        return x


net = MLP([2, 3, 1])
print(net(tf.ones([1, 2])), [(v.name, v.shape) for v in net.trainable_variables])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(net(tf.ones([1, 2])))
print([g.shape for g in tape.gradient(y, net.trainable_variables)])


class Lazy(tf.Module):
    @tf.function
    def __call__(self, x):
        if not hasattr(self, "w"):
            self.w = tf.Variable(tf.ones_like(x), name="w")
        return self.w * x


lazy = Lazy()
print(lazy(tf.constant([1.0, 2.0])), lazy.w.name, lazy.variables)
