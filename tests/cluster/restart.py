"""Workers that come to harm and are started again: they end with the weights of a run without it. One is killed in mid training, then one is
told to end (PreemptionCheckpointHandler). The weights are those of restart.out, printed by TensorFlow's two workers.

    restart.py --weft PYTHON [--tensorflow PYTHON --record]
"""

import json
import sys
import tempfile
import time

from tasks import HERE, asked, cluster_of, compare, play


def started(side, folder, harm=""):
    """(what each worker prints, how it ended)."""
    cluster = cluster_of(worker=2)
    workers = []
    for i in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
        workers.append(play(side, "restart_program.py", folder, env={"TF_CONFIG": config, "HARM": harm}))
    return [(w.result(fails=True), w.code()) for w in workers]


def expect(what, found, wanted):
    print(f"{what}: {'as it should be' if found == wanted else f'DIFFERS: {found} instead of {wanted}'}")
    return found != wanted


def main():
    args, sides = asked(__doc__)
    weft, recorded = sides["weft"], HERE / "restart.out"
    if args.record:
        with tempfile.TemporaryDirectory() as folder:
            (first, _), (second, _) = started(sides["tensorflow"], folder)
        if first != second or not first:
            sys.exit(f"TensorFlow's workers printed {first!r} and {second!r}")
        recorded.write_text(first)
    whole = recorded.read_text()
    bad = 0
    for harm, codes, begin_again in (("", [0, 0], None), ("kill 5", [3, -9], 4), ("term 5", [42, 42], 6)):
        begin = time.time()
        with tempfile.TemporaryDirectory() as folder:
            results = started(weft, folder, harm)
            bad += expect(f"'{harm}': how workers ended", [code for _, code in results], codes)
            if harm:
                if harm.startswith("kill"):
                    bad += expect("what the other one says", results[0][0], "lost UnavailableError\n")
                results = started(weft, folder)
                bad += expect("and after a restart", [code for _, code in results], [0, 0])
            expected = whole if begin_again is None else whole.replace("from 0", f"from {begin_again}")
            bad += sum(compare(f"worker {i}", expected, printed, 1e-5) for i, (printed, _) in enumerate(results))
        print(f"  {time.time() - begin:.1f} s")
    sys.exit(bad > 0)


main()
