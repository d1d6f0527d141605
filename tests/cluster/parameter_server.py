"""A coordinator with two workers and two parameter servers, of which some are killed: what it prints is compared with what TensorFlow
printed (parameter_server.out).

    parameter_server.py --weft PYTHON                       all tasks on weft
    parameter_server.py --weft PYTHON --tensorflow PYTHON   coordinator and tasks of both kinds; --record writes
                                                            parameter_server.out from TensorFlow with TensorFlow
"""

import json
import sys
import tempfile
import time

from tasks import HERE, Servers, asked, cluster_of, compare, mixtures, play


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
    for name, kinds in mixtures(sides, ["coordinator", "tasks"]):
        if kinds == [sides.get("tensorflow")] * 2:  # what was recorded
            continue
        begin = time.time()
        bad += compare(name, recorded.read_text(), played(*kinds))
        print(f"  {time.time() - begin:.1f} s", flush=True)
    sys.exit(bad > 0)


main()
