"""tf.config and ops with a GPU, over the library that stands in for the driver (tests/cuda). Each test is a program of its own: devices are found once."""

import os
import subprocess
import sys

import pytest

DRIVER = os.environ.get("WEFT_STAND_IN_DRIVER", "")
# NVIDIA's own libraries, where they are installed, cannot work with it.
NO_LIBRARIES = {f"WEFT_{library}_LIBRARY": "/nowhere" for library in ("CUBLAS", "CUFFT", "CUSOLVER")}
needs_driver = pytest.mark.skipif(not os.path.exists(DRIVER), reason="no stand-in for the driver")


def run(code, **environment):
    program = "import numpy as np\nimport weft as tf\n" + code
    env = {**os.environ, **NO_LIBRARIES, "WEFT_CUDA_DRIVER": DRIVER, "TF_CPP_MIN_LOG_LEVEL": "2", **environment}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@needs_driver
def test_devices():
    out = run(
        """
gpu = tf.config.list_physical_devices("GPU")[0]
print(gpu)
print(tf.config.experimental.get_device_details(gpu))
print(tf.config.list_logical_devices("GPU"))
print(tf.test.is_gpu_available(), tf.test.is_gpu_available(min_cuda_compute_capability=(9, 1)), tf.test.gpu_device_name())
"""
    )
    assert out == [
        "PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')",
        "{'compute_capability': (9, 0), 'device_name': 'Stand-in GPU'}",
        "[LogicalDevice(name='/device:GPU:0', device_type='GPU')]",
        "True False /device:GPU:0",
    ]


@needs_driver
def test_hidden():
    assert run("print(tf.config.list_physical_devices('GPU'))", CUDA_VISIBLE_DEVICES="") == ["[]"]
    code = "tf.config.set_visible_devices([], 'GPU')\nprint(tf.config.list_logical_devices(), (tf.ones(3) + 1).device[-5:])"
    assert run(code) == ["[LogicalDevice(name='/device:CPU:0', device_type='CPU')] CPU:0"]


@needs_driver
def test_ops_and_memory():
    out = run(
        """
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
y = tf.linalg.matmul(x, x) + 1
print(y.device, y.numpy().tolist())
with tf.device("CPU:0"):
    print((x + 1).device[-5:])
v = tf.Variable([1.0, 2.0])
v.assign_add([1.0, 1.0])
before = v.read_value()
v.assign_add([1.0, 1.0])
print(v.device[-5:], before.numpy().tolist(), v.numpy().tolist())
info = tf.config.experimental.get_memory_info("GPU:0")
print(info["current"] > 0, info["peak"] >= info["current"])

@tf.function
def f(a):
    v.assign_sub(a)
    return tf.reduce_sum(v * a)
print(f(tf.constant([1.0, 2.0])).numpy(), v.numpy().tolist())
"""
    )
    assert out == [
        "/job:localhost/replica:0/task:0/device:GPU:0 [[8.0, 11.0], [16.0, 23.0]]",
        "CPU:0",
        "GPU:0 [2.0, 3.0] [3.0, 4.0]",
        "True True",
        "6.0 [2.0, 2.0]",
    ]


@needs_driver
def test_gradients_of_what_is_used_on_the_cpu():
    out = run(
        """
v, x = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0]) * 1.0
with tf.GradientTape() as tape:
    tape.watch(x)
    with tf.device("CPU:0"):
        y = v * v * x
print(v.device[-5:], x.device[-5:], y.device[-5:])
print([g.numpy().tolist() for g in tape.gradient(y, (v, x))])
"""
    )
    assert out == ["GPU:0 GPU:0 CPU:0", "[[6.0, 16.0], [1.0, 4.0]]"]


@needs_driver
def test_a_variable_that_is_two_arguments():
    # Values by hand.
    out = run(
        """
@tf.function
def f(a, b):
    first = tf.raw_ops.AssignAddVariableOp(resource=a, value=tf.constant([1.0, 2.0]))
    with tf.control_dependencies([first]):
        return tf.raw_ops.ReadVariableOp(resource=b, dtype=tf.float32) * 2.0
v, w = tf.Variable([1.0, 1.0]), tf.Variable([5.0, 5.0])
for a, b in ((v, w), (v, v), (w, w), (v, w)):
    print(f(a.handle, b.handle).numpy().tolist(), v.numpy().tolist())
"""
    )
    assert out == [
        "[10.0, 10.0] [2.0, 3.0]",
        "[6.0, 10.0] [3.0, 5.0]",
        "[12.0, 14.0] [3.0, 5.0]",
        "[12.0, 14.0] [4.0, 7.0]",
    ]


