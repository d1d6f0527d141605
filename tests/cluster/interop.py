"""All tests of this folder that mix TensorFlow's processes with weft's, one after the other; the cluster part of `make interop`.

interop.py --weft PYTHON --tensorflow PYTHON [--only run ...]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TESTS = [
    "run",
    "sessions_run",
    "parameter_server",
    "mirrored",
    "restart",
    "collectives",
    "data_service",
    "profiler",
    "packed",
    "large",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="interpreter for weft; PYTHONPATH says where the package is")
    parser.add_argument("--tensorflow", required=True, help="interpreter that has TensorFlow")
    parser.add_argument("--only", action="append", choices=TESTS, help="these alone")
    args = parser.parse_args()
    # A program has longer than in the tests: TensorFlow takes its time to start.
    env = {"WEFT_PLAY_SECONDS": "900", "HEARTBEAT": "5", **os.environ}
    failed = []
    for test in args.only or TESTS:
        begin = time.time()
        print(f"== {test}", flush=True)
        call = [sys.executable, HERE / f"{test}.py", "--weft", args.weft, "--tensorflow", args.tensorflow]
        if subprocess.run(call, env=env).returncode:
            failed.append(test)
        print(f"  {test}: {'FAILED' if test in failed else 'ok'} after {time.time() - begin:.0f} s", flush=True)
    sys.exit(f"clusters of TensorFlow and weft: {', '.join(failed)} failed" if failed else 0)


main()
