"""What libraries ask of concrete functions and their graphs, besides calling them."""

import tensorflow as tf

v = tf.Variable(2.0, name="v")
frozen = tf.Variable(3.0, name="frozen", trainable=False)
table = tf.constant([1.0, 2.0])


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        print(what, type(error).__name__, str(error).split("\n")[0][:150])


@tf.function
def f(x, y=3.0, *, k=True):
    return {"a": x * v + y, "b": (table + frozen, x)}


c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
print(type(c).__name__, type(c.inference_fn).__name__, c._inference_function is c.inference_fn)
print(c.inference_fn.name == c.name, c.inference_fn.graph is c.graph, c._func_graph is c.graph)
print(c.inference_fn.function_type == c.function_type, c.inference_fn.children)
print(c.inference_fn.definition.signature.name.encode() == c.name)
print([a.name for a in c.inference_fn.cached_definition.signature.input_arg])
print(sorted(c.inference_fn.attributes))
print(c.structured_input_signature)
print(c.structured_outputs)
print(c.output_shapes, c.output_dtypes, c._output_shapes)
print([x.name for x in c.variables], [x.name for x in c.trainable_variables])
print([x.name for x in c.graph.variables], [x.name for x in c.graph.trainable_variables])
print([t.dtype for t in c.captured_inputs], [t.dtype for t in c.graph.external_captures])
print([t.dtype for t in c.graph.internal_captures], c.graph.deferred_external_captures, c.graph.deferred_internal_captures)
print(c.graph.output_types, c.graph.output_shapes, c.graph.building_function)
print(c._arg_keywords, c._num_positional_args, c._as_name_attr_list.name.encode() == c.name)
print([a.name for a in c.function_def.signature.input_arg], [a.name for a in c.function_def.signature.output_arg])
print(c.function_def.signature.is_stateful, len(c.inputs), len(c.outputs))

# ---- calls of the function below
x = tf.constant([1.0, 10.0])
flat = c.inference_fn.call_flat(x, *c.captured_inputs)
print(type(flat).__name__, [t.numpy() for t in flat])
print(c.inference_fn.call_preflattened([x, *c.captured_inputs]))
attempt("left out", lambda: c.inference_fn.call_with_captures((x,), {}, c.captured_inputs))
print(c.inference_fn.call_with_captures((x, 3.0), {"k": True}, c.captured_inputs)["a"].numpy())
attempt("captures", lambda: c.inference_fn(x))
attempt("count", lambda: c.inference_fn.call_flat(x))
print({k: tf.nest.map_structure(lambda t: t.numpy(), r) for k, r in c._call_flat([x], c.captured_inputs).items()})

plain = tf.function(lambda a, b: (a + b, None)).get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
print(plain.inference_fn(tf.constant(1), tf.constant(2)), plain.inference_fn.call_flat(tf.constant(3), tf.constant(4)))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = c.inference_fn.call_flat(x, *c.captured_inputs)[0]
print("gradient", tape.gradient(y, x))

# ---- functions in functions
@tf.function
def inner(x):
    return x + 1


@tf.function
def outer(x):
    return inner(x) * 2


o = outer.get_concrete_function(tf.TensorSpec([], tf.float32))
print(len(o.inference_fn.children), [n.op for n in o.function_def.node_def])
print([f.signature.name.rsplit("_", 1)[0] for f in o.graph.as_graph_def().library.function])

# ---- other captures
c.set_external_captures([t if t.dtype == tf.resource else tf.constant([5.0, 6.0]) for t in c.captured_inputs])
print(c(x)["b"][0].numpy())
other = tf.Variable(100.0)
first = c.captured_inputs
c.set_external_captures([other.handle if i == 0 else t for i, t in enumerate(first)])
print(c(x)["a"].numpy(), f(x)["b"][1].numpy())
count = [0]


def value():
    count[0] += 1
    return tf.fill([2], float(count[0]))


c.set_external_captures([t if t.dtype == tf.resource else value for t in first])
print(c(x)["b"][0].numpy(), c(x)["b"][0].numpy(), count)


@tf.function
def late():
    return table * 2.0


late_trace = late.get_concrete_function()
late_trace.replace_capture_with_deferred_capture(late_trace.captured_inputs[0], lambda: tf.constant([7.0, 8.0]), tf.TensorSpec([2]))
print(late_trace().numpy(), len(late_trace.captured_inputs))
attempt("not there", lambda: late_trace.replace_capture_with_deferred_capture(x, lambda: x, tf.TensorSpec([2])))


# ---- values of the time of the call
now = [1.0]


@tf.function
def deferred(x):
    t = tf.compat.v1.get_default_graph().capture_call_time_value(lambda: tf.constant(now[0]), tf.TensorSpec([]))
    return x + t


print(deferred(tf.constant(1.0)).numpy())
now[0] = 5.0
print(deferred(tf.constant(1.0)).numpy())
d = deferred.get_concrete_function(tf.constant(1.0))
now[0] = 6.0
print(d(tf.constant(1.0)).numpy(), [t.numpy() for t in d.captured_inputs], len(d.graph.deferred_external_captures), len(d.graph.external_captures))

# ---- in a graph of version 1
with tf.Graph().as_default() as g:
    o.add_to_graph(g)
    names = [fn.signature.name for fn in g.as_graph_def().library.function]
    print(len(names), o.name.decode() in names, g._get_function(o.name) is not None, g._is_function("nothing"))
    shapes = tf.compat.v1.placeholder(tf.float32, [None, 2], name="p")
    print(g.as_graph_def(add_shapes=True).node[0].attr["_output_shapes"].list.shape[0])
