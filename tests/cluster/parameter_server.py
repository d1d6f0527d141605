"""A coordinator with two workers and two parameter servers, of which some are killed: what it prints is compared with what TensorFlow
printed (parameter_server.out).

    parameter_server.py --weft PYTHON                       all tasks on weft
    parameter_server.py --weft PYTHON --tensorflow PYTHON   coordinator and tasks of both kinds; --record writes
                                                            parameter_server.out from TensorFlow with TensorFlow
"""

import json
import sys
import tempfile

from tasks import HERE, Servers, asked, check_mixtures, cluster_of, play


def played(client, tasks):
    cluster = cluster_of(worker=2, ps=2)
    with tempfile.TemporaryDirectory() as folder, Servers(cluster, tasks) as servers:
        return play(client, "parameter_server_program.py", json.dumps(cluster), folder, servers=servers).result()


def main():
    args, sides = asked(__doc__)
    sys.exit(check_mixtures(args, sides, ["coordinator", "tasks"], HERE / "parameter_server.out", played) > 0)


main()
