"""Tasks that die, stop, cannot be reached or have no room left, while others need them: faults.py [--rounds 3] [--seed 1] [--kind KIND]

In each round of a kind a task is asked for something (an op, a function, a checkpoint, a session's step, ...) and the fault comes at a random moment. Whoever waits must have an
error that names the task within two seconds of the limit, the others must go on with all that they have, and a task that was started again must be usable; trainings that were
started again must end with the weights of one without a fault. At the end the processes that lived through all rounds have no more threads, descriptors and memory than at the
beginning. The kinds are those of the classes in fault_eager.py and fault_groups.py.

A round that fails is told and counted, and the next one begins with new processes; `--kind KIND --first N --rounds 1` plays round N alone, with the same random numbers.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
import traceback

os.environ.setdefault(
    "WEFT_JIT", "off"
)  # the compiler, loaded once a function has run for long enough, is 50 MB and no leftover
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from fault_eager import CutOff, DeadClient, Eager  # noqa: E402
from fault_groups import AllReduce, DataService, ParameterServers, Session, Training  # noqa: E402
from fault_tasks import GRACE, SILENCE, Children, descriptors, zygote  # noqa: E402

SCENES = [Eager, CutOff, DeadClient, Session, ParameterServers, DataService, AllReduce, Training]
KINDS = [kind for scene in SCENES for kind in scene.KINDS]
LINKS = "WEFT_CLUSTER_LOCAL_LINKS"  # read once by each process
MORE = (2, 2, 48)  # threads, descriptors and megabytes that a process may have more at the end


class Tally:
    """What the rounds of a kind came to."""

    def __init__(self, kind):
        self.kind, self.late, self.took, self.failed = kind, [], [], 0

    HEAD = f"{'kind':18}{'rounds':>7}{'failed':>7}{'known after s: median':>23}{'most':>7}{'round s: median':>17}"

    def __str__(self):
        late, took = (statistics.median(x) if x else float("nan") for x in (self.late, self.took))
        most = max(self.late, default=float("nan"))
        rounds = len(self.late) + self.failed
        return f"{self.kind:18}{rounds:>7}{self.failed:>7}{late:>23.2f}{most:>7.2f}{took:>17.2f}"


class Player:
    """A scene, made again after a round that failed."""

    def __init__(self, scene, children, seed):
        self.scene, self.children, self.seed = scene, children, seed
        self.numbers = random.Random()
        self.made = self.before = None
        self.left = []  # what was held too long

    def round(self, kind, number):
        self.numbers.seed(f"{self.seed} {kind} {number}")
        return self.made.round(kind)

    def begin(self, kinds):
        self.numbers.seed(self.seed)
        self.made = self.scene(self.children, self.numbers)
        for kind in kinds:  # what is made once, by the first of each kind, is there from here on
            self.round(kind, "first")
        time.sleep(1.0)
        self.before = self.made.held()

    def end(self):
        """Whether the processes have no more than in the beginning."""
        for _ in range(50):  # idle threads end, closed connections go
            time.sleep(0.2)
            after = self.made.held()
            if all(a <= b + more for a, b, more in zip(after, self.before, MORE)):
                break
        else:
            self.left.append(f"{self.before} -> {after}; of this process: {descriptors()}")
        print(f"  threads, descriptors, megabytes: {self.before} before, {after} after", flush=True)
        self.close()

    def close(self):
        made, self.made = self.made, None
        if made:
            made.close()
        for child in list(self.children.all):
            self.children.end(child)

    def play(self, kinds, first, rounds, seconds):
        tallies = [Tally(kind) for kind in kinds]
        self.begin(kinds)
        for tally in tallies:
            end = time.monotonic() + seconds
            for number in range(first, first + rounds):
                begin = time.monotonic()
                if begin > end:
                    break
                try:
                    if not self.made:
                        self.begin(kinds)
                    tally.late.append(self.round(tally.kind, number))
                    tally.took.append(time.monotonic() - begin)
                except Exception:
                    tally.failed += 1
                    print(f"{tally.kind}: round {number} of seed {self.seed} failed", flush=True)
                    traceback.print_exc()
                    self.close()
            print(tally, flush=True)
        if self.made:
            self.end()
        return tallies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first round")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no round of a kind begins later")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS, help="these alone")
    parser.add_argument("--scene", choices=[s.__name__ for s in SCENES], help="the kinds of this one")
    parser.add_argument("--zygote", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.zygote:
        return zygote()
    os.environ["WEFT_CLUSTER_TIMEOUT_SECONDS"] = str(SILENCE)
    chosen = {
        s: [k for k in s.KINDS if not args.kind or k in args.kind] for s in SCENES if args.scene in (None, s.__name__)
    }
    code = 0
    if chosen.get(CutOff) and os.environ.get(LINKS) != "0":
        del chosen[CutOff]
        code = subprocess.call([sys.executable, *sys.argv, "--scene", CutOff.__name__], env={**os.environ, LINKS: "0"})
    if any(chosen.values()):
        play(args, chosen)
    sys.exit(code)


def play(args, chosen):
    children = Children()
    tallies, left = [], []
    try:
        print(Tally.HEAD, flush=True)
        for scene, kinds in chosen.items():
            if not kinds:
                continue
            player = Player(scene, children, args.seed)
            try:
                tallies += player.play(kinds, args.first, args.rounds, args.seconds)
            finally:
                player.close()
            left += [f"{scene.__name__}: {text}" for text in player.left]
    finally:
        children.close()
    print(f"\nA silent task counts as dead after {SILENCE} s; errors may come {GRACE} s later.\n{Tally.HEAD}")
    print("\n".join(map(str, tallies)))
    failed = sum(t.failed for t in tallies)
    if failed or left:
        sys.exit("\n".join([f"{failed} rounds failed", *(f"left over: {text}" for text in left)]))


if __name__ == "__main__":
    main()
