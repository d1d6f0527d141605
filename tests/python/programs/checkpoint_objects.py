"""What can be in a checkpoint: generators, iterators, tables of numbers, shared objects, several names."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
shared = tf.Variable([1.0, 2.0], name="shared")
generator = tf.random.Generator.from_seed(11)
before = generator.normal([2]).numpy()
ckpt = tf.train.Checkpoint(one=shared, two=shared, rng=generator)
path = ckpt.save(os.path.join(folder, "m"))
expected = generator.normal([2]).numpy()
print(tf.train.list_variables(path))
ckpt.restore(path)
print((generator.normal([2]).numpy() == expected).all())

dataset = tf.data.Dataset.range(20).shuffle(5, seed=3).batch(2)
iterator = iter(dataset)
print([next(iterator).numpy().tolist() for _ in range(3)])
ckpt = tf.train.Checkpoint(it=iterator)
path = ckpt.save(os.path.join(folder, "it"))
rest = [b.numpy().tolist() for b in iterator]
ckpt.restore(path)
print(rest == [b.numpy().tolist() for b in iterator])


class Holder(tf.train.Checkpoint):
    pass


class Tree(tf.Module):
    def __init__(self, depth):
        super().__init__()
        self.value = tf.Variable(float(depth))
        if depth:
            self.left, self.right = Tree(depth - 1), Tree(depth - 1)


tree = Tree(2)
path = tf.train.Checkpoint(tree=tree).write(os.path.join(folder, "tree"))
for name, shape in tf.train.list_variables(path):
    print(name, shape)
other = Tree(2)
for v in other.variables:
    v.assign(-1.0)
tf.train.Checkpoint(tree=other).read(path).assert_consumed()
print([v.numpy() for v in other.variables])
for dtype in (tf.float16, tf.bfloat16, tf.int8, tf.uint64, tf.complex64, tf.bool, tf.string):
    v = tf.Variable(tf.cast([0, 1], dtype) if dtype != tf.string else tf.constant(["a", "bc"]))
    p = tf.train.Checkpoint(v=v).write(os.path.join(folder, dtype.name))
    value = tf.train.load_variable(p, "v/.ATTRIBUTES/VARIABLE_VALUE")
    print(dtype.name, value, value.dtype)
options = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
print(os.path.basename(tf.train.Checkpoint(v=tf.Variable(1)).save(os.path.join(folder, "o"), options=options)))
try:
    tf.train.Checkpoint(5)
except Exception as e:
    print(type(e).__name__)
