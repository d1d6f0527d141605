"""Plays sessions.py and sessions_spread.py with clients, masters and workers and compares what clients print; then kills workers in mid step.

sessions_run.py --weft PYTHON                         weft as all three; what TensorFlow printed is in sessions*.out
sessions_run.py --weft PYTHON --tensorflow PYTHON     all eight combinations; --record writes sessions*.out and loops_v1.pb from TensorFlow alone
"""

import functools
import json
import subprocess
import sys

from tasks import HERE, Servers, asked, check_mixtures, cluster_of, command, compare, mixtures, play

KILLED = """before 2.0
UnavailableError True soon
near 3.0
again AbortedError
new session 2.0
end
"""
COLLECTIVES = (
    "== collectives"  # their groups are of one kind: steps of TensorFlow's and weft's sessions have other numbers
)


def played(script, client, *tasks):
    cluster = cluster_of(worker=2)
    with Servers(cluster, *tasks) as servers:
        more = ["mixed"] if len({client, *tasks}) > 1 else []
        return play(client, script, json.dumps(cluster), *more, servers=servers).result()


def part(text, kinds):
    mixed = len(set(kinds)) > 1
    return text.partition(COLLECTIVES)[0] + "end\n" if mixed and COLLECTIVES in text else text


args, sides = asked(__doc__)
if args.record:
    subprocess.run(command(sides["tensorflow"], "loops_v1.py", str(HERE / "loops_v1.pb")), check=True)
bad = 0
for script in ("sessions.py", "sessions_spread.py"):
    recorded, play_script = HERE / script.replace(".py", ".out"), functools.partial(played, script)
    roles = ["client", "master", "worker"]
    bad += check_mixtures(args, sides, roles, recorded, play_script, True, part, f"{script}: ")
for name, (client, worker) in mixtures(sides, ["client", "worker that is killed"]):
    bad += compare(f"master weft, {name}", KILLED, played("sessions_killed.py", client, sides["weft"], worker))
sys.exit(bad > 0)
