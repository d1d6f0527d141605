"""Random calls of every op that has a kernel: types, shapes, values, attributes, functions, resources and variants; and of their shape rules with shapes
that are known in part. Each op runs in a process of its own with a limit of memory and of time (op_random.cc)."""

import tempfile

import support


def attack(random, build):
    seed = random.randrange(1 << 31)
    with tempfile.TemporaryDirectory() as folder:
        outcome = support.child(
            [build.program("op_random"), "--seed", str(seed), "--calls", "30", "--seconds", "3"],
            seconds=120,
            cwd=folder,
        )
    if outcome.code == 0:
        return None
    return (
        outcome.problem()
        or "\n  ".join(line for line in outcome.out.splitlines() if "internal error" not in line)
        or f"exit {outcome.code}"
    )


if __name__ == "__main__":
    support.main(__doc__, attack)
