"""tf.function: traces, signatures, concrete functions, variables, methods, errors, threads. What TensorFlow says was recorded from it."""

import collections
import copy
import functools
import gc
import logging
import pickle
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import weft as tf


def double(x):
    return x + x


def message(call, kind=Exception):
    with pytest.raises(kind) as e:
        call()
    return str(e.value)


class Count:
    """A function that counts its traces."""

    def __init__(self, **options):
        self.traces = 0

        def f(x):
            self.traces += 1
            return 1

        self.f = tf.function(f, **options)

    def new(self, *args):
        before = self.traces
        self.f(*args)
        return self.traces - before


def test_decorator_forms():
    @tf.function
    def plain(x):
        "A text."
        return x * 2

    @tf.function(jit_compile=False, reduce_retracing=True)
    def with_options(x):
        return x * 3

    assert plain(tf.constant(2)).numpy() == 4 and with_options(tf.constant(2)).numpy() == 6
    assert plain.__name__ == "plain" and plain.__doc__ == "A text." and plain.name == "plain"
    assert plain.python_function(2) == 4
    assert tf.function(functools.partial(double))(tf.constant(1.5)).numpy() == 3.0
    with pytest.raises(TypeError):
        tf.function(3)
    assert "foo is not supported" in message(
        lambda: tf.function(double, experimental_attributes={"foo": 1}), ValueError
    )


def test_python_values_are_constants_by_equality():
    c = Count()
    values = (
        1,
        1.0,
        True,
        2,
        "a",
        b"a",
        None,
        1j,
        (1,),
        [1],
        (1,),
        {"a": 1},
        {"a": 1.0},
        object,
        int,
        np.float32(1),
        np.float32(2),
        np.array([1.0]),
        np.array([2.0]),
        len,
        len,
        range(3),
        range(3),
        tf.TensorShape([1]),
        tf.TensorShape([1]),
        tf.TensorShape([2]),
    )
    assert [c.new(v) for v in values] == [
        1,
        0,
        0,
        1,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        1,
        0,
        1,
        1,
        1,
        0,
        1,
        0,
        1,
        0,
        1,
        0,
        1,
        1,
        1,
    ] or [c.new(v) for v in values][:22] == [0] * 22
    assert "Could not generate a generic TraceType for {1, 2}" in message(lambda: c.f({1, 2}), TypeError)


def test_variables_are_told_apart_by_type_and_alias():
    c = Count()
    a, b, fixed = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(2.0, trainable=False)
    assert [c.new(v) for v in (a, b, fixed, [a, a], [a, b], [b, a], [b, b])] == [1, 0, 1, 1, 1, 0, 0]


def test_objects_are_held_weakly():
    class Thing:
        pass

    c = Count()
    thing = Thing()
    ref = weakref.ref(thing)
    assert [c.new(thing), c.new(thing), c.new(Thing())] == [1, 0, 1]
    del thing
    gc.collect()
    assert ref() is None


def test_keywords_and_defaults_are_one_signature():
    traces = []

    @tf.function
    def f(x, training=False, *, mode="a"):
        traces.append((training, mode))
        return x if training else -x

    x = tf.constant(1.0)
    for call in (
        lambda: f(x),
        lambda: f(x, False),
        lambda: f(training=False, x=x),
        lambda: f(x, mode="a"),
        lambda: f(x, mode="a", training=False),
    ):
        assert call().numpy() == -1.0 and call().numpy() == -1.0
    assert traces == [(False, "a")]
    assert f(x, True).numpy() == 1.0
    assert f.experimental_get_tracing_count() == 2


def test_keyword_order_does_not_mix_arguments():
    @tf.function
    def f(a, b):
        return a - b

    one, five = tf.constant(1.0), tf.constant(5.0)
    assert f(a=one, b=one).numpy() == 0
    assert f(b=one, a=one).numpy() == 0
    assert f(b=one, a=five).numpy() == 4 and f(b=one, a=five).numpy() == 4
    assert f(a=one, b=five).numpy() == -4
    assert f.experimental_get_tracing_count() == 1


