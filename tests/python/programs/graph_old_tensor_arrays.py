"""TensorArrays and stacks of old graphs: handles that are references to two strings, or two strings."""
import tensorflow as tf

tf1, raw = tf.compat.v1, tf.raw_ops


def show(label, build, producer=8):
    """Builds in a graph of that age, runs it, and runs it again from its GraphDef."""
    graph = tf1.Graph()
    with graph.as_default():
        old = tf1.GraphDef()
        old.versions.producer = producer
        tf.import_graph_def(old, name="")
        try:
            fetches = tf.nest.flatten(build())
            print(label, [str(t.dtype.name) + str(t.shape) for t in fetches])
            names = [t.name for t in fetches]
            definition = graph.as_graph_def()
            with tf1.Session(graph=graph) as session:
                first = session.run(fetches)
            with tf1.Graph().as_default() as again, tf1.Session(graph=again) as session:
                tf.import_graph_def(definition, name="")
                second = session.run(names)
            for a, b in zip(first, second):
                print("  ", a.tolist() if hasattr(a, "tolist") else a, str(a) == str(b))
        except (ValueError, NotImplementedError, tf.errors.OpError) as e:
            print(label, type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])


def first_version():
    h = raw.TensorArray(size=3, dtype=tf.float32, clear_after_read=False)
    flow = raw.TensorArrayWrite(handle=h, index=0, value=[1.0, 2.0], flow_in=0.0)
    flow = raw.TensorArrayWrite(handle=h, index=2, value=[5.0, 6.0], flow_in=flow)
    flow = raw.TensorArrayWrite(handle=h, index=1, value=[3.0, 4.0], flow_in=flow)
    with tf.control_dependencies([flow]):
        size = raw.TensorArraySize(handle=h, flow_in=flow)
    return [
        raw.TensorArrayRead(handle=h, index=1, flow_in=flow, dtype=tf.float32),
        raw.TensorArrayPack(handle=h, flow_in=flow, dtype=tf.float32),
        raw.TensorArrayGather(handle=h, indices=[2, 0], flow_in=flow, dtype=tf.float32),
        *raw.TensorArrayConcat(handle=h, flow_in=flow, dtype=tf.float32),
        size,
    ]


def first_version_rows():
    a = raw.TensorArray(size=2, dtype=tf.int32, clear_after_read=False)
    unpacked = raw.TensorArrayUnpack(handle=a, value=[[1, 2], [3, 4]], flow_in=0.0)
    b = raw.TensorArray(size=0, dtype=tf.string, dynamic_size=True, clear_after_read=False)
    scattered = raw.TensorArrayScatter(handle=b, indices=[1, 0], value=["x", "y"], flow_in=0.0)
    c = raw.TensorArray(size=2, dtype=tf.float32, clear_after_read=False)
    split = raw.TensorArraySplit(handle=c, value=[1.0, 2.0, 3.0], lengths=tf.constant([1, 2], tf.int64), flow_in=0.0)
    return [
        raw.TensorArrayPack(handle=a, flow_in=unpacked, dtype=tf.int32),
        raw.TensorArrayPack(handle=b, flow_in=scattered, dtype=tf.string),
        raw.TensorArrayRead(handle=c, index=1, flow_in=split, dtype=tf.float32),
    ]


def second_version():
    h = raw.TensorArrayV2(size=2, dtype=tf.float32, element_shape=[2], clear_after_read=False)
    flow = raw.TensorArrayWriteV2(handle=h, index=0, value=[1.0, 2.0], flow_in=0.0)
    flow = raw.TensorArrayScatterV2(handle=h, indices=[1], value=[[7.0, 8.0]], flow_in=flow)
    g = raw.TensorArrayGradV2(handle=h, flow_in=flow, source="gradients")
    added = raw.TensorArrayWriteV2(handle=g, index=0, value=[10.0, 20.0], flow_in=flow)
    added = raw.TensorArrayWriteV2(handle=g, index=0, value=[1.0, 1.0], flow_in=added)
    other = raw.TensorArrayV2(size=2, dtype=tf.float32)
    split = raw.TensorArraySplitV2(handle=other, value=[1.0, 2.0, 3.0], lengths=tf.constant([2, 1], tf.int64), flow_in=0.0)
    return [
        raw.TensorArrayReadV2(handle=h, index=0, flow_in=flow, dtype=tf.float32),
        raw.TensorArrayGatherV2(handle=h, indices=[0, 1], flow_in=flow, dtype=tf.float32, element_shape=[2]),
        raw.TensorArrayReadV2(handle=g, index=0, flow_in=added, dtype=tf.float32),
        raw.TensorArraySizeV2(handle=h, flow_in=flow),
        *raw.TensorArrayConcatV2(handle=other, flow_in=split, dtype=tf.float32),
    ]


def gradients_of_first():
    h = raw.TensorArray(size=1, dtype=tf.float32)
    flow = raw.TensorArrayWrite(handle=h, index=0, value=[1.0, 2.0], flow_in=0.0)
    g = raw.TensorArrayGrad(handle=h, flow_in=flow, source="s")
    flow = raw.TensorArrayWrite(handle=g, index=0, value=[4.0, 5.0], flow_in=flow)
    return raw.TensorArrayRead(handle=g, index=0, flow_in=flow, dtype=tf.float32)


def stacked():
    h = raw.Stack(elem_type=tf.float32)
    first = raw.StackPush(handle=h, elem=[1.0, 2.0])
    with tf.control_dependencies([first]):
        second = raw.StackPush(handle=h, elem=3.0)
    with tf.control_dependencies([second]):
        top = raw.StackPop(handle=h, elem_type=tf.float32)
    with tf.control_dependencies([top]):
        bottom = raw.StackPop(handle=h, elem_type=tf.float32)
    with tf.control_dependencies([bottom]):
        close = raw.StackClose(handle=h)
    with tf.control_dependencies([close]):
        return [top, bottom, tf.identity(first)]


def twice():
    h = raw.TensorArray(size=1, dtype=tf.float32, tensor_array_name="named")
    flow = raw.TensorArrayWrite(handle=h, index=0, value=1.0, flow_in=0.0)
    return raw.TensorArrayWrite(handle=h, index=3, value=1.0, flow_in=flow)


show("first", first_version)
show("rows", first_version_rows)
show("second", second_version)
show("gradients", gradients_of_first)
show("stack", stacked)
show("too many rows", lambda: raw.TensorArrayUnpack(handle=raw.TensorArray(size=3, dtype=tf.int32), value=[1, 2], flow_in=0.0))
show("no array", lambda: raw.TensorArraySizeV2(handle=["a", "b", "c"], flow_in=0.0))
show("wrong container", lambda: raw.TensorArrayGradV2(handle=["_x", "y"], flow_in=0.0, source="s"))
show("empty stack", lambda: raw.StackPop(handle=raw.Stack(elem_type=tf.float32, stack_name="s"), elem_type=tf.int32))
show("empty pack", lambda: raw.TensorArrayPack(handle=raw.TensorArray(size=0, dtype=tf.int32), flow_in=0.0, dtype=tf.int32))
show("too new", first_version, producer=20)
show("too new", second_version, producer=26)
