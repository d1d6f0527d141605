# Default names of variable scopes that are entered again, and templates.
import tensorflow as tf
v1=tf.compat.v1
def net(n=2):
    out=[]
    for _ in range(n):
        with v1.variable_scope(None, default_name='dense') as s:
            out.append((s.name, v1.get_variable('k',[1]).name))
    return out
def show(label):
    with v1.variable_scope('a') as a: print(label, net())
    with v1.variable_scope(a, reuse=True): print(label, net())
    with v1.variable_scope('a', reuse=True): print(label, net())
    t=v1.make_template('tt', net)
    print(label, t()); print(label, t())
    t2=v1.make_template('tt', net, create_scope_now_=True)
    print(label, t2()); print(label, t2())
    @tf.function
    def f():
        print(label,'fn', t2()); return 0
    f()
with tf.Graph().as_default(): show('graph')
try: show('eager')
except Exception as e: print(type(e),e)
t=v1.make_template('un', lambda x: x*v1.get_variable('w',[2],initializer=v1.ones_initializer()))
print(t(2.0).numpy(), [v.name for v in t.variables], [v.name for v in t.trainable_variables], len(t.local_variables))
t.variables[0].assign([3.,4.]); print(t(2.0).numpy(), len(t.variables))
u=v1.make_template('un', lambda x: x*v1.get_variable('w',[2],initializer=v1.ones_initializer()))
print(u(1.0).numpy(), [v.name for v in u.variables])
with tf.GradientTape() as tape: y=tf.reduce_sum(t(2.0))
print(tape.gradient(y,t.variables)[0].numpy())
with tf.Graph().as_default(), v1.variable_scope("c") as vs:
    vs.set_caching_device(lambda op: op.device)
    print(callable(vs.caching_device))
def dummy():
    return v1.get_variable("dummy", shape=[1], initializer=v1.zeros_initializer())


def nested():
    one, two = v1.make_template("nested", dummy), v1.make_template("nested", dummy)
    a, b = one(), two()
    print(a is b, len(one.variables), one.variables[0] is a, len(two.trainable_variables), len(two.non_trainable_variables))
    return a, b


outer = v1.make_template("s1", nested)
first, again = outer(), outer()
print([v.name for v in outer.variables], first[0] is again[0], first[1] is again[1], len(outer.weights))
