"""tf.summary writers, steps and traces, what files appear; profiler calls that leave a folder."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
writer = tf.summary.create_file_writer(folder)
print(tf.summary.experimental.get_step(), tf.summary.should_record_summaries())
with writer.as_default():
    print(tf.summary.should_record_summaries())
    for step in range(3):
        print(tf.summary.write("loss", 1.0 / (step + 1), step=step))
    tf.summary.experimental.set_step(10)
    print(tf.summary.experimental.get_step(), tf.summary.write("vector", tf.range(3)))
    with tf.summary.record_if(False):
        print(tf.summary.write("skipped", 1.0), tf.summary.should_record_summaries())
    with tf.summary.experimental.summary_scope("outer") as (tag, scope):
        print(tag)
writer.flush()
names = os.listdir(folder)
print(len(names), names[0].startswith("events.out.tfevents."))


def events():
    for record in tf.data.TFRecordDataset([os.path.join(folder, names[0])]):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            yield event.step, value.tag, tf.make_ndarray(value.tensor).tolist()


for event in events():
    print(event)


@tf.function
def train(step):
    with writer.as_default():
        tf.summary.write("inside", tf.cast(step, tf.float32) * 2.0, step=tf.cast(step, tf.int64))
    return step + 1


train(tf.constant(1))
train(tf.constant(2))
writer.close()
print(list(events())[-2:])
no = tf.summary.create_noop_writer()
with no.as_default():
    print(tf.summary.write("x", 1.0, step=0))
traced = tf.summary.create_file_writer(os.path.join(folder, "trace"))
tf.summary.trace_on(graph=True, profiler=False)
train_graph = tf.function(lambda x: x * 2.0)
train_graph(tf.constant(1.0))
with traced.as_default():
    tf.summary.trace_export("graph", step=0)
traced.close()
print(len(os.listdir(os.path.join(folder, "trace"))))
try:
    with writer.as_default():
        pass
    print("reopened")
except RuntimeError as e:
    print(type(e).__name__, str(e).endswith("is already closed"))
tf.profiler.experimental.start(os.path.join(folder, "profile"))
tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
with tf.profiler.experimental.Trace("step", step_num=1):
    tf.add(1, 2)
tf.profiler.experimental.stop()
print(sorted(os.listdir(os.path.join(folder, "profile"))))
