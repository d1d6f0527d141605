"""Tensors that stay in a session between runs: handles made, fed, read, deleted, and what fails."""
import tensorflow as tf

tf1, raw = tf.compat.v1, tf.raw_ops


def failing(label, call):
    try:
        print(label, call())
    except (ValueError, TypeError, RuntimeError, tf.errors.OpError) as e:
        print(label, type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])


def name_of(handle):
    """The handle without its number."""
    parts = str(handle).split(";")
    return [parts[0], parts[1].isdigit(), parts[2]]


with tf1.Graph().as_default() as graph, tf1.Session() as session:
    a = tf1.placeholder(tf.float32, [2], name="a")
    kept = tf1.get_session_handle(a * 2.0, name="keep")
    print(kept.dtype.name, kept.shape, kept.op.type, kept.name)
    h = session.run(kept, {a: [1.0, 2.0]})
    print(type(h).__name__, name_of(h), h.handle == str(h), h.handle == h._handle)
    print(h.eval().tolist(), h.eval().dtype)

    # Read back through a placeholder.
    holder, value = tf1.get_session_tensor(h.handle, tf.float32, name="read")
    print(holder.dtype.name, holder.op.type, value.op.type, value.shape, value.name)
    print(session.run(value + 1.0, {holder: h.handle}).tolist())

    # As the value of a feed.
    print(session.run(a + 10.0, {a: h}).tolist())
    print(session.run([a, a * 3.0], {a: h})[1].tolist())
    print(session.run(a, {a: h}).tolist())
    g = session.run(kept, {a: h})
    print(g.eval().tolist(), h.eval().tolist())

    # A sum that never leaves the session.
    acc_holder, acc = tf1.get_session_tensor(h.handle, tf.float32)
    step = tf1.get_session_handle(acc + 1.0, name="step")
    now = h
    for _ in range(3):
        now = session.run(step, {acc_holder: now.handle})
    print(now.eval().tolist())

    # In a structure.
    both = session.run({"h": kept, "v": a}, {a: [3.0, 4.0]})
    print(type(both["h"]).__name__, both["h"].eval().tolist(), both["v"].tolist())

    # Other types.
    text = session.run(tf1.get_session_handle(tf.constant(["x", "yz"])))
    print(text.eval().tolist())
    whole = session.run(tf1.get_session_handle(tf.constant([[1, 2], [3, 4]], tf.int64)))
    print(whole.eval().tolist())

    # Two of the same value have two names.
    first, second = session.run(kept, {a: [0.0, 0.0]}), session.run(kept, {a: [0.0, 0.0]})
    print(first.handle != second.handle)

    # Deleted.
    drop_holder, drop = tf1.delete_session_tensor(g.handle)
    print(drop_holder.dtype.name, drop.type, session.run(drop, {drop_holder: g.get_raw_handle()}))
    failing("deleted, eval", g.eval)
    failing("deleted, read", lambda: session.run(value, {holder: g.handle}))
    failing("deleted twice", lambda: session.run(drop, {drop_holder: g.handle}))
    h.delete()
    failing("delete, then eval", h.eval)
    failing("delete twice", h.delete)
    failing("delete, then feed", lambda: session.run(a + 1.0, {a: h}))

    # What fails.
    failing("no tensor", lambda: tf1.get_session_handle([1.0]))
    failing("other type", lambda: session.run(a + 1.0, {a: whole}))
    failing("other shape", lambda: session.run(a + 1.0, {a: session.run(tf1.get_session_handle(tf.zeros([3])))}))
    failing("unknown", lambda: session.run(value, {holder: "no;1;/job:localhost/replica:0/task:0/device:CPU:0"}))
    bad_holder, bad = tf1.get_session_tensor(whole.handle, tf.float32)
    failing("read as another type", lambda: session.run(bad, {bad_holder: whole.handle}))
    failing("vector", lambda: session.run(raw.GetSessionTensor(handle=tf.constant(["a", "b"]), dtype=tf.float32)))
    failing("vector", lambda: session.run(raw.DeleteSessionTensor(handle=tf.constant(["a", "b"]))))
    failing("text", lambda: tf1.get_session_tensor("no handle", tf.float32))

    # Raw ops in one step.
    v2 = raw.GetSessionHandleV2(value=tf.constant([1.0, 5.0]), name="second")
    print(v2.dtype.name, v2.shape)
    failing("handle of version 2", lambda: type(session.run(v2.op)))
    one = raw.GetSessionHandle(value=tf.constant([7.0]))
    failing("read in the same step", lambda: session.run(raw.GetSessionTensor(handle=one, dtype=tf.float32)))
    failing("deleted in the same step", lambda: session.run(raw.DeleteSessionTensor(handle=one)))

    # Another session knows nothing of it.
    with tf1.Session() as other:
        failing("other session", lambda: other.run(value, {holder: whole.handle}))
        failing("other session, fed", lambda: other.run(a, {a: first}))

# Eagerly there is no session.
failing("eager", lambda: raw.GetSessionHandle(value=[1.0]))
failing("eager", lambda: raw.GetSessionHandleV2(value=[1.0]))
failing("eager", lambda: raw.GetSessionTensor(handle="h", dtype=tf.float32))
failing("eager", lambda: raw.DeleteSessionTensor(handle="h"))
