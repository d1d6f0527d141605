"""Modules and checkpoints, part 2."""

import numpy as np
import tensorflow as tf
from calls import show, shown

import os, tempfile

d = tempfile.mkdtemp()


class M(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.w = tf.Variable([1.0, 2.0], name="w")
        self.l = [tf.Variable(1.0), tf.Variable(2.0)]
        self.d = {"a": tf.Variable(3.0), "b": {"c": tf.Variable(4.0)}}
        self.t = (tf.Variable(5.0),)
        self.sub = None

    @tf.Module.with_name_scope
    def call(self, x):
        v = tf.Variable(1.0, name="inner")
        return v.name

    @tf.function
    def f(self, x):
        return x * self.w


m = M()
ck = tf.train.Checkpoint(model=m, step=tf.Variable(1), opt=[tf.Variable(7.0)])
p = ck.save(os.path.join(d, "ck"))
mgr = tf.train.CheckpointManager(ck, os.path.join(d, "mgr"), max_to_keep=2)
show(lambda: mgr)
show(lambda: [os.path.basename(mgr.save()) for _ in range(3)])
show(lambda: [os.path.basename(c) for c in mgr.checkpoints])
show(lambda: os.path.basename(mgr.latest_checkpoint))
show(lambda: mgr.checkpoint_interval)
show(lambda: os.path.basename(mgr.directory))
show(lambda: mgr.restore_or_initialize() == mgr.latest_checkpoint)
show(lambda: tf.train.CheckpointManager(ck, d, max_to_keep=0))
show(lambda: tf.train.CheckpointManager(ck, d, max_to_keep=None).checkpoints == [])
show(lambda: tf.train.CheckpointManager(ck, d))
show(lambda: tf.train.CheckpointManager(3, d, 1))
show(lambda: tf.train.CheckpointManager(ck, os.path.join(d, "m2"), 1, checkpoint_interval=2))
show(
    lambda: tf.train.CheckpointManager(
        ck, os.path.join(d, "m3"), 1, step_counter=tf.Variable(0), checkpoint_interval=2
    ).save(check_interval=True)
    is not None
)
show(lambda: open(os.path.join(d, "mgr", "checkpoint")).read().count("all_model_checkpoint_paths"))
show(lambda: tf.train.checkpoints_iterator)
show(lambda: tf.train.CheckpointOptions())
show(lambda: tf.train.CheckpointOptions(experimental_io_device="/cpu:0").experimental_io_device)
show(lambda: tf.train.CheckpointOptions(foo=1))
v1 = tf.train.TrackableView(ck)
show(lambda: v1)
show(lambda: sorted(v1.children(ck)))
show(lambda: len(v1.descendants()))
cv = tf.train.CheckpointView(p)
show(lambda: cv)
show(lambda: cv.children(0))
show(lambda: cv.children(100))
show(lambda: cv.descendants())
show(lambda: cv.diff(v1))
show(lambda: cv.match(v1))
ds = tf.data.Dataset.range(10)
it = iter(ds)
show(lambda: next(it))
show(lambda: next(it))
ci = tf.train.Checkpoint(it=it)
pi = ci.save(os.path.join(d, "it"))
show(lambda: next(it))
show(lambda: ci.restore(pi))
show(lambda: next(it))


class PS(tf.train.experimental.PythonState):
    def __init__(self):
        self.x = 1

    def serialize(self):
        return str(self.x)

    def deserialize(self, s):
        self.x = int(s)


ps = PS()
cp = tf.train.Checkpoint(ps=ps)
pp = cp.save(os.path.join(d, "ps"))
show(lambda: cp.restore(pp))
show(lambda: ps.x)
g = tf.random.Generator.from_seed(1)
cg = tf.train.Checkpoint(g=g)
pg = cg.save(os.path.join(d, "g"))
a = g.normal([2])
cg.restore(pg)
print(np.array_equal(a, g.normal([2])))
tb = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
show(lambda: tb.insert(["a"], [1]))
ct = tf.train.Checkpoint(t=tb)
pt = ct.save(os.path.join(d, "t"))
with shown():
    tb.insert(["b"], [2])
    tb.size()
with shown():
    ct.restore(pt)
    tb.size()
import copy

show(lambda: copy.deepcopy(m).w is m.w)
show(lambda: copy.copy(m).w is m.w)
mm = copy.deepcopy(m)
show(lambda: [v.numpy() for v in mm.variables][:1])
ema = tf.train.ExponentialMovingAverage(0.9)
show(lambda: ema.apply([m.w]))
show(lambda: ema.average(m.w))
show(lambda: ema.average_name(m.w))
