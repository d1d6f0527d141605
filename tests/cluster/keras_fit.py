"""Keras over the workers of a MultiWorkerMirroredStrategy: all print what one process of TensorFlow printed with the whole batches (keras_one.out). A
worker is killed in mid epoch; started again, they go on from BackupAndRestore's files to the same weights.

    keras_fit.py --weft PYTHON [--workers 4] [--tensorflow PYTHON --record]

TensorFlow's own workers cannot be asked: Keras 3 does not train over several of them (it puts a tuple into Strategy.reduce, and scalars along an axis).
"""

import json
import sys
import tempfile
import time

from tasks import HERE, asked, cluster_of, compare, play

PROGRAM = "keras_program.py"


def started(side, folder, count, **env):
    """What each worker prints, and how it ended."""
    cluster, workers = cluster_of(worker=count), []
    for i in range(count):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
        workers.append(play(side, PROGRAM, folder, env={"TF_CONFIG": config, **env}))
    return [(w.result(fails="HARM" in env), w.code()) for w in workers]


def restart(side, expected):
    """A worker is killed in the third epoch."""
    with tempfile.TemporaryDirectory() as folder:
        harmed = started(side, folder, 2, SECTIONS="restored", HARM="kill 2")
        found = [harmed[0], harmed[1][1]]
        wanted = [("== restored\nlost UnavailableError\n", 3), -9]
        print(f"a worker killed in mid epoch: {'as it should be' if found == wanted else f'DIFFERS: {found}'}")
        again = started(side, folder, 2, SECTIONS="restored")
    expected = "== " + expected.split("== ")[-1].replace("[0, 1, 2, 3]", "[2, 3]")
    return (found != wanted) + sum(
        compare(f"worker {i} after a restart", expected, p, 1e-5) for i, (p, _) in enumerate(again)
    )


def main():
    args, sides = asked(__doc__, workers=2)
    weft, recorded = sides["weft"], HERE / "keras_one.out"
    if args.record:
        with tempfile.TemporaryDirectory() as folder:
            recorded.write_text(play(sides["tensorflow"], PROGRAM, folder).result())
    expected, begin = recorded.read_text(), time.time()
    with tempfile.TemporaryDirectory() as folder:
        printed = started(weft, folder, args.workers)
    bad = sum(compare(f"worker {i} of {args.workers}", expected, p, 1e-5) for i, (p, _) in enumerate(printed))
    print(f"  {time.time() - begin:.1f} s")
    sys.exit(bad + restart(weft, expected) > 0)


main()
