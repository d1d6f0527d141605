"""Modules and checkpoints, part 1."""

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
show(lambda: m)
show(lambda: m.name)
show(lambda: m.name_scope)
show(lambda: m.name_scope.name)
show(lambda: m.variables)
show(lambda: m.trainable_variables == m.variables)
show(lambda: len(m.submodules))
show(lambda: m.submodules)
show(lambda: m.call(1))
show(lambda: m.non_trainable_variables)
show(lambda: M(name="a b"))
show(lambda: M(name="1a"))
show(lambda: M(name="foo").name)
show(lambda: M(3))
show(lambda: m.l)
show(lambda: m.d)
show(lambda: m.t)
show(lambda: type(m.l))
show(lambda: type(m.d))
show(lambda: type(m.t))
with shown():
    m.l.append(tf.Variable(9.0))
    len(m.variables)
show(lambda: m.l + [1])
show(lambda: m.l[0])
show(lambda: m.l[-1])
show(lambda: len(m.l))
show(lambda: m.l == m.l)
show(lambda: sorted(m.d))
show(lambda: m.d.keys())
show(lambda: m.foo)
show(lambda: [v.name for v in m.variables])
ck = tf.train.Checkpoint(model=m, step=tf.Variable(1), opt=[tf.Variable(7.0)])
show(lambda: ck)
p = ck.save(os.path.join(d, "ck"))
show(lambda: os.path.basename(p))
show(lambda: ck.save_counter)
show(lambda: sorted(os.listdir(d)))
show(lambda: tf.train.latest_checkpoint(d) == p)
show(lambda: tf.train.latest_checkpoint("nonexistent"))
show(lambda: [(n, s) for n, s in tf.train.list_variables(p)])
show(lambda: tf.train.load_variable(p, "step/.ATTRIBUTES/VARIABLE_VALUE"))
show(lambda: tf.train.load_variable(p, "nope"))
r = tf.train.load_checkpoint(p)
show(lambda: r.get_variable_to_shape_map()["step/.ATTRIBUTES/VARIABLE_VALUE"])
show(lambda: r.has_tensor("nope"))
show(lambda: r.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE"))
show(lambda: r.get_variable_to_dtype_map()["step/.ATTRIBUTES/VARIABLE_VALUE"])
show(lambda: r.get_tensor("nope"))
show(lambda: print(r.debug_string().decode().splitlines()[0][:20]))
st = ck.restore(p)
show(lambda: st)
show(lambda: st.assert_consumed())
show(lambda: st.assert_existing_objects_matched())
show(lambda: st.assert_nontrivial_match())
show(lambda: st.expect_partial())
show(lambda: st.initialize_or_restore())
show(lambda: st.run_restore_ops())
c2 = tf.train.Checkpoint(step=tf.Variable(0), other=tf.Variable(0.0))
s2 = c2.restore(p)
show(lambda: s2.assert_consumed())
show(lambda: s2.assert_existing_objects_matched())
show(lambda: s2.assert_nontrivial_match())
show(lambda: s2.expect_partial())
c3 = tf.train.Checkpoint(nothing=tf.Variable(0))
show(lambda: c3.restore(p).assert_nontrivial_match())
show(lambda: c3.restore(p).assert_consumed())
c4 = tf.train.Checkpoint(step=tf.Variable([1, 2]))
show(lambda: c4.restore(p))
show(lambda: ck.restore(None))
show(lambda: ck.restore(None).assert_consumed())
show(lambda: ck.restore(""))
show(lambda: ck.restore(3))
show(lambda: ck.read(p))
show(lambda: ck.write(os.path.join(d, "w")) == os.path.join(d, "w"))
show(lambda: tf.train.Checkpoint(a=3))
show(lambda: tf.train.Checkpoint(a="x"))
show(lambda: tf.train.Checkpoint(a=lambda: 1))
show(lambda: tf.train.Checkpoint(a=None))
show(lambda: tf.train.Checkpoint(a=[1, 2]).a)
show(lambda: tf.train.Checkpoint(3))
show(lambda: tf.train.Checkpoint(m).root if hasattr(tf.train.Checkpoint(m), "root") else None)
show(lambda: ck.step)
show(lambda: ck.model is m)
show(lambda: ck.foo)
late = tf.train.Checkpoint()
ls = late.restore(p)
show(lambda: late.step)
show(lambda: late.opt)
show(lambda: ls.assert_consumed())