def test_structures_in_and_out():
    Point = collections.namedtuple("Point", "x y")

    @tf.function
    def f(p, d):
        return {"z": p.x + d["b"], "a": [p.y, None, (d["a"], 7)], "p": Point(p.x, p.y)}

    for _ in range(2):
        out = f(Point(tf.constant(1), tf.constant(2)), {"b": tf.constant(10), "a": tf.constant(20)})
        assert list(out) == ["z", "a", "p"]
        assert out["z"].numpy() == 11 and out["a"][0].numpy() == 2 and out["a"][1] is None
        assert out["a"][2][0].numpy() == 20 and out["a"][2][1].numpy() == 7
        assert isinstance(out["p"], Point) and out["p"].y.numpy() == 2
    # Dicts are the same whatever the order of their keys.
    assert f(Point(tf.constant(1), tf.constant(2)), {"a": tf.constant(20), "b": tf.constant(10)})["z"].numpy() == 11
    assert f.experimental_get_tracing_count() == 1


def test_shapes_and_reduce_retracing():
    shapes = []

    def f(x):
        shapes.append(x.shape.as_list())
        return tf.reduce_sum(x)

    g = tf.function(f)
    for n in (1, 2, 1, 2):
        assert g(tf.ones([n])).numpy() == n
    assert shapes == [[1], [2]]
    del shapes[:]
    g = tf.function(f, reduce_retracing=True)
    for n in (1, 2, 3, 4):
        assert g(tf.ones([n])).numpy() == n
    assert shapes == [[1], [None]]
    del shapes[:]
    g = tf.function(f)
    g.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert g(tf.ones([3])).numpy() == 3 and shapes == [[None]]


def test_input_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def s(x, y=3):
        return x * y

    assert s(tf.ones([2])).numpy().tolist() == [3, 3]
    assert s([1.0, 2.0]).numpy().tolist() == [3, 6]
    assert s(tf.ones([4])).shape == [4]
    assert s.experimental_get_tracing_count() == 1 and s.input_signature == (tf.TensorSpec([None], tf.float32),)
    signature = "for signature: (x: TensorSpec(shape=(None,), dtype=tf.float32, name=None), y: Literal[3] = <captured_default_value>)."
    for call, reason in (
        (
            lambda: s(tf.ones([2, 2])),
            "Can not cast TensorSpec(shape=(2, 2), dtype=tf.float32, name=None) to TensorSpec(shape=(None,), "
            "dtype=tf.float32, name=None)",
        ),
        (lambda: s(tf.ones([2], tf.int32)), "Can not cast TensorSpec(shape=(2,), dtype=tf.int32, name=None) to "),
        (lambda: s(tf.ones([2]), 4), "Can not cast 4 to Literal[3]"),
        (lambda: s(), "missing a required argument: 'x'"),
        (lambda: s(1, 2, 3), "too many positional arguments"),
        (lambda: s(tf.ones([2]), z=2), "got an unexpected keyword argument 'z'"),
        (lambda: s("a"), "Cannot convert 'a' to EagerTensor of dtype float"),
        (
            lambda: s(None),
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
    ):
        text = message(call, TypeError)
        assert text.startswith(f"Binding inputs to tf.function failed due to `{reason}") and text.endswith(signature), (
            text
        )
    for signature, reason in (
        (3, "input_signature must be either a tuple or a list, got <class 'int'>."),
        (
            [3],
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args [3] with types [<class 'int'>].",
        ),
        ([tf.TensorSpec([1])] * 2, "input_signature contains 1 extra type constraints."),
    ):
        assert message(lambda: tf.function(lambda x: x, input_signature=signature), TypeError) == reason
    assert (
        message(lambda: tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([1])]), TypeError)
        == "input_signature missing type constraint for y"
    )


def test_calls_that_do_not_fit():
    two = tf.function(lambda a, b: a)
    for call, reason in (
        (lambda: two(1), "missing a required argument: 'b'"),
        (lambda: two(1, 2, 3), "too many positional arguments"),
        (lambda: two(1, c=2), "missing a required argument: 'b'"),
        (lambda: two(1, 2, a=1), "multiple values for argument 'a'"),
    ):
        text = message(call, TypeError)
        assert text.startswith(
            f"Binding inputs to tf.function failed due to `{reason}`. Received args: (1"
        ) and text.endswith("for signature: (a, b).")
    text = message(lambda: tf.function(lambda: object(), autograph=False)(), TypeError)
    assert text.startswith(
        "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None values; in compilation of"
    )
    assert text.endswith("found return value of type object, which is not a Tensor or ExtensionType.")


