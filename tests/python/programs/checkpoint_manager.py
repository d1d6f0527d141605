"""CheckpointManager: numbered checkpoints, how many are kept, restore_or_initialize, training that goes on."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()


def names(paths):
    return [os.path.basename(p) for p in paths]


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.w, self.b = tf.Variable(0.0), tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def train(steps):
    net, step = Line(), tf.Variable(0)
    data = tf.data.Dataset.from_tensor_slices([0.0, 1.0, 2.0, 3.0, 4.0]).repeat()
    iterator = iter(data)
    ckpt = tf.train.Checkpoint(step=step, net=net, iterator=iterator)
    manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3)
    ckpt.restore(manager.latest_checkpoint)
    print("Restored from", os.path.basename(manager.latest_checkpoint) if manager.latest_checkpoint else "scratch")
    for _ in range(steps):
        x = next(iterator)
        with tf.GradientTape() as tape:
            loss = (net(x) - (5.0 * x + 1.0)) ** 2
        for v, g in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
            v.assign_sub(0.02 * g)
        step.assign_add(1)
        if int(step) % 5 == 0:
            path = manager.save()
            print("step", int(step), "x", x.numpy(), "loss", loss.numpy(), os.path.basename(path))
    print(names(manager.checkpoints))
    return net


net = train(22)
print(net.w.numpy(), net.b.numpy())
net = train(22)
print(net.w.numpy(), net.b.numpy())
print(sorted(n for n in os.listdir(folder) if n.endswith(".index")))
print(sorted(tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths) == sorted(
    os.path.join(folder, n[:-6]) for n in os.listdir(folder) if n.endswith(".index")))

other = tempfile.mkdtemp()
v = tf.Variable(1.0)
manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), other, max_to_keep=2, checkpoint_name="model",
                                     step_counter=tf.Variable(40), init_fn=lambda: print("init"))
print(manager.restore_or_initialize(), manager.latest_checkpoint, manager.checkpoint_interval)
print(names([manager.save(), manager.save(checkpoint_number=99), manager.save()]))
print(names(manager.checkpoints), os.path.basename(manager.restore_or_initialize()), manager.directory == other)
try:
    tf.train.CheckpointManager(tf.train.Checkpoint(v=v), other, max_to_keep=0)
except ValueError as e:
    print(e)
