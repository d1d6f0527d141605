"""Graphs with version 1's control flow and what TensorFlow makes of them.

Each NAME.pb is a GraphDef. The node init, if there is one, is run first; then the nodes out_0, out_1 ... are fetched together, twice,
and must be as the constants expect_0, expect_1 ... (expect2_0 ... the second time). A constant error_code: the fetch fails with that
status instead. Needs TensorFlow: python make_graphs.py
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
tf1.disable_control_flow_v2()

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def given(value, name=None):
    """A value that no pass may take for a constant."""
    return tf1.placeholder_with_default(value, np.shape(value), name=name)


@case
def nested_loops():
    n = given(np.int32(6))

    def outer(i, total):
        _, row = tf1.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + i * j), [0, 0], parallel_iterations=3)
        return i + 1, total + row

    i, total = tf1.while_loop(lambda i, t: i < n, outer, [0, 0])
    return [i, total]


@case
def no_iterations():
    n, x = given(np.int32(0)), given(np.float32([1, 2]))
    out = tf1.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * 2), [0, x])
    return list(out)


@case
def one_iteration_at_a_time():
    x = given(np.float32(1.5))
    out = tf1.while_loop(lambda i, v: i < 20, lambda i, v: (i + 1, v * 1.1 + x), [0, x], parallel_iterations=1)
    return list(out)


@case
def branch_in_a_loop():
    def body(i, v):
        return i + 1, tf1.cond(tf.equal(i % 3, 0), lambda: v * 2 + 1, lambda: tf1.cond(tf.equal(i % 3, 1), lambda: v - 1, lambda: -v))

    return list(tf1.while_loop(lambda i, v: i < 11, body, [0, given(np.float32(1))]))


def loop_in_branches(pred):
    p, x = given(np.bool_(pred)), given(np.int32(3))

    def loop(step):
        return lambda: tf1.while_loop(lambda i, v: i < x, lambda i, v: (i + 1, v + step * i), [0, x])[1]

    out = tf1.cond(p, loop(2), loop(5))
    return [out, tf1.cond(p, lambda: out + 1, loop(7))]


@case
def loop_in_a_taken_branch():
    return loop_in_branches(True)


@case
def loop_in_the_other_branch():
    return loop_in_branches(False)


@case
def many_branches():
    x = given(np.int32(2))
    one_of = tf1.case([(tf.equal(x, k), lambda k=k: tf.constant(k * 10) + x) for k in range(4)], default=lambda: -x, exclusive=True)
    return [one_of, tf1.case([(x > 5, lambda: x), (x > 1, lambda: x * 100)], default=lambda: x - 1)]


@case
def arrays():
    x = given(np.float32([[1, 2], [3, 4], [5, 6]]))
    array = tf1.TensorArray(tf.float32, 3).unstack(x)
    out = tf1.TensorArray(tf.float32, 3)
    _, out, last = tf1.while_loop(lambda i, a, s: i < 3, lambda i, a, s: (i + 1, a.write(i, array.read(i) + s), s + array.read(i)),
                                  [0, out, tf.zeros([2])])
    return [out.stack(), last]


@case
def gradient_of_a_loop():
    x, w = given(np.float32([0.3, -0.4])), given(np.float32([[0.5, 0.1], [-0.2, 0.7]]))

    def body(i, h):
        h = tf.tanh(tf.linalg.matvec(w, h) + x)
        return i + 1, tf1.cond(tf.equal(i % 2, 0), lambda: h * 2.0, lambda: h)

    _, h = tf1.while_loop(lambda i, h: i < 7, body, [0, x])
    return [h] + tf1.gradients(tf.reduce_sum(h * h), [x, w])


@case
def gradient_of_nested_loops():
    x = given(np.float32(0.9))

    def outer(i, v):
        return i + 1, tf1.while_loop(lambda j, u: j < i + 2, lambda j, u: (j + 1, tf.sin(u) * x + u), [0, v])[1]

    _, v = tf1.while_loop(lambda i, v: i < 4, outer, [0, x])
    return [v] + tf1.gradients(v, [x])


@case
def maps_and_folds():
    x = given(np.float32([1, 2, 3, 4]))
    return [tf1.map_fn(lambda v: v * v, x), tf1.foldl(lambda a, v: a * 0.5 + v, x), tf1.foldr(lambda a, v: a - v, x),
            tf1.scan(lambda a, v: a + v, x)] + tf1.gradients(tf1.scan(lambda a, v: a * v, x), [x])


@case
def recurrent_net():
    x = given(np.random.RandomState(0).randn(2, 5, 3).astype("float32"))
    cell_w = given(np.random.RandomState(1).randn(7, 4).astype("float32"))

    def body(i, h, outs):
        h = tf.tanh(tf.matmul(tf.concat([x[:, i], h], 1), cell_w))
        keep = tf.expand_dims(tf.cast(tf.less(i, [3, 5]), tf.float32), 1)
        return i + 1, h * keep + (1 - keep) * 0.1, outs.write(i, h)

    _, h, outs = tf1.while_loop(lambda i, *_: i < 5, body, [0, tf.zeros([2, 4]), tf1.TensorArray(tf.float32, 5)])
    y = outs.stack()
    return [y, h] + tf1.gradients(tf.reduce_sum(y * y) + tf.reduce_sum(h), [x, cell_w])


@case
def references_in_a_loop():
    v = tf1.get_variable("v", initializer=np.float32(1), use_resource=False)
    count = tf1.get_variable("count", initializer=np.int32(0), use_resource=False)

    def body(i):
        now = tf1.identity(v._ref())
        with tf1.control_dependencies([tf1.assign_add(count, i), tf1.assign(v, now * 1.5)]):
            return i + 1

    last = tf1.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
    with tf1.control_dependencies([last]):
        return [last, tf1.identity(v.read_value()), tf1.identity(count.read_value())]


@case
def references_in_branches():
    v = tf1.get_variable("v", initializer=np.float32([1, 2]), use_resource=False)
    p = given(np.bool_(True))
    out = tf1.cond(p, lambda: tf1.identity(tf1.assign_add(v, [1.0, 1.0])), lambda: tf1.identity(tf1.assign_sub(v, [5.0, 5.0])))
    with tf1.control_dependencies([out]):
        return [out, v.read_value() * 10]


@case
def reference_switched():
    v = tf1.get_variable("v", initializer=np.float32(3), use_resource=False)
    p = given(np.bool_(False))
    no, yes = tf.raw_ops.RefSwitch(data=v._ref(), pred=p)
    a, b = tf1.assign_add(no, 1.0), tf1.assign_add(yes, 100.0)
    merged = tf.raw_ops.RefMerge(inputs=[tf.raw_ops.RefIdentity(input=a), tf.raw_ops.RefIdentity(input=b)])
    return [tf1.identity(merged.output), merged.value_index]


@case
def resources_in_a_loop():
    v = tf1.get_variable("v", initializer=np.float32([1, 1]), use_resource=True)

    def body(i, s):
        with tf1.control_dependencies([v.assign_add([1.0, 2.0])]):
            r = v.read_value()
        with tf1.control_dependencies([r]):
            return i + 1, s + r

    return list(tf1.while_loop(lambda i, s: i < 4, body, [0, tf.zeros([2])], parallel_iterations=1))


@case
def a_queue_in_a_loop():
    q = tf1.FIFOQueue(2, [tf.int32], shapes=[[]])

    def put(i):
        with tf1.control_dependencies([q.enqueue(i * i)]):
            return i + 1

    def take(i, s):
        got = q.dequeue()
        return i + 1, s + got

    put_all = tf1.while_loop(lambda i: i < 10, put, [0], parallel_iterations=1)
    return [put_all] + list(tf1.while_loop(lambda i, s: i < 10, take, [0, 0], parallel_iterations=1))


@case
def stacks():
    x = given(np.float32([1, 2, 3]))
    stack = tf.raw_ops.StackV2(max_size=10, elem_type=tf.float32)

    def push(i):
        with tf1.control_dependencies([tf.raw_ops.StackPushV2(handle=stack, elem=x * tf.cast(i, tf.float32))]):
            return i + 1

    pushed = tf1.while_loop(lambda i: i < 4, push, [0], parallel_iterations=1)

    def pop(i, s):
        top = tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.float32)
        return i + 1, s * 2 + tf.ensure_shape(top, [3])

    return [tf1.while_loop(lambda i, s: i < 4, pop, [pushed * 0, tf.zeros([3])], parallel_iterations=1)[1]]


@case
def a_dead_result():
    sw = tf.raw_ops.Switch(data=given(np.float32(1)), pred=given(np.bool_(True)))
    return [sw.output_true * 2, sw.output_false * 2]


@case
def an_error_in_a_loop():
    x = given(np.float32([1, 2]))
    return list(tf1.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf1.Print(tf.gather(x, i) + v, [])), [0, 0.0]))[1:]


@case
def no_value_yet():
    v = tf1.get_variable("v", initializer=np.float32(3), use_resource=False)
    return [v + 1]


@case
def devices():
    x = given(np.float32([1, 2, 3]))
    with tf.device("/cpu:1"):
        a = tf.sin(x)
    with tf.device("/cpu:2"):
        b = tf.cos(x)
        p = tf.reduce_sum(b) > 0
    c = tf1.cond(p, lambda: a * b, lambda: a - b)
    with tf.device("/cpu:1"):
        d = tf1.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + b), [0, c])[1]
    return [a + b, c, d]


def make(name, build):
    graph = tf1.Graph()
    with graph.as_default():
        outs = [tf1.identity(o, name=f"out_{k}") for k, o in enumerate(build())]
        if tf1.global_variables() and name != "no_value_yet":
            tf1.global_variables_initializer()
        with tf1.Session(config=tf1.ConfigProto(device_count={"CPU": 3}, allow_soft_placement=False)) as session:
            if name != "no_value_yet" and "init" in [o.name for o in graph.get_operations()]:
                session.run("init")
            try:
                for prefix in ("expect", "expect2"):
                    for k, value in enumerate(session.run(outs)):
                        tf1.constant(value, name=f"{prefix}_{k}")
            except tf.errors.OpError as e:
                tf1.constant(e.error_code, name="error_code")
        text = graph.as_graph_def().SerializeToString(deterministic=True)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".pb"), "wb") as f:
        f.write(text)
    print(name, len(text))


for name, build in CASES.items():
    make(name, build)
