"""Says which packages a benchmark misses before it starts, and how to get them."""

import subprocess
import sys

# What the package is called where it is installed from, when that is not the name of its module.
DISTRIBUTIONS = {"tensorflow": "tensorflow-cpu", "weft": "(weft: make build, then PYTHONPATH=build/python)"}
FIND = "import importlib.util, sys; print(*[m for m in sys.argv[1:] if not importlib.util.find_spec(m)])"


def need(*modules, python=sys.executable):
    """Ends the program with one line where the interpreter `python` lacks one of the modules. No interpreter: nothing was asked for."""
    if not python:
        return
    try:
        found = subprocess.run([*str(python).split(), "-c", FIND, *modules], capture_output=True, text=True)
    except OSError as e:
        sys.exit(f"{sys.argv[0]}: cannot run {python}: {e.strerror}")
    if found.returncode:
        sys.exit(f"{sys.argv[0]}: {python} is not a Python interpreter: {found.stderr.strip().splitlines()[-1:]}")
    if missing := found.stdout.split():
        names = " ".join(DISTRIBUTIONS.get(m, m) for m in missing)
        sys.exit(f"{sys.argv[0]}: {python} lacks {', '.join(missing)}; install with: {python} -m pip install {names}")
