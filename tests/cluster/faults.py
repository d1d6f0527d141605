"""Tasks that die, stop, cannot be reached or have no room left, while others need them: faults.py [--rounds 3] [--seed 1] [--kind KIND]

In each round of a kind a task is asked for something (an op, a function, a checkpoint, a session's step, ...) and the fault comes at a random moment. Whoever waits must have an
error that names the task within two seconds of the limit, the others must go on with all that they have, and a task that was started again must be usable. At the end the
client has no more threads and descriptors than at the beginning. The kinds are those of the classes in fault_eager.py and fault_groups.py.
"""

import argparse
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from fault_eager import DeadClient, Eager  # noqa: E402
from fault_groups import AllReduce, DataService, ParameterServers, Session, Training  # noqa: E402
from fault_tasks import SILENCE, Children, descriptors, zygote  # noqa: E402

SCENES = [Eager, DeadClient, Session, ParameterServers, DataService, AllReduce, Training]
KINDS = [kind for scene in SCENES for kind in scene.KINDS]


def play(scene, kinds, rounds):
    for kind in kinds:  # what is made once, by the first of each kind, is there from here on
        scene.round(kind)
    time.sleep(1.0)
    before = scene.held()
    for kind in kinds:
        late = sorted(scene.round(kind) for _ in range(rounds))
        print(
            f"{kind}: {len(late)} rounds, over after {late[len(late) // 2]:.2f} s, at most {late[-1]:.2f} s", flush=True
        )
    for _ in range(50):  # idle threads end, closed connections go
        time.sleep(0.2)
        after = scene.held()
        if after[0] <= before[0] + 2 and after[1] <= before[1] + 2:
            break
    else:
        sys.exit(f"threads and descriptors grew from {before} to {after}; of this process: {descriptors()}")
    print(f"  threads and descriptors: {before} before, {after} after", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS, help="these alone")
    parser.add_argument("--scene", choices=[s.__name__ for s in SCENES], help="the kinds of this one")
    parser.add_argument("--zygote", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.zygote:
        return zygote()
    os.environ["WEFT_CLUSTER_TIMEOUT_SECONDS"] = str(SILENCE)
    children = Children()
    try:
        for scene in SCENES:
            kinds = [k for k in scene.KINDS if not args.kind or k in args.kind]
            if not kinds or (args.scene and args.scene != scene.__name__):
                continue
            made = scene(children, random.Random(args.seed))
            try:
                play(made, kinds, args.rounds)
            finally:
                made.close()
    finally:
        children.close()


if __name__ == "__main__":
    main()