@needs_driver
def test_out_of_memory():
    out = run(
        """
held = []
try:
    for _ in range(10):
        held.append(tf.zeros([16 << 20]) + 1.0)
except tf.errors.ResourceExhaustedError as e:
    print("OOM when allocating tensor with shape[16777216] and type float on /job:localhost/replica:0/task:0/device:GPU:0" in str(e))
held.clear()
print(float(tf.reduce_sum(tf.ones([5]))))
""",
        WEFT_STAND_IN_MEMORY=str(1 << 28),
    )
    assert out == ["True", "5.0"]


STEPS = """
import ctypes, os
driver = ctypes.CDLL(os.environ["WEFT_CUDA_DRIVER"])
calls = lambda name: driver.weftStandInCalls(name.encode())

def same(make, inputs, reps=5):
    \"\"\"What make() gives (a step, variables) as a function on the GPU, call after call, and op by op on the CPU.\"\"\"
    def results(device, wrap):
        global r
        r = np.random.default_rng(1)
        with tf.device(device):
            step, variables = make()
            step = wrap(step)
            args = [tf.constant(x) for x in inputs]
            out = [[t.numpy() for t in tf.nest.flatten(step(*args))] for _ in range(reps)]
        return step, args, tf.nest.flatten(out) + [v.numpy() for v in variables]
    step, args, got = results("GPU:0", tf.function)
    for g, w in zip(got, results("CPU:0", lambda f: f)[2]):
        np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-5)
    return step, args
r = np.random.default_rng(1)
normal = lambda *shape: r.standard_normal(shape).astype("f")
"""


@needs_driver
def test_steps_are_recorded():
    out = run(
        STEPS
        + """
def make():
    w, b = tf.Variable(normal(4, 3)), tf.Variable(normal(3))
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.nn.relu(tf.matmul(x, w) + b)
            loss = tf.reduce_mean(y * y)
        for v, g in zip((w, b), tape.gradient(loss, (w, b))):
            v.assign_sub(0.1 * g)
        return loss, tf.reduce_sum(w)
    return step, (w, b)
f, (x,) = same(make, [normal(5, 4)], 8)
recorded, launched = calls("cuStreamBeginCapture_v2"), calls("cuGraphLaunch")
print(recorded >= 1, launched >= 4)
for _ in range(50):
    f(x)
print(calls("cuStreamBeginCapture_v2") - recorded <= 8, calls("cuGraphLaunch") - launched >= 40)
"""
    )
    assert out == ["True True", "True True"]


@needs_driver
def test_functions_to_compile_run_there_and_datasets_on_the_host():
    # Where things run as in TensorFlow: jit_compile asks for code, not for a device; elements of datasets are made on the host.
    out = run(
        STEPS
        + """
f = tf.function(lambda x: x * 2.0 + 1.0, jit_compile=True)
y = f(tf.constant([1.0, 2.0]))
with tf.device("CPU:0"):
    z = f(tf.constant([3.0]))
print(y.device[-5:], y.numpy().tolist(), z.device[-5:], z.numpy().tolist())
x = np.arange(12, dtype="f").reshape(6, 2)
data = tf.data.Dataset.range(3).map(lambda i: tf.gather(tf.constant(x), tf.range(2) + 2 * tf.cast(i, tf.int32)) * 2.0)
tf.test.experimental.sync_devices()
before = [calls(name) for name in ("cuLaunchKernel", "cuMemcpyHtoDAsync_v2")]
print([e.numpy().tolist() for e in data])
print([calls(name) for name in ("cuLaunchKernel", "cuMemcpyHtoDAsync_v2")] == before)

# A step in the way of Keras' fit: the element is taken in one function, the step is another that is to be compiled. The variable stays on the GPU.
w = tf.Variable([[1.0], [1.0]])
@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w) ** 2)
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss
@tf.function
def one(iterator):
    return step(next(iterator))
def losses():
    w.assign([[1.0], [1.0]])
    iterator = iter(data.repeat(4))
    return [float(one(iterator)) for _ in range(12)]
on_gpu, launched = losses(), calls("cuGraphLaunch")
print(w.device[-5:], launched >= 4)
v = np.ones((2, 1)); want = []
for i in list(range(3)) * 4:
    e = x[2 * i : 2 * i + 2] * 2.0
    want.append(float(((e @ v) ** 2).sum()))
    v = v - 0.001 * 2 * e.T @ (e @ v)
np.testing.assert_allclose(on_gpu, want, rtol=1e-4)
"""
    )
    assert out == [
        "GPU:0 [3.0, 5.0] CPU:0 [7.0]",
        "[[[0.0, 2.0], [4.0, 6.0]], [[8.0, 10.0], [12.0, 14.0]], [[16.0, 18.0], [20.0, 22.0]]]",
        "True",
        "GPU:0 True",
    ]


