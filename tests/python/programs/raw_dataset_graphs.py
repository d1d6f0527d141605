"""Datasets as graphs: the ops that a graph has, what is made of it, what cannot be written."""
import tensorflow as tf

raw = tf.raw_ops
tf1 = tf.compat.v1


def num(v):
    return tf.constant(v, tf.int64)


def count(n):
    return raw.RangeDataset(start=num(0), stop=num(n), step=num(1), output_types=[tf.int64], output_shapes=[[]])


def show(label, call):
    try:
        print(label, call())
    except (ValueError, TypeError, tf.errors.OpError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0].split("}} ")[-1].split(" [Op:")[0])


def nodes(message):
    graph = tf1.GraphDef.FromString(message.numpy())
    for n in graph.node:
        print("  ", n.name, n.op, list(n.input), sorted(n.attr))
    print("  ", len(graph.library.function), [[d.op for d in f.node_def] for f in graph.library.function], graph.versions.producer)
    return graph


def variant(dataset):
    return tf.data.experimental.to_variant(dataset)


def again(dataset, policy=0):
    """The elements of the dataset that its graph makes."""
    message = raw.DatasetToGraphV2(input_dataset=variant(dataset), external_state_policy=policy)
    made = tf.data.experimental.from_variant(raw.DatasetFromGraph(graph_def=message), dataset.element_spec)
    return [tf.nest.map_structure(lambda t: t.numpy().tolist() if t.dtype != tf.string or t.shape.rank else t.numpy(), e) for e in made]


print(raw.DatasetToGraph(input_dataset=count(3)).dtype.name, raw.DatasetToGraph(input_dataset=count(3)).shape)
nodes(raw.DatasetToGraph(input_dataset=count(3)))
nodes(raw.DatasetToGraphV2(input_dataset=count(3), strip_device_assignment=True))
doubled = tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2)
graph = nodes(raw.DatasetToGraphV2(input_dataset=variant(doubled)))
by_op = {n.op: n for n in graph.node}
print(by_op["_Retval"].attr["T"].type, by_op["BatchDatasetV2"].attr["output_types"].list.type, [[d.size for d in s.dim] for s in by_op["BatchDatasetV2"].attr["output_shapes"].list.shape])
print(by_op["MapDataset"].attr["f"].func.name == graph.library.function[0].signature.name, graph.library.function[0].signature.output_arg[0].type)
seven = tf.constant(7, tf.int64)
print(len(tf1.GraphDef.FromString(raw.DatasetToGraphV2(input_dataset=variant(tf.data.Dataset.range(3).map(lambda x: x + seven))).numpy()).library.function))
slices = tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"]))
nodes(raw.DatasetToGraphV2(input_dataset=variant(slices)))
nodes(raw.DatasetToGraphV2(input_dataset=variant(tf.data.Dataset.zip((doubled, slices)))))

# There and back.
show("range", lambda: again(tf.data.Dataset.range(4)))
show("map and batch", lambda: again(doubled))
show("slices", lambda: again(slices))
show("captured", lambda: again(tf.data.Dataset.range(3).map(lambda x: x + seven)))
show("zip", lambda: again(tf.data.Dataset.zip((doubled, doubled.skip(1)))))
show("filter and take", lambda: again(tf.data.Dataset.range(20).filter(lambda x: x % 3 == 0).take(4)))
show("flat_map", lambda: again(tf.data.Dataset.range(4).flat_map(lambda n: tf.data.Dataset.range(n).map(lambda x: x * 10 + n))))
show("interleave", lambda: again(tf.data.Dataset.range(3).interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(2), cycle_length=2)))
show("padded", lambda: again(tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n)).padded_batch(2)))
show("scan", lambda: again(tf.data.Dataset.range(5).scan(num(0), lambda s, x: (s + x, s + x))))
show("branches", lambda: again(tf.data.Dataset.range(4).map(lambda x: tf.cond(x > 1, lambda: x * 100, lambda: -x))))
show("concatenate", lambda: again(tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(5, 7)).repeat(2)))
show("by both ops", lambda: [v.numpy() for v in tf.data.experimental.from_variant(
    raw.DatasetFromGraph(graph_def=raw.DatasetToGraph(input_dataset=count(3))), tf.TensorSpec([], tf.int64))])
made = raw.DatasetFromGraph(graph_def=raw.DatasetToGraph(input_dataset=count(6)))
print(made.dtype.name, made.shape, raw.DatasetCardinality(input_dataset=made).numpy())

# Ops that keep a state.
random = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
for policy in (0, 1, 2):
    show(f"random {policy}", lambda: raw.DatasetToGraphV2(input_dataset=variant(random), external_state_policy=policy).dtype.name)
for allow in (True, False):
    show(f"random {allow}", lambda: raw.DatasetToGraph(input_dataset=variant(random), allow_stateful=allow).dtype.name)
# A dataset in a function is none, what reads one is; branches are as stateful as their functions.
nested = {
    "first of": lambda x: tf.data.Dataset.range(1).get_single_element() + x,
    "reduced": lambda x: tf.data.Dataset.range(3).reduce(num(0), lambda a, b: a + b) + x,
    "cardinality": lambda x: tf.data.Dataset.from_tensor_slices([1, 2]).batch(2).cardinality() + x,
    "branch": lambda x: tf.cond(x > 1, lambda: tf.cast(tf.random.uniform([]), tf.int64), lambda: -x),
}
for name, function in nested.items():
    ds = tf.data.Dataset.range(2).map(function)
    show(name, lambda: raw.DatasetToGraphV2(input_dataset=variant(ds), external_state_policy=2).dtype.name)

# What is no graph of a dataset.
show("empty", lambda: raw.DatasetFromGraph(graph_def=""))
show("noise", lambda: raw.DatasetFromGraph(graph_def="abc"))
show("vector", lambda: raw.DatasetFromGraph(graph_def=["", ""]))
without = tf1.GraphDef.FromString(raw.DatasetToGraph(input_dataset=count(3)).numpy())
del without.node[-1]
show("no result", lambda: raw.DatasetFromGraph(graph_def=without.SerializeToString()))
