"""v1 MonitoredSession with hooks: counting, stop at a step, own hooks; Scaffold; coordinator-free input."""
import tensorflow as tf

v1 = tf.compat.v1


class Recorder(v1.train.SessionRunHook):
    def __init__(self, tensor):
        self.tensor, self.values = tensor, []

    def begin(self):
        print("begin")

    def after_create_session(self, session, coord):
        print("created")

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self.tensor)

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))

    def end(self, session):
        print("end", session.run(self.tensor) >= 0)


with tf.Graph().as_default():
    step = v1.train.get_or_create_global_step()
    w = v1.get_variable("w", initializer=0.0)
    loss = (w - 3.0) ** 2
    op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    recorder = Recorder(loss)
    with v1.train.MonitoredSession(hooks=[recorder, v1.train.StopAtStepHook(last_step=6)]) as sess:
        while not sess.should_stop():
            sess.run(op)
    print(len(recorder.values), [round(x, 4) for x in recorder.values])

with tf.Graph().as_default():
    v = v1.get_variable("v", initializer=1.0)
    step = v1.train.create_global_step()
    inc = v1.assign_add(step, 1)
    scaffold = v1.train.Scaffold(init_op=v1.global_variables_initializer(),
                                 init_fn=lambda scaffold, session: print("init_fn"))
    with v1.train.MonitoredTrainingSession(hooks=[v1.train.StopAtStepHook(num_steps=3)], scaffold=scaffold) as sess:
        while not sess.should_stop():
            print(sess.run([inc, v]))

with tf.Graph().as_default():
    data = v1.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 10)
    iterator = v1.data.make_one_shot_iterator(data)
    element = iterator.get_next()
    with v1.Session() as sess:
        try:
            while True:
                print(sess.run(element), end=" ")
        except tf.errors.OutOfRangeError:
            print("done")
    limit = v1.placeholder(tf.int64, [])
    initializable = v1.data.make_initializable_iterator(v1.data.Dataset.range(limit).batch(2))
    batch = initializable.get_next()
    with v1.Session() as sess:
        for n in (3, 2):
            sess.run(initializable.initializer, {limit: n})
            try:
                while True:
                    print(sess.run(batch), end=" ")
            except tf.errors.OutOfRangeError:
                print("end of", n)
    print(v1.data.get_output_types(data), v1.data.get_output_shapes(data))
hook = v1.train.LoggingTensorHook({"x": "y"}, every_n_iter=5)
print(isinstance(hook, v1.train.SessionRunHook), v1.train.SessionRunArgs("a").fetches)
print(v1.Dimension(3) + 1, v1.Dimension(None) * 2, v1.Dimension(4) == 4, v1.Dimension(2).value,
      v1.dimension_value(v1.Dimension(7)), repr(v1.Dimension(5)))