@needs_driver
def test_steps_in_the_way_of_fit_read_nothing_back():
    # Keras' fit takes an element and gives a step's loss as an optional; who asks for no loss waits for none. Values by hand.
    out = run(
        STEPS
        + """
v = tf.Variable([1.0, 2.0])
@tf.function(jit_compile=True)
def step(x):
    v.assign_add(x)
    return {"loss": tf.reduce_sum(v)}
@tf.function
def one(iterator):
    return tf.experimental.Optional.from_value(step(iterator.get_next()))
x = np.ones((1000, 2), "f")
tf.test.experimental.sync_devices()
before = calls("cuMemcpyHtoDAsync_v2")
data = tf.data.Dataset.from_tensor_slices(x).repeat()
whole = tf.data.Dataset.from_tensors(x)
print(calls("cuMemcpyHtoDAsync_v2") - before)
iterator = iter(data)
for _ in range(3):
    one(iterator)
waits = "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "cuEventSynchronize"
before = [calls(name) for name in waits]
for _ in range(5):
    found = one(iterator)
    assert found.has_value()
    loss = found.get_value()["loss"]
print([calls(name) for name in waits] == before, loss.device[-5:], float(loss))
with tf.device("CPU:0"):
    there = found.get_value()["loss"]
print(there.device[-5:], float(there))

# What reads such a value on the host has it brought.
@tf.function
def text(optional):
    return tf.strings.as_string(optional.get_value()["loss"])
print(text(found).numpy())
both = tf.raw_ops.AddN(inputs=[found._variant_tensor, found._variant_tensor])
print(tf.raw_ops.OptionalGetValue(optional=both, output_types=[tf.float32], output_shapes=[[]])[0].numpy())
twice = tf.function(lambda x: x * 2.0, jit_compile=True)
@tf.function
def loop(x, n):
    body = lambda i, x, said: (i + 1, twice(x), said + tf.strings.as_string(x, precision=1) + " ")
    return tf.while_loop(lambda i, *_: i < n, body, [0, x, ""])[1:]
print([t.numpy() for t in loop(tf.constant(1.5), tf.constant(3))])
"""
    )
    assert out == ["0", "True GPU:0 19.0", "CPU:0 19.0", "b'19.000000'", "38.0", "[np.float32(12.0), b'1.5 3.0 6.0 ']"]


@needs_driver
def test_steps_whose_results_are_kept_are_recorded():
    # Each loss lies elsewhere, as where a callback reads them later; the values are numpy's.
    out = run(
        STEPS
        + """
host, x = normal(4, 4), normal(8, 4)
w = tf.Variable(host)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss, tf.reduce_max(w)
on_gpu = tf.constant(x)
kept = [step(on_gpu) for _ in range(60)]
print(calls("cuGraphLaunch") >= 50, calls("cuStreamBeginCapture_v2") <= 3)
want = []
for _ in kept:
    y = x @ host
    host = host - 0.01 * 2 * x.T @ y
    want.append(((y * y).sum(), host.max()))
np.testing.assert_allclose([[t.numpy() for t in pair] for pair in kept], want, rtol=2e-4)
kept = [(a, b) for a, b in kept[::3]] + [step(on_gpu) for _ in range(20)]
for _ in range(20):
    y = x @ host
    host = host - 0.01 * 2 * x.T @ y
    want.append(((y * y).sum(), host.max()))
np.testing.assert_allclose([[t.numpy() for t in pair] for pair in kept], want[:60:3] + want[60:], rtol=2e-4)
"""
    )
    assert out == ["True True"]


