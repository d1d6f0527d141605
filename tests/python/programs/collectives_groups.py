"""Collective ops of groups inside one process: members in threads, in one function, in one session."""
import threading

import tensorflow as tf

raw = tf.raw_ops
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3)


def members(label, n, body):
    """The same code on n devices at once."""
    results = [None] * n

    def run(i):
        with tf.device(f"/CPU:{i}"):
            results[i] = body(i).numpy().tolist()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(label, *results)


def reduce(x, size, key, instance, merge="Add", final="Id", token=(), **more):
    return raw.CollectiveReduceV2(input=x, group_size=size, group_key=key, instance_key=instance, ordering_token=list(token), merge_op=merge, final_op=final, **more)


# Groups of one.
print(reduce([1.0, 2.0], 1, 1, 1).numpy(), reduce([5, 7], 1, 1, 2, final="Div").numpy(), reduce(3.0, 1, 1, 3, "Max").numpy())
print(raw.CollectiveGatherV2(input=[[1, 2]], group_size=1, group_key=1, instance_key=4, ordering_token=[]).numpy())
print(raw.CollectiveAllToAllV2(input=[[1, 2]], group_size=1, group_key=1, instance_key=5, ordering_token=[]).numpy())
print(raw.CollectiveBcastSendV2(input=[True, False], group_size=1, group_key=1, instance_key=6).numpy())
print(raw.CollectiveReduce(input=[1.0, 2.0], group_size=1, group_key=1, instance_key=7, merge_op="Mul", final_op="Div", subdiv_offsets=[0]).numpy())
print(raw.CollectiveReduce(input=[1.0, 2.0], group_size=1, group_key=1, instance_key=8, merge_op="Mul", final_op="Div", subdiv_offsets=[]).numpy())
print(raw.CollectiveGather(input=[3, 4], group_size=1, group_key=1, instance_key=9, shape=[2]).numpy())
print(raw.CollectiveBcastSend(input=[3, 4], group_size=1, group_key=1, instance_key=10, shape=[2]).numpy())
for hint in ("auto", "ring", "nccl", "smoke"):
    print(hint, reduce([1.0], 1, 1, 11, communication_hint=hint, max_subdivs_per_device=2).numpy())

# Reductions.
for k, (merge, final) in enumerate((("Add", "Id"), ("Mul", "Id"), ("Max", "Id"), ("Min", "Id"), ("Add", "Div"), ("Mul", "Div"))):
    members(f"{merge} {final}", 3, lambda i: reduce(tf.constant([1.0, 2.0, 5.0]) * (i + 1), 3, 2, k, merge, final))
for k, dtype in enumerate((tf.float16, tf.bfloat16, tf.float64, tf.int32, tf.int64)):
    members(dtype.name, 3, lambda i: tf.cast(reduce(tf.cast(tf.constant([1.5, 2.25, -7.0]) * (i + 1), dtype), 3, 2, 10 + k, "Add", "Div"), tf.float64))
members("scalar", 3, lambda i: reduce(float(i), 3, 2, 20))
members("matrix", 2, lambda i: reduce([[1.0, i], [3.0, 4.0]], 2, 3, 20))
members("empty", 3, lambda i: reduce(tf.zeros([0, 2]), 3, 2, 21))
members("nan", 3, lambda i: reduce([float("nan") if i == 1 else 1.0, 2.0], 3, 2, 22, "Max"))
members("same instance again", 3, lambda i: reduce(tf.constant([1.0, 2.0, 5.0]) * (i + 10), 3, 2, 0))
# Sums depend on the order of the members, chunk by chunk.
members("order", 3, lambda i: reduce(tf.tile([1e8, 1.0, -1e8, 0.5], [20]) * [1.0, -1.0, 1e-8][i], 3, 2, 23))
members("order of subdivisions", 3, lambda i: raw.CollectiveReduce(
    input=tf.tile([1e8, 1.0, -1e8, 0.5], [40]) * [1.0, -1.0, 1e-8][i], group_size=3, group_key=2, instance_key=24, merge_op="Add", final_op="Id", subdiv_offsets=[0, 1, -1]))
members("one after another", 2, lambda i: reduce(reduce([1.0 + i], 2, 3, 1) * (i + 1.0), 2, 3, 2))

# The others.
for source in range(3):
    members(f"broadcast from {source}", 3, lambda i: raw.CollectiveBcastSendV2(input=[1.0, 2.0 + i], group_size=3, group_key=2, instance_key=30 + source) if i == source
            else raw.CollectiveBcastRecvV2(group_size=3, group_key=2, instance_key=30 + source, shape=[2], T=tf.float32))
