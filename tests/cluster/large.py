"""Plays large_program.py where no message may be larger than a megabyte: between weft's tasks tensors go in chunks, and where TensorFlow is on the other side the call fails.

large.py --weft PYTHON                         what TensorFlow printed, without such a limit, is in large.out
large.py --weft PYTHON --tensorflow PYTHON     weft's client with TensorFlow's workers besides; --record writes large.out
"""

import json
import os
import sys

from tasks import HERE, Servers, asked, cluster_of, compare, play

LIMIT = {"WEFT_CLUSTER_MAX_SEND_MB": "1", "WEFT_CLUSTER_LOCAL_LINKS": "0"}
REFUSED = """== refused
('ResourceExhaustedError', True, True)
2.0
True
ResourceExhaustedError
[2.0]
end
"""


def played(client, worker, *more):
    cluster = cluster_of(worker=2)
    with Servers(cluster, worker) as servers:
        return play(client, "large_program.py", json.dumps(cluster), *more, servers=servers).result()


args, sides = asked(__doc__)
recorded = HERE / "large.out"
if args.record:
    recorded.write_text(played(sides["tensorflow"], sides["tensorflow"]))
os.environ.update(LIMIT)
bad = compare("client weft, workers weft", recorded.read_text(), played(sides["weft"], sides["weft"]))
if "tensorflow" in sides:
    bad += compare("client weft, workers tensorflow", REFUSED, played(sides["weft"], sides["tensorflow"], "refused"))
sys.exit(bad > 0)