@needs_driver
def test_errors_reach_numpy():
    # numpy asks for the buffer and drops what is wrong with it, more than once.
    out = run(
        """
for ask in (np.asarray, np.array, np.asarray, float, lambda t: t.numpy()):
    wrong = tf.gather(tf.constant([1.0, 2.0]), tf.constant([7], tf.int64))
    for _ in range(2):
        try:
            print(ask(wrong))
        except tf.errors.InvalidArgumentError as e:
            print(str(e)[:40])
print(np.asarray(tf.gather(tf.constant([1.0, 2.0]), tf.constant([1], tf.int64))))
"""
    )
    assert out == ["indices[...] is not in [0, batch)"] * 10 + ["[2.]"], out


@needs_driver
def test_the_child_of_a_fork():
    out = run(
        """
import os, sys
x = tf.constant([1.0, 2.0]) * 2.0
sys.stdout.flush()
child = os.fork()
if child == 0:
    for code in (lambda: x.numpy(), lambda: (tf.constant([5.0]) * 3.0).numpy()):
        try:
            print(code())
        except tf.errors.FailedPreconditionError as e:
            print("GPU 0 belongs to the process that this one was forked from" in str(e))
    with tf.device("CPU:0"):
        print((tf.constant([5]) * 3).numpy())
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
print(x.numpy())
"""
    )
    assert out == ["True", "True", "[15]", "[2. 4.]"]


@needs_driver
def test_results_of_a_function_over_two_gpus():
    out = run(
        """
@tf.function
def f(x):
    with tf.device("GPU:0"):
        y = x * 2.0
    with tf.device("GPU:1"):
        z = x * 3.0
    return y, z, tf.shape(x)
print([(t.device[-5:], t.numpy().tolist()) for t in f(tf.constant([1.0, 2.0]))])
""",
        WEFT_STAND_IN_DEVICES="2",
    )
    assert out == ["[('GPU:0', [2.0, 4.0]), ('GPU:1', [3.0, 6.0]), ('CPU:0', [2])]"]


@needs_driver
def test_loops_that_are_counted_do_not_ask():
    out = run(
        STEPS
        + """
def make():
    u = tf.Variable(normal(6, 6) * 0.3)
    def step(x):
        with tf.GradientTape() as tape:
            _, h = tf.while_loop(lambda t, h: t < 5, lambda t, h: (t + 1, tf.tanh(tf.matmul(h, u) + x[t])), [0, tf.zeros([2, 6])], maximum_iterations=5)
            loss = tf.reduce_sum(h * h)
        u.assign_sub(0.1 * tape.gradient(loss, u))
        return loss
    return step, (u,)
f, (x,) = same(make, [normal(5, 2, 6)])
f(x); f(x); f(x)
copies = calls("cuMemcpyDtoHAsync_v2")
f(x); f(x)
print(calls("cuMemcpyDtoHAsync_v2") - copies, calls("cuGraphLaunch") > 0)

@tf.function
def until(x):  # by data
    return tf.while_loop(lambda x: tf.reduce_sum(x) < 100.0, lambda x: (x * 2.0,), [x])[0]
print(until(tf.constant([1.0, 2.0])).numpy().tolist())
"""
    )
    assert out == ["0 True", "[64.0, 128.0]"]


@needs_driver
def test_convolutions():
    run(
        STEPS
        + """
for shape, filters, stride, padding in (((2, 7, 6, 3), (3, 3, 3, 4), 1, "SAME"), ((2, 8, 8, 2), (3, 3, 2, 4), 2, "SAME"), ((1, 9, 8, 3), (2, 3, 3, 2), 2, "VALID"),
                                        ((1, 6, 6, 2), (1, 1, 2, 3), 2, "SAME"), ((1, 5, 5, 18), (3, 3, 18, 17), 1, "SAME")):
    def make():
        w = tf.Variable(normal(*filters) * 0.1)
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.conv2d(x, w, stride, padding)
                loss = tf.reduce_sum(tf.nn.relu(y))
            dx, dw = tape.gradient(loss, (x, w))
            w.assign_sub(0.01 * dw)
            return loss, dx, y
        return step, (w,)
    same(make, [normal(*shape)], 3)
x, w = normal(1, 6, 6, 4), normal(3, 3, 2, 6)  # two groups
with tf.device("CPU:0"):
    want = tf.nn.conv2d(x, w, 1, "SAME").numpy()
np.testing.assert_allclose(tf.function(lambda x: tf.nn.conv2d(x, w, 1, "SAME"))(tf.constant(x)).numpy(), want, rtol=1e-5, atol=1e-5)
np.testing.assert_allclose(tf.nn.conv2d(tf.constant(x), w, 1, "SAME").numpy(), want, rtol=1e-5, atol=1e-5)
"""
    )


