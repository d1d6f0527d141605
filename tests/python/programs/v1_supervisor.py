"""Supervisors and session managers: restored, initialised, not ready."""

import glob
import os
import tempfile

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.logging.set_verbosity(tf.logging.ERROR)
folder = tempfile.mkdtemp()
for run in range(2):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=3.0)
        local = tf.get_local_variable("l", initializer=1.0)
        tf.summary.scalar("w", w)
        train = tf.group(tf.assign_sub(w, 0.5), tf.assign_add(step, 1))
        supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
        with supervisor.managed_session() as session:
            print(run, session.run([step, w, local]))
            while not supervisor.should_stop():
                session.run(train)
                if session.run(step) >= 3 * (run + 1):
                    supervisor.request_stop()
            supervisor.summary_computed(session, session.run(supervisor.summary_op))
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
        print(supervisor.is_chief, supervisor.global_step.name, supervisor.save_path == os.path.join(folder, "model.ckpt"))
print(tf.train.latest_checkpoint(folder).removeprefix(folder))
print(sorted(os.path.basename(p) for p in glob.glob(folder + "/*") if "events" not in p and ".data" not in p))
kinds = []
for path in sorted(glob.glob(folder + "/events*"), key=os.path.getmtime)[-1:]:
    for event in tf.train.summary_iterator(path):
        kinds.append((event.WhichOneof("what"), event.step, event.session_log.status))
print([k for k in kinds if k[0] != "file_version"])
with tf.Graph().as_default():
    v = tf.get_variable("v", initializer=1)
    u = tf.get_variable("u", initializer=2)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    for call in (lambda: manager.prepare_session(""), lambda: manager.prepare_session("", init_op=v.initializer)):
        try:
            call()
        except RuntimeError as e:
            print(str(e).split("error:")[-1][:90])
    session = manager.prepare_session("", init_op=tf.global_variables_initializer(), init_fn=lambda s: print("called", s.run(v)))
    print(session.run([v, u]), manager.recover_session("")[1])
with tf.Graph().as_default():
    w = tf.get_variable("w", initializer=100.0)
    x = tf.get_variable("x", initializer=5.0)
    tf.train.warm_start(folder, "w")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        print(session.run([w, x]))


def fail(session):
    raise ValueError("of the program")


with tf.Graph().as_default():
    tf.train.get_or_create_global_step()
    try:
        tf.train.basic_train_loop(tf.train.Supervisor(logdir=tempfile.mkdtemp()), fail)
    except ValueError as e:
        print("raised", e)
