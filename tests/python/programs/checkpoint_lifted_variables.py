"""Variables that a tf.function makes at its first call, after a checkpoint for them was restored."""

import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()


class Dense(tf.Module):
    def __init__(self, units, name=None):
        super().__init__(name)
        self.units = units
        self.built = False

    def __call__(self, x):
        if not self.built:
            self.w = tf.Variable(tf.zeros([x.shape[-1], self.units]), name="w")
            self.b = tf.Variable(lambda: tf.ones([self.units]), name="b")
            self.built = True
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(3), Dense(2)]
        self.steps = tf.Variable(0, trainable=False)

    @tf.function
    def __call__(self, x):
        self.steps.assign_add(1)
        for layer in self.layers:
            x = layer(x)
        return x


x = tf.constant([[1.0, 2.0]])
net = Net()
net(x)
for i, v in enumerate(net.trainable_variables):
    v.assign(tf.reshape(tf.range(tf.size(v), dtype=tf.float32), v.shape) / 10 + i)
saved = tf.train.Checkpoint(net=net).save(os.path.join(folder, "net"))
written = tf.train.Checkpoint(net=net).write(os.path.join(folder, "written"))
print("saved", net(x).numpy())

for how in ("restore", "read"):
    fresh = Net()
    checkpoint = tf.train.Checkpoint(net=fresh)
    status = checkpoint.restore(saved) if how == "restore" else checkpoint.read(written)
    print(how, len(fresh.trainable_variables), fresh.steps.numpy())
    print(fresh(x).numpy())
    print([v.numpy().tolist() for v in fresh.trainable_variables], fresh.steps.numpy())
    status.assert_consumed()
    print(fresh(x).numpy(), fresh(2 * x).numpy(), fresh.steps.numpy())


class Pieces(tf.Module):
    """Makes its variables in one function, under other names than those of the variables."""

    def __init__(self):
        super().__init__()
        self.table = {}
        self.row = []

    @tf.function
    def make(self):
        if not self.table:
            self.table["a"] = tf.Variable(1.0, name="same")
            self.table["b"] = tf.Variable([1, 2, 3], name="same")
            self.row.append(tf.Variable("text"))
            self.row.append(tf.Variable(True))
        return self.table["a"] * 2.0, self.table["b"] + 1, self.row[0], self.row[1]


pieces = Pieces()
print([t.numpy() for t in pieces.make()])
pieces.table["a"].assign(5.0)
pieces.table["b"].assign([7, 8, 9])
pieces.row[0].assign("other")
pieces.row[1].assign(False)
path = tf.train.Checkpoint(pieces=pieces).save(os.path.join(folder, "pieces"))
again = Pieces()
status = tf.train.Checkpoint(pieces=again).restore(path)
print([t.numpy() for t in again.make()])
print(again.table["a"].numpy(), again.table["b"].numpy(), again.row[0].numpy(), again.row[1].numpy())
status.assert_existing_objects_matched()

# A variable that is there before keeps what it was given after the restore; the last restore counts for those that come.
third = Pieces()
other = tf.train.Checkpoint(pieces=third)
other.restore(path)
pieces.table["a"].assign(6.0)
other.restore(tf.train.Checkpoint(pieces=pieces).save(os.path.join(folder, "pieces")))
print([t.numpy() for t in third.make()])


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = None

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(10.0)
        return self.v.assign_add(x)


c = Counter()
c(1.0)
c(1.0)
path = tf.train.Checkpoint(c=c).save(os.path.join(folder, "counter"))
d = Counter()
tf.train.Checkpoint(c=d).restore(path)
print(d(1.0).numpy(), d(2.0).numpy(), d.v.numpy())

# A trace by itself makes the variable, too.
e = Counter()
tf.train.Checkpoint(c=e).restore(path)
concrete = e.__call__.get_concrete_function()
print(e.v.numpy(), concrete(tf.constant(3.0)).numpy(), e.v.numpy())

# The names differ: nothing is restored, and the status says so.
class Renamed(Counter):
    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.u = tf.Variable(1.5)
            self.v = self.u
        return self.u * x


f = Renamed()
status = tf.train.Checkpoint(c=f).restore(path)
print(f(2.0).numpy())
f2 = Renamed()
f2.extra = tf.Variable(1.0)
status = tf.train.Checkpoint(c=f2).restore(path)
f2(2.0)
try:
    status.assert_consumed()
except AssertionError as error:
    print("AssertionError", str(error).split("\n")[0][:60])