@needs_driver
def test_convolutions_by_a_library():
    # The library has engines for the same padding on both sides alone: a kernel writes what is to be padded, no copies of parts do.
    out = run(
        STEPS
        + """
def times():
    before = calls("cudnnBackendExecute")
    return lambda: calls("cudnnBackendExecute") > before
for shape, filters, stride, padding in (((2, 6, 8, 2), (3, 3, 2, 4), 2, "SAME"), ((1, 5, 6, 2), (2, 2, 2, 3), 1, "SAME"), ((2, 7, 6, 3), (3, 3, 3, 4), 1, "SAME"),
                                        ((1, 6, 5, 2), (3, 2, 2, 2), 2, [[0, 0], [2, 0], [0, 1], [0, 0]])):
    def make():
        w = tf.Variable(normal(*filters) * 0.1)
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.conv2d(x, w, stride, padding)
                loss = tf.reduce_sum(y * y)
            dx, dw = tape.gradient(loss, (x, w))
            w.assign_sub(0.01 * dw)
            return loss, dx, y
        return step, (w,)
    used = times()
    same(make, [normal(*shape)], 3)
    print(used(), calls("cuMemcpy3DAsync_v2") > 0)
""",
        WEFT_CUDNN_LIBRARY=DRIVER,
    )
    assert out == ["True False"] * 4


@needs_driver
def test_axes_on_the_gpu():
    # Values by hand.
    out = run(
        """
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
axes = tf.constant([1], tf.int64)
print(axes.backing_device[-5:])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.raw_ops.Prod(input=x, axis=axes)
print(tape.gradient(y, x).numpy().tolist())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.raw_ops.Sum(input=x * x, axis=axes)
print(tape.gradient(y, x).numpy().tolist())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.raw_ops.GatherV2(params=x, indices=[1, 1], axis=tf.constant(1, tf.int64))
print(tape.gradient(y, x).numpy().tolist())
with tf.Graph().as_default():  # a plain graph has the value
    print(tf.compat.v1.Session().run(tf.raw_ops.Sum(input=x, axis=axes)).tolist())
"""
    )
    assert out == [
        "GPU:0",
        "[[2.0, 1.0], [4.0, 3.0]]",
        "[[2.0, 4.0], [6.0, 8.0]]",
        "[[0.0, 2.0], [0.0, 2.0]]",
        "[3.0, 7.0]",
    ]


@needs_driver
def test_several_logical_devices():
    out = run(
        """
gpu = tf.config.list_physical_devices("GPU")[0]
try:
    tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration()])
except ValueError as e:
    print(e)
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=1), tf.config.LogicalDeviceConfiguration(memory_limit=64)])
print([d.name for d in tf.config.list_logical_devices("GPU")])
with tf.device("GPU:1"):
    x = tf.ones([1 << 20]) + 1.0
    v = tf.Variable([1.0, 2.0])
print(x.device[-5:], v.device[-5:], tf.config.experimental.get_memory_info("GPU:1")["current"] >= 1 << 22, tf.config.experimental.get_memory_info("GPU:0")["current"])
with tf.device("GPU:0"):
    print((v + 1.0).numpy().tolist())
    try:
        tf.identity(x) + 1.0
    except tf.errors.ResourceExhaustedError as e:
        print("OOM when allocating tensor with shape[1048576] and type float on /job:localhost/replica:0/task:0/device:GPU:0" in str(e))
with tf.device("GPU:1"):
    print(float(tf.reduce_sum(x)))
try:
    tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=1)])
except RuntimeError as e:
    print(e)
"""
    )
    assert out == [
        "Setting memory limit is required for GPU virtual devices",
        "['/device:GPU:0', '/device:GPU:1']",
        "GPU:1 GPU:1 True 0",
        "[2.0, 3.0]",
        "True",
        "2097152.0",
        "Virtual devices cannot be modified after being initialized",
    ]


