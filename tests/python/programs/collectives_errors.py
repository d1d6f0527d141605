"""Collective ops that fail: members that do not fit together, members that do not come, arguments. Each case has a session of its own, since an error ends all later collectives."""
import time

import tensorflow as tf

tf1, raw = tf.compat.v1, tf.raw_ops


def text(e):
    message = e.message.split("Graph execution error:\n\n")[-1]
    message = message.split("\nOriginal stack trace")[0].split("\n\t [[{{node")[0]
    lines = [line for line in message.split("\n") if line and not line.startswith(("Detected at node", "  File", "    File", "Node: "))]
    return type(e).__name__ + " " + " | ".join(line.split("}} ")[-1].split(" [Op:")[0] for line in lines)


def later(x, seconds=0.6):
    """The same value after a while, so that this member comes second."""
    def wait(v):
        time.sleep(seconds)
        return v
    return tf.ensure_shape(tf.numpy_function(wait, [x], tf.as_dtype(x.dtype)), x.shape)


def case(label, build, again=False):
    with tf1.Graph().as_default(), tf1.Session(config=tf1.ConfigProto(device_count={"CPU": 3})) as session:
        fetches = build()
        try:
            print(label, [v.tolist() for v in session.run(fetches)])
        except tf.errors.OpError as e:
            print(label, text(e))
        if again:
            try:
                print(label, "later:", session.run(reduce([1.0], 1, 99, 99)).tolist())
            except tf.errors.OpError as e:
                print(label, "later:", type(e).__name__)


def reduce(x, size, key, instance, merge="Add", final="Id", **more):
    return raw.CollectiveReduceV2(input=x, group_size=size, group_key=key, instance_key=instance, ordering_token=[], merge_op=merge, final_op=final, **more)


def gather(x, size, key, instance, **more):
    return raw.CollectiveGatherV2(input=x, group_size=size, group_key=key, instance_key=instance, ordering_token=[], **more)


def all_to_all(x, size, key, instance, **more):
    return raw.CollectiveAllToAllV2(input=x, group_size=size, group_key=key, instance_key=instance, ordering_token=[], **more)


def send(x, size=2):
    return raw.CollectiveBcastSendV2(input=x, group_size=size, group_key=1, instance_key=1)


def receive(shape, dtype=tf.float32, size=2):
    return raw.CollectiveBcastRecvV2(group_size=size, group_key=1, instance_key=1, shape=shape, T=dtype)


def two(first, second):
    def build():
        with tf.device("/CPU:0"):
            a = first()
        with tf.device("/CPU:1"):
            b = second()
        return [a, b]
    return build


x = lambda n=1: tf.constant([1.0] * n)
case("sizes", two(lambda: reduce(x(), 2, 1, 1), lambda: reduce(later(x()), 3, 1, 1)), again=True)
case("types", two(lambda: reduce(x(), 2, 1, 1), lambda: reduce(later(tf.constant([1])), 2, 1, 1)))
case("kinds", two(lambda: reduce(x(), 2, 1, 1), lambda: gather(later(x()), 2, 1, 1)))
case("shapes", two(lambda: reduce(x(), 2, 1, 1), lambda: reduce(later(x(21)), 2, 1, 1)))
case("shapes of one size", two(lambda: reduce([[1.0, 2.0]], 2, 1, 1), lambda: reduce(later(tf.constant([[1.0], [2.0]])), 2, 1, 1)))
case("shapes, gather", two(lambda: gather(x(), 2, 1, 1), lambda: gather(later(x(2)), 2, 1, 1)))
case("no source", two(lambda: receive([2]), lambda: receive([2])))
case("two sources", two(lambda: send(x(2)), lambda: send(later(x(2)))))
case("no source, alone", lambda: [receive([2], size=1)])
case("shapes, broadcast", two(lambda: receive([3]), lambda: send(later(x(2)))))
case("types, broadcast", two(lambda: receive([2], tf.int32), lambda: send(later(x(2)))))
case("subdivisions of nothing", lambda: [reduce(tf.zeros([0]), 1, 1, 1, max_subdivs_per_device=2)])
case("nobody comes", lambda: [reduce(x(), 2, 1, 1, timeout_seconds=0.5)], again=True)


