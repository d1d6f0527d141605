"""tf.train.CheckpointManager and tf.compat.v1.train.Checkpoint in graphs of version 1."""

import os
import tempfile

import tensorflow as tf

v1 = tf.compat.v1
folder = tempfile.mkdtemp()


def where(path):
    return None if path is None else os.path.relpath(path, folder)


with tf.Graph().as_default(), v1.Session() as session:
    v = tf.Variable([1.0, 2.0], name="v")
    step = tf.Variable(0, dtype=tf.int64, name="step")
    session.run(v1.global_variables_initializer())
    checkpoint = tf.train.Checkpoint(v=v, step=step)
    manager = tf.train.CheckpointManager(checkpoint, os.path.join(folder, "managed"), max_to_keep=2)
    print(where(manager.latest_checkpoint))
    add = [v.assign_add([1.0, 1.0]), step.assign_add(10)]
    for _ in range(3):
        session.run(add)
        print(where(manager.save()), [where(p) for p in manager.checkpoints])
    print(where(manager.save(checkpoint_number=step)), where(manager.save(checkpoint_number=77)))
    print(session.run([checkpoint.save_counter, step]))
    session.run(v.assign([0.0, 0.0]))
    status = checkpoint.restore(manager.latest_checkpoint)
    status.assert_consumed().run_restore_ops()
    print(session.run(v))

    old = v1.train.Checkpoint(v=v)
    print(where(old.save(os.path.join(folder, "old"), session=session)), where(old.write(os.path.join(folder, "written"), session)))
    print([n for n, _ in tf.train.list_variables(folder)])
    session.run(v.assign([9.0, 9.0]))
    old.restore(os.path.join(folder, "written")).run_restore_ops(session)
    print(session.run(v))
    old.restore(os.path.join(folder, "old-1")).initialize_or_restore(session)
    print(session.run([v, old.save_counter]))

    # As soon as there is something to restore.
    late = tf.train.Checkpoint()
    status = late.restore(os.path.join(folder, "old-1"))
    tf.__internal__.tracking.streaming_restore(status, session)
    late.v = tf.Variable([0.0, 0.0], name="late")
    print(session.run(late.v))

with tf.Graph().as_default(), v1.Session() as session:
    v, step = tf.Variable([0.0, 0.0]), tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v, step=step), os.path.join(folder, "managed"), max_to_keep=2)
    status = manager._checkpoint.restore(manager.latest_checkpoint)
    status.initialize_or_restore()
    print(where(manager.latest_checkpoint), session.run([v, step]))
    # Nodes of the graph are made once.
    manager.save()
    session.graph.finalize()
    print(where(manager.save()))

# In a function, the file is written when it is called.
v = tf.Variable(3.0)
checkpoint = tf.train.Checkpoint(v=v)


@tf.function
def write(path):
    return checkpoint.write(path)


path = write(tf.constant(os.path.join(folder, "function")))
v.assign(4.0)
checkpoint.read(os.path.join(folder, "function"))
print(v.numpy(), type(path).__name__)
