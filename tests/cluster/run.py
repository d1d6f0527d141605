"""Plays program.py on clusters of two workers and compares what clients print.

run.py --weft PYTHON                         weft as client and workers; what TensorFlow printed is in program.out
run.py --weft PYTHON --tensorflow PYTHON     all four pairings; --record writes program.out from TensorFlow with TensorFlow
"""

import json
import sys

from tasks import HERE, Servers, asked, check_mixtures, cluster_of, play


def played(client, worker):
    cluster = cluster_of(worker=2)
    with Servers(cluster, worker) as servers:
        return play(client, "program.py", json.dumps(cluster), servers=servers).result()


args, sides = asked(__doc__)
sys.exit(check_mixtures(args, sides, ["client", "workers"], HERE / "program.out", played, again=True) > 0)