@needs_driver
def test_casts_of_numbers_that_do_not_fit():
    # TensorFlow's kernels on CPUs.
    out = run(
        """
x = tf.constant([127.4, 128.0, 200.0, 300.0, -129.0, -200.0])
print(tf.cast(x, tf.int8).device[-5:], tf.cast(x, tf.int8).numpy().tolist(), tf.cast(x, tf.uint8).numpy().tolist())
print(tf.cast(tf.constant([1e5, -1e5]), tf.int16).numpy().tolist())
"""
    )
    assert out == ["GPU:0 [127, -128, -56, 44, 127, 56] [127, 128, 200, 44, 127, 56]", "[-31072, 31072]"]


@needs_driver
def test_without_the_compiler_it_says_so():
    program = """import weft as tf
x = tf.constant([1.0, 2.0])
print((x + x).device[-5:], (x + x).numpy().tolist(), tf.function(lambda x: x * x + x)(x).numpy().tolist())
tf.config.set_soft_device_placement(False)
try:
    with tf.device("GPU:0"):
        x + x
except tf.errors.InvalidArgumentError as e:
    print("refused")
"""
    env = {**os.environ, "WEFT_CUDA_DRIVER": DRIVER, "WEFT_JIT_LIBRARY": "/nowhere/libweft_jit.so"}
    env.pop("TF_CPP_MIN_LOG_LEVEL", None)
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout == "CPU:0 [2.0, 4.0] [2.0, 6.0]\nrefused\n", (done.stdout, done.stderr)
    assert done.stderr.count("there is a GPU, but no kernels for it") == 1, done.stderr
    assert "/nowhere/libweft_jit.so" in done.stderr and "WEFT_JIT_LIBRARY" in done.stderr


@needs_driver
def test_shapes_are_known_without_a_copy():
    out = run(
        STEPS
        + """
x = tf.constant(np.ones((3, 4), "f")) + 1
copies = calls("cuMemcpyDtoHAsync_v2")
print(x.shape, x.ndim, len(x), x.get_shape().as_list(), x._shape_tuple())
x.set_shape([3, None])
tf.matmul(x, x, transpose_b=True)
print(calls("cuMemcpyDtoHAsync_v2") - copies)
"""
    )
    assert out == ["(3, 4) 2 3 [3, 4] (3, 4)", "0"]


@needs_driver
def test_sync_devices_waits():
    out = run(
        STEPS
        + """
x = tf.ones([4]) + 1
waits = calls("cuStreamSynchronize")
tf.test.experimental.sync_devices()
print(calls("cuStreamSynchronize") - waits)
"""
    )
    assert out == ["1"]


@needs_driver
def test_arrays_go_where_ops_are():
    out = run(
        """
a = np.ones((2, 2), "f")
for t in (tf.constant(a), tf.convert_to_tensor(a), tf.cast(a, tf.float32), tf.convert_to_tensor([1.0])):
    print(t.backing_device[-5:])
with tf.device("CPU:0"):
    print(tf.convert_to_tensor(a).backing_device[-5:])
"""
    )
    assert out == ["GPU:0"] * 4 + ["CPU:0"]


@needs_driver
def test_traces_have_launches():
    out = run(
        """
from weft import _weft

@tf.function
def f(x):
    return tf.reduce_sum(tf.matmul(x, x) * 2.0)

x = tf.ones([8, 8])
f(x), f(x)
_weft.start_trace()
print(float(f(x)))
events = [e for e in _weft.stop_trace() if e[2] == "/device:GPU:0/stream:all"]
print(len(events) >= 2, all(e[4] >= e[3] for e in events), any("reduce" in e[1] for e in events))
"""
    )
    assert out == ["1024.0", "True True True"]


