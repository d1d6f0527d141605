"""Profiles of other processes: profiler_program.py as the one that is profiled and as the one that asks.

profiler.py --weft PYTHON                        weft as both; what TensorFlow printed is in profiler.out
profiler.py --weft PYTHON --tensorflow PYTHON    all four pairings; --record writes profiler.out from TensorFlow with TensorFlow
"""

import contextlib
import subprocess
import sys
import tempfile

from tasks import HERE, asked, check_mixtures, command, free_ports, play


@contextlib.contextmanager
def server(side, *args):
    call = command(side, "profiler_program.py", "serve", *args)
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if process.stdout.readline() != "READY\n":
            sys.exit(f"a server did not start: {args}")
        yield
    finally:
        process.kill()
        process.wait()


def played(client, profiled):
    busy, idle, nobody = (str(p) for p in free_ports(3))
    with tempfile.TemporaryDirectory() as folder, server(profiled, busy), server(profiled, idle, "idle"):
        return play(client, "profiler_program.py", "ask", busy, idle, nobody, folder).result()


args, sides = asked(__doc__)
sys.exit(check_mixtures(args, sides, ["client", "server"], HERE / "profiler.out", played) > 0)
