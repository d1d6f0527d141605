"""Names and types of the operations that functions leave in their graphs: operators, constants, variables, calls."""
import tensorflow as tf

v = tf.Variable([1.0, 2.0], name="weights")
c = tf.constant([10.0, 20.0])


def show(label, concrete):
    print(label)
    for op in concrete.graph.get_operations():
        print("  ", op.name, op.type, [t.name for t in op.inputs])


@tf.function
def operators(x):
    y = -x * 2.0 + x / 4.0 - x
    return tf.nn.relu(y) @ tf.ones([2, 2]), y[0], x > 0.0


show("operators", operators.get_concrete_function(tf.TensorSpec([3, 2])))


@tf.function
def variables(signal):
    v.assign_add(signal)
    return v * signal + c, v.read_value()


show("variables", variables.get_concrete_function(tf.TensorSpec([2])))


@tf.function
def reductions(x):
    return tf.reduce_sum(x), tf.reduce_mean(x, axis=0), tf.argmax(x, axis=1), tf.reshape(x, [-1]), tf.concat([x, x], 0)


show("reductions", reductions.get_concrete_function(tf.TensorSpec([2, 2])))


@tf.function
def calls(x):
    return operators(x)[0]


print([op.type for op in calls.get_concrete_function(tf.TensorSpec([3, 2])).graph.get_operations()])


@tf.function
def branches(x):
    if x > 0.0:
        x = x * 2.0
    for _ in tf.range(3):
        x += 1.0
    return x


print(sorted({op.type for op in branches.get_concrete_function(tf.TensorSpec([])).graph.get_operations()}))
