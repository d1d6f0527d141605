# Every graph has name scopes of its own, which hold while another graph is the default; sessions that feed tensors with tensors.
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

g=tf.Graph()
with g.as_default():
    with tf.name_scope('a'):
        with g.as_default():
            print(tf.constant(1.0).name)
            with tf.name_scope('b'):
                print(tf.constant(1.0).name)
        g2=tf.Graph()
        with g2.as_default():
            print(tf.constant(1.0).name)
            with tf.name_scope('c'):
                print(tf.constant(1.0).name)
                with g.as_default():
                    print(tf.constant(1.0).name, tf.get_current_name_scope(), g2.get_name_scope(), g.get_name_scope())
                    with tf.name_scope('d'):
                        print(tf.constant(1.0).name, g2.get_name_scope())
                        with tf.init_scope(): print(tf.get_current_name_scope(), tf.executing_eagerly())
                    with tf.name_scope('d/'):
                        print(tf.constant(1.0).name)
                print(tf.constant(1.0).name)
        print(tf.constant(1.0).name)
    print(tf.constant(1.0).name)
    with tf.compat.v1.variable_scope('vs'):
        with g.as_default():
            print(tf.compat.v1.get_variable('x',[]).name, tf.constant(1.0).name)
with g.as_default(): print(tf.constant(1.0).name)
cm=g.as_default()
with g.name_scope('out'):
    with cm: print(tf.constant(1.0).name)
with g2.as_default(), g.name_scope('out'):
    print(tf.constant(1.0).name)
    with g.as_default(): print(tf.constant(1.0).name)
@tf.function
def f():
    q=tf.compat.v1.get_default_graph()
    with tf.name_scope('z'):
        with q.as_default():
            with tf.name_scope('y'):
                print(tf.constant(1.0).name)
                return tf.add(1.0,2.0,name='w')
print([n.name for n in f.get_concrete_function().graph.get_operations()])
with tf.name_scope('eager'):
    with g.as_default(): print(tf.constant(1.0).name)
    print(tf.get_current_name_scope())

with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
    y = tf.compat.v1.placeholder(tf.float32, [2], name="y")
    v = tf.compat.v1.Variable(0.0, name="v")
    n = v.assign_add(1.0)
    with tf.control_dependencies([n]):
        src = tf.identity(y * 10, name="src")
    z = tf.add(x, y, name="z")
    both = tf.stack([src, x], name="both")
    up = tf.group(v.assign_add(100.0), name="up")
    s = tf.compat.v1.Session()
    s.run(tf.compat.v1.global_variables_initializer())
    o = config_pb2.CallableOptions(feed=["y:0"], fetch=["z:0", "both:0"], target=["up"])
    c = o.tensor_connection.add()
    c.from_tensor, c.to_tensor = "src:0", "x:0"
    f = s._make_callable_from_options(o)
    print([r.tolist() for r in f(np.array([1.0, 2.0], np.float32))])
    print([r.tolist() for r in f(np.array([3.0, 2.0], np.float32))], s.run(v))