def test_concrete_function():
    f = tf.function(lambda a, b: a)
    c = f.get_concrete_function(tf.TensorSpec([1]), {"a": tf.TensorSpec([2]), "b": [tf.TensorSpec([1]), 3]})
    assert [t.name for t in c.inputs] == ["a:0", "b:0", "b_1:0"] and c._arg_keywords == ["a", "b", "b_1"]
    assert c.structured_input_signature == (
        (
            tf.TensorSpec([1], name="a"),
            {"a": tf.TensorSpec([2], name="b_a"), "b": [tf.TensorSpec([1], name="b_b_0"), 3]},
        ),
        {},
    )
    assert c.name.startswith(b"__inference_<lambda>_") and isinstance(c.graph, tf.Graph)
    assert c.outputs[0].name == "Identity:0" and c.structured_outputs.dtype is tf.float32
    assert c.output_shapes == tf.TensorShape([1]) and c.output_dtypes is tf.float32
    power = tf.function(lambda a, b: a**b).get_concrete_function(tf.TensorSpec(None, tf.float32), b=2)
    assert (
        power(tf.constant(10.0)).numpy() == 100
        and power(a=tf.constant(3.0)).numpy() == 9
        and power(tf.constant(3.0), b=2).numpy() == 9
    )
    assert "Can not cast 3 to Literal[2]" in message(lambda: power(tf.constant(1.0), b=3), TypeError)
    assert str(power) == (
        "ConcreteFunction Input Parameters:\n  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)\n"
        "  b (POSITIONAL_OR_KEYWORD): Literal[2]\nOutput Type:\n  TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)\nCaptures:\n  None"
    )
    string = tf.function(double).get_concrete_function(tf.constant("a"))
    text = message(lambda: string(tf.constant(1)), tf.errors.InvalidArgumentError)
    assert (
        text.startswith("cannot compute __inference_double_")
        and "as input #0(zero-based) was expected to be a string tensor but is a int32 tensor [Op:__inf" in text
    )
    two = tf.function(lambda a, b: a).get_concrete_function(tf.ones([1]), tf.ones([1]))
    assert message(lambda: two(tf.ones([1])), TypeError).endswith(
        "Fallback to flat signature also failed due to: <lambda>(a, b) missing required arguments: b."
    )
    assert message(lambda: two(1, 2, 3), TypeError).endswith(
        "Fallback to flat signature also failed due to: <lambda>(a, b) takes 2 positional arguments, got 3."
    )
    variadic = tf.function(lambda *args, **kw: args[0]).get_concrete_function(tf.ones([1]), 3, z=tf.ones([2]), a=2)
    assert str(variadic.function_type) == (
        "(args_0: TensorSpec(shape=(1,), dtype=tf.float32, name=None), args_1: Literal[3], /, *, a: Literal[2], z: TensorSpec("
        "shape=(2,), dtype=tf.float32, name=None)) -> TensorSpec(shape=(1,), dtype=tf.float32, name=None)"
    )


def test_graph_of_a_function():
    c = tf.function(lambda x: tf.nn.relu(x) * 2.0).get_concrete_function(tf.TensorSpec([2]))
    names = [n.name for n in c.graph.as_graph_def().node]
    assert [(n.name, n.op, list(n.input)) for n in c.graph.as_graph_def().node] == [
        ("x", "Placeholder", []),
        ("Relu", "Relu", ["x"]),
        (names[2], "Const", []),
        ("mul", "Mul", ["Relu", names[2]]),
        ("Identity", "Identity", ["mul"]),
    ]
    assert c.function_def.signature.name == c.name.decode()


def test_results_wait_for_reads_in_the_graph():
    v = tf.Variable([1.0, 2.0])
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    def waits(f):
        inner = tf.function(f, autograph=False)
        outer = tf.function(lambda x: inner(x), autograph=False).get_concrete_function(tf.constant(1.0))
        (made,) = outer.graph.as_graph_def().library.function
        # Without the table's scope, which TensorFlow has in the names.
        return [name.rpartition("/")[2] for name in made.control_ret]

    assert waits(lambda x: v + x) == ["ReadVariableOp"]
    assert waits(lambda x: (tf.gather(v, [0]), x)) == ["Gather"]
    assert waits(lambda x: tf.raw_ops.VariableShape(input=v.handle) + 1) == ["VariableShape"]
    assert waits(lambda x: (tf.raw_ops.VarIsInitializedOp(resource=v.handle), x)) == ["VarIsInitializedOp"]
    assert waits(lambda x: (table.lookup(tf.constant(["a"])), x)) == ["LookupTableFindV2"]
    assert waits(lambda x: (table.size(), x)) == ["LookupTableSizeV2"]