@needs_driver
def test_elements_are_copied_ahead():
    out = run(
        """
import ctypes, os
driver = ctypes.CDLL(os.environ["WEFT_CUDA_DRIVER"])
calls = lambda name: driver.weftStandInCalls(name.encode())
numbers = tf.data.Dataset.range(6).map(lambda i: {"x": tf.cast(i, tf.float32), "s": tf.strings.as_string(i)})
for made in (numbers.prefetch_to_device("/gpu:0"), numbers.prefetch_to_device("/gpu:0", 3), numbers.apply(tf.data.experimental.prefetch_to_device("GPU:0", 1)),
             numbers.apply(tf.data.experimental.copy_to_device("/gpu:0")), numbers.prefetch(1)):
    it = iter(made)
    first = next(it)
    print([float(first["x"])] + [float(e["x"]) for e in it], first["x"].backing_device[-5:], first["s"].numpy())
copies = calls("cuMemcpyHtoDAsync_v2")
next(iter(numbers.prefetch_to_device("/gpu:0", 3)))
print(calls("cuMemcpyHtoDAsync_v2") - copies)
print(float(numbers.prefetch_to_device("/gpu:0").reduce(0.0, lambda s, e: s + e["x"])))
"""
    )
    values = "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]"
    assert out == [f"{values} GPU:0 b'0'"] * 4 + [f"{values} CPU:0 b'0'", "4", "15.0"]


@needs_driver
def test_memory_fraction_of_a_session():
    out = run(
        """
v1 = tf.compat.v1
config = v1.ConfigProto(gpu_options=v1.GPUOptions(per_process_gpu_memory_fraction=0.25))
with tf.Graph().as_default(), v1.Session(config=config) as s:
    print(s.run(v1.constant([1.0]) + 1.0))
    try:
        s.run(v1.zeros([300 << 20], tf.uint8) + v1.ones([], tf.uint8))  # of 256 MiB
    except tf.errors.ResourceExhaustedError as e:
        print("OOM")
    print(s.run(v1.constant([2.0]) + 1.0))
"""
    )
    assert out == ["[2.]", "OOM", "[3.]"]


@needs_driver
def test_other_allocators_are_accepted():
    for name, lines in (("cuda_malloc_async", 0), ("cuda_malloc", 1), ("fast", 1)):
        env = {"TF_GPU_ALLOCATOR": name, "TF_CPP_MIN_LOG_LEVEL": "0"}
        env = {**os.environ, "WEFT_CUDA_DRIVER": DRIVER, **env}
        code = "import weft as tf; print(float(tf.ones([2])[1]))"
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
        assert done.stdout == "1.0\n", done.stderr
        assert done.stderr.count("TF_GPU_ALLOCATOR") == lines, done.stderr


@needs_driver
def test_mirrored_over_logical_gpus():
    out = run(
        """
gpu = tf.config.list_physical_devices("GPU")[0]
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=64 << 20)] * 2)
s = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
with s.scope():
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(3.0, aggregation=tf.VariableAggregation.SUM)

def f():
    c = tf.distribute.get_replica_context()
    i = tf.cast(c.replica_id_in_sync_group, tf.float32)
    x = tf.stack([i + 1, i * 10])
    w.assign_add(i + 1)
    return c.all_reduce("sum", x), c.all_reduce("mean", x), v * (i + 1)

for call in (lambda: s.run(f), tf.function(lambda: s.run(f))):
    a, m, y = call()
    for t in (a, m, y):
        print([r.numpy().tolist() for r in s.experimental_local_results(t)])
    print(s.reduce("SUM", y, axis=None).numpy().tolist(), float(w.numpy()))
"""
    )
    same = ["[[3.0, 10.0], [3.0, 10.0]]", "[[1.5, 5.0], [1.5, 5.0]]", "[[1.0, 2.0], [2.0, 4.0]]"]
    assert out == [*same, "[3.0, 6.0] 6.0", *same, "[3.0, 6.0] 9.0"]


@needs_driver
def test_errors_of_kernels_are_told():
    out = run(
        """
for f in (lambda t: t.numpy(), lambda t: float(t[1, 1]), lambda t: t.numpy()):
    y = tf.linalg.cholesky(tf.constant([[1.0, 2.0], [2.0, 1.0]]))
    try:
        print(f(y))
    except tf.errors.InvalidArgumentError as e:
        print("Cholesky decomposition was not successful. The input might not be valid." in str(e))
    print(float(tf.linalg.cholesky(tf.constant([[4.0]]))[0, 0]))
""",
        WEFT_CUSOLVER_LIBRARY=DRIVER,
    )
    assert out == ["True", "2.0"] * 3
