"""Two virtual CPUs by the older names; replicas by hand: copies of variables, gradients added up over devices."""
import tensorflow as tf

cpus = tf.config.experimental.list_physical_devices("CPU")
tf.config.experimental.set_virtual_device_configuration(
    cpus[0], [tf.config.experimental.VirtualDeviceConfiguration(), tf.config.experimental.VirtualDeviceConfiguration()])
logical_cpus = tf.config.experimental.list_logical_devices("CPU")
print(len(cpus), "Physical CPU,", len(logical_cpus), "Logical CPUs")
print(tf.config.experimental.get_virtual_device_configuration(cpus[0]))
tf.debugging.set_log_device_placement(False)

data = tf.constant([[1.0], [2.0], [3.0], [4.0]])
target = 2.0 * data + 1.0
shards = []
for i, device in enumerate(logical_cpus):
    with tf.device(device.name):
        w, b = tf.Variable(0.0), tf.Variable(0.0)
        shards.append((device.name, w, b, data[2 * i:2 * i + 2], target[2 * i:2 * i + 2]))
print([(name, w.device) for name, w, *_ in shards])


@tf.function
def replica_gradient(w, b, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * x + b - y) ** 2)
    return loss, tape.gradient(loss, [w, b])


for step in range(20):
    results = []
    for name, w, b, x, y in shards:
        with tf.device(name):
            results.append(replica_gradient(w, b, x, y))
    with tf.device("CPU:0"):
        mean = [tf.add_n([r[1][k] for r in results]) / 2.0 for k in range(2)]
    for name, w, b, *_ in shards:
        with tf.device(name):
            w.assign_sub(0.1 * mean[0])
            b.assign_sub(0.1 * mean[1])
    if step % 5 == 4:
        print(step, [round(float(r[0]), 4) for r in results])
print([(round(float(w), 3), round(float(b), 3)) for _, w, b, *_ in shards])
c = []
for d in tf.config.list_logical_devices("CPU"):
    with tf.device(d.name):
        c.append(tf.matmul(data, data, transpose_a=True))
with tf.device("/CPU:0"):
    matmul_sum = tf.add_n(c)
print(matmul_sum, matmul_sum.device, [t.device[-5:] for t in c])
try:
    tf.config.set_logical_device_configuration(cpus[0], [])
except RuntimeError as e:
    print(e)
