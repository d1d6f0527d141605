"""Plays program.py on clusters of two workers and compares what clients print.

run.py --weft PYTHON                         weft as client and workers; what TensorFlow printed is in program.out
run.py --weft PYTHON --tensorflow PYTHON     all four pairings; --record writes program.out from TensorFlow with TensorFlow
"""

import json
import re
import sys

from tasks import HERE, Servers, asked, cluster_of, compare, mixtures, play


# What weft's workers cannot do for TensorFlow's client: it sends them its loops of version 1 with resources of other tasks.
LOOPS = "loops_over_two"


def skipped(client, worker):
    return LOOPS if worker[1] and not client[1] else ""


def played(client, worker):
    cluster = cluster_of(worker=2)
    with Servers(cluster, worker) as servers:
        env = {"SKIP": skipped(client, worker)}
        return play(client, "program.py", json.dumps(cluster), servers=servers, env=env).result()


def expected(client, worker):
    name = skipped(client, worker)
    return re.sub(rf"== {name}\n(?:(?!==).*\n)*", "", recorded.read_text()) if name else recorded.read_text()


args, sides = asked(__doc__)
recorded = HERE / "program.out"
if args.record:
    recorded.write_text(played(sides["tensorflow"], sides["tensorflow"]))
sys.exit(
    sum(compare(name, expected(*pair), played(*pair)) for name, pair in mixtures(sides, ["client", "workers"])) > 0
)
