"""Plays packed_program.py: TensorFlow's client with packed tensors, on its own workers and on weft's.

packed.py --weft PYTHON --tensorflow PYTHON     --record writes packed.out from TensorFlow with TensorFlow
"""

import json
import sys

from tasks import HERE, Servers, asked, cluster_of, compare, play


def played(worker):
    cluster = cluster_of(worker=2)
    with Servers(cluster, worker) as servers:
        return play(sides["tensorflow"], "packed_program.py", json.dumps(cluster), servers=servers).result()


args, sides = asked(__doc__)
if "tensorflow" not in sides:
    sys.exit("packed tensors are made by TensorFlow's client: --tensorflow PYTHON")
recorded = HERE / "packed.out"
if args.record:
    recorded.write_text(played(sides["tensorflow"]))
sys.exit(
    sum(
        compare(f"client tensorflow, workers {name}", recorded.read_text(), played(side))
        for name, side in sides.items()
    )
    > 0
)
