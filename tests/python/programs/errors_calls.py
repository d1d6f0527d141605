"""Errors from wrong calls: unknown attributes, arguments that are missing, unknown names, wrong structures."""
import tensorflow as tf


def report(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        print(label, "->", type(e).__name__, "|", str(e).splitlines()[0])


def kind(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        print(label, "->", type(e).__name__)


kind("no such function", lambda: tf.nothing)
kind("no such in math", lambda: tf.math.nothing)
kind("no such in nn", lambda: tf.nn.xyz)
kind("no such op", lambda: tf.raw_ops.NoSuchOp)
report("raw positional", lambda: tf.raw_ops.Add(1, 2))
report("raw ok", lambda: tf.raw_ops.Add(x=1, y=2))
report("raw missing", lambda: tf.raw_ops.Add(x=1))
report("raw unknown", lambda: tf.raw_ops.Relu(features=[1.0], wrong=2))
report("tensor attribute", lambda: tf.constant(1).foo)
report("tensor call", lambda: tf.constant(1)())
kind("reduce_sum keyword", lambda: tf.reduce_sum([1], axes=0))
kind("missing argument", lambda: tf.matmul([[1.0]]))
kind("too many", lambda: tf.abs(1, 2, 3))
report("constant nothing", lambda: tf.constant())
report("stack none", lambda: tf.stack([]))
report("add_n none", lambda: tf.add_n([]))
report("add None", lambda: tf.add(None, 1))
report("zip structure", lambda: tf.nest.map_structure(lambda a, b: a, [1, 2], [1]))
report("tape", lambda: tf.GradientTape().gradient(tf.constant(1.0), [tf.constant(1.0)]))
report("tape enter twice", lambda: [t.__enter__() for t in [tf.GradientTape()] * 2])
report("variable op", lambda: tf.Variable(1.0) + "s")
report("dataset map", lambda: tf.data.Dataset.range(3).map(lambda a, b: a))
report("dataset batch", lambda: tf.data.Dataset.range(3).batch(0))
report("dataset range", lambda: tf.data.Dataset.range())
report("module", lambda: tf.Module(name="1bad"))
report("checkpoint", lambda: tf.train.Checkpoint("x"))
report("function", lambda: tf.function(3)())
report("numpy of symbolic", lambda: tf.function(lambda x: x.numpy(), autograph=False)(tf.constant(1)))
report("eager only", lambda: tf.compat.v1.placeholder(tf.float32))
report("session", lambda: tf.compat.v1.Session().run(tf.constant(1)))
report("gradients eager", lambda: tf.gradients(tf.constant(1.0), tf.constant(1.0)))
report("op of eager", lambda: tf.constant(1.0).op)
report("graph of eager", lambda: tf.constant(1.0).graph)
report("name of eager", lambda: tf.constant(1.0).name)

e = tf.errors.InvalidArgumentError(None, None, "my message")
print(e, e.message, e.op, e.error_code, e.node_def, isinstance(e, tf.errors.OpError), isinstance(e, Exception))
for name in ("CancelledError", "UnknownError", "InvalidArgumentError", "DeadlineExceededError", "NotFoundError",
             "AlreadyExistsError", "PermissionDeniedError", "ResourceExhaustedError",
             "FailedPreconditionError", "AbortedError", "OutOfRangeError", "UnimplementedError", "InternalError",
             "UnavailableError", "DataLossError", "UnauthenticatedError"):
    c = getattr(tf.errors, name)
    print(name, c(None, None, "m").error_code, c.__mro__[1].__name__)
print(tf.errors.INVALID_ARGUMENT, tf.errors.OUT_OF_RANGE, tf.errors.NOT_FOUND)
try:
    raise tf.errors.UnimplementedError(None, None, "not there")
except tf.errors.OpError as err:
    print(type(err).__name__, err)
