"""What a GPU computes beside the CPU of the same machine: convolutions with their gradients, and one training step of saved networks, variable by variable.

  python tests/gpu/agree.py [--part convolutions|networks] [--archive tests/models/saved/models.tar.xz] [--only NAME]

Networks run in processes of their own: on the CPU, and on the GPU with all it has, with TF32 off, and without cuDNN or cuBLASLt. Prints what differs.
"""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

WAYS = {
    "cpu": {"CUDA_VISIBLE_DEVICES": ""},
    "gpu": {},
    "gpu without TF32": {"AGREE_TF32": "0"},
    "gpu without cuDNN": {"AGREE_TF32": "0", "WEFT_CUDNN_LIBRARY": "/nowhere"},
    "gpu without cuDNN, cuBLASLt": {
        "AGREE_TF32": "0",
        "WEFT_CUDNN_LIBRARY": "/nowhere",
        "WEFT_CUBLASLT_LIBRARY": "/nowhere",
    },
}


def off_by(got, want):
    """Of the largest value."""
    got, want = np.asarray(got, "d"), np.asarray(want, "d")
    return float(np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-30))


def convolutions(tolerance=1e-5):
    import weft as tf

    tf.config.experimental.enable_tensor_float_32_execution(False)
    r = np.random.default_rng(0)
    wrong, count = [], 0
    saved = [
        ((32, 32, 32, 3), (3, 3, 3, 16), 1),
        ((32, 32, 32, 16), (3, 3, 16, 32), 2),
        ((32, 16, 16, 32), (3, 3, 32, 32), 1),
        ((32, 16, 16, 32), (3, 3, 32, 64), 2),
    ]
    more = [
        ((n, h, w, c), (fh, fw, c, o), s)
        for n, (h, w), c, o, (fh, fw), s in itertools.product(
            (2, 32), ((8, 8), (15, 16)), (3, 8, 32), (4, 32), ((3, 3), (2, 2), (5, 4), (1, 1)), (1, 2, 3)
        )
    ]
    for shape, filters, stride in saved + [m for i, m in enumerate(more) if i % 3 == 0]:
        for padding in ("SAME", "VALID", [[0, 0], [1, 0], [0, 1], [0, 0]]):
            if padding == "VALID" and (filters[0] > shape[1] or filters[1] > shape[2]):
                continue
            x, f = r.standard_normal(shape).astype("f"), r.standard_normal(filters).astype("f")

            def run(device):
                with tf.device(device), tf.GradientTape() as tape:
                    a, b = tf.constant(x), tf.constant(f)
                    tape.watch((a, b))
                    y = tf.nn.conv2d(a, b, stride, padding)
                    z = tf.reduce_sum(y * y)
                return [v.numpy() for v in (y, *tape.gradient(z, (a, b)))]

            for kind, got, want in zip(("y", "dx", "dw"), run("/device:GPU:0"), run("/device:CPU:0"), strict=True):
                count += 1
                if (e := off_by(got, want)) > tolerance:
                    wrong.append(kind)
                    print(f"  {kind:2} of {shape} {filters} stride {stride} {padding}: off by {e:.1e}", flush=True)
    print(
        f"convolutions: {count - len(wrong)} of {count} agree; wrong: { ({k: wrong.count(k) for k in set(wrong)}) }",
        flush=True,
    )


def one_network(path, to):
    """One step, then four more."""
    import weft as tf

    if os.environ.get("AGREE_TF32") == "0":
        tf.config.experimental.enable_tensor_float_32_execution(False)
    data = np.load(path.with_name(path.name + ".npz"))
    model = tf.saved_model.load(str(path))
    train = model.signatures["train"]
    step = lambda: float(next(iter(train(x=tf.constant(data["x"]), y=tf.constant(data["y"])).values())))
    out = {}
    losses = [step()]
    for v in train.graph.variables:
        out["after/" + v.name] = v.numpy()
    losses += [step() for _ in range(4)]
    np.savez(to, losses=np.array(losses), **{k.replace("/", "|"): v for k, v in out.items()})


def networks(archive, only):
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        with tarfile.open(archive) as t:
            t.extractall(work, filter="data")
        for path in sorted(p.with_suffix("") for p in work.glob("*/*.npz") if only in p.name):
            results = {}
            running = []
            for n, (way, environment) in enumerate(WAYS.items()):
                to = work / f"{n}.npz"
                to.unlink(missing_ok=True)
                command = [sys.executable, __file__, "--one", str(path), str(to)]
                running.append(
                    (
                        way,
                        to,
                        subprocess.Popen(
                            command,
                            env={**os.environ, **environment},
                            stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT,
                            text=True,
                        ),
                    )
                )
            for way, to, process in running:
                text = process.communicate()[0]
                if process.returncode or not to.exists():
                    print(f"{path.name}, {way}: failed\n{text[-600:]}", flush=True)
                    continue
                results[way] = dict(np.load(to))
            want = np.load(path.with_name(path.name + ".npz"))["losses"]
            for way, got in results.items():
                print(
                    f"{path.name}, {way}: losses {got['losses'].tolist()} off by {off_by(got['losses'], want):.1e}",
                    flush=True,
                )
                for k in got:
                    e = off_by(got[k], results["cpu"][k]) if "cpu" in results else 0
                    if k != "losses" and e > 1e-3:
                        print(f"    {k[6:]} {got[k].shape} off by {e:.1e}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--part", default="")
    p.add_argument("--archive", default="tests/models/saved/models.tar.xz")
    p.add_argument("--only", default="")
    p.add_argument("--one", nargs=2)
    a = p.parse_args()
    if a.one:
        return one_network(pathlib.Path(a.one[0]), a.one[1])
    if a.part in ("", "networks"):
        networks(a.archive, a.only)
    if a.part in ("", "convolutions"):
        convolutions()


if __name__ == "__main__":
    main()
