"""Queues of sparse tensors (tf.compat.v1.train.batch and its like); an optimizer of version 1 in several graphs."""

import tensorflow as tf

v1 = tf.compat.v1


def read(make):
    with tf.Graph().as_default():
        number = v1.train.limit_epochs(tf.constant(3, tf.int64), 5)
        try:
            got = make(number)
        except Exception as error:
            print(type(error).__name__, str(error)[:40])
            return
        for part in got if isinstance(got, list) else [got]:
            print(part.shape, part.dense_shape.shape if hasattr(part, "indices") else "")
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            coordinator = v1.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            try:
                while True:
                    print(session.run(got))
            except tf.errors.OutOfRangeError:
                print("end")
            coordinator.request_stop()
            coordinator.join(threads)


def vector(number):
    return tf.SparseTensor([[0], [1]], tf.stack([number, number * 2]), [3])


def matrix(number):
    return tf.SparseTensor([[0, 0], [1, 1]], tf.stack([number, number * 2]), [2, 3])


read(lambda n: v1.train.batch([vector(n), n], 2))
read(lambda n: v1.train.batch({"x": vector(n)}, 2)["x"])
read(lambda n: v1.train.batch([vector(n)], 2, allow_smaller_final_batch=True))
read(lambda n: v1.train.maybe_batch([vector(n)], True, 2))
read(lambda n: v1.train.maybe_batch([vector(n)], tf.constant(True), 2))
read(lambda n: v1.train.batch([matrix(n)], 4, enqueue_many=True))
read(lambda n: v1.train.maybe_batch([matrix(n)], [True, False], 2, enqueue_many=True))
read(lambda n: v1.train.batch([vector(n), n], 2, shapes=[[], []]))
read(lambda n: v1.train.batch_join([[vector(n), n], [n, vector(n)]], 2))
read(lambda n: v1.train.batch_join([[tf.stack([n, n])], [n]], 2))
read(lambda n: v1.train.shuffle_batch([vector(n)], 2, 10, 1, seed=1))

adam, momentum = v1.train.AdamOptimizer(0.1), v1.train.MomentumOptimizer(0.1, 0.9)
for i in range(2):
    with tf.Graph().as_default():
        a = v1.get_variable(f"a{i}", initializer=[1.0, 2.0], use_resource=True)
        b = v1.get_variable(f"b{i}", initializer=tf.constant([1.0, 2.0], tf.float64), use_resource=True)
        loss = tf.reduce_sum(a * a)
        steps = [adam.minimize(loss, var_list=[a]), momentum.minimize(loss, var_list=[a])]
        rate = tf.constant(0.5)  # of another type than the variable
        for optimizer in (v1.train.GradientDescentOptimizer(rate), v1.train.AdagradOptimizer(rate)):
            steps.append(optimizer.apply_gradients([(tf.ones(2, tf.float64), b)]))
        print([v.name for v in adam.variables()], [v.name for v in momentum.variables()])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for step in steps:
                session.run(step)
            print(session.run([a, b]))
v = tf.Variable([1.0, 2.0])


@tf.function
def step():
    adam.apply_gradients([(tf.ones(2), v)])


step()
step()
print(v.numpy(), [x.name for x in adam.variables()])
