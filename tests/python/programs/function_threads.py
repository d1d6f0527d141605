"""One function called from many threads; variables updated under it; datasets in threads; results in order."""
import concurrent.futures
import threading
import tensorflow as tf

counter = tf.Variable(0)
traces = []


@tf.function
def work(x):
    traces.append(1)
    counter.assign_add(1)
    total = tf.constant(0.0)
    for i in tf.range(20):
        total += tf.cast(i, tf.float32) * x
    return total


work(tf.constant(0.0))
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    results = list(pool.map(lambda i: work(tf.constant(float(i))).numpy(), range(40)))
print(results[:5], len(results), counter.numpy(), len(traces), work.experimental_get_tracing_count())


def tape_in_thread(i, out):
    v = tf.Variable(float(i))
    with tf.GradientTape() as tape:
        y = v**3
    out[i] = tape.gradient(y, v).numpy()


out = {}
threads = [threading.Thread(target=tape_in_thread, args=(i, out)) for i in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(out.items()))
with tf.GradientTape() as tape:
    x = tf.Variable(2.0)
    result = []
    t = threading.Thread(target=lambda: result.append(x * 3.0))
    t.start()
    t.join()
    y = result[0] * 1.0
print(tape.gradient(y, x))
seen = []


def device_in_thread():
    seen.append((tf.executing_eagerly(), tf.constant(1).device.split("/")[-1]))


with tf.Graph().as_default():
    t = threading.Thread(target=device_in_thread)
    t.start()
    t.join()
print(seen)
lock = threading.Lock()
total = tf.Variable(0)


def add(n):
    for _ in range(n):
        with lock:
            total.assign_add(1)


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(add, [25] * 4))
print(total.numpy())
it = iter(tf.data.Dataset.range(100))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    values = list(pool.map(lambda _: int(next(it)), range(100)))
print(sorted(values) == list(range(100)))
