"""Datasets of several workers, each of which has its part: of the files (AutoShardPolicy.FILE), or where the program shards by hints (HINT)."""

from weft import _weft
from weft._src.data.dataset import make
from weft._src.raw import raw

_READERS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "CSVDataset", "SqlDataset")
_IGNORE_STATE = 1


def reads_files(dataset):
    """Whether the dataset, or one that a function of it makes, reads files."""
    from weft._src.data.readers import _FileDataset

    if isinstance(dataset, _FileDataset) or any(_makes_readers(f) for f in dataset._functions):
        return True
    return any(reads_files(d) for d in dataset._input_datasets)


def _makes_readers(function):
    """Whether a function, or one that it calls, has a reader."""
    from weft._src.proto import FunctionDef

    todo, seen = [function.function_def.signature.name] if hasattr(function, "function_def") else [], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in FunctionDef.FromString(_weft.function_def(name)).node_def:
            if _is_reader(node.op):
                return True
            todo.extend(node.attr[a].func.name for a in node.attr if node.attr[a].func.name)
    return False


def _is_reader(op):
    return op.rstrip("V0123456789") in _READERS


def of_files(dataset, workers, index):
    """The dataset with every `workers`-th of its files."""
    from weft._src.framework import errors

    graph = _graph_of(dataset)
    reading = _functions_that_read(graph)
    nodes = {n.name: n for n in graph.node}
    root = next(n for n in graph.node if _weft.op_role(n.op) == "retval")
    found, todo, seen = [], [nodes[_name(root.input[0])]], set()
    while todo:
        node = todo.pop()
        if node.name in seen:
            continue
        seen.add(node.name)
        if any(node.attr[a].func.name in reading for a in node.attr if node.attr[a].func.name):
            found.append(node)
            continue
        todo.extend(nodes[_name(i)] for i in node.input if _name(i) in nodes)
    if not found:
        raise errors.NotFoundError(
            None,
            None,
            "Found an unshardable source dataset: no file that a worker could leave to the others. Set "
            "options.experimental_distribute.auto_shard_policy to AutoShardPolicy.DATA.",
        )
    numbers = _constant(graph, "shards", workers), _constant(graph, "shard", index)
    for i, node in enumerate(found):
        before = nodes[_name(node.input[0])]
        shard = graph.node.add()
        shard.op = raw.ShardDataset.op_name
        shard.name = f"{shard.op}/_files_{i}"
        shard.input.extend([node.input[0], *numbers])
        shard.attr["require_non_empty"].b = True
        types = "output_types" if "output_types" in before.attr else "Toutput_types"
        shard.attr["output_types"].CopyFrom(before.attr[types])
        shard.attr["output_shapes"].CopyFrom(before.attr["output_shapes"])
        node.input[0] = shard.name
    return _made_of(graph, dataset)


def of_hints(dataset, workers, index):
    """The dataset with the numbers of workers and of this one in place of SHARD_HINT; one without hints is as it is."""
    from weft._src.data.experimental import SHARD_HINT
    from weft._src.proto.tensors import make_ndarray

    graph = _graph_of(dataset)
    nodes = {n.name: n for n in graph.node}
    numbers = _constant(graph, "shards", workers), _constant(graph, "shard", index)
    for node in graph.node:
        if node.op != "ShardDataset":
            continue
        given = [nodes[_name(i)] for i in node.input[1:3]]
        if all(_weft.op_role(g.op) == "const" and make_ndarray(g.attr["value"].tensor) == SHARD_HINT for g in given):
            node.input[1], node.input[2] = numbers
    return _made_of(graph, dataset)


def _graph_of(dataset):
    from weft._src.proto import GraphDef

    serialized = raw.DatasetToGraphV2(input_dataset=dataset._variant_tensor, external_state_policy=_IGNORE_STATE)
    return GraphDef.FromString(serialized.numpy())


def _made_of(graph, dataset):
    from weft._src.framework.convert import constant

    variant = raw.DatasetFromGraph(graph_def=constant(graph.SerializeToString()))
    return make("_AutoShardDataset", variant, dataset.element_spec, [dataset])


def _name(tensor):
    return tensor.split(":")[0]


def _constant(graph, name, value):
    from weft._src.proto.tensors import make_tensor_proto

    node = graph.node.add()
    node.op = _weft.op_of_role("const")
    node.name = f"{node.op}/_{name}"
    proto = make_tensor_proto(value, "int64")
    node.attr["value"].tensor.CopyFrom(proto)
    node.attr["dtype"].type = proto.dtype
    return node.name


def _functions_that_read(graph):
    """Those with a reader, and those that call one."""
    reading = set()
    while True:
        more = {
            f.signature.name
            for f in graph.library.function
            for n in f.node_def
            if _is_reader(n.op) or n.op in reading or any(n.attr[a].func.name in reading for a in n.attr)
        }
        if more <= reading:
            return reading
        reading |= more
