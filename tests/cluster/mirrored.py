"""Workers of a MultiWorkerMirroredStrategy: all print what TensorFlow's two workers printed (mirrored.out), and their losses are those of one
process with the whole batch (mirrored_one.out, printed by TensorFlow as the only worker).

    mirrored.py --weft PYTHON [--workers 4]                 workers on weft; with more than two, the losses
    mirrored.py --weft PYTHON --tensorflow PYTHON           one worker on TensorFlow and one on weft as well, either as the chief;
                                                            --record writes the two files
"""

import json
import pathlib
import sys
import tempfile
import time

from tasks import HERE, asked, cluster_of, compare, play

SECTIONS = ["facts", "variables", "values", "gradients", "input_", "training", "checkpoints", "hints"]
LOSSES = ["training"]


def played(sides, sections):
    """What each worker prints, by section; `sides` are theirs."""
    cluster = cluster_of(worker=len(sides))
    with tempfile.TemporaryDirectory() as folder:
        for i in range(4):
            lines = "\n".join(str(float(10 * i + k)) for k in range(3 + i))
            pathlib.Path(folder, f"lines_{i}").write_text(lines + "\n")
        workers = []
        for i, side in enumerate(sides):
            env = {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})}
            env["SECTIONS"] = ",".join(sections)
            workers.append(play(side, "mirrored_program.py", folder, env=env))
        try:
            return [w.result() for w in workers]
        finally:
            for w in workers:
                w.kill()


def by_section(printed):
    parts = printed.removesuffix("end\n").split("== ")[1:]
    return {part.partition("\n")[0]: part for part in parts}


def main():
    args, sides = asked(__doc__, workers=2)
    weft, tensorflow = sides["weft"], sides.get("tensorflow")
    recorded, recorded_one = HERE / "mirrored.out", HERE / "mirrored_one.out"
    if args.record:
        first, second = played([tensorflow, tensorflow], SECTIONS)
        if compare("TensorFlow's workers among themselves", first, second):
            sys.exit("the program prints other things on other workers")
        recorded.write_text(first)
        recorded_one.write_text(played([tensorflow], LOSSES)[0])
    cases = {f"{args.workers} workers on weft": [weft] * args.workers}
    if args.tensorflow:
        cases["TensorFlow as the chief, weft as the other"] = [tensorflow, weft]
        cases["weft as the chief, TensorFlow as the other"] = [weft, tensorflow]
    of_two, of_one = by_section(recorded.read_text()), by_section(recorded_one.read_text())
    bad = 0
    for name, sides in cases.items():
        begin = time.time()
        like_two = SECTIONS if len(sides) == 2 else []
        if len(set(sides)) > 1:
            like_two = like_two[:-1]  # TensorFlow's workers ask otherwise whether there is more input
        for i, printed in enumerate(played(sides, like_two or LOSSES)):
            found = by_section(printed)
            for s in like_two:
                bad += compare(f"{name}: worker {i}: {s}", of_two[s], found.get(s, ""), 1e-5)
            for s in LOSSES:
                bad += compare(f"{name}: worker {i}: {s} as one process", of_one[s], found.get(s, ""), 1e-5)
        print(f"  {time.time() - begin:.1f} s")
    sys.exit(bad > 0)


main()