def test_variables_are_made_once():
    state, traces = [], []

    @tf.function
    def f(x):
        traces.append(0)
        if not state:
            state.append(tf.Variable(x * 0.0 + 5.0 if False else 5.0))
        return state[0].assign_add(x)

    assert f(tf.constant(1.0)).numpy() == 6 and f(tf.constant(1.0)).numpy() == 7
    assert (
        len(traces) == 2 and f.experimental_get_tracing_count() == 2
    )  # TensorFlow traces once more after variables were made

    @tf.function
    def each_time():
        return tf.Variable(1.0)

    assert "tf.function only supports singleton tf.Variables created on the first call." in message(
        each_time, ValueError
    )

    @tf.function
    def later(x):
        if x.shape[0] == 2:
            state.append(tf.Variable(1.0))
        return x

    later(tf.ones([1]))
    assert (
        message(lambda: later(tf.ones([2])), ValueError)
        == "Creating variables on a non-first call to a function decorated with tf.function."
    )


def test_variables_as_arguments():
    @tf.function
    def add(v, x):
        v.assign_add(x)
        return v.read_value()

    p, q = tf.Variable(10.0), tf.Variable(20.0)
    for k in (1, 2):
        assert add(p, 1.0).numpy() == 10 + k and add(q, 1.0).numpy() == 20 + k
    assert add.experimental_get_tracing_count() == 1

    @tf.function
    def inner_gradient(v):
        with tf.GradientTape() as tape:
            y = v * v * 3.0
        return tape.gradient(y, v)

    assert inner_gradient(p).numpy() == 72 and inner_gradient(q).numpy() == 132
    square = tf.function(lambda v: v * v)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = square(p)
        assert tape.gradient(y, p).numpy() == 24


def test_gradients_through_functions():
    v = tf.Variable(3.0)
    f = tf.function(lambda x: v * x * x)
    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        dx, dv = tape.gradient(y, [x, v])
        assert (dx.numpy(), dv.numpy()) == (12, 4)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    assert outer.gradient(g, x).numpy() == 6


def test_captures_are_by_reference():
    v = tf.Variable(1.0)
    big = tf.ones([200])
    f = tf.function(lambda: tf.reduce_sum(big) * v)
    assert f().numpy() == 200
    v.assign(2.0)
    assert f().numpy() == 400
    c = f.get_concrete_function()
    assert len(c.captured_inputs) == 2 and c.variables == (v,) and c.trainable_variables == (v,)


def test_methods_are_functions_of_their_instance():
    class Scale:
        def __init__(self, k):
            self.k = k

        @tf.function
        def __call__(self, x):
            return x * self.k

        @tf.function
        def plus(self, x, y=1.0):
            return x + self.k + y

    a, b = Scale(2.0), Scale(3.0)
    x = tf.constant(1.0)
    for _ in range(2):
        assert (a(x).numpy(), b(x).numpy(), a.plus(x).numpy(), b.plus(x, y=2.0).numpy()) == (2, 3, 4, 6)
    assert a.plus is a.plus and a.plus is not b.plus and a.plus.experimental_get_tracing_count() == 1
    ref = weakref.ref(a)
    del a
    gc.collect()
    assert ref() is None
    made = [Scale(float(i)) for i in range(50)]
    assert [m.plus(x).numpy() for m in made] == [2.0 + i for i in range(50)]
    assert tf.function(b)(x).numpy() == 3 and tf.function(b.plus)(x).numpy() == 5


def test_run_functions_eagerly():
    from weft._src.function import function as module

    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x

    f(tf.constant(1))
    f(tf.constant(1))
    module.run_functions_eagerly(True)
    try:
        assert module.functions_run_eagerly()
        f(tf.constant(1))
    finally:
        module.run_functions_eagerly(False)
    f(tf.constant(1))
    assert seen == [False, True]


