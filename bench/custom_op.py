"""The dispatch of an op of a C++ source beside one of the engine: by TFE_Execute, and by its function in Python beside tf.raw_ops and tf.negative. Thread
time, median of 25 interleaved rounds.

PYTHONPATH=build/python build/venv/bin/python bench/custom_op.py build/install
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import weft as tf

CALLS = 20000


def microseconds(call):
    start = time.thread_time()
    for _ in range(CALLS):
        call()
    return (time.thread_time() - start) / CALLS * 1e6


def main():
    prefix = pathlib.Path(sys.argv[1])
    source = pathlib.Path(__file__).with_name("custom_op.cc")
    with tempfile.TemporaryDirectory() as folder:
        flags = [f"-I{prefix}/include", f"-isystem{prefix}/include/tensorflow/fallback"]
        link = [f"-L{prefix}/lib", "-ltensorflow_cc", f"-Wl,-rpath,{prefix.resolve()}/lib"]
        subprocess.run(["g++", "-std=c++17", "-O2", source, *flags, "-o", f"{folder}/custom_op", *link], check=True)
        print(subprocess.run([f"{folder}/custom_op"], capture_output=True, text=True, check=True).stdout.strip())
        library = f"{folder}/custom_op.so"
        flags = [*tf.sysconfig.get_compile_flags(), "-std=c++17", "-O2", "-DLIBRARY", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, source, "-o", library, *tf.sysconfig.get_link_flags()], check=True)
        needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
        print("ldd names TensorFlow or weft:", "tensorflow" in needed or "weft" in needed)
        own = tf.load_op_library(library).bench_neg
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    calls = {"own": lambda: own(x), "raw_ops.Neg": lambda: tf.raw_ops.Neg(x=x), "negative": lambda: tf.negative(x)}
    rounds = {name: [] for name in calls}
    for _ in range(26):
        for name, call in calls.items():
            rounds[name].append(microseconds(call))
    mid = {name: statistics.median(times[1:]) for name, times in rounds.items()}
    others = ", ".join(f"{name} {t:.3f} us (ratio {mid['own'] / t:.2f})" for name, t in mid.items() if name != "own")
    print(f"Python: {mid['own']:.3f} us; {others}")


if __name__ == "__main__":
    main()
