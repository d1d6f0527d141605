"""Slot variables of optimizers of version 1, eagerly: saved beside the variables, restored before and after they are made."""

import os
import tempfile

import tensorflow as tf

v1 = tf.compat.v1
folder = tempfile.mkdtemp()


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.0, 2.0], name="w")
        self.b = tf.Variable(0.5, name="w")


def step(line, optimizer, times=1):
    for _ in range(times):
        optimizer.minimize(lambda: tf.reduce_sum(line.w**2) + line.b**2, var_list=[line.w, line.b])


def state(line, optimizer):
    slots = [optimizer.get_slot(v, n) for n in optimizer.get_slot_names() for v in (line.w, line.b)]
    return [v.numpy().round(5).tolist() for v in (line.w, line.b, *slots)]


MAKE = {
    "momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: v1.train.AdamOptimizer(0.1),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5),
}

for name, make in MAKE.items():
    line, optimizer = Line(), make()
    step(line, optimizer, 3)
    path = tf.train.Checkpoint(line=line, optimizer=optimizer).save(os.path.join(folder, name))
    print(name, [k.replace("/.ATTRIBUTES/VARIABLE_VALUE", "") for k, _ in tf.train.list_variables(path)])
    kept = state(line, optimizer)
    print(kept, [v.name for v in optimizer.variables()])
    step(line, optimizer, 2)
    then = state(line, optimizer)

    # With everything there.
    line, optimizer = Line(), make()
    step(line, optimizer)
    tf.train.Checkpoint(line=line, optimizer=optimizer).restore(path).assert_consumed()
    print("there", state(line, optimizer) == kept)

    # Before the optimizer made its slots.
    line, optimizer = Line(), make()
    status = tf.train.Checkpoint(line=line, optimizer=optimizer).restore(path)
    print("slots", optimizer.get_slot_names(), state(line, optimizer) == kept)
    step(line, optimizer, 2)
    status.assert_consumed()
    print("after", state(line, optimizer) == then)

    # Before the variables are there.
    root = tf.train.Checkpoint(optimizer=make())
    status = root.restore(path)
    root.line = Line()
    print("later", state(root.line, root.optimizer) == kept)
    step(root.line, root.optimizer, 2)
    print(state(root.line, root.optimizer) == then)
    status.assert_consumed()

    # Before the optimizer is there.
    root = tf.train.Checkpoint(line=Line())
    status = root.restore(path)
    root.optimizer = make()
    print("optimizer later", state(root.line, root.optimizer) == kept)

    # Made anew, again and again: the slots are those of the new ones.
    for _ in range(3):
        line = Line()
        print([len(s) if isinstance(s, list) else s for s in state(line, optimizer)] if optimizer.get_slot(line.w, optimizer.get_slot_names()[0]) else "none")
    step(line, optimizer)
    print(line.w.numpy().round(4))

# Without slots: only what the file has of the rest.
line, optimizer = Line(), v1.train.GradientDescentOptimizer(0.1)
step(line, optimizer)
checkpoint = tf.train.Checkpoint(line=line, optimizer=optimizer)
path = checkpoint.write(os.path.join(folder, "plain"))
print([k for k, _ in tf.train.list_variables(path)])
path = tf.train.Checkpoint(line=line, optimizer=MAKE["adam"]()).write(os.path.join(folder, "skipped"), tf.train.CheckpointOptions(experimental_skip_slot_variables=True))
print([k for k, _ in tf.train.list_variables(path)])

# Slots that are in the file and not wanted.
line, optimizer = Line(), MAKE["momentum"]()
step(line, optimizer, 2)
path = tf.train.Checkpoint(line=line, optimizer=optimizer).write(os.path.join(folder, "with"))
line, optimizer = Line(), MAKE["momentum"]()
status = tf.train.Checkpoint(line=line, optimizer=optimizer).read(path, tf.train.CheckpointOptions(experimental_skip_slot_variables=True))
status.assert_consumed()
print(optimizer.get_slot_names(), line.w.numpy().round(4))
