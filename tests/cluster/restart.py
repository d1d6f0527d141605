"""Workers that come to harm and are started again: they end with the weights of a run without it. One is killed in mid training, then one is
told to end (PreemptionCheckpointHandler). The weights are those of restart.out, printed by TensorFlow's two workers.

    restart.py --weft PYTHON                        both on weft
    restart.py --weft PYTHON --tensorflow PYTHON    one of them on TensorFlow as well; --record writes restart.out
"""

import json
import sys
import tempfile
import time

from tasks import HERE, asked, cluster_of, compare, mixtures, play


def started(sides, folder, harm=""):
    """(what each worker prints, how it ended)."""
    cluster = cluster_of(worker=2)
    workers = []
    for i, side in enumerate(sides):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
        workers.append(play(side, "restart_program.py", folder, env={"TF_CONFIG": config, "HARM": harm}))
    return [(w.result(fails=True), w.code()) for w in workers]


def expect(what, found, wanted):
    print(f"{what}: {'as it should be' if found == wanted else f'DIFFERS: {found} instead of {wanted}'}")
    return found != wanted


# What is done to worker 1: how the two end, what is first after a restart.
HARMS = {"": ([0, 0], None), "kill 5": ([3, -9], 4), "term 5": ([42, 42], 6)}


def played(sides, whole, harm):
    """How many things differ; `whole`: what a run without harm prints."""
    codes, begin_again = HARMS[harm]
    begin, bad = time.time(), 0
    with tempfile.TemporaryDirectory() as folder:
        results = started(sides, folder, harm)
        bad += expect(f"'{harm}': how workers ended", [code for _, code in results], codes)
        if harm:
            if harm.startswith("kill"):
                bad += expect("what the other one says", results[0][0], "lost UnavailableError\n")
            results = started(sides, folder)
            bad += expect("and after a restart", [code for _, code in results], [0, 0])
        expected = whole if begin_again is None else whole.replace("from 0", f"from {begin_again}")
        bad += sum(compare(f"worker {i}", expected, printed, 1e-5) for i, (printed, _) in enumerate(results))
    print(f"  {time.time() - begin:.1f} s", flush=True)
    return bad


def main():
    args, sides = asked(__doc__)
    recorded = HERE / "restart.out"
    if args.record:
        with tempfile.TemporaryDirectory() as folder:
            (first, _), (second, _) = started([sides["tensorflow"]] * 2, folder)
        if first != second or not first:
            sys.exit(f"TensorFlow's workers printed {first!r} and {second!r}")
        recorded.write_text(first)
    bad = 0
    for words, kinds in mixtures(sides, ["chief", "worker that comes to harm"]):
        if kinds == [sides.get("tensorflow")] * 2:
            continue  # that is what was recorded
        print(words, flush=True)
        bad += sum(played(kinds, recorded.read_text(), harm) for harm in HARMS)
    sys.exit(bad > 0)


main()
