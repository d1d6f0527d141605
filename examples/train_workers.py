"""Workers that train together: `weft launch -n 2 python examples/train_workers.py`, or one process alone."""

import weft as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    w = tf.Variable([0.0, 0.0])


@tf.function
def step(batch):
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.linalg.matvec(x, w) - y) ** 2) / 8
        (g,) = tf.distribute.get_replica_context().all_reduce("SUM", [tape.gradient(loss, w)])
        w.assign_sub(0.1 * g)
        return loss

    return strategy.reduce("SUM", strategy.run(replica, args=batch), axis=None)


x = tf.random.stateless_normal([64, 2], [1, 2])
data = tf.data.Dataset.from_tensor_slices((x, tf.linalg.matvec(x, [2.0, -3.0]))).batch(8)
for _ in range(20):
    for batch in strategy.experimental_distribute_dataset(data):  # each worker gets its part of every batch
        loss = step(batch)
print(float(loss), w.numpy())
