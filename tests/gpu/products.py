"""Which choice makes a product of floats in TF32 fast: who multiplies, with how much workspace, in memory of which allocator, on a cool chip or a busy one.

products.py [--size 4096] [--weft]    one line a way: microseconds and TFLOP/s, cool (a second of rest, ten calls, then seven times twenty) and busy (after half a second of products)

Without --weft everything is PyTorch's process: its own product, and cuBLAS and cuBLASLt called by their C interface on its tensors. With --weft it is weft's. The order of the ways is
turned from round to round, so that none is always the one after a pause. Clocks and power are printed where nvidia-smi is.
"""

import argparse
import ctypes as C
import glob
import statistics
import subprocess
import sys
import sysconfig
import time

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=4096)
parser.add_argument("--weft", action="store_true")
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
n = options.size


def state():
    try:
        return subprocess.run(
            ["nvidia-smi", "--query-gpu=clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=10,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return "?"


def sample(step, sync, reps=20, times=7):
    out = []
    for _ in range(times):
        t = time.perf_counter()
        for _ in range(reps):
            step()
        sync()
        out.append((time.perf_counter() - t) / reps * 1e6)
    return statistics.median(out)


def busy(step, sync, seconds=0.5):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(20):
            step()
        sync()


def compare(ways, sync):
    names = list(ways)
    found = {name: ([], []) for name in names}
    for turn in range(options.rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            step = ways[name]
            step()
            sync()
            time.sleep(1)
            for _ in range(10):
                step()
            sync()
            found[name][0].append(sample(step, sync))
            busy(step, sync)
            found[name][1].append(sample(step, sync))
    for name, (cool, hot) in found.items():
        a, b = statistics.median(cool), statistics.median(hot)
        flops = 2 * n**3 / 1e6
        print(f"{name:44} cool {a:7.1f} us {flops / a:5.0f}   busy {b:7.1f} us {flops / b:5.0f} TFLOP/s", flush=True)


def library(stem):
    for folder in (
        sysconfig.get_paths()["purelib"] + "/nvidia/*/lib",
        "/usr/local/cuda*/lib64",
        "/usr/local/cuda*/targets/x86_64-linux/lib",
    ):
        for path in sorted(glob.glob(f"{folder}/{stem}.so.1[0-9]"), reverse=True):
            return C.CDLL(path, mode=C.RTLD_GLOBAL)
    for version in (13, 12, 11):
        try:
            return C.CDLL(f"{stem}.so.{version}", mode=C.RTLD_GLOBAL)
        except OSError:
            pass
    raise OSError(f"no {stem}")


def check(error, what):
    if error:
        raise RuntimeError(f"{what}: error {error}")


def by_cublas(torch, p, out, ways):
    """Each of cuBLAS's doors to the same product, on PyTorch's stream."""
    blas = library("libcublas")
    one, zero = C.c_float(1), C.c_float(0)
    pointer = lambda t: C.c_void_p(t.data_ptr())

    def handle(math, workspace):
        h = C.c_void_p()
        check(blas.cublasCreate_v2(C.byref(h)), "cublasCreate")
        check(blas.cublasSetStream_v2(h, C.c_void_p(torch.cuda.current_stream().cuda_stream)), "cublasSetStream")
        check(blas.cublasSetMathMode(h, C.c_int(math)), "cublasSetMathMode")
        if workspace:
            memory = torch.empty(workspace, dtype=torch.uint8, device="cuda")
            check(blas.cublasSetWorkspace_v2(h, pointer(memory), C.c_size_t(workspace)), "cublasSetWorkspace")
            keep.append(memory)
        return h

    keep = []
    for mib in (0, 8, 32, 128):
        tf32 = handle(3, mib << 20)  # CUBLAS_TF32_TENSOR_OP_MATH
        ways[f"cublasSgemm, TF32 mode, workspace {mib or 'its own'}"] = lambda h=tf32: check(
            blas.cublasSgemm_v2(h, 0, 0, n, n, n, C.byref(one), pointer(p), n, pointer(p), n, C.byref(zero), pointer(out), n), "cublasSgemm"
        )  # fmt: skip
    plain = handle(0, 32 << 20)
    for algorithm in (-1, 99):
        ways[f"cublasGemmEx, FAST_TF32, algorithm {algorithm}"] = lambda a=algorithm: check(
            blas.cublasGemmEx(plain, 0, 0, n, n, n, C.byref(one), pointer(p), 0, n, pointer(p), 0, n, C.byref(zero), pointer(out), 0, n, 77, a),
            "cublasGemmEx",
        )  # fmt: skip


def by_cublaslt(torch, p, out, ways):
    """What cuBLASLt's heuristics name first to fourth, for some sizes of workspace, with C as an operand of its own and as D."""
    lt = library("libcublasLt")
    handle = C.c_void_p()
    check(lt.cublasLtCreate(C.byref(handle)), "cublasLtCreate")
    product, matrix = C.c_void_p(), C.c_void_p()
    check(lt.cublasLtMatmulDescCreate(C.byref(product), 77, 0), "cublasLtMatmulDescCreate")
    check(
        lt.cublasLtMatrixLayoutCreate(C.byref(matrix), 0, C.c_uint64(n), C.c_uint64(n), C.c_int64(n)),
        "cublasLtMatrixLayoutCreate",
    )
    one, zero = C.c_float(1), C.c_float(0)
    pointer = lambda t: C.c_void_p(t.data_ptr())
    for mib in (32, 128):
        search = C.c_void_p()
        check(lt.cublasLtMatmulPreferenceCreate(C.byref(search)), "cublasLtMatmulPreferenceCreate")
        size = C.c_uint64(mib << 20)
        check(
            lt.cublasLtMatmulPreferenceSetAttribute(search, 1, C.byref(size), C.c_size_t(8)),
            "the limit of the workspace",
        )
        choices, found = (C.c_char * (96 * 8))(), C.c_int()
        check(
            lt.cublasLtMatmulAlgoGetHeuristic(
                handle, product, matrix, matrix, matrix, matrix, search, 8, choices, C.byref(found)
            ),
            "heuristics",
        )
        memory = torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
        for i in range(min(found.value, 4)):
            algorithm = (C.c_char * 64).from_buffer(choices, 96 * i)
            ways[f"cublasLt, workspace {mib}, choice {i}"] = lambda a=algorithm, m=memory, size=mib << 20: check(
                lt.cublasLtMatmul(
                    handle, product, C.byref(one), pointer(p), matrix, pointer(p), matrix, C.byref(zero), pointer(out), matrix, pointer(out), matrix, a,
                    pointer(m), C.c_size_t(size), C.c_void_p(torch.cuda.current_stream().cuda_stream),
                ),
                "cublasLtMatmul",
            )  # fmt: skip


def torch_side():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    p, out = torch.randn(n, n, device="cuda"), torch.empty(n, n, device="cuda")
    ways = {"PyTorch p @ p": lambda: p @ p, "PyTorch matmul(out=)": lambda: torch.matmul(p, p, out=out)}
    for more in (by_cublas, by_cublaslt):
        try:
            more(torch, p, out, ways)
        except (OSError, RuntimeError, AttributeError) as e:
            print(f"{more.__name__}: {e}", flush=True)
    compare(ways, torch.cuda.synchronize)
    want = (p.double() @ p.double()).float()
    ways["PyTorch matmul(out=)"]()
    print(f"off by {float((out - want).norm() / want.norm()):.1e} of the norm (TF32: about 3e-4)")


def weft_side():
    import numpy as np

    import weft as tf

    wait = tf.test.experimental.sync_devices
    host = np.random.default_rng(1).standard_normal((n, n)).astype("f")
    p = tf.constant(host)
    compare({"weft matmul(p, p)": lambda: tf.matmul(p, p)}, wait)
    got = tf.matmul(p, p).numpy()[:64]
    want = host[:64].astype("d") @ host.astype("d")
    print(f"off by {np.linalg.norm(got - want) / np.linalg.norm(want):.1e} of the norm (TF32: about 3e-4)")


print("clocks, power, temperature before:", state(), flush=True)
(weft_side if options.weft else torch_side)()
print("after:", state())
sys.stdout.flush()
