"""tf.config: threads and the optimiser's switches reach the engine. Each case is a program of its own: settings hold for a process."""

import subprocess
import sys
import textwrap


def _run(code):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


RAN = """
    import weft as tf, weft._src.profiler.recording as r
    def ran(f, *args):
        f(*args)
        recording = r.Recording(None)
        f(*args)
        return sorted(e["display"] for e in recording.stop())
"""


def test_threads_of_datasets():
    count = """
        import os, time, weft as tf
        tf.config.threading.set_inter_op_parallelism_threads({})
        def slow(x):
            return tf.py_function(lambda y: (time.sleep(0.05), y)[1], [x], tf.int64)
        before = len(os.listdir("/proc/self/task"))
        for _ in tf.data.Dataset.range(4).map(slow, num_parallel_calls=2):
            print(len(os.listdir("/proc/self/task")) - before)
            break
    """
    one, two = (int(_run(count.format(n))[0]) for n in (1, 2))
    assert two == one + 1


def test_threads_before_the_first_op_only():
    out = _run("""
        import weft as tf
        tf.config.threading.set_inter_op_parallelism_threads(2)
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.constant(1) + 1
        tf.config.threading.set_inter_op_parallelism_threads(2)
        for set_threads in tf.config.threading.set_inter_op_parallelism_threads, tf.config.threading.set_intra_op_parallelism_threads:
            try:
                set_threads(3)
            except RuntimeError as e:
                print(e)
        print(tf.config.threading.get_inter_op_parallelism_threads(), tf.config.threading.get_intra_op_parallelism_threads())
    """)
    assert out == [
        "Inter op parallelism cannot be modified after initialization.",
        "Intra op parallelism cannot be modified after initialization.",
        "2 1",
    ]


def test_switches_of_the_optimizer():
    out = _run(
        RAN
        + """
    def make():
        return tf.function(lambda x: x @ (tf.eye(2) + tf.ones([2, 2])))
    x = tf.ones([2, 2])
    print("AddV2" in ran(make(), x))
    tf.config.optimizer.set_experimental_options({"constant_folding": False, "foo": 1})
    print("AddV2" in ran(make(), x))
    print(tf.config.optimizer.get_experimental_options())
    tf.config.optimizer.set_experimental_options({"constant_folding": None, "disable_meta_optimizer": True})
    print("AddV2" in ran(make(), x))
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
    print("AddV2" in ran(make(), x))
    print(tf.config.optimizer.get_experimental_options())
    """
    )
    off = "{'constant_folding': False, 'disable_model_pruning': False, 'disable_meta_optimizer': False}"
    assert out == [
        "False",
        "True",
        off,
        "True",
        "False",
        "{'disable_model_pruning': False, 'disable_meta_optimizer': False}",
    ]


def test_jit():
    out = _run(
        RAN
        + """
    def make():
        return tf.function(lambda x: tf.exp(x) * tf.sin(x) + tf.reduce_sum(x))
    x = tf.ones([8, 8])
    print("_Compiled" in ran(make(), x))
    tf.config.optimizer.set_jit(True)
    print(tf.config.optimizer.get_jit(), "_Compiled" in ran(make(), x))
    tf.config.optimizer.set_jit("")
    print(repr(tf.config.optimizer.get_jit()), "_Compiled" in ran(make(), x))
    """
    )
    assert out == ["False", "autoclustering True", "'' False"]