def full():
    with tf.device("/CPU:2"):
        third = reduce(later(x(), 1.2), 2, 1, 2)
    return two(lambda: reduce(x(), 2, 1, 1), lambda: reduce(x(), 2, 1, 1))() + [third]


case("a third one", full)


def second_instance():
    a, b = two(lambda: reduce(x(), 2, 1, 1), lambda: reduce(x(), 2, 1, 1))()
    with tf.device("/CPU:0"), tf.control_dependencies([a, b]):
        return [reduce(x(), 2, 1, 2, timeout_seconds=0.5)]


case("nobody executes", second_instance)


def declared():
    return [raw.CollectiveBcastSend(input=[1.0, 2.0], group_size=1, group_key=5, instance_key=3, shape=[3], name="send")]


case("declared shape", declared)
case("other shape in the same instance", lambda: [reduce(x(), 1, 1, 1), reduce(later(x(2)), 1, 1, 1)])


# Arguments, eagerly.
def failing(label, call):
    try:
        print(label, call().numpy().tolist())
    except (ValueError, tf.errors.OpError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("}} ")[-1].split(" [Op:")[0].split("\n")[0].split(" (hash code")[0])


for size, key, instance in ((0, 1, 1), (-1, 1, 1), ([1], 1, 1), (1, [1], 1), (1, 1, [1])):
    failing(f"reduce {size} {key} {instance}", lambda: reduce([1.0], size, key, instance))
failing("receive", lambda: raw.CollectiveBcastRecvV2(group_size=1, group_key=1, instance_key=1, shape=[-1], T=tf.float32))
failing("version 1", lambda: raw.CollectiveReduce(input=[1.0], group_size=0, group_key=5, instance_key=1, merge_op="Add", final_op="Div", subdiv_offsets=[0]))
failing("version 1", lambda: raw.CollectiveGather(input=[1.0], group_size=-2, group_key=5, instance_key=1, shape=[1]))
failing("version 1", lambda: raw.CollectiveGather(input=1.0, group_size=1, group_key=5, instance_key=2, shape=[]))
failing("merge_op", lambda: raw.CollectiveReduce(input=[1.0], group_size=1, group_key=5, instance_key=1, merge_op="Sub", final_op="Div", subdiv_offsets=[0]))
for arguments in ({"group_key": 1, "rank": 0, "group_size": 0}, {"group_key": 1, "rank": -1, "group_size": 1}, {"group_key": 1, "rank": 2, "group_size": 2},
                  {"group_key": [1], "rank": 0, "group_size": 1}, {"group_key": 1, "rank": [0], "group_size": 1}, {"group_key": 1, "rank": 0, "group_size": [1]}):
    failing(f"communicator {arguments}", lambda: raw.CollectiveInitializeCommunicator(**arguments))
nobody = tf.zeros([0, 0], tf.int32)
c = raw.CollectiveInitializeCommunicator(group_key=9, rank=0, group_size=1)
failing("again", lambda: raw.CollectiveInitializeCommunicator(group_key=9, rank=0, group_size=1))
failing("assignment", lambda: raw.CollectiveReduceV3(input=[1.0], communicator=c, group_assignment=[[0]], reduction="Add"))
failing("communicator", lambda: raw.CollectiveReduceV3(input=[1.0, 3.0], communicator=c, group_assignment=nobody, reduction="Max"))
failing("no communicator", lambda: raw.CollectiveAllToAllV3(input=[1.0], communicator=raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="q"), group_assignment=nobody))
for groups, device, base in (([[0, 1]], 5, 1), ([[0, 1]], [1], 1), ([0, 1], 1, 1), ([[0, 1]], 1, [1]), ([[0, 5]], 5, 1), ([[0, 1]], 0, 0), ([[0, 1], [2, 3]], 3, -1)):
    failing(f"assign {groups} {device} {base}", lambda: raw.CollectiveAssignGroupV2(group_assignment=groups, device_index=device, base_key=base)[1])
# The last one, since it ends all others.
failing("all to all", lambda: all_to_all([1.0, 2.0], 1, 1, 1))
failing("later", lambda: reduce([1.0], 1, 2, 1))
