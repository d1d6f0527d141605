"""References in graphs: loops over a variable, choosing one of several, closing arrays, tables, placeholders of version 2."""
import tensorflow as tf

tf1, raw = tf.compat.v1, tf.raw_ops


def show(label, build, producer=None, feed=None):
    with tf1.Graph().as_default():
        if producer:
            old = tf1.GraphDef()
            old.versions.producer = producer
            tf.import_graph_def(old, name="")
        try:
            made = build()
            with tf1.Session() as session:
                for step in made:
                    value = session.run(step)
                    print(label, value.tolist() if hasattr(value, "tolist") else value)
        except (ValueError, TypeError, NotImplementedError, tf.errors.OpError) as e:
            print(label, type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])


def variable(value, name):
    v = raw.VariableV2(shape=[2], dtype=tf.float32, name=name)
    return v, raw.Assign(ref=v, value=value)


def select():
    a, set_a = variable([1.0, 2.0], "a")
    b, set_b = variable([3.0, 4.0], "b")
    chosen = raw.RefSelect(index=1, inputs=[a, b])
    return [set_a.op, set_b.op, chosen, raw.Assign(ref=chosen, value=[5.0, 6.0]), a, b]


def select_outside():
    a, set_a = variable([1.0, 2.0], "a")
    return [set_a.op, raw.RefSelect(index=tf1.placeholder_with_default(2, []), inputs=[a, a])]


def next_and_exit():
    a, set_a = variable([1.0, 2.0], "a")
    entered = raw.RefEnter(data=a, frame_name="frame")
    back = raw.RefExit(data=entered)
    return [set_a.op, back]


def arrays(make, close):
    def build():
        handle = make()
        with tf.control_dependencies([close(handle)]):
            done = tf.constant(1)
        return [done]
    return build


def table():
    t = raw.MutableDenseHashTable(empty_key=tf.constant(-1, tf.int64), value_dtype=tf.float32)
    put = raw.LookupTableInsert(table_handle=t, keys=tf.constant([1, 5], tf.int64), values=[0.5, 2.5])
    find = raw.LookupTableFind(table_handle=t, keys=tf.constant([5, 2, 1], tf.int64), default_value=-1.0)
    return [raw.LookupTableSize(table_handle=t), put, find, raw.LookupTableSize(table_handle=t)]


show("RefSelect", select)
show("RefSelect outside", select_outside)
show("RefExit", next_and_exit)
show("TensorArrayClose", arrays(lambda: raw.TensorArray(size=2, dtype=tf.float32), lambda h: raw.TensorArrayClose(handle=h)), producer=8)
show("TensorArrayCloseV2", arrays(lambda: raw.TensorArrayV2(size=2, dtype=tf.float32), lambda h: raw.TensorArrayCloseV2(handle=h)), producer=20)
show("MutableDenseHashTable", table)

with tf1.Graph().as_default() as graph, tf1.Session() as session:
    old = tf1.GraphDef()
    old.versions.producer = 20
    tf.import_graph_def(old, name="")
    p = raw.PlaceholderV2(dtype=tf.float32, shape=[2])
    print(p.shape, session.run(p * 2.0, {p: [1.0, 2.0]}))
    try:
        session.run(p * 2.0)
    except tf.errors.OpError as e:
        print(type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])
    r = raw.StatefulStandardNormal
    state = raw.VarHandleOp(dtype=tf.int64, shape=[4], shared_name="state")
    session.run(raw.AssignVariableOp(resource=state, value=tf.constant([1, 7, 8, 9], tf.int64)))
    numbers = r(resource=state, shape=tf.constant([3], tf.int64), dtype=tf.float32)
    print(session.run(numbers), session.run(numbers))
    print(session.run(raw.ReadVariableOp(resource=state, dtype=tf.int64)))
