"""tf.train.Checkpoint in graphs of version 1, and files by name (Saver) read as objects and the reverse."""

import os
import tempfile

import tensorflow as tf

v1 = tf.compat.v1
folder = tempfile.mkdtemp()


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        text = str(error).replace(folder, "FOLDER").split("\n")[0]
        print(what, type(error).__name__, text[:90])


def where(path):
    return os.path.relpath(path, folder)


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.0, 2.0], name="w")
        self.b = tf.Variable(0.5, name="b")


# ---- saving and restoring with a session
with tf.Graph().as_default():
    line = Line()
    step = v1.train.get_or_create_global_step()
    checkpoint = tf.train.Checkpoint(line=line, step=step)
    attempt("no session", lambda: checkpoint.write(os.path.join(folder, "none")))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run([line.w.assign([3.0, 4.0]), line.b.assign(1.5), step.assign(7)])
        first = checkpoint.save(os.path.join(folder, "graph"))
        session.run(line.b.assign_add(1.0))
        second = checkpoint.save(os.path.join(folder, "graph"))
        print(where(first), where(second), where(tf.train.latest_checkpoint(folder)))
        print(isinstance(checkpoint.save_counter, tf.Variable), session.run(checkpoint.save_counter))
        print(where(checkpoint.write(os.path.join(folder, "written"))))
        nodes = len(session.graph.get_operations())
        checkpoint.save(os.path.join(folder, "graph"))
        print("nodes added:", len(session.graph.get_operations()) - nodes)
        status = checkpoint.restore(first)
        print("before", session.run(line.b))
        status.assert_consumed().run_restore_ops()
        print("after", session.run([line.w, line.b, step, checkpoint.save_counter]))
        checkpoint.restore(second).assert_existing_objects_matched().initialize_or_restore(session)
        print("second", session.run([line.b, checkpoint.save_counter]))
print(tf.train.list_variables(first))

# ---- before the variables are there; with some that the file does not have
with tf.Graph().as_default():
    root = tf.train.Checkpoint()
    status = root.restore(second)
    root.line = Line()
    root.line.extra = tf.Variable(9.0, name="extra")
    with v1.Session() as session:
        status.initialize_or_restore()
        print(session.run([root.line.w, root.line.b, root.line.extra]))
        attempt("consumed", lambda: status.assert_consumed())
        root.step = tf.Variable(0, dtype=tf.int64)
        status.run_restore_ops()
        print(session.run(root.step))
    with v1.Session() as session:
        status = root.restore(None)
        attempt("nothing", lambda: status.run_restore_ops(session))
        attempt("nothing", lambda: status.assert_consumed())
        status.initialize_or_restore(session)
        print(session.run([root.line.w, root.line.b]))

# ---- what a graph wrote is read eagerly, and the reverse
line = Line()
tf.train.Checkpoint(line=line).restore(second).expect_partial()
print("eager", line.w.numpy(), line.b.numpy())
line.b.assign(8.0)
path = tf.train.Checkpoint(line=line).save(os.path.join(folder, "eager"))
with tf.Graph().as_default(), v1.Session() as session:
    again = Line()
    tf.train.Checkpoint(line=again).restore(path).initialize_or_restore(session)
    print("graph", session.run([again.w, again.b]))

# ---- optimisers of version 1: slots and other variables
with tf.Graph().as_default(), v1.Session() as session:
    v = tf.Variable([1.0, 1.0], name="v")
    optimizer = v1.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v])
    checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer)
    session.run(v1.global_variables_initializer())
    session.run([train, train])
    session.run(train)
    path = checkpoint.save(os.path.join(folder, "adam"))
    print([name for name, _ in tf.train.list_variables(path)])
    kept = session.run([v, optimizer.get_slot(v, "m"), optimizer.get_slot(v, "v"), *optimizer.variables()])
with tf.Graph().as_default(), v1.Session() as session:
    v = tf.Variable([0.0, 0.0], name="v")
    optimizer = v1.train.AdamOptimizer(0.1)
    checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer)
    status = checkpoint.restore(path)
    train = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v])
    status.assert_consumed().initialize_or_restore()
    got = session.run([v, optimizer.get_slot(v, "m"), optimizer.get_slot(v, "v"), *optimizer.variables()])
    print([(a == b).all() for a, b in zip(kept, got)])
    session.run(train)
    print(session.run(v))

# ---- files by name, read as objects
with tf.Graph().as_default(), v1.Session() as session:
    w, b = tf.Variable([5.0, 6.0], name="w"), tf.Variable(7.0, name="b")
    session.run(v1.global_variables_initializer())
    named = v1.train.Saver().save(session, os.path.join(folder, "named"))
line = Line()
status = tf.train.Checkpoint(line=line).restore(named)
print("by name", type(status).__name__, line.w.numpy(), line.b.numpy())
attempt("consumed", lambda: type(status.assert_consumed()).__name__)
attempt("matched", lambda: type(status.assert_nontrivial_match()).__name__)
status.run_restore_ops()
line.c = tf.Variable(1.0, name="c")
attempt("consumed", lambda: type(status.assert_consumed()).__name__)
later = tf.train.Checkpoint()
later.restore(named)
later.line = Line()
print("later", later.line.w.numpy(), later.line.b.numpy())
with tf.Graph().as_default(), v1.Session() as session:
    line = Line()
    status = tf.train.Checkpoint(line=line).read(named)
    status.run_restore_ops(session)
    print("by name in a graph", session.run([line.w, line.b]))

# ---- files of objects, read by name
with tf.Graph().as_default(), v1.Session() as session:
    line = Line()
    saver = v1.train.Saver()
    saver.restore(session, path=None) if False else saver.restore(session, second)
    print("objects by name", session.run([line.w, line.b]))
    attempt("again", lambda: saver.restore(session, first))
    print(session.run([line.w, line.b]))
with tf.Graph().as_default(), v1.Session() as session:
    other = tf.Variable(1.0, name="unknown")
    attempt("missing", lambda: v1.train.Saver().restore(session, second))
line = Line()
v1.train.Saver([line.w, line.b]).restore(None, second)
print("eager by name", line.w.numpy(), line.b.numpy())
