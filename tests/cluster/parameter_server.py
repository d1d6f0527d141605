"""A coordinator with two workers and two parameter servers, of which some are killed: what it prints is compared with what TensorFlow
printed (parameter_server.out).

    parameter_server.py --weft PYTHON                       all tasks on weft
    parameter_server.py --weft PYTHON --tensorflow PYTHON   weft's coordinator with TensorFlow's tasks as well; --record writes
                                                            parameter_server.out from TensorFlow with TensorFlow
"""

import json
import sys
import tempfile
import time

from tasks import HERE, Servers, asked, cluster_of, compare, play


def played(client, tasks):
    cluster = cluster_of(worker=2, ps=2)
    with tempfile.TemporaryDirectory() as folder, Servers(cluster, tasks) as servers:
        return play(client, "parameter_server_program.py", json.dumps(cluster), folder, servers=servers).result()


def main():
    args, sides = asked(__doc__)
    recorded = HERE / "parameter_server.out"
    if args.record:
        recorded.write_text(played(*[sides["tensorflow"]] * 2))
    bad = 0
    # Not TensorFlow's coordinator on weft's tasks: it gives workers tables of its own process.
    for name, tasks in sides.items():
        begin = time.time()
        bad += compare(f"weft with tasks of {name}", recorded.read_text(), played(sides["weft"], tasks))
        print(f"  {time.time() - begin:.1f} s")
    sys.exit(bad > 0)


main()