members("gather", 3, lambda i: raw.CollectiveGatherV2(input=[[i, 10 * i]], group_size=3, group_key=2, instance_key=40, ordering_token=[]))
members("gather of rows", 2, lambda i: raw.CollectiveGatherV2(input=[[i], [i + 5]], group_size=2, group_key=3, instance_key=41, ordering_token=[]))
members("all to all", 3, lambda i: raw.CollectiveAllToAllV2(input=[10.0 * i, 10.0 * i + 1, 10.0 * i + 2], group_size=3, group_key=2, instance_key=42, ordering_token=[]))
members("all to all of rows", 2, lambda i: raw.CollectiveAllToAllV2(input=[[i, 2], [3 + i, 4]], group_size=2, group_key=3, instance_key=43, ordering_token=[]))
members("version 1 reduce", 2, lambda i: raw.CollectiveReduce(input=[1.0, 2.0 * i], group_size=2, group_key=3, instance_key=50, merge_op="Add", final_op="Div", subdiv_offsets=[0]))
members("version 1 gather", 2, lambda i: raw.CollectiveGather(input=[i, 7], group_size=2, group_key=3, instance_key=51, shape=[2]))
members("version 1 broadcast", 2, lambda i: raw.CollectiveBcastSend(input=[1, 2], group_size=2, group_key=3, instance_key=52, shape=[2]) if i == 0
        else raw.CollectiveBcastRecv(group_size=2, group_key=3, instance_key=52, shape=[2], T=tf.int32))


# Communicators: ranks as the program says.
def communicate(i):
    nobody = tf.zeros([0, 0], tf.int32)
    c = raw.CollectiveInitializeCommunicator(group_key=7, rank=1 - i, group_size=2)
    total = raw.CollectiveReduceV3(input=[1.0, i + 2.0], communicator=c, group_assignment=nobody, reduction="Add")
    most = raw.CollectiveReduceV3(input=[1.0, i + 2.0], communicator=c, group_assignment=nobody, reduction="Max")
    return tf.concat([total, most, raw.CollectiveAllToAllV3(input=[10.0 * i, 10.0 * i + 1], communicator=c, group_assignment=nobody)], 0)


members("communicator", 2, communicate)
for index in range(4):
    print("assigned", [x.numpy() for x in raw.CollectiveAssignGroupV2(group_assignment=[[0, 3], [2, 1]], device_index=index, base_key=5)])


# Both members in one function; each has a token of its own, which keeps its calls in order.
tokens = []
for d in range(2):
    with tf.device(f"/CPU:{d}"):
        tokens.append(tf.Variable(0.0))


@tf.function
def both(x):
    with tf.device("/CPU:0"):
        a = reduce(x, 2, 50, 1, token=[tokens[0].handle])
        c = raw.CollectiveGatherV2(input=a, group_size=2, group_key=50, instance_key=2, ordering_token=[tokens[0].handle])
        e = raw.CollectiveReduce(input=x, group_size=2, group_key=50, instance_key=3, merge_op="Min", final_op="Id", subdiv_offsets=[0])
    with tf.device("/CPU:1"):
        b = reduce(x * 10.0, 2, 50, 1, token=[tokens[1].handle])
        d = raw.CollectiveGatherV2(input=b * 2.0, group_size=2, group_key=50, instance_key=2, ordering_token=[tokens[1].handle])
        f = raw.CollectiveReduce(input=x - 7.0, group_size=2, group_key=50, instance_key=3, merge_op="Min", final_op="Id", subdiv_offsets=[0])
    return a, b, c, d, e, f


for _ in range(3):
    print([v.numpy().tolist() for v in both(tf.constant([1.0, 2.0]))])

step = tf.function(lambda x: reduce(x, 2, 60, 1, "Add", "Div"))
for k in range(3):
    members("functions", 2, lambda i: step(tf.constant([1.0 + i, 2.0 + k])))

tf1 = tf.compat.v1
with tf1.Graph().as_default():
    x = tf1.placeholder(tf.float32, [2])
    with tf.device("/CPU:0"):
        a = reduce(x, 2, 1, 1)
    with tf.device("/CPU:1"):
        b = reduce(x * 10.0, 2, 1, 1)
    alone = raw.CollectiveReduce(input=x, group_size=1, group_key=5, instance_key=1, merge_op="Add", final_op="Div", subdiv_offsets=[0])
    with tf1.Session(config=tf1.ConfigProto(device_count={"CPU": 2})) as session:
        for k in range(2):
            print([v.tolist() for v in session.run([a, b, alone], {x: [1.0, k]})])
        try:
            session.run(a, {x: [1.0, 2.0]}, options=tf1.RunOptions(timeout_in_ms=500))
        except tf.errors.DeadlineExceededError as e:
            print(type(e).__name__, e.message.split("\n")[-1])
        print([v.tolist() for v in session.run([a, b], {x: [3.0, 4.0]})])

# TensorFlow has this one for other devices alone; the error ends all later collectives.
for call in (lambda: raw.CollectiveReduceScatterV2(input=[1.0], group_size=1, group_key=1, instance_key=90, ordering_token=[], merge_op="Add", final_op="Id"), lambda: reduce([1.0], 1, 1, 1)):
    try:
        print(call().numpy())
    except tf.errors.OpError as e:
        print(type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0])
