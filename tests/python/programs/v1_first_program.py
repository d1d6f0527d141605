"""The first program of version 1: constants, a session, a placeholder, a variable."""
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
print(tf.executing_eagerly())
a = tf.constant(2)
b = tf.constant(3)
c = a + b
print(c)
with tf.Session() as sess:
    print(sess.run(c))
    print(sess.run([a, b, c]))
x = tf.placeholder(tf.float32, shape=(None,))
y = tf.reduce_sum(x * 2.0)
state = tf.Variable(0, name="counter")
update = tf.assign(state, state + 1)
W = tf.get_variable("W", shape=[2, 1], initializer=tf.ones_initializer())
product = tf.matmul([[1.0, 2.0]], W)
init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    print(sess.run(y, feed_dict={x: [1.0, 2.0, 3.0]}))
    for _ in range(3):
        print(sess.run(update))
    print(sess.run(state), sess.run(product))
    print(product.eval(), sess.run(W))
print([v.name for v in tf.global_variables()])
X = tf.placeholder(tf.float32)
Y = tf.placeholder(tf.float32)
w = tf.Variable(0.0, name="w")
loss = tf.reduce_mean(tf.square(X * w - Y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        _, l = sess.run([train, loss], {X: [1.0, 2.0, 3.0], Y: [2.0, 4.0, 6.0]})
        if step % 3 == 0:
            print(step, l)
    print(sess.run(w))
print(tf.get_default_graph().get_tensor_by_name("counter:0").dtype, tf.shape(W), W)
