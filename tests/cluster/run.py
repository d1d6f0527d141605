"""Plays program.py on clusters of two workers and compares what clients print.

run.py --weft PYTHON                         weft as client and workers; what TensorFlow printed is in program.out
run.py --weft PYTHON --tensorflow PYTHON     all four pairings; --record writes program.out from TensorFlow with TensorFlow
"""

import json
import os
import sys

from tasks import HERE, Servers, asked, check_mixtures, cluster_of, play, sections_of, without_sections

RECORDED = HERE / "program.out"
# When TensorFlow's client hears of an error that nobody reads depends on its threads: what it prints there differs from run to run, with its own workers as well.
RACES_OF_TENSORFLOW = ["errors", "unread", "late"]


def part(text, kinds):
    client, _ = kinds
    return text if client[1] else without_sections(text, RACES_OF_TENSORFLOW)


def played(client, worker):
    cluster, env = cluster_of(worker=2), {}
    if not client[1] and not args.record:
        asked_for = os.environ.get("SECTIONS", ",".join(sections_of(RECORDED.read_text()))).split(",")
        env["SECTIONS"] = ",".join(s for s in asked_for if s not in RACES_OF_TENSORFLOW)
    with Servers(cluster, worker) as servers:
        return play(client, "program.py", json.dumps(cluster), servers=servers, env=env).result()


args, sides = asked(__doc__)
sys.exit(check_mixtures(args, sides, ["client", "workers"], RECORDED, played, again=True, part=part) > 0)