def test_nested_functions_and_recursion():
    inner = tf.function(lambda x: x * 2)
    outer = tf.function(lambda x: inner(x) + inner(x + 1))
    assert outer(tf.constant(3)).numpy() == 14
    names = [n.op for n in outer.get_concrete_function(tf.constant(3)).graph.as_graph_def().node]
    assert names.count("PartitionedCall") == 2

    @tf.function
    def countdown(n):
        return countdown(n - 1) if n > 0 else tf.constant(0)

    assert countdown(5).numpy() == 0
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        with pytest.raises(Exception):
            countdown(tf.constant(5))
    finally:
        sys.setrecursionlimit(limit)
    assert countdown(3).numpy() == 0


def test_effects_in_order_and_unused_code_is_dropped():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        first = v.read_value()
        v.assign(first * 10)
        unused = tf.linalg.inv(tf.zeros([2, 2]))  # noqa: F841: nothing needs it
        v.assign_add(1.0)
        return first, v.read_value()

    assert [t.numpy() for t in f()] == [1, 11] and [t.numpy() for t in f()] == [11, 111]


def test_errors_of_user_code():
    @tf.function
    def f(x):
        raise KeyError("missing")

    with pytest.raises(KeyError, match="missing"):
        f(tf.constant(1))

    @tf.function(autograph=False)
    def g(x):
        raise RuntimeError("as it is")

    with pytest.raises(RuntimeError, match="^as it is$"):
        g(tf.constant(1))
    assert not tf.inside_function()
    divide = tf.function(lambda x: 1 // x)
    text = message(lambda: divide(tf.constant(0)), tf.errors.InvalidArgumentError)
    assert "division by zero" in text.lower() and "[Op:__inference_" in text
    assert divide(tf.constant(1)).numpy() == 1


def test_leaked_tensors():
    leaked = []

    @tf.function
    def leak(x):
        leaked.append(x * 2)
        return x

    leak(tf.constant(1))
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        leaked[0] + 1
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        tf.function(lambda x: leaked[0] + x, autograph=False)(tf.constant(1))


def test_retracing_is_told(caplog):
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        f = tf.function(lambda x: x)
        for i in range(12):
            f(i)
    texts = [r.getMessage() for r in caplog.records if "retracing" in r.getMessage()]
    assert [t.split(" calls to ")[0] for t in texts] == ["5 out of the last 5", "6 out of the last 6"]
    assert texts[0].endswith("for  more details.")
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        g = tf.function(lambda y: y)
        for i in range(6):
            for _ in range(4):
                g(i)
    assert not [r for r in caplog.records if "retracing" in r.getMessage()]


def test_copies():
    f = tf.function(double)
    assert copy.deepcopy(f)(tf.constant(2)).numpy() == 4
    f(tf.constant(1))
    for refused in (f, f.get_concrete_function(tf.constant(1))):
        with pytest.raises(TypeError, match="cannot pickle 'FuncGraph' object"):
            copy.deepcopy(refused)
    for other in (copy.copy(f), pickle.loads(pickle.dumps(f))):
        assert other.experimental_get_tracing_count() == 0 and other(tf.constant(2)).numpy() == 4


def test_threads():
    traces = []

    @tf.function
    def f(x, k):
        traces.append(k)
        return tf.reduce_sum(x) * k

    wrong = []

    def work(number):
        for i in range(60):
            k = i % 3
            if f(tf.ones([4]) * float(number), k).numpy() != 4.0 * number * k:
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and sorted(traces) == [0, 1, 2]


def test_other_threads_run_while_a_function_does():
    f = tf.function(lambda x: tf.linalg.matmul(x, x))
    x = tf.ones([600, 600])
    f(x)
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    t = threading.Thread(target=tick)
    t.start()
    begin = time.perf_counter()
    for _ in range(5):
        f(x)
    end = time.perf_counter()
    stop.set()
    t.join()
    assert any(begin < at < end for at in ticks)


def test_calls_leave_nothing_behind():
    v = tf.Variable(1.0)
    f = tf.function(lambda x, k=2: {"a": x * v, "b": [x, None]})
    x = tf.constant(1.0)

    def calls(n):
        for _ in range(n):
            f(x)
            f(x, k=2)
            with tf.GradientTape() as tape:
                y = f(x)["a"]
            tape.gradient(y, v)

    calls(50)
    gc.collect()
    before = (
        sys.getrefcount(x),
        sys.getrefcount(f),
        sys.getrefcount(None) if sys.version_info < (3, 12) else 0,
        len(gc.get_objects()),
    )
    calls(2000)
    gc.collect()
    after = (
        sys.getrefcount(x),
        sys.getrefcount(f),
        sys.getrefcount(None) if sys.version_info < (3, 12) else 0,
        len(gc.get_objects()),
    )
    assert after[:2] == before[:2] and abs(after[2] - before[2]) < 100 and after[3] - before[3] < 100


def test_captured_tensors_have_gradients():
    x = tf.constant(3.0)
    f = tf.function(lambda: x * x * 2.0)
    assert f().numpy() == 18
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f()
    assert tape.gradient(y, x).numpy() == 12
    assert len(f.get_concrete_function().captured_inputs) == 1
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        w = v * 3.0
        y = tf.function(lambda: w * w)()
    assert tape.gradient(y, v).numpy() == 18


def test_objects_as_arguments_are_known_by_identity():
    class Config:
        def __init__(self, k):
            self.k = k

    @tf.function
    def f(config, x):
        return x * config.k

    x = tf.constant(2.0)
    for i in range(200):  # many of them at addresses of those before
        config = Config(float(i))
        assert f(config, x).numpy() == 2 * i and f(config, x).numpy() == 2 * i
    config.k = 1000.0
    assert f(config, x).numpy() == 2 * 199  # as it was when it was traced


def test_iterators_are_known_without_python():
    @tf.function
    def total(iterator, n):
        s = tf.constant(0, tf.int64)
        for _ in range(n):
            s += next(iterator)
        return s

    one, other = (iter(tf.data.Dataset.range(start, 1000)) for start in (0, 100))
    assert [int(total(one, 2)) for _ in range(3)] == [1, 5, 9]
    total._take_calls()
    assert [int(total(one, 2)) for _ in range(3)] == [13, 17, 21]
    assert total._take_calls() == 3
    assert [int(total(other, 2)) for _ in range(3)] == [201, 205, 209] and int(total(one, 2)) == 25
    assert total.experimental_get_tracing_count() == 1
    for i in range(50):  # many of them at addresses of those before
        assert int(total(iter(tf.data.Dataset.range(i, 100)), 2)) == 2 * i + 1
    wide = iter(tf.data.Dataset.from_tensor_slices(tf.constant([[1, 2], [3, 4]], tf.int64)))
    assert total(wide, 2).numpy().tolist() == [4, 6] and total.experimental_get_tracing_count() == 2
    with pytest.raises(tf.errors.OutOfRangeError):
        total(wide, 2)


def test_results_of_several_tensors_are_put_together_by_their_specs():
    @tf.function
    def f(x):
        ragged = tf.RaggedTensor.from_row_lengths(x, [1, 2])
        return {"r": ragged, "s": [tf.sparse.from_dense(x), None]}, tf.experimental.Optional.from_value((x, ragged))

    for i in range(1, 4):
        x = tf.constant([i, 0, 2 * i])
        found, optional = f(x)
        assert type(found["r"]) is tf.RaggedTensor and found["r"].to_list() == [[i], [0, 2 * i]]
        assert type(found["s"][0]) is tf.SparseTensor and found["s"][0].values.numpy().tolist() == [i, 2 * i]
        assert found["s"][1] is None
        assert optional.has_value().numpy() and optional.get_value()[0].numpy().tolist() == [i, 0, 2 * i]
        assert optional.get_value()[1].to_list() == [[i], [0, 2 * i]]
    with tf.GradientTape() as tape:
        y = tf.constant([1.0, 2.0, 3.0])
        tape.watch(y)
        g = tf.function(lambda y: tf.RaggedTensor.from_row_lengths(y * y, [1, 2]))
        for _ in range(3):
            s = g(y)
        loss = tf.reduce_sum(s)
    assert tape.gradient(loss, y).numpy().tolist() == [2, 4, 6]


def test_arrays_are_tensors_of_their_values_now():
    @tf.function
    def f(a, b):
        return a * b

    a, two = np.arange(3, dtype=np.float32), tf.constant(2.0)
    for _ in range(3):
        assert f(a, two).numpy().tolist() == [0, 2, 4] and f(b=two, a=a).numpy().tolist() == [0, 2, 4]
    first = f(a, two)
    a[0] = 10
    assert f(a, two).numpy().tolist() == [20, 2, 4] and first.numpy().tolist() == [0, 2, 4]
    assert f.experimental_get_tracing_count() == 1
    g = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    for _ in range(2):
        assert g(np.array([1.0, 2.0])).dtype is tf.float32 and g(np.array([1, 2], np.float32)).dtype is tf.float32
