"""tf.config and ops with a GPU, over the library that stands in for the driver (tests/cuda). Each test is a program of its own: devices are found once."""

import os
import subprocess
import sys

import pytest

DRIVER = os.environ.get("WEFT_STAND_IN_DRIVER", "")
needs_driver = pytest.mark.skipif(not os.path.exists(DRIVER), reason="no stand-in for the driver")


def run(code, **environment):
    program = "import numpy as np\nimport weft as tf\n" + code
    env = {**os.environ, "WEFT_CUDA_DRIVER": DRIVER, "TF_CPP_MIN_LOG_LEVEL": "2", **environment}
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
