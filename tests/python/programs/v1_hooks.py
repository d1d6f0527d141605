"""Hooks of monitored sessions: checkpoints, summaries, the end."""

import glob
import os
import tempfile

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.logging.set_verbosity(tf.logging.ERROR)
folder = tempfile.mkdtemp()


class Told(tf.train.CheckpointSaverListener):
    def begin(self):
        print("begin")

    def before_save(self, session, global_step_value):
        print("before", global_step_value)

    def after_save(self, session, global_step_value):
        print("after", global_step_value)

    def end(self, session, global_step_value):
        print("end", global_step_value)


step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=2.0)
loss = tf.square(w)
tf.summary.scalar("loss", loss)
tf.summary.histogram("weights", [w, w])
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
hooks = [
    tf.train.CheckpointSaverHook(folder, save_steps=2, listeners=[Told()], saver=tf.train.Saver()),
    tf.train.StopAtStepHook(last_step=5),
    tf.train.NanTensorHook(loss),
]
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=folder, hooks=hooks, save_checkpoint_secs=None, save_checkpoint_steps=None, save_summaries_steps=2, log_step_count_steps=None
) as session:
    while not session.should_stop():
        session.run(train)
print(sorted(os.path.basename(p) for p in glob.glob(folder + "/*") if "events" not in p))
for path in glob.glob(folder + "/events*"):
    for event in tf.train.summary_iterator(path):
        kind = event.WhichOneof("what")
        if kind == "summary":
            print(event.step, [(v.tag, round(v.simple_value, 5), v.histo.num) for v in event.summary.value])
        elif kind == "session_log":
            print(event.step, kind, event.session_log.status)
        else:
            print(event.step, kind)
print(tf.train.latest_checkpoint(folder).removeprefix(folder))

timer = tf.train.SecondOrStepTimer(every_steps=3)
print([(s, timer.should_trigger_for_step(s)) for s in range(2)], timer.update_last_triggered_step(1), timer.should_trigger_for_step(3))
print(timer.should_trigger_for_step(4), timer.last_triggered_step())
for call in (lambda: tf.train.SecondOrStepTimer(), lambda: tf.train.SummarySaverHook(save_steps=1)):
    try:
        call()
    except ValueError as e:
        print(e)
nan = tf.placeholder(tf.float32, [])
try:
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(nan)]) as session:
        session.run(loss, {nan: float("nan")})
except tf.train.NanLossDuringTrainingError as e:
    print(type(e).__name__, e)
